"""Results that print as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from kernsift._html import escaped, table
from kernsift._selected import shortened

#: Rows that are printed.
SHOWN = 20


def aligned(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, align: Callable[[str, int], str] = str.rjust
) -> list[str]:
    """The lines of a table: the first column to the left, others as `align` says."""
    lines = [heads, *rows]
    widths = [max(len(row[j]) for row in lines) for j in range(len(heads))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(align(c, w) for c, w in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in lines
    ]


class TextTableMixin:
    """Prints records as a table of text, under a headline."""

    #: The keys of a record that are printed.
    _header: ClassVar[tuple[str, ...]]

    def _records(self) -> list[dict[str, Any]]:
        """The records, the first ones first."""
        raise NotImplementedError

    def _headline(self) -> str:
        """The text above the table."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._records())

    def table(self) -> list[tuple[str, ...]]:
        """A row of text for each of the first records, under the header of the printed table."""
        rows = (tuple(_cell(record[key]) for key in self._header) for record in self._records()[:SHOWN])
        return [self._header, *rows]

    def __repr__(self) -> str:
        header, *rows = self.table()
        lines = aligned(header, rows, align=str.ljust)
        more = len(self) - SHOWN
        return "\n".join([self._headline(), *lines, *([f"and {more} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        header, *rows = self.table()
        return table([[escaped(cell) for cell in row] for row in rows], header, escaped(self._headline()))


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shortened(value)
