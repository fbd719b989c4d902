"""Speedups over other programs, measured in one run.

`make bench` builds the package, runs this, prints a table, stores a dated record in benchmarks/records and
writes docs/speed.md and the tables of docs/which.md. Each side of a task is a separate process on the same
data with the same number of threads; the time is the best of three, or of fewer if they take over 45 s. The
sides of quick tasks alternate in three rounds. A side is stopped after the timeout of its task.

    python benchmarks/run.py [WORD ...]         only tasks whose names contain a word; nothing is stored
    python benchmarks/run.py --again WORD ...   the same, and replace these tasks in the newest record
    python benchmarks/run.py --page             only write the page of the newest record
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import page
from side import child
from tasks import THREADS, Task, all_tasks

HERE = Path(__file__).resolve().parent
RECORDS = HERE / "records"
PAGE = HERE.parent / "docs" / "speed.md"
#: Number of rounds of quick tasks, and the maximum seconds of both sides of such a task.
ROUNDS, SHORT = 3, 20.0
#: Programs whose versions are recorded.
PEERS = ("numpy", "scipy", "scikit-learn", "pyHSICLasso", "skrebate", "metric-learn", "pandas")


def run_side(name: str, task: Task, side: str, answers: Path) -> dict:
    """Time and memory of one side, or its timeout."""
    found, wrong = child([str(HERE / "side.py"), name, side, str(answers)], task.threads, task.timeout)
    if wrong and found is None:
        sys.exit(f"{name}, {side}: {wrong}")
    return found or {"more_than": task.timeout}


def extrapolated(name: str, task: Task, folder: Path) -> dict:
    """Time and memory of the peer, extrapolated linearly from two smaller sizes."""
    (small, large), to = task.extrapolation.at, task.extrapolation.to
    found = [run_side(name, task, str(size), folder / "peer.npz") for size in (small, large)]

    def at_size(key: str) -> float:
        slope = (found[1][key] - found[0][key]) / (large - small)
        return found[1][key] + slope * (to - large)

    return {
        "seconds": at_size("seconds"),
        "extra_bytes": at_size("extra_bytes"),
        "carried_from": [small, large],
    }


def alternate(run: Callable[[str], dict]) -> dict:
    """Both sides, in several rounds if they are quick: the best of each, and the ratio of each round."""
    start = time.monotonic()
    rounds = [{side: run(side) for side in ("ours", "theirs")}]
    took = time.monotonic() - start
    if took > SHORT or not all("seconds" in side for side in rounds[0].values()):
        return rounds[0]
    rounds += [{side: run(side) for side in ("ours", "theirs")} for _ in range(ROUNDS - 1)]
    best = {side: min((r[side] for r in rounds), key=lambda s: s["seconds"]) for side in rounds[0]}
    return {**best, "ratios": sorted(r["theirs"]["seconds"] / r["ours"]["seconds"] for r in rounds)}


def run_task(name: str, task: Task) -> dict:
    """Measures both sides, and compares their results."""
    record = {"task": task.name, "size": task.size, "peer": task.peer, "threads": task.threads}
    wanted = {
        "ratio": task.ratio,
        "memory_share": task.memory_share,
        "seconds": task.seconds,
        "bytes": task.bytes,
        "quality": task.quality_most,
    }
    record["wanted"] = {key: value for key, value in wanted.items() if value is not None}
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours.npz", Path(folder) / "peer.npz"
        if task.theirs is not None and task.extrapolation is None:
            record |= alternate(lambda side: run_side(name, task, side, ours if side == "ours" else theirs))
        else:
            record["ours"] = run_side(name, task, "ours", ours)
        if task.extrapolation is not None:
            record["theirs"] = extrapolated(name, task, Path(folder))
        if ours.exists() and theirs.exists() and task.extrapolation is None:
            with np.load(ours) as a, np.load(theirs) as b:
                mine, others = dict(a), dict(b)
            if task.agree is not None:
                record["agree"] = bool(task.agree(mine, others))
                record["agreement"] = task.agreement
            if task.quality is not None:
                record["quality"] = float(task.quality(mine, others))
                record["quality_of"] = task.quality_of
    return record


def write(record: dict, path: Path) -> None:
    """Stores a record, and writes its page and the tables that depend on it."""
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page.page(record), encoding="utf-8")
    subprocess.run([sys.executable, PAGE.parent / "make_tables.py"], check=True)
    print(f"stored in {path.relative_to(HERE.parent)} and {PAGE.relative_to(HERE.parent)}")


def main() -> None:
    sys.path.insert(0, str(HERE))
    words = sys.argv[1:]
    newest = max(RECORDS.glob("2*.json"), default=None)
    if words == ["--page"]:
        write(json.loads(newest.read_text(encoding="utf-8")), newest)
        return
    again = words[:1] == ["--again"]
    words = words[1:] if again else words
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
    if again:
        record = json.loads(newest.read_text(encoding="utf-8"))
        made = {(r["task"], r["size"]): r for r in [*record["tasks"], *records]}
        record["tasks"] = [made[t.task_key] for t in all_tasks().values() if t.task_key in made]
        write(record, newest)
    elif not words:
        record = {
            "date": datetime.date.today().isoformat(),
            "version": importlib.metadata.version("kernsift"),
            "processor": platform.processor() or platform.machine(),
            "threads": THREADS,
            "versions": {name: importlib.metadata.version(name) for name in PEERS},
            "tasks": records,
        }
        write(record, RECORDS / f"{record['date']}.json")
    if not all(r.get("agree", True) for r in records):
        sys.exit("the results do not agree")


if __name__ == "__main__":
    main()
