"""How good selected features are: the error on rows that took no part, and planted features found.

`make accuracy DATA_DIR=FOLDER` runs what is missing in records/accuracy.jsonl and writes docs/accuracy.md.
Every selector sees the training rows only; data are standardized by their means and deviations.

    python benchmarks/accuracy.py real [SET ...]        errors on real and synthetic data
    python benchmarks/accuracy.py planted [PATTERN ...] features found by AutoSelector
    python benchmarks/accuracy.py page                  only write the page
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import accuracy_page
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn import ensemble, feature_selection, linear_model, svm
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split

import kernsift

HERE = Path(__file__).resolve().parent
RECORD = HERE / "records" / "accuracy.jsonl"
#: Numbers of features; a set is tried with those below its number of columns.
COUNTS = (3, 5, 10, 20)
REPEATS = 1
#: Training rows and test rows at most; small sets train on 60 %.
MAX_TRAIN, MAX_TEST, SMALL = 600, 2000, 300
WORKERS = 2
#: Seconds of processor time after which a selector has no result for a split.
LIMIT = 600

OURS = (
    *("AutoSelector", "NCASelector", "LDFS", "HSICLasso", "SVMRFE", "L1SVM", "HSFS", "FOHSIC", "BAHSIC"),
    *("ReliefF", "FisherScore", "FFS", "InformationGain", "MutualInformation", "ChiSquared"),
)
Columns = dict[int, np.ndarray]


def regression_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """A real set, and synthetic ones with noise features."""

    def padded(made: tuple[np.ndarray, np.ndarray], seed: int) -> tuple[np.ndarray, np.ndarray]:
        x, y = made
        rng = np.random.default_rng(seed)
        return np.hstack([x, rng.normal(size=(len(y), 50 - x.shape[1]))]), y

    rng = np.random.default_rng(5)
    x = rng.normal(size=(1000, 50))
    products = x[:, 0] * x[:, 1] + 0.7 * x[:, 2] * x[:, 3] + 0.3 * rng.normal(size=1000)
    waves = np.sin(2 * x[:, 0]) * x[:, 1] + x[:, 2] ** 2 / 2 + 0.3 * rng.normal(size=1000)
    return {
        "diabetes": load_diabetes(return_X_y=True),
        "friedman1": padded(make_friedman1(1000, noise=1.0, random_state=1), 1),
        "friedman2": padded(make_friedman2(1000, noise=100.0, random_state=2), 2),
        "friedman3": padded(make_friedman3(1000, noise=0.1, random_state=3), 3),
        "products": (x, products),
        "waves": (x, waves),
    }


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and target: class codes as integers, or numbers."""
    if name in (made := regression_sets()):
        return made[name]
    folder = Path(os.environ["DATA_DIR"])
    file = next(p for p in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if p.exists())
    table = pd.read_csv(file, nrows=60_000)
    x, target = table.drop(columns="target").to_numpy(float), table["target"]
    if name == "boston":
        return x, target.to_numpy(float)
    codes = pd.factorize(target)[0]
    keep = np.isin(codes, np.flatnonzero(np.bincount(codes) >= 5))
    return x[keep], pd.factorize(codes[keep])[0]


