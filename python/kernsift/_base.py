"""What bases, selectors and pairs of both share: checking, crossing over, fitted attributes."""

from __future__ import annotations

import functools
import inspect
import json
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Bunch
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._crossing import (
    Classes,
    FloatArray,
    NativeRows,
    Settings,
    Target,
    checked_classes,
    checked_rows,
    method_json,
    native_rows,
    settings,
    to_json,
)
from kernsift._html import ShowsItself, Summary, kept_summary
from kernsift._parameters import constraints, declared, document, native_value
from kernsift._pages import MakesPages, PageParts
from kernsift._progress import told
from kernsift._sklearn import Interval, RealNotInt, StrOptions, _fit_context, _get_output_config
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
    **constraints("kobl", "gamma", "degree", "coef0"),
}

#: How many columns or directions to keep.
WANTED_CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
        None,
    ],
}

#: Parameters that cross together, as one kernel.
KERNEL_PARAMETERS = frozenset(("kernel", "gamma", "degree", "coef0"))


class Estimator(ShowsItself, BaseEstimator):
    """Base class of all estimators.

    A subclass that names its `_method` gets the constraints of that method's parameters and their documentation from
    the declarations in Rust.
    """

    #: The method's name in the core's serialized form.
    _method: ClassVar[str]
    #: The name under which the core declares its parameters.
    _catalog_name: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_method" in cls.__dict__:
            cls._catalog_name = cls.__dict__.get("_catalog_name", cls._method)
            inherited: dict[str, list[Any]] = {}
            for base in reversed(cls.__mro__[1:]):
                inherited |= base.__dict__.get("_parameter_constraints", {})
            own = constraints(cls._catalog_name, *cls._declared()) if cls._declared() else {}
            given = cls.__dict__.get("_parameter_constraints", {})
            cls._parameter_constraints = {**inherited, **own, **given}
        document(cls)

    @classmethod
    def _declared(cls) -> list[str]:
        """The parameters that the method declares in Rust, but for those of the kernel."""
        own = declared(cls._catalog_name)
        names = set(inspect.signature(cls.__init__).parameters)
        return [name for name in own if name in names - (KERNEL_PARAMETERS if "kernel" in own else set())]

    def _own_parameters(self) -> dict[str, Any]:
        """The method's own parameters, as the core reads them."""
        own = {name: native_value(self._catalog_name, name, getattr(self, name)) for name in self._declared()}
        if "kernel" in declared(self._catalog_name):
            get = self.get_params(deep=False).get
            own["kernel"] = choice_form(self.kernel, self.gamma, get("degree", 3), get("coef0", 1.0))
        return own

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn reads them off the signature in every fit, which is a tenth of a small one.
        names: list[str] = super()._get_param_names()
        return names


