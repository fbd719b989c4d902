"""Support vector machines and nearest neighbors."""

from __future__ import annotations

import time

import numpy as np
import pandas
from sklearn.preprocessing import scale

import kernsift
from tasks import THREADS, Answer, Task, Work
from tasks.tables import shared

C_VALUES = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
GAMMAS = [0.005, 0.02, 0.05, 0.2]


def svm_data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes with a nonlinear boundary and noise."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(n, d))
    return x, (x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * rng.normal(size=n) > 0).astype(np.int64)


def grid_ours() -> Work:
    x, y = svm_data(5000, 20)
    search = kernsift.SVCCV(C=C_VALUES, gamma=GAMMAS, cv=5, n_jobs=THREADS, random_state=0)
    return lambda: {"errors": np.asarray(search.fit(x, y).cv_errors_)}


def grid_sklearn() -> Work:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    x, y = svm_data(5000, 20)
    search = GridSearchCV(SVC(), {"gamma": GAMMAS, "C": C_VALUES}, cv=5, n_jobs=THREADS)

    def work() -> Answer:
        found = search.fit(x, y).cv_results_
        # The grid is in the order of parameter names, the last varies fastest.
        scores = found["mean_test_score"].reshape(len(C_VALUES), len(GAMMAS))
        return {"errors": 1 - scores.T}

    return work


def close_errors(ours: Answer, theirs: Answer) -> bool:
    """Folds differ; means over 5000 samples have standard errors of 0.006."""
    return ours["errors"].shape == theirs["errors"].shape and bool(
        np.allclose(ours["errors"], theirs["errors"], atol=0.025)
    )


def rfe_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "madelon":
        path = shared("madelon_train.csv.gz")
        if path is None:
            # Synthetic data of the same shape and similar difficulty.
            return svm_data(2000, 500)
        table = pandas.read_csv(path).to_numpy(dtype=np.float64)
        return scale(table[:, :-1]), (table[:, -1] > 0).astype(np.int64)
    data = kernsift.load_dataset(name)
    return scale(data.data), data.target


def rfe_ours(name: str) -> Work:
    x, y = rfe_data(name)
    return lambda: {"order": kernsift.SVMRFE(1, standardize=False, n_jobs=THREADS).fit(x, y).order_}


def rfe_sklearn(name: str) -> Work:
    from sklearn.feature_selection import RFE
    from sklearn.svm import SVC

    x, y = rfe_data(name)

    def work() -> Answer:
        fitted = RFE(SVC(kernel="linear"), n_features_to_select=1, step=1).fit(x, y)
        return {"order": np.argsort(fitted.ranking_)}

    return work


def rfe_sampled() -> Work:
    """RFE on madelon takes scikit-learn hours: its time is interpolated from fits at some numbers of
    features, the first of our order."""
    from sklearn.svm import SVC

    x, y = rfe_data("madelon")
    order = kernsift.SVMRFE(1, standardize=False, n_jobs=THREADS).fit(x, y).order_
    counts = [1, 10, 50, 100, 200, 300, 400, 500]

    def work() -> Answer:
        times = []
        for count in counts:
            start = time.perf_counter()
            SVC(kernel="linear").fit(x[:, order[:count]], y)
            times.append(time.perf_counter() - start)
        return {"seconds": float(np.interp(np.arange(1, 501), counts, times).sum())}

    return work


def nearly_same_order(ours: Answer, theirs: Answer) -> bool:
    """At its default tolerance scikit-learn swaps features of nearly equal weight: ranks differ by one."""
    ranks = [np.argsort(answer["order"]) for answer in (ours, theirs)]
    return bool(np.abs(ranks[0] - ranks[1]).max() <= 1)


def neighbors_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    return rng.normal(size=(20_000, 30)), rng.integers(0, 3, 20_000), rng.normal(size=(5000, 30))


def neighbors_ours() -> Work:
    x, y, new = neighbors_data()
    fitted = kernsift.KNNC(standardize=False, n_jobs=THREADS).fit(x, y)
    return lambda: {"classes": fitted.predict(new)}


def neighbors_sklearn() -> Work:
    from sklearn.neighbors import KNeighborsClassifier

    x, y, new = neighbors_data()
    fitted = KNeighborsClassifier(1, algorithm="brute", n_jobs=THREADS).fit(x, y)
    return lambda: {"classes": fitted.predict(new)}


def rfe_task(name: str, size: str) -> Task:
    return Task(
        f"SVM-RFE, linear, one feature per step, {name}",
        size,
        lambda: rfe_ours(name),
        "scikit-learn, RFE(SVC(kernel='linear'))",
        lambda: rfe_sklearn(name),
        nearly_same_order,
        "ranks differ by at most one",
        ratio=20.0,
    )


TASKS = [
    Task(
        "RBF SVM, 5 folds, 6 values of C, 4 of gamma",
        "5000 x 20",
        grid_ours,
        "scikit-learn, GridSearchCV(SVC())",
        grid_sklearn,
        close_errors,
        "errors differ by at most 0.025",
        ratio=4.0,
    ),
    rfe_task("wdbc", "569 x 30"),
    rfe_task("sonar", "208 x 60"),
    Task(
        "SVM-RFE, linear, one feature per step, madelon",
        "2000 x 500",
        lambda: rfe_ours("madelon"),
        "scikit-learn, SVC(kernel='linear') at 8 numbers of features, extrapolated to RFE's 500 fits",
        rfe_sampled,
        ratio=20.0,
        timeout=600.0,
    ),
    Task(
        "KNNC, 5000 new samples",
        "20,000 x 30",
        neighbors_ours,
        "scikit-learn, KNeighborsClassifier by brute force",
        neighbors_sklearn,
        lambda a, b: bool(np.array_equal(a["classes"], b["classes"])),
    ),
]
