"""Selected features, directions and kernels of fitted estimators, for plots and summaries."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernsift._native_data import FloatArray, IntArray

#: Maximum number of characters of a name.
MAX_NAME_LENGTH = 28


def feature_names(estimator: Any) -> list[str]:
    """Names of the features seen during fit, or x0, x1 and so on."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(estimator.n_features_in_)] if names is None else list(names)


def selects_directions(estimator: Any) -> bool:
    """Whether it selects directions of kernel space."""
    return hasattr(estimator, "basis_")


def selected_scores(estimator: Any) -> tuple[IntArray, FloatArray, list[str]]:
    """Indices of the selected features or directions, best first; the scores of all; the names of all."""
    check_is_fitted(estimator)
    if selects_directions(estimator):
        scores = estimator.weights_
        names = [f"direction {j}" for j in range(len(scores))]
    elif hasattr(estimator, "scores_"):
        scores, names = estimator.scores_, feature_names(estimator)
    else:
        raise TypeError(
            f"{type(estimator).__name__} has no scores. Pass a selector, a kernel learner or a selection in "
            "kernel space."
        )
    order = getattr(estimator, "order_", np.argsort(-scores, kind="stable"))
    return order[estimator.support_[order]], scores, names


def kernel_weights(design: Any) -> tuple[list[str], FloatArray]:
    """Names and weights of the kernels with nonzero weight, largest first."""
    names = feature_names(design)
    order = np.argsort(-np.abs(design.alpha_), kind="stable")[: np.count_nonzero(design.alpha_)]

    def label(p: int) -> str:
        column, kernel = design._kernel_columns[p], design.kernels_[p]
        return _brief(kernel) if column is None else f"{shortened(names[column])}: {_brief(kernel.kernel)}"

    return [label(p) for p in order], design.alpha_[order]


def shortened(name: Any, longest: int = MAX_NAME_LENGTH) -> str:
    """A name on one line, without control characters; a long one without its middle."""
    text = "".join(
        " " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c
        for c in str(name)
        if unicodedata.category(c) != "Cf"
    )
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[: longest - 1 - half]}…{text[-half:]}"


def counted(number: int, what: str) -> str:
    """For example "1 feature" and "2 features"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _brief(kernel: Any) -> str:
    """A kernel with gamma to three digits."""
    name = getattr(kernel, "__name__", None) or type(kernel).__name__
    gamma = getattr(kernel, "gamma", None)
    return shortened(name if gamma is None else f"{name}({gamma:.3g})")


def feature_positions(names: Sequence[Any], columns: Any, parameter: str) -> list[int]:
    """The positions of columns given by name or index; `names` are those of a data frame."""
    out = []
    for column in [] if columns is None else columns:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"{parameter}: X has no column {column!r}.")
            out.append(names.index(column))
        else:
            out.append(int(column))
    return out
