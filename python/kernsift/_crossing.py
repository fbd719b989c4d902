"""What crosses into the native half: rows, labels, settings of a run."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib.parallel import get_active_backend
from scipy import sparse
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
#: A code per row, and what the classes are called.
Classes = tuple[IntArray, list[str]]
#: Classes, or a number per row.
Target = Classes | FloatArray
#: What a check of a selection found: record, costs, numbers of features, measure; or why there is none.
Check = str | tuple[str, str, list[int], str]
#: A dense array, or the parts of a CSR matrix: number of columns, row starts, columns, values.
NativeRows = FloatArray | tuple[int, npt.NDArray[np.uint64], npt.NDArray[np.uint32], FloatArray]


#: The largest integers that cross.
LARGEST_INT = 2**63 - 1
LARGEST_DEGREE = 2**32 - 1


class Settings(NamedTuple):
    """What every native function that computes is given."""

    seed: int
    #: 0 is one per core, -1 one fewer, and so on.
    threads: int
    verbose: int


def settings(random_state: Any, n_jobs: int | None, verbose: int) -> Settings:
    """The settings that an estimator's parameters stand for."""
    if isinstance(random_state, Integral):
        # As --seed of the command line, so that both give the same result.
        seed = int(random_state) % 2**64
    else:
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int64).max, dtype=np.int64))
    return Settings(seed, n_threads(n_jobs), min(int(verbose), 2**31))


class NamedRows(NamedTuple):
    """Rows that have been checked, with the names of their columns."""

    x: Any
    names: list[str]


