"""Kernels against scikit-learn's."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from kernsift import (
    KOBL,
    RBF,
    Kernel,
    Laplacian,
    Linear,
    Mahalanobis,
    OnFeature,
    Polynomial,
    Sum,
    WhiteNoise,
    gram,
)

METRIC = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.1]])
KERNELS = [
    Linear(),
    RBF(0.3),
    Polynomial(2, 0.5, 1.5),
    Laplacian(0.7),
    WhiteNoise(),
    OnFeature(1, RBF(2.0)),
    Mahalanobis(METRIC),
    0.5 * RBF(1.0) + Linear(),
    0.1 * (OnFeature(0, Laplacian(1.0)) + Polynomial()) + WhiteNoise() * 2,
]


def twin(kernel, X, Z):
    """Each formula as documented."""
    match kernel:
        case Mahalanobis(metric):
            e = X[:, None] - Z
            return np.exp(-np.einsum("ijk,kl,ijl->ij", e, metric, e))
        case WhiteNoise():
            return (X[:, None] == Z).all(axis=2).astype(float)
        case OnFeature(feature, inner):
            return twin(inner, X[:, [feature]], Z[:, [feature]])
        case Sum(parts):
            return sum(weight * twin(inner, X, Z) for weight, inner in parts)
        case Linear():
            return pairwise_kernels(X, Z, metric="linear")
        case RBF(gamma):
            return pairwise_kernels(X, Z, metric="rbf", gamma=gamma)
        case Laplacian(gamma):
            return pairwise_kernels(X, Z, metric="laplacian", gamma=gamma)
        case Polynomial(degree, gamma, coef0):
            return pairwise_kernels(X, Z, metric="poly", degree=degree, gamma=gamma, coef0=coef0)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_formulas(kernel, rng):
    X, Z = rng.normal(size=(20, 3)), rng.normal(size=(30, 3))
    Z[4] = X[2]
    # scikit-learn computes distances from products, which is less accurate.
    assert_allclose(kernel(X, Z), twin(kernel, X, Z), atol=1e-12)
    assert_allclose(kernel(X), twin(kernel, X, X), atol=1e-12)
    assert_array_equal(kernel(X), kernel(X).T)
    assert_allclose(kernel(sparse.csr_array(X), sparse.csr_array(Z)), kernel(X, Z), atol=1e-12)
    assert_allclose(kernel(X.astype(np.float32)), kernel(X), atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear"])
@pytest.mark.parametrize("d", [3, 60])
def test_gram_by_name(kernel, d, rng):
    X, Z = rng.normal(size=(300, d)), rng.normal(size=(40, d))
    parameters = {"gamma": 0.5 / d, "degree": 2, "coef0": 0.5}
    used = {"linear": [], "poly": list(parameters)}.get(kernel, ["gamma"])
    theirs = pairwise_kernels(X, Z, metric=kernel, **{name: parameters[name] for name in used})
    assert_allclose(gram(X, Z, kernel=kernel, **parameters), theirs, rtol=1e-10, atol=1e-12)


def test_gamma_is_computed_from_z(rng):
    X, Z = rng.normal(size=(50, 4)), 3 * rng.normal(size=(60, 4))
    kernel = KOBL().fit(Z).kernel_
    assert_array_equal(gram(X, Z), kernel(X, Z))
    assert_array_equal(gram(Z), kernel(Z))
    scale = 1 / (4 * Z.var())
    assert_allclose(gram(X, Z, gamma="scale"), RBF(scale)(X, Z))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_are_plain_objects(kernel):
    assert Kernel.from_json(kernel.to_json()) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(pickle.loads(pickle.dumps(kernel))) == hash(kernel)
    assert clone(KOBL(kernel=kernel)).kernel == kernel
    assert kernel != RBF(0.12345)


def test_sums():
    total = 0.5 * RBF(1.0) + Linear()
    assert total == Sum(((0.5, RBF(1.0)), (1.0, Linear())))
    assert 2 * total == Sum(((1.0, RBF(1.0)), (2.0, Linear())))
    assert repr(RBF(1)) == "RBF(gamma=1.0)"
    with pytest.raises(TypeError):
        RBF(1.0) + 1
    with pytest.raises(TypeError):
        RBF(1.0) * RBF(1.0)


def test_kernels_work_in_an_svm(wine):
    X, y = wine
    ours = SVC(kernel=RBF(0.05)).fit(X[::2], y[::2])
    theirs = SVC(gamma=0.05).fit(X[::2], y[::2])
    assert_array_equal(ours.predict(X[1::2]), theirs.predict(X[1::2]))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: RBF(-1), "gamma must be a positive number, got -1.0."),
        (lambda: Laplacian(float("nan")), "gamma must be a finite number, got nan."),
        (lambda: Polynomial(degree=0), "degree must be an integer of 1 or more, got 0."),
        (lambda: OnFeature(-1, Linear()), "feature must be an index of 0 or more, got -1."),
        (lambda: Mahalanobis([[1.0, 2.0]]), "metric must be a square matrix, got shape (1, 2)."),
        (lambda: Sum(()), "a sum needs at least one kernel."),
        (
            lambda: OnFeature(3, Linear())([[1.0, 2.0]]),
            "kernel: parameter 'feature' must be below the number of columns, 2, got 3",
        ),
        (
            lambda: Mahalanobis([[1.0, 2.0], [2.0, 1.0]])([[1.0, 2.0]]),
            "kernel: parameter 'metric' must be a positive semidefinite matrix, got one with the eigenvalue "
            "-1.000e0",
        ),
        (lambda: RBF(1.0)([[1.0, 2.0]], [[1.0]]), "X has 2 features, but Z has 1."),
        (
            lambda: gram([[1.0]], degree=0),
            "The 'degree' parameter of gram must be an int in the range [1, 9007199254740992]. "
            "Got 0 instead.",
        ),
    ],
)
def test_messages(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == message
