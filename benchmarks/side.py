"""Measures one side of a task in this process: `python side.py TASK ours|theirs|SIZE FILE`.

After every repeat it prints the measurements as a line of JSON, so that a side that is stopped has reported
them; the result of the first repeat is written to FILE.
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

#: Number of repeats; minimum and maximum seconds of all repeats.
REPEATS, MIN_SECONDS, MAX_SECONDS = 3, 0.5, 45.0


def child(arguments: list[str], threads: int, timeout: float) -> tuple[dict | None, str]:
    """Runs a measuring script in a child process: its last measurements, if any, and its error.

    It is stopped after `timeout` seconds, which is not an error.
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
        out, err = started.communicate(timeout=timeout)
        wrong = "" if started.returncode == 0 else (err.strip().splitlines() or ["no message"])[-1]
    except subprocess.TimeoutExpired:
        started.kill()
        (out, _), wrong = started.communicate(), ""
    lines = [line for line in out.splitlines() if line.startswith("{")]
    return (json.loads(lines[-1]) if lines else None), wrong


def peak_bytes() -> int:
    """Peak memory of this process.

    On Linux from /proc, since `getrusage` includes the memory of the parent at the start of this process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def reset_peak() -> None:
    """Resets the peak memory to the current use, if the system supports it.

    Memory that loading the data has freed is returned first; otherwise work that reuses it would seem to need
    none.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def measure(works: list[Work], answers: Path) -> None:
    """Prints the best time of the slowest work, and the peak memory of the first repeats."""
    seconds, extra, answer = [], 0, {}
    for work in works:
        times: list[float] = []
        while (len(times) < REPEATS and sum(times) < MAX_SECONDS) or sum(times) < MIN_SECONDS:
            if not times:
                reset_peak()
                before = peak_bytes()
            start = time.perf_counter()
            found = work()
            # Work that samples a longer computation returns the time of that.
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
        made = task.extrapolation.theirs(int(side))()
    measure(made if isinstance(made, list) else [made], Path(answers))


if __name__ == "__main__":
    main()
