"""Gram matrices and bases of kernel space."""

from __future__ import annotations

import numpy as np
from tasks import THREADS, Answer, Task, Work

import kernsift

GAMMA = 0.1
COMPONENTS = 200


def rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def numpy_gram(x: np.ndarray, gamma: float) -> np.ndarray:
    """An RBF Gram matrix by a matrix product and an exponential, in place where numpy allows it."""
    squares = (x * x).sum(axis=1)
    k = x @ x.T
    k *= -2
    k += squares[:, None]
    k += squares
    np.maximum(k, 0, out=k)
    k *= -gamma
    return np.exp(k, out=k)


def gram_ours() -> Work:
    x = rows(5000, 100)
    return lambda: {"gram": kernsift.gram(x, gamma=0.01)}


def gram_numpy() -> Work:
    x = rows(5000, 100)
    return lambda: {"gram": numpy_gram(x, 0.01)}


def bare_product_and_bare_exp() -> list[Work]:
    x = rows(5000, 100)
    exponents = -np.random.default_rng(1).random((5000, 5000))
    out = np.empty_like(exponents)
    # Both write what is there already: nothing but the work.
    return [
        lambda: {"product": np.matmul(x, x.T, out=out)[:0]},
        lambda: {"exp": np.exp(exponents, out=out)[:0]},
    ]


def numpy_kobl(x: np.ndarray, gamma: float, m: int) -> tuple[np.ndarray, list[int]]:
    """KOBL as one would write it with numpy: a pivot at a time, a matrix-vector product each.

    The factor is laid out by columns, which is the faster layout for it.
    """
    n = len(x)
    squares = (x * x).sum(axis=1)
    left = np.ones(n)
    factor = np.zeros((n, m), order="F")
    pivots: list[int] = []
    for k in range(m):
        p = int(np.argmax(left))
        norm = np.sqrt(left[p])
        column = np.exp(-gamma * np.maximum(squares + squares[p] - 2 * (x @ x[p]), 0))
        column -= factor[:, :k] @ factor[p, :k]
        factor[:, k] = column / norm
        factor[p, k] = norm
        left -= factor[:, k] ** 2
        np.maximum(left, 0, out=left)
        pivots.append(p)
        left[pivots] = 0
    return factor, pivots


def kobl(pivoting: str = "greedy", n_jobs: int = THREADS) -> kernsift.KOBL:
    return kernsift.KOBL(
        n_components=COMPONENTS,
        gamma=GAMMA,
        threshold=None,
        pivoting=pivoting,
        n_jobs=n_jobs,
        random_state=0,
    )


def unexplained(x: np.ndarray, features: np.ndarray) -> float:
    """The share of the kernel's trace that features leave out; every row of an RBF kernel has a square of 1."""
    return float(1 - np.square(features).sum() / len(x))


def kobl_ours(pivoting: str = "greedy") -> Work:
    x = rows(20_000, 10)

    def work() -> Answer:
        estimator = kobl(pivoting)
        features = estimator.fit_transform(x)
        return {"features": features, "pivots": estimator.pivots_}

    return work


def kobl_numpy() -> Work:
    x = rows(20_000, 10)

    def work() -> Answer:
        features, pivots = numpy_kobl(x, GAMMA, COMPONENTS)
        return {"features": features, "pivots": np.array(pivots)}

    return work


def same_pivots(ours: Answer, theirs: Answer) -> bool:
    close = np.allclose(ours["features"], theirs["features"], atol=1e-8)
    return bool(np.array_equal(ours["pivots"], theirs["pivots"]) and close)


def kernel_pca_sklearn() -> Work:
    from sklearn.decomposition import KernelPCA

    x = rows(20_000, 10)

    def work() -> Answer:
        pca = KernelPCA(COMPONENTS, kernel="rbf", gamma=GAMMA, eigen_solver="auto", n_jobs=THREADS)
        return {"features": pca.fit_transform(x)}

    return work


def near_the_best(ours: Answer, theirs: Answer) -> bool:
    """Centred features of ours leave out at most twice what the best 200 directions do."""
    x = rows(20_000, 10)
    mean_of_kernel = float(np.square(ours["features"].mean(axis=0)).sum())
    # Trace of the centred kernel by n: 1 less the kernel's mean, which 200 pivots give to within rounding here.
    trace = 1 - mean_of_kernel
    left = [trace - np.square(f - f.mean(axis=0)).sum() / len(x) for f in (ours["features"], theirs["features"])]
    return bool(left[0] <= 2 * left[1])


def nystroem_sklearn() -> Work:
    from sklearn.kernel_approximation import Nystroem

    x = rows(20_000, 10)

    def work() -> Answer:
        nystroem = Nystroem(kernel="rbf", gamma=GAMMA, n_components=COMPONENTS, random_state=0, n_jobs=THREADS)
        return {"features": nystroem.fit_transform(x)}

    return work


def residual_share(ours: Answer, theirs: Answer) -> bool:
    """At most 0.9 of the peer's relative residual."""
    x = rows(20_000, 10)
    return unexplained(x, ours["features"]) <= 0.9 * unexplained(x, theirs["features"])


TASKS = [
    Task(
        "RBF Gram matrix",
        "5000 x 5000, 100 columns",
        gram_ours,
        "numpy, product and exp in place",
        gram_numpy,
        lambda a, b: bool(np.allclose(a["gram"], b["gram"], atol=1e-10)),
        ratio=2.0,
    ),
    Task(
        "RBF Gram matrix beside its parts",
        "5000 x 5000, 100 columns",
        gram_ours,
        "the slower of numpy's bare product and bare exp, into memory that is there",
        bare_product_and_bare_exp,
        ratio=1 / 1.7,
    ),
    Task(
        "KOBL, greedy",
        "20,000 x 10, 200 components",
        kobl_ours,
        "numpy, pivoted Cholesky with the same pivots",
        kobl_numpy,
        same_pivots,
        ratio=4.0,
    ),
    Task(
        "KOBL against kernel PCA",
        "20,000 x 10, 200 components",
        kobl_ours,
        "scikit-learn, KernelPCA",
        kernel_pca_sklearn,
        near_the_best,
        "ours leaves out at most twice what the best directions do",
        ratio=100.0,
        memory_share=1 / 20,
    ),
    Task(
        "KOBL, random pivots in blocks",
        "20,000 x 10, 200 components",
        lambda: kobl_ours("random"),
        "scikit-learn, Nystroem",
        nystroem_sklearn,
        residual_share,
        "at most 0.9 of its relative residual",
        ratio=1.0,
    ),
]
