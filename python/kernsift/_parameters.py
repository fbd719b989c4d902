"""Parameters of estimators: constraints and documentation, from the declarations in Rust.

A method's own parameters are declared once, in Rust, with type, range, default and description. Parameters and fitted
attributes that estimators share are described once, here. :func:`document` fills both into docstrings.
"""

from __future__ import annotations

import functools
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any

from kernsift import _native
from kernsift._sklearn import Interval, StrOptions

#: Integers above this do not survive a conversion to float.
LARGEST_INTEGER = 2**53

#: Parameters that estimators share: type and default, then the description.
SHARED: dict[str, tuple[str, str]] = {
    "n_features_to_select": (
        "int, float or None, default=None",
        "Number of features to select: int (count), float in (0, 1] (fraction), or None (chosen automatically).",
    ),
    "kernel": (
        '{"rbf", "linear", "poly", "laplacian"} or Kernel, default="rbf"',
        "The kernel, by name or as an object of :mod:`kernsift.kernels`.",
    ),
    "standardize": (
        "bool, default=True",
        "Whether to scale features to mean 0 and variance 1 first; features of a sparse matrix are not centered.",
    ),
    "target_type": (
        '{"auto", "class", "number"}, default="auto"',
        'What `y` holds: class labels or a continuous target. "auto" treats floats that are not integers as continuous, '
        "everything else as class labels.",
    ),
    "random_state": (
        "int, RandomState instance or None, default=None",
        "Seed of the random number generator. Pass an int for the same result in every fit.",
    ),
    "n_jobs": (
        "int, default=None",
        "Number of threads; None or -1 uses all cores. In a worker process of joblib, None uses its share of the cores. "
        "Results do not depend on it.",
    ),
    "verbose": ("int, default=0", "Above 0, progress is written to stderr once a second, and the time at the end."),
}

#: Fitted attributes that estimators share.
ATTRIBUTES: dict[str, tuple[str, str]] = {
    "support_": ("ndarray of shape (n_features_in_,)", "Mask of the selected features."),
    "scores_": ("ndarray of shape (n_features_in_,)", "Score of each feature, larger is better; 0 if it was dropped."),
    "ranking_": ("ndarray of shape (n_features_in_,)", "Rank of each feature; 1 is best."),
    "order_": ("ndarray of shape (n_features_in_,)", "Feature indices, best first. Ties are broken by column order."),
    "classes_": ("ndarray of shape (n_classes,)", "Class labels, if the target has classes."),
    "error_curve_": ("ndarray", "Training error by number of features."),
    "coef_": ("ndarray of shape (n_features_in_, n_directions)", "Weights of the features."),
    "path_": (
        "Bunch",
        "The regularization path, an entry per step: `strength`, `objective`, `optimality`, `n_iter`, `stop`, `n_features`, "
        "`features` (largest weight first) and `weights`.",
    ),
    "n_iter_": ("int", "Number of iterations."),
    "converged_": ("bool", "Whether the stopping criterion was met."),
    "n_features_in_": ("int", "Number of features seen during :term:`fit`."),
    "feature_names_in_": (
        "ndarray of shape (n_features_in_,)",
        "Names of features seen during :term:`fit`, if all are strings.",
    ),
}

#: Attributes that every estimator has.
COMMON = ("n_iter_", "converged_", "n_features_in_", "feature_names_in_")


@functools.cache
def declared(method: str) -> Mapping[str, dict[str, Any]]:
    """The parameters that a method declares in Rust, by name."""
    return {parameter["name"]: parameter for parameter in json.loads(_native.method_parameters(method))}


def constraints(method: str, *names: str) -> dict[str, list[Any]]:
    """scikit-learn's constraints of a method's parameters; of all if no names are given."""
    all_ = declared(method)
    return {name: _constraint(all_[name]) for name in names or all_}


def _constraint(parameter: dict[str, Any]) -> list[Any]:
    allowed: list[Any] = []
    for kind in parameter["kinds"]:
        match kind["type"]:
            case "none":
                allowed.append(None)
            case "boolean":
                allowed.append("boolean")
            case "choice":
                names = {value["name"] for value in kind["values"]}
                # What the core calls none is None in Python.
                allowed.extend([None] if "none" in names and _is_none(parameter, kind) else [])
                allowed.append(StrOptions(names))
            case "integer":
                allowed.append(_interval(Integral, parameter["range"]))
            case "real":
                allowed.append(_interval(Real, parameter["range"]))
            case "reals":
                allowed.append("array-like")
    return allowed


