"""Weights of samples and classes."""

from __future__ import annotations

from inspect import Parameter, signature
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import has_fit_parameter

from kernsift._native_data import FloatArray


def read_weights(sample_weight: Any, n_samples: int) -> FloatArray | None:
    """The weight of each sample; None if all have weight 1."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, float(sample_weight))
    weights: FloatArray
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one entry per sample, {n_samples}, "
            f"got an array of shape {weights.shape}."
        )
    negative = np.flatnonzero(weights < 0)
    if negative.size:
        at = negative[0]
        raise ValueError(f"sample_weight must not be negative, got {weights[at]} for sample {at}.")
    if not weights.any():
        # In the words that scikit-learn's checks of estimators expect.
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def weight_parameter(estimator: Any) -> str:
    """The parameter of `fit` that takes the weights of samples; of a pipeline, that of its last step."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    steps = getattr(estimator, "steps", None)
    if steps and has_fit_parameter(steps[-1][1], "sample_weight"):
        return f"{steps[-1][0]}__sample_weight"
    raise ValueError(
        f"evaluator={estimator!r} does not support weights: its fit has no parameter sample_weight. Use "
        "another one, or leave out sample_weight and class_weight."
    )


def check_scorer(name: str, scorer: Any) -> None:
    """Raises if a scorer does not take the weights of samples."""
    parameters = signature(getattr(scorer, "_score_func", scorer)).parameters.values()
    if not any(p.name == "sample_weight" or p.kind is Parameter.VAR_KEYWORD for p in parameters):
        raise ValueError(
            f"scoring={name!r} does not support weights: it has no parameter sample_weight. "
            "Use another score, or leave out sample_weight."
        )
