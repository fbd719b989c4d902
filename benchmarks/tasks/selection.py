"""Feature selectors."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import scale

import kernsift
from tasks import THREADS, Answer, Extrapolation, Task, Work


def relief_data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(n, d))
    return x, (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(np.int64)


def relief_ours(n: int, d: int) -> Work:
    x, y = relief_data(n, d)
    return lambda: {"scores": kernsift.ReliefF(n_neighbors=10, n_jobs=THREADS).fit(x, y).scores_}


def relief_skrebate(n: int, d: int) -> Work:
    import skrebate

    x, y = relief_data(n, d)

    def work() -> Answer:
        fitted = skrebate.ReliefF(n_neighbors=10, n_jobs=THREADS).fit(x, y)
        return {"scores": np.maximum(fitted.feature_importances_, 0)}

    return work


def relief_sklearn() -> Work:
    """ReliefF with scikit-learn's neighbors, the ten nearest of each class, and sums in numpy."""
    from sklearn.neighbors import NearestNeighbors

    x, y = relief_data(20_000, 100)

    def work() -> Answer:
        value_range = x.max(axis=0) - x.min(axis=0)
        z = x / value_range
        # The peer weights misses by class frequencies, which is 1 for two classes.
        score = np.zeros(x.shape[1])
        for own in (0, 1):
            of_class = z[y == own]
            for other in (0, 1):
                among = z[y == other]
                same = own == other
                near = NearestNeighbors(
                    n_neighbors=11 if same else 10, metric="manhattan", algorithm="brute", n_jobs=THREADS
                ).fit(among)
                places = near.kneighbors(of_class, return_distance=False)[:, 1 if same else 0 :]
                for column in places.T:
                    score += (-1 if same else 1) * np.abs(of_class - among[column]).sum(axis=0)
        return {"scores": np.maximum(score / (10 * len(x)), 0)}

    return work


def close_scores(ours: Answer, theirs: Answer) -> bool:
    return bool(np.allclose(ours["scores"], theirs["scores"], atol=1e-10))


def information_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(5000, 100))
    return x, (x[:, 0] + x[:, 1] ** 2 > 1).astype(np.int64)


def information_ours() -> Work:
    x, y = information_data()
    return lambda: {
        "scores": kernsift.MutualInformation(10, discrete="none", n_jobs=THREADS).fit(x, y).scores_
    }


def information_sklearn() -> Work:
    from sklearn.feature_selection import mutual_info_classif

    x, y = information_data()
    return lambda: {
        "scores": mutual_info_classif(x, y, discrete_features=False, random_state=0, n_jobs=THREADS)
    }


def numpy_ffs(x: np.ndarray, y: np.ndarray) -> list[int]:
    """Forward selection over stumps in plain numpy: all thresholds and candidates of a step at once."""
    n, d = x.shape
    order = np.argsort(x, axis=0, kind="stable")
    left = np.cumsum(y[order], axis=0)[:-1]
    rows = np.arange(1, n)[:, None]
    errors = left + (n - rows) - (y.sum() - left)
    fewest = np.minimum(errors, n - errors)
    cut = np.argmin(fewest, axis=0)
    columns = np.arange(d)
    last = x[order[cut, columns], columns]
    right_is_one = errors[cut, columns] <= n - errors[cut, columns]
    votes = (x > last) == right_is_one
    own = (votes != y[:, None]).sum(axis=0)
    ayes = np.zeros(n, dtype=np.int64)
    chosen: list[int] = []
    left_over = np.ones(d, dtype=bool)
    for t in range(1, d + 1):
        candidates = np.flatnonzero(left_over)
        places = (ayes[:, None] + votes[:, candidates]) + np.arange(candidates.size) * (t + 1)
        size = candidates.size * (t + 1)
        gain = np.bincount(places[y == 1].ravel(), minlength=size) - np.bincount(
            places[y == 0].ravel(), minlength=size
        )
        steps = np.cumsum(gain.reshape(candidates.size, t + 1), axis=1)
        errors = (n - y.sum()) + np.minimum(steps.min(axis=1), 0)
        best = candidates[np.lexsort((candidates, own[candidates], errors))[0]]
        chosen.append(int(best))
        left_over[best] = False
        ayes += votes[:, best]
    return chosen