def _is_none(parameter: dict[str, Any], kind: dict[str, Any]) -> bool:
    return all(other["type"] != "none" for other in parameter["kinds"])


def _interval(numbers: Any, limits: dict[str, Any]) -> Interval:
    low, high = limits["low"], limits["high"]
    left = limits["includes_low"] or low is None
    right = limits["includes_high"]
    if numbers is Integral:
        low = None if low is None else int(low)
        high, right = (LARGEST_INTEGER, True) if high is None else (int(high), right)
    closed = {(True, True): "both", (True, False): "left", (False, True): "right", (False, False): "neither"}
    return Interval(numbers, low, high, closed=closed[left and low is not None, right])


def choices(method: str, name: str) -> set[str]:
    """The names that a parameter takes."""
    kinds = declared(method)[name]["kinds"]
    return {value["name"] for kind in kinds for value in kind.get("values", ())}


def native_value(method: str, name: str, value: Any) -> Any:
    """A parameter's value as the core reads it."""
    kinds = {kind["type"] for kind in declared(method)[name]["kinds"]}
    if value is None:
        return None if "none" in kinds else "none"
    if isinstance(value, str):
        return value
    if kinds == {"boolean"} or (kinds == {"boolean", "none"}):
        return bool(value)
    if isinstance(value, Integral) and "integer" in kinds:
        return int(value)
    return float(value)


def document(cls: type) -> None:
    """Fill ``{parameters}`` and ``{attributes}`` in a class's docstring."""
    # Without docstrings (python -OO) there is nothing to fill.
    if not cls.__doc__ or "{parameters}" not in cls.__doc__:
        return
    notes: Mapping[str, str] = getattr(cls, "_parameter_notes", {})
    method: str | None = getattr(cls, "_catalog_name", None)
    entries = []
    for name, argument in inspect.signature(cls.__init__).parameters.items():
        if name != "self":
            entries.append(_entry(method, name, argument.default, notes.get(name, "")))
    attributes = [_paragraph(name, *ATTRIBUTES[name]) for name in _attributes(cls)]
    text = cls.__doc__.replace("    {parameters}", "\n".join(entries))
    cls.__doc__ = text.replace("    {attributes}", "\n".join(attributes))


def _attributes(cls: Any) -> Iterator[str]:
    yield from getattr(cls, "_fitted", ())
    yield from COMMON


def _entry(method: str | None, name: str, default: Any, note: str) -> str:
    own = declared(method).get(name) if method else None
    if own is None or name in ("kernel",):
        kind, text = SHARED[name]
        kind = kind.rsplit("default=", 1)[0] + f"default={_quoted(default)}"
    else:
        kind, text = f"{_kind(own)}, default={_quoted(default)}", own["description"]
    values = [value for kinds in (own or {}).get("kinds", ()) for value in kinds.get("values", ())]
    listed = "".join(f'\n"{value["name"]}": {value["description"]}' for value in values) if own else ""
    return _paragraph(name, kind, f"{text} {note}".strip(), listed)


def _kind(parameter: dict[str, Any]) -> str:
    words = {"boolean": "bool", "integer": "int", "real": "float", "reals": "array-like", "none": "None"}
    parts = []
    for kind in parameter["kinds"]:
        if kind["type"] == "choice":
            parts.append("{" + ", ".join(f'"{value["name"]}"' for value in kind["values"]) + "}")
        else:
            parts.append(words[kind["type"]])
    return " or ".join(parts)


def _quoted(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _paragraph(name: str, kind: str, text: str, listed: str = "") -> str:
    lines = textwrap.wrap(text, 100)
    for line in listed.strip().splitlines():
        lines += ["", *textwrap.wrap(f"- {line}", 100, subsequent_indent="  ")]
    body = "\n".join(f"        {line}".rstrip() for line in lines)
    return f"    {name} : {kind}\n{body}"
