"""Comparison of methods: the cross-validated score of each method by number of features."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

from kernsift import _native
from kernsift._base import RUN_CONSTRAINTS
from kernsift._html import escaped, table
from kernsift._native_data import (
    Classes,
    FloatArray,
    IntArray,
    NamedRows,
    checked_array,
    native_classes,
    native_rows,
    settings,
    to_json,
)
from kernsift._parameters import documented
from kernsift._selected import MAX_NAME_LENGTH
from kernsift._selector import BaseSelector
from kernsift._sklearn import Interval, InvalidParameterError, StrOptions, _get_feature_names, validate_params
from kernsift._space import BaseSpace
from kernsift.plots import MARKERS, axes, finished, legend_label, line_style

__all__ = ["CompareResult", "compare"]

#: Scores: label, and whether smaller is better.
SCORES = {
    "error": ("error", True),
    "balanced-accuracy": ("balanced accuracy", False),
    "auc": ("area under the curve", False),
    "r2": ("explained variance", False),
}
#: Significance level of the mark for scores worse than the best.
LEVEL = 0.05
#: The label of all features together.
ALL_FEATURES = "all-features"


@validate_params(
    {
        "X": ["array-like", "sparse matrix"],
        "y": ["array-like"],
        "methods": [str, "array-like", dict, BaseSelector, BaseSpace],
        "n_features": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object"],
        "repeats": [Interval(Integral, 1, None, closed="left")],
        "evaluator": [str, dict, None],
        "scoring": [str, None],
        "target_type": [StrOptions({"auto", "class", "number"})],
        "standardize": ["boolean"],
        "missing": [StrOptions({"error", "mean", "median"})],
        "baseline": ["boolean"],
        "name": [str],
        "record": [str, os.PathLike, None],
        **RUN_CONSTRAINTS,
    },
    prefer_skip_nested_validation=True,
)
@documented()
def compare(
    X: Any,
    y: Any,
    methods: Any = "all",
    n_features: Any = None,
    cv: Any = 5,
    *,
    repeats: int = 1,
    evaluator: str | Mapping[str, Any] | None = None,
    scoring: str | None = None,
    target_type: str = "auto",
    standardize: bool = True,
    missing: str = "error",
    baseline: bool = True,
    name: str = "X",
    record: str | os.PathLike[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> CompareResult:
    """Compare methods: cross-validated score by number of features.

    In every split, imputation, scaling, selection and the evaluator with its hyperparameters are fitted to
    the training samples only.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples. The column names of a data frame are used.
    y : array-like of shape (n_samples,)
        Class labels or a continuous target.
    methods : "all", str, estimator, list of those, or dict, default="all"
        The methods to compare. "all" is every feature selector that supports this target, with its defaults.
        A str is a method's name on the command line, optionally with parameters: ``"relief:n_neighbors=5"``;
        "random" selects features at random. An estimator is a selector of this package, of features or in
        kernel space; only its parameters are used, it is not fitted. A dict gives them labels.
    n_features : int, list of int or None, default=None
        Numbers of features to select; None is 1 to 10, or to the number of features.
    cv : int, splitter, or iterable of pairs, default=5
        Number of stratified folds, a splitter of scikit-learn, or pairs of training and test indices.
    repeats : int, default=1
        Number of repetitions of the folds, if `cv` is an int.
    evaluator : str, dict or None, default=None
        Estimator used for evaluation: "svm", "linear-svm", "knn" or "kernel-knn"; for a continuous target
        "ridge" or "knn". None is "svm", for a continuous target "ridge". A dict has the name as "name", and
        its parameters: "c", "gamma" and "folds" of "svm", "n_neighbors" of the nearest neighbors, "penalties"
        and "gamma" of "ridge": ``{"name": "svm", "c": [1, 10]}``. Several values are chosen from by
        cross-validation on the training samples.
    scoring : {"error", "balanced-accuracy", "auc", "r2"} or None, default=None
        The score of tables and plots; all are recorded. None is "error", for a continuous target "r2".
    {target_type}
    standardize : bool, default=True
        Whether to scale features to variance 1, fitted to the training samples of each split.
    missing : {"error", "mean", "median"}, default="error"
        How to handle missing values in `X`: raise an error, or impute, fitted to the training samples of each
        split.
    baseline : bool, default=True
        Whether to evaluate all features together as well.
    name : str, default="X"
        Name of the data in the results log and the report.
    record : path or None, default=None
        File of the results log, one JSON object per line. If it exists, the comparison resumes; methods and
        numbers of features may be added. A log of other data, splits or settings is an error.
    {random_state}
        With an existing `record`, None is its seed.
    {n_jobs}
    {verbose}

    Returns
    -------
    result : CompareResult
        With ``table()``, ``plot()``, ``to_html()``, and the records.

    Notes
    -----
    A method that fails in a split has no score there; ``result.summary`` has the number of failures and their
    reason. `n_jobs` and `verbose` of an estimator are not used.

    Examples
    --------
    >>> from kernsift import ReliefF, compare, load_dataset
    >>> wine = load_dataset("wine")
    >>> result = compare(wine.data, wine.target, ["fisher", ReliefF()], [1, 2, 4], random_state=0)
    >>> print(result)
    error in % of svm, 5 splits of 178 samples and 13 features
    features             1             2           4
    fisher     20.7 ± 9.7*   12.3 ± 5.8*  4.5 ± 5.8*
    ReliefF   32.5 ± 13.9   15.7 ± 10.4   5.6 ± 3.5
    * best of the column; - worse than the best (paired test, p < 0.05)
    all features: 1.7 ± 1.5
    """
    x, names = _rows(X, missing)
    target, numbers = _target(y, target_type)
    check_consistent_length(x, y)
    scoring = _checked_scoring(scoring, numbers)
    counts = _counts(n_features, x.shape[1])
    folds, splits = _splits(cv, int(repeats), X, y)
    if random_state is None and record is not None:
        random_state = _recorded_seed(Path(record))
    run = settings(random_state, n_jobs, verbose)
    plan = {
        "methods": _methods(methods, standardize, random_state),
        "counts": counts,
        "splits": {"folds": {"folds": folds, "repeats": int(repeats)}},
        "evaluator": _evaluator(evaluator),
        "standardize": bool(standardize),
        "fill": None if missing == "error" else missing,
        "baseline": bool(baseline),
        "name": name,
    }
    text, costs, labels = _native.compare(
        to_json(plan),
        native_rows(x),
        names,
        target,
        splits,
        None if record is None else os.fspath(record),
        run,
    )
    code = _as_code(
        {"methods": methods, "n_features": counts, "cv": cv, "repeats": repeats, "evaluator": evaluator}
        | {"scoring": scoring, "target_type": target_type, "standardize": standardize, "missing": missing}
        | {"baseline": baseline, "name": name, "random_state": run.seed}
    )
    return CompareResult(text, costs, labels, counts, scoring, code)


def _as_code(arguments: Mapping[str, Any]) -> str:
    """The call that repeats the comparison, with the repr of its arguments."""
    defaults = {name: parameter.default for name, parameter in signature(compare).parameters.items()}
    changed = [
        f"{name}={value!r}" for name, value in arguments.items() if repr(value) != repr(defaults[name])
    ]
    return f"kernsift.compare(X, y, {', '.join(changed)})"


class CompareResult:
    """Result of :func:`compare`.

    It can be pickled, and does not contain `X`.

    Attributes
    ----------
    methods : list of str
        Labels of the methods, in the given order.
    n_features : list of int
        Numbers of features, increasing.
    scoring : str
        The default score of tables and plots.
    run : dict
        Data, seed, evaluator, and as "folds" the test indices of every split.
    records : list of dict
        One per method, split and number of features: "method", "repeat", "fold", "k", the scores ("error",
        "balanced_accuracy", "auc" or "r2"), the hyperparameters of the evaluator, and the selected features,
        best first. All features together are the method "all-features".
    costs : list of dict
        Seconds and memory per method and split.
    summary : dict
        Means, standard deviations and p-values as in :meth:`table`, with mean costs and failures.

    Examples
    --------
    >>> from kernsift import compare, load_dataset
    >>> wine = load_dataset("wine")
    >>> options = {"evaluator": "knn", "random_state": 0}
    >>> result = compare(wine.data, wine.target, ["fisher", "relief"], [1, 2], **options)
    >>> result.methods, result.n_features, len(result.records)
    (['fisher', 'relief'], [1, 2], 25)
    >>> page = result.to_html()
    """

    def __init__(
        self,
        text: str,
        costs: str,
        labels: Sequence[str],
        counts: Sequence[int],
        scoring: str,
        code: str = "",
    ) -> None:
        self._text = text
        self._code = code
        self._costs = costs
        self.methods = list(labels)
        self.n_features = sorted(set(counts))
        self.scoring = scoring
        # Not splitlines: names may contain other line separators.
        lines = [json.loads(line) for line in text.split("\n") if line]
        self.run: dict[str, Any] = lines[0]
        shown = {*self.methods, ALL_FEATURES}
        kinds = [(line.pop("kind"), line) for line in lines]
        self.records: list[dict[str, Any]] = [
            line
            for kind, line in kinds
            if kind == "result"
            and line["method"] in shown
            and (line["method"] == ALL_FEATURES or line["k"] in self.n_features)
        ]
        self.costs: list[dict[str, Any]] = [
            cost for cost in map(json.loads, filter(None, costs.split("\n"))) if cost["method"] in shown
        ]
        self.summary = self._summary(scoring)

    def table(self, scoring: str | None = None, values: str = "text") -> Any:
        """Make a data frame with a row per method and a column per number of features.

        Parameters
        ----------
        scoring : {"error", "balanced-accuracy", "auc", "r2"} or None, default=None
            The score; None is :attr:`scoring`.
        values : {"text", "mean", "sd", "p"}, default="text"
            "text": mean ± standard deviation over splits in %, with * for the best of a column and - for
            scores that are worse (p < 0.05). "mean", "sd" and "p" are numbers, not in %; "p" is the p-value
            of the corrected paired test (Nadeau and Bengio, 2003) against the best of the column, NaN for the
            best.

        Returns
        -------
        table : pandas.DataFrame
            The table; needs pandas. :attr:`summary` has the same numbers.
        """
        if values not in ("text", "mean", "sd", "p"):
            raise ValueError(f"values must be 'text', 'mean', 'sd' or 'p', got {values!r}.")
        try:
            import pandas
        except ImportError as error:
            raise ImportError("table() needs pandas; `summary` has the same numbers.") from error
        summary = self._summary(scoring)
        empty: Any = "" if values == "text" else np.nan

        def cell(found: dict[str, Any] | None) -> Any:
            if found is None:
                return empty
            if values == "text":
                return _marked(found)
            return np.nan if found[values] is None else found[values]

        rows = [[cell(found) for found in method["cells"]] for method in summary["methods"]]
        index = pandas.Index(self.methods, name="method")
        return pandas.DataFrame(rows, index=index, columns=pandas.Index(self.n_features, name="n_features"))

    def plot(self, ax: Any = None, scoring: str | None = None, *, show_std: bool | None = None) -> Any:
        """Draw the score against the number of features.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on; None creates a figure.
        scoring : {"error", "balanced-accuracy", "auc", "r2"} or None, default=None
            The score; None is :attr:`scoring`.
        show_std : bool or None, default=None
            Whether to draw error bars of one standard deviation over splits; None draws them for up to five
            methods.

        Returns
        -------
        ax : matplotlib axes
            With one line per method, and a dashed line for all features together. Needs matplotlib.
        """
        ax = axes(ax, who="plot()")
        summary = self._summary(scoring)
        show_std = len(self.methods) <= 5 if show_std is None else show_std
        for place, method in enumerate(summary["methods"]):
            _draw(ax, place, method, self.n_features, show_std)
        if summary["all_features"] is not None:
            label = f"all {self.run['fingerprint']['columns']} features"
            ax.axhline(100 * summary["all_features"]["mean"], color="0.5", linestyle="--", label=label)
        ax.set_xlabel("number of features")
        ax.set_ylabel(f"{SCORES[summary['measure']][0]}, %")
        if len(self.n_features) <= 15:
            ax.set_xticks(self.n_features)
        return finished(ax)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str | None:
        """Make a report as one self-contained HTML page: chart, table, costs, selected features.

        Parameters
        ----------
        path : path or None, default=None
            The file to write; None returns the text.
        title : str or None, default=None
            The title.

        Returns
        -------
        page : str or None
            The HTML text if `path` is None.
        """
        if title is None:
            title = f"Features of {self.run['data']}"
        page = _native.compare_page(
            self._text, self._costs, self.methods, self.n_features, self.scoring, title, self._code
        )
        if path is None:
            return page
        _native.write_text(os.fspath(path), page)
        return None

    def _summary(self, scoring: str | None) -> dict[str, Any]:
        if scoring is None:
            scoring = self.scoring
        scoring = _checked_scoring(scoring, self.scoring == "r2")
        made: dict[str, Any] = json.loads(
            _native.summarize(self._text, self._costs, self.methods, self.n_features, scoring)
        )
        return made

    def _about(self) -> str:
        seen = self.run["fingerprint"]
        return (
            f"{SCORES[self.scoring][0]} in % of {self.run['evaluator']['name']}, "
            f"{len(self.run['folds'])} splits of {seen['rows']} samples and {seen['columns']} features"
        )

    def __repr__(self) -> str:
        heads = ["features", *map(str, self.n_features)]
        rows = [
            [method["label"], *("" if c is None else _marked(c) for c in method["cells"])]
            for method in self.summary["methods"]
        ]
        # Numbers are aligned without the marks.
        rows = [[row[0], *(c if c[-1:] in ("*", "-", "") else c + " " for c in row[1:])] for row in rows]
        widths = [max(len(row[j]) for row in [heads, *rows]) for j in range(len(heads))]
        lines = [self._about()]
        for row in [heads, *rows]:
            first = row[0].ljust(widths[0])
            lines.append(
                "  ".join([first, *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
            )
        lines.append("* best of the column; - worse than the best (paired test, p < 0.05)")
        if self.summary["all_features"] is not None:
            lines.append(f"all features: {_plain(self.summary['all_features'])}")
        failed = [m for m in self.summary["methods"] if m["failed"]]
        lines += [f"{m['label']}: {m['failed']} results failed: {m['failure']}" for m in failed]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [escaped(method["label"]), *(_html_cell(found) for found in method["cells"])]
            for method in self.summary["methods"]
        ]
        notes = "* best of the column; - worse than the best (paired test, p &lt; 0.05)"
        if self.summary["all_features"] is not None:
            notes += f"; all features: {_plain(self.summary['all_features'])}"
        return (
            table(rows, ["features", *map(str, self.n_features)], escaped(self._about())) + f"<p>{notes}</p>"
        )


def _plain(cell: Mapping[str, Any]) -> str:
    some = "" if cell["splits"] == cell["of"] else f" ({cell['splits']}/{cell['of']})"
    return f"{100 * cell['mean']:.1f} ± {100 * cell['sd']:.1f}{some}"


def _marked(cell: Mapping[str, Any]) -> str:
    if cell["best"]:
        return _plain(cell) + "*"
    worse = cell["p"] is not None and cell["p"] < LEVEL
    return _plain(cell) + ("-" if worse else "")


def _html_cell(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return ""
    text = _marked(cell)
    return f"<strong>{text}</strong>" if cell["best"] else text


def _draw(ax: Any, place: int, method: Mapping[str, Any], counts: Sequence[int], show_std: bool) -> None:
    """Draws the line of one method with its color, marker and dashes."""
    cells = method["cells"]

    def values(name: str) -> FloatArray:
        return np.array([np.nan if c is None else 100 * c[name] for c in cells])

    ax.errorbar(
        counts,
        values("mean"),
        yerr=values("sd") if show_std else None,
        marker=MARKERS[place % len(MARKERS)],
        capsize=2,
        elinewidth=0.8,
        label=legend_label(method["label"], 2 * MAX_NAME_LENGTH),
        **line_style(place),
    )


def _rows(X: Any, missing: str) -> tuple[Any, list[str]]:
    """Validated samples and their feature names."""
    if isinstance(X, NamedRows):
        return X
    names = _get_feature_names(X)
    finite = True if missing == "error" else "allow-nan"
    x = checked_array(X, ensure_min_samples=2, ensure_all_finite=finite)
    if names is None:
        return x, [f"x{j}" for j in range(x.shape[1])]
    return x, [str(name) for name in names]


def _target(y: Any, target_type: str) -> tuple[Classes | FloatArray, bool]:
    """The target in the form of the native module, and whether it is continuous."""
    y = column_or_1d(y, warn=True)
    kind = type_of_target(y, input_name="y")
    if target_type == "number" or (target_type == "auto" and kind == "continuous"):
        numbers: FloatArray = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        return numbers, True
    if kind not in ("binary", "multiclass", "continuous"):
        raise ValueError(f"y must have one class label or one number per sample, got {kind!r}.")
    return native_classes(y)[1], False


def _checked_scoring(scoring: str | None, numbers: bool) -> str:
    if scoring is None:
        return "r2" if numbers else "error"
    name = scoring.replace("_", "-")
    fitting = ["r2"] if numbers else [known for known in SCORES if known != "r2"]
    if name not in fitting:
        what = "a continuous target" if numbers else "class labels"
        raise ValueError(f"scoring must be {' or '.join(map(repr, fitting))} for {what}, got {scoring!r}.")
    return name


def _counts(n_features: Any, n_columns: int) -> list[int]:
    if n_features is None:
        return list(range(1, min(10, n_columns) + 1))
    given = [n_features] if isinstance(n_features, Integral) else list(n_features)
    if not given or not all(isinstance(k, Integral) and int(k) >= 1 for k in given):
        raise ValueError(f"n_features must be one or more integers from 1, got {n_features!r}.")
    return sorted({int(k) for k in given})


def _splits(cv: Any, repeats: int, X: Any, y: Any) -> tuple[int, list[tuple[IntArray, IntArray]] | None]:
    """The number of folds, and the splits if they are given."""
    if isinstance(cv, Integral):
        return int(cv), None
    if repeats != 1:
        raise ValueError(
            f"repeats={repeats} needs an int as cv; for other splits use a splitter that repeats."
        )
    given = cv.split(X, y) if hasattr(cv, "split") else cv
    splits = []
    for pair in given:
        try:
            train, test = pair
        except (TypeError, ValueError) as error:
            raise ValueError("cv must yield pairs of training and test indices.") from error
        splits.append((_indices(train), _indices(test)))
    if not splits:
        raise ValueError("cv yields no splits.")
    return 2, splits


def _indices(rows: Any) -> IntArray:
    """Sorted indices of one side of a split."""
    rows = np.asarray(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(
            f"cv must yield one-dimensional integer arrays, got {rows.dtype} of shape {rows.shape}."
        )
    ordered: IntArray = np.sort(rows).astype(np.int64)
    return ordered


def _methods(methods: Any, standardize: bool, random_state: Any) -> list[Any]:
    """The methods in the form of the native module."""
    if isinstance(methods, Mapping):
        return [_requested(str(label), method, standardize, random_state) for label, method in methods.items()]
    if isinstance(methods, str | BaseSelector | BaseSpace):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise ValueError(f"methods must be names, estimators or a dict of them, got {methods!r}.")
    requested: list[Any] = []
    labels: set[str] = set()
    for method in methods:
        label = None if isinstance(method, str) else _label(method, labels)
        labels |= {method if label is None else label}
        requested.append(_requested(label, method, standardize, random_state))
    return requested


def _label(estimator: Any, taken: set[str]) -> str:
    """The repr of an estimator, made unique."""
    name = " ".join(repr(estimator).split()).removesuffix("()")
    label, times = name, 1
    while label in taken:
        times += 1
        label = f"{name} ({times})"
    return label


def _requested(label: str | None, method: Any, standardize: bool, random_state: Any) -> Any:
    if isinstance(method, str):
        return "all" if method == "all" and label is None else {"named": {"label": label, "text": method}}
    if isinstance(method, BaseSelector | BaseSpace):
        _check_parameters_set_by_compare(method, standardize, random_state)
        return {"method": {"label": label, "method": _form(method)}}
    raise ValueError(
        f"methods must be names or selectors of kernsift, got {method!r}; "
        "a basis or classifier is not a selector."
    )


def _form(estimator: BaseSelector | BaseSpace) -> dict[str, Any]:
    """An estimator's parameters in the core's serialized form."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        # This error type would name a parameter of compare.
        raise ValueError(str(error)) from None
    if isinstance(estimator, BaseSelector):
        return {"columns": {"method": estimator._method, **estimator._own_parameters()}}
    if estimator._unfitted_basis()._threshold_function() is not None:
        raise ValueError("a callable threshold cannot be recorded. Use a named one or a number.")
    return {"space": estimator._form()}


