"""Methods side by side: every method in every split with every number of features."""

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
from kernsift._base import RUN_CONSTRAINTS, BaseSelector, BaseSpace
from kernsift._crossing import (
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
from kernsift._html import escaped, table
from kernsift._kept import LONGEST
from kernsift._sklearn import Interval, InvalidParameterError, StrOptions, _get_feature_names, validate_params
from kernsift.plots import MARKERS, axes, finished, legend_label, line_style

__all__ = ["CompareResult", "compare"]

#: Scores by their names, with what they are called and whether less is better.
SCORES = {
    "error": ("error", True),
    "balanced-accuracy": ("balanced accuracy", False),
    "auc": ("area under the curve", False),
    "r2": ("explained variance", False),
}
#: A difference from the best is marked at this level.
LEVEL = 0.05
#: The label of all columns together.
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
    """Compare methods: an evaluator's score against the number of features, for each of them.

    In every split all that is learned from rows (fill values, scales, the selection, the evaluator and what it
    chooses) is learned from the training rows alone.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows. Names of a data frame's columns are used.
    y : array-like of shape (n_samples,)
        Classes of any kind, or numbers.
    methods : "all", str, estimator, list of those, or dict, default="all"
        What is compared. "all" is every method that selects columns and can use this target, with its
        defaults. A text is a method's name as the command line has it, perhaps with settings:
        ``"relief:n_neighbors=5"``; "random" keeps columns drawn by chance. An estimator is one of this
        package's selectors or selections in kernel space; only its settings are used, it is not fitted.
        A dict gives them labels.
    n_features : int, list of int or None, default=None
        Numbers of features that are kept; None is 1 to 10, or to the number of columns.
    cv : int, splitter, or iterable of pairs, default=5
        A number of folds, stratified by class; a splitter of scikit-learn; or pairs of training and test
        rows.
    repeats : int, default=1
        Deal the folds so many times; only for a number as `cv`.
    evaluator : str, dict or None, default=None
        Estimator used for evaluation: "svm", "linear-svm", "knn", "kernel-knn"; for numbers "ridge" or "knn". None is "svm",
        for numbers "ridge". A dict has the name under "name", and settings, for "svm" "c", "gamma" and
        "folds", for neighbours "n_neighbors", for "ridge" "penalties" and "gamma":
        ``{"name": "svm", "c": [1, 10]}``. Of several values the evaluator chooses inside the training rows.
    scoring : {"error", "balanced-accuracy", "auc", "r2"} or None, default=None
        The score that tables and pictures show; all are recorded. None is "error", for numbers "r2".
    target_type : {"auto", "class", "number"}, default="auto"
        What `y` is. "auto": numbers that are not whole are numbers, all else are classes.
    standardize : bool, default=True
        Scale columns to variance 1, by the training rows of each split.
    missing : {"error", "mean", "median"}, default="error"
        What becomes of NaN in `X`: refused, or filled by the training rows of each split.
    baseline : bool, default=True
        Evaluate all features together as well.
    name : str, default="X"
        What the record and the page call the data.
    record : path or None, default=None
        A file that keeps what is found, one JSON object per line. If it exists, the comparison goes on
        where it was stopped; more methods and numbers of features may be asked for. Other data, splits or
        settings are refused.
    random_state : int, RandomState instance or None, default=None
        For folds and for methods that draw. None is numpy's global generator, or what an existing `record`
        was made with.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second.

    Returns
    -------
    result : CompareResult
        With ``table()``, ``plot()``, ``to_html()``, and the records themselves.

    Notes
    -----
    A method that fails in a split has no score there; ``result.summary`` says how often, and why.
    `n_jobs` and `verbose` of an estimator are not used: those of this function are.

    Examples
    --------
    >>> from kernsift import ReliefF, compare, load_dataset
    >>> wine = load_dataset("wine")
    >>> result = compare(wine.data, wine.target, ["fisher", ReliefF()], [1, 2, 4], random_state=0)
    >>> print(result)
    error in % of svm, 5 splits of 178 rows and 13 columns
    features             1             2           4
    fisher     20.7 ± 9.7*   12.3 ± 5.8*  4.5 ± 5.8*
    ReliefF   32.5 ± 13.9   15.7 ± 10.4   5.6 ± 3.5
    * best with as many features; - worse than that one (paired test, p < 0.05)
    all columns: 1.7 ± 1.5
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
    again = _as_code(
        {"methods": methods, "n_features": counts, "cv": cv, "repeats": repeats, "evaluator": evaluator}
        | {"scoring": scoring, "target_type": target_type, "standardize": standardize, "missing": missing}
        | {"baseline": baseline, "name": name, "random_state": run.seed}
    )
    return CompareResult(text, costs, labels, counts, scoring, again)


def _as_code(arguments: Mapping[str, Any]) -> str:
    """The call that does it again, as far as its arguments can be written down."""
    usual = {name: parameter.default for name, parameter in signature(compare).parameters.items()}
    changed = [f"{name}={value!r}" for name, value in arguments.items() if repr(value) != repr(usual[name])]
    return f"kernsift.compare(X, y, {', '.join(changed)})"


class CompareResult:
    """What :func:`compare` found.

    It is plain data: it can be pickled, and holds nothing of `X`.

    Attributes
    ----------
    methods : list of str
        Labels of the methods, in the order asked for.
    n_features : list of int
        Numbers of features, rising.
    scoring : str
        The score that is shown where none is asked for.
    run : dict
        What was compared on what: data, seed, evaluator, and under "folds" the test rows of every split.
    records : list of dict
        One per method, split and number of features: "method", "repeat", "fold", "k", the scores ("error",
        "balanced_accuracy", "auc" or "r2"), what the evaluator chose, and the features kept, best first. All
        columns together are the method "all-features".
    costs : list of dict
        Seconds and memory per method and split.
    summary : dict
        Means, standard deviations and p-values as :meth:`table` shows them, with mean costs and failures.

    Examples
    --------
    >>> from kernsift import compare, load_dataset
    >>> wine = load_dataset("wine")
    >>> result = compare(wine.data, wine.target, ["fisher", "relief"], [1, 2], evaluator="knn", random_state=0)
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
        again: str = "",
    ) -> None:
        self._text = text
        self._again = again
        self._costs = costs
        self.methods = list(labels)
        self.n_features = sorted(set(counts))
        self.scoring = scoring
        # Not splitlines: names may hold other characters that end a line.
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
            what is worse than that (p < 0.05). "mean", "sd" and "p" are numbers, not in %: p-values of the
            corrected paired test (Nadeau and Bengio, 2003) against the best of the column, NaN for that
            one itself.

        Returns
        -------
        table : pandas.DataFrame
            The table; needs pandas. :attr:`summary` has the same numbers without it.
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

    def plot(self, ax: Any = None, scoring: str | None = None, *, spread: bool | None = None) -> Any:
        """Draw the score against the number of features.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a figure.
        scoring : {"error", "balanced-accuracy", "auc", "r2"} or None, default=None
            The score; None is :attr:`scoring`.
        spread : bool or None, default=None
            Whether to show a standard deviation over splits to each side; None does for up to five methods.

        Returns
        -------
        ax : matplotlib axes
            With one line per method, and a dashed one for all columns together. Needs matplotlib.
        """
        ax = axes(ax, who="plot()")
        summary = self._summary(scoring)
        spread = len(self.methods) <= 5 if spread is None else spread
        for place, method in enumerate(summary["methods"]):
            _draw(ax, place, method, self.n_features, spread)
        if summary["all_features"] is not None:
            label = f"all {self.run['fingerprint']['columns']} columns"
            ax.axhline(100 * summary["all_features"]["mean"], color="0.5", linestyle="--", label=label)
        ax.set_xlabel("number of features")
        ax.set_ylabel(f"{SCORES[summary['measure']][0]}, %")
        if len(self.n_features) <= 15:
            ax.set_xticks(self.n_features)
        return finished(ax)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str | None:
        """Make one self-contained page: chart, table, costs, features kept, how to read it.

        Parameters
        ----------
        path : path or None, default=None
            Where to write it; None returns the text.
        title : str or None, default=None
            Its title.

        Returns
        -------
        page : str or None
            The page, if no path was given.
        """
        if title is None:
            title = f"Features of {self.run['data']}"
        page = _native.compare_page(
            self._text, self._costs, self.methods, self.n_features, self.scoring, title, self._again
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
            f"{len(self.run['folds'])} splits of {seen['rows']} rows and {seen['columns']} columns"
        )

    def __repr__(self) -> str:
        heads = ["features", *map(str, self.n_features)]
        rows = [
            [method["label"], *("" if c is None else _marked(c) for c in method["cells"])]
            for method in self.summary["methods"]
        ]
        # Marks stand outside the numbers' edge.
        rows = [[row[0], *(c if c[-1:] in ("*", "-", "") else c + " " for c in row[1:])] for row in rows]
        widths = [max(len(row[j]) for row in [heads, *rows]) for j in range(len(heads))]
        lines = [self._about()]
        for row in [heads, *rows]:
            first = row[0].ljust(widths[0])
            lines.append(
                "  ".join([first, *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
            )
        lines.append("* best with as many features; - worse than that one (paired test, p < 0.05)")
        if self.summary["all_features"] is not None:
            lines.append(f"all columns: {_plain(self.summary['all_features'])}")
        failed = [m for m in self.summary["methods"] if m["failed"]]
        lines += [f"{m['label']}: {m['failed']} results failed: {m['failure']}" for m in failed]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [escaped(method["label"]), *(_html_cell(found) for found in method["cells"])]
            for method in self.summary["methods"]
        ]
        notes = "* best with as many features; - worse than that one (paired test, p &lt; 0.05)"
        if self.summary["all_features"] is not None:
            notes += f"; all columns: {_plain(self.summary['all_features'])}"
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


def _draw(ax: Any, place: int, method: Mapping[str, Any], counts: Sequence[int], spread: bool) -> None:
    """One method's line, with a colour, a sign and dashes of its own."""
    cells = method["cells"]

    def values(name: str) -> FloatArray:
        return np.array([np.nan if c is None else 100 * c[name] for c in cells])

    ax.errorbar(
        counts,
        values("mean"),
        yerr=values("sd") if spread else None,
        marker=MARKERS[place % len(MARKERS)],
        capsize=2,
        elinewidth=0.8,
        label=legend_label(method["label"], 2 * LONGEST),
        **line_style(place),
    )


def _rows(X: Any, missing: str) -> tuple[Any, list[str]]:
    """Rows that have been checked, and the names of their columns."""
    if isinstance(X, NamedRows):
        return X
    names = _get_feature_names(X)
    finite = True if missing == "error" else "allow-nan"
    x = checked_array(X, ensure_min_samples=2, ensure_all_finite=finite)
    if names is None:
        return x, [f"x{j}" for j in range(x.shape[1])]
    return x, [str(name) for name in names]


def _target(y: Any, target_type: str) -> tuple[Classes | FloatArray, bool]:
    """The target as the native half takes it, and whether it is a number."""
    y = column_or_1d(y, warn=True)
    kind = type_of_target(y, input_name="y")
    if target_type == "number" or (target_type == "auto" and kind == "continuous"):
        numbers: FloatArray = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        return numbers, True
    if kind not in ("binary", "multiclass", "continuous"):
        raise ValueError(f"y must hold one class or one number per row, got {kind!r}.")
    return native_classes(y)[1], False


def _checked_scoring(scoring: str | None, numbers: bool) -> str:
    if scoring is None:
        return "r2" if numbers else "error"
    name = scoring.replace("_", "-")
    fitting = ["r2"] if numbers else [known for known in SCORES if known != "r2"]
    if name not in fitting:
        what = "numbers" if numbers else "classes"
        raise ValueError(f"scoring must be {' or '.join(map(repr, fitting))} for {what}, got {scoring!r}.")
    return name


def _counts(n_features: Any, n_columns: int) -> list[int]:
    if n_features is None:
        return list(range(1, min(10, n_columns) + 1))
    given = [n_features] if isinstance(n_features, Integral) else list(n_features)
    if not given or not all(isinstance(k, Integral) and int(k) >= 1 for k in given):
        raise ValueError(f"n_features must be one or more whole numbers from 1, got {n_features!r}.")
    return sorted({int(k) for k in given})


def _splits(cv: Any, repeats: int, X: Any, y: Any) -> tuple[int, list[tuple[IntArray, IntArray]] | None]:
    """A number of folds, and the splits if they are given."""
    if isinstance(cv, Integral):
        return int(cv), None
    if repeats != 1:
        raise ValueError(f"repeats={repeats} needs a number as cv; a splitter of its own can repeat.")
    given = cv.split(X, y) if hasattr(cv, "split") else cv
    splits = []
    for pair in given:
        try:
            train, test = pair
        except (TypeError, ValueError) as error:
            raise ValueError("cv must give pairs of training rows and test rows.") from error
        splits.append((_places(train), _places(test)))
    if not splits:
        raise ValueError("cv gives no splits.")
    return 2, splits


def _places(rows: Any) -> IntArray:
    """Rows of one side of a split, in rising order."""
    rows = np.asarray(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(
            f"cv must give whole row numbers in flat arrays, got {rows.dtype} of shape {rows.shape}."
        )
    ordered: IntArray = np.sort(rows).astype(np.int64)
    return ordered


def _methods(methods: Any, standardize: bool, random_state: Any) -> list[Any]:
    """What is compared, as the native half takes it."""
    if isinstance(methods, Mapping):
        return [_asked(str(label), method, standardize, random_state) for label, method in methods.items()]
    if isinstance(methods, str | BaseSelector | BaseSpace):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise ValueError(f"methods must be names, estimators or a dict of them, got {methods!r}.")
    asked: list[Any] = []
    labels: set[str] = set()
    for method in methods:
        label = None if isinstance(method, str) else _label(method, labels)
        labels |= {method if label is None else label}
        asked.append(_asked(label, method, standardize, random_state))
    return asked


def _label(estimator: Any, taken: set[str]) -> str:
    """An estimator's settings that differ from the defaults, as scikit-learn prints them."""
    name = " ".join(repr(estimator).split()).removesuffix("()")
    label, times = name, 1
    while label in taken:
        times += 1
        label = f"{name} ({times})"
    return label


def _asked(label: str | None, method: Any, standardize: bool, random_state: Any) -> Any:
    if isinstance(method, str):
        return "all" if method == "all" and label is None else {"named": {"label": label, "text": method}}
    if isinstance(method, BaseSelector | BaseSpace):
        _refuse_what_compare_sets(method, standardize, random_state)
        return {"method": {"label": label, "method": _form(method)}}
    raise ValueError(
        f"methods must be names or selectors of kernsift, got {method!r}; "
        "a basis or classifier selects nothing."
    )


def _form(estimator: BaseSelector | BaseSpace) -> dict[str, Any]:
    """An estimator's settings, as the core spells them."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        # It would be told as a parameter of compare.
        raise ValueError(str(error)) from None
    if isinstance(estimator, BaseSelector):
        return {"columns": {"method": estimator._method, **estimator._own_parameters()}}
    if estimator._unfitted_basis()._threshold_function() is not None:
        raise ValueError(
            "a threshold that is a function of one's own cannot be recorded; compare named ones."
        )
    return {"space": estimator._form()}


def _refuse_what_compare_sets(estimator: Any, standardize: bool, random_state: Any) -> None:
    """A parameter that would not be used is a mistake worth telling."""
    name = type(estimator).__name__
    if estimator.n_features_to_select is not None:
        raise ValueError(f"compare sets 'n_features_to_select' of {name} by n_features; leave it out.")
    if standardize and not estimator.standardize:
        raise ValueError(f"compare scales for all methods alike; leave 'standardize' out of {name}.")
    given = estimator.random_state
    if given is not None and (not isinstance(given, Integral) or given != random_state):
        raise ValueError(f"compare has one random_state for all methods; leave it out of {name}.")


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
            # A width is a word or a number, and says which.
            return float(value)
        return value

    return {str(key): plain(str(key), value) for key, value in evaluator.items()}


def _recorded_seed(path: Path) -> int | None:
    """The seed of a record that exists, if it can be told."""
    try:
        with path.open(encoding="utf-8") as file:
            seed: int = json.loads(file.readline())["seed"]
            return seed
    except (OSError, ValueError, KeyError, TypeError):
        # There is none, or it is no record: that is told when it is opened.
        return None
