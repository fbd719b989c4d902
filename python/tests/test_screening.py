"""Screening of pairs of features, against a naive implementation in numpy."""

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from kernsift import Interactions, InteractionScreen, interactions


def functions(x, k):
    """Cosines of the ranks of a column without ties."""
    u = (stats.rankdata(x) - 0.5) / len(x)
    return np.sqrt(2) * np.cos(np.pi * np.outer(u, np.arange(1, k + 1)))


def naive(X, y, pair, k):
    """Score and p-value of a pair for one column of the target."""
    n = len(y)
    first, second = (functions(X[:, j], 2 * k) for j in pair)
    products = np.einsum("ri,rj->rij", first[:, :k], second[:, :k]).reshape(n, -1)
    score = ((products.T @ y) ** 2).sum() / n
    additive = np.linalg.qr(np.c_[np.ones(n), first, second])[0]
    y = y - additive @ (additive.T @ y)
    extra = np.linalg.qr(products - additive @ (additive.T @ products))[0]
    explained, total = ((extra.T @ y) ** 2).sum(), y @ y
    q, rows = extra.shape[1], n - additive.shape[1] - extra.shape[1]
    return score, stats.f.sf(explained / q / ((total - explained) / rows), q, rows)


@pytest.fixture
def xor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    y = X[:, 1] * X[:, 4] > 0
    flipped = rng.random(400) < 0.05
    return X, np.where(flipped, ~y, y).astype(int)


def test_equals_numpy(xor):
    X, y = xor
    screen = InteractionScreen(3).fit(X, y)
    assert_array_equal(screen.pairs_[0], [1, 4])
    assert screen.main_effects_.size == 0
    column = (y - y.mean()) / y.std()
    for at, pair in enumerate(screen.pairs_):
        score, p_value = naive(X, column, pair, 3)
        # Both compute in double precision.
        assert_allclose([screen.scores_[at], screen.pvalues_[at]], [score, p_value], rtol=1e-8)
    assert_allclose(screen.qvalues_, np.minimum(1, 28 * screen.pvalues_))


def test_selects_the_features_of_significant_pairs(xor):
    X, y = xor
    screen = InteractionScreen().fit(X, y)
    assert screen.n_significant_ == 1
    assert_array_equal(screen.get_support(indices=True), [1, 4])
    assert_array_equal(screen.transform(X), X[:, [1, 4]])


def test_frames_with_types(xor):
    X, _ = xor
    frame = pandas.DataFrame(X, columns=list("abcdefgh"))
    frame["kind"] = np.where(X[:, 2] > 0, "small", "large")
    frame["constant"] = 1.0
    target = np.where((frame["kind"] == "small") == (frame["h"] > 0), "yes", "no")
    with pytest.warns(UserWarning, match="constant"):
        found = interactions(frame, target)
    assert {found.pairs[0]["feature_1"], found.pairs[0]["feature_2"]} & {"kind", "c"}
    assert "h" in (found.pairs[0]["feature_1"], found.pairs[0]["feature_2"])
    assert isinstance(found, Interactions)
    assert len(pandas.DataFrame(found.pairs)) == len(found)
    assert repr(found).startswith(f"{found.n_significant} significant of 36 pairs\nfeature_1")
    assert "<table>" in found._repr_html_()


def test_regression_permutations_and_reports(xor, tmp_path):
    X, _ = xor
    y = X[:, 0] * X[:, 7] + 0.1 * X[:, 2]
    screen = InteractionScreen(2, permutations=19, random_state=0).fit(X, y)
    assert_array_equal(screen.pairs_[0], [0, 7])
    assert screen.qvalues_[0] == 0.05
    assert not hasattr(screen, "classes_")
    screen.to_html(X, y, tmp_path / "pairs.html")
    assert "<b>x0 \u00d7 x7</b>" in (tmp_path / "pairs.html").read_text(encoding="utf-8")


def test_nothing_in_noise():
    rng = np.random.default_rng(1)
    found = interactions(rng.normal(size=(200, 30)), rng.integers(0, 2, 200))
    assert found.n_significant == 0
    assert found.main_effects == []


def test_bad_input(xor):
    X, y = xor
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        InteractionScreen().fit(X[:, :1], y)
    with pytest.raises(ValueError, match="n_functions"):
        interactions(X, y, n_functions=0)
