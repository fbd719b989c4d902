"""Time and memory of a fit, and progress on stderr in addition to that of the native module."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernsift import _native
from kernsift._selected import counted

#: Seconds until the first message, and between messages.
DELAY, INTERVAL = 1.0, 5.0


@contextmanager
def report_progress(estimator: Any, X: Any) -> Iterator[None]:
    """Measures time and memory of a fit; with `verbose`, writes the time to stderr during and after it."""
    start = time.monotonic()
    _native.take_peak()

    def store_costs() -> None:
        estimator._fit_seconds = time.monotonic() - start
        estimator._fit_peak = _native.take_peak()

    if estimator.verbose <= 0:
        yield
        store_costs()
        return
    what = f"{type(estimator).__name__}: {counted(X.shape[0], 'sample')}, {counted(X.shape[1], 'feature')}"
    done = threading.Event()

    def report() -> None:
        wait = DELAY
        while not done.wait(wait):
            _write(f"{what}, {time.monotonic() - start:.0f} s so far")
            wait = INTERVAL

    watcher = threading.Thread(target=report, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
    store_costs()
    _write(f"{what}, fitted in {estimator._fit_seconds:.2g} s")


def _write(text: str) -> None:
    # It is None in programs without a console.
    if sys.stderr is not None:
        sys.stderr.write(f"kernsift: {text}\n")
