"""The base class of all estimators, constraints of shared parameters, and helpers for fits."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from numbers import Integral
from types import MappingProxyType
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._frames import Columns, options_json
from kernsift._html import SummaryMixin
from kernsift._native_data import (
    Classes,
    FloatArray,
    NativeRows,
    Settings,
    checked_classes,
    checked_rows,
    native_rows,
    settings,
)
from kernsift._parameters import COMMON, Docs, constraints, declared, document, documented, native_value
from kernsift._sklearn import Interval, RealNotInt, StrOptions
from kernsift._warnings import warn
from kernsift.kernels import Kernel, choice_form

#: Constraints of parameters that every estimator has.
RUN_CONSTRAINTS: dict[str, list[Any]] = {
    "random_state": ["random_state"],
    "n_jobs": [
        Interval(Integral, 1, 1024, closed="both"),
        Interval(Integral, None, -1, closed="right"),
        None,
    ],
    "verbose": ["verbose"],
}

#: Constraints of the parameters of a kernel, which are passed to the core together.
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions({"rbf", "linear", "poly", "laplacian"}), Kernel],
    **constraints("kobl", "gamma", "degree", "coef0"),
}

#: Constraints of parameters that estimators share.
SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "n_features_to_select": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
        None,
    ],
    "standardize": ["boolean"],
    "target_type": [StrOptions({"auto", "class", "number"})],
    **KERNEL_CONSTRAINTS,
    **RUN_CONSTRAINTS,
}


class Estimator(SummaryMixin, BaseEstimator):
    """Base class of all estimators.

    The constraints of its parameters are, in this order, those in `_parameter_constraints` of the class and
    its bases, those that its method declares in Rust, and `SHARED_CONSTRAINTS`. See
    :func:`kernsift._parameters.document` for the documentation.
    """

    #: The method's name in the core's serialized form.
    _method: ClassVar[str]
    #: The name under which the core declares its parameters.
    _catalog_name: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    #: Documentation of parameters and attributes that only this class and its subclasses have.
    _docs: ClassVar[Docs] = {}
    #: Additions to the documentation of parameters.
    _parameter_notes: ClassVar[dict[str, str]] = {}
    #: Fitted attributes for the documentation: those of the class, and those that every estimator has.
    _fitted: ClassVar[tuple[str, ...]] = ()
    _common_attributes: ClassVar[tuple[str, ...]] = COMMON

    # Parameters are set by __init__ of the subclasses, as scikit-learn requires.
    random_state: Any
    n_jobs: int | None
    verbose: int
    n_iter_: Any
    converged_: bool
    #: Encodes data frames; only after a fit to one.
    _frame_encoder: _native.FrameEncoder
    #: The arguments of `set_columns`.
    _column_options: Mapping[str, Any] = MappingProxyType({})

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_method" in cls.__dict__:
            cls._catalog_name = cls.__dict__.get("_catalog_name", cls._method)
        if "__init__" in cls.__dict__:
            own = cls._declared()
            known = {**SHARED_CONSTRAINTS, **(constraints(cls._catalog_name, *own) if own else {})}
            for base in reversed(cls.__mro__):
                known |= base.__dict__.get("_parameter_constraints", {})
            names = set(cls._get_param_names())
            cls._parameter_constraints = {name: known[name] for name in known if name in names}
        document(cls)

    @documented()
    def set_columns(
        self,
        *,
        include: Columns = (),
        exclude: Columns = (),
        id: Columns = (),
        types: Mapping[str, str] | None = None,
        missing: str = "auto",
    ) -> Self:
        """Choose the columns of data frames that are features, and their types, instead of inferring them.

        Like :meth:`set_output`, it configures later fits and is kept by :func:`sklearn.base.clone`; another
        call replaces all choices.

        Parameters
        ----------
        {include}
        {exclude}
        {id}
        {types}
        missing : {"auto", "error", "mean", "median"}, default="auto"
            How to handle missing values: raise an error, or impute. "auto" imputes with the median and adds a
            column that indicates missing values to each feature with more than 1 % of them.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> import pandas
        >>> from kernsift import FisherScore
        >>> frame = pandas.DataFrame({"zip": [8001, 8001, 3011, 3011], "note": [1, 5, 2, 3]})
        >>> selector = FisherScore(1).set_columns(exclude="note", types={"zip": "category"})
        >>> selector.fit(frame, [0, 0, 1, 1]).get_feature_names_out()
        array(['zip'], dtype=object)
        """
        if "estimator" in self._get_param_names():
            name = type(self).__name__
            raise TypeError(f"{name} does not prepare data frames itself. Call set_columns of its estimator.")
        if missing not in ("auto", "error", "mean", "median"):
            raise ValueError(f'missing must be "auto", "error", "mean" or "median", got {missing!r}.')
        options: dict[str, Any]
        options = {"include": include, "exclude": exclude, "id": id, "types": types, "missing": missing}
        # Also checks them.
        _native.check_column_options(options_json(**options))
        self._column_options = options
        return self

    def __sklearn_clone__(self) -> Self:
        copy: Self = super().__sklearn_clone__()
        if self._column_options:
            copy._column_options = self._column_options
        return copy

    @classmethod
    @functools.cache
    def _declared(cls) -> list[str]:
        """The parameters that the method declares in Rust, except those of the kernel."""
        own = declared(cls._catalog_name) if hasattr(cls, "_catalog_name") else {}
        names = set(cls._get_param_names()) - (KERNEL_CONSTRAINTS.keys() if "kernel" in own else set())
        return [name for name in own if name in names]

    def _own_parameters(self) -> dict[str, Any]:
        """The method's parameters in the core's serialized form."""
        own = {name: native_value(self._catalog_name, name, getattr(self, name)) for name in self._declared()}
        if "kernel" in declared(self._catalog_name):
            get = self.get_params(deep=False).get
            own["kernel"] = choice_form(self.kernel, self.gamma, get("degree", 3), get("coef0", 1.0))
        return own

    def _fit_settings(self) -> Settings:
        """Settings of a fit."""
        return settings(self.random_state, self.n_jobs, self.verbose)

    def _settings(self) -> Settings:
        """Settings of a computation without random numbers, which does not advance a RandomState."""
        return settings(0, self.n_jobs, self.verbose)

    def _new_samples(self, X: Any, **checks: Any) -> NativeRows:
        """Validated samples of a fitted estimator in the form of the native module."""
        check_is_fitted(self)
        return native_rows(checked_rows(self, X, reset=False, **checks))

    def _standardizes(self) -> bool:
        """Whether the native module is to standardize; the encoder of a data frame has done so already."""
        return bool(self.get_params(deep=False)["standardize"]) and not hasattr(self, "_frame_encoder")

    def _store_scaling(self, answer: dict[str, Any]) -> None:
        """Sets `mean_` and `scale_`, by the native module or by the encoder of a data frame."""
        scaling = answer["shift"], answer["scale"]
        if hasattr(self, "_frame_encoder"):
            scaling = self._frame_encoder.scaling or (None, None)
        self.mean_: FloatArray | None
        self.scale_: FloatArray | None
        self.mean_, self.scale_ = scaling

    def _store_outcome(self, answer: dict[str, Any], *, warns: bool = True) -> None:
        """Sets `n_iter_` and `converged_`; warns if the fit did not converge, unless `warns` is false."""
        # A start that is optimal takes no iteration; scikit-learn counts at least one.
        done = answer["iterations"]
        self.n_iter_ = max(1, done) if isinstance(done, int) else done
        self.converged_ = answer["converged"]
        if not self.converged_ and warns:
            text = f"{type(self).__name__} did not converge: {answer['stop']}. {_advice(self)}"
            warn(text, ConvergenceWarning)

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn inspects the signature in every fit, which takes a tenth of the time of a small one.
        names: list[str] = super()._get_param_names()
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Data frames are encoded.
        tags.input_tags.categorical = True
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
    # An earlier fit with another kernel may have set it.
    estimator.__dict__.pop("gamma_", None)
    if hasattr(kernel, "gamma"):
        estimator.gamma_ = kernel.gamma


def _advice(estimator: Any) -> str:
    """What may help to converge, by the parameters of the estimator."""
    given = estimator.get_params(deep=False)
    limits = [name for name in ("max_iter", "max_rounds", "tol") if name in given]
    advice = f"Raise {' or '.join(f'{name} (now {given[name]})' for name in limits)}" if limits else ""
    if not given.get("standardize", False):
        advice += f"{', or standardize' if advice else 'Standardize'} the features first (StandardScaler)"
    return f"{advice}." if advice else "Try another random_state or other parameters."
