"""Fits on Dask collections: the same estimators, on tables that a cluster holds.

Each round of a fit is a task for every block of rows, and tasks add the results in the order of the blocks.
Rows stay where they are; what travels are rounds and results of blocks. Blocks have a fixed number of rows,
so a fit has the same bits whatever the chunks of the collection are, however many workers there are, and
whether or not one of them is lost on the way. They are those of the command line reading the table in passes.

Methods without rounds take a random sample of the rows from the workers and fit in this process:
:class:`SampledFit`.

A fitted estimator works on arrays in memory, as those of :mod:`kernsift` do; ``to_local()`` returns one of
these, which does not need Dask. The module needs the extra ``kernsift[dask]``.

Examples
--------
>>> import dask.array as da
>>> import kernsift
>>> from kernsift.dask import FisherScore
>>> X, y, relevant = kernsift.make_synthetic("linear", n_samples=1000, n_features=20, random_state=0)
>>> X, y = da.from_array(X, chunks=(300, 20)), da.from_array(y, chunks=300)
>>> selector = FisherScore(n_features_to_select=2).fit(X, y)
>>> int(selector.order_[0]) in relevant
True
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

import kernsift
from kernsift import _native
from kernsift._base import feature_count_json
from kernsift._native_data import (
    FloatArray,
    Settings,
    check_complete_target,
    continuous_target,
    method_json,
    to_json,
)
from kernsift._sklearn import _fit_context

try:
    from dask.base import compute, is_dask_collection
    from dask.delayed import delayed
except ImportError as error:  # pragma: no cover
    raise ImportError("kernsift.dask needs Dask; install it with pip install 'kernsift[dask]'") from error

__all__ = [
    "BAHSIC",
    "FFS",
    "FOHSIC",
    "HSFS",
    "KOBL",
    "L1SVM",
    "LDFS",
    "PFS",
    "SVMRFE",
    "TAKES",
    "AutoSelector",
    "ChiSquared",
    "FisherScore",
    "HSICLasso",
    "InformationGain",
    "InteractionScreen",
    "KernelSpaceSelector",
    "KnockoffSelector",
    "LaplacianScore",
    "MutualInformation",
    "NCASelector",
    "ReliefF",
    "SampledFit",
    "SelectSignificant",
    "StabilitySelector",
]

#: Cells of a sample, at most: 160 MB of numbers.
MAX_CELLS = 20_000_000
#: Results of blocks that are added by a task.
FAN_IN = 16
#: Distinct values of a target that may be classes.
MAX_CLASSES = 10_000


class Blocks(NamedTuple):
    """A table as blocks of a fixed number of rows."""

    #: A delayed array for each block.
    x: list[Any]
    #: A delayed target for each block; empty without a target.
    y: list[Any]
    #: Number of samples.
    n: int
    rows: int
    #: Names of the features, if the collection has some.
    names: list[str] | None
    d: int


def _check_collection(values: Any, what: str) -> None:
    if not is_dask_collection(values):
        raise TypeError(
            f"{what} must be a dask array, data frame or series, got {type(values).__name__}. For data in "
            "memory use the class of the same name in kernsift."
        )
    if what == "X" and values.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {values.ndim}.")


def _as_array(values: Any, what: str) -> Any:
    """A dask array with known chunks."""
    _check_collection(values, what)
    if hasattr(values, "to_dask_array"):
        if what == "X":
            for name, dtype in values.dtypes.items():
                if getattr(dtype, "kind", "O") not in "iufb":
                    raise ValueError(
                        f"Column {name!r} of X holds {dtype}, and a fit on blocks needs numbers. Encode it, "
                        "or leave it out."
                    )
        elif values.dtype == "string":
            # Arrays have no dtype for strings.
            values = values.astype(object)
        return _final(values).to_dask_array(lengths=True)
    if any(np.isnan(size) for size in values.shape):
        values = values.compute_chunk_sizes()
    return values


def _final(frame: Any) -> Any:
    """A data frame or series with its final partitions: dask joins those of files with few columns."""
    return frame.optimize() if hasattr(frame, "optimize") else frame


def _check_shape(n: int, d: int) -> None:
    if n < 2 or d < 1:
        raise ValueError(f"X must have at least 2 samples and a feature, got the shape {(n, d)}.")


def _blocks(X: Any, y: Any) -> Blocks:
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    x = _as_array(X, "X")
    n, d = x.shape
    _check_shape(n, d)
    rows = _native.block_rows(d)
    x = x.rechunk((rows, d))
    targets: list[Any] = []
    if y is not None:
        y = _as_array(y, "y")
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.ndim != 1 or y.shape[0] != n:
            raise ValueError(f"y must have one value for each of the {n} samples, got the shape {y.shape}.")
        targets = list(y.rechunk(rows).to_delayed().ravel())
    return Blocks(list(x.to_delayed().ravel()), targets, n, rows, names, d)


def _distinct(block: Any) -> npt.NDArray[Any]:
    """The distinct values of a block of a target; too many are cut off."""
    values = np.asarray(block)
    check_complete_target(values)
    found: npt.NDArray[Any] = np.unique(values.astype(str) if values.dtype.kind == "O" else values)
    return found[: MAX_CLASSES + 1]


def _union(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = np.unique(np.concatenate(list(parts)))
    return found[: MAX_CLASSES + 1]


def _codes(block: Any, classes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    values = np.asarray(block)
    if values.dtype.kind == "O":
        values = values.astype(str)
    return np.searchsorted(classes, values).astype(np.int64)


def _numbers(block: Any) -> FloatArray:
    return np.ascontiguousarray(np.asarray(block), dtype=np.float64)


def _of_block(round_: bytes, first: int, x: Any, y: Any) -> bytes:
    """The result of a block, on a worker: one thread, since a worker runs as many tasks as it has threads."""
    return _native.sums_of_block(round_, first, np.asarray(x, np.float64), y, Settings(0, 1, 0))


def _added(round_: bytes, parts: list[bytes]) -> bytes:
    return _native.add_sums(round_, parts)


def _reduced(parts: list[Any], add: Any) -> Any:
    """The sum of delayed results: those of 16 consecutive blocks, then 16 of these sums, and so on."""
    while len(parts) > 1:
        groups = (parts[at : at + FAN_IN] for at in range(0, len(parts), FAN_IN))
        parts = [add(group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


def _parts(values: Any, what: str) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Delayed parts of a collection, of whole rows, and their numbers of rows."""
    if hasattr(values, "to_dask_array"):
        values = _final(values)
        parts, lengths = values.to_delayed(), values.map_partitions(len).compute()
        if len(parts) != len(lengths):
            raise RuntimeError("the partitions of a data frame are not known; call its persist() first")
        return parts, np.asarray(lengths, dtype=np.int64)
    array = _as_array(values, what)
    if array.ndim == 2:
        array = array.rechunk({1: -1})
    return list(array.to_delayed().ravel()), np.asarray(array.chunks[0], dtype=np.int64)


