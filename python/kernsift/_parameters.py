"""Parameters of estimators: constraints and documentation, from the declarations in Rust.

A method's own parameters are declared once, in Rust, with type, range, default and description. Parameters
and fitted attributes that estimators share are described once, here. :func:`document` fills both into
docstrings.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from kernsift import _native
from kernsift._sklearn import Interval, StrOptions

#: Integers above this do not survive a conversion to float.
LARGEST_INTEGER = 2**53

#: Documentation by name of a parameter or attribute: the type, then the description. A line of the
#: description that starts with "- " is an item of a list.
Docs = Mapping[str, tuple[str, str]]

_ROWS = "{array-like, sparse matrix} of shape"

#: Parameters and return values that estimators and functions share. A type "name : type" is for a name that
#: differs from the key.
SHARED: Docs = {
    "X": (f"{_ROWS} (n_samples, n_features)", "Samples."),
    "X_train": (f"X : {_ROWS} (n_samples, n_features)", "Training samples."),
    "X_gram": (f"X : {_ROWS} (n_samples_X, n_features)", "Samples."),
    "Z": (f"{_ROWS} (n_samples_Z, n_features)", "Samples to compare with; None is `X`."),
    "K": ("ndarray of shape (n_samples_X, n_samples_Z)", "The kernel values of the samples of `X` and `Z`."),
    "labels": ("y : array-like of shape (n_samples,)", "Class labels."),
    "target": ("y : array-like of shape (n_samples,)", "Class labels or a continuous target."),
    "targets": (
        "y : array-like of shape (n_samples,) or (n_samples, n_outputs)",
        "Class labels, or a continuous target of one or several columns.",
    ),
    "predicted": (
        "y : ndarray of shape (n_samples,)",
        "Predicted class labels. Ties are broken by the nearest neighbor.",
    ),
    "self": ("object", "The fitted estimator."),
    "n_features_to_select": (
        "int, float or None",
        "Number of features to select: int (count), float in (0, 1] (fraction), or None (chosen "
        "automatically).",
    ),
    "kernel": (
        '{"rbf", "linear", "poly", "laplacian"} or Kernel',
        "The kernel, by name or as an object of :mod:`kernsift.kernels`.",
    ),
    "standardize": (
        "bool",
        "Whether to scale features to mean 0 and variance 1 first; features of a sparse matrix are not "
        "centered.",
    ),
    "target_type": (
        '{"auto", "class", "number"}',
        'What `y` holds: class labels or a continuous target. With "auto", text, booleans and integers with '
        "few values are class labels: at most 20 different integers with two samples of each on average, or "
        "at most 100 integers 0, 1, 2, ... or 1, 2, 3, ... with ten samples of each. Other numbers and dates "
        "are continuous.",
    ),
    "sample_weight": (
        "array-like of shape (n_samples,)",
        "Weights of the samples, 0 or more: weight 2 means that the sample is there twice. None is 1 for "
        "all. A pipeline or search passes them if they are requested: "
        "``set_fit_request(sample_weight=True)``.",
    ),
    "n_triplets": ("int", "Number of triplets to draw if `y` holds labels."),
    "tuned": (
        "bool",
        "Whether to choose gamma (around the given one), the weights, the number of directions (unless "
        "`n_features_to_select` is given) and the number of neighbors by cross-validation on the training "
        "samples, with balanced stumps. The choice is used only if it is clearly better than nearest "
        "neighbors in the complete kernel space. The parameters that are chosen must keep their defaults.",
    ),
    "random_state": (
        "int, RandomState instance or None",
        "Seed of the random number generator. Pass an int for the same result in every call.",
    ),
    "n_jobs": (
        "int",
        "Number of threads; None or -1 uses all cores. In a worker process of joblib, None uses the cores "
        "that joblib assigns to the worker. Results do not depend on it.",
    ),
    "verbose": ("int", "Above 0, progress is written to stderr once a second, and the time at the end."),
    "include": (
        "str or list of str",
        "Columns of a data frame to use, also if they are constant, identifiers, free text or duplicates: "
        "names, patterns with ``*`` and ``?``, or ranges ``first:last``.",
    ),
    "exclude": ("str or list of str", "Columns of a data frame not to use, unless they are included."),
    "id": ("str or list of str", "Columns of a data frame that identify samples, which are not used."),
    "types": (
        "dict or None",
        'Types of columns of a data frame: "number", "category", "ordered", "ordered:low<middle<high", '
        '"boolean", "date", "date+month+weekday+hour" (with some of these periods), "text" or "id".',
    ),
    "ax": ("matplotlib axes or None", "The axes to draw on; None creates a figure."),
    "path": ("path or None", "The file to write; None returns the text."),
    "page": ("str or None", "The HTML text if `path` is None."),
}

#: Fitted attributes that estimators share.
ATTRIBUTES: Docs = {
    "support_": ("ndarray of shape (n_features_in_,)", "Mask of the selected features."),
    "scores_": (
        "ndarray of shape (n_features_in_,)",
        "Score of each feature, larger is better; 0 if it was dropped.",
    ),
    "ranking_": ("ndarray of shape (n_features_in_,)", "Rank of each feature; 1 is best."),
    "order_": (
        "ndarray of shape (n_features_in_,)",
        "Feature indices, best first. Ties are broken by column order.",
    ),
    "classes_": ("ndarray of shape (n_classes,)", "Class labels, if the target has classes."),
    "target_type_": ("str", 'What `y` holds: "class" or "number" (a continuous target).'),
    "error_curve_": ("ndarray", "Training error by number of features."),
    "coef_": ("ndarray of shape (n_features_in_, n_directions)", "Weights of the features."),
    "n_samples_used_": (
        "int",
        "Number of samples used: all, or the size of the random sample of larger data; see `exact`.",
    ),
    "path_": (
        "Bunch",
        "The regularization path, an entry per step: `strength`, `objective`, `optimality`, `n_iter`, "
        "`stop`, `n_features`, `features` (largest weight first) and `weights`.",
    ),
    "n_components_": ("int", "Number of components."),
    "kernel_": ("Kernel", "The kernel, with gamma as a number."),
    "gamma_": ("float", "Gamma of `kernel_`, if it has one."),
    "mean_": (
        "ndarray of shape (n_features_in_,) or None",
        "Means that are subtracted from the features; None without `standardize`, and for a data frame with "
        "categories or missing values, which are encoded as several columns.",
    ),
    "scale_": (
        "ndarray of shape (n_features_in_,) or None",
        "Standard deviations by which the features are divided; None where `mean_` is.",
    ),
    "n_iter_": ("int", "Number of iterations."),
    "converged_": ("bool", "Whether the stopping criterion was met."),
    "n_features_in_": ("int", "Number of features seen during :term:`fit`."),
    "feature_names_in_": (
        "ndarray of shape (n_features_in_,)",
        "Names of features seen during :term:`fit`, if all are strings.",
    ),
}

#: Attributes that every iterative estimator has.
COMMON = ("n_iter_", "converged_", "n_features_in_", "feature_names_in_")

#: References of several docstrings.
REFERENCES = {
    "Cao2007": 'Cao, Shen, Sun, Yang and Chen, "Feature selection in a kernel space", ICML 2007.',
    "Masaeli2010": 'Masaeli, Fung and Dy, "From transformation-based dimensionality reduction to feature '
    'selection", ICML 2010.',
    "Song2012": 'Song, Smola, Gretton, Bedo and Borgwardt, "Feature selection via dependence maximization", '
    "2012.",
    "Xu2010": 'Xu and others, "TAKES: a fast method to select features in the kernel space", CIKM 2010.',
}

#: Constraints of the choice of columns.
COLUMN_CONSTRAINTS: dict[str, list[Any]] = {
    "include": [str, "array-like"],
    "exclude": [str, "array-like"],
    "id": [str, "array-like"],
    "types": [dict, None],
}

_PLACEHOLDER = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)
#: Sections of the docstring of a class; a class with entries of its own writes them out.
_SECTIONS = "Parameters\n----------\n{parameters}\n\nAttributes\n----------\n{attributes}"
_BOTH = re.compile(r"^( *)\{parameters and attributes\}$", re.MULTILINE)
_REFERENCE = re.compile(r"^( *)(\.\. \[\d+\] )\{(\w+)\}$", re.MULTILINE)
_Function = TypeVar("_Function", bound=Callable[..., Any])


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
                allowed.extend([None] if "none" in names and _is_none(parameter) else [])
                allowed.append(StrOptions(names))
            case "integer":
                allowed.append(_interval(Integral, parameter["range"]))
            case "real":
                allowed.append(_interval(Real, parameter["range"]))
            case "reals" | "choices":
                allowed.append("array-like")
    return allowed


def _is_none(parameter: dict[str, Any]) -> bool:
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
    if "reals" in kinds and not isinstance(value, Real):
        return _numbers(name, value)
    return float(value)


def _numbers(name: str, values: Any) -> list[float]:
    numbers = np.asarray(values)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite numbers, got {values!r}.")
    return [float(number) for number in numbers]


def document(cls: Any) -> None:
    """Fill the placeholders in the docstrings of a class and its methods.

    A line ``{name}`` stands for the documentation of one parameter, attribute or return value; an indented
    line after it continues the description. ``{parameters}`` stands for all parameters, ``{attributes}`` for
    those in `_fitted` and `_common_attributes`, and ``{parameters and attributes}`` for both sections. Texts
    come from `_docs` of the class and its bases, from the declarations in Rust, and from `SHARED` and
    `ATTRIBUTES`; `_parameter_notes` adds to them. ``.. [1] {name}`` is one of `REFERENCES`.
    """
    docs: dict[str, tuple[str, str]] = {**SHARED, **ATTRIBUTES}
    method: str | None = getattr(cls, "_catalog_name", None)
    if method:
        docs |= core_docs(method)
    for base in reversed(cls.__mro__):
        docs |= base.__dict__.get("_docs", {})
    notes: Mapping[str, str] = getattr(cls, "_parameter_notes", {})
    docs |= {name: (docs[name][0], f"{docs[name][1]}\n{note}") for name, note in notes.items()}
    fitted = (*getattr(cls, "_fitted", ()), *getattr(cls, "_common_attributes", COMMON))
    _fill(cls, cls.__init__, docs, fitted)
    for function in filter(inspect.isfunction, cls.__dict__.values()):
        _fill(function, function, docs)


def documented(docs: Docs | None = None) -> Callable[[_Function], _Function]:
    """Fill the placeholders in a function's docstring, see :func:`document`; `docs` adds to `SHARED`."""

    def fill(function: _Function) -> _Function:
        _fill(function, function, {**SHARED, **(docs or {})})
        return function

    return fill


