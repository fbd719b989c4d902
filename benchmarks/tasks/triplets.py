"""Kernels and metrics learned from triplets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.preprocessing import scale

import kernsift
from tasks import THREADS, Answer, Task, Work

GAMMAS = (1.0, 0.1, 0.01)
PENALTY = 1e-4
N_TRIPLETS = 1500


def problem(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All samples of a data set, and triplets drawn from its classes."""
    data = kernsift.load_dataset(name)
    return data.data, kernsift.triplets_from_labels(data.target, N_TRIPLETS, random_state=0)


def design_ours(name: str) -> Work:
    """Three values of gamma for every feature."""
    x, triplets = problem(name)
    learner = kernsift.KernelDesign(
        ["rbf"],
        gammas=GAMMAS,
        psd="dominance_with_noise",
        gamma1=PENALTY,
        gamma2=PENALTY,
        threshold=0,
        n_jobs=1,
    )
    return lambda: {"objective": learner.fit(x, triplets).objective_}


def design_naive(name: str) -> Work:
    """Linear program (7) with noise: a variable per weight, feature, triplet and pair, by HiGHS."""
    x, triplets = problem(name)
    # As in our side, equal samples are merged, and samples without triplets are dropped.
    named, places = np.unique(triplets, return_inverse=True)
    x, same = np.unique(x[named], axis=0, return_inverse=True)
    means, stds = (getattr(problem(name)[0], of)(axis=0) for of in ("mean", "std"))
    rows = (x - means) / np.where(stds > 0, stds, 1)
    i, j, far = same[places.reshape(-1, 3)].T
    n, d = rows.shape
    apart = (rows[:, None, :] - rows[None, :, :]) ** 2
    grams = np.concatenate([np.exp(-gamma * np.moveaxis(apart, 2, 0)) for gamma in GAMMAS])
    k, count = len(grams), len(triplets)
    above, below = np.triu_indices(n, 1)
    r = len(above)
    eye, array = sparse.eye_array, sparse.csr_array
    member = array((np.ones(k), (np.arange(k), np.tile(np.arange(d), len(GAMMAS)))), shape=(k, d))
    pairs = array(grams[:, above, below].T)
    both = np.concatenate([above, below])
    sums = array((np.ones(2 * r), (both, np.tile(np.arange(r), 2))), shape=(n, r))
    # Columns: weights, noise, largest weights, slacks, pairs.
    blocks = [
        [array(-(grams[:, i, j] - grams[:, i, far]).T), None, None, -eye(count), None],
        [eye(k), None, -member, None, None],
        [-eye(k), None, -member, None, None],
        [pairs, None, None, None, -eye(r)],
        [-pairs, None, None, None, -eye(r)],
        [array(-np.ones((n, k))), array(-np.ones((n, 1))), None, None, sums],
    ]
    bound = np.concatenate([-np.ones(count), np.zeros(2 * k + 2 * r + n)])
    cost = np.concatenate(
        [np.full(k + 1, PENALTY), np.full(d, PENALTY), np.full(count, 1 / count), np.zeros(r)]
    )
    bounds = [(None, None)] * k + [(0, None)] * (1 + d + count + r)
    matrix = sparse.block_array(blocks, format="csc")

    def work() -> Answer:
        found = linprog(cost, A_ub=matrix, b_ub=bound, bounds=bounds, method="highs-ds")
        assert found.status == 0, found.message
        return {"objective": found.fun}

    return work


def same_optimum(ours: Answer, theirs: Answer) -> bool:
    return bool(abs(ours["objective"] / theirs["objective"] - 1) < 1e-6)


def xing_data(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Standardized samples, triplets, and their similar and dissimilar pairs."""
    data = kernsift.load_dataset(name)
    triplets = kernsift.triplets_from_labels(data.target, N_TRIPLETS, random_state=0)
    near, far = (np.unique(np.sort(triplets[:, [0, k]], axis=1), axis=0) for k in (1, 2))
    return scale(data.data), triplets, near, far


def xing_ours(name: str, diagonal: bool) -> Work:
    x, triplets, *_ = xing_data(name)
    learner = kernsift.XingMetric(diagonal, standardize=False, n_jobs=THREADS)
    return lambda: {"metric": learner.fit(x, triplets).metric_}


def renamed(check: Callable) -> Callable:
    """metric-learn 0.7 uses the name that an argument of scikit-learn had before 1.8."""

    def called(*args: object, force_all_finite: object = True, **options: object) -> object:
        return check(*args, ensure_all_finite=force_all_finite, **options)

    return called


def xing_peer(name: str, diagonal: bool) -> Work:
    import metric_learn._util
    from metric_learn import MMC
    from sklearn.utils import check_array, check_X_y

    metric_learn._util.check_array = renamed(check_array)
    metric_learn._util.check_X_y = renamed(check_X_y)
    x, _, near, far = xing_data(name)
    pairs, labels = np.concatenate([x[near], x[far]]), np.repeat([1, -1], [len(near), len(far)])
    learner = MMC(diagonal=diagonal)
    return lambda: {"metric": learner.fit(pairs, labels).get_mahalanobis_matrix()}


def xing_value(metric: np.ndarray, name: str) -> float:
    """Sum of distances of dissimilar pairs, divided by the root of the sum of squares of similar pairs."""
    x, _, near, far = xing_data(name)
    squares = [
        np.maximum(((z @ metric) * z).sum(axis=1), 0)
        for z in (x[rows[:, 0]] - x[rows[:, 1]] for rows in (near, far))
    ]
    return float(np.sqrt(squares[1]).sum() / np.sqrt(squares[0].sum()))


def xing_task(name: str, diagonal: bool) -> Task:
    return Task(
        f"Xing metric, {name}, {'diagonal' if diagonal else 'full'}",
        f"{N_TRIPLETS} triplets",
        lambda: xing_ours(name, diagonal),
        "metric-learn, MMC",
        lambda: xing_peer(name, diagonal),
        lambda a, b: xing_value(a["metric"], name) >= xing_value(b["metric"], name),
        "our objective is at least as good",
        ratio=20.0,
    )


TASKS = [
    *(
        Task(
            f"Kernel design, {name}, one thread",
            f"{N_TRIPLETS} triplets",
            lambda name=name: design_ours(name),
            "the published linear program, HiGHS from scipy",
            lambda name=name: design_naive(name),
            same_optimum,
            "optima to 1e-6",
            ratio=50.0,
            threads=1,
        )
        for name in ("wine", "ionosphere", "wdbc")
    ),
    *(xing_task(name, diagonal) for name in ("wine", "wdbc") for diagonal in (False, True)),
]
