"""Ratios against other programs, measured side by side in one run.

`make bench` builds the package, runs this, prints a table and keeps a dated record in benchmarks/records.
Every comparison is timed best of five, both sides with the same number of threads, data made outside
the timing.
"""

import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import design
import metric_learn._util
import numpy as np
import sklearn
import skrebate
from metric_learn import MMC
from pyHSICLasso import HSICLasso
from sklearn.feature_selection import RFE, mutual_info_classif
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.utils import check_array, check_X_y

import kernsift

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "benchmarks" / "records"
PAGE = ROOT / "docs" / "speed.md"
THREADS = os.cpu_count() or 1


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """The shortest wall time in seconds; work of milliseconds is repeated for half a second."""
    times: list[float] = []
    while len(times) < repeats or sum(times) < 0.5:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


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


def kobl(m: int, gamma: float, pivoting: str = "greedy") -> kernsift.KOBL:
    return kernsift.KOBL(
        n_components=m,
        gamma=gamma,
        threshold=None,
        pivoting=pivoting,
        n_jobs=THREADS,
        random_state=0,
    )


def compare(task: str, ours: Callable, theirs: Callable, agree: bool, peer: str) -> dict:
    a, b = best_of(5, ours), best_of(5, theirs)
    return {
        "task": task,
        "ours_s": a,
        "peer": peer,
        "peer_s": b,
        "ratio": b / a,
        "agree": agree,
    }


def kobl_against_numpy() -> dict:
    x = np.random.default_rng(0).normal(size=(20_000, 10))
    estimator = kobl(200, 0.1)
    factor, pivots = numpy_kobl(x, 0.1, 200)
    ours = estimator.fit_transform(x)
    agree = list(estimator.pivots_) == pivots and np.allclose(ours, factor, atol=1e-8)
    return compare(
        "KOBL, 20,000 x 10, 200 components",
        lambda: estimator.fit_transform(x),
        lambda: numpy_kobl(x, 0.1, 200),
        bool(agree),
        "numpy, same algorithm",
    )


def gram_against_numpy() -> dict:
    x = np.random.default_rng(1).normal(size=(5000, 100))
    agree = np.allclose(kernsift.gram(x, gamma=0.01), numpy_gram(x, 0.01), atol=1e-10)
    return compare(
        "RBF Gram matrix, 5000 x 5000, 100 columns",
        lambda: kernsift.gram(x, gamma=0.01),
        lambda: numpy_gram(x, 0.01),
        bool(agree),
        "numpy, product and exp",
    )


def numpy_ffs(x: np.ndarray, y: np.ndarray) -> list[int]:
    """Forward selection over stumps as one would write it with numpy: all cuts and all candidates of a
    step at once."""
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


def ffs_against_numpy() -> dict:
    x = np.random.default_rng(3).normal(size=(10_000, 100))
    y = (x[:, :10].sum(axis=1) + x[:, 10] * x[:, 11] > 0).astype(np.int64)
    estimator = kernsift.FFS(standardize=False, n_jobs=THREADS, random_state=0)
    agree = list(estimator.fit(x, y).order_) == numpy_ffs(x, y)
    return compare(
        "FFS with stumps, 10,000 x 100, all steps",
        lambda: estimator.fit(x, y),
        lambda: numpy_ffs(x, y),
        bool(agree),
        "numpy, same algorithm",
    )


def neighbours_against_sklearn() -> dict:
    rng = np.random.default_rng(4)
    x, y, new = rng.normal(size=(20_000, 30)), rng.integers(0, 3, 20_000), rng.normal(size=(5000, 30))
    ours = kernsift.KNNC(standardize=False, n_jobs=THREADS).fit(x, y)
    theirs = KNeighborsClassifier(1, algorithm="brute", n_jobs=THREADS).fit(x, y)
    agree = np.array_equal(ours.predict(new), theirs.predict(new))
    return compare(
        "KNNC, 5000 new rows against 20,000 x 30",
        lambda: ours.predict(new),
        lambda: theirs.predict(new),
        bool(agree),
        f"scikit-learn {sklearn.__version__}, brute force",
    )


def svm_data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes with a curved border and noise."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(n, d))
    return x, (x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * rng.normal(size=n) > 0).astype(np.int64)