def n_threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs`, as joblib counts: None or -1 is all cores, -2 all but one.

    In a worker process of joblib, None is what joblib leaves to each: if every worker took all cores, there
    would be as many times more threads than cores as there are workers.
    """
    if n_jobs is None:
        return _share_of_a_worker()
    # The native half caps both at what the machine has.
    return min(int(n_jobs), 2**31) if n_jobs > 0 else max(int(n_jobs) + 1, -(2**31))


def _share_of_a_worker() -> int:
    """Threads for this process if joblib started it beside others; else 0, for all cores."""
    # Workers that are threads of one process share its threads for computing, so they need no limit.
    if multiprocessing.parent_process() is None or not get_active_backend()[0].nesting_level:
        return 0
    # loky says it so to all libraries with threads: cores over workers, or `inner_max_num_threads`. The
    # backend "multiprocessing" says nothing.
    told = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(told)) if told.isdecimal() else 1


def checked_rows(estimator: Any, X: Any, y: Any = "no_validation", **checks: Any) -> Any:
    """An estimator's rows as numbers, sparse ones as CSR, and the target if there is one."""
    if _is_plain(X, y, **checks):
        # The estimator's own knowledge of columns is still checked, or set.
        return validate_data(estimator, X, y, reset=checks.get("reset", True), skip_check_array=True)
    with advice_on_columns(X):
        return validate_data(estimator, X, y, **{"accept_sparse": "csr", "dtype": np.float64, **checks})


def _is_plain(
    X: Any,
    y: Any,
    ensure_min_samples: int = 1,
    # What these ask for, plain rows have.
    accept_sparse: Any = "csr",
    ensure_all_finite: Any = True,
    reset: bool = True,
    y_numeric: bool = False,
    **others: Any,
) -> bool:
    """Whether rows are numbers, and the target whole ones if there is one: scikit-learn's checks of arrays
    would find nothing and change nothing, and take longer than a fit to few rows."""
    if others or type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2:
        return False
    if X.shape[0] < ensure_min_samples or X.size == 0:
        return False
    if type(y) is np.ndarray:
        if y.ndim != 1 or y.dtype.kind not in "iub" or len(y) != len(X):
            return False
    elif not (isinstance(y, str) and y == "no_validation"):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        # Any number that is not finite makes the sum so.
        return bool(np.isfinite(X.sum()))


def checked_array(X: Any, name: str = "X", **checks: Any) -> Any:
    """A function's rows as numbers, sparse ones as CSR; `name` is what messages call them."""
    with advice_on_columns(X, name):
        return check_array(X, input_name=name, **{"accept_sparse": "csr", "dtype": np.float64, **checks})


@contextmanager
def advice_on_columns(X: Any, name: str = "X") -> Iterator[None]:
    """Says of a table that cannot be made numbers which column it is, and what to do."""
    try:
        yield
    except (TypeError, ValueError) as error:
        what = next(_what_is_no_number(X, name), None)
        # A frame without such columns has a target that is no number; so may an array.
        plain = not frame_names(X) and not sparse.issparse(X) and np.asarray(X).dtype.kind in "OUST"
        if plain and "could not convert string to float" in str(error):
            what = f"{name} holds what is no number: {error}"
        if what is None:
            raise
        raise ValueError(
            f"{what}. Encode such columns first, for example by OneHotEncoder or OrdinalEncoder of "
            "sklearn.preprocessing in a ColumnTransformer, or leave them out."
        ) from error


def frame_names(X: Any) -> list[Any]:
    """The names of a frame's columns; none of an array."""
    # A table of pyarrow calls its columns themselves so.
    return list(getattr(X, "column_names", getattr(X, "columns", ())))


def _what_is_no_number(X: Any, name: str) -> Iterator[str]:
    """The cells of a frame that are neither numbers nor gaps."""
    for column in frame_names(X):
        # Ravelled, for a name may stand over several columns.
        cells = np.asarray(X[column]).ravel()
        if cells.dtype.kind in "mM":
            yield f"column {column!r} of {name} holds dates or times"
        for cell in cells if cells.dtype.kind in "OUST" else ():
            if not _is_number_or_gap(cell):
                yield f"column {column!r} of {name} holds {cell!r}, which is no number"


def _is_number_or_gap(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        # The gaps of pandas do not say whether they equal themselves.
        return cell is None or type(cell).__name__ == "NAType"
    return True


def native_rows(X: Any) -> NativeRows:
    """Rows that have been checked, as the native half takes them; a sparse matrix stays sparse."""
    if not sparse.issparse(X):
        return np.asarray(X, dtype=np.float64)
    if not X.has_canonical_format:
        # Sorted columns without repeats; the user's matrix is left alone.
        X = X.copy()
        X.sum_duplicates()
    return (
        int(X.shape[1]),
        X.indptr.astype(np.uint64),
        X.indices.astype(np.uint32),
        np.asarray(X.data, dtype=np.float64),
    )


def native_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Classes]:
    """The classes, and each row's place among them with their names."""
    classes, codes = np.unique(y, return_inverse=True)
    return classes, (codes.astype(np.int64), [str(c) for c in classes])


def checked_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Classes]:
    """The same of what may turn out to be no classes, which is an error."""
    if y.dtype.kind not in "iub":
        check_classification_targets(y)
    classes, native = native_classes(y)
    if y.dtype.kind in "iub" and 2 * len(classes) > len(y):
        # Whole numbers are classes, but scikit-learn warns of so many.
        check_classification_targets(y)
    return classes, native


def native_target(y: Any, target_type: str, name: str) -> Target:
    """A target as the native half takes it, of which "auto" takes what is not whole for numbers.

    `name` is what messages call it.
    """
    checked = check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=2, input_name=name)
    checked = column_or_1d(checked, warn=True)
    numbers = target_type == "auto" and type_of_target(checked, input_name=name) == "continuous"
    if numbers or target_type == "number":
        values: FloatArray = np.asarray(checked, dtype=np.float64)
        return values
    return checked_classes(checked)[1]


def native_triplets(triplets: Any) -> IntArray:
    """Triples of row numbers as the native half takes them."""
    rows = np.asarray(triplets)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"triplets must be whole numbers in three columns, got {rows.dtype} of shape {rows.shape}."
        )
    outside = np.nonzero((rows < 0) | (rows > LARGEST_INT))
    if outside[0].size:
        at, column = outside[0][0], outside[1][0]
        raise ValueError(f"triplet {at + 1}: row numbers count from 0, got {rows[at, column]}.")
    whole: IntArray = rows.astype(np.int64)
    return whole


def method_json(method: str, parameters: Mapping[str, Any]) -> str:
    """A method in the form of the core's catalog."""
    return to_json({"method": method, **parameters})


def to_json(form: Mapping[str, Any]) -> str:
    """Settings as the native half reads them; refuses integers that it cannot hold."""
    _check_ints(form)
    return json.dumps(form, allow_nan=False)


def native_int(name: str, value: Any) -> int:
    """An integer parameter, refused if the native half cannot hold it."""
    most = LARGEST_DEGREE if name == "degree" else LARGEST_INT
    if value > most:
        raise ValueError(f"The {name!r} parameter must be at most {most}. Got {value} instead.")
    return int(value)


def _check_ints(form: Any, name: str = "") -> None:
    if isinstance(form, Mapping):
        for key, value in form.items():
            # {"count": 3} is one of several forms of the parameter around it.
            _check_ints(value, name if key == "count" else key)
    elif isinstance(form, list | tuple):
        for value in form:
            _check_ints(value, name)
    elif isinstance(form, int):
        native_int(name, form)
