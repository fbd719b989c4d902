"""Plots of fitted estimators, with matplotlib.

Every function draws a fitted estimator on `ax`, or on a new figure, and returns the axes. Only this module
and the plots of comparisons need matplotlib.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._axes import COLORS, MARKERS, axes, finished, legend_label, line_style
from kernsift._frames import as_frame, frame_names, prepare
from kernsift._native_data import FloatArray, checked_rows, native_rows, settings
from kernsift._parameters import documented
from kernsift._selected import (
    MAX_NAME_LENGTH,
    counted,
    kernel_weights,
    selected_scores,
    selects_directions,
)
from kernsift._selector import FeatureSelectorMixin
from kernsift.dependence import BAHSIC, FOHSIC
from kernsift.design import KernelDesign
from kernsift.learners import KernelLearner
from kernsift.selectors import SVMRFE, NCASelector
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


@documented()
def plot_scores(estimator: Any, ax: Any = None, *, max_features: int = 20) -> Any:
    """Plot the scores of the selected features, best first.

    Parameters
    ----------
    estimator : estimator
        A fitted selector, kernel learner, or selection in kernel space; for the last, the weights of the
        selected directions are plotted.
    {ax}
    max_features : int, default=20
        Maximum number of bars.

    Returns
    -------
    ax : matplotlib axes
        With a bar per feature.

    Examples
    --------
    >>> from kernsift import FisherScore, load_dataset, plot_scores
    >>> wine = load_dataset("wine")
    >>> ax = plot_scores(FisherScore(4).fit(wine.data, wine.target))
    >>> len(ax.patches)
    4
    """
    order, scores, names = selected_scores(estimator)
    what = "direction" if selects_directions(estimator) else "feature"
    shown = order[:max_features]
    ax = _bars(ax, [names[j] for j in shown], scores[shown])
    ax.set_xlabel("weight" if what == "direction" else "score")
    some = f"the best {len(shown)} of " if len(shown) < len(order) else ""
    ax.set_title(f"{some}{len(order)} of {counted(len(scores), what)} selected")
    return ax


@documented()
def plot_error_curve(estimator: Any, ax: Any = None) -> Any:
    """Plot the training error by number of selected features.

    Parameters
    ----------
    estimator : estimator
        A fitted FFS, SVMRFE, TAKES, or KernelSpaceSelector with "kffs".
    {ax}

    Returns
    -------
    ax : matplotlib axes
        With the curve, and a line at the selected number.

    Examples
    --------
    >>> from kernsift import TAKES, load_dataset, plot_error_curve
    >>> wine = load_dataset("wine")
    >>> ax = plot_error_curve(TAKES(random_state=0).fit(wine.data, wine.target))
    >>> ax.get_xlabel()
    'number of directions'
    """
    curve = _needs(estimator, "error_curve_", "FFS, SVMRFE, TAKES, KernelSpaceSelector with 'kffs'")
    what = "direction" if selects_directions(estimator) else "feature"
    counts = np.arange(1, len(curve) + 1)
    if isinstance(estimator, SVMRFE):
        # The first round has all features, and is the last point of the curve.
        counts = np.array([(estimator.scores_ >= r).sum() for r in range(len(curve), 0, -1)])
    n_selected = int(estimator.support_.sum())
    ax = axes(ax)
    ax.plot(counts, 100 * curve, color=COLORS[0], marker="o" if len(curve) <= 60 else None, markersize=4)
    ax.axvline(n_selected, color=COLORS[1], linestyle="--", label=f"{counted(n_selected, what)} selected")
    ax.set_xlabel(f"number of {what}s")
    ax.set_ylabel("training error, %")
    ax.set_ylim(bottom=0)
    _integer_ticks(ax)
    return finished(ax)


@documented()
def plot_path(estimator: Any, ax: Any = None, *, max_features: int = 10) -> Any:
    """Plot the weights of the features along the regularization path.

    Parameters
    ----------
    estimator : estimator
        A fitted selector with `path_`: HSFS, LDFS, PFS, HSICLasso, FOHSIC, BAHSIC or NCASelector.
    {ax}
    max_features : int, default=10
        Maximum number of features in the legend, best first; the others are gray.

    Returns
    -------
    ax : matplotlib axes
        With a line per feature with nonzero weight anywhere on the path. Few features are selected on the
        left.

    Examples
    --------
    >>> from kernsift import LDFS, load_dataset, plot_path
    >>> wine = load_dataset("wine")
    >>> ax = plot_path(LDFS(4).fit(wine.data, wine.target))
    >>> ax.get_xlabel()
    'penalty'
    """
    path = _needs(estimator, "path_", "HSFS, LDFS, PFS, HSICLasso, FOHSIC, BAHSIC, NCASelector")
    order, scores, names = selected_scores(estimator)
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
    by_number = isinstance(estimator, FOHSIC | BAHSIC | NCASelector)
    by_radius = isinstance(estimator, HSFS) and estimator.form == "constrained"
    ax.set_xlabel("number of features" if by_number else "radius" if by_radius else "penalty")
    ax.set_ylabel("contribution of the feature" if by_number else "weight of the feature")
    least, most = path.strength.min(), path.strength.max()
    if not by_number and 0 < 20 * least < most:
        ax.set_xscale("log")
    if by_number:
        _integer_ticks(ax)
    elif not by_radius:
        ax.invert_xaxis()
    return finished(ax)


@documented()
def plot_residuals(estimator: Any, ax: Any = None) -> Any:
    """Plot the residual norms of a basis of kernel space.

    Parameters
    ----------
    estimator : estimator
        A fitted basis, or a selection in kernel space, whose basis is plotted.
    {ax}

    Returns
    -------
    ax : matplotlib axes
        With `residual_norms_`, and a line at the number of components.

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
    norms = _needs(basis, "residual_norms_", "a basis, a selection in kernel space")
    cost, count = basis.reconstruction_cost_, basis.n_components_
    ax = axes(ax)
    marker = "o" if len(norms) <= 60 else None
    ax.plot(np.arange(1, len(norms) + 1), norms, color=COLORS[0], marker=marker, markersize=4)
    label = f"{counted(count, 'component')}, mean residual norm {cost:.3g}"
    ax.axvline(count, color=COLORS[1], linestyle="--", label=label)
    positive = norms[norms > 0]
    if positive.size and positive.min() < 0.01 * positive.max():
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, 1.05 * norms.max(initial=0.01))
    ax.set_xlabel("number of components")
    ax.set_ylabel("residual norm before each component")
    _integer_ticks(ax)
    return finished(ax)


