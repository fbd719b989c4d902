"""Large tables: reading them, and selecting features with all of their rows.

The covertype table is read from the directory DATA_DIR; without it, a synthetic table of the same shape is
used.
"""

from __future__ import annotations

import functools
import gzip
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

import kernsift
from kernsift import _native
from kernsift._native_data import settings
from tasks import THREADS, Answer, Task, Work

ROWS, COLUMNS = 581_012, 54
CACHE = Path(tempfile.gettempdir()) / "kernsift-bench"


def shared(file: str) -> Path | None:
    """A file in the directory DATA_DIR, if it exists."""
    folder = os.environ.get("DATA_DIR")
    if folder and not Path(folder).is_dir():
        raise SystemExit(f"DATA_DIR is {folder}, which is no folder")
    return path if folder and (path := Path(folder) / file).exists() else None


@functools.cache
def covertype_file() -> Path:
    """The covertype table as plain CSV, decompressed or generated once."""
    packed = shared("covtype.csv.gz")
    path = CACHE / ("covtype.csv" if packed else "like_covtype.csv")
    if path.exists():
        return path
    CACHE.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    if packed:
        with gzip.open(packed) as source, part.open("wb") as target:
            shutil.copyfileobj(source, target)
    else:
        rng = np.random.default_rng(0)
        numbers = rng.integers(0, [3858, 360, 66, 1397, 776, 7117, 254, 254, 254, 7173], (ROWS, 10))
        flags = np.zeros((ROWS, 44), dtype=int)
        flags[np.arange(ROWS), rng.integers(0, 4, ROWS)] = 1
        flags[np.arange(ROWS), rng.integers(4, 44, ROWS)] = 1
        y = 1 + (numbers[:, 0] > 2800) + (numbers[:, 5] * flags[:, 0] > 1500)
        names = ",".join([f"f{j}" for j in range(COLUMNS)] + ["class"])
        table = np.column_stack([numbers, flags, y])
        np.savetxt(part, table, fmt="%d", delimiter=",", header=names, comments="")
    part.rename(path)
    return path


def read_ours() -> Work:
    path = str(covertype_file())

    def work() -> Answer:
        columns, _ = _native.read_table(path, settings(0, THREADS, 0))
        return {f"c{j}": np.asarray(column, dtype=np.float64) for j, column in enumerate(columns.values())}

    return work


def read_pandas() -> Work:
    import pandas

    path = str(covertype_file())

    def work() -> Answer:
        table = pandas.read_csv(path)
        return {f"c{j}": table[name].to_numpy() for j, name in enumerate(table.columns)}

    return work


def same_columns(ours: Answer, theirs: Answer) -> bool:
    return ours.keys() == theirs.keys() and all(np.array_equal(ours[key], theirs[key]) for key in theirs)


@functools.cache
def covertype() -> tuple[np.ndarray, np.ndarray]:
    import pandas

    table = pandas.read_csv(covertype_file())
    return table.iloc[:, :-1].to_numpy(dtype=np.float64), table.iloc[:, -1].to_numpy()


def covertype_hsfs() -> Work:
    x, y = covertype()
    estimator = kernsift.HSFS(10, exact=True, target_type="class", n_jobs=THREADS, random_state=0)
    return lambda: {"order": estimator.fit(x, y).order_[:10]}


def covertype_auto() -> Work:
    x, y = covertype()
    estimator = kernsift.AutoSelector(target_type="class", n_jobs=THREADS, random_state=0)
    return lambda: {"selected": estimator.fit(x, y).get_support(indices=True)}


def covertype_takes() -> Work:
    x, y = covertype()
    estimator = kernsift.TAKES(10, n_components=100, weak_learner="stump", n_jobs=THREADS, random_state=0)
    return lambda: {"classes": estimator.fit(x, y).predict(x[:1000])}


def takes(weak_learner: str, n: int, components: int) -> Work:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(n, 20))
    y = x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=n) > 0
    new = rng.normal(size=(1000, 20))
    estimator = kernsift.TAKES(
        n_components=components, weak_learner=weak_learner, n_jobs=THREADS, random_state=0
    )
    return lambda: {"classes": estimator.fit(x, y).predict(new)}


TASKS = [
    Task(
        "TAKES with stumps, fit and 1000 new samples",
        "100,000 x 20, 300 components",
        lambda: takes("stump", 100_000, 300),
        seconds=60,
    ),
    Task(
        "TAKES with KLMS, fit and 1000 new samples",
        "100,000 x 20, 300 components",
        lambda: takes("klms", 100_000, 300),
        seconds=60,
    ),
    Task(
        "Reading a numeric CSV file",
        "581,012 x 55",
        read_ours,
        "pandas, read_csv",
        read_pandas,
        same_columns,
        ratio=1.0,
    ),
    Task(
        "HSFS with random features, 10 of covertype",
        "581,012 x 54",
        covertype_hsfs,
        seconds=180,
        bytes=4 * 2**30,
    ),
    Task("Automatic selector", "covertype, 581,012 x 54", covertype_auto, seconds=300, bytes=4 * 2**30),
    Task(
        "TAKES with stumps, 10 of covertype's kernel space",
        "581,012 x 54",
        covertype_takes,
        seconds=180,
        bytes=4 * 2**30,
    ),
]
