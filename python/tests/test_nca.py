"""NCA selection against a naive leave-one-out classifier and regressor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from kernsift import NCASelector
from kernsift.datasets import make_synthetic

BANDWIDTHS = [0.25, 0.5, 1.0, 2.0]
PRIOR = 1e-3


def loss(X, y, columns, bandwidth, continuous):
    W = np.exp(-cdist(X[:, columns], X[:, columns], "sqeuclidean") / (bandwidth * len(columns)))
    np.fill_diagonal(W, 0)
    if continuous:
        predicted = (W @ y + PRIOR * y.mean()) / (W.sum(axis=1) + PRIOR)
        return np.mean((y - predicted) ** 2) / y.var()
    classes = np.unique(y)
    P = np.column_stack([W[:, y == c].mean(axis=1) for c in classes]) + PRIOR / len(y)
    p = P[np.arange(len(y)), np.searchsorted(classes, y)] / P.sum(axis=1)
    return np.mean([-np.log(p[y == c]).mean() for c in classes])


def least(X, y, columns, continuous):
    return min((loss(X, y, columns, h, continuous), -h) for h in BANDWIDTHS)


@pytest.mark.parametrize("continuous", [False, True])
def test_forward_steps_are_those_of_a_naive_search(continuous):
    X, y, _ = make_synthetic("ring", n_samples=120, n_features=12, continuous=continuous, random_state=3)
    selector = NCASelector(4, n_subsamples=0, standardize=False).fit(X, y)
    chosen, reached, bandwidth = [], [], 1.0
    for _ in range(4):
        values = {j: loss(X, y, [*chosen, j], bandwidth, continuous) for j in range(12) if j not in chosen}
        chosen.append(min(values, key=values.get))
        value, negative = least(X, y, chosen, continuous)
        reached.append(value)
        bandwidth = -negative
    assert_array_equal(selector.order_[:4], chosen)
    assert_allclose(selector.path_.objective, reached, rtol=1e-10)
    assert_array_equal(selector.path_.n_features, [1, 2, 3, 4])


def test_swaps_decrease_the_loss():
    X, y, _ = make_synthetic("xor-ring", n_samples=150, n_features=12, random_state=1)
    forward = NCASelector(4, n_subsamples=0).fit(X, y)
    swapped = NCASelector(4, swaps=True, n_subsamples=0).fit(X, y)
    assert swapped.path_.objective[-1] <= forward.path_.objective[-1]


def test_the_gradient_form_finds_an_xor():
    X, y, relevant = make_synthetic("xor", n_samples=300, n_features=12, random_state=0)
    selector = NCASelector(2, search="gradient").fit(X, y)
    assert_array_equal(np.sort(selector.order_[:2]), np.sort(relevant))


def test_the_order_of_samples_does_not_matter():
    X, y, _ = make_synthetic("linear", n_samples=80, n_features=6, random_state=2)
    order = np.random.default_rng(0).permutation(80)
    first, second = (
        NCASelector(2, random_state=0, standardize=False).fit(X[o], y[o]) for o in (slice(None), order)
    )
    assert_array_equal(first.order_, second.order_)
    assert_array_equal(first.scores_, second.scores_)
