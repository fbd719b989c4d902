"""What all bases and all selectors share: checking, crossing into the native half, fitted attributes."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kernsift import _native
from kernsift._crossing import FloatArray, Settings, method_json, native_classes, native_rows, settings
from kernsift.kernels import Kernel, choice_form

#: Parameters that every estimator has.
RUN_CONSTRAINTS: dict[str, list[Any]] = {
    "random_state": ["random_state"],
    "n_jobs": [
        Interval(Integral, 1, 1024, closed="both"),
        Interval(Integral, None, -1, closed="right"),
        None,
    ],
    "verbose": ["verbose"],
}

#: Parameters that say which kernel.
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions({"rbf", "linear", "poly", "laplacian"}), Kernel],
    "gamma": [StrOptions({"median", "scale"}), Interval(Real, 0, None, closed="neither")],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
}


class BaseBasis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A basis of kernel space. A subclass names its method and its own parameters."""

    #: The method's name in the core's catalog.
    _method: ClassVar[str]
    #: Whether `y` must hold classes.
    _needs_classes: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        **RUN_CONSTRAINTS,
    }

    # Set by the subclasses' __init__, as scikit-learn's get_params wants it.
    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    n_components: int | None
    random_state: Any
    n_jobs: int | None
    verbose: int

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the basis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,), default=None
            Classes, for methods that need them; ignored by the others.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._learn(X, y, features=False)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Learn the basis and map the training rows.

        Costs no more than :meth:`fit`, which finds the coordinates on the way. They agree with those
        of :meth:`transform` up to rounding.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,), default=None
            Classes, for methods that need them; ignored by the others.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components_)
            Coordinates of the training rows.
        """
        made = self._learn(X, y, features=True)
        assert made is not None
        return made

    def transform(self, X: Any) -> FloatArray:
        """Map rows into kernel space.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components_)
            Their coordinates.
        """
        x = self._checked(X)
        return self._map.transform(native_rows(x), self._settings())

    def residual_norms(self, X: Any) -> FloatArray:
        """Measure how much of each row the basis misses.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        norms : ndarray of shape (n_samples,)
            Distance of each row from the span of the basis, in kernel space. Squares are subtracted
            to find it, so what is below about 1e-8 of a row's length is rounding.
        """
        x = self._checked(X)
        return self._map.residual_norms(native_rows(x), self._settings())

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def _settings(self) -> Settings:
        """Settings of a run that draws nothing: a RandomState must not move on."""
        return settings(0, self.n_jobs, self.verbose)

    def _own_parameters(self) -> dict[str, Any]:
        """The method's own parameters, as the core spells them."""
        return {}

    def _threshold_function(self) -> Any:
        """KOBL's own threshold, which cannot cross as JSON."""
        return None

    def _least_rows(self) -> int:
        # One row has no distance to take the median of.
        by_distance = isinstance(self.kernel, str) and self.kernel in ("rbf", "laplacian")
        return 2 if by_distance and self.gamma == "median" else 1

    def _learn(self, X: Any, y: Any, features: bool) -> FloatArray | None:
        checks: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
        classes = None
        if self._needs_classes:
            X, y = validate_data(self, X, y, ensure_min_samples=2, **checks)
            check_classification_targets(y)
            self.classes_, classes = native_classes(y)
        else:
            X = validate_data(self, X, ensure_min_samples=self._least_rows(), **checks)
        parameters = {
            "kernel": choice_form(self.kernel, self.gamma, self.degree, self.coef0),
            "n_components": None if self.n_components is None else int(self.n_components),
            **self._own_parameters(),
        }
        self._map, made = _native.fit_basis(
            method_json(self._method, parameters),
            native_rows(X),
            classes,
            settings(self.random_state, self.n_jobs, self.verbose),
            self._threshold_function(),
            features,
        )
        self._store(self._map.summary())
        return made

    def _store(self, summary: dict[str, Any]) -> None:
        self.n_components_: int = summary["n_components"]
        self.pivots_: npt.NDArray[np.int64] = summary["pivots"]
        self.residual_norms_: FloatArray = summary["residual_norms"]
        self.reconstruction_cost_: float = summary["reconstruction_cost"]
        self.explained_: float = summary["explained"]
        self.kernel_ = Kernel.from_json(summary["kernel"])
        if hasattr(self.kernel_, "gamma"):
            self.gamma_: float = self.kernel_.gamma
        elif hasattr(self, "gamma_"):
            # Left by an earlier fit with another kernel.
            del self.gamma_
        if summary["bound"] is not None:
            self.bound_: float = summary["bound"]
        self.n_iter_: int = summary["iterations"]
        self.converged_: bool = summary["converged"]
        warn_unless_converged(self, summary)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self._needs_classes
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class BaseSelector(SelectorMixin, BaseEstimator):
    """A selector of columns. A subclass names its method and its own parameters."""

    #: The method's name in the core's catalog.
    _method: ClassVar[str]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            None,
        ],
        "standardize": ["boolean"],
        **RUN_CONSTRAINTS,
    }

    # Set by the subclasses' __init__, as scikit-learn's get_params wants it.
    n_features_to_select: int | float | None
    standardize: bool
    random_state: Any
    n_jobs: int | None
    verbose: int

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Rank the columns and keep some.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self : object
            The fitted selector.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, classes = native_classes(y)
        answer = _native.select(
            method_json(self._method, self._own_parameters()),
            native_rows(X),
            classes,
            self._wanted(X.shape[1]),
            bool(self.standardize),
            settings(self.random_state, self.n_jobs, self.verbose),
        )
        self.scores_: FloatArray = answer["scores"]
        self.order_: npt.NDArray[np.int64] = answer["order"]
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[answer["selected"]] = True
        self.ranking_ = np.empty(X.shape[1], dtype=np.int64)
        self.ranking_[self.order_] = np.arange(1, X.shape[1] + 1)
        self.n_iter_: int = answer["iterations"]
        self.converged_: bool = answer["converged"]
        warn_unless_converged(self, answer)
        return self

    def _own_parameters(self) -> dict[str, Any]:
        """The method's own parameters, as the core spells them."""
        return {}

    def _wanted(self, n_features: int) -> str:
        wanted = self.n_features_to_select
        if wanted is None:
            return '"own-rule"'
        if isinstance(wanted, Integral):
            if wanted > n_features:
                raise ValueError(
                    f"The 'n_features_to_select' parameter of {type(self).__name__} must be at most the "
                    f"number of features, {n_features}. Got {wanted} instead."
                )
            return f'{{"count": {int(wanted)}}}'
        return f'{{"share": {float(wanted)!r}}}'

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def warn_unless_converged(estimator: Any, answer: dict[str, Any]) -> None:
    """Not converging is no error, but should be known."""
    if not answer["converged"]:
        text = f"{type(estimator).__name__} did not converge: {answer['stop']}."
        warnings.warn(text, ConvergenceWarning, stacklevel=4)
