"""Stability selection around any selector."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from kernsift._base import Estimator
from kernsift._frames import as_frame, frame_names
from kernsift._html import Bars, Summary
from kernsift._importances import importances
from kernsift._native_data import FloatArray, IntArray, explain_conversion_errors
from kernsift._parameters import Docs
from kernsift._progress import report_progress
from kernsift._selected import feature_names, shortened
from kernsift._selector import FeatureSelectorMixin
from kernsift._sklearn import HasMethods, Interval, _fit_context, _safe_indexing
from kernsift.dependence import HSICLasso

__all__ = ["StabilitySelector"]

#: Samples below which halves are too small for any selector.
MIN_SAMPLES = 10


class StabilitySelector(MetaEstimatorMixin, FeatureSelectorMixin, Estimator):
    """Selects the features that most fits to random halves of the samples select.

    The samples are split at random into two halves, `n_pairs` times, and `estimator` is fitted to every half.
    The frequency of a feature is the fraction of these fits that select it: would another sample choose it,
    too? Features with at least the frequency `threshold` are selected. Classes are split evenly.

    If a fit selects q of p features on average, the expected number of selected features that a fit selects
    with a probability of at most q / p is at most q² / ((2 `threshold` - 1) p), for any estimator and any
    data [1]_. A small q, set by a parameter of `estimator`, gives a small bound.

    {parameters and attributes}

    See Also
    --------
    SelectSignificant : Selects features by their p-values.

    References
    ----------
    .. [1] Shah and Samworth, "Variable selection with error control: another look at stability selection",
       2013, Theorem 1.

    Examples
    --------
    >>> from kernsift import FisherScore, StabilitySelector, make_synthetic
    >>> X, y, relevant = make_synthetic("linear", n_samples=300, n_features=30, random_state=0)
    >>> selector = StabilitySelector(FisherScore(n_features_to_select=3), random_state=0).fit(X, y)
    >>> set(relevant) <= set(selector.get_support(indices=True))
    True
    """

    _fitted: ClassVar[tuple[str, ...]] = ("frequencies_", "mean_selected_", "expected_false_", "support_")
    _common_attributes: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods("fit"), None],
        "n_pairs": [Interval(Integral, 1, 10_000, closed="both")],
        "threshold": [Interval(Real, 0.5, 1, closed="right")],
    }
    _docs: ClassVar[Docs] = {
        "estimator": (
            "estimator or None",
            "A selector of kernsift or scikit-learn, or an estimator with `coef_` or `feature_importances_`, "
            "which selects the features with a nonzero value. It is cloned. None is "
            ":class:`HSICLasso` with its defaults.",
        ),
        "n_pairs": ("int", "Number of random splits into two halves; `estimator` is fitted twice as often."),
        "threshold": ("float", "The frequency from which on a feature is selected, above 0.5."),
        "n_jobs": ("int or None", "Number of fits at the same time, by joblib."),
        "frequencies_": (
            "ndarray of shape (n_features_in_,)",
            "The fraction of fits that select each feature.",
        ),
        "mean_selected_": ("float", "The number of features that a fit selects on average."),
        "expected_false_": ("float", "The bound on the expected number of false selections."),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_pairs: int = 50,
        threshold: float = 0.75,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_pairs = n_pairs
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the estimator to halves of the samples.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n_samples,), default=None
            The target, as `estimator` needs it.

        Returns
        -------
        {self}
        """
        X, y = _checked(self, X, y)
        with report_progress(self, X):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        random_state = check_random_state(self.random_state)
        halves = list(_halves(X.shape[0], y, self.n_pairs, random_state))
        seeds = random_state.randint(np.iinfo(np.int32).max, size=len(halves))
        fits = Parallel(n_jobs=self.n_jobs)(
            delayed(_selected)(self._inner(), X, y, rows, int(seed))
            for rows, seed in zip(halves, seeds, strict=True)
        )
        self.frequencies_: FloatArray = np.mean(fits, axis=0)
        self.mean_selected_ = float(self.frequencies_.sum())
        n_features = len(self.frequencies_)
        self.expected_false_ = self.mean_selected_**2 / ((2 * self.threshold - 1) * n_features)
        self.support_ = self.frequencies_ >= self.threshold

    def _inner(self) -> Any:
        return HSICLasso() if self.estimator is None else clone(self.estimator)

    def _summary(self) -> Summary:
        names = feature_names(self)
        order = np.argsort(-self.frequencies_, kind="stable")[: int(self.support_.sum())]
        facts: list[tuple[str, Any]] = [
            ("selected", f"{len(order)} of {len(names)} features"),
            ("expected false selections", f"at most {self.expected_false_:.3g}"),
        ]
        labels = [shortened(names[j]) for j in order]
        return Summary(facts, Bars("frequency", labels, self.frequencies_[order]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        tags.target_tags.multi_output = False
        return tags


def _checked(selector: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Samples as the inner estimator gets them: a frame is passed on unchanged."""
    X = as_frame(X)
    if frame_names(X):
        validate_data(selector, X, skip_check_array=True)
        if X.shape[0] < MIN_SAMPLES:
            raise ValueError(f"At least {MIN_SAMPLES} samples are required, got {X.shape[0]} sample(s).")
        return X, y if y is None else np.asarray(y)
    options = {"accept_sparse": "csr", "ensure_all_finite": "allow-nan", "ensure_min_samples": MIN_SAMPLES}
    with explain_conversion_errors(X):
        if y is None:
            return validate_data(selector, X, **options), None
        rows, target = validate_data(selector, X, y, **options)
    return rows, target


def _halves(n: int, y: Any, n_pairs: int, random_state: Any) -> Iterator[IntArray]:
    """Both halves of each random split, with about the same number of samples of each class."""
    is_class = y is not None and type_of_target(y) in ("binary", "multiclass")
    codes = np.unique(y, return_inverse=True)[1] if is_class else np.zeros(n, dtype=np.int64)
    for _ in range(n_pairs):
        order = random_state.permutation(n)
        order = order[np.argsort(codes[order], kind="stable")]
        # Of an odd number of samples, a random one is left out.
        order = np.delete(order, random_state.randint(n)) if n % 2 else order
        flip = random_state.randint(2, size=n // 2)
        pairs = order.reshape(-1, 2)
        at = np.arange(n // 2)
        yield np.sort(pairs[at, flip])
        yield np.sort(pairs[at, 1 - flip])


def _selected(estimator: Any, X: Any, y: Any, rows: IntArray, seed: int) -> npt.NDArray[np.bool_]:
    """The mask of the features that a fit to these samples selects."""
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    estimator.fit(_safe_indexing(X, rows), None if y is None else y[rows])
    if hasattr(estimator, "get_support"):
        mask: npt.NDArray[np.bool_] = estimator.get_support()
        return mask
    nonzero: npt.NDArray[np.bool_] = importances(estimator, ("coef_", "feature_importances_")) != 0
    return nonzero