@documented()
def plot_map(estimator: Any, X: Any, y: Any = None, ax: Any = None) -> Any:
    """Plot samples in the space of the estimator, along the two directions of largest variance.

    Parameters
    ----------
    estimator : estimator
        A fitted basis, selection in kernel space, or selector, whose transformed samples are plotted; or a
        fitted kernel learner, for the space of the learned kernel. The features of a selector with
        `standardize` are standardized.
    {X}
    y : array-like of shape (n_samples,) or None, default=None
        Colors of the samples: up to ten classes, or numbers.
    {ax}

    Returns
    -------
    ax : matplotlib axes
        With a point per sample. The labels have the fraction of the variance of each direction.

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
    points, fractions = _two_directions(estimator, X)
    colors = None if y is None else column_or_1d(y)
    if colors is not None and len(colors) != len(points):
        raise ValueError(f"y has {len(colors)} values, but X has {len(points)} samples.")
    ax = axes(ax)
    style: dict[str, Any] = {"s": 18, "linewidths": 0, "alpha": 0.85}
    if colors is None:
        ax.scatter(*points.T, color=COLORS[0], **style)
    elif type_of_target(colors).startswith("continuous") or len(np.unique(colors)) > 10:
        if colors.dtype.kind not in "biuf":
            raise ValueError(f"y has {len(np.unique(colors))} classes, more than ten. Leave y out.")
        drawn = ax.scatter(*points.T, c=colors.astype(float), cmap="viridis", **style)
        ax.figure.colorbar(drawn, ax=ax, label="y")
    else:
        for place, value in enumerate(np.unique(colors)):
            marks = {"color": COLORS[place % len(COLORS)], "marker": MARKERS[place % len(MARKERS)]}
            ax.scatter(*points[colors == value].T, label=legend_label(value), **marks, **style)
    for set_label, place in ((ax.set_xlabel, 0), (ax.set_ylabel, 1)):
        set_label(f"direction {place + 1} ({100 * fractions[place]:.0f} % of the variance)")
    return finished(ax, grid=False)


@documented()
def plot_redundancy(estimator: Any, X: Any, ax: Any = None, *, max_features: int = 20) -> Any:
    """Plot the dependence between the selected features.

    The measure is the centered alignment of Gaussian kernels with the median bandwidth: 0 for independent
    features, 1 for features with the same kernel.

    Parameters
    ----------
    estimator : estimator
        A fitted selector, or KernelDesign.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples; with more than 1000, every second, third and so on is used.
    {ax}
    max_features : int, default=20
        Maximum number of features, best first.

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
    if not isinstance(estimator, FeatureSelectorMixin):
        raise TypeError(
            f"{type(estimator).__name__} does not select features. Pass a selector or KernelDesign."
        )
    order, _, names = selected_scores(estimator)
    shown = order[:max_features]
    if not len(shown):
        raise ValueError("no feature was selected.")
    rows = checked_rows(estimator, X, reset=False, ensure_min_samples=2)
    columns, frame = shown, as_frame(X)
    if frame_names(frame):
        rows = prepare(frame, settings(0, None, 0), **getattr(estimator, "_column_options", {}))
        columns = rows.features_of(shown)
    alignment = _native.alignment(native_rows(rows), [int(j) for j in columns], settings(0, None, 0))
    labels = [legend_label(names[j]) for j in shown]
    side = 2.6 + 0.34 * len(shown)
    ax = axes(ax, (side + 1.6, side + 0.4))
    drawn = ax.imshow(alignment, vmin=0, vmax=1, cmap="viridis")
    ax.figure.colorbar(drawn, ax=ax, label="kernel alignment", shrink=0.8)
    ax.set_xticks(range(len(shown)), labels, rotation=90)
    ax.set_yticks(range(len(shown)), labels)
    return ax