def svm_search_against_sklearn(jobs: int) -> dict:
    x, y = svm_data(2000, 20)
    prices = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    ours = kernsift.SVCCV(C=prices, cv=5, n_jobs=THREADS, random_state=0)
    theirs = GridSearchCV(SVC(), {"C": prices}, cv=5, n_jobs=jobs)
    errors = 1 - theirs.fit(x, y).cv_results_["mean_test_score"]
    # Folds are dealt differently; 2000 rows have standard errors of 0.01.
    agree = np.allclose(ours.fit(x, y).cv_errors_[0], errors, atol=0.04)
    return compare(
        "SVM search, 2000 x 20, 5 folds, 6 prices",
        lambda: ours.fit(x, y),
        lambda: theirs.fit(x, y),
        bool(agree),
        f"scikit-learn {sklearn.__version__}, GridSearchCV(SVC(), n_jobs={jobs})",
    )


def svm_rfe_against_sklearn(name: str) -> dict:
    data = kernsift.load_dataset(name)
    x, y = scale(data.data), data.target
    ours = kernsift.SVMRFE(1, standardize=False, n_jobs=THREADS)
    theirs = RFE(SVC(kernel="linear"), n_features_to_select=1, step=1)
    # At its default tolerance scikit-learn swaps two columns of sonar of nearly equal weight.
    tight = RFE(SVC(kernel="linear", tol=1e-4), n_features_to_select=1, step=1).fit(x, y)
    agree = np.array_equal(ours.fit(x, y).order_, np.argsort(tight.ranking_))
    return compare(
        f"SVM-RFE, linear, one column at a time, {name} ({x.shape[0]} x {x.shape[1]})",
        lambda: ours.fit(x, y),
        lambda: theirs.fit(x, y),
        bool(agree),
        f"scikit-learn {sklearn.__version__}, RFE(SVC(kernel='linear'))",
    )


def grow_svc(n: int) -> Callable[[], object]:
    """A support vector machine with 20 columns."""
    x, y = svm_data(n, 20)
    return lambda: kernsift.SVC(n_jobs=THREADS).fit(x, y)


def relief_against_skrebate() -> dict:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(1000, 500))
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(np.int64)
    ours = kernsift.ReliefF(n_neighbors=10, n_jobs=THREADS)
    theirs = skrebate.ReliefF(n_neighbors=10, n_jobs=THREADS)
    weights = theirs.fit(x, y).feature_importances_
    agree = np.allclose(ours.fit(x, y).scores_, np.maximum(weights, 0), atol=1e-10)
    return compare(
        "ReliefF, 1000 x 500, 10 neighbours",
        lambda: ours.fit(x, y),
        lambda: theirs.fit(x, y),
        bool(agree),
        f"skrebate {skrebate.__version__}",
    )


def information_against_sklearn() -> dict:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(5000, 100))
    y = (x[:, 0] + x[:, 1] ** 2 > 1).astype(np.int64)
    ours = kernsift.MutualInformation(10, discrete=False, n_jobs=THREADS)

    def theirs() -> np.ndarray:
        return mutual_info_classif(x, y, discrete_features=False, random_state=0, n_jobs=THREADS)

    agree = np.allclose(ours.fit(x, y).scores_, theirs(), atol=1e-6)
    return compare(
        "Mutual information with classes, 5000 x 100",
        lambda: ours.fit(x, y),
        theirs,
        bool(agree),
        f"scikit-learn {sklearn.__version__}",
    )


def hsic_data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes decided by four of the columns, each in a way of its own, and noise."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(n, d))
    score = (x[:, 0] ** 2 + x[:, 3] ** 2) / 2 - 0.7 + 0.8 * np.sin(2 * x[:, 7]) + 0.5 * x[:, 10]
    return scale(x), (score + 0.3 * rng.normal(size=n) > 0).astype(np.int64)


def numpy_fohsic(x: np.ndarray, y: np.ndarray, m: int) -> list[int]:
    """FOHSIC as one would write it with numpy: squared distances are kept, and what a candidate adds to them
    is multiplied on, in place where numpy allows it."""
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


def fohsic_against_numpy() -> dict:
    x, y = hsic_data(1000, 500)
    estimator = kernsift.FOHSIC(n_features_to_select=10, standardize=False, n_jobs=THREADS)
    start = time.perf_counter()
    chosen = numpy_fohsic(x, y, 10)
    theirs = time.perf_counter() - start
    ours = best_of(5, lambda: estimator.fit(x, y))
    return {
        "task": "FOHSIC, 10 of 1000 x 500",
        "ours_s": ours,
        "peer": "numpy, same algorithm, once",
        "peer_s": theirs,
        "ratio": theirs / ours,
        "agree": list(estimator.order_[:10]) == chosen,
    }


def renamed(check: Callable) -> Callable:
    """metric-learn 0.7 gives scikit-learn an argument by the name it had before 1.8."""

    def called(*args: object, force_all_finite: object = True, **options: object) -> object:
        return check(*args, ensure_all_finite=force_all_finite, **options)

    return called