def split(name: str, repeat: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Standardized training and test rows; columns that are constant in training are dropped."""
    x, y = load(name)
    size = 0.6 if len(y) < SMALL else min(MAX_TRAIN, len(y) // 2)
    train, test = train_test_split(
        np.arange(len(y)), train_size=size, stratify=y if is_classes(y) else None, random_state=repeat
    )
    test = test[:MAX_TEST]
    mean, std = x[train].mean(0), x[train].std(0)
    varies = std > 1e-12 * (1 + np.abs(mean))
    a, b = ((x[rows][:, varies] - mean[varies]) / std[varies] for rows in (train, test))
    return a, y[train], b, y[test]


def is_classes(y: np.ndarray) -> bool:
    return y.dtype.kind == "i"


def of_ours(name: str) -> Callable[[np.ndarray, np.ndarray, list[int]], Columns]:
    def select(x: np.ndarray, y: np.ndarray, counts: list[int]) -> Columns:
        kind = getattr(kernsift, name)
        fixed = {"random_state": 0} if "random_state" in kind().get_params() else {}
        return {k: kind(k, n_jobs=1, **fixed).fit(x, y).get_support(indices=True) for k in counts}

    return select


def by_order(order_of: Callable[[np.ndarray, np.ndarray, int], np.ndarray]):
    """A selector whose first k features are its selection of k."""

    def select(x: np.ndarray, y: np.ndarray, counts: list[int]) -> Columns:
        order = np.asarray(order_of(x, y, max(counts))).astype(int)
        return {k: order[:k] for k in counts}

    return select


def by_score(score_of: Callable[[np.ndarray, np.ndarray], np.ndarray]):
    return by_order(lambda x, y, _: np.argsort(-np.nan_to_num(score_of(x, y)), kind="stable"))


def recursive_elimination(x: np.ndarray, y: np.ndarray, counts: list[int]) -> Columns:
    model = svm.LinearSVC(max_iter=2000) if is_classes(y) else svm.LinearSVR(max_iter=2000)
    fit = lambda k: feature_selection.RFE(model, n_features_to_select=k, step=0.1).fit(x, y)  # noqa: E731
    return {k: np.flatnonzero(fit(k).support_) for k in counts}


def sparse_linear(x: np.ndarray, y: np.ndarray, counts: list[int]) -> Columns:
    """The largest weights at the first penalty with enough of them."""
    found = {}
    for k in counts:
        for c in np.geomspace(1e-3, 10, 25):
            if is_classes(y):
                model = svm.LinearSVC(penalty="l1", dual=False, C=c, max_iter=3000)
            else:
                model = linear_model.Lasso(alpha=y.std() * 1e-2 / c)
            weights = np.abs(np.atleast_2d(model.fit(x, y).coef_)).sum(0)
            if (weights > 0).sum() >= k:
                break
        found[k] = np.argsort(-weights, kind="stable")[:k]
    return found


def pyhsiclasso(x: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    from pyHSICLasso import HSICLasso

    method = HSICLasso()
    method.input(x, y)
    with contextlib.redirect_stdout(io.StringIO()):
        run = method.classification if is_classes(y) else method.regression
        run(most, B=20, M=3, n_jobs=1)
    return np.array(method.get_index())


def mrmr(x: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    from mrmr import mrmr_classif, mrmr_regression

    run = mrmr_classif if is_classes(y) else mrmr_regression
    table = pd.DataFrame(x, columns=range(x.shape[1]))
    return np.array(run(table, pd.Series(y), most, show_progress=False, n_jobs=1))


def fastcan(x: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    from fastcan import FastCan

    target = np.eye(y.max() + 1)[y] if is_classes(y) else y
    return FastCan(most, verbose=0).fit(x, target).indices_


def relieff(x: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    from skrebate import ReliefF

    many = {"label_type": "multiclass"} if is_classes(y) and y.max() > 1 else {}
    return ReliefF(n_features_to_select=most, n_neighbors=10, **many).fit(x, y).top_features_


def f_test(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    test = feature_selection.f_classif if is_classes(y) else feature_selection.f_regression
    return test(x, y)[0]


def mutual_information(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    kind = "classif" if is_classes(y) else "regression"
    return getattr(feature_selection, f"mutual_info_{kind}")(x, y, random_state=0)


def forest(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    kind = ensemble.RandomForestClassifier if is_classes(y) else ensemble.RandomForestRegressor
    return kind(500, random_state=0).fit(x, y).feature_importances_


def lightgbm(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    kind = LGBMClassifier if is_classes(y) else LGBMRegressor
    model = kind(importance_type="gain", verbose=-1, n_jobs=1, random_state=0)
    return model.fit(x, y).feature_importances_


PEERS = {
    "scikit-learn F test": by_score(f_test),
    "scikit-learn mutual information": by_score(mutual_information),
    "scikit-learn RFE, linear SVM": recursive_elimination,
    "scikit-learn L1 model": sparse_linear,
    "scikit-learn random forest": by_score(forest),
    "LightGBM gain": by_score(lightgbm),
    "skrebate ReliefF": by_order(relieff),
    "pyHSICLasso": by_order(pyhsiclasso),
    "mRMR": by_order(mrmr),
    "fastcan": by_order(fastcan),
}
SELECTORS = {**{f"kernsift {name}": of_ours(name) for name in OURS}, **PEERS}


def errors(x: np.ndarray, y: np.ndarray, test: np.ndarray, truth: np.ndarray) -> list[float]:
    """Balanced error, or 1 - R², of an SVM (tuned by cross-validation) and of boosted trees."""
    gammas = [g / x.shape[1] for g in (0.3, 1, 3)]
    leaf = min(10, max(2, len(y) // 20))
    trees = {"n_estimators": 60, "min_child_samples": leaf, "verbose": -1, "n_jobs": 1}
    if is_classes(y):
        folds = StratifiedKFold(max(2, min(3, np.bincount(y).min())), shuffle=True, random_state=0)
        grid = {"C": [1, 10, 100], "gamma": gammas}
        model = GridSearchCV(svm.SVC(class_weight="balanced"), grid, cv=folds, scoring="balanced_accuracy")
        boosted = LGBMClassifier(class_weight="balanced", **trees)
        return [1 - balanced_accuracy_score(truth, m.fit(x, y).predict(test)) for m in (model, boosted)]
    mean, std = y.mean(), y.std()
    grid = {"C": [1, 10, 100], "gamma": gammas, "epsilon": [0.1]}
    model = GridSearchCV(svm.SVR(), grid, cv=KFold(3, shuffle=True, random_state=0))
    scaled, goal = (y - mean) / std, (truth - mean) / std
    return [1 - r2_score(goal, m.fit(x, scaled).predict(test)) for m in (model, LGBMRegressor(**trees))]


def run_real(name: str, repeat: int, method: str) -> dict:
    warnings.filterwarnings("ignore")
    signal.signal(signal.SIGPROF, too_slow)
    x, y, test, truth = split(name, repeat)
    record = {"set": name, "repeat": repeat, "method": method, "n_test": len(truth)}
    try:
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        found = SELECTORS[method](x, y, [k for k in COUNTS if k < x.shape[1]])
        signal.setitimer(signal.ITIMER_PROF, 0)
        record["seconds"] = round(time.process_time() - start, 3)
        result = {}
        for k, columns in found.items():
            key = sorted({int(c) for c in columns})
            if len(key) != k:
                raise ValueError(f"{len(key)} of {k} features")
            result[k] = errors(x[:, key], y, test[:, key], truth)
        return {**record, "errors": result}
    except Exception as wrong:
        signal.setitimer(signal.ITIMER_PROF, 0)
        return {**record, "failed": repr(wrong)[:200]}


def planted(pattern: str, n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, set[int]]:
    """Normal features, of which a few determine the target; 5 % of the labels are wrong."""
    rng = np.random.default_rng([seed, n, d])
    x = rng.standard_normal((n, d))
    order = rng.permutation(d)
    u, v, a, b = (x[:, j] for j in order[:4])
    wrong = rng.random(n) < 0.05
    noise = 0.3 * rng.standard_normal(n)
    made = {
        "XOR": lambda: ((u * v > 0) ^ wrong, 2),
        "ring": lambda: ((u * u + v * v > 2 * np.log(2)) ^ wrong, 2),
        "XOR and ring": lambda: ((u * v + 1.5 * ((a * a + b * b) / 2 - 1) > 0) ^ wrong, 4),
        "product, regression": lambda: (u * v + noise, 2),
        "two products, regression": lambda: (u * v + a * b + noise, 4),
        "XOR within two of three classes": lambda: (np.where((a > 0.43) ^ wrong, 2, u * v > 0), 3),
        "parity of three": lambda: ((u * v * a > 0) ^ wrong, 3),
        "noise": lambda: (rng.integers(0, 2, n), 0),
        "noise, regression": lambda: (noise, 0),
    }
    y, count = made[pattern]()
    return x, y if "regression" in pattern else y.astype(int), {int(j) for j in order[:count]}


def planted_tasks() -> list[tuple[str, int, int, int]]:
    large = ("XOR", "ring", "XOR and ring", "product, regression", "two products, regression")
    sizes = [(1000, 100), (1000, 5000), (500, 20_000)]
    patterns = (*large, "XOR within two of three classes")
    tasks = [(p, n, d, seed) for n, d in sizes for p in patterns for seed in range(10)]
    tasks += [("parity of three", 2000, 100, seed) for seed in range(10)]
    tasks += [(p, 500, 100, seed) for p in ("noise", "noise, regression") for seed in range(20)]
    # The first draw of every pattern before the second one, so that an interrupted run has all patterns.
    return sorted(tasks, key=lambda task: task[-1])


def run_planted(pattern: str, n: int, d: int, seed: int) -> dict:
    x, y, truth = planted(pattern, n, d, seed)
    select = kernsift.AutoSelector(random_state=0, n_jobs=2)
    start = time.monotonic()
    found = set(select.fit(x, y).get_support(indices=True).tolist())
    took = round(time.monotonic() - start, 2)
    record = {"pattern": pattern, "n": n, "d": d, "seed": seed, "seconds": took}
    return {**record, "missed": len(truth - found), "extra": len(found - truth)}


def too_slow(*_: object) -> None:
    raise TimeoutError(f"more than {LIMIT} seconds")


def main() -> None:
    warnings.filterwarnings("ignore")
    action, *words = sys.argv[1:] or ["all"]
    records = [json.loads(line) for line in RECORD.open()] if RECORD.exists() else []
    with RECORD.open("a") as file:

        def keep(record: dict) -> None:
            records.append(record)
            file.write(json.dumps(record) + "\n")
            file.flush()

        if action in ("real", "all"):
            sets = words or [s for group in accuracy_page.SETS.values() for s in group]
            seen = {(r["set"], r["repeat"], r["method"]) for r in records if "set" in r}
            tasks = [(s, k, method) for k in range(REPEATS) for s in sets for method in SELECTORS]
            tasks = [task for task in tasks if task not in seen]
            with ProcessPoolExecutor(WORKERS) as pool:
                for at, future in enumerate(as_completed([pool.submit(run_real, *t) for t in tasks]), 1):
                    keep(future.result())
                    print(f"{at} of {len(tasks)}: {records[-1]}"[:160], flush=True)
        if action in ("planted", "all"):
            seen = {(r["pattern"], r["n"], r["d"], r["seed"]) for r in records if "pattern" in r}
            for task in planted_tasks():
                if task not in seen and (not words or task[0] in words):
                    keep(run_planted(*task))
                    print(records[-1], flush=True)
    accuracy_page.write(records)


if __name__ == "__main__":
    main()
