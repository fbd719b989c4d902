"""Kernel learners: from statements "i is more like j than k" to a kernel.

The statements are triples of row numbers, given or drawn from labels. What is learned computes Gram matrices,
for example for ``SVC(kernel=learner.kernel)``.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._base import RUN_CONSTRAINTS, Estimator, warn_unless_converged
from kernsift._crossing import (
    FloatArray,
    IntArray,
    Settings,
    checked_rows,
    native_int,
    native_rows,
    native_target,
    native_triplets,
    settings,
    to_json,
)
from kernsift._html import Summary, kept_summary
from kernsift._pages import MakesPages, PageParts
from kernsift._progress import told
from kernsift._sklearn import Interval, StrOptions, _fit_context
from kernsift.exceptions import BreakdownError
from kernsift.kernels import Mahalanobis

__all__ = ["XingMetric"]


class KernelLearner(MakesPages, Estimator):
    """A learner of kernels. A subclass has its parameters, and says how to learn."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "standardize": ["boolean"],
        "n_triplets": [Interval(Integral, 1, None, closed="left")],
        "target_type": [StrOptions({"auto", "class", "number"})],
        **RUN_CONSTRAINTS,
    }

    # Set by the subclasses' __init__, as scikit-learn's get_params wants it.
    standardize: bool
    n_triplets: int
    target_type: str
    random_state: Any
    n_jobs: int | None
    verbose: int

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the kernel.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_triplets, 3) or (n_samples,)
            Triples of rows i, j and k, counted from 0, each of which says that row i is more like row j than
            like row k. Or classes or numbers, one for each row, from which `n_triplets` such triples are
            drawn as :func:`kernsift.triplets_from_labels` does.

        Returns
        -------
        self : object
            The fitted learner.
        """
        X, triplets = self._checked(X, y, reset=True)
        run = settings(self.random_state, self.n_jobs, self.verbose)
        with told(self, X):
            answer = self._learn(X, triplets, y, run)
        self.mean_: FloatArray | None = answer["shift"]
        self.scale_: FloatArray | None = answer["scale"]
        self.scores_: FloatArray = answer["scores"]
        self.support_: npt.NDArray[np.bool_] = self.scores_ > 0
        self.status_: str = answer["status"]
        self._ending: str = answer["stop"]
        self.n_iter_: int = answer["iterations"]
        self.converged_: bool = answer["converged"]
        self._store(answer)
        warn_unless_converged(self, answer)
        return self

    def kernel(self, X: Any, Z: Any = None) -> FloatArray:
        """Compute the Gram matrix of the learned kernel.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            Rows.
        Z : {array-like, sparse matrix} of shape (n_samples_Z, n_features), default=None
            Rows to compare with; None stands for `X`.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Z)
            The kernel of every row of `X` with every row of `Z`.
        """
        x = self._scaled(X)
        k: FloatArray = self.kernel_(x, None if Z is None or Z is X else self._scaled(Z))
        return k

    def score(self, X: Any, y: Any) -> float:
        """Find the share of triples that the learned kernel has in order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_triplets, 3) or (n_samples,)
            Triples of these rows, or classes or numbers to draw them from, as for :meth:`fit`. They are drawn
            by `random_state` if it is a number, else always the same ones.

        Returns
        -------
        accuracy : float
            From 0 to 1; a triple whose similarities are equal counts half. Similarities that are too small
            for a number are still compared.
        """
        check_is_fitted(self)
        X, triplets, run = self._judged(X, y)
        return self._accuracy(shifted(X, self.mean_, self.scale_), triplets, run)

    def _judged(self, X: Any, y: Any) -> tuple[Any, IntArray, Settings]:
        """Rows that have been checked and triples of them, drawn if need be, for a run that judges."""
        X, triplets = self._checked(X, y, reset=False)
        seed = self.random_state if isinstance(self.random_state, Integral) else 0
        run = settings(seed, self.n_jobs, self.verbose)
        return X, self._draw(y, run) if triplets is None else triplets, run

    def _margins(self, X: Any, y: Any) -> FloatArray:
        """How much more like its near row than its far row the row of each triple is."""
        _, triplets, _ = self._judged(X, y)
        k = self.kernel(X)
        first, second, third = triplets.T
        margins: FloatArray = k[first, second] - k[first, third]
        return margins

    def _page(self, parts: PageParts) -> str:
        if parts.y is None:
            raise ValueError("y must be the triples, classes or numbers that were fitted.")
        design = {
            "method": type(self).__name__,
            "status": self._ending,
            "scores": self.scores_.tolist(),
            "margins": self._margins(parts.x, parts.y).tolist(),
            "accuracy": self.score(parts.x, parts.y),
            **self._mixture(parts.names),
        }
        return _native.design_page(
            parts.asked(), parts.rows, parts.names, parts.target(), json.dumps(design), parts.run
        )

    def _mixture(self, names: list[str]) -> dict[str, Any]:
        """The kernels that have a weight, as a page takes them."""
        return {"kernels": [], "n_kernels": 0}

    @abstractmethod
    def _learn(self, X: Any, triplets: IntArray | None, y: Any, run: Settings) -> dict[str, Any]:
        """Learn from triples or else from labels, and give back at least what :meth:`fit` keeps."""

    @abstractmethod
    def _store(self, answer: dict[str, Any]) -> None:
        """Keep `kernel_`, which sees rows that `shifted` made, and what else was learned."""

    kernel_: Any

    def _accuracy(self, X: Any, triplets: IntArray, run: Settings) -> float:
        return _native.kernel_triplet_accuracy(self.kernel_.to_json(), native_rows(X), triplets, run)

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, IntArray | None]:
        """Rows that have been checked, and triples unless `y` has a label for each row."""
        shape = np.asarray(y).shape
        if len(shape) == 2 and shape[1] == 3:
            return checked_rows(self, X, reset=reset, ensure_min_samples=2), native_triplets(y)
        numeric = self.target_type == "number"
        X, _ = checked_rows(self, X, y, reset=reset, y_numeric=numeric, ensure_min_samples=2)
        return X, None

    def _draw(self, y: Any, run: Settings) -> IntArray:
        target = native_target(y, self.target_type, "y")
        return _native.triplets_from_target(target, native_int("n_triplets", self.n_triplets), run)

    def _scaled(self, X: Any) -> Any:
        check_is_fitted(self)
        x = checked_rows(self, X, reset=False)
        return shifted(x, self.mean_, self.scale_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def shifted(X: Any, mean: FloatArray | None, scale: FloatArray | None) -> Any:
    """Rows as they are learned from."""
    if mean is None or scale is None:
        return X
    if sparse.issparse(X):
        if not mean.any():
            return X @ sparse.diags_array(1 / scale, format="csr")
        X = X.toarray()
    return (X - mean) / scale


class XingMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelLearner):
    """The metric of Xing et al.: rows that are alike near, rows that are not far.

    A metric ``d(x, z)^2 = (x - z)^T M (x - z)`` is learned, with M positive semidefinite: the sum of
    distances over dissimilar pairs of rows is largest while the sum of squared distances over similar pairs
    is fixed. Of a triple (i, j, k) the pair (i, j) is similar and (i, k) is dissimilar; a pair that is both,
    by different triples, counts as both. The kernel is ``exp(-d(x, z)^2)``.

    The problem is concave, and a bound proves that the optimum is reached to the tolerance. The best full
    metric often has a low rank, even 1.

    Learning takes some ten to sixty steps of n_samples * n_features * rank operations, and n_features^3 for
    the bound; with `diagonal` steps of n_pairs * n_features and nothing else.

    Parameters
    ----------
    diagonal : bool, default=False
        A weight for each column instead of a full matrix. Columns that are not needed get exactly 0.
    ridge : "auto" or float, default="auto"
        The share of all pairs' squared distances that is added to those of similar pairs. If similar pairs
        agree in a direction in which others differ, as they must with more columns than rows, that
        direction would take all the weight. "auto" is 0, or 0.01 in that case, with a warning; 0 makes it an
        error.
    standardize : bool, default=True
        Bring columns to mean 0 and variance 1 first; sparse ones are not shifted. The metric found is the
        same either way, for it does not depend on units; `scores_` do.
    n_triplets : int, default=1500
        Triples drawn if `y` has labels.
    target_type : {"auto", "class", "number"}, default="auto"
        What labels are. "auto" takes what is not whole for numbers, and anything else for classes.
    max_iter : int, default=1000
        Most steps.
    tol : float, default=1e-6
        How far below the largest possible value, as a share, the value may be proven to lie.
    random_state : int, RandomState instance or None, default=None
        For drawing triples. None is numpy's global generator.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        The result does not depend on it.
    verbose : int, default=0
        Above 0, progress and notes are written to stderr, and how long it took.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features, n_features)
        M, for rows in the units given. Squared distances have the mean 1 over all pairs it was learned from.
    scores_ : ndarray of shape (n_features,)
        Square roots of the diagonal of the metric as it was learned, that is, of standardised columns if
        `standardize`, as shares of the largest.
    support_ : ndarray of bool of shape (n_features,)
        The columns that play a part. Of a full metric these are all that differ in some pair.
    kernel_ : Mahalanobis
        The kernel of rows that were standardised, if `standardize`; :meth:`kernel` takes rows as given.
    n_components_ : int
        The rank of the metric: the number of columns that :meth:`transform` gives.
    status_ : str
        How the search ended: "optimal", "max-iterations" or "stalled".
    converged_ : bool
        Whether that is "optimal".
    n_iter_ : int
        Steps taken.
    mean_, scale_ : ndarray of shape (n_features,) or None
        What was subtracted from columns, and what they were divided by.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are strings.

    See Also
    --------
    triplets_from_labels : Draws triples.
    triplet_accuracy : The share of triples that a Gram matrix has in order.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "diagonal": ["boolean"],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        **KernelLearner._parameter_constraints,
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
        """Map rows so that Euclidean distances are the learned ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components_)
            Coordinates. Of a full metric those along its axes, the longest first; of a diagonal one the
            columns that have a weight, times its root.
        """
        mapped: FloatArray = self._scaled(X) @ self._factor
        return mapped

    def _learn(self, X: Any, triplets: IntArray | None, y: Any, run: Settings) -> dict[str, Any]:
        form = {
            "form": "diagonal" if self.diagonal else "full",
            "ridge": None if isinstance(self.ridge, str) else float(self.ridge),
            "tolerance": float(self.tol),
            "max_iter": int(self.max_iter),
        }
        drawn = triplets if triplets is not None else self._draw(y, run)
        return _native.fit_xing(to_json(form), native_rows(X), drawn, bool(self.standardize), run)

    def _store(self, answer: dict[str, Any]) -> None:
        metric: FloatArray = answer["metric"]
        self.kernel_ = Mahalanobis(metric)
        self._factor = _diagonal_factor(metric) if self.diagonal else _factor(metric)
        self.metric_ = metric if self.scale_ is None else _unscaled(metric, self.scale_)
        self.n_components_: int = self._factor.shape[1]

    def _summary(self) -> Summary:
        return kept_summary(self, ("search", self.status_), ("rank", self.n_components_))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _unscaled(metric: FloatArray, scale: FloatArray) -> FloatArray:
    """A metric of standardized columns in the units of the columns."""

    def is_usable(metric: FloatArray) -> bool:
        return bool(np.isfinite(metric).all() and metric.any())

    with np.errstate(all="ignore"):
        unscaled: FloatArray = metric / np.outer(scale, scale)
        if not is_usable(unscaled):
            # The product of two scales may overflow where the quotient does not.
            unscaled = metric / scale[:, np.newaxis] / scale
    if not is_usable(unscaled):
        raise BreakdownError(
            "Xing metric: the metric overflows in the units of the columns, "
            f"whose standard deviations go from {scale.min():.3g} to {scale.max():.3g}; scale the columns"
        )
    return unscaled


def _factor(metric: FloatArray) -> FloatArray:
    """F with metric = F F^T, of as many columns as the metric has rank."""
    values, vectors = np.linalg.eigh(metric)
    # What rounding leaves of directions that have no weight.
    keep = values > 1e-12 * values[-1]
    factor: FloatArray = (vectors[:, keep] * np.sqrt(values[keep]))[:, ::-1]
    # Directions do not flip between machines.
    factor *= np.sign(factor[np.abs(factor).argmax(axis=0), np.arange(factor.shape[1])])
    return factor


def _diagonal_factor(metric: FloatArray) -> FloatArray:
    weights = np.diag(metric)
    factor: FloatArray = np.diag(np.sqrt(weights))[:, weights > 0]
    return factor
