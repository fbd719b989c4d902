"""Importances of features of any fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernsift._native_data import FloatArray


def importances(estimator: Any, names: tuple[str, ...]) -> FloatArray:
    """The first of these attributes that a fitted estimator has: one number per feature, larger is better.

    For several classes it is the sum of absolute coefficients.
    """
    for name in names:
        if hasattr(estimator, name):
            values = np.asarray(getattr(estimator, name), dtype=np.float64)
            values = np.abs(values) if name == "coef_" else values
            total: FloatArray = np.nan_to_num(values.reshape(-1, values.shape[-1]).sum(axis=0))
            return total
    raise TypeError(
        f"{type(estimator).__name__} has none of {', '.join(names)}. Pass another selector or estimator, for "
        "example sklearn.feature_selection.SelectFromModel(estimator)."
    )