def _check_parameters_set_by_compare(estimator: Any, standardize: bool, random_state: Any) -> None:
    """Raises for parameters that compare would override."""
    name = type(estimator).__name__
    if estimator.n_features_to_select is not None:
        raise ValueError(
            f"compare sets 'n_features_to_select' of {name} by n_features. Leave it at its default."
        )
    if standardize and not estimator.standardize:
        raise ValueError(
            f"compare scales features for all methods. Leave 'standardize' of {name} at its default."
        )
    given = estimator.random_state
    if given is not None and (not isinstance(given, Integral) or given != random_state):
        raise ValueError(
            f"compare has one random_state for all methods. Leave that of {name} at its default."
        )


def _evaluator(evaluator: str | Mapping[str, Any] | None) -> dict[str, Any] | None:
    if evaluator is None:
        return None
    if isinstance(evaluator, str):
        return {"name": evaluator}

    def plain(key: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(name): plain(str(name), inner) for name, inner in value.items()}
        if isinstance(value, np.ndarray | list | tuple):
            return [plain(key, one) for one in value]
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, Integral) and key != "gamma":
            return int(value)
        if isinstance(value, Real):
            # The core distinguishes names and floats.
            return float(value)
        return value

    return {str(key): plain(str(key), value) for key, value in evaluator.items()}


def _recorded_seed(path: Path) -> int | None:
    """The seed of an existing results log, if it can be read."""
    try:
        with path.open(encoding="utf-8") as file:
            seed: int = json.loads(file.readline())["seed"]
            return seed
    except (OSError, ValueError, KeyError, TypeError):
        # There is none, or the core reports what is wrong when it opens the file.
        return None