class BaseBasis(MakesPages, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A basis of kernel space. A subclass names its method and its own parameters."""

    #: Whether `y` must hold classes.
    _needs_classes: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
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
        return checked_rows(self, X, reset=False)

    def _settings(self) -> Settings:
        """Settings of a run that draws nothing: a RandomState must not move on."""
        return settings(0, self.n_jobs, self.verbose)

    def _threshold_function(self) -> Any:
        """KOBL's own threshold, which cannot cross as JSON."""
        return None

    def _least_rows(self) -> int:
        # One row has no distance to take the median of.
        by_distance = isinstance(self.kernel, str) and self.kernel in ("rbf", "laplacian")
        return 2 if by_distance and self.gamma == "median" else 1

    def _learn(self, X: Any, y: Any, features: bool) -> FloatArray | None:
        classes = None
        if self._needs_classes:
            X, classes = labelled_rows(self, X, y)
        else:
            X = checked_rows(self, X, ensure_min_samples=self._least_rows())
        with told(self, X):
            fitted, made = _native.fit_basis(
                method_json(self._method, self._own_parameters()),
                native_rows(X),
                classes,
                settings(self.random_state, self.n_jobs, self.verbose),
                self._threshold_function(),
                features,
            )
        warn_unless_converged(self, self._store(fitted), stacklevel=5)
        return made

    def _store(self, fitted: _native.FeatureMap) -> dict[str, Any]:
        self._map = fitted
        summary = fitted.summary()
        self.n_components_: int = summary["n_components"]
        self.pivots_: npt.NDArray[np.int64] = summary["pivots"]
        self.residual_norms_: FloatArray = summary["residual_norms"]
        self.reconstruction_cost_: float = summary["reconstruction_cost"]
        self.explained_: float = summary["explained"]
        store_kernel(self, Kernel.from_json(summary["kernel"]))
        if summary["bound"] is not None:
            self.bound_: float = summary["bound"]
        self.n_iter_: int = summary["iterations"]
        self.converged_: bool = summary["converged"]
        return summary

    def _page(self, parts: PageParts) -> str:
        named = None if self._threshold_function() else method_json(self._method, self._own_parameters())
        return _native.basis_page(
            parts.asked(), parts.rows, parts.names, parts.target(), self._map, named, parts.run
        )

    def _summary(self) -> Summary:
        return Summary(
            [
                ("components", self.n_components_),
                ("kernel", self.kernel_),
                ("share of the trace explained", self.explained_),
                ("mean distance of rows left", self.reconstruction_cost_),
            ]
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self._needs_classes
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class KeepsColumns(SelectorMixin):
    """Gives back the columns that were kept, as they were given."""

    def transform(self, X: Any) -> Any:
        """Leave out the columns that were not kept.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : {ndarray, sparse matrix} of shape (n_samples, n_features_kept)
            The columns that were kept, in the order in which they stand in `X` and with the type of numbers
            that they have there: float32 stays float32. An array has one type for all columns; with
            :meth:`set_output` each column of a pandas or polars frame keeps its own.
        """
        if type(X).__module__.split(".")[0] == "polars" and self._gives_polars():
            checked_rows(
                self, X, reset=False, ensure_all_finite=not self.__sklearn_tags__().input_tags.allow_nan
            )
            return X[:, self.get_support(indices=True).tolist()]
        return super().transform(X)

    def _gives_polars(self) -> bool:
        return bool(_get_output_config("transform", estimator=self)["dense"] == "polars")


class BaseSelector(MakesPages, KeepsColumns, Estimator):
    """A selector of columns. A subclass names its method and its own parameters."""

    #: Whether it supports missing values (NaN).
    _supports_missing: ClassVar[bool] = False
    #: Attributes of the fitted estimator, for its documentation.
    _fitted: ClassVar[tuple[str, ...]] = ("support_", "scores_", "ranking_", "order_")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WANTED_CONSTRAINTS,
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
    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the columns and keep some.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,), default=None
            Their classes; or numbers, for methods that take them. Methods that use no target ignore it, and
            the others refuse None.

        Returns
        -------
        self : object
            The fitted selector.
        """
        X, target = self._checked(X, y)
        with told(self, X):
            answer = _native.select(
                method_json(self._method, self._own_parameters()),
                native_rows(X),
                target,
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
        if answer["curve"].size:
            self.error_curve_: FloatArray = answer["curve"]
        if answer["coef"] is not None:
            self.coef_: FloatArray = answer["coef"]
        if "path_" in self._fitted:
            self.path_ = Bunch(**answer["path"])
        self.n_iter_: int = answer["iterations"]
        self.converged_: bool = answer["converged"]
        warn_unless_converged(self, answer)
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Any, Target | None]:
        """Rows that have been checked, and the target as the native half takes it."""
        return labelled_rows(self, X, y)

    def _wanted(self, n_features: int) -> str:
        wanted = self.n_features_to_select
        if isinstance(wanted, Integral) and wanted > n_features:
            raise ValueError(
                f"The 'n_features_to_select' parameter of {type(self).__name__} must be at most the "
                f"number of features, {n_features}. Got {wanted} instead."
            )
        return wanted_json(wanted)

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _page(self, parts: PageParts) -> str:
        kept = int(self.support_.sum())
        return _native.selection_page(
            parts.asked(),
            parts.rows,
            parts.names,
            parts.target(),
            self.order_.tolist(),
            self.scores_.tolist(),
            kept,
            parts.check(kept, len(parts.names)),
            parts.run,
        )

    def _summary(self) -> Summary:
        return kept_summary(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._supports_missing
        tags.target_tags.required = True
        return tags


class BaseTargetSelector(BaseSelector):
    """A selector of columns that takes a target of classes or of numbers."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "target_type": [StrOptions({"auto", "class", "number"})],
    }

    target_type: str

    def _checked(self, X: Any, y: Any) -> tuple[Any, Target | None]:
        finite = "allow-nan" if self._supports_missing else True
        X, y = checked_rows(
            self,
            X,
            y,
            ensure_min_samples=2,
            ensure_all_finite=finite,
            y_numeric=self.target_type == "number",
        )
        numbers = self.target_type == "auto" and type_of_target(y, input_name="y") == "continuous"
        if numbers or self.target_type == "number":
            # Left by an earlier fit to classes.
            self.__dict__.pop("classes_", None)
            return X, np.asarray(y, dtype=np.float64)
        self.classes_, classes = checked_classes(y)
        return X, classes


