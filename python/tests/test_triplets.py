"""Triplets drawn from classes and numbers."""

from itertools import product

import numpy as np
import pytest

from kernsift import KernelDesign, XingMetric, gram, triplet_accuracy, triplets_from_labels
from kernsift.datasets import load_dataset


def by_class(y):
    """All triplets that the classes allow."""
    rows = range(len(y))
    return {(i, j, k) for i, j, k in product(rows, rows, rows) if i != j and y[i] == y[j] and y[i] != y[k]}


def by_number(y):
    rows = range(len(y))
    return {
        (i, j, k)
        for i, j, k in product(rows, rows, rows)
        if i not in (j, k) and abs(y[i] - y[j]) < abs(y[i] - y[k])
    }


def as_set(triplets):
    return {tuple(t) for t in triplets.tolist()}


@pytest.mark.parametrize(
    "y",
    [
        ["a", "b", "a", "a", "b", "c"],
        np.array([3, 1, 3, 3, 1, 7]),
        np.array(["x", "y", "x", "x", "y", "z"], dtype=object),
        [True, False, True, True, False, False],
    ],
)
def test_all_triplets_of_classes(y):
    possible = by_class(list(y))
    triplets = triplets_from_labels(y, n=len(possible), random_state=0)
    assert triplets.dtype == np.int64
    assert triplets.shape == (len(possible), 3)
    assert as_set(triplets) == possible


def test_all_triplets_of_numbers():
    y = [0.5, 0.25, 2.0, 2.0, -1.5]
    possible = by_number(y)
    assert as_set(triplets_from_labels(y, n=len(possible), random_state=0)) == possible
    # Integers with many values are numbers by default.
    integers = [0, 1, 5, 7]
    possible = by_number(integers)
    assert as_set(triplets_from_labels(integers, n=len(possible), random_state=0)) == possible
    with pytest.raises(ValueError, match="classes has a single row"):
        triplets_from_labels(integers, random_state=0, target_type="class")


def test_more_triplets_than_exist_repeat_evenly():
    y = [0, 0, 1, 1, 1]
    possible = by_class(y)
    triplets = triplets_from_labels(y, n=2 * len(possible) + 5, random_state=1)
    different, times = np.unique(triplets, axis=0, return_counts=True)
    assert as_set(different) == possible
    assert sorted(times) == [2] * (len(possible) - 5) + [3] * 5


def test_a_seed_is_reproducible():
    y = load_dataset("iris").target
    first = triplets_from_labels(y, random_state=3)
    assert first.shape == (1500, 3)
    assert len(np.unique(first, axis=0)) == 1500
    assert np.array_equal(first, triplets_from_labels(y, random_state=3))
    assert not np.array_equal(first, triplets_from_labels(y, random_state=4))
    state = np.random.RandomState(5)
    a, b = (triplets_from_labels(y, random_state=state) for _ in range(2))
    assert not np.array_equal(a, b)


def test_most_triplets_of_iris_are_satisfied():
    iris = load_dataset("iris")
    X = (iris.data - iris.data.mean(axis=0)) / iris.data.std(axis=0)
    triplets = triplets_from_labels(iris.target, random_state=0)
    accuracy = triplet_accuracy(gram(X, gamma=0.1), triplets)
    # 0.899 over four splits; 1500 triplets have a standard error of 0.008, and share samples.
    assert 0.86 < accuracy < 0.94
    assert triplet_accuracy(gram(X, gamma=0.1), triplets[:, [0, 2, 1]]) == pytest.approx(1 - accuracy)


@pytest.mark.parametrize(
    ("y", "parameters", "message"),
    [
        ([1, 1, 1], {}, "all rows have the class '1'"),
        (["a", "b", "c"], {}, "has a single row"),
        ([0.5, 0.5, 0.5], {"target_type": "number"}, "the target is 0.5 in every row"),
        (["a", "b"], {}, "needs at least 3 rows"),
        ([0.5, np.nan, 1.0], {}, "NaN"),
        ([1, 1, 2], {"n": 0}, "'n'"),
        ([1, 1, 2], {"n": 1.5}, "'n'"),
        ([1, 1, 2], {"target_type": "text"}, "'target_type'"),
        ([[1, 2], [1, 3], [2, 3]], {}, "1d array"),
    ],
)
def test_errors(y, parameters, message):
    with pytest.raises(ValueError, match=message):
        triplets_from_labels(y, random_state=0, **parameters)


@pytest.mark.parametrize(
    ("triplets", "message"),
    [
        ([[0, 1, 2], [0, -1, 2]], "triplet 2: row numbers count from 0, got -1"),
        (
            np.array([[0, 1, 2**64 - 1]], dtype=np.uint64),
            "triplet 1: row numbers count from 0, got 18446744073709551615",
        ),
        ([[0, 0, 0]], "three distinct rows"),
        ([[0, 1, 1]], "three distinct rows"),
        ([[0, 1, 3]], "rows below 3"),
    ],
)
def test_wrong_triplets_raise(triplets, message):
    with pytest.raises(ValueError, match=message):
        triplet_accuracy(np.eye(3), triplets)
    X = np.random.default_rng(0).normal(size=(3, 2))
    for learner in (KernelDesign(), XingMetric()):
        with pytest.raises(ValueError, match=message):
            learner.fit(X, triplets)


def test_an_absurd_number_raises_before_memory_is_allocated():
    with pytest.raises(MemoryError, match="draw fewer triplets"):
        triplets_from_labels([1, 1, 2], n=10**15, random_state=0)
