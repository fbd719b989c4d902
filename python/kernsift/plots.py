"""Pictures of fitted estimators, on matplotlib axes.

Every function takes a fitted estimator and `ax`, where to draw; without one it makes a figure. It returns the
axes, and shows nothing by itself. matplotlib is needed for these functions alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._base import KeepsColumns
from kernsift._crossing import FloatArray, checked_rows, native_rows, settings
from kernsift._kept import (
    LONGEST,
    counted,
    keeps_directions,
    kept_scores,
    kernel_weights,
    shortened,
)
from kernsift.dependence import BAHSIC, FOHSIC
from kernsift.design import KernelDesign
from kernsift.learners import KernelLearner
from kernsift.selectors import SVMRFE
from kernsift.transforms import HSFS

__all__ = [
    "plot_error_curve",
    "plot_kernels",
    "plot_map",
    "plot_margins",
    "plot_path",
    "plot_redundancy",
    "plot_residuals",
    "plot_scores",
]

#: Colours that can be told apart on white and on black, and by the colour-blind.
COLOURS = ["#0072b2", "#d55e00", "#00865f", "#b3508a", "#a36a00", "#2b8fc9", "#7f868c"]
MARKERS = "os^DXPv*"


def plot_scores(estimator: Any, ax: Any = None, *, max_features: int = 20) -> Any:
    """Draw the scores of the columns that were kept, best first.

    Parameters
    ----------
    estimator : estimator
        A fitted selector, kernel learner, or selection in kernel space; of the last, the weights of
        directions are drawn.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a figure.
    max_features : int, default=20
        The most bars.

    Returns
    -------
    ax : matplotlib axes
        With a bar for each column.

    Examples
    --------
    >>> from kernsift import FisherScore, load_dataset, plot_scores
    >>> wine = load_dataset("wine")
    >>> ax = plot_scores(FisherScore(4).fit(wine.data, wine.target))
    >>> len(ax.patches)
    4
    """
    order, scores, names = kept_scores(estimator)
    what = "direction" if keeps_directions(estimator) else "column"
    shown = order[:max_features]
    ax = _bars(ax, [names[j] for j in shown], scores[shown])
    ax.set_xlabel("weight" if what == "direction" else "score")
    some = f"the best {len(shown)} of " if len(shown) < len(order) else ""
    ax.set_title(f"{some}{len(order)} of {counted(len(scores), what)} kept")
    return ax


def plot_error_curve(estimator: Any, ax: Any = None) -> Any:
    """Draw how many training rows are wrong after each step of a selection.

    Parameters
    ----------
    estimator : estimator
        A fitted FFS, SVMRFE, TAKES, or KernelSpaceSelector with "kffs".
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    ax : matplotlib axes
        With the curve, and a mark where the number that is kept stands.

    Examples
    --------
    >>> from kernsift import TAKES, load_dataset, plot_error_curve
    >>> wine = load_dataset("wine")
    >>> ax = plot_error_curve(TAKES(random_state=0).fit(wine.data, wine.target))
    >>> ax.get_xlabel()
    'number of directions'
    """
    curve = _needs(estimator, "error_curve_", "FFS, SVMRFE, TAKES and KernelSpaceSelector with 'kffs'")
    what = "direction" if keeps_directions(estimator) else "column"
    counts = np.arange(1, len(curve) + 1)
    if isinstance(estimator, SVMRFE):
        # The first round has all columns, and is the curve's last point.
        counts = np.array([(estimator.scores_ >= r).sum() for r in range(len(curve), 0, -1)])
    kept = int(estimator.support_.sum())
    ax = axes(ax)
    ax.plot(counts, 100 * curve, color=COLOURS[0], marker="o" if len(curve) <= 60 else None, markersize=4)
    ax.axvline(kept, color=COLOURS[1], linestyle="--", label=f"{counted(kept, what)} kept")
    ax.set_xlabel(f"number of {what}s")
    ax.set_ylabel("error on the training rows, %")
    ax.set_ylim(bottom=0)
    _whole(ax)
    return finished(ax)


def plot_path(estimator: Any, ax: Any = None, *, max_features: int = 10) -> Any:
    """Draw the weights of columns along the path of a selection.

    Parameters
    ----------
    estimator : estimator
        A fitted selector with `path_`: HSFS, LDFS, PFS, HSICLasso, FOHSIC or BAHSIC.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a figure.
    max_features : int, default=10
        The most columns that are named, best first; the others are thin and grey.

    Returns
    -------
    ax : matplotlib axes
        With a line for each column that has a weight somewhere. What stands at its left end has few columns.

    Examples
    --------
    >>> from kernsift import LDFS, load_dataset, plot_path
    >>> wine = load_dataset("wine")
    >>> ax = plot_path(LDFS(4).fit(wine.data, wine.target))
    >>> ax.get_xlabel()
    'penalty'
    """
    path = _needs(estimator, "path_", "HSFS, LDFS, PFS, HSICLasso, FOHSIC and BAHSIC")
    order, scores, names = kept_scores(estimator)
    named = order[:max_features].tolist()
    weights = np.zeros((len(path.strength), len(scores)))
    for place, (features, values) in enumerate(zip(path.features, path.weights, strict=True)):
        weights[place, features] = values
    ax = axes(ax)
    marker = "." if len(path.strength) <= 30 else None
    for j in np.flatnonzero(weights.any(axis=0)):
        if j not in named:
            ax.plot(path.strength, weights[:, j], color="0.5", linewidth=0.6, alpha=0.6)
    for place, j in enumerate(named):
        ax.plot(
            path.strength, weights[:, j], marker=marker, label=legend_label(names[j]), **line_style(place)
        )
    by_number = isinstance(estimator, FOHSIC | BAHSIC)
    by_radius = isinstance(estimator, HSFS) and estimator.form == "constrained"
    ax.set_xlabel("columns in the set" if by_number else "radius" if by_radius else "penalty")
    ax.set_ylabel("what the column adds" if by_number else "weight of the column")
    least, most = path.strength.min(), path.strength.max()
    if not by_number and 0 < 20 * least < most:
        ax.set_xscale("log")
    if by_number:
        _whole(ax)
    elif not by_radius:
        ax.invert_xaxis()
    return finished(ax)


def plot_residuals(estimator: Any, ax: Any = None) -> Any:
    """Draw how much each component of a basis of kernel space still found.

    Parameters
    ----------
    estimator : estimator
        A fitted basis, or a selection in kernel space, of which the basis is drawn.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    ax : matplotlib axes
        With `residual_norms_`, and where the basis stopped.

    Examples
    --------
    >>> from kernsift import KOBL, load_dataset, plot_residuals
    >>> from sklearn.preprocessing import scale
    >>> ax = plot_residuals(KOBL().fit(scale(load_dataset("wine").data)))
    >>> ax.get_xlabel()
    'number of components'
    """
    check_is_fitted(estimator)
    basis = getattr(estimator, "basis_", estimator)
    norms = _needs(basis, "residual_norms_", "the bases and selections in kernel space")
    cost, count = basis.reconstruction_cost_, basis.n_components_
    ax = axes(ax)
    marker = "o" if len(norms) <= 60 else None
    ax.plot(np.arange(1, len(norms) + 1), norms, color=COLOURS[0], marker=marker, markersize=4)
    label = f"stops at {counted(count, 'component')}, mean distance left {cost:.3g}"
    ax.axvline(count, color=COLOURS[1], linestyle="--", label=label)
    positive = norms[norms > 0]
    if positive.size and positive.min() < 0.01 * positive.max():
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, 1.05 * norms.max(initial=0.01))
    ax.set_xlabel("number of components")
    ax.set_ylabel("length left before each component")
    _whole(ax)
    return finished(ax)


def plot_map(estimator: Any, X: Any, y: Any = None, ax: Any = None) -> Any:
    """Draw rows as the estimator sees them, along the two directions in which they spread most.

    Parameters
    ----------
    estimator : estimator
        A fitted basis, selection in kernel space, or selector, whose mapped rows are drawn; or a fitted
        kernel learner, of which the space of the learned kernel is. The columns of a selector that
        standardises are brought to one scale.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,) or None, default=None
        What rows are coloured by: up to ten classes, or numbers.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    ax : matplotlib axes
        With a point for each row. The labels say what share of all spread the directions hold.

    Examples
    --------
    >>> from kernsift import KernelDiscriminant, load_dataset, plot_map
    >>> from sklearn.preprocessing import scale
    >>> wine = load_dataset("wine")
    >>> X = scale(wine.data)
    >>> ax = plot_map(KernelDiscriminant().fit(X, wine.target), X, wine.target)
    >>> len(ax.get_legend().get_texts())
    3
    """
    check_is_fitted(estimator)
    points, shares = _two_directions(estimator, X)
    colours = None if y is None else column_or_1d(y)
    if colours is not None and len(colours) != len(points):
        raise ValueError(f"y has {len(colours)} values, but X has {len(points)} rows.")
    ax = axes(ax)
    style: dict[str, Any] = {"s": 18, "linewidths": 0, "alpha": 0.85}
    if colours is None:
        ax.scatter(*points.T, color=COLOURS[0], **style)
    elif type_of_target(colours).startswith("continuous") or len(np.unique(colours)) > 10:
        if colours.dtype.kind not in "biuf":
            raise ValueError(f"y has {len(np.unique(colours))} classes, more than ten colours; leave y out.")
        drawn = ax.scatter(*points.T, c=colours.astype(float), cmap="viridis", **style)
        ax.figure.colorbar(drawn, ax=ax, label="y")
    else:
        for place, value in enumerate(np.unique(colours)):
            look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            ax.scatter(*points[colours == value].T, label=legend_label(value), **look, **style)
    for set_label, place in ((ax.set_xlabel, 0), (ax.set_ylabel, 1)):
        set_label(f"direction {place + 1} ({100 * shares[place]:.0f} % of the spread)")
    return finished(ax, grid=False)


def plot_redundancy(estimator: Any, X: Any, ax: Any = None, *, max_features: int = 20) -> Any:
    """Draw how much the kept columns tell of each other.

    The measure is the alignment of their centred Gaussian kernels with median widths, from 0 for columns that
    have nothing to do with each other to 1 for columns that say the same, in whatever curve they lie.

    Parameters
    ----------
    estimator : estimator
        A fitted selector, or KernelDesign.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; of more than 1000 every second, third and so on is used.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a figure.
    max_features : int, default=20
        The most columns, best first.

    Returns
    -------
    ax : matplotlib axes
        With a heat map.

    Examples
    --------
    >>> from kernsift import ReliefF, load_dataset, plot_redundancy
    >>> wine = load_dataset("wine")
    >>> ax = plot_redundancy(ReliefF(4).fit(wine.data, wine.target), wine.data)
    >>> ax.images[0].get_array().shape
    (4, 4)
    """
    check_is_fitted(estimator)
    if not isinstance(estimator, KeepsColumns):
        raise TypeError(f"{type(estimator).__name__} keeps no columns; selectors and KernelDesign do.")
    order, _, names = kept_scores(estimator)
    shown = order[:max_features]
    if not len(shown):
        raise ValueError("no column was kept.")
    rows = checked_rows(estimator, X, reset=False, ensure_min_samples=2)
    alike = _native.alignment(native_rows(rows), [int(j) for j in shown], settings(0, None, 0))
    labels = [legend_label(names[j]) for j in shown]
    side = 2.6 + 0.34 * len(shown)
    ax = axes(ax, (side + 1.6, side + 0.4))
    drawn = ax.imshow(alike, vmin=0, vmax=1, cmap="viridis")
    ax.figure.colorbar(drawn, ax=ax, label="alignment of kernels", shrink=0.8)
    ax.set_xticks(range(len(shown)), labels, rotation=90)
    ax.set_yticks(range(len(shown)), labels)
    return ax


def plot_kernels(estimator: Any, ax: Any = None, *, max_kernels: int = 20) -> Any:
    """Draw the kernels of a design that have a weight, heaviest first.

    Parameters
    ----------
    estimator : KernelDesign
        A fitted design.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a figure.
    max_kernels : int, default=20
        The most bars.

    Returns
    -------
    ax : matplotlib axes
        With a bar for each kernel; a kernel of one column has its name before it.

    Examples
    --------
    >>> from kernsift import KernelDesign, load_dataset, plot_kernels
    >>> wine = load_dataset("wine")
    >>> design = KernelDesign(gamma1=0.01, gamma2=1e-4, random_state=0).fit(wine.data, wine.target)
    >>> ax = plot_kernels(design, max_kernels=5)
    >>> len(ax.patches)
    5
    """
    if not isinstance(estimator, KernelDesign):
        raise TypeError(f"{type(estimator).__name__} has no kernels with weights; KernelDesign has.")
    check_is_fitted(estimator)
    labels, weights = kernel_weights(estimator)
    shown = slice(max_kernels)
    ax = _bars(ax, labels[shown], weights[shown])
    ax.set_xlabel("weight")
    some = f"the heaviest {max_kernels} of " if len(labels) > max_kernels else ""
    ax.set_title(f"{some}{len(labels)} of {counted(len(estimator.alpha_), 'kernel')} with a weight")
    return ax


def plot_margins(estimator: Any, X: Any, y: Any, ax: Any = None, *, bins: int = 40) -> Any:
    """Draw by how much triples are in order under a learned kernel, or out of it.

    Parameters
    ----------
    estimator : KernelDesign or XingMetric
        A fitted kernel learner.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows, best such as were not learned from.
    y : array-like of shape (n_triplets, 3) or (n_samples,)
        Triples of these rows, or classes or numbers to draw them from, as for `score`.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a figure.
    bins : int, default=40
        Bars.

    Returns
    -------
    ax : matplotlib axes
        With a histogram of ``K[i, j] - K[i, k]``: triples right of 0 are in order.

    Examples
    --------
    >>> from kernsift import XingMetric, load_dataset, plot_margins
    >>> wine = load_dataset("wine")
    >>> learner = XingMetric(random_state=0).fit(wine.data[::2], wine.target[::2])
    >>> ax = plot_margins(learner, wine.data[1::2], wine.target[1::2])
    >>> ax.get_ylabel()
    'triples'
    """
    if not isinstance(estimator, KernelLearner):
        raise TypeError(f"{type(estimator).__name__} learns no kernel; KernelDesign and XingMetric do.")
    check_is_fitted(estimator)
    margins, share = estimator._margins(X, y), estimator.score(X, y)
    ax = axes(ax)
    ax.hist(margins, bins=bins, color=COLOURS[0])
    ax.axvline(0, color=COLOURS[1], linestyle="--", label=f"{100 * share:.1f} % in order")
    ax.set_xlabel("K[i, j] - K[i, k]")
    ax.set_ylabel("triples")
    return finished(ax)


def axes(ax: Any, size: tuple[float, float] = (8, 4.8), who: str = "a picture") -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f"{who} needs matplotlib, which is not installed: pip install matplotlib. "
            "The pages that to_html() makes do without it."
        ) from error
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _needs(estimator: Any, attribute: str, who: str) -> Any:
    check_is_fitted(estimator)
    found = getattr(estimator, attribute, None)
    if found is None:
        raise TypeError(f"{type(estimator).__name__} has no {attribute} here; {who} have one.")
    return found


def _bars(ax: Any, labels: list[str], values: FloatArray) -> Any:
    """Bars from the top down, each with its label."""
    ax = axes(ax, (8, 1.3 + 0.3 * max(len(labels), 3)))
    places = np.arange(len(labels))
    ax.barh(places, values, height=0.7, color=COLOURS[0])
    ax.set_yticks(places, [legend_label(label, 2 * LONGEST) for label in labels])
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    return ax


def legend_label(name: Any, longest: int = LONGEST) -> str:
    """A name as matplotlib draws it: not as a formula, and not hidden from legends."""
    text = shortened(name, longest).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def line_style(place: int) -> dict[str, Any]:
    """A colour and dashes of its own for every line."""
    dashes = ["-", "--", ":", "-."][(place // len(COLOURS)) % 4]
    return {"color": COLOURS[place % len(COLOURS)], "linestyle": dashes}


def finished(ax: Any, grid: bool = True) -> Any:
    """The axes with lines to read off from, and a legend."""
    if grid:
        ax.grid(axis="y", alpha=0.3)
        ax.set_axisbelow(True)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False)
    return ax


def _whole(ax: Any) -> None:
    """Counts have no marks between whole numbers."""
    ax.xaxis.get_major_locator().set_params(integer=True)


def _dense(X: Any) -> FloatArray:
    values: FloatArray = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return values


def _two_directions(estimator: Any, X: Any) -> tuple[FloatArray, FloatArray]:
    """Rows along the two directions in which they spread most, and the shares of the spread."""
    if isinstance(estimator, KernelLearner):
        values, vectors = np.linalg.eigh(_centred(estimator.kernel(X)))
        # What rounding or a kernel that is not positive semidefinite leaves below zero is no spread.
        values = np.maximum(values[::-1], 0)
        points = vectors[:, ::-1][:, :2] * np.sqrt(values[:2])
    else:
        mapped = _dense(estimator.transform(X)).astype(np.float64)
        mapped = mapped - mapped.mean(axis=0)
        if isinstance(estimator, KeepsColumns) and getattr(estimator, "standardize", False):
            spread = mapped.std(axis=0)
            mapped = mapped / np.where(spread > 0, spread, 1)
        vectors, lengths, _ = np.linalg.svd(mapped, full_matrices=False)
        values = lengths**2
        points = vectors[:, :2] * lengths[:2]
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros(len(points))])
        values = np.append(values, 0)
    # Directions do not flip between machines.
    points = points * np.where(points[np.abs(points).argmax(axis=0), [0, 1]] < 0, -1, 1)
    return points, values[:2] / max(values.sum(), np.finfo(float).tiny)


def _centred(k: FloatArray) -> FloatArray:
    means = k.mean(axis=0)
    centred: FloatArray = k - means - means[:, None] + k.mean()
    return centred