def core_docs(method: str) -> dict[str, tuple[str, str]]:
    """Documentation of the parameters that a method declares in Rust."""
    docs = {name: _core_doc(parameter) for name, parameter in declared(method).items()}
    if "kernel" in docs and docs["kernel"][0] in SHARED["kernel"][0]:
        # Such a kernel may also be an object.
        del docs["kernel"]
    return docs


def _fill(thing: Any, function: Callable[..., Any], docs: Docs, fitted: Iterable[str] = ()) -> None:
    # Without docstrings (python -OO) there is nothing to fill.
    if "{" not in (thing.__doc__ or ""):
        return
    arguments = inspect.signature(function).parameters

    def entry(key: str) -> str:
        kind, text = docs[key]
        name, kind = kind.split(" : ") if " : " in kind else (key, kind)
        default = arguments[name].default if name in arguments else inspect.Parameter.empty
        suffix = "" if default is inspect.Parameter.empty else f", default={_quoted(default)}"
        return _paragraph(name, kind + suffix, text)

    def entries(match: re.Match[str]) -> str:
        indent, name = match.groups()
        groups = {"parameters": [each for each in arguments if each != "self"], "attributes": fitted}
        # Docstrings of a user's subclass may have other words in braces.
        keys = groups.get(name, [name] if name in docs else [])
        return textwrap.indent("\n".join(map(entry, keys)), indent) or match[0]

    def reference(match: re.Match[str]) -> str:
        indent, number, name = match.groups()
        if name not in REFERENCES:
            return match[0]
        text = textwrap.fill(number + REFERENCES[name], 100, subsequent_indent="   ")
        return textwrap.indent(text, indent)

    # Python 3.13 removes the indentation of docstrings.
    text = _BOTH.sub(lambda match: textwrap.indent(_SECTIONS, match[1]), thing.__doc__)
    thing.__doc__ = _REFERENCE.sub(reference, _PLACEHOLDER.sub(entries, text))