class BaseSpace(MakesPages, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A basis of kernel space, then a selector among its directions, then nearest neighbours."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WANTED_CONSTRAINTS,
        **constraints(
            "takes", "weak_learner", "eta", "learner_bandwidth", "quantum", "weight_power", "n_neighbors"
        ),
        "weights": [*constraints("takes", "weights")["weights"], None],
        "tuned": ["boolean"],
        "standardize": ["boolean"],
        **RUN_CONSTRAINTS,
    }

    # Set by the subclasses' __init__, as scikit-learn's get_params wants it.
    n_features_to_select: int | float | None
    weights: str | None
    weight_power: float
    tuned: bool
    n_neighbors: int
    standardize: bool
    random_state: Any
    n_jobs: int | None
    verbose: int

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the basis, choose among its directions, and remember the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, classes = labelled_rows(self, X, y)
        basis = self._unfitted_basis()
        with told(self, X):
            self._space, used = _native.fit_space(
                to_json(self._form()),
                native_rows(X),
                classes,
                wanted_json(self.n_features_to_select),
                bool(self.standardize),
                settings(self.random_state, self.n_jobs, self.verbose),
                basis._threshold_function(),
            )
        self._store(basis, json.loads(used))
        summary = self._space.summary()
        self._store_selection(summary)
        warn_unless_converged(self, summary)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Map rows to the kept directions, best first.

        Each direction is multiplied by the root of its weight, so that plain distances between the
        results are the weighted ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_selected_)
            Their coordinates.
        """
        x = self._checked(X)
        return self._space.transform(x, self._settings())

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes by the nearest training rows in the kept directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes. Of classes with as many votes, the one whose first neighbour is nearer.
        """
        x = self._checked(X)
        predicted: npt.NDArray[Any] = self.classes_[self._space.predict(x, self._settings())]
        return predicted

    def _checked(self, X: Any) -> NativeRows:
        check_is_fitted(self)
        return native_rows(checked_rows(self, X, reset=False))

    def _settings(self) -> Settings:
        """Settings of a run that draws nothing: a RandomState must not move on."""
        return settings(0, self.n_jobs, self.verbose)

    def _form(self) -> dict[str, Any]:
        """All parameters, as the core spells them."""
        if self.tuned:
            self._refuse_what_is_chosen()
        basis = self._unfitted_basis()
        return {
            "basis": {"method": basis._method, **basis._own_parameters()},
            "selector": self._selector_form(),
            "weight_power": 0.0 if self.weights is None else float(self.weight_power),
            "n_neighbors": int(self.n_neighbors),
            "tune": "everything" if self.tuned else "nothing",
            **self._own_parameters(),
        }

    def _refuse_what_is_chosen(self) -> None:
        """A parameter that would not be used is a mistake worth telling."""
        defaults = type(self)().get_params(deep=False)
        for name in (
            "weak_learner",
            "eta",
            "learner_bandwidth",
            "quantum",
            "weights",
            "weight_power",
            "n_neighbors",
        ):
            if getattr(self, name) != defaults[name]:
                raise ValueError(
                    f"tuned=True chooses '{name}' by itself; leave it out. Got {getattr(self, name)!r}."
                )

    def _unfitted_basis(self) -> BaseBasis:
        """The basis with its parameters; a new object."""
        raise NotImplementedError

    def _selector_form(self) -> dict[str, Any] | None:
        """The selector, as the core spells it."""
        raise NotImplementedError

    def _own_parameters(self) -> dict[str, Any]:
        """Further parameters, as the core reads them."""
        return {}

    def _kffs_form(self) -> dict[str, Any]:
        """Forward selection with this estimator's parameters, as the core reads it."""
        names = ("weak_learner", "eta", "learner_bandwidth", "quantum", "weights")
        # Without weights any rule does.
        values = {name: getattr(self, name) for name in names} | {"weights": self.weights or "ensemble"}
        return {"method": "ffs"} | {name: native_value("ffs", name, values[name]) for name in names}

    def _store(self, basis: BaseBasis, used: dict[str, Any]) -> None:
        # What it maps are scaled rows, which carry no names.
        basis.n_features_in_ = self.n_features_in_
        if basis._needs_classes:
            basis.classes_ = self.classes_
        basis._store(self._space.map())
        # With what was chosen here, so that the basis fitted again is the same.
        chosen = used["basis"]
        if "fixed" in chosen["kernel"] and isinstance(basis.kernel, str):
            basis.gamma = basis.kernel_.gamma
        elif "fixed" in chosen["kernel"]:
            basis.kernel = basis.kernel_
        basis.n_components = chosen["n_components"]
        if chosen.get("threshold") == "none":
            basis.set_params(threshold=None, tol=chosen["tol"])
        self.basis_ = basis
        store_kernel(self, basis.kernel_)

    def _store_selection(self, summary: dict[str, Any]) -> None:
        self.order_: npt.NDArray[np.int64] = summary["order"]
        self.weights_: FloatArray = summary["weights"]
        self.support_ = np.zeros(self.weights_.size, dtype=bool)
        self.support_[summary["selected"]] = True
        self.n_selected_: int = summary["n_selected"]
        if summary["error_curve"].size:
            self.error_curve_: FloatArray = summary["error_curve"]
        elif hasattr(self, "error_curve_"):
            # Left by an earlier fit with another selector.
            del self.error_curve_
        self.n_neighbors_: int = summary["n_neighbors"]
        self.mean_: FloatArray | None = summary["shift"]
        self.scale_: FloatArray | None = summary["scale"]
        self.n_iter_: int = summary["iterations"]
        self.converged_: bool = summary["converged"]

    def _page(self, parts: PageParts) -> str:
        # The training rows of a fold have fewer directions.
        check = parts.check(self.n_selected_, self.basis_.n_components_ * 3 // 4)
        return _native.space_page(
            parts.asked(), parts.rows, parts.names, parts.target(), self._space, check, parts.run
        )

    def _summary(self) -> Summary:
        return kept_summary(self, ("kernel", self.kernel_), ("classes", len(self.classes_)))

    @property
    def _n_features_out(self) -> int:
        return self.n_selected_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def labelled_rows(estimator: Any, X: Any, y: Any, **checks: Any) -> tuple[Any, Classes]:
    """Rows that have been checked and their classes as the native half takes them; sets `classes_`."""
    X, y = checked_rows(estimator, X, y, ensure_min_samples=2, **checks)
    estimator.classes_, classes = checked_classes(y)
    return X, classes


def wanted_json(wanted: int | float | None) -> str:
    """How many to keep, as the core spells it."""
    if wanted is None:
        return '"auto"'
    if isinstance(wanted, Integral):
        return f'{{"count": {int(wanted)}}}'
    return f'{{"fraction": {float(wanted)!r}}}'


def store_kernel(estimator: Any, kernel: Kernel) -> None:
    """Keeps the kernel, and its width where it has one."""
    estimator.kernel_ = kernel
    if hasattr(kernel, "gamma"):
        estimator.gamma_ = kernel.gamma
    elif hasattr(estimator, "gamma_"):
        # Left by an earlier fit with another kernel.
        del estimator.gamma_


def warn_unless_converged(estimator: Any, answer: dict[str, Any], stacklevel: int = 4) -> None:
    """Not converging is no error, but should be known, and what to do about it."""
    if not answer["converged"]:
        name, stop = type(estimator).__name__, answer["stop"]
        text = f"{name} did not converge: {stop}. {_advice(estimator)}"
        warnings.warn(text, ConvergenceWarning, stacklevel=stacklevel)


def _advice(estimator: Any) -> str:
    """What may help a search to its end, by the parameters that there are."""
    given = estimator.get_params(deep=False)
    limits = [name for name in ("max_iter", "max_rounds", "tol") if name in given]
    advice = f"Raise {' or '.join(f'{name} (now {given[name]})' for name in limits)}" if limits else ""
    if not given.get("standardize", False):
        advice += f"{', or bring' if advice else 'Bring'} columns to one scale first, as StandardScaler does"
    return f"{advice}." if advice else "Another random_state or other parameters may do better."
