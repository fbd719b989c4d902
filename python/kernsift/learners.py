"""Kernel learners: a kernel or metric from triplets (i is closer to j than to k).

Triplets of sample indices are given, or drawn from labels. The learned kernel computes Gram matrices, for
example for ``SVC(kernel=learner.kernel)``.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._base import Estimator
from kernsift._html import Summary, selection_summary
from kernsift._native_data import (
    FloatArray,
    IntArray,
    Settings,
    Target,
    checked_rows,
    native_int,
    native_rows,
    native_target,
    native_triplets,
    settings,
    to_json,
)
from kernsift._progress import report_progress
from kernsift._reports import ReportMixin, ReportParts
from kernsift._selected import feature_names
from kernsift._sklearn import Interval, _fit_context
from kernsift.exceptions import BreakdownError
from kernsift.kernels import Mahalanobis

__all__ = ["XingMetric"]


class KernelLearner(ReportMixin, Estimator):
    """Base class of kernel learners."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_triplets": [Interval(Integral, 1, None, closed="left")],
    }

    # Set by __init__ of the subclasses, as scikit-learn requires.
    standardize: bool
    n_triplets: int
    target_type: str

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n_triplets, 3) or (n_samples,)
            Triplets of sample indices (i, j, k): sample i is closer to sample j than to sample k. Or a class
            label or number per sample, from which :func:`kernsift.triplets_from_labels` draws `n_triplets`
            triplets.

        Returns
        -------
        {self}
        """
        X, triplets = self._checked(X, y, reset=True)
        run = self._fit_settings()
        target = native_target(y, self.target_type, "y") if triplets is None else None
        #: None with triplets.
        self.target_type_ = None if target is None else "class" if isinstance(target, tuple) else "number"
        with report_progress(self, X):
            answer = self._learn(X, triplets, target, run)
        self._store_scaling(answer)
        self.scores_: FloatArray = self._of_columns(answer["scores"])
        self.support_: npt.NDArray[np.bool_] = self.scores_ > 0
        self.status_: str = answer["status"]
        self._ending: str = answer["stop"]
        self._store(answer)
        self._store_outcome(answer)
        return self

    def kernel(self, X: Any, Z: Any = None) -> FloatArray:
        """Compute the Gram matrix of the learned kernel.

        Parameters
        ----------
        {X_gram}
        {Z}

        Returns
        -------
        {K}
        """
        x = self._scaled(X)
        k: FloatArray = self.kernel_(x, None if Z is None or Z is X else self._scaled(Z))
        return k

    def score(self, X: Any, y: Any) -> float:
        """Compute the fraction of triplets that the learned kernel satisfies.

        Parameters
        ----------
        {X}
        y : array-like of shape (n_triplets, 3) or (n_samples,)
            Triplets of these samples, or labels to draw them from, as for :meth:`fit`. The seed is
            `random_state` if it is an int, else 0.

        Returns
        -------
        accuracy : float
            The fraction, from 0 to 1; triplets with equal similarities count one half. Similarities that
            underflow are still compared.
        """
        check_is_fitted(self)
        X, triplets, run = self._evaluation_data(X, y)
        return self._accuracy(self._standardized(X), triplets, run)

    def _evaluation_data(self, X: Any, y: Any) -> tuple[Any, IntArray, Settings]:
        """Validated samples, their triplets (drawn if needed), and settings for an evaluation."""
        X, triplets = self._checked(X, y, reset=False)
        seed = self.random_state if isinstance(self.random_state, Integral) else 0
        run = settings(seed, self.n_jobs, self.verbose)
        if triplets is None:
            triplets = self._draw(native_target(y, self.target_type, "y"), run)
        return X, triplets, run

    def _margins(self, X: Any, y: Any) -> FloatArray:
        """The margin K[i, j] - K[i, k] of each triplet."""
        _, triplets, _ = self._evaluation_data(X, y)
        k = self.kernel(X)
        first, second, third = triplets.T
        margins: FloatArray = k[first, second] - k[first, third]
        return margins

    def _page(self, parts: ReportParts) -> str:
        if parts.y is None:
            raise ValueError("y must be the triplets or labels of the fit.")
        design = {
            "method": type(self).__name__,
            "status": self._ending,
            "scores": parts.of_features(self.scores_).tolist(),
            "margins": self._margins(parts.given, parts.y).tolist(),
            "accuracy": self.score(parts.given, parts.y),
            **self._combination(feature_names(self)),
        }
        return _native.design_page(parts.native(), json.dumps(design), parts.run)

    def _combination(self, names: list[str]) -> dict[str, Any]:
        """The kernels with nonzero weight, for the report."""
        return {"kernels": [], "n_kernels": 0}

    @abstractmethod
    def _learn(
        self, X: Any, triplets: IntArray | None, target: Target | None, run: Settings
    ) -> dict[str, Any]:
        """Learn from triplets, or else from a target; returns at least what :meth:`fit` stores."""

    @abstractmethod
    def _store(self, answer: dict[str, Any]) -> None:
        """Set `kernel_`, which expects standardized samples, and further attributes."""

    kernel_: Any

    def _accuracy(self, X: Any, triplets: IntArray, run: Settings) -> float:
        return _native.kernel_triplet_accuracy(self.kernel_.to_json(), native_rows(X), triplets, run)

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, IntArray | None]:
        """Validated samples, and triplets unless `y` has a label per sample."""
        shape = np.asarray(y).shape
        if len(shape) == 2 and shape[1] == 3:
            return checked_rows(self, X, reset=reset, ensure_min_samples=2), native_triplets(y)
        X, _ = checked_rows(self, X, y, reset=reset, ensure_min_samples=2)
        return X, None

    def _draw(self, target: Any, run: Settings) -> IntArray:
        return _native.triplets_from_target(target, native_int("n_triplets", self.n_triplets), run)

    def _scaled(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._standardized(checked_rows(self, X, reset=False))

    def _standardized(self, x: Any) -> Any:
        """Validated samples; those of an estimator that was fitted to a frame are standardized already."""
        return x if hasattr(self, "_frame_encoder") else standardized(x, self.mean_, self.scale_)

    def _sizes(self) -> list[int] | None:
        """The number of encoded columns of each feature of a data frame."""
        return self._frame_encoder.sizes if hasattr(self, "_frame_encoder") else None

    def _of_columns(self, values: FloatArray) -> FloatArray:
        """Values of the features as values of the columns of a data frame; 0 for those that were skipped."""
        if not hasattr(self, "_frame_encoder"):
            return values
        out = np.zeros(self.n_features_in_)
        out[self._frame_encoder.positions] = values
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def standardized(X: Any, mean: FloatArray | None, scale: FloatArray | None) -> Any:
    """Samples with `mean` subtracted and divided by `scale`, unless they are None."""
    if mean is None or scale is None:
        return X
    if sparse.issparse(X):
        if not mean.any():
            return X @ sparse.diags_array(1 / scale, format="csr")
        X = X.toarray()
    return (X - mean) / scale


class XingMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelLearner):
    """Metric learning of Xing et al. from similar and dissimilar pairs.

    It learns a metric ``d(x, z)^2 = (x - z)^T M (x - z)`` with M positive semidefinite that maximizes the sum
    of distances over dissimilar pairs while the sum of squared distances over similar pairs is fixed. Of a
    triplet (i, j, k), the pair (i, j) is similar and (i, k) is dissimilar; a pair may be both. The kernel is
    ``exp(-d(x, z)^2)``.

    The problem is concave, and an upper bound certifies the optimum to the tolerance. The best full metric
    often has a low rank, even 1.

    It takes ten to sixty iterations of n_samples * n_features * rank operations, and n_features^3 for the
    bound; with `diagonal`, iterations of n_pairs * n_features.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    metric_ : ndarray of shape (n_features, n_features)
        The matrix M, for samples in the given units. The mean squared distance of all training pairs is 1.
        After a fit to a data frame with categories or missing values, it is the matrix of the encoded
        columns.
    scores_ : ndarray of shape (n_features,)
        Square roots of the diagonal of M on standardized features (if `standardize`), relative to the
        largest.
    {support_}
        With a full metric, all features that differ in some pair.
    kernel_ : Mahalanobis
        The kernel on standardized samples (if `standardize`); :meth:`kernel` expects samples in the given
        units.
    n_components_ : int
        The rank of the metric: the number of columns of :meth:`transform`.
    status_ : str
        Status of the solver: "optimal", "max-iterations" or "stalled".
    target_type_ : str or None
        What `y` holds: "class" or "number" (a continuous target); None for triplets.
    {mean_}
    {scale_}
    {attributes}

    See Also
    --------
    triplets_from_labels : Draws triplets.
    triplet_accuracy : The fraction of triplets that a Gram matrix satisfies.

    References
    ----------
    Xing, Ng, Jordan and Russell, "Distance metric learning with application to clustering with
    side-information", 2002.

    Examples
    --------
    >>> from kernsift import XingMetric
    >>> from kernsift.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> learner = XingMetric(random_state=0).fit(wine.data, wine.target)
    >>> learner.status_
    'optimal'
    >>> learner.score(wine.data, [[0, 1, 100], [60, 70, 1]])
    1.0
    >>> learner.kernel(wine.data).shape
    (178, 178)
    """

    _method = "xing"
    _parameter_notes: ClassVar[dict[str, str]] = {
        "standardize": "The metric does not depend on it; `scores_` do."
    }

    def __init__(
        self,
        diagonal: bool = False,
        *,
        ridge: str | float = "auto",
        standardize: bool = True,
        n_triplets: int = 1500,
        target_type: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.diagonal = diagonal
        self.ridge = ridge
        self.standardize = standardize
        self.n_triplets = n_triplets
        self.target_type = target_type
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def transform(self, X: Any) -> FloatArray:
        """Map samples so that Euclidean distances are the learned distances.

        Parameters
        ----------
        {X}

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components_)
            Coordinates: of a full metric along its eigenvectors, largest eigenvalue first; of a diagonal
            metric the features with nonzero weight, times the square root of the weight.
        """
        mapped: FloatArray = self._scaled(X) @ self._factor
        return mapped

    def _learn(
        self, X: Any, triplets: IntArray | None, target: Target | None, run: Settings
    ) -> dict[str, Any]:
        drawn = self._draw(target, run) if triplets is None else triplets
        return _native.fit_xing(
            to_json(self._own_parameters()), native_rows(X), self._sizes(), drawn, self._standardizes(), run
        )

    def _store(self, answer: dict[str, Any]) -> None:
        metric: FloatArray = answer["metric"]
        self.kernel_ = Mahalanobis(metric)
        self._factor = _diagonal_factor(metric) if self.diagonal else _factor(metric)
        # The scales of encoded columns are part of their encoding.
        self.metric_ = metric if self.scale_ is None else _unscaled(metric, self.scale_)
        self.n_components_: int = self._factor.shape[1]

    def _summary(self) -> Summary:
        return selection_summary(self, ("solver", self.status_), ("rank", self.n_components_))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # It encodes data frames, but with this tag scikit-learn's checks round samples to integers. Then all
        # samples of a class are equal, for which there is no metric.
        tags.input_tags.categorical = False
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _unscaled(metric: FloatArray, scale: FloatArray) -> FloatArray:
    """A metric of standardized features in the units of the features."""

    def is_usable(metric: FloatArray) -> bool:
        return bool(np.isfinite(metric).all() and metric.any())

    with np.errstate(all="ignore"):
        unscaled: FloatArray = metric / np.outer(scale, scale)
        if not is_usable(unscaled):
            # The product of two scales may overflow where the quotient does not.
            unscaled = metric / scale[:, np.newaxis] / scale
    if not is_usable(unscaled):
        raise BreakdownError(
            "Xing metric: the metric overflows in the units of the features, "
            f"whose standard deviations go from {scale.min():.3g} to {scale.max():.3g}; scale the features"
        )
    return unscaled


def _factor(metric: FloatArray) -> FloatArray:
    """F with metric = F F^T; the number of columns is the rank of the metric."""
    values, vectors = np.linalg.eigh(metric)
    # Smaller eigenvalues are rounding errors.
    keep = values > 1e-12 * values[-1]
    factor: FloatArray = (vectors[:, keep] * np.sqrt(values[keep]))[:, ::-1]
    # Fix the signs, so that they do not depend on the platform.
    factor *= np.sign(factor[np.abs(factor).argmax(axis=0), np.arange(factor.shape[1])])
    return factor


def _diagonal_factor(metric: FloatArray) -> FloatArray:
    weights = np.diag(metric)
    factor: FloatArray = np.diag(np.sqrt(weights))[:, weights > 0]
    return factor
