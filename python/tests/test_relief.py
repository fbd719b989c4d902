"""ReliefF against skrebate; RReliefF and missing values against naive implementations."""

import numpy as np
import pytest
import scipy.stats
import skrebate
from numpy.testing import assert_allclose, assert_array_equal

from kernsift import ReliefF
from kernsift.datasets import load_dataset, make_synthetic


@pytest.mark.parametrize("n_neighbors", [1, 10, 30])
@pytest.mark.parametrize("name", ["wine", "sonar"])
def test_scores_equal_those_of_skrebate(name, n_neighbors):
    data = load_dataset(name)
    X, y = data.data, np.unique(data.target, return_inverse=True)[1]
    theirs = skrebate.ReliefF(n_neighbors=n_neighbors).fit(X, y).feature_importances_
    ours = ReliefF(n_neighbors=n_neighbors).fit(X, y)
    assert scipy.stats.spearmanr(-ours.ranking_, theirs).statistic >= 0.99
    # The same formula; sums of a few thousand differences of at most one.
    assert_allclose(ours.scores_, np.maximum(theirs, 0), atol=1e-12)


def expected_difference(column):
    known = column[~np.isnan(column)]
    return abs(known[:, None] - known).sum() / (known.size * (known.size - 1))


def differences(X):
    """Differences of all pairs of samples in every feature, in units of its range."""
    X = X / (np.nanmax(X, axis=0) - np.nanmin(X, axis=0))
    apart = abs(X[:, None] - X)
    for j in range(X.shape[1]):
        missing = np.isnan(apart[:, :, j])
        apart[:, :, j][missing] = expected_difference(X[:, j])
    return apart


def with_missing_values(X, rng, share=0.1):
    X = np.array(X, dtype=float)
    X[rng.random(X.shape) < share] = np.nan
    return X


def test_missing_values_have_the_expected_difference(rng):
    data = load_dataset("wine")
    X, y = with_missing_values(data.data, rng), data.target
    apart = differences(X)
    distance = apart.sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    total = np.zeros(X.shape[1])
    for i in range(len(y)):
        for c in np.unique(y):
            members = np.flatnonzero(y == c)
            near = members[np.argsort(distance[i, members], kind="stable")[:5]]
            share = -1 if c == y[i] else np.mean(y == c) / np.mean(y != y[i])
            total += share * apart[i, near].mean(axis=0) / len(y)
    selector = ReliefF(n_neighbors=5, class_weights="frequency").fit(X, y)
    # Sums of a few thousand differences of at most one.
    assert_allclose(selector.scores_, np.maximum(total, 0), atol=1e-11)
    # The output keeps missing values.
    assert np.isnan(selector.transform(X)).any()


@pytest.mark.parametrize("missing", [False, True])
def test_continuous_targets_use_rrelieff(missing, rng):
    X, y, _ = make_synthetic("linear", n_samples=150, n_features=6, continuous=True, random_state=2)
    if missing:
        X = with_missing_values(X, rng)
    apart = differences(X)
    distance = apart.sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :8]
    rows = np.arange(len(y))[:, None]
    target = abs(y[rows] - y[near]) / np.ptp(y)
    pairs = apart[rows, near]
    joint = (target[:, :, None] * pairs).mean(axis=(0, 1))
    weights = joint / target.mean() - (pairs.mean(axis=(0, 1)) - joint) / (1 - target.mean())
    selector = ReliefF(n_neighbors=8).fit(X, y)
    assert_allclose(selector.scores_, np.maximum(weights, 0), atol=1e-11)
    assert_array_equal(selector.order_, np.argsort(-weights, kind="stable"))
    assert not hasattr(selector, "classes_")


def test_relevant_features_are_found_with_missing_values(rng):
    X, y, relevant = make_synthetic("xor", n_samples=400, n_features=8, random_state=1)
    X = with_missing_values(X, rng, 0.05)
    assert set(ReliefF(2).fit(X, y).order_[:2]) == set(relevant)


def test_classes_with_few_samples_use_fewer_neighbors(rng):
    X, y = rng.normal(size=(12, 3)), np.repeat([0, 1], [3, 9])
    assert_array_equal(ReliefF(n_neighbors=8).fit(X, y).scores_, ReliefF(n_neighbors=50).fit(X, y).scores_)


def test_integers_may_be_a_continuous_target(rng):
    X = rng.normal(size=(60, 3))
    y = np.round(20 * X[:, 1]).astype(int)
    assert ReliefF(1, target_type="number").fit(X, y).get_support(indices=True) == [1]
    with pytest.raises(ValueError, match="the target is 3 in every row"):
        ReliefF(target_type="number").fit(X, np.full(60, 3))


def test_samples_are_drawn(rng):
    X, y, relevant = make_synthetic("linear", n_samples=500, n_features=5, random_state=3)
    first = ReliefF(n_samples=100, random_state=1).fit(X, y)
    assert_array_equal(first.scores_, ReliefF(n_samples=100, random_state=1).fit(X, y).scores_)
    assert (first.scores_ != ReliefF(n_samples=100, random_state=2).fit(X, y).scores_).any()
    assert set(first.order_[:2]) == set(relevant)
