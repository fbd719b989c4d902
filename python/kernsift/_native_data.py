"""Arguments of the native module: validated samples, targets and settings."""

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
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from kernsift import _native
from kernsift._frames import (
    Cells,
    PreparedRows,
    array_cells,
    as_frame,
    frame_names,
    is_missing,
    native_columns,
    prepare,
    warn_of_others,
)

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
#: A class index per sample, and the names of the classes.
Classes = tuple[IntArray, list[str]]
#: Classes, or a continuous target of one column or several.
Target = Classes | FloatArray
#: What splits of samples respect: the group of each, or splits.
Rule = IntArray | list[tuple[IntArray, IntArray]]
#: A weight per sample, and whether classes are weighted equally.
NativeWeights = tuple[FloatArray | None, bool]
#: Result of cross-validation: record, costs, numbers of features, measure; or why there is none.
Check = str | tuple[str, str, list[int], str]
#: A dense array, or the parts of a CSR matrix: number of columns, row starts, columns, values.
NativeRows = (
    FloatArray | tuple[int, npt.NDArray[np.uint64], npt.NDArray[np.uint32], FloatArray] | _native.Prepared
)


#: The largest integers that the native module accepts.
LARGEST_INT = 2**63 - 1
LARGEST_DEGREE = 2**32 - 1


class Settings(NamedTuple):
    """Settings of every computation of the native module."""

    seed: int
    #: 0 is one thread per core, -1 one fewer, and so on.
    threads: int
    verbose: int


def settings(random_state: Any, n_jobs: int | None, verbose: int) -> Settings:
    """The settings from the parameters of an estimator."""
    if isinstance(random_state, Integral):
        # The same seed as --seed of the command line gives the same result.
        seed = int(random_state) % 2**64
    else:
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int64).max, dtype=np.int64))
    return Settings(seed, n_threads(n_jobs), min(int(verbose), 2**31))


class NamedRows(NamedTuple):
    """Validated samples with feature names."""

    x: Any
    names: list[str]


