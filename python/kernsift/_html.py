"""HTML summaries of fitted estimators for notebooks. All text from users is escaped."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._native_data import FloatArray
from kernsift._selected import MAX_NAME_LENGTH, counted, selected_scores, selects_directions, shortened

#: Maximum number of bars in a summary.
MAX_BARS = 10
BAR = "display:inline-block;height:0.8em;background:#0072b2;width:{width:.3f}em"


def saved(page: str, path: str | os.PathLike[str] | None) -> str | None:
    """Writes a page to a file; without a path, returns it."""
    if path is None:
        return page
    _native.write_text(os.fspath(path), page)
    return None


class Bars(NamedTuple):
    """Values with names, largest first."""

    title: str
    names: Sequence[str]
    values: FloatArray


class Summary(NamedTuple):
    """The summary of a fitted estimator."""

    facts: list[tuple[str, Any]]
    bars: Bars | None = None


class SummaryMixin:
    """Adds a summary of the fitted estimator below scikit-learn's HTML diagram."""

    def _summary(self) -> Summary:
        """The summary; called only if the estimator is fitted."""
        raise NotImplementedError

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return diagram + self._summary_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._summary_html()
        return bundle

    def _summary_html(self) -> str:
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        facts, bars = self._summary()
        if not getattr(self, "converged_", True):
            facts = [*facts, ("converged", "no")]
        return facts_table(facts) + ("" if bars is None else _bars_table(bars))


def selection_summary(estimator: Any, *facts: tuple[str, Any]) -> Summary:
    """The selected features with their scores, after other facts."""
    order, scores, names = selected_scores(estimator)
    what = "direction" if selects_directions(estimator) else "feature"
    selected = ("selected", f"{len(order)} of {counted(len(scores), what)}")
    title = "weight" if what == "direction" else "score"
    return Summary([*facts, selected], Bars(title, [names[j] for j in order], scores[order]))


def table(rows: Iterable[Sequence[str]], heads: Sequence[str] = (), caption: str = "") -> str:
    """A table of HTML cells; the first cell of each row is its header."""
    above = f"<caption>{caption}</caption>" if caption else ""
    if heads:
        above += f"<thead><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr></thead>"
    body = "".join(
        f"<tr><th>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>" for row in rows
    )
    return f"<table>{above}<tbody>{body}</tbody></table>"


def facts_table(facts: Iterable[tuple[str, Any]], caption: str = "") -> str:
    """A table of names and values; both are escaped, and so is the caption."""
    rows = [(escaped(name), escaped(_number(value))) for name, value in facts]
    return table(rows, caption=escaped(caption))


def escaped(text: Any) -> str:
    """Text from users, without markup and control characters, and shortened."""
    return html.escape(shortened(text, 8 * MAX_NAME_LENGTH))


def _bars_table(bars: Bars) -> str:
    # Weights of kernel design may be negative.
    largest = max((abs(float(value)) for value in bars.values), default=0.0) or 1.0
    rows = [
        (
            html.escape(shortened(name, 2 * MAX_NAME_LENGTH)),
            _number(value),
            f'<span style="{BAR.format(width=8 * abs(float(value)) / largest)}"></span>',
        )
        for name, value in zip(bars.names[:MAX_BARS], bars.values[:MAX_BARS], strict=True)
    ]
    more = len(bars.names) - len(rows)
    if more:
        rows.append((f"and {more} more", "", ""))
    return table(rows, ("", bars.title, "")) if rows else ""


def _number(value: Any) -> str:
    return (
        f"{float(value):.4g}"
        if hasattr(value, "__float__") and not hasattr(value, "__index__")
        else str(value)
    )
