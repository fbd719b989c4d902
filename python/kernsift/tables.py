"""What a data frame holds, and what estimators do with each of its columns."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

from kernsift import _native
from kernsift._frames import Columns, as_frame, frame_names, native_columns, options_json
from kernsift._native_data import settings
from kernsift._parameters import COLUMN_CONSTRAINTS, documented
from kernsift._sklearn import StrOptions, validate_params

__all__ = ["Inspection", "inspect"]

#: Columns of the printed table.
HEADER = ("column", "type", "used as", "missing", "distinct", "examples")
#: Characters of a printed cell.
WIDTH = 32


class Inspection:
    """What a data frame holds, by :func:`inspect`.

    Attributes
    ----------
    columns : list of dict
        For each column: "name", "type" (number, category, ordered, boolean, date, text or id), "action"
        (feature, target, id or skipped), "reason" of the action if there is one, "examples", "n_missing",
        "n_distinct", and the "range" of numbers and dates or the "levels" of categories with their counts.
    n_rows : int
        Number of rows.
    warnings : list of str
        What to check, such as a feature that alone predicts the target perfectly.
    notes : list of str
        The account in a few lines.

    Examples
    --------
    >>> import pandas
    >>> from kernsift import inspect
    >>> found = inspect(pandas.DataFrame({"size": [1.5, 2.5, 3.0], "color": ["red", "blue", "red"]}))
    >>> [column["type"] for column in found.columns]
    ['number', 'category']
    """

    def __init__(self, account: dict[str, Any], notes: list[str]) -> None:
        self.columns: list[dict[str, Any]] = account["columns"]
        self.n_rows: int = account["rows"]
        self.warnings: list[str] = account["warnings"]
        self.notes = notes

    def table(self) -> list[tuple[str, ...]]:
        """A row of text for each column, under the header of the printed table."""
        return [HEADER, *(_row(column) for column in self.columns)]

    def __repr__(self) -> str:
        rows = self.table()
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADER))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        count = f"{self.n_rows} rows, {len(self.columns)} columns"
        return "\n".join([count, *lines, *self.notes, *(f"warning: {text}" for text in self.warnings)])

    def _repr_html_(self) -> str:
        header, *rows = (
            "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
            for tag, row in zip(["th"] + ["td"] * len(self.columns), self.table(), strict=True)
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        notes = "".join(f"<p>{html.escape(text)}</p>" for text in [*self.notes, *self.warnings])
        return f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>{notes}"


@validate_params(
    {
        "X": "no_validation",
        "target": [str, None],
        "target_type": [StrOptions({"auto", "class", "number"})],
        **COLUMN_CONSTRAINTS,
    },
    prefer_skip_nested_validation=True,
)
@documented()
def inspect(
    X: Any,
    target: str | None = None,
    *,
    target_type: str = "auto",
    include: Columns = (),
    exclude: Columns = (),
    id: Columns = (),
    types: Mapping[str, str] | None = None,
) -> Inspection:
    """Inspect a data frame: the type of each column, and what estimators do with it.

    Parameters
    ----------
    X : data frame of pandas or polars, table of pyarrow, or object with the Arrow PyCapsule interface
        The table.
    target : str or None, default=None
        Name of the column that is the target, if `X` has it. Its account says whether it has classes or is
        continuous. Rows where it is missing are not used, and a note has their number.
    {target_type}
    {include}
    {exclude}
    {id}
    {types}

    Returns
    -------
    result : Inspection
        Prints as a table; ``result.columns`` has the details.

    Examples
    --------
    >>> import pandas
    >>> from kernsift import inspect
    >>> frame = pandas.DataFrame({"size": [1.5, 2.5, None, 3.0], "color": ["red", "blue", "red", "red"]})
    >>> inspect(frame)
    4 rows, 2 columns
    column  type      used as  missing  distinct  examples
    size    number    feature  1        3         1.5, 2.5, 3
    color   category  feature  0        2         red, blue
    2 features: 1 number, 1 category
    1 missing value in column 'size': imputed with the median and indicated
    """
    X = as_frame(X)
    names = frame_names(X)
    if not names:
        raise TypeError(f"inspect needs a data frame, got {type(X).__name__}.")
    if target is not None and target not in names:
        raise ValueError(f"X has no column {target!r}; its columns are {', '.join(map(str, names[:10]))}.")
    options = options_json(
        None if target is None else str(target),
        target_type,
        include=include,
        exclude=exclude,
        id=id,
        types=types,
    )
    account, notes = _native.inspect(native_columns(X), options, settings(0, None, 0))
    return Inspection(json.loads(account), notes)


def _row(column: dict[str, Any]) -> tuple[str, ...]:
    reason = f" ({column['reason']})" if column.get("reason") else ""
    examples = ", ".join(column["examples"])
    return (
        column["name"],
        column["type"],
        column["action"] + reason,
        str(column["n_missing"]),
        str(column.get("n_distinct", "")),
        examples if len(examples) <= WIDTH else examples[: WIDTH - 3] + "...",
    )