def n_threads(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs`, as in joblib: None or -1 is all cores, -2 all but one.

    In a worker process of joblib, None is the number of cores assigned to it. Otherwise every worker would
    start a thread per core.
    """
    if n_jobs is None:
        return _worker_threads()
    # The native module caps both at the number of cores.
    return min(int(n_jobs), 2**31) if n_jobs > 0 else max(int(n_jobs) + 1, -(2**31))


def _worker_threads() -> int:
    """Number of threads in a worker process of joblib; elsewhere 0, which is all cores."""
    # Workers that are threads of one process share its thread pool and need no limit.
    if multiprocessing.parent_process() is None or not get_active_backend()[0].nesting_level:
        return 0
    # loky sets this variable: cores over workers, or `inner_max_num_threads`. The backend "multiprocessing"
    # does not.
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(limit)) if limit.isdecimal() else 1


def checked_rows(estimator: Any, X: Any, y: Any = "no_validation", **checks: Any) -> Any:
    """Validated samples of an estimator as float64, sparse ones as CSR, and the target if there is one.

    A data frame is prepared like a file. A selector gets its typed features, another estimator gets them
    encoded as numbers, and standardized if it has that parameter.
    """
    X = as_frame(X)
    if y is not None and not isinstance(y, str):
        check_complete_target(y)
    if frame_names(X):
        return _checked_frame(estimator, X, y, **checks)
    if checks.get("reset", True):
        if getattr(estimator, "_column_options", {}):
            raise TypeError(
                f"set_columns names columns of data frames, but X is of the type {type(X).__name__}. Pass a "
                "data frame, or an estimator without set_columns."
            )
        # An earlier fit to a frame may have set it.
        estimator.__dict__.pop("_frame_encoder", None)
    if _needs_no_validation(X, y, **checks):
        # This still checks or sets the number and names of features.
        rows = validate_data(estimator, X, y, reset=checks.get("reset", True), skip_check_array=True)
    else:
        with explain_conversion_errors(X):
            options = {"accept_sparse": "csr", "dtype": np.float64, **checks}
            rows = validate_data(estimator, X, y, **options)
    if not hasattr(estimator, "_frame_encoder"):
        return rows
    # The estimator was fitted to a frame with these columns.
    if isinstance(rows, tuple):
        return _encoded_array(estimator, rows[0]), *rows[1:]
    return _encoded_array(estimator, rows)


def _checked_frame(
    estimator: Any,
    X: Any,
    y: Any,
    reset: bool = True,
    ensure_min_samples: int = 1,
    **others: Any,
) -> Any:
    """Like `checked_rows`, for a data frame."""
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if len(X) < ensure_min_samples:
        raise ValueError(
            f"Found array with {len(X)} sample(s) (shape={X.shape}) while a minimum of "
            f"{ensure_min_samples} is required by {type(estimator).__name__}."
        )
    rows = _frame_rows(estimator, X, reset)
    if isinstance(y, str) and y == "no_validation":
        return rows
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    if not others.get("multi_output"):
        y = column_or_1d(y, warn=True)
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    check_consistent_length(X, y)
    return rows, y


def _frame_rows(estimator: Any, X: Any, reset: bool) -> Any:
    run = _run_of(estimator)
    options = getattr(estimator, "_column_options", {})
    if getattr(estimator, "_selects_typed", False):
        return prepare(X, run, **options)
    if reset:
        standardize = bool(getattr(estimator, "standardize", False))
        prepared = prepare(X, run, **options).native
        rows, estimator._frame_encoder = prepared.encode(standardize, run)
        return rows
    if not hasattr(estimator, "_frame_encoder"):
        return check_array(X, dtype=np.float64)
    return _encoded(estimator, native_columns(X))


def _encoded_array(estimator: Any, rows: Any) -> FloatArray:
    """An array with the columns of the frame that an estimator was fitted to, encoded like that."""
    encoder = estimator._frame_encoder
    dense = rows.toarray() if sparse.issparse(rows) else rows
    columns = zip(encoder.names, encoder.positions, strict=True)
    return _encoded(estimator, ((name, np.ascontiguousarray(dense[:, at])) for name, at in columns))


def _encoded(estimator: Any, columns: Iterator[tuple[str, Cells]]) -> FloatArray:
    rows: FloatArray
    rows, others = estimator._frame_encoder.apply(columns, _run_of(estimator))
    warn_of_others(others)
    return rows


def _run_of(estimator: Any) -> Settings:
    """Settings of the preparation of a frame."""
    return settings(0, getattr(estimator, "n_jobs", None), 0)


def _needs_no_validation(
    X: Any,
    y: Any,
    ensure_min_samples: int = 1,
    # Plain arrays meet these checks.
    accept_sparse: Any = "csr",
    ensure_all_finite: Any = True,
    reset: bool = True,
    **others: Any,
) -> bool:
    """Whether X is a finite float64 array and y, if given, an integer array.

    scikit-learn's validation would not change them, and takes longer than a fit to few samples.
    """
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
        # The sum is not finite if any value is not.
        return bool(np.isfinite(X.sum()))


def checked_array(X: Any, name: str = "X", **checks: Any) -> Any:
    """Validated samples of a function as float64, sparse ones as CSR; messages refer to them by `name`."""
    with explain_conversion_errors(X, name):
        return check_array(X, input_name=name, **{"accept_sparse": "csr", "dtype": np.float64, **checks})


@contextmanager
def explain_conversion_errors(X: Any, name: str = "X") -> Iterator[None]:
    """Adds the column and advice to errors in the conversion of a table to numbers."""
    try:
        yield
    except (TypeError, ValueError) as error:
        problem = next(_non_numeric_cells(X, name), None)
        # In a frame without such columns, and maybe in an array, the target is not numeric.
        plain = not frame_names(X) and not sparse.issparse(X) and np.asarray(X).dtype.kind in "OUST"
        if plain and "could not convert string to float" in str(error):
            problem = f"{name} has values that are not numbers: {error}"
        if problem is None:
            raise
        raise ValueError(
            f"{problem}. Encode such columns first, for example with sklearn.preprocessing.OneHotEncoder or "
            "OrdinalEncoder in a ColumnTransformer, or drop them."
        ) from error


def _non_numeric_cells(X: Any, name: str) -> Iterator[str]:
    """Describes the cells of a frame that are neither numbers nor missing values."""
    for column in frame_names(X):
        # Several columns may have the same name.
        cells = np.asarray(X[column]).ravel()
        if cells.dtype.kind in "mM":
            yield f"column {column!r} of {name} has dates or times"
        for cell in cells if cells.dtype.kind in "OUST" else ():
            if not _is_number_or_missing(cell):
                yield f"column {column!r} of {name} has {cell!r}, which is not a number"


def _is_number_or_missing(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        # NA of pandas cannot be compared.
        return cell is None or type(cell).__name__ == "NAType"
    return True


def native_rows(X: Any) -> NativeRows:
    """Validated samples in the form of the native module; a sparse matrix stays sparse."""
    if isinstance(X, PreparedRows):
        return X.native
    if not sparse.issparse(X):
        return np.asarray(X, np.float64)
    if not X.has_canonical_format:
        # A copy, as this sorts indices and sums duplicates in place.
        X = X.copy()
        X.sum_duplicates()
    return (
        int(X.shape[1]),
        X.indptr.astype(np.uint64),
        X.indices.astype(np.uint32),
        np.asarray(X.data, dtype=np.float64),
    )


def native_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Classes]:
    """The classes; the class index of each sample, with the names of the classes."""
    classes, codes = np.unique(y, return_inverse=True)
    return classes, (codes.astype(np.int64), [str(c) for c in classes])


def checked_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Classes]:
    """The same as `native_classes`, after a check that `y` holds class labels."""
    if y.dtype.kind not in "iub":
        check_classification_targets(y)
    classes, native = native_classes(y)
    if y.dtype.kind in "iub" and 2 * len(classes) > len(y):
        # Integers are class labels, but scikit-learn warns if there are many classes.
        check_classification_targets(y)
    return classes, native


def native_target(y: Any, target_type: str, name: str) -> Target:
    """A target in the form of the native module; messages refer to it by `name`."""
    check_complete_target(y, name)
    checked = check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=2, input_name=name)
    checked = column_or_1d(checked, warn=True)
    numbers = continuous_target(checked, target_type)
    return checked_classes(checked)[1] if numbers is None else numbers


def continuous_target(y: npt.NDArray[Any], target_type: str) -> FloatArray | None:
    """The numbers of a continuous target; None if it holds classes.

    "auto" is the rule of the core: text, booleans and integers with few values are classes.
    """
    if target_type == "class":
        return None
    target = _native.read_target(array_cells(y), target_type)
    return None if isinstance(target, tuple) else target


def n_outputs(y: Any) -> int:
    """The number of columns of a target."""
    # Functions of numpy do not take every object that converts to an array.
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    return int(shape[1]) if len(shape) == 2 else 1


def check_complete_target(y: Any, name: str = "y") -> None:
    """Raises if a target has missing values."""
    values = np.asarray(y)
    kind = values.dtype.kind
    if kind in "iubUS":
        return
    if kind == "f":
        missing = np.isnan(values)
    elif kind in "mM":
        missing = np.isnat(values)
    else:
        missing = np.array([is_missing(cell) for cell in values.ravel().tolist()])
    count = int(np.count_nonzero(missing))
    if count:
        raise ValueError(
            f"Input {name} contains NaN: {count} of {values.size} target values are missing. Drop these "
            f"samples first, for example with keep = pandas.notna({name}); X[keep], {name}[keep]."
        )


def native_triplets(triplets: Any) -> IntArray:
    """Triplets of sample indices in the form of the native module."""
    rows = np.asarray(triplets)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"triplets must be an integer array with three columns, got {rows.dtype} of shape {rows.shape}."
        )
    outside = np.nonzero((rows < 0) | (rows > LARGEST_INT))
    if outside[0].size:
        at, column = outside[0][0], outside[1][0]
        raise ValueError(f"triplet {at + 1}: row numbers count from 0, got {rows[at, column]}.")
    indices: IntArray = rows.astype(np.int64)
    return indices


def method_json(method: str, parameters: Mapping[str, Any]) -> str:
    """A method in the core's serialized form."""
    return to_json({"method": method, **parameters})


def to_json(form: Mapping[str, Any]) -> str:
    """Settings in the core's serialized form; raises for integers that overflow."""
    _check_ints(form)
    return json.dumps(form, allow_nan=False)


def native_int(name: str, value: Any) -> int:
    """An integer parameter; raises if it overflows in the native module."""
    most = LARGEST_DEGREE if name == "degree" else LARGEST_INT
    if value > most:
        raise ValueError(f"The {name!r} parameter must be at most {most}. Got {value} instead.")
    return int(value)


def _check_ints(form: Any, name: str = "") -> None:
    if isinstance(form, Mapping):
        for key, value in form.items():
            # {"count": 3} is one form of the parameter that contains it.
            _check_ints(value, name if key == "count" else key)
    elif isinstance(form, list | tuple):
        for value in form:
            _check_ints(value, name)
    elif isinstance(form, int):
        native_int(name, form)
