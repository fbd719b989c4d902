"""Data frames, prepared like files: types are inferred, and columns that are not features are skipped."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kernsift import _native

#: Days, from microseconds.
DAY = 86_400e6
#: A column in the form of the native module: numbers, texts, codes with texts, or dates.
Cells = Any


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


def prepare(X: Any, stacklevel: int = 4) -> PreparedRows:
    """Infers the types of the columns of a frame; warns about columns that it skips."""
    columns, ordered = native_columns(X)
    native = _native.Prepared(columns, ordered)
    if native.skipped is not None:
        warnings.warn(
            f"{native.skipped}. To use such a column, pass an array.", UserWarning, stacklevel=stacklevel
        )
    return PreparedRows(native, len(columns))


def warn_of_others(others: list[tuple[str, int]], stacklevel: int) -> None:
    """Warns about categories that the training data does not have."""
    for column, count in others:
        warnings.warn(
            f"column {column!r}: {count} values are categories that the training data does not have.",
            UserWarning,
            stacklevel=stacklevel,
        )


def native_columns(X: Any) -> tuple[list[tuple[str, Cells]], list[tuple[str, list[str]]]]:
    """The columns of a frame in the form of the native module, and the levels of ordered categories."""
    columns: list[tuple[str, Cells]] = []
    ordered: list[tuple[str, list[str]]] = []
    for place, name in enumerate(frame_names(X)):
        cells, levels = _cells(_column(X, place, name))
        columns.append((str(name), cells))
        if levels is not None:
            ordered.append((str(name), levels))
    return columns, ordered


def _column(X: Any, place: int, name: Any) -> Any:
    # Several columns of a pandas frame may have the same name.
    if hasattr(X, "iloc"):
        return X.iloc[:, place]
    return X.column(place) if hasattr(X, "column_names") else X[name]


def _cells(column: Any) -> tuple[Cells, list[str] | None]:
    """A column in the form of the native module, and its levels if they are ordered."""
    module = type(column).__module__.split(".")[0]
    if module == "pandas":
        return _pandas_cells(column)
    if module == "polars":
        return _polars_cells(column), None
    return _arrow_cells(column), None


def _pandas_cells(column: Any) -> tuple[Cells, list[str] | None]:
    import pandas as pd

    types = pd.api.types
    if isinstance(column.dtype, pd.CategoricalDtype):
        levels = [str(level) for level in column.cat.categories]
        codes = column.cat.codes.to_numpy(dtype=np.int64)
        return (codes, levels), levels if column.cat.ordered else None
    if types.is_bool_dtype(column.dtype):
        return _coded(*pd.factorize(column)), None
    if types.is_datetime64_any_dtype(column.dtype):
        naive = column.dt.tz_convert(None) if column.dt.tz is not None else column
        return _dates(naive.to_numpy(dtype="datetime64[us]")), None
    if types.is_timedelta64_dtype(column.dtype):
        return column.dt.total_seconds().to_numpy(dtype=np.float64), None
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), None
    return _coded(*pd.factorize(column)), None


def _coded(codes: npt.NDArray[np.int64], texts: Any) -> Cells:
    return codes.astype(np.int64), [str(text) for text in texts]


def _dates(times: npt.NDArray[np.datetime64]) -> Cells:
    """Days since 1970-01-01, in a list, which tells them from numbers."""
    microseconds = times.astype("datetime64[us]").astype(np.int64)
    return [np.where(np.isnat(times), np.nan, microseconds / DAY)]


def _polars_cells(column: Any) -> Cells:
    import polars as pl

    dtype = column.dtype
    if dtype.is_numeric() or dtype == pl.Null:
        return column.cast(pl.Float64).to_numpy().astype(np.float64)
    if dtype == pl.Duration:
        return (column.dt.total_microseconds() / 1e6).cast(pl.Float64).to_numpy().astype(np.float64)
    if dtype in (pl.Date, pl.Datetime):
        return _dates(column.cast(pl.Datetime("us")).to_numpy())
    return [None if cell is None else str(cell) for cell in column.to_list()]


def _arrow_cells(column: Any) -> Cells:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_temporal(kind) and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return _dates(np.asarray(column.cast(pa.timestamp("us")).to_numpy(), dtype="datetime64[us]"))
    return [None if cell is None else str(cell) for cell in column.to_pylist()]
