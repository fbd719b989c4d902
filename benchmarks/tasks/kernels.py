"""Gram matrices and bases of kernel space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import kernsift
from tasks import THREADS, Answer, Task, Work

GAMMA = 0.1
COMPONENTS = 200


def rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def numpy_gram(x: np.ndarray, gamma: float) -> np.ndarray:
    """An RBF Gram matrix by a matrix product and an exponential, in place where possible."""
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
    # Both sides overwrite an existing array, so that only the work is timed.
    return [
        lambda: {"product": np.matmul(x, x.T, out=out)[:0]},
        lambda: {"exp": np.exp(exponents, out=out)[:0]},
    ]


def numpy_kobl(x: np.ndarray, gamma: float, m: int) -> tuple[np.ndarray, list[int]]:
    """KOBL in plain numpy: one pivot and one matrix-vector product at a time.

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


def kobl() -> kernsift.KOBL:
    return kernsift.KOBL(n_components=COMPONENTS, gamma=GAMMA, threshold=None, n_jobs=THREADS)


def some_covertype() -> np.ndarray:
    """20,000 samples drawn from covertype, standardized."""
    from sklearn.preprocessing import scale

    from tasks.tables import covertype

    x = covertype()[0]
    return scale(x[np.random.default_rng(0).permutation(len(x))[:20_000]])


def unexplained(features: np.ndarray) -> float:
    """Fraction of the trace of the kernel matrix that features do not explain; the RBF diagonal is 1."""
    return float(1 - np.square(features).sum() / len(features))


def kobl_ours() -> Work:
    x = rows(20_000, 10)

    def work() -> Answer:
        estimator = kobl()
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
        pca = KernelPCA(COMPONENTS, kernel="rbf", gamma=GAMMA, eigen_solver="randomized", n_jobs=THREADS)
        return {"features": pca.fit_transform(x)}

    return work


def centered_residual_ratio(ours: Answer, theirs: Answer) -> float:
    """Our residual of the centered kernel's trace, divided by that of the best directions."""
    # The trace divided by the number of samples is 1 minus the mean of the kernel, estimated by the features.
    trace = 1 - float(np.square(ours["features"].mean(axis=0)).sum())
    left = [trace - (f - f.mean(axis=0)).var(axis=0).sum() for f in (ours["features"], theirs["features"])]
    return float(left[0] / left[1])


def drawn_ours(data: Callable[[], np.ndarray], gamma: float, pivoting: str) -> Work:
    x = data()

    def work() -> Answer:
        estimator = kernsift.KOBL(
            n_components=COMPONENTS,
            gamma=gamma,
            threshold=None,
            pivoting=pivoting,
            n_jobs=THREADS,
            random_state=0,
        )
        return {"features": estimator.fit_transform(x)}

    return work


def nystroem_sklearn(data: Callable[[], np.ndarray], gamma: float) -> Work:
    from sklearn.kernel_approximation import Nystroem

    x = data()

    def work() -> Answer:
        # Its matrix products already use all threads; with n_jobs it takes 50 % longer.
        nystroem = Nystroem(kernel="rbf", gamma=gamma, n_components=COMPONENTS, random_state=0)
        return {"features": nystroem.fit_transform(x)}

    return work


def residual_ratio(ours: Answer, theirs: Answer) -> float:
    """Our residual of the kernel's trace, divided by the peer's."""
    left = [unexplained(answer["features"]) for answer in (ours, theirs)]
    return left[0] / left[1]


def drawn_task(pivoting: str, what: str, size: str, data: Callable[[], np.ndarray], gamma: float) -> Task:
    rule = {"random": "random pivots", "gain": "pivots by gain"}[pivoting]
    return Task(
        f"KOBL, {rule} in blocks, {what}",
        size,
        lambda: drawn_ours(data, gamma, pivoting),
        "scikit-learn, Nystroem",
        lambda: nystroem_sklearn(data, gamma),
        quality=residual_ratio,
        quality_of="residual",
        quality_most=0.9,
        ratio=1.0,
    )


TASKS = [
    Task(
        "RBF Gram matrix",
        "5000 x 5000, 100 features",
        gram_ours,
        "numpy, product and exp in place",
        gram_numpy,
        lambda a, b: bool(np.allclose(a["gram"], b["gram"], atol=1e-10)),
        ratio=2.0,
    ),
    Task(
        "RBF Gram matrix against its parts",
        "5000 x 5000, 100 features",
        gram_ours,
        "the slower of numpy's matrix product and exp, into allocated memory",
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
        "KOBL, random pivots, against kernel PCA",
        "20,000 x 10, 200 components",
        lambda: drawn_ours(lambda: rows(20_000, 10), GAMMA, "random"),
        "scikit-learn, KernelPCA by its fastest solver (randomized)",
        kernel_pca_sklearn,
        quality=centered_residual_ratio,
        quality_of="residual, the least there is",
        ratio=100.0,
        memory_share=1 / 20,
    ),
    *(
        task
        for pivoting in ("random", "gain")
        for task in (
            drawn_task(pivoting, "covertype", "20,000 x 54, 200 components", some_covertype, 0.02),
            drawn_task(
                pivoting, "normal data", "20,000 x 10, 200 components", lambda: rows(20_000, 10), GAMMA
            ),
        )
    ),
]
