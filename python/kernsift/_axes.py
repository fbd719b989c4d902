"""Axes, labels and styles of plots; matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from typing import Any

from kernsift._selected import MAX_NAME_LENGTH, shortened

#: Colors with enough contrast on white and black, distinguishable with color vision deficiency.
COLORS = ["#0072b2", "#d55e00", "#00865f", "#b3508a", "#a36a00", "#2b8fc9", "#7f868c"]
MARKERS = "os^DXPv*"


def axes(ax: Any, size: tuple[float, float] = (8, 4.8), who: str = "the plot") -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f"{who} needs matplotlib, which is not installed: pip install matplotlib. "
            "Reports of to_html() do not need it."
        ) from error
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def legend_label(name: Any, longest: int = MAX_NAME_LENGTH) -> str:
    """A name that matplotlib neither reads as a formula nor hides from legends."""
    text = shortened(name, longest).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def line_style(place: int) -> dict[str, Any]:
    """The color and dashes of each line."""
    dashes = ["-", "--", ":", "-."][(place // len(COLORS)) % 4]
    return {"color": COLORS[place % len(COLORS)], "linestyle": dashes}


def finished(ax: Any, grid: bool = True) -> Any:
    """The axes with grid and legend."""
    if grid:
        ax.grid(axis="y", alpha=0.3)
        ax.set_axisbelow(True)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False)
    return ax
