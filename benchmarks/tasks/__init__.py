"""What is measured: a task has our side, perhaps another program's, and what is wanted of it.

A side is a function that makes the data and returns the work; only the work is timed. The work returns its
answer as arrays by name, by which the sides are compared. Sides run in processes of their own (`side.py`).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Both sides of every task have as many, unless the task says otherwise.
THREADS = os.cpu_count() or 1

Answer = dict[str, Any]
Work = Callable[[], Answer]


@dataclass(frozen=True)
class Task:
    """One line of the table."""

    name: str
    size: str
    ours: Callable[[], Work]
    #: Another program, and its side; several works are all measured, and the slowest of them counts.
    peer: str = ""
    theirs: Callable[[], Work | list[Work]] | None = None
    #: Whether the answers agree; what is compared if it is not plain.
    agree: Callable[[Answer, Answer], bool] | None = None
    agreement: str = ""
    #: Of a number that is the smaller the better: ours by theirs, what it is, and the most that it may be.
    quality: Callable[[Answer, Answer], float] | None = None
    quality_of: str = ""
    quality_most: float | None = None
    #: How many times as fast as the peer ours is to be, and what share of its memory it may take.
    ratio: float | None = None
    memory_share: float | None = None
    #: Without a peer: most seconds and bytes.
    seconds: float | None = None
    bytes: float | None = None
    threads: int = THREADS
    #: Seconds after which a side is stopped.
    patience: float = 200.0
    #: Where the peer is not run at this size: what its time and memory are carried on from.
    carried: Carried | None = None

    @property
    def task_key(self) -> tuple[str, str]:
        return self.name, self.size


@dataclass(frozen=True)
class Carried:
    """A peer that cannot be run at the task's size: two smaller ones, from which a line is drawn."""

    theirs: Callable[[int], Callable[[], Work]]
    at: tuple[int, int]
    to: int
    of: str


#: Modules with tasks, in the order of the page.
MODULES = ("kernels", "selection", "machines", "triples", "tables")


def all_tasks() -> dict[str, Task]:
    """Every task by its name and size."""
    found = {}
    for module in MODULES:
        for task in importlib.import_module(f"tasks.{module}").TASKS:
            found[", ".join(task.task_key)] = task
    return found
