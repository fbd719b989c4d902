"""HSIC against a numpy implementation, and the selectors based on it."""

import itertools

import numpy as np
import pandas
import polars
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import nnls
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import pairwise_kernels

from kernsift import BAHSIC, FOHSIC, RBF, HSICLasso, HSICResult, Linear, gram, hsic
from kernsift.datasets import make_synthetic


def centered(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def twin(K, L, estimator):
    n = len(K)
    biased = (centered(K) * centered(L)).sum() / n**2
    if estimator == "biased":
        return biased
    if estimator == "normalized":
        return biased * n**2 / np.linalg.norm(centered(K)) / np.linalg.norm(centered(L))
    K, L = K - np.diag(np.diag(K)), L - np.diag(np.diag(L))
    ones = np.ones(n)
    totals = K.sum() * L.sum() / ((n - 1) * (n - 2))
    return (np.trace(K @ L) + totals - 2 / (n - 2) * (ones @ K @ L @ ones)) / (n * (n - 3))


def target_gram(y, kernel):
    same = y[:, None] == y
    match kernel:
        case "delta":
            return same.astype(float)
        case "class-balanced":
            return same / same.sum(axis=1)
        case "linear":
            return np.outer(y, y)
        case "gaussian":
            median = np.median(pdist(y[:, None], "sqeuclidean"))
            return np.exp(-((y[:, None] - y) ** 2) / (2 * median))


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(45, 3))
    return X, np.column_stack([X[:, 0] ** 2, rng.normal(size=45)])


