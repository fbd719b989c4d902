"""Conversion of pipelines to ONNX."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import kernsift
from kernsift._selector import FeatureSelectorMixin
from kernsift.models import SavedModel

__all__ = ["register_onnx_converters"]

#: The type of 64-bit integers in ONNX.
INT64 = 7


def register_onnx_converters() -> None:
    """Let `skl2onnx` convert pipelines with feature selectors of this package.

    A fitted selector becomes an ArrayFeatureExtractor: it takes columns from one matrix, which keep their
    type. Steps of a pipeline that make numbers of text come before it. A selection by :func:`load_model` is
    converted, too, unless it encodes features.

    The package `skl2onnx` is not a dependency: install it for this function.

    Examples
    --------
    >>> from kernsift import FisherScore, load_dataset, register_onnx_converters
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> wine = load_dataset("wine")
    >>> pipeline = make_pipeline(FisherScore(3), LogisticRegression(max_iter=1000))
    >>> pipeline = pipeline.fit(wine.data, wine.target)
    >>> register_onnx_converters()  # doctest: +SKIP
    >>> from skl2onnx import to_onnx  # doctest: +SKIP
    >>> model = to_onnx(pipeline, wine.data[:1].astype("float32"))  # doctest: +SKIP
    """
    try:
        skl2onnx = importlib.import_module("skl2onnx")
    except ImportError:
        raise ImportError("register_onnx_converters needs the package skl2onnx. Install it.") from None
    things = (getattr(kernsift, name) for name in kernsift.__all__)
    selectors = [each for each in things if isinstance(each, type) and issubclass(each, FeatureSelectorMixin)]
    for each in (*selectors, SavedModel):
        name = f"Kernsift{each.__name__}"
        skl2onnx.update_registered_converter(each, name, _set_shape, _convert)


def _selected(step: Any) -> Any:
    """The positions of the columns that a step takes, in the order of its output."""
    if isinstance(step, SavedModel) and step.encode:
        raise ValueError("A model that encodes features cannot be converted to ONNX. Load it without encode.")
    # The columns of a model are in the order of the ranking.
    taken = step._model.selected() if isinstance(step, SavedModel) else step.get_support(indices=True)
    if not len(taken):
        raise ValueError(f"{type(step).__name__} selects no feature, so there is nothing to convert to ONNX.")
    return np.asarray(taken, dtype=np.int64)


def _set_shape(operator: Any) -> None:
    given = operator.inputs[0]
    shape = [given.get_first_dimension(), len(_selected(operator.raw_operator))]
    operator.outputs[0].type = type(given.type)(shape)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    columns, taken = scope.get_unique_variable_name("columns"), _selected(operator.raw_operator)
    container.add_initializer(columns, INT64, [len(taken)], taken)
    container.add_node(
        "ArrayFeatureExtractor",
        [operator.inputs[0].full_name, columns],
        operator.outputs[0].full_name,
        op_domain="ai.onnx.ml",
        name=scope.get_unique_operator_name("ArrayFeatureExtractor"),
    )
