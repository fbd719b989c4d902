"""Tall data: estimators that use a sample of the rows, unless `exact` is set."""

from __future__ import annotations

import numpy as np
import pytest

from kernsift import FOHSIC, KOBL, TAKES, KernelDiscriminant, ReliefF


def tall(n: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).normal(size=(n, 3))
    return x, (x[:, 1] > 0).astype(int)


def test_a_sample_is_used_and_exact_uses_all_rows(capfd: pytest.CaptureFixture[str]) -> None:
    x, y = tall(5040)
    sampled = FOHSIC(1, random_state=0, verbose=1).fit(x, y)
    assert sampled.n_samples_used_ == 5000
    assert "FOHSIC: used a sample of 5000 of 5040 rows" in capfd.readouterr().err
    exact = FOHSIC(1, random_state=0, exact=True).fit(x, y)
    assert exact.n_samples_used_ == 5040
    assert sampled.order_[0] == exact.order_[0] == 1
    assert sampled.scores_[1] != exact.scores_[1]


def test_small_data_are_not_sampled() -> None:
    x, y = tall(300)
    for estimator in (FOHSIC(1), ReliefF(1)):
        default, exact = (estimator.set_params(exact=exact).fit(x, y) for exact in (False, True))
        assert default.n_samples_used_ == 300
        np.testing.assert_array_equal(default.scores_, exact.scores_)


def test_relief_takes_a_number_of_samples_or_exact() -> None:
    x, y = tall(300)
    with pytest.raises(ValueError, match="n_samples"):
        ReliefF(1, n_samples=50, exact=True).fit(x, y)
    # An explicit number is no sample of the method's own choice.
    assert ReliefF(1, n_samples=50).fit(x, y).n_samples_used_ == 300


def test_a_discriminant_is_learned_from_a_sample_and_maps_all_rows() -> None:
    x, y = tall(3030)
    basis = KernelDiscriminant(random_state=0).fit(x, y)
    features = basis.transform(x)
    assert features.shape == (3030, 1)
    assert basis.pivots_.size == 3000 and basis.pivots_.max() > 3000
    assert abs(np.corrcoef(features[:, 0], x[:, 1])[0, 1]) > 0.7


def test_components_have_a_limit() -> None:
    # 40 million coordinates of 7000 samples are 5714 components: a linear kernel has fewer.
    x, _ = tall(7000)
    assert KOBL(kernel="linear").fit(x).n_components_ == 3
    assert TAKES(exact=True).get_params()["exact"]
