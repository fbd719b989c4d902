"""Ratios against other programs, measured side by side in one run.

`make bench` builds the package, runs this, prints a table, keeps a dated record in benchmarks/records and writes
docs/speed.md. Each side of a task is a process of its own on the same data, with the same number of threads, timed
best of three. A side that takes longer than five minutes is stopped: its time is then what it had, or more than that.

    python benchmarks/run.py [WORD ...]   only tasks whose names have one of the words; nothing is written then
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import page
from tasks import THREADS, Task, all_tasks

HERE = Path(__file__).resolve().parent
RECORDS = HERE / "records"
PAGE = HERE.parent / "docs" / "speed.md"
#: Seconds after which a side is stopped.
PATIENCE = 300.0
#: Programs whose versions are kept.
PEERS = ("numpy", "scipy", "scikit-learn", "pyHSICLasso", "skrebate", "metric-learn", "pandas")


def run_side(name: str, side: str, threads: int, answers: Path) -> dict:
    """What one side took: seconds and bytes, or that it took longer than it was given."""
    limits = {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL")}
    child = subprocess.Popen(
        [sys.executable, str(HERE / "side.py"), name, side, str(answers)],
        cwd=HERE,
        env={**os.environ, **limits},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    stopped = threading.Event()

    def stop() -> None:
        stopped.set()
        child.kill()

    timer = threading.Timer(PATIENCE, stop)
    timer.start()
    out, err = child.communicate()
    timer.cancel()
    lines = [line for line in out.splitlines() if line.startswith("{")]
    if lines:
        return json.loads(lines[-1])
    if stopped.is_set():
        return {"more_than": PATIENCE}
    sys.exit(f"{name}, {side}: {err.strip().splitlines()[-1] if err.strip() else 'nothing came out'}")


def carried(name: str, task: Task, folder: Path) -> dict:
    """The peer at two sizes, and its time and memory carried on along a line to the task's."""
    (small, large), to = task.carried.at, task.carried.to
    found = [run_side(name, str(size), task.threads, folder / "peer.npz") for size in (small, large)]

    def on(key: str) -> float:
        slope = (found[1][key] - found[0][key]) / (large - small)
        return found[1][key] + slope * (to - large)

    return {"seconds": on("seconds"), "extra_bytes": on("extra_bytes"), "carried_from": [small, large]}


def run_task(name: str, task: Task) -> dict:
    """Both sides, and whether they agree."""
    record = {"task": task.name, "size": task.size, "peer": task.peer, "threads": task.threads}
    wanted = {
        "ratio": task.ratio,
        "memory_share": task.memory_share,
        "seconds": task.seconds,
        "bytes": task.bytes,
    }
    record["wanted"] = {key: value for key, value in wanted.items() if value is not None}
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours.npz", Path(folder) / "peer.npz"
        record["ours"] = run_side(name, "ours", task.threads, ours)
        if task.carried is not None:
            record["theirs"] = carried(name, task, Path(folder))
        elif task.theirs is not None:
            record["theirs"] = run_side(name, "theirs", task.threads, theirs)
        both = ours.exists() and theirs.exists() and task.agree is not None and task.carried is None
        if both:
            with np.load(ours) as a, np.load(theirs) as b:
                record["agree"] = bool(task.agree(dict(a), dict(b)))
            record["agreement"] = task.agreement
    return record


def main() -> None:
    sys.path.insert(0, str(HERE))
    words = sys.argv[1:]
    tasks = {
        name: task
        for name, task in all_tasks().items()
        if not words or any(word.lower() in name.lower() for word in words)
    }
    records = []
    for name, task in tasks.items():
        start = time.monotonic()
        records.append(run_task(name, task))
        print(f"{page.line(records[-1])}  ({time.monotonic() - start:.0f} s)", flush=True)
    record = {
        "date": datetime.date.today().isoformat(),
        "version": importlib.metadata.version("kernsift"),
        "processor": platform.processor() or platform.machine(),
        "threads": THREADS,
        "versions": {name: importlib.metadata.version(name) for name in PEERS},
        "tasks": records,
    }
    if not words:
        RECORDS.mkdir(exist_ok=True)
        path = RECORDS / f"{record['date']}.json"
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page.page(record), encoding="utf-8")
        print(f"kept in {path.relative_to(HERE.parent)} and {PAGE.relative_to(HERE.parent)}")
    if not all(r.get("agree", True) for r in records):
        sys.exit("the answers do not agree")


if __name__ == "__main__":
    main()
