"""The result of a comparison."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernsift import _native
from kernsift._axes import COLORS, MARKERS, axes, finished, legend_label, line_style
from kernsift._html import escaped, saved, table
from kernsift._native_data import FloatArray
from kernsift._parameters import Docs, documented
from kernsift._selected import MAX_NAME_LENGTH
from kernsift._text_table import aligned


class Score(NamedTuple):
    """A score of the library."""

    label: str
    is_fraction: bool = True
    is_for_numbers: bool = False


SCORES = {
    "error": Score("error"),
    "balanced-error": Score("balanced error"),
    "balanced-accuracy": Score("balanced accuracy"),
    "auc": Score("area under the curve"),
    "log-loss": Score("log loss", is_fraction=False),
    "f1": Score("F1 score"),
    "r2": Score("explained variance", is_for_numbers=True),
    "rmse": Score("root mean squared error", is_fraction=False, is_for_numbers=True),
    "mae": Score("mean absolute error", is_fraction=False, is_for_numbers=True),
}
SCORING_DOCS: Docs = {
    "scoring": (
        "str or None",
        "The score, by name; None is :attr:`scoring`.",
    ),
}
#: Significance level of the mark for scores worse than the best.
LEVEL = 0.05
#: The factor of fractions.
PERCENT = 100
#: The label of all features together.
ALL_FEATURES = "all-features"


def score_of(name: str) -> Score:
    """The score of a name; others than those of the library are scorers."""
    return SCORES.get(name, Score(name, is_fraction=False))


def checked_scoring(scoring: str | None, numbers: bool, scorers: Sequence[str] = ()) -> str:
    """The name of a score; None is the default for the target."""
    if scoring is None:
        return "r2" if numbers else "error"
    if scoring in scorers:
        return scoring
    name = scoring.replace("_", "-")
    fitting = [known for known, score in SCORES.items() if score.is_for_numbers == numbers] + list(scorers)
    if name not in fitting:
        what = "a continuous target" if numbers else "class labels"
        raise ValueError(f"scoring must be {' or '.join(map(repr, fitting))} for {what}, got {scoring!r}.")
    return name


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
    train_sizes : list of int
        Numbers of training samples of a learning curve, increasing; empty without.
    run : dict
        Data, seed, evaluator, and as "folds" the test indices of every split.
    records : list of dict
        One per method, split and number of features: "method", "repeat", "fold", "k", "train_rows" in a
        learning curve, the scores ("error",
        "balanced_accuracy", "auc", "log_loss" and "f1", or "r2", "rmse" and "mae"; others by name in
        "scorers"), the hyperparameters of the evaluator, and the selected features, best first. All features
        together are the method "all-features".
    costs : list of dict
        Seconds and memory per method and split.
    summary : dict
        Means, standard deviations and p-values as in :meth:`table`, with mean costs and failures. "simplest"
        is the choice by the one-standard-error rule: the fewest features with a mean score within one
        standard error of the best. Of a learning curve it is that of the largest training sets.
    learning_curve : list of dict
        Of a learning curve, such a summary for each of `train_sizes`.

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
        train_sizes: Sequence[int] = (),
    ) -> None:
        self._text = text
        self._code = code
        self._costs = costs
        self.methods = list(labels)
        self.n_features = sorted(set(counts))
        self.scoring = scoring
        self.train_sizes = list(train_sizes)
        self._predictions: str | None = None
        # Not splitlines: names may contain other line separators.
        lines = [json.loads(line) for line in text.split("\n") if line]
        self.run: dict[str, Any] = lines[0]
        shown = {*self.methods, ALL_FEATURES}
        sizes: Sequence[int | None] = self.train_sizes or [None]
        kinds = [(line.pop("kind"), line) for line in lines]
        self.records: list[dict[str, Any]] = [
            line
            for kind, line in kinds
            if kind == "result"
            and line["method"] in shown
            and (line["method"] == ALL_FEATURES or line["k"] in self.n_features)
            and line.get("train_rows") in sizes
        ]
        self.costs: list[dict[str, Any]] = [
            cost
            for cost in map(json.loads, filter(None, costs.split("\n")))
            if cost["method"] in shown and cost.get("train_rows") in sizes
        ]
        #: Names of scorers in the records.
        self._scorers = sorted({name for record in self.records for name in record.get("scorers", ())})
        numbers = (name for name, score in SCORES.items() if score.is_for_numbers)
        self._is_regression = any(name in record for record in self.records for name in numbers)
        found = self._summaries(scoring)
        self.summary: dict[str, Any] = found[-1]
        self.learning_curve: list[dict[str, Any]] = found if self.train_sizes else []

    @documented(SCORING_DOCS)
    def table(self, scoring: str | None = None, values: str = "text") -> Any:
        """Make a data frame with a row per method and a column per number of features.

        Of a learning curve, there is a row per method and number of training samples.

        Parameters
        ----------
        {scoring}
        values : {"text", "mean", "sd", "p"}, default="text"
            "text": mean ± standard deviation over splits, fractions in %, with * for the best of a column and
            - for scores that are worse (p < 0.05). "mean", "sd" and "p" are numbers, not in %; "p" is the
            p-value of the corrected paired test (Nadeau and Bengio, 2003) against the best of the column, NaN
            for the best.

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
        summaries = self._summaries(scoring)
        unit = _unit(summaries[0])
        empty: Any = "" if values == "text" else np.nan

        def cell(found: dict[str, Any] | None) -> Any:
            if found is None:
                return empty
            if values == "text":
                return _marked(found, unit)
            return np.nan if found[values] is None else found[values]

        rows = [
            [cell(found) for found in summary["methods"][place]["cells"]]
            for place in range(len(self.methods))
            for summary in summaries
        ]
        index = pandas.Index(self.methods, name="method")
        if self.train_sizes:
            names = ["method", "train_size"]
            index = pandas.MultiIndex.from_product([self.methods, self.train_sizes], names=names)
        return pandas.DataFrame(rows, index=index, columns=pandas.Index(self.n_features, name="n_features"))

    @documented(SCORING_DOCS)
    def plot(self, ax: Any = None, scoring: str | None = None, *, show_std: bool | None = None) -> Any:
        """Draw the score against the number of features.

        Parameters
        ----------
        {ax}
        {scoring}
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
        unit = _unit(summary)
        for place, method in enumerate(summary["methods"]):
            _draw(ax, place, method, self.n_features, (show_std, unit))
        if summary["all_features"] is not None:
            label = f"all {self.run['fingerprint']['columns']} features"
            ax.axhline(unit * summary["all_features"]["mean"], color="0.5", linestyle="--", label=label)
        ax.set_xlabel("number of features")
        ax.set_ylabel(_score_label(summary))
        if len(self.n_features) <= 15:
            ax.set_xticks(self.n_features)
        return finished(ax)

    @documented(SCORING_DOCS)
    def plot_learning_curve(
        self,
        ax: Any = None,
        n_features: int | None = None,
        scoring: str | None = None,
        *,
        show_std: bool | None = None,
    ) -> Any:
        """Draw the score against the number of training samples.

        Parameters
        ----------
        {ax}
        n_features : int or None, default=None
            The number of features; None is that of the one-standard-error rule.
        {scoring}
        show_std : bool or None, default=None
            Whether to draw error bars of one standard deviation over splits; None draws them for up to five
            methods.

        Returns
        -------
        ax : matplotlib axes
            With one line per method. Needs matplotlib, and a comparison with `train_sizes`.
        """
        if not self.train_sizes:
            raise ValueError("there is no learning curve; call compare with train_sizes=[...].")
        summaries = self._summaries(scoring)
        if n_features is None:
            chosen = summaries[-1]["simplest"]
            n_features = self.n_features[0] if chosen is None else chosen["n_features"]
        if n_features not in self.n_features:
            raise ValueError(f"n_features must be one of {self.n_features}, got {n_features!r}.")
        ax = axes(ax, who="plot_learning_curve()")
        show_std = len(self.methods) <= 5 if show_std is None else show_std
        unit, at = _unit(summaries[0]), self.n_features.index(n_features)
        for place, label in enumerate(self.methods):
            cells = [summary["methods"][place]["cells"][at] for summary in summaries]
            _draw(ax, place, {"label": label, "cells": cells}, self.train_sizes, (show_std, unit))
        ax.set_xlabel("number of training samples")
        ax.set_ylabel(_score_label(summaries[0]))
        ax.set_title(f"{n_features} feature{'s' if n_features > 1 else ''}")
        return finished(ax)

    @property
    def predictions(self) -> dict[str, Any] | None:
        """Predictions of the test samples of all splits, by the choice of the one-standard-error rule.

        A dict with "method", "n_features", "classes", "confusion" (numbers of samples, or sums of their
        weights, by class and predicted class), "class_errors" and "calibration": "brier_score",
        "expected_error" and the reliability curve "bins", each with "rows", "probability" and "frequency";
        None if the evaluator gives no probabilities. None without ``predictions=True``.
        """
        found: dict[str, Any] | None = None if self._predictions is None else json.loads(self._predictions)
        return found

    def _needed_predictions(self) -> dict[str, Any]:
        found = self.predictions
        if found is None:
            raise ValueError("there are no predictions; call compare with predictions=True.")
        return found

    @documented()
    def plot_confusion(self, ax: Any = None) -> Any:
        """Draw the number of test samples by class and predicted class.

        Parameters
        ----------
        {ax}

        Returns
        -------
        ax : matplotlib axes
            With a heat map of the fractions of each class. Needs matplotlib, and a comparison with
            ``predictions=True``.
        """
        found = self._needed_predictions()
        counts = np.array(found["confusion"], dtype=float)
        side = 2.6 + 0.5 * len(counts)
        ax = axes(ax, (side + 1.2, side), who="plot_confusion()")
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        ax.imshow(shares, vmin=0, vmax=1, cmap="Blues")
        for (row, column), count in np.ndenumerate(counts):
            color = "white" if shares[row, column] > 0.5 else "black"
            ax.text(column, row, _rows_text(count), ha="center", va="center", color=color)
        labels = [legend_label(name) for name in found["classes"]]
        ax.set_xticks(range(len(labels)), labels)
        ax.set_yticks(range(len(labels)), labels)
        ax.set_xlabel("predicted class")
        ax.set_ylabel("class")
        ax.set_title(_chosen(found))
        return ax

    @documented()
    def plot_calibration(self, ax: Any = None) -> Any:
        """Draw the reliability curve: observed frequency against predicted probability.

        The probability is that of the second of two classes, or with more classes of the predicted one.

        Parameters
        ----------
        {ax}

        Returns
        -------
        ax : matplotlib axes
            With a point and the number of samples per bin, and a dashed line for perfect calibration. Needs
            matplotlib, a comparison with ``predictions=True``, and an evaluator that gives probabilities.
        """
        found = self._needed_predictions()
        calibration = found["calibration"]
        if calibration is None:
            name = self.run["evaluator"]["name"]
            raise ValueError(f"{name} gives no probabilities; use knn, or an estimator with predict_proba.")
        ax = axes(ax, (5.6, 5.2), who="plot_calibration()")
        bins = calibration["bins"]
        x, y = ([bin[name] for bin in bins] for name in ("probability", "frequency"))
        ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", label="perfect calibration")
        brier, gap = calibration["brier_score"], calibration["expected_error"]
        label = f"Brier score {brier:.3f}, expected calibration error {gap:.3f}"
        ax.plot(x, y, marker="o", color=COLORS[0], label=label)
        for bin in bins:
            place = (bin["probability"], bin["frequency"])
            text = _rows_text(bin["rows"])
            ax.annotate(text, place, (5, -11), textcoords="offset points", fontsize="small")
        is_binary = len(found["classes"]) == 2
        what = f"class {legend_label(found['classes'][1])}" if is_binary else "the predicted class"
        ax.set_xlabel(f"mean predicted probability of {what}")
        ax.set_ylabel("frequency")
        ax.set_title(_chosen(found))
        return finished(ax)

    @documented()
    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str | None:
        """Make a report as one self-contained HTML page: chart, table, costs, selected features.

        Parameters
        ----------
        {path}
        title : str or None, default=None
            The title.

        Returns
        -------
        {page}
        """
        if title is None:
            title = f"Features of {self.run['data']}"
        page = _native.compare_page(self._shown(self.scoring), self._predictions, title, self._code)
        return saved(page, path)

    def _shown(self, scoring: str) -> Any:
        return self._text, self._costs, self.methods, self.n_features, scoring, self.train_sizes

    def _summary(self, scoring: str | None) -> dict[str, Any]:
        return self._summaries(scoring)[-1]

    def _summaries(self, scoring: str | None) -> list[dict[str, Any]]:
        """The table, or one for each number of training samples."""
        if scoring is None:
            scoring = self.scoring
        scoring = checked_scoring(scoring, self._is_regression, self._scorers)
        made: list[dict[str, Any]] = json.loads(_native.summarize(self._shown(scoring)))
        return made

    def _about(self) -> str:
        seen, score = self.run["fingerprint"], score_of(self.scoring)
        return (
            f"{score.label}{' in %' if score.is_fraction else ''} of {self.run['evaluator']['name']}, "
            f"{len(self.run['folds'])} splits of {seen['rows']} samples and {seen['columns']} features"
        )

    def _rows(self) -> list[tuple[list[str], list[Any]]]:
        """The label, with a learning curve the number of training samples, and the cells of each line."""
        summaries = self._summaries(None)
        return [
            (
                [label, *([str(self.train_sizes[at])] if self.train_sizes else [])],
                summary["methods"][place]["cells"],
            )
            for place, label in enumerate(self.methods)
            for at, summary in enumerate(summaries)
        ]

    def __repr__(self) -> str:
        heads = ["features", *(["samples"] if self.train_sizes else []), *map(str, self.n_features)]
        unit = _unit(self.summary)
        # Numbers are aligned without the marks.
        rows = [
            [*names, *("" if c is None else _aligned(_marked(c, unit)) for c in cells)]
            for names, cells in self._rows()
        ]
        lines = [self._about(), *aligned(heads, rows)]
        lines.append("* best of the column; - worse than the best (paired test, p < 0.05)")
        if self.summary["all_features"] is not None:
            lines.append(f"all features: {_plain(self.summary['all_features'], unit)}")
        simplest = self.summary["simplest"]
        if simplest is not None:
            lines.append(
                f"fewest features within one standard error of the best: {simplest['n_features']} by "
                f"{simplest['label']}, {_plain(simplest['cell'], unit)}"
            )
        failed = [m for m in self.summary["methods"] if m["failed"]]
        lines += [f"{m['label']}: {m['failed']} results failed: {m['failure']}" for m in failed]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        unit = _unit(self.summary)
        rows = [
            [*map(escaped, names), *(_html_cell(found, unit) for found in cells)]
            for names, cells in self._rows()
        ]
        heads = ["features", *(["samples"] if self.train_sizes else []), *map(str, self.n_features)]
        notes = "* best of the column; - worse than the best (paired test, p &lt; 0.05)"
        if self.summary["all_features"] is not None:
            notes += f"; all features: {_plain(self.summary['all_features'], unit)}"
        return table(rows, heads, escaped(self._about())) + f"<p>{notes}</p>"


def _chosen(found: Mapping[str, Any]) -> str:
    """The method and number of features of predictions."""
    n = found["n_features"]
    return f"{n} feature{'s' if n > 1 else ''} by {legend_label(found['method'], 2 * MAX_NAME_LENGTH)}"


def _unit(summary: Mapping[str, Any]) -> int:
    """The factor of shown scores: fractions are in percent."""
    return PERCENT if score_of(summary["measure"]).is_fraction else 1


def _score_label(summary: Mapping[str, Any]) -> str:
    """The label of an axis of scores."""
    return score_of(summary["measure"]).label + (", %" if _unit(summary) == PERCENT else "")


def _plain(cell: Mapping[str, Any], unit: int) -> str:
    some = "" if cell["splits"] == cell["of"] else f" ({cell['splits']}/{cell['of']})"
    digits = ".1f" if unit == PERCENT else ".4g"
    return f"{unit * cell['mean']:{digits}} ± {unit * cell['sd']:{digits}}{some}"


def _marked(cell: Mapping[str, Any], unit: int) -> str:
    if cell["best"]:
        return _plain(cell, unit) + "*"
    worse = cell["p"] is not None and cell["p"] < LEVEL
    return _plain(cell, unit) + ("-" if worse else "")


def _aligned(text: str) -> str:
    return text if text[-1:] in ("*", "-") else text + " "


def _html_cell(cell: Mapping[str, Any] | None, unit: int) -> str:
    if cell is None:
        return ""
    text = _marked(cell, unit)
    return f"<strong>{text}</strong>" if cell["best"] else text


def _draw(
    ax: Any, place: int, method: Mapping[str, Any], counts: Sequence[int], shown: tuple[bool, int]
) -> None:
    """Draws the line of one method with its color, marker and dashes."""
    cells = method["cells"]
    show_std, unit = shown

    def values(name: str) -> FloatArray:
        return np.array([np.nan if c is None else unit * c[name] for c in cells])

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


def _rows_text(rows: float) -> str:
    """A number of samples, or a sum of weights."""
    return f"{rows:.0f}" if rows == round(rows) or rows >= 1000 else f"{rows:.4g}"
