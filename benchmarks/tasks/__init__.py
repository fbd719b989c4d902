"""The benchmark tasks: kernsift, in most cases another program (the peer), and targets.

A side (kernsift or the peer) is a function that loads the data and returns the work; only the work is timed.
The work returns its result as named arrays, which are compared. Each side runs in a separate process
(`side.py`).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Default number of threads of both sides.
THREADS = os.cpu_count() or 1

Answer = dict[str, Any]
Work = Callable[[], Answer]


@dataclass(frozen=True)
class Task:
    """A task: one line of the table."""

    name: str
    size: str
    ours: Callable[[], Work]
    #: The peer and its side; of several works, the slowest counts.
    peer: str = ""
    theirs: Callable[[], Work | list[Work]] | None = None
    #: Whether the results agree, and what is compared.
    agree: Callable[[Answer, Answer], bool] | None = None
    agreement: str = ""
    #: A quality measure (smaller is better): our value divided by the peer's, its name, and the maximum.
    quality: Callable[[Answer, Answer], float] | None = None
    quality_of: str = ""
    quality_most: float | None = None
    #: Target speedup over the peer, and target fraction of its memory.
    ratio: float | None = None
    memory_share: float | None = None
    #: Targets without a peer: maximum seconds and bytes.
    seconds: float | None = None
    bytes: float | None = None
    threads: int = THREADS
    #: Seconds after which a side is stopped.
    timeout: float = 200.0
    #: If the peer cannot run at this size: how its time and memory are extrapolated.
    extrapolation: Extrapolation | None = None

    @property
    def task_key(self) -> tuple[str, str]:
        return self.name, self.size


@dataclass(frozen=True)
class Extrapolation:
    """A peer that cannot run at the size of the task: linear extrapolation from two smaller sizes."""

    theirs: Callable[[int], Callable[[], Work]]
    at: tuple[int, int]
    to: int
    of: str


#: Modules with tasks, in the order of the page.
MODULES = ("kernels", "selection", "significance", "svm", "triplets", "tables")


def all_tasks() -> dict[str, Task]:
    """All tasks by name and size."""
    found = {}
    for module in MODULES:
        for task in importlib.import_module(f"tasks.{module}").TASKS:
            found[", ".join(task.task_key)] = task
    return found
