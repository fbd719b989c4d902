"""ReliefF against skrebate, and RReliefF and gaps against naive twins."""

import numpy as np
import pytest
import scipy.stats
import skrebate
from numpy.testing import assert_allclose, assert_array_equal

from kernsift import ReliefF
from kernsift.datasets import load_dataset, make_synthetic


@pytest.mark.parametrize("n_neighbors", [1, 10, 30])
@pytest.mark.parametrize("name", ["wine", "sonar"])
def test_ranks_as_skrebate(name, n_neighbors):
    data = load_dataset(name)
    X, y = data.data, np.unique(data.target, return_inverse=True)[1]
    theirs = skrebate.ReliefF(n_neighbors=n_neighbors).fit(X, y).feature_importances_
    ours = ReliefF(n_neighbors=n_neighbors).fit(X, y)
    assert scipy.stats.spearmanr(-ours.ranking_, theirs).statistic >= 0.99
    # The same formula; sums of some thousand differences of at most one.
    assert_allclose(ours.scores_, np.maximum(theirs, 0), atol=1e-12)


def expected_difference(column):
    known = column[~np.isnan(column)]
    return abs(known[:, None] - known).sum() / (known.size * (known.size - 1))


def differences(X):
    """Differences of all pairs of rows in every column, in units of its range."""
    X = X / (np.nanmax(X, axis=0) - np.nanmin(X, axis=0))
    apart = abs(X[:, None] - X)
    for j in range(X.shape[1]):
        gaps = np.isnan(apart[:, :, j])
        apart[:, :, j][gaps] = expected_difference(X[:, j])
    return apart


def with_gaps(X, rng, share=0.1):
    X = np.array(X, dtype=float)
    X[rng.random(X.shape) < share] = np.nan
    return X


def test_gaps_are_what_is_expected(rng):
    data = load_dataset("wine")
    X, y = with_gaps(data.data, rng), data.target
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
    # The rows it gives back keep their gaps.
    assert np.isnan(selector.transform(X)).any()


@pytest.mark.parametrize("gaps", [False, True])
def test_numbers_are_rrelieff(gaps, rng):
    X, y, _ = make_synthetic("linear", n_samples=150, n_features=6, continuous=True, random_state=2)
    if gaps:
        X = with_gaps(X, rng)
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


def test_planted_columns_are_found_through_gaps(rng):
    X, y, relevant = make_synthetic("xor", n_samples=400, n_features=8, random_state=1)
    X = with_gaps(X, rng, 0.05)
    assert set(ReliefF(2).fit(X, y).order_[:2]) == set(relevant)


def test_classes_with_few_rows_give_what_they_have(rng):
    X, y = rng.normal(size=(12, 3)), np.repeat([0, 1], [3, 9])
    assert_array_equal(ReliefF(n_neighbors=8).fit(X, y).scores_, ReliefF(n_neighbors=50).fit(X, y).scores_)


def test_whole_numbers_may_be_numbers(rng):
    X = rng.normal(size=(60, 3))
    y = np.round(20 * X[:, 1]).astype(int)
    assert ReliefF(1, target_type="number").fit(X, y).get_support(indices=True) == [1]
    with pytest.raises(ValueError, match="the target is 3 in every row"):
        ReliefF(target_type="number").fit(X, np.full(60, 3))


def test_a_sample_of_rows_is_drawn(rng):
    X, y, relevant = make_synthetic("linear", n_samples=500, n_features=5, random_state=3)
    first = ReliefF(n_samples=100, random_state=1).fit(X, y)
    assert_array_equal(first.scores_, ReliefF(n_samples=100, random_state=1).fit(X, y).scores_)
    assert (first.scores_ != ReliefF(n_samples=100, random_state=2).fit(X, y).scores_).any()
    assert set(first.order_[:2]) == set(relevant)
