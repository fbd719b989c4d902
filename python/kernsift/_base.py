"""Base classes of the estimators: validation, calls of the native module, fitted attributes."""

from __future__ import annotations

import functools
import inspect
import json
import warnings
from numbers import Integral
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
from kernsift._html import Summary, SummaryMixin, selection_summary
from kernsift._native_data import (
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
from kernsift._parameters import COMMON, Docs, constraints, declared, document, native_value
from kernsift._progress import report_progress
from kernsift._reports import ReportMixin, ReportParts
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

#: Parameters of the kernel.
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions({"rbf", "linear", "poly", "laplacian"}), Kernel],
    **constraints("kobl", "gamma", "degree", "coef0"),
}

#: Number of features or directions to select.
FEATURE_COUNT_CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
        None,
    ],
}

#: Parameters that are passed to the core together, as one kernel.
KERNEL_PARAMETERS = frozenset(("kernel", "gamma", "degree", "coef0"))


class Estimator(SummaryMixin, BaseEstimator):
    """Base class of all estimators.

    A subclass that sets `_method` gets the constraints of that method's parameters and their documentation
    from the declarations in Rust, see :func:`kernsift._parameters.document`.
    """

    #: The method's name in the core's serialized form.
    _method: ClassVar[str]
    #: The name under which the core declares its parameters.
    _catalog_name: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    #: Documentation of parameters and attributes that only this class and its subclasses have.
    _docs: ClassVar[Docs] = {}
    #: Fitted attributes for the documentation: those of the class, and those that every estimator has.
    _fitted: ClassVar[tuple[str, ...]] = ()
    _common_attributes: ClassVar[tuple[str, ...]] = COMMON

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_method" in cls.__dict__:
            cls._catalog_name = cls.__dict__.get("_catalog_name", cls._method)
            inherited: dict[str, list[Any]] = {}
            for base in reversed(cls.__mro__[1:]):
                inherited |= base.__dict__.get("_parameter_constraints", {})
            names = cls._declared()
            own = constraints(cls._catalog_name, *names) if names else {}
            given = cls.__dict__.get("_parameter_constraints", {})
            cls._parameter_constraints = {**inherited, **own, **given}
        document(cls)

    @classmethod
    @functools.cache
    def _declared(cls) -> list[str]:
        """The parameters that the method declares in Rust, except those of the kernel."""
        own = declared(cls._catalog_name)
        names = set(inspect.signature(cls.__init__).parameters)
        return [name for name in own if name in names - (KERNEL_PARAMETERS if "kernel" in own else set())]

    def _own_parameters(self) -> dict[str, Any]:
        """The method's parameters in the core's serialized form."""
        own = {name: native_value(self._catalog_name, name, getattr(self, name)) for name in self._declared()}
        if "kernel" in declared(self._catalog_name):
            get = self.get_params(deep=False).get
            own["kernel"] = choice_form(self.kernel, self.gamma, get("degree", 3), get("coef0", 1.0))
        return own

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn inspects the signature in every fit, which takes a tenth of the time of a small one.
        names: list[str] = super()._get_param_names()
        return names


