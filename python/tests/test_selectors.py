"""The Fisher score against scikit-learn's analysis of variance."""

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.feature_selection import f_classif

from kernsift import FisherScore
from kernsift.datasets import load_dataset, make_synthetic


@pytest.mark.parametrize("name", ["wine", "sonar", "colon"])
def test_scores_are_f_statistics(name):
    data = load_dataset(name)
    X, y = data.data, data.target
    n, c = len(y), len(np.unique(y))
    selector = FisherScore().fit(X, y)
    F = selector.scores_ * (n - c) / (c - 1)
    assert_allclose(F, f_classif(X, y)[0], rtol=1e-6)
    # Automatic selection: Bonferroni at 0.05.
    p = scipy.stats.f.sf(F, c - 1, n - c)
    assert_array_equal(selector.support_, p * X.shape[1] <= 0.05)


def test_ranks_and_orders(wine):
    X, y = wine
    selector = FisherScore(n_features_to_select=4).fit(X, y)
    assert_array_equal(selector.order_, np.argsort(-selector.scores_, kind="stable"))
    assert_array_equal(selector.ranking_[selector.order_], np.arange(1, 14))
    assert_array_equal(selector.get_support(indices=True), np.sort(selector.order_[:4]))
    assert_array_equal(selector.transform(X), X[:, np.sort(selector.order_[:4])])
    assert FisherScore(n_features_to_select=0.5).fit(X, y).support_.sum() == 7
    assert FisherScore(n_features_to_select=1.0).fit(X, y).support_.all()


def test_scaling_and_storage_do_not_matter(wine, rng):
    X, y = wine
    X = np.where(rng.random(X.shape) < 0.5, 0.0, X)
    expected = FisherScore().fit(X, y).scores_
    assert_allclose(FisherScore(standardize=False).fit(X, y).scores_, expected, rtol=1e-9)
    assert_allclose(FisherScore().fit(sparse.csr_array(X), y).scores_, expected, rtol=1e-9)
    assert_allclose(FisherScore().fit(np.asfortranarray(X) * 1e5, y).scores_, expected, rtol=1e-9)


def test_planted_features_come_first():
    X, y, relevant = make_synthetic("linear", n_samples=400, n_features=30, random_state=1)
    assert set(FisherScore().fit(X, y).order_[:2]) == set(relevant)


def test_nothing_significant_warns(rng):
    X = rng.normal(size=(20, 5))
    with pytest.warns(UserWarning, match="no feature is significant; none is selected"):
        selector = FisherScore().fit(X, np.arange(20) % 2)
    assert selector.support_.sum() == 0