def ffs_data() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(3).normal(size=(10_000, 100))
    return x, (x[:, :10].sum(axis=1) + x[:, 10] * x[:, 11] > 0).astype(np.int64)


def ffs_ours() -> Work:
    x, y = ffs_data()
    estimator = kernsift.FFS(standardize=False, n_jobs=THREADS, random_state=0)
    return lambda: {"order": estimator.fit(x, y).order_}


def ffs_numpy() -> Work:
    x, y = ffs_data()
    return lambda: {"order": np.array(numpy_ffs(x, y))}


def same_order(ours: Answer, theirs: Answer) -> bool:
    return bool(np.array_equal(ours["order"], theirs["order"]))


def hsic_data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that depend on four of the features, each in another way, and noise."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(n, d))
    score = (x[:, 0] ** 2 + x[:, 3] ** 2) / 2 - 0.7 + 0.8 * np.sin(2 * x[:, 7]) + 0.5 * x[:, 10]
    return scale(x), (score + 0.3 * rng.normal(size=n) > 0).astype(np.int64)


def numpy_fohsic(x: np.ndarray, y: np.ndarray, m: int) -> list[int]:
    """FOHSIC in plain numpy: the kernel of the selected features, times that of each candidate."""
    n, d = x.shape
    factor = np.eye(y.max() + 1)[y]
    factor /= np.sqrt(factor.sum(axis=0))
    factor -= factor.mean(axis=0)
    weights = factor @ factor.T / n**2
    distances = np.zeros((n, n))
    part = np.empty((n, n))
    left, chosen = list(range(d)), []
    for step in range(1, m + 1):
        gamma = 0.5 / step
        weighted = weights * np.exp(-gamma * distances)
        values = []
        for f in left:
            np.subtract(x[:, f, None], x[:, f], out=part)
            np.multiply(part, part, out=part)
            part *= -gamma
            np.exp(part, out=part)
            values.append(float(np.vdot(weighted, part)))
        best = left.pop(int(np.argmax(values)))
        chosen.append(best)
        distances += (x[:, best, None] - x[:, best]) ** 2
    return chosen


def fohsic_ours() -> Work:
    x, y = hsic_data(1000, 500)
    estimator = kernsift.FOHSIC(n_features_to_select=10, standardize=False, n_jobs=THREADS)
    return lambda: {"order": estimator.fit(x, y).order_[:10]}


def fohsic_numpy() -> Work:
    x, y = hsic_data(1000, 500)
    return lambda: {"order": np.array(numpy_fohsic(x, y, 10))}


def lasso_ours(n: int, d: int, block_size: int | None = None) -> Work:
    x, y = hsic_data(n, d)
    estimator = kernsift.HSICLasso(
        n_features_to_select=10, block_size=block_size, n_jobs=THREADS, random_state=0
    )
    return lambda: {"order": estimator.fit(x, y).order_[:10]}


def lasso_peer(n: int, d: int, block_size: int = 0) -> Work:
    from pyHSICLasso import HSICLasso

    x, y = hsic_data(n, d)
    peer = HSICLasso()
    peer.input(x, y)

    def work() -> Answer:
        peer.classification(10, B=block_size, n_jobs=THREADS)
        return {"order": np.array([int(j) for j in peer.get_index()])}

    return work


def same_four(ours: Answer, theirs: Answer) -> bool:
    """Random blocks differ, so that only the four relevant features must agree."""
    planted = {0, 3, 7, 10}
    return planted == set(ours["order"][:4].tolist()) == set(theirs["order"][:4].tolist())