class BaseBasis(ReportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A basis of kernel space. A subclass sets its method and has its parameters."""

    #: Whether `y` must hold class labels.
    _needs_classes: ClassVar[bool] = False
    _fitted: ClassVar[tuple[str, ...]] = (
        "n_components_",
        "pivots_",
        "residual_norms_",
        "reconstruction_cost_",
        "explained_",
        "kernel_",
        "gamma_",
    )
    _docs: ClassVar[Docs] = {
        "pivots_": (
            "ndarray",
            "Indices of the training samples that span the basis, in the order in which they were chosen.",
        ),
        "residual_norms_": (
            "ndarray of shape (n_components_,)",
            "Residual norm of each pivot when it was chosen.",
        ),
        "reconstruction_cost_": (
            "float",
            "Mean distance of the training samples from the span of the basis, in kernel space.",
        ),
        "explained_": ("float", "Fraction of the trace of the kernel matrix that the basis explains."),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **RUN_CONSTRAINTS,
    }

    # Set by __init__ of the subclasses, as scikit-learn requires.
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
            Training samples.
        y : array-like of shape (n_samples,), default=None
            Class labels, for methods that need them; ignored by the others.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._learn(X, y, features=False)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Learn the basis and transform the training samples.

        It takes no longer than :meth:`fit`. The result agrees with that of :meth:`transform` up to rounding.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,), default=None
            Class labels, for methods that need them; ignored by the others.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components_)
            Coordinates of the training samples.
        """
        made = self._learn(X, y, features=True)
        assert made is not None
        return made

    def transform(self, X: Any) -> FloatArray:
        """Map samples into kernel space.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components_)
            Coordinates of the samples.
        """
        x = self._checked(X)
        return self._map.transform(native_rows(x), self._settings())

    def residual_norms(self, X: Any) -> FloatArray:
        """Compute the residual norm of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        norms : ndarray of shape (n_samples,)
            Distance of each sample from the span of the basis, in kernel space. It is computed from a
            difference of squares: values below about 1e-8 of the sample's norm are rounding errors.
        """
        x = self._checked(X)
        return self._map.residual_norms(native_rows(x), self._settings())

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return checked_rows(self, X, reset=False)

    def _settings(self) -> Settings:
        """Settings of a run without random numbers: they do not advance a RandomState."""
        return settings(0, self.n_jobs, self.verbose)

    def _threshold_function(self) -> Any:
        """A callable threshold of KOBL, which cannot be passed as JSON."""
        return None

    def _min_samples(self) -> int:
        # The median of distances needs two samples.
        by_distance = isinstance(self.kernel, str) and self.kernel in ("rbf", "laplacian")
        return 2 if by_distance and self.gamma == "median" else 1

    def _learn(self, X: Any, y: Any, features: bool) -> FloatArray | None:
        classes = None
        if self._needs_classes:
            X, classes = labeled_rows(self, X, y)
        else:
            X = checked_rows(self, X, ensure_min_samples=self._min_samples())
        with report_progress(self, X):
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

    def _page(self, parts: ReportParts) -> str:
        named = None if self._threshold_function() else method_json(self._method, self._own_parameters())
        return _native.basis_page(
            parts.asked(), parts.rows, parts.names, parts.target(), self._map, named, parts.run
        )

    def _summary(self) -> Summary:
        return Summary(
            [
                ("components", self.n_components_),
                ("kernel", self.kernel_),
                ("fraction of the trace explained", self.explained_),
                ("mean residual norm", self.reconstruction_cost_),
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


class FeatureSelectorMixin(SelectorMixin):
    """Returns the selected features with their original types, also in polars frames."""

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : {ndarray, sparse matrix} of shape (n_samples, n_selected_features)
            The selected features, in the order of `X` and with its dtype: float32 stays float32. With
            :meth:`set_output`, each column of a pandas or polars frame keeps its dtype.
        """
        if type(X).__module__.split(".")[0] == "polars" and self._outputs_polars():
            checked_rows(
                self, X, reset=False, ensure_all_finite=not self.__sklearn_tags__().input_tags.allow_nan
            )
            return X[:, self.get_support(indices=True).tolist()]
        return super().transform(X)

    def _outputs_polars(self) -> bool:
        return bool(_get_output_config("transform", estimator=self)["dense"] == "polars")


class BaseSelector(ReportMixin, FeatureSelectorMixin, Estimator):
    """A feature selector. A subclass sets its method and has its parameters."""

    #: Whether it supports missing values (NaN).
    _supports_missing: ClassVar[bool] = False
    _fitted: ClassVar[tuple[str, ...]] = ("support_", "scores_", "ranking_", "order_")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FEATURE_COUNT_CONSTRAINTS,
        "standardize": ["boolean"],
        **RUN_CONSTRAINTS,
    }

    # Set by __init__ of the subclasses, as scikit-learn requires.
    n_features_to_select: int | float | None
    standardize: bool
    random_state: Any
    n_jobs: int | None
    verbose: int

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features and select some.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,), default=None
            Class labels or, for methods that support it, a continuous target. Unsupervised methods ignore it;
            the others need it.

        Returns
        -------
        self : object
            The fitted selector.
        """
        X, target = self._checked(X, y)
        with report_progress(self, X):
            answer = _native.select(
                method_json(self._method, self._own_parameters()),
                native_rows(X),
                target,
                self._feature_count(X.shape[1]),
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
        """Validated samples, and the target in the form of the native module."""
        return labeled_rows(self, X, y)

    def _feature_count(self, n_features: int) -> str:
        count = self.n_features_to_select
        if isinstance(count, Integral) and count > n_features:
            raise ValueError(
                f"The 'n_features_to_select' parameter of {type(self).__name__} must be at most the "
                f"number of features, {n_features}. Got {count} instead."
            )
        return feature_count_json(count)

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _page(self, parts: ReportParts) -> str:
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
        return selection_summary(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._supports_missing
        tags.target_tags.required = True
        return tags


class BaseTargetSelector(BaseSelector):
    """A feature selector for classification and regression targets."""

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
            # An earlier fit to class labels may have set them.
            self.__dict__.pop("classes_", None)
            return X, np.asarray(y, dtype=np.float64)
        self.classes_, classes = checked_classes(y)
        return X, classes


class BaseSpace(ReportMixin, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Selection in kernel space: a basis, a selector of its directions, nearest neighbors."""

    _catalog_name = "takes"
    _fitted: ClassVar[tuple[str, ...]] = (
        "basis_",
        "weights_",
        "order_",
        "support_",
        "n_selected_",
        "error_curve_",
        "classes_",
        "kernel_",
        "gamma_",
        "n_neighbors_",
        "mean_",
        "scale_",
    )
    _docs: ClassVar[Docs] = {
        "n_features_to_select": (
            "int, float or None",
            "Number of directions to select: int (count), float in (0, 1] (fraction), or None (chosen "
            "automatically).",
        ),
        "basis_": (
            "KOBL, KernelGramSchmidt, KernelPCA or KernelDiscriminant",
            "The fitted basis. It expects scaled samples: ``(X - mean_) / scale_`` if `standardize`.",
        ),
        "weights_": (
            "ndarray of shape (n_directions,)",
            "Weight of each direction; 0 if it was not selected.",
        ),
        "order_": ("ndarray of shape (n_directions,)", "Directions, best first."),
        "support_": ("ndarray of shape (n_directions,)", "Mask of the selected directions."),
        "n_selected_": ("int", "Number of selected directions."),
        "error_curve_": (
            "ndarray of shape (n_iter_,)",
            "Training error of the vote by number of directions; only with forward selection.",
        ),
        "n_neighbors_": ("int", "Number of neighbors that vote; differs from `n_neighbors` only if `tuned`."),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FEATURE_COUNT_CONSTRAINTS,
        **constraints(
            "takes", "weak_learner", "eta", "learner_bandwidth", "quantum", "weight_power", "n_neighbors"
        ),
        "weights": [*constraints("takes", "weights")["weights"], None],
        "tuned": ["boolean"],
        "standardize": ["boolean"],
        **RUN_CONSTRAINTS,
    }

    # Set by __init__ of the subclasses, as scikit-learn requires.
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
        """Learn the basis, select directions and store the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, classes = labeled_rows(self, X, y)
        basis = self._unfitted_basis()
        with report_progress(self, X):
            self._space, used = _native.fit_space(
                to_json(self._form()),
                native_rows(X),
                classes,
                feature_count_json(self.n_features_to_select),
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
        """Map samples to the selected directions, best first.

        Each direction is multiplied by the square root of its weight, so that Euclidean distances are the
        weighted distances.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_selected_)
            Coordinates of the samples.
        """
        x = self._checked(X)
        return self._space.transform(x, self._settings())

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes by the nearest training samples in the selected directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted class labels. Ties are broken by the nearest neighbor.
        """
        x = self._checked(X)
        predicted: npt.NDArray[Any] = self.classes_[self._space.predict(x, self._settings())]
        return predicted

    def _checked(self, X: Any) -> NativeRows:
        check_is_fitted(self)
        return native_rows(checked_rows(self, X, reset=False))

    def _settings(self) -> Settings:
        """Settings of a run without random numbers: they do not advance a RandomState."""
        return settings(0, self.n_jobs, self.verbose)

    def _form(self) -> dict[str, Any]:
        """All parameters in the core's serialized form."""
        if self.tuned:
            self._check_tuned_parameters()
        basis = self._unfitted_basis()
        return {
            "basis": {"method": basis._method, **basis._own_parameters()},
            "selector": self._selector_form(),
            "weight_power": 0.0 if self.weights is None else float(self.weight_power),
            "n_neighbors": int(self.n_neighbors),
            "tune": "everything" if self.tuned else "nothing",
            **self._own_parameters(),
        }

    def _check_tuned_parameters(self) -> None:
        """Raises for parameters that `tuned` would override."""
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
                    f"tuned=True chooses '{name}'; leave it at its default. Got {getattr(self, name)!r}."
                )

    def _unfitted_basis(self) -> BaseBasis:
        """A new basis with its parameters."""
        raise NotImplementedError

    def _selector_form(self) -> dict[str, Any] | None:
        """The selector in the core's serialized form."""
        raise NotImplementedError

    def _own_parameters(self) -> dict[str, Any]:
        """Further parameters in the core's serialized form."""
        return {}

    def _kffs_form(self) -> dict[str, Any]:
        """Forward selection with this estimator's parameters, in the core's serialized form."""
        names = ("weak_learner", "eta", "learner_bandwidth", "quantum", "weights")
        # Without weights the rule does not matter.
        values = {name: getattr(self, name) for name in names} | {"weights": self.weights or "ensemble"}
        return {"method": "ffs"} | {name: native_value("ffs", name, values[name]) for name in names}

    def _store(self, basis: BaseBasis, used: dict[str, Any]) -> None:
        # It maps scaled arrays, which have no feature names.
        basis.n_features_in_ = self.n_features_in_
        if basis._needs_classes:
            basis.classes_ = self.classes_
        basis._store(self._space.map())
        # With the chosen parameters, so that fitting the basis again gives the same.
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
            # An earlier fit with another selector may have set it.
            del self.error_curve_
        self.n_neighbors_: int = summary["n_neighbors"]
        self.mean_: FloatArray | None = summary["shift"]
        self.scale_: FloatArray | None = summary["scale"]
        self.n_iter_: int = summary["iterations"]
        self.converged_: bool = summary["converged"]

    def _page(self, parts: ReportParts) -> str:
        # A fold has fewer training samples, and so fewer directions.
        check = parts.check(self.n_selected_, self.basis_.n_components_ * 3 // 4)
        return _native.space_page(
            parts.asked(), parts.rows, parts.names, parts.target(), self._space, check, parts.run
        )

    def _summary(self) -> Summary:
        return selection_summary(self, ("kernel", self.kernel_), ("classes", len(self.classes_)))

    @property
    def _n_features_out(self) -> int:
        return self.n_selected_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def labeled_rows(estimator: Any, X: Any, y: Any, **checks: Any) -> tuple[Any, Classes]:
    """Validated samples, and their classes in the form of the native module; sets `classes_`."""
    X, y = checked_rows(estimator, X, y, ensure_min_samples=2, **checks)
    estimator.classes_, classes = checked_classes(y)
    return X, classes


def feature_count_json(count: int | float | None) -> str:
    """The number of features to select, in the core's serialized form."""
    if count is None:
        return '"auto"'
    if isinstance(count, Integral):
        return f'{{"count": {int(count)}}}'
    return f'{{"fraction": {float(count)!r}}}'


def store_kernel(estimator: Any, kernel: Kernel) -> None:
    """Sets `kernel_`, and `gamma_` if the kernel has one."""
    estimator.kernel_ = kernel
    if hasattr(kernel, "gamma"):
        estimator.gamma_ = kernel.gamma
    elif hasattr(estimator, "gamma_"):
        # An earlier fit with another kernel may have set it.
        del estimator.gamma_


def warn_unless_converged(estimator: Any, answer: dict[str, Any], stacklevel: int = 4) -> None:
    """Warns if the fit did not converge, and says what may help."""
    if not answer["converged"]:
        name, stop = type(estimator).__name__, answer["stop"]
        text = f"{name} did not converge: {stop}. {_advice(estimator)}"
        warnings.warn(text, ConvergenceWarning, stacklevel=stacklevel)


def _advice(estimator: Any) -> str:
    """What may help to converge, by the parameters of the estimator."""
    given = estimator.get_params(deep=False)
    limits = [name for name in ("max_iter", "max_rounds", "tol") if name in given]
    advice = f"Raise {' or '.join(f'{name} (now {given[name]})' for name in limits)}" if limits else ""
    if not given.get("standardize", False):
        advice += f"{', or standardize' if advice else 'Standardize'} the features first (StandardScaler)"
    return f"{advice}." if advice else "Try another random_state or other parameters."
