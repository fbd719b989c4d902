"""Near copies of features."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from kernsift import _native
from kernsift._base import RUN_CONSTRAINTS
from kernsift._frames import as_frame, frame_names, prepare
from kernsift._native_data import checked_array, native_rows, settings
from kernsift._parameters import documented
from kernsift._selected import feature_positions
from kernsift._sklearn import Interval, validate_params

__all__ = ["near_copies"]


@validate_params(
    {
        "X": "no_validation",
        "features": ["array-like", None],
        "similarity": [Interval(Real, 0, 1, closed="right")],
        "n_jobs": RUN_CONSTRAINTS["n_jobs"],
    },
    prefer_skip_nested_validation=True,
)
@documented()
def near_copies(
    X: Any,
    features: Sequence[Any] | None = None,
    *,
    similarity: float = 0.9,
    n_jobs: int | None = None,
) -> dict[Any, dict[Any, float]]:
    """Find features that are almost equal: which of them a selector selects is a matter of chance.

    The similarity of two numbers is the absolute correlation of their ranks, through the cosine of the rank,
    so monotone functions of a feature are copies of it. For categories it is the root of the mean squared
    canonical correlation of their indicators.

    Parameters
    ----------
    {X}
    features : list, mask or None, default=None
        Names or indices of columns of `X`, or a mask such as `support_` of a selector: the features whose
        copies are wanted. None are all features.
    similarity : float, default=0.9
        Features with at least this similarity, from 0 to 1, are near copies.
    {n_jobs}

    Returns
    -------
    copies : dict
        For each of the features that has near copies, a dict of their similarities, the most similar first.
        Keys are names of the columns of a data frame, else indices.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsift import near_copies
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> X[:, 3] = np.exp(X[:, 1])
    >>> {feature: list(copies) for feature, copies in near_copies(X, [0, 1]).items()}
    {1: [3]}
    """
    X = as_frame(X)
    run = settings(0, n_jobs, 0)
    names: list[Any] = frame_names(X)
    if names:
        rows: Any = prepare(X, run)
        positions = rows.native.positions
    else:
        rows = checked_array(X, ensure_all_finite="allow-nan")
        names = list(range(rows.shape[1]))
        positions = np.arange(rows.shape[1])
    mask = np.asarray(features) if features is not None else np.ones(len(names), dtype=bool)
    wanted = np.flatnonzero(mask) if mask.dtype == bool else features
    if mask.dtype == bool and len(mask) != len(names):
        raise ValueError(f"features: a mask needs {len(names)} entries, one per column, got {len(mask)}.")
    columns = feature_positions(names, wanted, "features")
    for column in columns:
        if not 0 <= column < len(names):
            raise ValueError(f"features: X has no column {column}; it has {len(names)} columns.")
    feature_of = {int(column): feature for feature, column in enumerate(positions)}
    known = [column for column in columns if column in feature_of]
    answer = _native.near_copies_of(
        native_rows(rows), [feature_of[column] for column in known], float(similarity), run
    )
    return {
        names[column]: {names[positions[j]]: value for j, value in copies}
        for column, copies in zip(known, answer, strict=True)
        if copies
    }