def xing_value(metric: np.ndarray, x: np.ndarray, near: np.ndarray, far: np.ndarray) -> float:
    """The sum of distances over dissimilar pairs by the root of the sum of squares over similar ones."""
    squares = [
        np.maximum(((z @ metric) * z).sum(axis=1), 0)
        for z in (x[rows[:, 0]] - x[rows[:, 1]] for rows in (near, far))
    ]
    return float(np.sqrt(squares[1]).sum() / np.sqrt(squares[0].sum()))


def xing_against_metric_learn(name: str, diagonal: bool) -> dict:
    """Both from the pairs of 1500 triples; to agree is to reach a value no lower than MMC's."""
    metric_learn._util.check_array = renamed(check_array)
    metric_learn._util.check_X_y = renamed(check_X_y)
    data = kernsift.load_dataset(name)
    x = scale(data.data)
    triplets = kernsift.triplets_from_labels(data.target, 1500, random_state=0)
    near, far = (np.unique(np.sort(triplets[:, [0, k]], axis=1), axis=0) for k in (1, 2))
    pairs, labels = np.concatenate([x[near], x[far]]), np.repeat([1, -1], [len(near), len(far)])
    ours = kernsift.XingMetric(diagonal, standardize=False, n_jobs=THREADS)
    theirs = MMC(diagonal=diagonal)
    values = [
        xing_value(metric, x, near, far)
        for metric in (ours.fit(x, triplets).metric_, theirs.fit(pairs, labels).get_mahalanobis_matrix())
    ]
    version = importlib.metadata.version("metric-learn")
    return compare(
        f"Xing metric, {name}, {'diagonal' if diagonal else 'full'}, 1500 triples",
        lambda: ours.fit(x, triplets),
        lambda: theirs.fit(pairs, labels),
        values[0] >= values[1],
        f"metric-learn {version}, MMC; it reaches {values[1]:.1f}, ours {values[0]:.1f}",
    )


def hsic_lasso(side: str, n: int, d: int) -> dict:
    """HSIC Lasso on one side: seconds, bytes beyond what was held before, and the ten columns picked."""
    x, y = hsic_data(n, d)
    estimator = kernsift.HSICLasso(n_features_to_select=10, n_jobs=THREADS)
    peer = HSICLasso()
    peer.input(x, y)

    def work() -> list[int]:
        if side == "ours":
            return list(estimator.fit(x, y).order_[:10])
        peer.classification(10, B=0, n_jobs=THREADS)
        return peer.get_index()

    forget_peak()
    before, start = peak_bytes(), time.perf_counter()
    picks = work()
    return {
        "d": d,
        "seconds": time.perf_counter() - start,
        "extra_bytes": peak_bytes() - before,
        "picks": [int(j) for j in picks],
    }


def hsic_lasso_against_pyhsiclasso() -> list[dict]:
    """Both sides in processes of their own, at 1000 rows.

    The peer keeps n * n numbers per column, several times over: 5000 columns would take it some 60 GB, so it
    is measured at two sizes that fit, which show how it grows.
    """
    results = []
    for side, d in [("ours", 200), ("peer", 200), ("peer", 400), ("ours", 5000)]:
        code = f"import json, run; print(json.dumps(run.hsic_lasso({side!r}, 1000, {d})))"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parent,
            check=True,
            capture_output=True,
            text=True,
        )
        results.append({"side": side, **json.loads(done.stdout.strip().splitlines()[-1])})
    return results


def hsic_lasso_page(results: list[dict]) -> list[str]:
    lines = [
        "",
        "HSIC Lasso, 10 columns of 1000 rows, against pyHSICLasso with B = 0; at 5000 columns the peer's "
        "numbers are its growth from 200 to 400 columns carried on:",
        "",
        "| columns | ours | ours, extra memory | peer | peer, extra memory |",
        "|---|---|---|---|---|",
    ]
    small, peer_small, peer_large, large = results

    def carried(key: str) -> float:
        per_column = (peer_large[key] - peer_small[key]) / 200
        return peer_large[key] + per_column * (5000 - 400)

    for ours, seconds, extra in [
        (small, peer_small["seconds"], peer_small["extra_bytes"]),
        (large, carried("seconds"), carried("extra_bytes")),
    ]:
        mine = f"{ours['d']} | {ours['seconds']:.2f} s | {ours['extra_bytes'] / 2**20:.0f} MiB"
        lines.append(f"| {mine} | {seconds:.0f} s | {extra / 2**20:.0f} MiB |")
    return lines


def grow_kobl(n: int) -> Callable[[], object]:
    """KOBL with 20 columns and 200 components."""
    x = np.random.default_rng(2).normal(size=(n, 20))
    return lambda: kobl(200, 0.05).fit(x)


