"""p-values, knockoffs and stability selection."""

from __future__ import annotations

import numpy as np

import kernsift
from tasks import THREADS, Task, Work


def linear(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes by the sum of ten of `d` normal features."""
    x = np.random.default_rng(8).normal(size=(n, d))
    return x, (x[:, :10].sum(axis=1) > 0).astype(np.int64)


def permutation_tests() -> Work:
    x, y = linear(500, 20_000)
    test = kernsift.SelectSignificant(permutations=1000, random_state=0, n_jobs=THREADS)
    return lambda: {"p": test.fit(x, y).pvalues_}


def knockoffs() -> Work:
    x, y = linear(1000, 500)
    selector = kernsift.KnockoffSelector(kernsift.HSICLasso(n_jobs=THREADS), random_state=0)
    return lambda: {"scores": selector.fit(x, y).scores_}


TASKS = [
    Task("p-values, 1000 permutations", "500 x 20,000", permutation_tests, seconds=30.0),
    Task("Knockoffs with HSIC Lasso, a copy", "1000 x 500", knockoffs, seconds=10.0),
]
