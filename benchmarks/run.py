"""Ratios against other programs, measured side by side in one run.

`make bench` builds the package, runs this, prints a table and keeps a dated record in benchmarks/records.
Every comparison is timed best of five, both sides with the same number of threads, data made outside
the timing.
"""

import datetime
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import kernsift

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "benchmarks" / "records"
PAGE = ROOT / "docs" / "speed.md"
THREADS = os.cpu_count() or 1


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """The shortest wall time in seconds."""
    times = []
    for _ in range(repeats):
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


def grow(n: int) -> dict:
    """Time and peak memory of KOBL with 20 columns and 200 components, in this process."""
    x = np.random.default_rng(2).normal(size=(n, 20))
    seconds = best_of(5, lambda: kobl(200, 0.05).fit(x))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"n": n, "seconds": seconds, "peak_bytes": peak}


def growth() -> list[dict]:
    """Each size in a process of its own, so that the peak is that size's alone, and within 6 GiB."""
    results = []
    for n in (100_000, 1_000_000):
        limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({6 << 30}, {6 << 30}))"
        code = f"{limit}; import json, run; print(json.dumps(run.grow({n})))"
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
    lines += [
        "",
        "KOBL with 20 columns and 200 components, address space limited to 6 GiB:",
        "",
        "| rows | time | peak memory |",
        "|---|---|---|",
    ]
    for s in record["growth"]:
        lines.append(f"| {s['n']:,} | {s['seconds']:.2f} s | {s['peak_bytes'] / 2**30:.2f} GiB |")
    small, large = record["growth"]
    factor = large["seconds"] / small["seconds"]
    lines += ["", f"Ten times the rows take {factor:.1f} times as long."]
    return "\n".join(lines) + "\n"


def main() -> None:
    record = {
        "date": datetime.date.today().isoformat(),
        "version": kernsift.__version__,
        "processor": platform.processor() or platform.machine(),
        "threads": THREADS,
        "numpy": np.__version__,
        "ratios": [kobl_against_numpy(), gram_against_numpy()],
        "growth": growth(),
    }
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{record['date']}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")
    print(page(record))
    print(f"kept in {path.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")
    if not all(r["agree"] for r in record["ratios"]):
        sys.exit("the answers do not agree")


if __name__ == "__main__":
    main()
