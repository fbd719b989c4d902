"""Data frames, prepared like files: types are inferred, and columns that are not features are skipped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kernsift import _native
from kernsift._warnings import warn

#: Days, from microseconds.
DAY = 86_400e6
#: A column in the form of the native module: numbers; integers; texts; codes, texts and the type (text,
#: category or ordered); or dates.
Cells = Any
#: The largest integer that a float can hold with all below.
MAX_EXACT = 2**53


class PreparedRows:
    """The typed features of a data frame."""

    def __init__(self, native: _native.Prepared, n_columns: int) -> None:
        self.native = native
        self.shape = (native.n_samples, len(native.names))
        #: Number of columns of the frame.
        self.n_columns = n_columns

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: npt.NDArray[np.int64]) -> PreparedRows:
        return PreparedRows(self.native.take(np.asarray(rows, dtype=np.int64)), self.n_columns)

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return self.native.names

    def to_frame(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array with an entry per feature as one with an entry per column of the frame; others are 0."""
        out = np.zeros((self.n_columns, *values.shape[1:]), dtype=values.dtype)
        out[self.native.positions] = values
        return out

    def features_of(self, columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The features in these columns of the frame, without those that were skipped."""
        feature_of = {int(column): feature for feature, column in enumerate(self.native.positions)}
        found = [feature_of[int(column)] for column in columns if int(column) in feature_of]
        return np.array(found, dtype=np.int64)

    def order(self, order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Features in this order as columns of the frame; skipped columns come last."""
        positions = self.native.positions
        skipped = np.setdiff1d(np.arange(self.n_columns), positions)
        return np.concatenate([positions[order], skipped])


def as_frame(X: Any) -> Any:
    """X, or a pyarrow table for another object with the Arrow PyCapsule interface."""
    if frame_names(X) or not hasattr(X, "__arrow_c_stream__"):
        return X
    try:
        import pyarrow  # type: ignore[import-untyped]
    except ImportError:
        raise TypeError(
            f"{type(X).__name__} has the Arrow interface, which needs the package pyarrow. Install it, or "
            "pass a pandas or polars data frame."
        ) from None
    return pyarrow.table(X)


def frame_names(X: Any) -> list[Any]:
    """Column names of a frame; empty for an array."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return []
    # `columns` of a pyarrow table holds the columns themselves.
    return list(getattr(X, "column_names", getattr(X, "columns", ())))


def prepare(X: Any, run: Any, **options: Any) -> PreparedRows:
    """Infers the types of the columns of a frame; warns about columns that it skips.

    `run` are the settings of the computation; options are those of :func:`options_json`.
    """
    native = _native.Prepared(native_columns(X), options_json(**options), run)
    if native.skipped is not None and not _all_by_choice(native):
        text = (
            f"{native.skipped}. To use an identifier or text, declare its column as categories, for example "
            'with astype("category") in pandas, or include it, see set_columns.'
        )
        warn(text)
    for note in native.notes:
        warn(f"{note}.")
    return PreparedRows(native, len(frame_names(X)))


def _all_by_choice(native: _native.Prepared) -> bool:
    """Whether the user chose to skip every column that is skipped."""
    columns = json.loads(native.account)["columns"]
    reasons = [column["reason"] for column in columns if column["action"] in ("id", "skipped")]
    return all(reason == "excluded" or reason.endswith("as chosen") for reason in reasons)


#: Names or patterns of columns.
Columns = str | Iterable[str]


def options_json(
    target: str | None = None,
    target_type: str = "auto",
    missing: str = "auto",
    *,
    include: Columns = (),
    exclude: Columns = (),
    id: Columns = (),
    types: Mapping[str, str] | None = None,
) -> str:
    """How to prepare a frame, in the form of the native module.

    Options are `target`, the name of a column, its `target_type`, `missing`, how to handle missing values,
    and which columns are features.
    """
    lists = {"include": include, "exclude": exclude, "id": id}
    return json.dumps(
        {"target": target, "target_type": target_type, "missing": missing}
        | {name: column_list(name, value) for name, value in lists.items()}
        | {"types": [[str(column), str(kind)] for column, kind in dict(types or {}).items()]}
    )


def column_list(name: str, value: Any) -> list[str]:
    """Names or patterns of columns as a list; raises for anything else."""
    values = [value] if isinstance(value, str) else list(value)
    if not all(isinstance(each, str) for each in values):
        raise TypeError(f"{name} must be names or patterns of columns, got {value!r}.")
    return values


def warn_of_others(others: list[tuple[str, int]]) -> None:
    """Warns about categories that the training data does not have."""
    for column, count in others:
        warn(f"column {column!r}: {count} values are categories that the training data does not have.")


def native_columns(X: Any) -> Iterator[tuple[str, Cells]]:
    """The names and columns of a frame in the form of the native module, one after the other."""
    for place, name in enumerate(frame_names(X)):
        try:
            yield str(name), _cells(_column(X, place, name))
        except _NestedError as error:
            raise TypeError(
                f"column {str(name)!r} has {error}, which cannot be features. Drop it, or put each element "
                "into a column of its own."
            ) from None


class _NestedError(TypeError):
    """Cells of a column are lists or the like."""


def _column(X: Any, place: int, name: Any) -> Any:
    # Several columns of a pandas frame may have the same name.
    if hasattr(X, "iloc"):
        return X.iloc[:, place]
    return X.column(place) if hasattr(X, "column_names") else X[name]


def _cells(column: Any) -> Cells:
    """A column in the form of the native module."""
    module = type(column).__module__.split(".")[0]
    if module == "pandas":
        return _pandas_cells(column)
    return _polars_cells(column) if module == "polars" else _arrow_cells(column)


def array_cells(values: npt.NDArray[Any]) -> Cells:
    """A one-dimensional array in the form of the native module."""
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(np.int64), ["False", "True"], "text"
    if kind in "iu":
        return _integers(values)
    if kind == "f":
        return np.asarray(values, dtype=np.float64)
    if kind == "M":
        return _dates(values)
    if kind == "m":
        return _seconds(values)
    return _texts(values.tolist())


def _integers(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None = None) -> Cells:
    """Integers, or text if one of them cannot be represented as a float."""
    if missing is None or not missing.any():
        if values.dtype.kind == "i" or values.max(initial=0) <= MAX_EXACT:
            return values.astype(np.int64)
        return [str(value) for value in values.tolist()]
    present = values[~missing]
    if present.max(initial=0) > MAX_EXACT or present.min(initial=0) < -MAX_EXACT:
        return [None if gone else str(value) for value, gone in zip(values.tolist(), missing, strict=True)]
    return np.where(missing, np.nan, values.astype(np.float64))


def _texts(cells: list[Any]) -> Cells:
    """The texts of cells of any type."""
    nested = next((cell for cell in cells if isinstance(cell, list | tuple | dict | set | np.ndarray)), None)
    if nested is not None:
        raise _NestedError(f"cells of the type {type(nested).__name__}")
    return [None if is_missing(cell) else str(cell) for cell in cells]


def is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN, or NA or NaT of pandas."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float) and cell != cell


def _pandas_cells(column: Any) -> Cells:
    import pandas as pd

    types = pd.api.types
    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = [str(level) for level in column.cat.categories]
        return column.cat.codes.to_numpy(dtype=np.int64), levels, _kind(column.cat.ordered)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM":
        return array_cells(column.to_numpy())
    if isinstance(column.dtype, pd.ArrowDtype):
        return _arrow_cells(column.array.__arrow_array__())
    if types.is_datetime64_any_dtype(column.dtype):
        naive = column.dt.tz_convert(None) if column.dt.tz is not None else column
        return _dates(naive.to_numpy(dtype="datetime64[us]"))
    if types.is_timedelta64_dtype(column.dtype):
        return _seconds(column.to_numpy())
    if types.is_integer_dtype(column.dtype):
        dtype = np.uint64 if types.is_unsigned_integer_dtype(column.dtype) else np.int64
        return _integers(column.to_numpy(dtype=dtype, na_value=0), column.isna().to_numpy())
    is_number = types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)
    if is_number and not types.is_complex_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dtype == object:
        # Not the cells themselves: True and 1 are equal.
        column = np.array(_texts(column.tolist()), dtype=object)
    codes, texts = pd.factorize(column)
    return codes.astype(np.int64), [str(text) for text in texts], "text"


def _kind(ordered: bool = False) -> str:
    """The type of a column that the frame declares as categories."""
    return "ordered" if ordered else "category"


def _dates(times: npt.NDArray[np.datetime64]) -> Cells:
    """Days since 1970-01-01, in a list, which tells them from numbers."""
    microseconds = times.astype("datetime64[us]").astype(np.int64)
    return [np.where(np.isnat(times), np.nan, microseconds / DAY)]


def _seconds(durations: npt.NDArray[np.timedelta64]) -> npt.NDArray[np.float64]:
    unit, count = np.datetime_data(durations.dtype)
    units = {"D": 1 / 86_400, "h": 1 / 3600, "m": 1 / 60, "s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
    seconds = durations.astype(np.int64) * count / units[unit]
    return np.where(np.isnat(durations), np.nan, seconds)


def _polars_cells(column: Any) -> Cells:
    import polars as pl

    dtype = column.dtype
    if dtype.is_integer() and dtype not in (pl.Int128, getattr(pl, "UInt128", None)):
        return _integers(column.fill_null(0).to_numpy(), column.is_null().to_numpy())
    if dtype.is_integer():
        return _texts(column.to_list())
    if dtype.is_numeric() or dtype == pl.Null:
        return np.asarray(column.cast(pl.Float64).to_numpy(), dtype=np.float64)
    if dtype == pl.Duration:
        return _seconds(column.to_numpy())
    if dtype in (pl.Date, pl.Datetime):
        return _dates(column.cast(pl.Datetime("us")).to_numpy())
    if dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum):
        text = column.cast(pl.String)
        is_enum = dtype == pl.Enum
        levels = dtype.categories if is_enum else text.drop_nulls().unique(maintain_order=True)
        codes = text.cast(pl.Enum(levels)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        is_category = is_enum or dtype == pl.Categorical
        return codes, levels.to_list(), _kind(is_enum) if is_category else "text"
    if dtype.is_nested():
        raise _NestedError(f"cells of the type {dtype}")
    return _texts(column.to_list())


def _arrow_cells(column: Any) -> Cells:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind):
        missing = np.asarray(column.is_null())
        return _integers(column.fill_null(0).to_numpy(), missing)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_temporal(kind) and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        microseconds = column.cast(pa.timestamp("us"), safe=False)
        return _dates(np.asarray(microseconds.to_numpy(), dtype="datetime64[us]"))
    if pa.types.is_duration(kind):
        return _seconds(column.to_numpy())
    if not pa.types.is_nested(kind):
        coded = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        coded = coded.unify_dictionaries().combine_chunks()
        coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
        levels = [str(level) for level in coded.dictionary.to_pylist()]
        codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return codes, levels, _kind(kind.ordered) if pa.types.is_dictionary(kind) else "text"
    raise _NestedError(f"cells of the type {kind}")
