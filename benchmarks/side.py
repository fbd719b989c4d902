"""One side of a task in this process: `python side.py TASK ours|theirs|SIZE FILE`.

After every repeat it prints what was measured so far as a line of JSON, so that a side that takes too long
can be stopped and still tell; the answer of the first repeat goes to FILE.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from tasks import Work, all_tasks

#: Best of so many; work of milliseconds is repeated for half a second, long work no more after 45 s.
REPEATS, LEAST, MOST = 3, 0.5, 45.0


def child(arguments: list[str], threads: int, patience: float) -> tuple[dict | None, str]:
    """Runs a script that measures in a process of its own: what it told last, if anything; what went wrong.

    After `patience` seconds it is stopped, which is nothing wrong.
    """
    limits = {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL")}
    if "DATA_DIR" in os.environ:
        limits["DATA_DIR"] = str(Path(os.environ["DATA_DIR"]).resolve())
    here = Path(__file__).resolve().parent
    started = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=here,
        env={**os.environ, **limits},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, err = started.communicate(timeout=patience)
        wrong = "" if started.returncode == 0 else (err.strip().splitlines() or ["nothing was said"])[-1]
    except subprocess.TimeoutExpired:
        started.kill()
        (out, _), wrong = started.communicate(), ""
    lines = [line for line in out.splitlines() if line.startswith("{")]
    return (json.loads(lines[-1]) if lines else None), wrong


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
    """Let the most memory held start again at what is in use now, where the system can.

    What making the data left free goes back first: it would count as held, and work that takes it up as none.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def measure(works: list[Work], answers: Path) -> None:
    """The slowest work's best time, and the most memory that the first repeats took beyond what was held."""
    seconds, extra, answer = [], 0, {}
    for work in works:
        times: list[float] = []
        while (len(times) < REPEATS and sum(times) < MOST) or sum(times) < LEAST:
            if not times:
                forget_peak()
                before = peak_bytes()
            start = time.perf_counter()
            found = work()
            # Work that is a sample of a longer one says how long that is.
            times.append(found.pop("seconds", time.perf_counter() - start))
            if len(times) == 1:
                extra = max(extra, peak_bytes() - before)
                answer.update(found)
                np.savez(answers, **answer)
            del found
            best = max([*seconds, min(times)])
            line = {"seconds": best, "extra_bytes": extra, "repeats": len(times)}
            print(json.dumps(line), flush=True)
        seconds.append(min(times))


def main() -> None:
    warnings.simplefilter("ignore")
    name, side, answers = sys.argv[1:4]
    task = all_tasks()[name]
    if side == "ours":
        made = task.ours()
    elif side == "theirs":
        made = task.theirs()
    else:
        made = task.carried.theirs(int(side))()
    measure(made if isinstance(made, list) else [made], Path(answers))


if __name__ == "__main__":
    main()
