"""Bases against other libraries and naive implementations of the papers."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg.lapack import dpstrf
from sklearn import decomposition
from sklearn.metrics.pairwise import rbf_kernel

from kernsift import (
    KOBL,
    RBF,
    KernelDiscriminant,
    KernelGramSchmidt,
    KernelPCA,
    Linear,
    OnFeature,
    Polynomial,
    gamma_for_n_components,
    gram,
)

BASES = [
    KOBL(),
    KOBL(pivoting="random", n_components=20, random_state=0),
    KOBL(pivoting="gain", random_state=0),
    KernelGramSchmidt(),
]
BASES += [KernelPCA(), KernelDiscriminant(), KernelDiscriminant(criterion="gda")]


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def by_equations(K, f):
    """KOBL as published, with full coefficient vectors and the full matrix: eqs (5)-(13), (20)."""
    n = len(K)
    a = np.eye(n)
    chosen, basis, norms = [], [], []
    while len(chosen) < n:
        left = [j for j in range(n) if j not in chosen]
        lengths = [K[j, j] - sum((w @ K[:, j]) ** 2 for w in basis) for j in left]  # (10)
        j = left[int(np.argmax(lengths))]  # (5)
        r = np.sqrt(max(a[j] @ K @ a[j], 0.0))  # (6), (11)
        if norms and (r / norms[0] < f(len(chosen) / n) or r <= 1e-7 * norms[0]):  # (21)
            break
        w = a[j] / r  # (7), (12)
        a = a - np.outer(a @ K @ w, w)  # (8), (9), (13)
        chosen.append(j)
        basis.append(w)
        norms.append(r)
    return np.array(chosen), np.array(basis).T, np.array(norms)


@pytest.mark.parametrize("f, threshold", [(lambda t: t, "linear"), (lambda t: t**2, 2), (np.sqrt, 0.5)])
@pytest.mark.parametrize("d", [2, 10, 40])
def test_kobl_equals_the_published_equations(d, f, threshold):
    X = rows(60, d)
    kobl = KOBL(threshold=threshold, gamma=0.5 / d)
    features = kobl.fit_transform(X)
    K = rbf_kernel(X, gamma=0.5 / d)
    pivots, coefficients, norms = by_equations(K, f)
    assert_array_equal(kobl.pivots_, pivots)
    # The published recursion is less accurate than the factorization: the norm of a pivot has an error of
    # about 1e-15 divided by that norm, and the smallest here is about 0.05.
    assert_allclose(kobl.residual_norms_, norms, atol=1e-11)
    assert_allclose(features, K @ coefficients, atol=1e-10)
    assert_allclose(
        kobl.transform(rows(9, d, 1)), rbf_kernel(rows(9, d, 1), X, 0.5 / d) @ coefficients, atol=1e-10
    )
    left = np.sqrt(np.maximum(0, 1 - (features**2).sum(axis=1)))
    assert_allclose(kobl.reconstruction_cost_, left.mean(), atol=1e-7)
    assert kobl.reconstruction_cost_ <= kobl.bound_ + 1e-12


@pytest.mark.parametrize("n", [5, 50, 333])
@pytest.mark.parametrize("d", [3, 40])
def test_kobl_equals_lapack_pivoted_cholesky(n, d):
    X = rows(n, d)
    # A diagonal without ties: with a unit diagonal the first pivot depends on rounding.
    kernel = Polynomial(degree=2, gamma=1 / d, coef0=1.0) + 0.5 * RBF(1 / d)
    kobl = KOBL(kernel=kernel, threshold=None)
    features = kobl.fit_transform(X)
    K = kernel(X)
    factor, places, rank, _ = dpstrf(K, lower=1, tol=1e-14 * K.diagonal().max())
    pivots = places - 1
    factor = np.tril(factor)
    m = min(kobl.n_components_, rank)
    # Pivots whose residuals differ only by rounding may swap; compare up to the first such.
    left = K.diagonal()[pivots, None] - np.cumsum(factor**2, axis=1)
    clear = 0
    while clear + 1 < m:
        rest = np.sort(left[clear + 1 :, clear])[::-1]
        if len(rest) > 1 and rest[0] - rest[1] < 1e-9 * K.diagonal().max():
            break
        clear += 1
    assert clear >= min(m - 1, 8)
    assert_array_equal(kobl.pivots_[: clear + 1], pivots[: clear + 1])
    scale = np.sqrt(K.diagonal().max())
    assert_allclose(features[pivots, : clear + 1], factor[:, : clear + 1], atol=1e-6 * scale)
    assert_allclose(features @ features.T, K, atol=1e-8 * scale**2)


def test_unit_diagonals_start_with_the_first_row(wine):
    X, _ = wine
    kobl = KOBL(gamma=0.05, threshold=None, n_components=20).fit(X)
    K = rbf_kernel(X, gamma=0.05)
    np.fill_diagonal(K, 1.0)
    factor, places, _, _ = dpstrf(K, lower=1)
    assert kobl.pivots_[0] == places[0] - 1 == 0
    assert_array_equal(kobl.pivots_, places[:20] - 1)
    assert_allclose(kobl.residual_norms_, factor.diagonal()[:20], atol=1e-10)


def test_pivots_by_gain_follow_the_formula(wine):
    # With so few samples all are compared at every step: nothing is random.
    X = wine[0][::2]
    kobl = KOBL(gamma=0.05, pivoting="gain", threshold=None, n_components=40).fit(X)
    left = rbf_kernel(X, gamma=0.05)
    for pivot in kobl.pivots_:
        gains = (left**2).sum(axis=0) / np.maximum(left.diagonal(), 1e-12)
        # Gains that agree to rounding are ties.
        assert gains[pivot] >= gains.max() * (1 - 1e-9)
        left -= np.outer(left[pivot], left[pivot]) / left[pivot, pivot]
        left[pivot] = left[:, pivot] = 0.0


@pytest.mark.parametrize(
    "basis", [KOBL(), KOBL(pivoting="random", random_state=3), KOBL(pivoting="gain"), KernelGramSchmidt()]
)
def test_pivots_map_to_the_factor_and_vectors_are_orthonormal(basis, wine):
    X, _ = wine
    features = basis.fit_transform(X)
    P = X[basis.pivots_]
    assert_allclose(basis.transform(P), features[basis.pivots_], atol=1e-10)
    C = basis._map.coefficients()
    assert_allclose(C.T @ basis.kernel_(P) @ C, np.eye(basis.n_components_), atol=1e-10)
    assert_allclose(np.triu(features[basis.pivots_], 1), 0, atol=1e-10)


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_fit_transform_agrees_with_transform(basis, wine):
    X, y = wine
    made = basis.fit_transform(X, y)
    assert_allclose(basis.transform(X), made, atol=1e-8)
    assert_allclose(basis.fit(X, y).transform(X), made, atol=1e-8)
    assert made.shape == (len(X), basis.n_components_)
    assert len(basis.residual_norms_) == basis.n_components_
    # A difference of squares: norms are accurate to about the root of the rounding error.
    assert_allclose(basis.residual_norms(X).mean(), basis.reconstruction_cost_, atol=1e-6)


@pytest.mark.parametrize("basis", BASES, ids=str)
@pytest.mark.parametrize(
    "kernel", ["rbf", "poly", "linear", RBF(0.1) + 0.5 * OnFeature(2, RBF(1.0))], ids=str
)
def test_sparse_and_dense_samples_agree(basis, kernel, rng):
    X = rng.normal(size=(80, 12)) * (rng.random((80, 12)) < 0.4)
    y = np.arange(80) % 3
    dense = basis.set_params(kernel=kernel, random_state=0).fit_transform(X, y)
    for form in (sparse.csr_matrix, sparse.csr_array, sparse.coo_matrix, sparse.csc_array):
        if isinstance(basis, KernelPCA):
            # Rounding changes components with a small norm, not those with a large one.
            assert_allclose(basis.fit_transform(form(X), y)[:, :3], dense[:, :3], atol=1e-8)
        else:
            assert_allclose(basis.fit_transform(form(X), y), dense, atol=1e-7)
    basis.set_params(kernel="rbf")


def test_wide_sparse_matrices_stay_sparse(rng):
    # As a dense matrix these would take 32 GB, and a median over 1000 of them 16 GB.
    n, d, stored = 2000, 2_000_000, 20
    columns = np.sort(rng.integers(0, d, size=(n, stored)), axis=1).ravel()
    X = sparse.csr_array(
        (rng.normal(size=n * stored), columns, np.arange(0, n * stored + 1, stored)), shape=(n, d)
    )
    kobl = KOBL(n_components=5, threshold=None, random_state=0).fit(X)
    assert kobl.transform(X).shape == (n, 5)


def test_sparse_matrices_are_not_modified():
    X = sparse.csr_matrix((np.ones(4), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    before = X.copy()
    KOBL(gamma=1.0).fit(X)
    assert_array_equal(X.indices, before.indices)
    assert_allclose(gram(X, gamma=1.0), gram(X.toarray(), gamma=1.0))


@pytest.mark.parametrize("center", [True, False])
def test_kernel_pca_against_scikit_learn(center, wine):
    X, _ = wine
    X, new = X[:120], X[120:]
    ours = KernelPCA(gamma=0.05, n_components=10, center=center).fit(X)
    if center:
        theirs = decomposition.KernelPCA(10, kernel="rbf", gamma=0.05).fit(X)
        there = theirs.transform(new)
        train = theirs.transform(X)
    else:
        values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=0.05))
        turn = vectors[:, ::-1][:, :10] / np.sqrt(values[::-1][:10])
        there = rbf_kernel(new, X, gamma=0.05) @ turn
        train = rbf_kernel(X, gamma=0.05) @ turn
    here = ours.transform(new)
    sign = np.sign((here * there).sum(axis=0))
    assert_allclose(here, sign * there, atol=1e-9)
    assert_allclose(ours.transform(X), sign * train, atol=1e-9)


def test_uncentered_kernel_pca_has_the_smallest_residual(wine):
    X, _ = wine
    m = KOBL(gamma=0.05).fit(X).n_components_
    left = {}
    for basis in (KOBL(gamma=0.05, n_components=m), KernelPCA(gamma=0.05, n_components=m, center=False)):
        left[type(basis)] = (basis.fit(X).residual_norms(X) ** 2).sum()
    assert left[KernelPCA] < left[KOBL]


def discriminant_twin(K, y, ridge, criterion):
    """Both criteria by their definitions, as generalized eigenproblems over all samples."""
    n = len(K)
    classes = np.unique(y)
    if criterion == "kda":
        m = K.mean(axis=0)
        between, within = np.zeros((n, n)), np.zeros((n, n))
        for c in classes:
            part = K[y == c]
            e = part.mean(axis=0) - m
            between += len(part) * np.outer(e, e)
            within += (part - part.mean(axis=0)).T @ (part - part.mean(axis=0))
        within += ridge * np.trace(within) / n * np.eye(n)
        _, vectors = scipy.linalg.eigh(between, within)
        a = vectors[:, ::-1][:, : len(classes) - 1]
        return a / np.sqrt(np.einsum("ij,ik,kj->j", a, K, a))
    H = np.eye(n) - 1 / n
    centered = H @ K @ H
    values, vectors = np.linalg.eigh(centered)
    keep = values > ridge * values[-1]
    P, values = vectors[:, keep], values[keep]
    W = sum(np.outer(y == c, y == c) / (y == c).sum() for c in classes)
    _, beta = scipy.linalg.eigh(P.T @ W @ P)
    a = P @ (beta[:, ::-1][:, : len(classes) - 1] / values[:, None])
    return a / np.sqrt(np.einsum("ij,ik,kj->j", a, centered, a))


@pytest.mark.parametrize("criterion", ["kda", "gda"])
def test_discriminants_against_their_definitions(criterion, wine):
    X, y = wine
    here = KernelDiscriminant(criterion=criterion, gamma=0.05).fit_transform(X, y)
    K = rbf_kernel(X, gamma=0.05)
    there = K @ discriminant_twin(K, y, 1e-3, criterion)
    if criterion == "gda":
        there -= there.mean(axis=0)
    sign = np.sign((here * there).sum(axis=0))
    assert here.shape == (178, 2)
    assert_allclose(here, sign * there, atol=1e-8)


def test_class_names_do_not_matter(wine):
    X, y = wine
    names = np.array(["low", "middle", "top"])[y]
    kda = KernelDiscriminant()
    assert_array_equal(kda.fit_transform(X, y), KernelDiscriminant().fit_transform(X, names))
    assert_array_equal(KernelDiscriminant().fit(X, names).classes_, ["low", "middle", "top"])


def test_callable_thresholds(wine):
    X, _ = wine
    assert_array_equal(KOBL(threshold=lambda t: t).fit(X).pivots_, KOBL().fit(X).pivots_)
    assert_array_equal(KOBL(threshold=lambda t: t**3).fit(X).pivots_, KOBL(threshold=3).fit(X).pivots_)
    with pytest.raises(ValueError, match=r"'threshold' must be a function that rises.*got f\(0\.001\)"):
        KOBL(threshold=lambda t: 1 - t).fit(X)
    with pytest.raises(ZeroDivisionError):
        KOBL(threshold=lambda t: 1 / 0).fit(X)
    with pytest.raises(TypeError):
        KOBL(threshold=lambda t: "high").fit(X)


def test_kernels_are_resolved_and_stored(wine):
    X, _ = wine
    kobl = KOBL(gamma="scale").fit(X)
    assert kobl.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))
    assert kobl.kernel_ == RBF(kobl.gamma_)
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))[np.triu_indices(len(X), 1)]
    assert KOBL().fit(X).gamma_ == pytest.approx(1 / (2 * np.median(distances) ** 2))
    kobl.set_params(kernel=Linear()).fit(X)
    assert not hasattr(kobl, "gamma_")
    assert kobl.n_components_ <= X.shape[1]
    # Parameters reach the kernel exactly.
    assert KOBL(gamma=0.1 + 0.2).fit(X).gamma_ == 0.1 + 0.2


def test_numbers_and_tolerances(wine):
    X, _ = wine
    half = KOBL(threshold=None, tol=0.5).fit(X)
    assert half.explained_ >= 0.5
    assert KOBL(threshold=None, n_components=half.n_components_ - 1).fit(X).explained_ < 0.5
    assert KOBL(n_components=7).fit_transform(X).shape == (178, 7)
    assert KernelDiscriminant(n_components=1).fit_transform(*wine).shape == (178, 1)


def test_the_medoid_does_not_depend_on_the_order(wine, rng):
    X, _ = wine
    order = rng.permutation(len(X))
    straight = KOBL(first_pivot="medoid", gamma=0.05).fit(X)
    mixed = KOBL(first_pivot="medoid", gamma=0.05).fit(X[order])
    assert_array_equal(order[mixed.pivots_], straight.pivots_)


def test_gamma_for_n_components(wine):
    X, _ = wine
    for wanted in (2, 15, 60):
        assert KOBL(gamma=gamma_for_n_components(X, wanted)).fit(X).n_components_ == wanted
    gamma = gamma_for_n_components(X, 15, threshold=lambda t: t**2)
    assert gamma == gamma_for_n_components(X, 15, threshold=2)
    with pytest.warns(UserWarning, match="no gamma gives exactly 3 components; the returned value gives 2"):
        gamma_for_n_components([[0.0], [0.0], [1.0], [1.0]], 3)
