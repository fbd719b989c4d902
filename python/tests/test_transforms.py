"""HSFS, LDFS and PFS against general solvers, on small problems."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernsift import BAHSIC, FOHSIC, HSFS, L1SVM, LDFS, PFS, HSICLasso, compare
from kernsift.datasets import load_dataset, make_synthetic


def solve(value, gradient, shape, start, penalty=0.0, radius=None):
    """Minimizes a function of W plus a penalty on sum_j max_k |W_jk|, or within a ball of it, by SLSQP."""
    d, q = shape

    def parts(v):
        return v[: d * q].reshape(d, q), v[d * q :]

    def objective(v):
        W, s = parts(v)
        return value(W) + penalty * s.sum()

    def slope(v):
        W, _ = parts(v)
        return np.concatenate([gradient(W).ravel(), np.full(d, penalty)])

    rows = np.repeat(np.eye(d), q, axis=0)
    bounds = np.vstack([np.hstack([-np.eye(d * q), rows]), np.hstack([np.eye(d * q), rows])])
    constraints = [{"type": "ineq", "fun": lambda v: bounds @ v, "jac": lambda v: bounds}]
    if radius is not None:
        row = np.concatenate([np.zeros(d * q), -np.ones(d)])
        constraints.append({"type": "ineq", "fun": lambda v: radius + row @ v, "jac": lambda v: row})
    first = np.concatenate([start.ravel(), abs(start).max(axis=1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = minimize(
            objective,
            first,
            jac=slope,
            method="SLSQP",
            constraints=constraints,
            options={"maxiter": 1000, "ftol": 1e-13},
        )
    W, _ = parts(found.x)
    # SLSQP may violate bounds by rounding: evaluate the objective at W, projected into the ball.
    size = abs(W).max(axis=1).sum()
    if radius is not None and size > radius:
        W = W * (radius / size)
    return value(W) + penalty * abs(W).max(axis=1).sum()


def indicators(y):
    classes, counts = np.unique(y, return_counts=True)
    n = len(y)
    return (y[:, None] == classes) * np.sqrt(n / counts) - np.sqrt(counts / n)


def least_squares(X, T):
    n = len(X)
    return (
        lambda W: ((X @ W - T) ** 2).sum() / (2 * n),
        lambda W: X.T @ (X @ W - T) / n,
    )


def assert_solved(X, T, W, penalty, objective, rng):
    value, gradient = least_squares(X, T)
    size = abs(W).max(axis=1)
    assert_allclose(value(W) + penalty * size.sum(), objective, rtol=1e-12)
    # The first-order conditions.
    pull = gradient(W)
    assert (abs(pull).sum(axis=1) <= penalty + 1e-6).all()
    assert (abs((pull * W).sum(axis=1) + penalty * size) <= 1e-6).all()
    for start in (W + 0.01 * rng.normal(size=W.shape), rng.normal(size=W.shape)):
        theirs = solve(value, gradient, W.shape, start, penalty)
        assert objective <= theirs + 1e-6 * value(np.zeros_like(W))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("name", ["wine", "iris"])
def test_least_squares_is_never_above_slsqp(name, share, rng):
    data = load_dataset(name)
    X, y = StandardScaler().fit_transform(data.data[:, :6]), data.target
    T = indicators(y)
    penalty = share * abs(X.T @ T / len(X)).sum(axis=1).max()
    selector = LDFS(penalty=penalty, tol=1e-7).fit(X, y)
    assert_allclose(selector.path_.strength[-1], penalty)
    assert selector.path_.optimality[-1] <= 1e-6 and selector.converged_
    assert_solved(X, T, selector.coef_, penalty, selector.path_.objective[-1], rng)
    assert_array_equal(selector.support_, selector.coef_.any(axis=1))
    assert_allclose(selector.scores_, abs(selector.coef_).max(axis=1))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_principal_features_are_never_above_slsqp(share, rng):
    X = StandardScaler().fit_transform(load_dataset("wine").data[:, :5])
    penalty = share * abs(np.corrcoef(X.T)).sum(axis=1).max()
    selector = PFS(penalty=penalty, tol=1e-7).fit(X)
    assert selector.path_.optimality[-1] <= 1e-6
    assert_solved(X, X, selector.coef_, penalty, selector.path_.objective[-1], rng)
    # All components are a rotation of the features: without a penalty the residual is zero.
    turned = PFS(n_components=5, penalty=1e-6, tol=1e-7).fit(X)
    assert turned.coef_.shape == (5, 5)
    assert turned.path_.objective[-1] < 1e-4


def negative_hsic(X, L):
    """Value and gradient in W; the kernel of the target is centered and scaled to norm n."""
    n = len(X)
    M = L - L.mean(axis=0) - L.mean(axis=1)[:, None] + L.mean()
    M *= n / np.linalg.norm(M)

    def pairs(W):
        P = X @ W
        return M * np.exp(-((P[:, None] - P) ** 2).sum(axis=2) / 2)

    def gradient(W):
        A = pairs(W)
        return 2 / n**2 * X.T @ ((np.diag(A.sum(axis=1)) - A) @ X @ W)

    return lambda W: -pairs(W).sum() / n**2, gradient


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("radius", [0.3, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("pattern, d", [("xor", 3), ("xor", 4), ("linear", 5), ("ring", 3), ("ring", 5)])
def test_hsfs_is_never_below_slsqp(pattern, d, radius, seed, rng):
    X, y, _ = make_synthetic(pattern, n_samples=60, n_features=d, random_state=seed)
    X = StandardScaler().fit_transform(X)
    same = y[:, None] == y
    value, gradient = negative_hsic(X, same / same.sum(axis=1))
    # The problem is not convex: both sides have several starts, ours the default ones.
    kind = {"directions": 2, "tol": 1e-8, "max_iter": 3000, "random_state": 0}
    selector = HSFS(radius=radius, **kind).fit(X, y)
    W, ours = selector.coef_, selector.path_.objective[-1]
    assert abs(W).max(axis=1).sum() <= radius * (1 + 1e-9)
    assert_allclose(value(W), ours, rtol=1e-9)
    starts = [W + 0.05 * rng.normal(size=W.shape) for _ in range(2)]
    starts += [radius / d * rng.uniform(-1, 1, size=W.shape) for _ in range(6)]
    theirs = [solve(value, gradient, W.shape, start, radius=radius) for start in starts]
    assert ours <= min(theirs) + 1e-6, (ours, theirs)
    assert (np.diff(selector.path_.strength) > 0).all()
    # A larger ball contains the smaller one.
    assert (np.diff(selector.path_.objective) < 1e-9).all()


def test_hsfs_with_a_continuous_target_is_never_below_slsqp(rng):
    X, y, _ = make_synthetic("ring", n_samples=60, n_features=4, continuous=True, random_state=1)
    X = StandardScaler().fit_transform(X)
    value, gradient = negative_hsic(X, np.outer(y, y))
    selector = HSFS(directions=2, radius=1.5, target_kernel="linear", tol=1e-8, max_iter=3000, random_state=0)
    selector.fit(X, y)
    assert_allclose(value(selector.coef_), selector.path_.objective[-1], rtol=1e-9)
    starts = [0.4 * rng.uniform(-1, 1, size=(4, 2)) for _ in range(6)]
    theirs = [solve(value, gradient, (4, 2), start, radius=1.5) for start in starts]
    assert selector.path_.objective[-1] <= min(theirs) + 1e-6


def test_the_penalized_form_is_stationary(rng):
    X, y, _ = make_synthetic("xor", n_samples=60, n_features=4, random_state=1)
    X = StandardScaler().fit_transform(X)
    same = y[:, None] == y
    value, gradient = negative_hsic(X, same / same.sum(axis=1))
    kind = {"form": "penalized", "directions": 2, "tol": 1e-8, "max_iter": 3000, "random_state": 0}
    selector = HSFS(penalty=0.02, **kind).fit(X, y)
    W, ours = selector.coef_, selector.path_.objective[-1]
    assert_allclose(value(W) + 0.02 * abs(W).max(axis=1).sum(), ours, rtol=1e-9)
    for start in (W + 0.02 * rng.normal(size=W.shape), rng.normal(size=W.shape)):
        assert ours <= solve(value, gradient, W.shape, start, 0.02) + 1e-6
    # Zero is always a local minimum, and the only one with a large penalty.
    text = "all weights are zero here; no feature is selected"
    with pytest.warns(UserWarning, match=text):
        nothing = HSFS(penalty=5.0, **kind).fit(X, y)
    assert not nothing.coef_.any() and nothing.support_.sum() == 0


def test_relevant_features_are_found():
    for pattern, n_features in (("xor", 30), ("ring", 30), ("linear", 30)):
        X, y, relevant = make_synthetic(pattern, n_samples=300, n_features=n_features, random_state=2)
        k = len(relevant)
        assert set(HSFS(k, random_state=0).fit(X, y).order_[:k]) == set(relevant), pattern
    assert set(LDFS(k).fit(X, y).order_[:k]) == set(relevant)
    X, y, relevant = make_synthetic("xor", n_samples=300, n_features=10, random_state=2)
    assert set(HSFS(2, diagonal=True, random_state=0).fit(X, y).order_[:2]) == set(relevant)
    assert set(HSFS(random_state=0).fit(X, y).get_support(indices=True)) >= set(relevant)
    X, y, relevant = make_synthetic("xor", n_samples=300, n_features=10, continuous=True, random_state=2)
    found = HSFS(2, random_state=0).fit(X, y)
    assert set(found.order_[:2]) == set(relevant) and not hasattr(found, "classes_")


@pytest.mark.parametrize("approximation", ["fourier", "nystrom"])
def test_approximations_find_the_same(approximation):
    X, y, relevant = make_synthetic("ring", n_samples=400, n_features=6, random_state=2)
    selector = HSFS(2, approximation=approximation, features=1000, max_iter=3000, random_state=0)
    selector.fit(X, y)
    assert set(selector.order_[:2]) == set(relevant)
    exact = HSFS(2, random_state=0).fit(X, y)
    # A thousand random features have errors of some hundredths, which the search exploits.
    assert_allclose(selector.path_.objective[-1], exact.path_.objective[-1], rtol=0.2)
    assert selector.path_.objective[-1] != exact.path_.objective[-1]


@pytest.mark.parametrize(
    "selector", [HSFS(2, random_state=0), LDFS(2), LDFS(2, form="normalized"), PFS(2)], ids=str
)
def test_paths_and_storage(selector, rng):
    X = np.where(rng.random((120, 6)) < 0.4, 0.0, rng.normal(size=(120, 6)))
    X[:, 4] = X[:, 1] + X[:, 2]
    y = (X[:, 1] > 0).astype(int)
    dense = selector.fit(X, y)
    path = dense.path_
    n = len(path.strength)
    for part in ("objective", "optimality", "n_iter", "n_features", "features", "weights", "stop"):
        assert len(path[part]) == n, part
    for columns, weights, count in zip(path.features, path.weights, path.n_features, strict=True):
        assert len(columns) == len(weights) == count
        assert (np.diff(weights) <= 0).all() and (np.asarray(weights) > 0).all()
    assert dense.coef_.shape[0] == 6
    assert_array_equal(dense.coef_.any(axis=1), dense.scores_ > 0)
    order, scores = dense.order_[:2].tolist(), dense.scores_
    scaled = sparse.csr_array(X / X.std(axis=0))
    again = selector.set_params(standardize=False).fit(scaled, y)
    assert_array_equal(again.order_[:2], order)
    # Sums in another order, and the tolerance of the solvers.
    assert_allclose(again.scores_, scores, atol=1e-4)


def test_incompatible_parameters(rng):
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    for selector in (HSFS(1, radius=1.0), HSFS(1, form="penalized", penalty=1.0), LDFS(1, penalty=0.1)):
        with pytest.raises(ValueError, match="must be left out where a number of features is given"):
            selector.fit(X, y)
    with pytest.raises(ValueError, match="'penalty' must be left out in the constrained form"):
        HSFS(penalty=1.0).fit(X, y)
    with pytest.raises(ValueError, match="'directions' must be left out in the diagonal mode"):
        HSFS(diagonal=True, directions=2).fit(X, y)
    with pytest.raises(ValueError, match=r"must be a float in the range \(0.0, 1.0\)"):
        LDFS(penalty_ratio=1.5).fit(X, y)
    with pytest.raises(ValueError, match="'form' parameter of LDFS must be a str among"):
        LDFS(form="penalized").fit(X, y)


def test_ratio_forms_and_their_options(wine):
    X, y = wine
    plain = LDFS(3, form="constrained").fit(X, y)
    assert plain.coef_.shape == (13, 1) and plain.support_.sum() == 3
    for other in ({"ridge": 2.0}, {"weighted_scatter": False}, {"form": "normalized"}):
        found = LDFS(3, **{"form": "constrained", **other}).fit(X, y)
        assert (found.coef_ != plain.coef_).any(), other


def test_svms_have_weights_too(wine):
    X, y = wine
    selector = L1SVM(3, random_state=0).fit(X, y)
    assert selector.coef_.shape == (13, 3)
    assert_allclose(abs(selector.coef_).sum(axis=1)[selector.support_], selector.scores_[selector.support_])
    assert not hasattr(selector, "path_")


def test_in_a_pipeline_and_a_comparison():
    X, y, relevant = make_synthetic("xor", n_samples=200, n_features=8, random_state=0)
    model = make_pipeline(HSFS(2, random_state=0), SVC())
    grid = {"hsfs__directions": [1, 2], "hsfs__target_kernel": ["auto", "linear"]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.85
    assert set(search.best_estimator_[0].get_support(indices=True)) == set(relevant)
    methods = {
        "hsfs": HSFS(directions=2, random_state=0),
        "ldfs": LDFS(),
        "pfs": PFS(),
        "fohsic": FOHSIC(),
        "bahsic": BAHSIC(form="fast"),
        "lasso": HSICLasso(),
    }
    result = compare(X, y, methods, [2], cv=4, random_state=0)
    errors = {name: np.mean([r["error"] for r in result.records if r["method"] == name]) for name in methods}
    assert errors["hsfs"] < 0.2 < min(errors["ldfs"], errors["pfs"], errors["lasso"]), errors


@pytest.mark.parametrize("selector", [HSFS(2, random_state=0), BAHSIC(2), FOHSIC(2), HSICLasso(2)], ids=str)
def test_one_of_two_identical_features_is_selected(selector):
    X, y, relevant = make_synthetic("ring", n_samples=300, n_features=8, random_state=0)
    found = selector.fit(np.column_stack([X, X[:, relevant[0]]]), y).get_support(indices=True)
    assert {relevant[0] if j == 8 else j for j in found} == set(relevant)
