"""What a fit with `verbose` says about itself, beside what the native half says of its steps."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernsift import _native
from kernsift._kept import counted

#: Seconds until the first word, and between the next ones.
FIRST, AGAIN = 1.0, 5.0


@contextmanager
def told(estimator: Any, X: Any) -> Iterator[None]:
    """Takes the time and memory of a fit, and says it on stderr if asked to.

    It is said after the fit and, as not all work has steps to show, during it.
    """
    start = time.monotonic()
    _native.take_peak()

    def over_and_done() -> None:
        estimator._fit_seconds = time.monotonic() - start
        estimator._fit_peak = _native.take_peak()

    if estimator.verbose <= 0:
        yield
        over_and_done()
        return
    what = f"{type(estimator).__name__}: {counted(X.shape[0], 'row')}, {counted(X.shape[1], 'column')}"
    over = threading.Event()

    def say_so_far() -> None:
        wait = FIRST
        while not over.wait(wait):
            _say(f"{what}, {time.monotonic() - start:.0f} s so far")
            wait = AGAIN

    watcher = threading.Thread(target=say_so_far, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    over_and_done()
    _say(f"{what}, fitted in {estimator._fit_seconds:.2g} s")


def _say(text: str) -> None:
    # A program without a console has None there.
    if sys.stderr is not None:
        sys.stderr.write(f"kernsift: {text}\n")
