"""Targets of several columns."""

import numpy as np
import pandas
import pytest
from common import ESTIMATORS
from numpy.testing import assert_array_equal
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags

from kernsift import FOHSIC, FisherScore, InteractionScreen, compare, feature_pvalues, hsic

SUPPORTED = ["BAHSIC", "FOHSIC", "HSFS", "HSICLasso"]


def samples():
    """The first output depends on feature 1, the second on feature 4, neither linearly."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(80, 7))
    noise = rng.normal(size=(80, 2))
    Y = np.column_stack([50 * X[:, 1] ** 2 + noise[:, 0], np.cos(2 * X[:, 4]) + 0.05 * noise[:, 1]])
    return X, Y


def test_tags_name_the_support():
    selectors = {name: cls() for name, cls in ESTIMATORS.items() if isinstance(cls(), SelectorMixin)}
    supported = {name for name, s in selectors.items() if get_tags(s).target_tags.multi_output}
    assert supported == {*SUPPORTED, "InteractionScreen", "SelectSignificant"}


@pytest.mark.parametrize("name", SUPPORTED)
def test_features_of_both_outputs_are_found(name):
    X, Y = samples()
    selector = ESTIMATORS[name](2, random_state=0).fit(X, Y)
    assert_array_equal(np.flatnonzero(selector.get_support()), [1, 4])
    assert selector.target_type_ == "number" and not hasattr(selector, "classes_")
    frame = pandas.DataFrame(X, columns=list("abcdefg"))
    outputs = pandas.DataFrame(Y, columns=["u", "v"])
    assert_array_equal(
        selector.fit(frame, outputs).order_, ESTIMATORS[name](2, random_state=0).fit(X, Y).order_
    )
    # Two equal outputs are one.
    twice = selector.fit(X, np.column_stack([Y[:, 0], Y[:, 0]])).order_[:2]
    assert_array_equal(twice, selector.fit(X, Y[:, 0]).order_[:2])


def test_features_and_pairs_are_tested_against_all_outputs():
    X, Y = samples()
    p = feature_pvalues(X, Y).pvalues
    assert (p[[1, 4]] < 1e-4).all() and (np.delete(p, [1, 4]) > 0.01).all()
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 5))
    Y = np.column_stack([X[:, 0] * X[:, 1], 40 * X[:, 2] * X[:, 3]]) + rng.normal(size=(300, 2))
    found = InteractionScreen().fit(X, Y)
    assert found.n_significant_ >= 2
    assert {tuple(sorted(pair)) for pair in found.pairs_[:2]} == {(0, 1), (2, 3)}


def test_weights_are_repeated_samples():
    X, Y = samples()
    weight = np.arange(80) % 3
    found = FOHSIC(3).fit(X, Y, sample_weight=weight).order_
    assert_array_equal(
        found, FOHSIC(3).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)).order_
    )


def test_reports_show_the_selection():
    X, Y = samples()
    three = np.column_stack([Y, Y[:, 0]])
    for outputs in (Y, three):
        page = FOHSIC(2).fit(X, outputs).to_html(X, outputs)
        assert "Cross-validation is for a target of one column." in page


def test_errors():
    X, Y = samples()
    with pytest.raises(
        ValueError, match="FisherScore does not support a y of several columns; FOHSIC, BAHSIC"
    ):
        FisherScore(2).fit(X, Y)
    with pytest.raises(ValueError, match="compare does not support a y of several columns"):
        compare(X, Y, "fohsic", 2)
    with pytest.raises(ValueError, match="Class labels must be a y of one column"):
        FOHSIC(2, target_type="class").fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        FOHSIC(2).fit(X, np.where(Y > 1, np.nan, Y))
    with pytest.raises(ValueError, match=r"the target is 1 in every row"):
        FOHSIC(2).fit(X, np.ones((80, 2)))
    with pytest.raises(ValueError, match="inconsistent"):
        FOHSIC(2).fit(X, Y[:-1])
    assert hsic(X[:, [1]], Y) > hsic(X[:, [0]], Y)