def grow_takes(n: int) -> Callable[[], object]:
    """TAKES with 20 columns, 300 components and stumps: the fit, and the classes of 1000 new rows."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(n, 20))
    y = x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=n) > 0
    new = rng.normal(size=(1000, 20))
    takes = kernsift.TAKES(n_components=300, weak_learner="stump", n_jobs=THREADS, random_state=0)
    return lambda: takes.fit(x, y).predict(new)


# What is measured at two sizes: its name, how to make it, the sizes, how often it is timed.
GROWTHS: dict[str, tuple[Callable[[int], Callable[[], object]], tuple[int, int], int]] = {
    "KOBL with 20 columns and 200 components": (grow_kobl, (100_000, 1_000_000), 5),
    "TAKES with 20 columns, 300 components and stumps, with the classes of 1000 new rows": (
        grow_takes,
        (10_000, 100_000),
        5,
    ),
    "SVC with 20 columns": (grow_svc, (2000, 20_000), 1),
}


def grow(task: str, n: int) -> dict:
    """Time and peak memory at one size, in this process."""
    make, _, repeats = GROWTHS[task]
    seconds = best_of(repeats, make(n))
    return {"n": n, "seconds": seconds, "peak_bytes": peak_bytes()}


def peak_bytes() -> int:
    """The most memory that this process has held.

    Where the kernel tells it apart; `getrusage` counts what the parent held when it started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak() -> None:
    """Let the most memory held start again at what is held now, where the kernel can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def growth(task: str) -> list[dict]:
    """Each size in a process of its own, so that the peak is that size's alone, and within 6 GiB."""
    results = []
    for n in GROWTHS[task][1]:
        limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({6 << 30}, {6 << 30}))"
        code = f"{limit}; import json, run; print(json.dumps(run.grow({task!r}, {n})))"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parent,
            check=True,
            capture_output=True,
            text=True,
        )
        results.append(json.loads(done.stdout.strip().splitlines()[-1]))
    return results


def page(record: dict) -> str:
    """The record as a page of the documentation."""
    lines = [
        "# Speed",
        "",
        f"Written by `make bench` on {record['date']}: kernsift {record['version']}, "
        f"numpy {record['numpy']}, {record['threads']} threads.",
        "",
        "| task | ours | peer | ratio | answers agree | peer |",
        "|---|---|---|---|---|---|",
    ]
    for r in record["ratios"]:
        times = f"{r['ours_s']:.3f} s | {r['peer_s']:.3f} s | {r['ratio']:.1f}"
        lines.append(f"| {r['task']} | {times} | {'yes' if r['agree'] else 'no'} | {r['peer']} |")
    for task, (small, large) in record["growth"].items():
        lines += [
            "",
            f"{task}, address space limited to 6 GiB:",
            "",
            "| rows | time | peak memory |",
            "|---|---|---|",
        ]
        for size in (small, large):
            peak = f"{size['peak_bytes'] / 2**30:.2f} GiB"
            lines.append(f"| {size['n']:,} | {size['seconds']:.2f} s | {peak} |")
        factor = large["seconds"] / small["seconds"]
        lines += ["", f"Ten times the rows take {factor:.1f} times as long."]
    lines += hsic_lasso_page(record["hsic_lasso"])
    lines += design.page(record["design"])
    return "\n".join(lines) + "\n"


def main() -> None:
    record = {
        "date": datetime.date.today().isoformat(),
        "version": kernsift.__version__,
        "processor": platform.processor() or platform.machine(),
        "threads": THREADS,
        "numpy": np.__version__,
        "ratios": [
            kobl_against_numpy(),
            gram_against_numpy(),
            ffs_against_numpy(),
            neighbours_against_sklearn(),
            svm_search_against_sklearn(1),
            svm_search_against_sklearn(THREADS),
            svm_rfe_against_sklearn("wdbc"),
            svm_rfe_against_sklearn("sonar"),
            relief_against_skrebate(),
            information_against_sklearn(),
            fohsic_against_numpy(),
            *(xing_against_metric_learn(name, form) for name in ("wine", "wdbc") for form in (False, True)),
        ],
        "hsic_lasso": hsic_lasso_against_pyhsiclasso(),
        "design": design.measure(),
        "growth": {task: growth(task) for task in GROWTHS},
    }
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{record['date']}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")
    print(page(record))
    print(f"kept in {path.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")
    small, peer = record["hsic_lasso"][:2]
    agree = [r["agree"] for r in (*record["ratios"], record["design"])] + [small["picks"] == peer["picks"]]
    if not all(agree):
        sys.exit("the answers do not agree")


if __name__ == "__main__":
    main()
