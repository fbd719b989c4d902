"""Splits of samples for the native module: folds, splitters, pairs of indices, and groups."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from kernsift._frames import as_frame, frame_names, is_missing
from kernsift._native_data import Classes, FloatArray, IntArray

#: Training and test indices of each split.
Splits = list[tuple[IntArray, IntArray]]


def read_splits(cv: Any, X: Any, y: Any, groups: Any = None) -> Splits | None:
    """The splits, unless `cv` is a number of folds."""
    if isinstance(cv, Integral):
        return None
    given = cv.split(X, y, groups) if hasattr(cv, "split") else cv
    splits = []
    for pair in given:
        try:
            train, test = pair
        except (TypeError, ValueError) as error:
            raise ValueError("cv must yield pairs of training and test indices.") from error
        splits.append((_indices(train), _indices(test)))
    if not splits:
        raise ValueError("cv yields no splits.")
    return splits


def read_splits_of_rows(
    cv: Any, rows: IntArray, n_samples: int, target: Classes | FloatArray, groups: Any
) -> Splits | None:
    """Like `read_splits`, for these rows of `n_samples`. Given splits without any of them are left out."""
    if isinstance(cv, Integral) or hasattr(cv, "split"):
        y = target[0] if isinstance(target, tuple) else target
        return read_splits(cv, np.zeros((len(rows), 1)), y, groups)

    def places(given: IntArray) -> IntArray:
        invalid = given[(given < 0) | (given >= n_samples)]
        if invalid.size:
            raise ValueError(f"cv must yield indices from 0 to {n_samples - 1}, got {invalid[0]}.")
        return np.searchsorted(rows, given[np.isin(given, rows)])

    splits = [(places(train), places(test)) for train, test in read_splits(cv, None, None) or []]
    splits = [(train, test) for train, test in splits if train.size and test.size]
    if not splits:
        raise ValueError("No split of cv has training and test samples with a target and a positive weight.")
    return splits


def _indices(rows: Any) -> IntArray:
    """Sorted indices of one side of a split."""
    rows = np.asarray(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(
            f"cv must yield one-dimensional integer arrays, got {rows.dtype} of shape {rows.shape}."
        )
    ordered: IntArray = np.sort(rows).astype(np.int64)
    return ordered


def read_groups(groups: Any, n_samples: int) -> IntArray | None:
    """The group of each sample as a number from 0."""
    if groups is None:
        return None
    values = np.asarray(groups, dtype=object)
    if values.shape != (n_samples,):
        raise ValueError(
            f"groups must have one entry per sample, {n_samples}, got an array of shape {values.shape}."
        )
    missing = next((at for at, value in enumerate(values) if is_missing(value)), None)
    if missing is not None:
        raise ValueError(f"groups has a missing value, for sample {missing}. Leave out such samples.")
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)
    if len(numbers) < 2:
        raise ValueError("groups must have at least two different values.")
    return codes


def take_groups(X: Any, groups: Any) -> tuple[Any, Any]:
    """The samples without the column of groups, and the groups, if `groups` is the name of a column."""
    if not isinstance(groups, str):
        return X, groups
    frame = as_frame(X)
    names = frame_names(frame)
    if groups not in names:
        raise ValueError(
            f"groups is the name of a column, but X is not a data frame with a column {groups!r}."
        )
    others = [name for name in names if name != groups]
    if hasattr(frame, "column_names"):
        # A pyarrow table.
        return frame.select(others), frame[groups].to_pylist()
    return frame[others], list(frame[groups])
