"""The result of a comparison."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernsift import _native
from kernsift._axes import MARKERS, axes, finished, legend_label, line_style
from kernsift._html import escaped, table
from kernsift._native_data import FloatArray
from kernsift._parameters import Docs, documented
from kernsift._selected import MAX_NAME_LENGTH


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
    run : dict
        Data, seed, evaluator, and as "folds" the test indices of every split.
    records : list of dict
        One per method, split and number of features: "method", "repeat", "fold", "k", the scores ("error",
        "balanced_accuracy", "auc", "log_loss" and "f1", or "r2", "rmse" and "mae"; others by name in
        "scorers"), the hyperparameters of the evaluator, and the selected features, best first. All features
        together are the method "all-features".
    costs : list of dict
        Seconds and memory per method and split.
    summary : dict
        Means, standard deviations and p-values as in :meth:`table`, with mean costs and failures. "simplest"
        is the choice by the one-standard-error rule: the fewest features with a mean score within one
        standard error of the best.

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
        #: Names of scorers in the records.
        self._scorers = sorted({name for record in self.records for name in record.get("scorers", ())})
        numbers = (name for name, score in SCORES.items() if score.is_for_numbers)
        self._is_regression = any(name in record for record in self.records for name in numbers)
        self.summary = self._summary(scoring)

    @documented(SCORING_DOCS)
    def table(self, scoring: str | None = None, values: str = "text") -> Any:
        """Make a data frame with a row per method and a column per number of features.

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
        summary = self._summary(scoring)
        unit = _unit(summary)
        empty: Any = "" if values == "text" else np.nan

        def cell(found: dict[str, Any] | None) -> Any:
            if found is None:
                return empty
            if values == "text":
                return _marked(found, unit)
            return np.nan if found[values] is None else found[values]

        rows = [[cell(found) for found in method["cells"]] for method in summary["methods"]]
        index = pandas.Index(self.methods, name="method")
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
        ax.set_ylabel(score_of(summary["measure"]).label + (", %" if unit == PERCENT else ""))
        if len(self.n_features) <= 15:
            ax.set_xticks(self.n_features)
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
        scoring = checked_scoring(scoring, self._is_regression, self._scorers)
        made: dict[str, Any] = json.loads(
            _native.summarize(self._text, self._costs, self.methods, self.n_features, scoring)
        )
        return made

    def _about(self) -> str:
        seen, score = self.run["fingerprint"], score_of(self.scoring)
        return (
            f"{score.label}{' in %' if score.is_fraction else ''} of {self.run['evaluator']['name']}, "
            f"{len(self.run['folds'])} splits of {seen['rows']} samples and {seen['columns']} features"
        )

    def __repr__(self) -> str:
        heads = ["features", *map(str, self.n_features)]
        unit = _unit(self.summary)
        rows = [
            [method["label"], *("" if c is None else _marked(c, unit) for c in method["cells"])]
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
            [escaped(method["label"]), *(_html_cell(found, unit) for found in method["cells"])]
            for method in self.summary["methods"]
        ]
        notes = "* best of the column; - worse than the best (paired test, p &lt; 0.05)"
        if self.summary["all_features"] is not None:
            notes += f"; all features: {_plain(self.summary['all_features'], unit)}"
        return (
            table(rows, ["features", *map(str, self.n_features)], escaped(self._about())) + f"<p>{notes}</p>"
        )


def _unit(summary: Mapping[str, Any]) -> int:
    """The factor of shown scores: fractions are in percent."""
    return PERCENT if score_of(summary["measure"]).is_fraction else 1


def _plain(cell: Mapping[str, Any], unit: int) -> str:
    some = "" if cell["splits"] == cell["of"] else f" ({cell['splits']}/{cell['of']})"
    digits = ".1f" if unit == PERCENT else ".4g"
    return f"{unit * cell['mean']:{digits}} ± {unit * cell['sd']:{digits}}{some}"


def _marked(cell: Mapping[str, Any], unit: int) -> str:
    if cell["best"]:
        return _plain(cell, unit) + "*"
    worse = cell["p"] is not None and cell["p"] < LEVEL
    return _plain(cell, unit) + ("-" if worse else "")


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