@pytest.mark.parametrize("estimator", ["biased", "unbiased", "normalized"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear"])
def test_rows_against_rows(kernel, estimator, rows):
    X, Y = rows
    width = {} if kernel == "linear" else {"gamma": 0.7}
    more = {"degree": 2, "coef0": 0.5} if kernel == "poly" else {}
    K = pairwise_kernels(X, metric=kernel, **width, **more)
    L = np.exp(-0.3 * ((Y[:, None] - Y) ** 2).sum(axis=2))
    found = hsic(X, Y, kernel=kernel, **width, **more, y_gamma=0.3, estimator=estimator)
    assert isinstance(found, float)
    # Sums of 2000 products; those of the polynomial kernel are about a hundred.
    assert_allclose(found, twin(K, L, estimator), rtol=1e-9, atol=1e-14)
    assert_allclose(hsic(Y, X, gamma=0.3, y_kernel=kernel, y_gamma=0.7, **more, estimator=estimator), found)
    assert_allclose(
        hsic(
            sparse.csr_array(X),
            sparse.csr_array(Y),
            kernel=kernel,
            **width,
            **more,
            y_gamma=0.3,
            estimator=estimator,
        ),
        found,
        rtol=1e-9,
        atol=1e-14,
    )


@pytest.mark.parametrize("estimator", ["biased", "unbiased", "normalized"])
def test_rules_and_objects_as_kernels(estimator, rows):
    X, Y = rows
    for rule in ("median", "scale"):
        K, L = gram(X, gamma=rule), gram(Y, gamma=rule)
        found = hsic(X, Y, gamma=rule, y_gamma=rule, estimator=estimator)
        assert_allclose(found, twin(K, L, estimator), rtol=1e-9, atol=1e-14)
    kernel = 0.5 * RBF(0.2) + Linear()
    found = hsic(X, Y, kernel=kernel, y_kernel=Linear(), estimator=estimator)
    assert_allclose(found, twin(kernel(X), Linear()(Y), estimator), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("estimator", ["biased", "unbiased", "normalized"])
@pytest.mark.parametrize("kernel", ["class-balanced", "delta", "linear", "gaussian"])
def test_rows_against_a_target(kernel, estimator, rows):
    X, Y = rows
    K = gram(X, gamma=0.5)
    y = Y[:, 0]
    classes = np.where(y > 0.5, 1.0, -1.0)
    if kernel in ("class-balanced", "delta"):
        y = np.digitize(y, [0.2, 1])
    L = target_gram(y, kernel)
    found = hsic(X, y, gamma=0.5, y_kernel=kernel, estimator=estimator)
    # The approximation of the Gaussian kernel omits 1e-10 of its trace.
    assert_allclose(found, twin(K, L, estimator), rtol=1e-7, atol=1e-12)
    auto = {"class-balanced": y, "gaussian": y}.get(kernel)
    if auto is not None:
        assert hsic(X, auto, gamma=0.5, estimator=estimator) == found
    if kernel == "linear":
        names = np.where(classes > 0, "yes", "no")
        L = np.outer(classes, classes)
        assert_allclose(
            hsic(X, names, gamma=0.5, y_kernel="linear", estimator=estimator),
            twin(K, L, estimator),
            rtol=1e-9,
            atol=1e-14,
        )


def test_one_dimensional_y_with_any_kernel(rows):
    X, Y = rows
    x, y = X[:, 0], Y[:, 0]
    found = hsic(x, y, gamma=0.5, y_kernel="rbf", y_gamma=2.0)
    assert_allclose(found, twin(gram(x[:, None], gamma=0.5), gram(y[:, None], gamma=2.0), "biased"))
    assert_array_equal(found, hsic(x.tolist(), Y[:, :1], gamma=0.5, y_gamma=2.0))
    for library in (pandas, polars):
        assert_array_equal(
            hsic(library.Series(x), library.Series(y), gamma=0.5, y_kernel="rbf", y_gamma=2.0), found
        )
    integers = np.arange(45)
    numbers = hsic(x, integers, target_type="number")
    assert numbers != hsic(x, integers // 9, target_type="class")
    with pytest.raises(ValueError, match="y_kernel='delta' needs a one-dimensional Y"):
        hsic(X, Y, y_kernel="delta")
    with pytest.raises(ValueError, match="rows of the second set of variables"):
        hsic(X, Y[:-1])
    with pytest.raises(ValueError, match="HSIC: needs at least 4 rows"):
        hsic(X[:3], Y[:3], estimator="unbiased")
    with pytest.raises(ValueError, match="'gaussian' for classes"):
        hsic(X, integers % 2, y_kernel="gaussian")
    with pytest.raises(ValueError, match="Input Y contains NaN"):
        hsic(X, np.where(integers == 3, np.nan, y))


@pytest.mark.parametrize("estimator", ["biased", "unbiased", "normalized"])
def test_permutation_p_values(estimator, rng):
    x = rng.normal(size=(60, 2))
    result = hsic(x, x[:, 0] ** 2, estimator=estimator, n_permutations=199, random_state=0)
    assert isinstance(result, HSICResult)
    assert result.value == hsic(x, x[:, 0] ** 2, estimator=estimator)
    assert result.p_value == 1 / 200
    assert result == hsic(x, x[:, 0] ** 2, estimator=estimator, n_permutations=199, random_state=0, n_jobs=1)
    p = [
        hsic(x, rng.normal(size=60), estimator=estimator, n_permutations=99, random_state=i).p_value
        for i in range(40)
    ]
    # Uniform: of 40 values, 36 are above 0.1, with a standard deviation of 1.9.
    assert np.sum(np.array(p) > 0.1) >= 29 and np.ptp(p) > 0.5
    # All permutations of three samples: the p-value is about the fraction of the six.
    y = np.array([0.1, 1.7, 2.2])
    x = np.array([0.0, 1.0, 2.5])
    values = [hsic(x, y[list(order)]) for order in itertools.permutations(range(3))]
    fraction = np.mean(np.array(values) >= values[0] - 1e-12)
    found = hsic(x, y, n_permutations=6000, random_state=1).p_value
    # Three standard errors of a fraction of 6000.
    assert abs(found - fraction) < 3 * 0.5 / np.sqrt(6000) + 1 / 6001


def joint_hsic(X, y, columns):
    gamma = 0.5 / len(columns)
    return hsic(X[:, columns], y, gamma=gamma)


@pytest.mark.parametrize("continuous", [False, True])
def test_forward_steps_are_those_of_a_naive_search(continuous):
    X, y, _ = make_synthetic("ring", n_samples=80, n_features=6, continuous=continuous, random_state=3)
    selector = FOHSIC(4, standardize=False).fit(X, y)
    chosen, reached = [], []
    for _ in range(4):
        values = {j: joint_hsic(X, y, [*chosen, j]) for j in range(6) if j not in chosen}
        chosen.append(max(values, key=values.get))
        reached.append(values[chosen[-1]])
    assert_array_equal(selector.order_[:4], chosen)
    assert_allclose(-selector.path_.objective, reached, rtol=1e-9)
    assert_array_equal(selector.path_.n_features, [1, 2, 3, 4])
    assert_array_equal(selector.path_.features[-1], chosen)
    assert not hasattr(selector, "coef_")


def test_rounds_of_elimination_are_those_of_a_naive_search():
    X, y, _ = make_synthetic("xor", n_samples=80, n_features=6, random_state=3)
    selector = BAHSIC(2, standardize=False).fit(X, y)
    remaining, order, reached = list(range(6)), [], []
    while remaining:
        reached.append(joint_hsic(X, y, remaining))
        if len(remaining) == 1:
            break
        without = [joint_hsic(X, y, [j for j in remaining if j != out]) for out in remaining]
        order.insert(0, remaining.pop(int(np.argmax(without))))
    assert_array_equal(selector.order_, remaining + order)
    assert_allclose(-selector.path_.objective, reached, rtol=1e-9)
    assert_array_equal(selector.path_.n_features, [6, 5, 4, 3, 2, 1])
    assert set(BAHSIC(2, form="fast").fit(X, y).order_[:2]) == set(selector.order_[:2])


@pytest.mark.parametrize("continuous", [False, True])
def test_lasso_weights_are_those_of_full_matrices(continuous):
    X, y, _ = make_synthetic("ring", n_samples=90, n_features=8, continuous=continuous, random_state=2)

    def unit(K):
        return centered(K).ravel() / np.linalg.norm(centered(K))

    columns = np.array([unit(gram(x[:, None], gamma=0.5 / x.var())) for x in X.T])
    L = gram(y[:, None], gamma=0.5 / y.var()) if continuous else target_gram(y, "class-balanced")
    target = unit(L)
    selector = HSICLasso(4).fit(X, y)
    penalty = selector.path_.strength[-1]
    # The nonnegative lasso as nonnegative least squares of a shifted target.
    G, b = columns @ columns.T, columns @ target - penalty
    C = np.linalg.cholesky(G).T
    weights, _ = nnls(C, np.linalg.solve(C.T, b))
    # Low-rank factors omit at most 1e-6 of the trace.
    assert_allclose(selector.coef_[:, 0], weights, atol=1e-5)
    assert_array_equal(selector.scores_, selector.coef_[:, 0])
    objective = 0.5 * np.sum((target - weights @ columns) ** 2) + penalty * weights.sum()
    assert_allclose(selector.path_.objective[-1], objective, atol=1e-5)
    assert_allclose(HSICLasso(4).fit(sparse.csr_array(X), y).coef_, selector.coef_, atol=1e-9)


def test_the_lasso_does_not_find_an_xor():
    X, y, relevant = make_synthetic("xor", n_samples=400, n_features=20, random_state=0)
    assert set(BAHSIC(2).fit(X, y).order_[:2]) == set(relevant)
    assert set(HSICLasso(2).fit(X, y).order_[:2]) != set(relevant)


def test_blocks_are_close_to_the_full_problem():
    X, y, relevant = make_synthetic("ring", n_samples=400, n_features=20, random_state=0)
    blocks = HSICLasso(2, block_size=20, random_state=0).fit(X, y)
    assert set(blocks.order_[:2]) == set(relevant)
    more = HSICLasso(2, block_size=20, permutations=10, random_state=0).fit(X, y)
    assert (more.scores_ != blocks.scores_).any()
    with pytest.raises(ValueError, match="'block_size' must be at most the number of rows, 400, got 500"):
        HSICLasso(2, block_size=500).fit(X, y)


@pytest.mark.parametrize("selector", [FOHSIC(2), BAHSIC(2), BAHSIC(2, form="fast"), HSICLasso(2)], ids=str)
def test_storage_and_targets(selector, rng):
    X = np.where(rng.random((120, 8)) < 0.4, 0.0, rng.normal(size=(120, 8)))
    y = X[:, 2] + np.abs(X[:, 5])
    dense = selector.fit(X, y)
    found = dense.order_[:2].tolist()
    assert set(found) == {2, 5} and not hasattr(dense, "classes_")
    scores = dense.scores_
    again = selector.set_params(standardize=False).fit(sparse.csr_array(X / X.std(axis=0)), y)
    assert_array_equal(again.order_[:2], found)
    assert_allclose(again.scores_, scores, rtol=1e-7, atol=1e-12)
    selector.set_params(standardize=True, target_kernel="linear").fit(X, y)
    with pytest.raises(ValueError, match="'linear' for more than two classes"):
        selector.fit(X, np.arange(120) % 3)
