"""What fitted estimators kept, for pictures and notebooks: columns, directions, kernels and their names."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernsift._crossing import FloatArray, IntArray
from kernsift.kernels import OnFeature

#: Letters of the longest name.
LONGEST = 28


def column_names(estimator: Any) -> list[str]:
    """The names of the columns that an estimator was fitted to, or x0, x1 and so on."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(estimator.n_features_in_)] if names is None else list(names)


def keeps_directions(estimator: Any) -> bool:
    """Whether what it selects are directions of kernel space."""
    return hasattr(estimator, "basis_")


def kept_scores(estimator: Any) -> tuple[IntArray, FloatArray, list[str]]:
    """Columns or directions that were kept, best first; the scores of all; the names of all."""
    check_is_fitted(estimator)
    if keeps_directions(estimator):
        scores = estimator.weights_
        names = [f"direction {j}" for j in range(len(scores))]
    elif hasattr(estimator, "scores_"):
        scores, names = estimator.scores_, column_names(estimator)
    else:
        raise TypeError(
            f"{type(estimator).__name__} has no scores; selectors, kernel learners and selections in kernel "
            "space have."
        )
    order = getattr(estimator, "order_", np.argsort(-scores, kind="stable"))
    return order[estimator.support_[order]], scores, names


def kernel_weights(design: Any) -> tuple[list[str], FloatArray]:
    """What the kernels of a design that have a weight are called, heaviest first, and their weights."""
    names = column_names(design)
    order = np.argsort(-np.abs(design.alpha_), kind="stable")[: np.count_nonzero(design.alpha_)]

    def label(kernel: Any) -> str:
        if isinstance(kernel, OnFeature):
            return f"{shortened(names[kernel.feature])}: {_brief(kernel.kernel)}"
        return _brief(kernel)

    return [label(design.kernels_[p]) for p in order], design.alpha_[order]


def shortened(name: Any, longest: int = LONGEST) -> str:
    """A name on one line, without signs that steer text, and without its middle if it is long."""
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
    """Such as "1 column" and "2 columns"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _brief(kernel: Any) -> str:
    """A kernel with three digits of its width."""
    name = getattr(kernel, "__name__", None) or type(kernel).__name__
    gamma = getattr(kernel, "gamma", None)
    return shortened(name if gamma is None else f"{name}({gamma:.3g})")