def _rows_of(part: Any, rows: npt.NDArray[np.int64]) -> Any:
    return part.iloc[rows] if hasattr(part, "iloc") else np.asarray(part)[rows]


def _taken(parts: list[Any], lengths: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> Any:
    """These rows, which are in ascending order, in memory: an array, or a data frame or series of pandas."""
    ends = np.cumsum(lengths)
    places = np.searchsorted(rows, [0, *ends])
    take = delayed(_rows_of, pure=False)
    wanted = [
        take(part, rows[places[at] : places[at + 1]] - (ends[at] - lengths[at]))
        for at, part in enumerate(parts)
        if places[at] < places[at + 1]
    ]
    found = cast(Any, compute)(*wanted)
    if isinstance(found[0], np.ndarray):
        return np.concatenate(found)
    # As dask does it: categories of all parts.
    return importlib.import_module("dask.dataframe.dispatch").concat(list(found), ignore_index=True)


def _mapped(estimator: Any, X: Any) -> Any:
    """The rows of a collection as a fitted estimator transforms them, as a dask array."""
    x = _as_array(X, "X")
    x = x.rechunk({1: x.shape[1]})
    chunks = (x.chunks[0], (len(estimator.get_feature_names_out()),))
    return x.map_blocks(estimator.transform, dtype=np.float64, chunks=chunks)


class ToLocal:
    """What estimators on Dask collections have in common."""

    def to_local(self) -> Any:
        """Return the fitted estimator as one of :mod:`kernsift`, which does not need Dask.

        Returns
        -------
        estimator : object
            An estimator of the class of the same name in :mod:`kernsift`, with the same fitted attributes.
        """
        check_is_fitted(self)
        local = getattr(kernsift, type(self).__name__)
        estimator = local.__new__(local)
        estimator.__dict__.update(self.__dict__)
        return estimator


class SampledFit(ToLocal):
    """Fits an estimator to a random sample of the rows of a Dask collection.

    The workers take the rows, and the fit runs in this process: it is that of the class of the same name in
    :mod:`kernsift`, on these rows. The sample does not depend on chunks or workers. Data frames may have
    categories, text, dates and missing values, as there.

    Attributes
    ----------
    n_samples_drawn_ : int
        Number of rows in the sample.
    """

    n_samples_drawn_: int

    def fit(self, X: Any, y: Any = None, *, max_samples: int = 100_000) -> Self:
        """Fit to a random sample of the rows.

        Parameters
        ----------
        X : dask array or dask data frame of shape (n_samples, n_features)
            Training samples.
        y : dask array or dask series of shape (n_samples,)
            The target.
        max_samples : int, default=100000
            Most rows to draw; of more than 200 features fewer are drawn, at most 20 million values. All rows
            are used if there are not more.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        estimator: Any = self
        _check_collection(X, "X")
        if y is not None:
            _check_collection(y, "y")
        if not isinstance(max_samples, Integral) or max_samples < 2:
            raise ValueError(f"max_samples must be an integer, at least 2, got {max_samples!r}.")
        parts, lengths = _parts(X, "X")
        n = int(lengths.sum())
        _check_shape(n, X.shape[1])
        most = min(int(max_samples), max(2, MAX_CELLS // X.shape[1]))
        if n > most:
            generator = np.random.default_rng(estimator._fit_settings().seed)
            rows = np.sort(generator.choice(n, most, replace=False))
        else:
            rows = np.arange(n)
        target = None
        if y is not None:
            of_target, target_lengths = _parts(y, "y")
            if target_lengths.sum() != n:
                raise ValueError(
                    f"y must have one value for each of the {n} samples, got {target_lengths.sum()}."
                )
            target = _taken(of_target, target_lengths, rows)
        fit: Any = super()
        fit.fit(_taken(parts, lengths, rows), target)
        self.n_samples_drawn_ = len(rows)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to a random sample of the rows, and map all rows as a dask array.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features)
            Training samples. Of a data frame take the columns ``X[selector.get_feature_names_out()]``.
        y : dask array or dask series of shape (n_samples,)
            The target.
        **fit_params : dict
            `max_samples` of :meth:`fit`.

        Returns
        -------
        X_new : dask array of shape (n_samples, n_features_out)
            The selected features, or coordinates, of all samples.
        """
        if hasattr(X, "to_dask_array"):
            raise TypeError(
                "fit_transform takes a dask array. Of a data frame take the columns "
                "X[selector.get_feature_names_out()] after fit."
            )
        self.fit(X, y, **fit_params)
        return _mapped(self.to_local(), X)


class DaskMixin(ToLocal):
    """Fits an estimator in rounds over the blocks of a Dask collection."""

    _family: str
    n_features_in_: int

    def _in_rounds(self, X: Any, y: Any, *, kind: str | None) -> dict[str, Any]:
        """What the rounds give. `kind` is the target type: "class" needs classes, None no target."""
        estimator: Any = self
        blocks = _blocks(X, None if kind is None else y)
        targets: list[Any] = [None] * len(blocks.x)
        fitted: dict[str, Any] = {}
        layout: dict[str, Any] = {"n": blocks.n, "block_rows": blocks.rows, "target": "none"}
        layout["names"] = blocks.names or [f"x{j}" for j in range(blocks.d)]
        if kind is not None:
            targets, layout["target"], fitted = self._targets(blocks, kind)
        settings = estimator._fit_settings()
        count = feature_count_json(getattr(self, "n_features_to_select", None))
        parameters = estimator._own_parameters()
        form = to_json(parameters) if self._family == "screen" else method_json(estimator._method, parameters)
        round_ = _native.start_rounds(self._family, form, count, json.dumps(layout), settings)
        of_block, added = delayed(_of_block, pure=False), delayed(_added, pure=False)
        while True:
            # One object for all tasks, which goes to each worker once.
            state = delayed(round_)
            firsts = range(0, blocks.n, blocks.rows)
            work = zip(firsts, blocks.x, targets, strict=True)
            parts = [of_block(state, first, x, target) for first, x, target in work]
            total = _reduced(parts, lambda group, state=state: added(state, group)).compute()
            following = _native.next_round(round_, total, settings)
            if "round" not in following:
                break
            round_ = following["round"]
        self.n_features_in_ = blocks.d
        for name in ("feature_names_in_", "classes_", "target_type_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(fitted)
        if blocks.names is not None:
            estimator.feature_names_in_ = np.array(blocks.names, dtype=object)
        return following

    def _targets(self, blocks: Blocks, kind: str) -> tuple[list[Any], Any, dict[str, Any]]:
        """The targets of the blocks as codes or numbers, the target of the layout, and fitted attributes."""
        estimator: Any = self
        if not blocks.y:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        distinct = delayed(_distinct, pure=False)
        union = delayed(_union, pure=False)
        values = _reduced([distinct(y) for y in blocks.y], union).compute()
        if len(values) > MAX_CLASSES:
            if values.dtype.kind not in "iuf" or kind == "class":
                raise ValueError(f"y has more than {MAX_CLASSES} classes. Is it the right column?")
            is_continuous = True
        else:
            # The rule of the core needs to know whether there are 2, or 10, samples for each value.
            each = min(10, max(1, blocks.n // len(values)))
            is_continuous = continuous_target(np.repeat(values, each), kind) is not None
        if is_continuous:
            numbers = delayed(_numbers, pure=False)
            return [numbers(y) for y in blocks.y], "continuous", {"target_type_": "number"}
        fitted: dict[str, Any] = {"classes_": values}
        if hasattr(type(self), "target_type_") or "target_type" in estimator.get_params(deep=False):
            fitted["target_type_"] = "class"
        codes, classes = delayed(_codes, pure=False), delayed(values)
        names = [str(value) for value in values]
        return [codes(y, classes) for y in blocks.y], {"classes": names}, fitted


class DaskSelector(DaskMixin):
    """A feature selector on Dask collections."""

    _family = "selector"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features and select some.

        Parameters
        ----------
        X : dask array or dask data frame of shape (n_samples, n_features)
            Training samples: numbers without missing values. They are read once per round.
        y : dask array or dask series of shape (n_samples,)
            The target.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        estimator: Any = self
        kind = cast(str, estimator.get_params(deep=False).get("target_type", "class"))
        answer = self._in_rounds(X, y, kind=kind)["selection"]
        estimator._store_selection(answer)
        return self


class FisherScore(DaskSelector, kernsift.FisherScore):
    """:class:`kernsift.FisherScore` on Dask collections.

    Classes take one round, a continuous target three: means, correlations, residuals.

    {parameters and attributes}
    """


class InformationGain(DaskSelector, kernsift.InformationGain):
    """:class:`kernsift.InformationGain` on Dask collections.

    It takes two rounds: a sample of rows, then counts by bin and class. Beyond
    min(8192, 4,194,304 / n_features) samples, bins of features with 64 or more values end at sampled values,
    unless they are of equal width.

    {parameters and attributes}
    """


class ChiSquared(DaskSelector, kernsift.ChiSquared):
    """:class:`kernsift.ChiSquared` on Dask collections.

    Counts take one round, bins two: a sample of rows, then counts by bin and class.

    {parameters and attributes}
    """


class HSICLasso(DaskSelector, kernsift.HSICLasso):
    """:class:`kernsift.HSICLasso` on Dask collections.

    It takes two rounds: standard deviations, then products of kernel matrices. `block_size` and
    `n_features_to_select` must be given. The kernel of a continuous target is ``"auto"`` or ``"linear"``.
    Samples are shuffled within blocks of rows.

    {parameters and attributes}
    """


class InteractionScreen(DaskMixin, kernsift.InteractionScreen):
    """:class:`kernsift.InteractionScreen` on Dask collections.

    It takes four rounds: ranks, effects of features, pairs, pairs beyond their features. Beyond
    min(1024, 4,194,304 / n_features) samples, ranks are among at most 1024 sampled values. `permutations`
    must be 0.

    {parameters and attributes}
    """

    _family = "screen"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Score all pairs of features and test the best.

        Parameters
        ----------
        X : dask array or dask data frame of shape (n_samples, n_features)
            Training samples: numbers without missing values. They are read once per round.
        y : dask array or dask series of shape (n_samples,)
            The target.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        answer = self._in_rounds(X, y, kind=self.target_type)["pairs"]
        self._store_pairs(json.loads(answer), np.arange(self.n_features_in_))
        return self


class KOBL(DaskMixin, kernsift.KOBL):
    """:class:`kernsift.KOBL` on Dask collections.

    The pivots must be random (``pivoting="random"``): each round draws candidates by residual and makes
    pivots of them, often some dozens. :meth:`transform` takes an array in memory, :meth:`fit_transform`
    gives a dask array.

    {parameters and attributes}
    """

    _family = "basis"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the basis.

        Parameters
        ----------
        X : dask array or dask data frame of shape (n_samples, n_features)
            Training samples: numbers without missing values. They are read once per round.
        y : None
            Not used.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if callable(self.threshold):
            raise ValueError("A threshold that is a function does not travel to workers. Give a number.")
        self._store(self._in_rounds(X, None, kind=None)["map"])
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the basis and map the training samples, as a dask array.

        Parameters
        ----------
        X : dask array or dask data frame of shape (n_samples, n_features)
            Training samples.
        y : None
            Not used.

        Returns
        -------
        X_new : dask array of shape (n_samples, n_components_)
            Coordinates of the training samples.
        """
        return _mapped(self.fit(X).to_local(), X)


def _sampled(name: str) -> Any:
    """The class of this name in :mod:`kernsift`, fitted to a sample."""
    doc = f""":class:`kernsift.{name}` fitted to a random sample of a Dask collection: a :class:`SampledFit`.

    Parameters and attributes are those of :class:`kernsift.{name}`.
    """
    return type(name, (SampledFit, getattr(kernsift, name)), {"__doc__": doc, "__module__": __name__})


BAHSIC = _sampled("BAHSIC")
FFS = _sampled("FFS")
FOHSIC = _sampled("FOHSIC")
HSFS = _sampled("HSFS")
L1SVM = _sampled("L1SVM")
LDFS = _sampled("LDFS")
PFS = _sampled("PFS")
SVMRFE = _sampled("SVMRFE")
TAKES = _sampled("TAKES")
AutoSelector = _sampled("AutoSelector")
KernelSpaceSelector = _sampled("KernelSpaceSelector")
KnockoffSelector = _sampled("KnockoffSelector")
LaplacianScore = _sampled("LaplacianScore")
MutualInformation = _sampled("MutualInformation")
NCASelector = _sampled("NCASelector")
ReliefF = _sampled("ReliefF")
SelectSignificant = _sampled("SelectSignificant")
StabilitySelector = _sampled("StabilitySelector")