@documented()
def plot_kernels(estimator: Any, ax: Any = None, *, max_kernels: int = 20) -> Any:
    """Plot the weights of the kernels of a kernel design, largest first.

    Parameters
    ----------
    estimator : KernelDesign
        A fitted kernel design.
    {ax}
    max_kernels : int, default=20
        Maximum number of bars.

    Returns
    -------
    ax : matplotlib axes
        With a bar per kernel; kernels of a single feature are labeled with its name.

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
        raise TypeError(f"{type(estimator).__name__} has no kernel weights. Pass a KernelDesign.")
    check_is_fitted(estimator)
    labels, weights = kernel_weights(estimator)
    shown = slice(max_kernels)
    ax = _bars(ax, labels[shown], weights[shown])
    ax.set_xlabel("weight")
    some = f"the largest {max_kernels} of " if len(labels) > max_kernels else ""
    ax.set_title(f"{some}{len(labels)} of {counted(len(estimator.alpha_), 'kernel')} with nonzero weight")
    return ax


@documented()
def plot_margins(estimator: Any, X: Any, y: Any, ax: Any = None, *, bins: int = 40) -> Any:
    """Plot a histogram of the margins of triplets under a learned kernel.

    Parameters
    ----------
    estimator : KernelDesign or XingMetric
        A fitted kernel learner.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples, preferably held out from training.
    y : array-like of shape (n_triplets, 3) or (n_samples,)
        Triplets of these samples, or labels to draw them from, as for `score`.
    {ax}
    bins : int, default=40
        Number of bins.

    Returns
    -------
    ax : matplotlib axes
        With a histogram of ``K[i, j] - K[i, k]``, which is positive for satisfied triplets.

    Examples
    --------
    >>> from kernsift import XingMetric, load_dataset, plot_margins
    >>> wine = load_dataset("wine")
    >>> learner = XingMetric(random_state=0).fit(wine.data[::2], wine.target[::2])
    >>> ax = plot_margins(learner, wine.data[1::2], wine.target[1::2])
    >>> ax.get_ylabel()
    'triplets'
    """
    if not isinstance(estimator, KernelLearner):
        raise TypeError(
            f"{type(estimator).__name__} is not a kernel learner. Pass a KernelDesign or XingMetric."
        )
    check_is_fitted(estimator)
    margins, accuracy = estimator._margins(X, y), estimator.score(X, y)
    ax = axes(ax)
    ax.hist(margins, bins=bins, color=COLORS[0])
    ax.axvline(0, color=COLORS[1], linestyle="--", label=f"{100 * accuracy:.1f} % satisfied")
    ax.set_xlabel("K[i, j] - K[i, k]")
    ax.set_ylabel("triplets")
    return finished(ax)


def _needs(estimator: Any, attribute: str, who: str) -> Any:
    check_is_fitted(estimator)
    found = getattr(estimator, attribute, None)
    if found is None:
        raise TypeError(f"{type(estimator).__name__} has no {attribute}. Pass one of: {who}.")
    return found


def _bars(ax: Any, labels: list[str], values: FloatArray) -> Any:
    """Horizontal bars with labels, from the top."""
    ax = axes(ax, (8, 1.3 + 0.3 * max(len(labels), 3)))
    places = np.arange(len(labels))
    ax.barh(places, values, height=0.7, color=COLORS[0])
    ax.set_yticks(places, [legend_label(label, 2 * MAX_NAME_LENGTH) for label in labels])
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    return ax


def _integer_ticks(ax: Any) -> None:
    """Only integer ticks."""
    ax.xaxis.get_major_locator().set_params(integer=True)


def _dense(X: Any) -> FloatArray:
    values: FloatArray = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return values


def _two_directions(estimator: Any, X: Any) -> tuple[FloatArray, FloatArray]:
    """Samples along the two directions of largest variance, and the fractions of the variance."""
    if isinstance(estimator, KernelLearner):
        values, vectors = np.linalg.eigh(_centered(estimator.kernel(X)))
        # Negative eigenvalues come from rounding or from a kernel that is not positive semidefinite.
        values = np.maximum(values[::-1], 0)
        points = vectors[:, ::-1][:, :2] * np.sqrt(values[:2])
    else:
        mapped = _dense(estimator.transform(X)).astype(np.float64)
        mapped = mapped - mapped.mean(axis=0)
        if isinstance(estimator, FeatureSelectorMixin) and getattr(estimator, "standardize", False):
            std = mapped.std(axis=0)
            mapped = mapped / np.where(std > 0, std, 1)
        vectors, lengths, _ = np.linalg.svd(mapped, full_matrices=False)
        values = lengths**2
        points = vectors[:, :2] * lengths[:2]
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros(len(points))])
        values = np.append(values, 0)
    # Fix the signs, so that they do not depend on the platform.
    points = points * np.where(points[np.abs(points).argmax(axis=0), [0, 1]] < 0, -1, 1)
    return points, values[:2] / max(values.sum(), np.finfo(float).tiny)


def _centered(k: FloatArray) -> FloatArray:
    means = k.mean(axis=0)
    centered: FloatArray = k - means - means[:, None] + k.mean()
    return centered
