"""Mean ranks of methods over several tables."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from kernsift import _native
from kernsift._axes import COLORS, axes, legend_label
from kernsift._compare_result import PERCENT, SCORING_DOCS, CompareResult, score_of
from kernsift._html import saved
from kernsift._parameters import documented
from kernsift._selected import MAX_NAME_LENGTH
from kernsift._sklearn import validate_params
from kernsift._text_table import aligned

__all__ = ["MethodRanks", "rank_methods"]


@validate_params(
    {"results": ["array-like", dict], "scoring": [str, None]}, prefer_skip_nested_validation=True
)
@documented(SCORING_DOCS)
def rank_methods(results: Any, scoring: str | None = None) -> MethodRanks:
    """Rank methods over several tables, with the tests of Friedman and Nemenyi.

    In each table the methods are ranked by their score, the mean over the numbers of features of the
    comparison. No number of features is chosen by scores on test samples: each method's best one would be
    optimistic, and most so for the methods whose scores vary most. To rank with a given number, compare with
    that alone.

    Parameters
    ----------
    results : list of CompareResult, or dict of them by name
        Results of :func:`compare`, of at least two tables. A list takes their names from ``name=`` of
        `compare`; equal names are numbered.
    {scoring}

    Returns
    -------
    ranks : MethodRanks
        With ``plot_critical_differences()``, ``table()`` and ``to_html()``.

    Examples
    --------
    >>> from kernsift import compare, load_dataset, rank_methods
    >>> results = {}
    >>> for name in ("iris", "wine", "wdbc"):
    ...     data = load_dataset(name)
    ...     methods = ["fisher", "relief", "random"]
    ...     results[name] = compare(data.data, data.target, methods, [1, 2], evaluator="knn", random_state=0)
    >>> ranks = rank_methods(results)
    >>> ranks.methods[-1]
    'random'
    """
    named = _named(results)
    chosen = scoring or named[0][1].scoring
    summaries = [(name, json.dumps(result._summary(chosen))) for name, result in named]
    return MethodRanks(_native.rank_methods(summaries))


def _named(results: Any) -> list[tuple[str, CompareResult]]:
    """The results with different names."""
    given = list(results.items()) if isinstance(results, Mapping) else [(None, one) for one in results]
    wrong = next((one for _, one in given if not isinstance(one, CompareResult)), None)
    if wrong is not None or len(given) < 2:
        got = f"{len(given)} of them" if wrong is None else repr(wrong)
        raise ValueError(f"results must be at least two results of compare, got {got}.")
    named: dict[str, CompareResult] = {}
    for name, result in given:
        own = str(result.run["data"] if name is None else name)
        unique, times = own, 1
        while unique in named:
            times += 1
            unique = f"{own} ({times})"
        named[unique] = result
    return list(named.items())


class MethodRanks:
    """Mean ranks of methods over several tables; result of :func:`rank_methods`.

    Attributes
    ----------
    methods : list of str
        Labels of the methods that have a score in all tables, best mean rank first.
    mean_ranks : list of float
        Their mean ranks; 1 is best.
    tables : list of str
        Names of the tables.
    pvalue : float
        p-value of the Friedman test with the F statistic of Iman and Davenport, by which all methods have the
        same mean rank.
    critical_difference : float
        Two methods differ significantly (0.05) if their mean ranks differ by at least this, provided that
        `pvalue` is below 0.05.
    groups : list of list of str
        The largest groups of methods that do not differ significantly.
    left_out : list of dict
        Tables without scores and methods that lack a score in some table: "method" (None for a table),
        "table" and "why".

    Examples
    --------
    >>> from kernsift import compare, load_dataset, rank_methods
    >>> tables = [load_dataset(name) for name in ("iris", "wine")]
    >>> options = {"evaluator": "knn", "random_state": 0}
    >>> ranks = rank_methods([compare(t.data, t.target, ["fisher", "random"], 2, **options) for t in tables])
    >>> ranks.tables, round(ranks.critical_difference, 2)
    (['X', 'X (2)'], 1.39)
    """

    def __init__(self, text: str) -> None:
        self._text = text
        found = json.loads(text)
        self.methods: list[str] = [method["label"] for method in found["methods"]]
        self.mean_ranks: list[float] = [method["mean_rank"] for method in found["methods"]]
        self.tables: list[str] = [table["name"] for table in found["tables"]]
        self.pvalue: float = found["p_value"]
        self.critical_difference: float = found["critical_difference"]
        self.groups: list[list[str]] = found["groups"]
        self.left_out: list[dict[str, Any]] = found["left_out"]
        self._found = found

    def table(self, values: str = "rank") -> Any:
        """Make a data frame with a row per method and a column per table.

        Parameters
        ----------
        values : {"rank", "score"}, default="rank"
            What is in the cells.

        Returns
        -------
        table : pandas.DataFrame
            The table; needs pandas.
        """
        if values not in ("rank", "score"):
            raise ValueError(f"values must be 'rank' or 'score', got {values!r}.")
        import pandas

        rows = [method["ranks" if values == "rank" else "scores"] for method in self._found["methods"]]
        index = pandas.Index(self.methods, name="method")
        return pandas.DataFrame(rows, index=index, columns=pandas.Index(self.tables, name="table"))

    @documented()
    def plot_critical_differences(self, ax: Any = None) -> Any:
        """Draw the mean ranks on a line, the best on the left; bars connect groups that do not differ.

        Parameters
        ----------
        {ax}

        Returns
        -------
        ax : matplotlib axes
            With a line and a label per method, and the critical difference above.
        """
        n = len(self.methods)
        half = (n + 1) // 2
        bars = _levels([[self.methods.index(label) for label in group] for group in self.groups])
        depth = 0.6 + 0.25 * (1 + max((level for *_, level in bars), default=0))
        ax = axes(ax, (8, 1.4 + 0.3 * (half + depth)))
        for place, (label, rank) in enumerate(zip(self.methods, self.mean_ranks, strict=True)):
            is_left = place < half
            y = -depth - 0.6 * (place if is_left else n - 1 - place)
            edge = 1 - 0.06 * (n - 1) if is_left else n + 0.06 * (n - 1)
            color = COLORS[place % len(COLORS)]
            ax.plot([rank, rank, edge], [0, y, y], color=color, linewidth=1.4, clip_on=False)
            text = f"{legend_label(label, 2 * MAX_NAME_LENGTH)} ({rank:.2f})"
            align = "right" if is_left else "left"
            ax.text(edge + (-1 if is_left else 1) * 0.02 * (n - 1), y, text, ha=align, va="center")
        for first, last, level in bars:
            ends = [self.mean_ranks[first] - 0.03, self.mean_ranks[last] + 0.03]
            y = -0.3 - 0.25 * level
            ax.plot(ends, [y, y], color="0.2", linewidth=4, solid_capstyle="round")
        ax.plot([1, 1 + self.critical_difference], [0.9, 0.9], color="0.2", marker="|")
        ax.text(1 + self.critical_difference / 2, 1.1, f"CD {self.critical_difference:.2f}", ha="center")
        ax.set_xlim(1, n)
        ax.set_ylim(-depth - 0.6 * half, 1.6)
        ax.set_xticks(range(1, n + 1, 1 + n // 20))
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        ax.spines["top"].set_position(("data", 0))
        ax.xaxis.set_ticks_position("top")
        ax.set_yticks([])
        return ax

    @documented()
    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str | None:
        """Make a report as one self-contained HTML page: the diagram, scores and ranks by table.

        Parameters
        ----------
        {path}
        title : str or None, default=None
            The title.

        Returns
        -------
        {page}
        """
        page = _native.ranks_page(self._text, title or f"Methods on {len(self.tables)} tables")
        return saved(page, path)

    def __repr__(self) -> str:
        score = score_of(self._found["measure"])
        unit = PERCENT if score.is_fraction else 1
        lines = [
            f"mean ranks of {len(self.methods)} methods over {len(self.tables)} tables, by "
            f"{score.label}{' in %' if score.is_fraction else ''}, the mean over the numbers of features"
        ]
        digits = ".1f" if unit == PERCENT else ".4g"
        rows = [
            [one["label"], f"{one['mean_rank']:.2f}", *(f"{unit * s:{digits}}" for s in one["scores"])]
            for one in self._found["methods"]
        ]
        lines += aligned(["method", "mean rank", *self.tables], rows)
        lines.append(f"Friedman test: p {'< 0.001' if self.pvalue < 0.001 else f'{self.pvalue:.3f}'}")
        lines.append(f"critical difference of mean ranks (Nemenyi, 0.05): {self.critical_difference:.2f}")
        lines += [f"no significant difference: {', '.join(group)}" for group in self.groups]
        lines += [
            f"without rank: {one['method'] or 'all methods'}: no score in {one['table']}: {one['why']}"
            for one in self.left_out
        ]
        return "\n".join(lines)


def _levels(groups: list[list[int]]) -> list[tuple[int, int, int]]:
    """First and last place of each group, and a level at which it touches no other."""
    ends: list[int] = []
    bars = []
    for group in groups:
        first, last = group[0], group[-1]
        level = next((at for at, end in enumerate(ends) if end < first), len(ends))
        ends[level : level + 1] = [last]
        bars.append((first, last, level))
    return bars