def _core_doc(parameter: dict[str, Any]) -> tuple[str, str]:
    values = [value for kind in parameter["kinds"] for value in kind.get("values", ())]
    listed = [f"- {_choice(value)}: {value['description']}" for value in values]
    description = re.sub(r"\bnone\b", "None", parameter["description"])
    return _kind(parameter), "\n".join([description, *listed])


def _kind(parameter: dict[str, Any]) -> str:
    words = {"boolean": "bool", "integer": "int", "real": "float", "reals": "list of float", "none": "None"}
    parts = []
    for kind in parameter["kinds"]:
        if kind["type"] in ("choice", "choices"):
            parts.append("{" + ", ".join(map(_choice, kind["values"])) + "}")
        else:
            parts.append(words[kind["type"]])
    return " or ".join(parts)


def _choice(value: dict[str, Any]) -> str:
    # What the core calls none is None in Python.
    return "None" if value["name"] == "none" else _quoted(value["name"])


def _quoted(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _paragraph(name: str, kind: str, text: str) -> str:
    lines = text.splitlines()
    items = [line for line in lines if line.startswith("- ")]
    body = textwrap.wrap(" ".join(line for line in lines if line not in items), 100)
    for item in items:
        body += ["", *textwrap.wrap(item, 100, subsequent_indent="  ")]
    return "\n".join([f"{name} : {kind}", *(f"    {line}".rstrip() for line in body)])