def pairs_data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(12)
    x = rng.normal(size=(n, d))
    y = x[:, 3] * x[:, d // 2] > 0
    return x, np.where(rng.random(n) < 0.05, ~y, y).astype(np.int64)


def pairs_ours(n: int, d: int) -> Work:
    x, y = pairs_data(n, d)
    return lambda: {"pair": kernsift.InteractionScreen(n_jobs=THREADS).fit(x, y).pairs_[0]}


def pairs_numpy(n: int, d: int) -> Work:
    """The products of the screen alone, in single precision, without sorting out the best pairs."""
    rng = np.random.default_rng(12)
    phi = rng.normal(size=(4 * d, n)).astype(np.float32)
    height = 1024

    def work() -> Answer:
        for start in range(0, 4 * d, height):
            _ = phi[start : start + height] @ phi[start:].T
        return {"pair": np.array([3, d // 2])}

    return work


def nca_ours(n: int, d: int, k: int) -> Work:
    rng = np.random.default_rng(13)
    x = rng.normal(size=(n, d))
    y = (x[:, :k] ** 2).sum(1) > k
    estimator = kernsift.NCASelector(k, random_state=0, n_jobs=THREADS)
    return lambda: {"order": estimator.fit(x, y.astype(np.int64)).order_[:k]}


def auto_ours(n: int, d: int) -> Work:
    x, y = pairs_data(n, d)
    estimator = kernsift.AutoSelector(random_state=0, n_jobs=THREADS)
    return lambda: {"selected": estimator.fit(x, y).get_support(indices=True)}


def auto_wine() -> Work:
    from sklearn.datasets import load_wine

    x, y = load_wine(return_X_y=True)
    estimator = kernsift.AutoSelector(random_state=0, n_jobs=THREADS)
    return lambda: {"selected": estimator.fit(x, y).get_support(indices=True)}


def same_pair(ours: Answer, theirs: Answer) -> bool:
    return ours["pair"].tolist() == theirs["pair"].tolist()


TASKS = [
    Task(
        "Interaction screen, 4 functions",
        "1000 x 5000",
        lambda: pairs_ours(1000, 5000),
        "the bare products in numpy, single precision",
        lambda: pairs_numpy(1000, 5000),
        same_pair,
        "the planted pair is first",
        ratio=1 / 1.5,
        seconds=4.0,
    ),
    Task(
        "Interaction screen, 4 functions",
        "500 x 20,000",
        lambda: pairs_ours(500, 20_000),
        "the bare products in numpy, single precision",
        lambda: pairs_numpy(500, 20_000),
        same_pair,
        "the planted pair is first",
        ratio=1 / 1.5,
        seconds=30.0,
        bytes=2**30,
    ),
    Task("NCA, 15 features", "600 x 256", lambda: nca_ours(600, 256, 15), seconds=0.5),
    Task("Automatic selector", "1000 x 1000", lambda: auto_ours(1000, 1000), seconds=60.0),
    Task("Automatic selector", "wine, 178 x 13", auto_wine, seconds=2.0),
    Task(
        "ReliefF, 10 neighbors",
        "1000 x 500",
        lambda: relief_ours(1000, 500),
        "skrebate, ReliefF",
        lambda: relief_skrebate(1000, 500),
        close_scores,
        ratio=50.0,
    ),
    Task(
        "ReliefF, 10 neighbors",
        "20,000 x 100",
        lambda: relief_ours(20_000, 100),
        "scikit-learn's brute-force neighbors, and numpy",
        relief_sklearn,
        close_scores,
    ),
    Task(
        "HSIC Lasso, 10 features",
        "1000 x 200",
        lambda: lasso_ours(1000, 200),
        "pyHSICLasso, B = 0",
        lambda: lasso_peer(1000, 200),
        same_order,
        ratio=50.0,
        memory_share=1 / 20,
    ),
    Task(
        "HSIC Lasso, 10 features",
        "1000 x 5000",
        lambda: lasso_ours(1000, 5000),
        "pyHSICLasso, B = 0",
        ratio=50.0,
        memory_share=1 / 20,
        extrapolation=Extrapolation(lambda d: lambda: lasso_peer(1000, d), (200, 400), 5000, "columns"),
    ),
    Task(
        "HSIC Lasso in blocks of 20, 10 features",
        "1000 x 5000",
        lambda: lasso_ours(1000, 5000, 20),
        "pyHSICLasso, B = 20",
        lambda: lasso_peer(1000, 5000, 20),
        same_four,
        "the four relevant features come first",
        ratio=10.0,
    ),
    Task(
        "FOHSIC, 10 features",
        "1000 x 500",
        fohsic_ours,
        "numpy, same algorithm",
        fohsic_numpy,
        same_order,
        ratio=10.0,
    ),
    Task(
        "FFS with stumps, all steps",
        "10,000 x 100",
        ffs_ours,
        "numpy, same algorithm",
        ffs_numpy,
        same_order,
    ),
    Task(
        "Mutual information, classification",
        "5000 x 100",
        information_ours,
        "scikit-learn, mutual_info_classif",
        information_sklearn,
        lambda a, b: bool(np.allclose(a["scores"], b["scores"], atol=1e-6)),
    ),
]
