"""Base classes of feature selectors."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Bunch, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from kernsift import _native
from kernsift._base import Estimator, feature_count_json, labeled_rows
from kernsift._frames import PreparedRows, as_frame, frame_names
from kernsift._html import Summary, selection_summary
from kernsift._native_data import (
    FloatArray,
    Rule,
    Target,
    checked_classes,
    checked_rows,
    continuous_target,
    method_json,
    n_outputs,
    native_rows,
)
from kernsift._parameters import documented
from kernsift._progress import report_progress
from kernsift._reports import ReportMixin, ReportParts
from kernsift._sklearn import _fit_context, _get_output_config
from kernsift._weights import read_weights


class FeatureSelectorMixin(SelectorMixin):
    """Returns the selected features with their original types, also in polars frames."""

    support_: npt.NDArray[np.bool_]

    @documented()
    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        {X}

        Returns
        -------
        X_new : {ndarray, sparse matrix} of shape (n_samples, n_selected_features)
            The selected features, in the order of `X` and with its dtype: float32 stays float32. With
            :meth:`set_output`, each column of a pandas or polars frame keeps its dtype.
        """
        X = as_frame(X)
        is_polars = type(X).__module__.split(".")[0] == "polars"
        if is_polars and _get_output_config("transform", estimator=self)["dense"] == "polars":
            check_is_fitted(self)
            validate_data(self, X, reset=False, skip_check_array=True)
            return X[:, self.get_support(indices=True).tolist()]
        is_plain = _get_output_config("transform", estimator=self)["dense"] == "default"
        if is_plain and hasattr(self, "_frame_encoder") and frame_names(X):
            # Missing values of a frame are no error, while those of an array are.
            check_is_fitted(self)
            validate_data(self, X, reset=False, skip_check_array=True)
            return self._transform(check_array(X, dtype=None, ensure_all_finite="allow-nan"))
        return super().transform(X)

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_


class BaseSelector(ReportMixin, FeatureSelectorMixin, Estimator):
    """A feature selector. A subclass sets its method and has its parameters."""

    _fitted: ClassVar[tuple[str, ...]] = ("support_", "scores_", "ranking_", "order_")
    #: It selects among typed features of a data frame, rather than among encoded ones.
    _selects_typed: ClassVar[bool] = True
    #: Its target may have several columns.
    _supports_outputs: ClassVar[bool] = False

    n_features_to_select: int | float | None
    standardize: bool

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features and select some.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Class labels or, for methods that support it, a continuous target. Unsupervised methods ignore it;
            the others need it. FOHSIC, BAHSIC, HSICLasso and HSFS support several continuous columns.

        Returns
        -------
        {self}
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        if n_outputs(y) > 1 and self._uses_target() and not self._supports_outputs:
            raise ValueError(
                f"{type(self).__name__} does not support a y of several columns; FOHSIC, BAHSIC, HSICLasso "
                f"and HSFS do. y should be a 1d array, got an array of shape {np.asarray(y).shape} instead."
            )
        X, target = self._checked(X, y)
        rule = self._split_rule(X, y, groups)
        self._sample_weight = read_weights(sample_weight, X.shape[0])
        weights = self._sample_weight, False
        with report_progress(self, X):
            answer = _native.select(
                method_json(self._method, self._own_parameters()),
                native_rows(X),
                target,
                self._feature_count(X.shape[1]),
                bool(self.standardize),
                rule,
                weights,
                self._fit_settings(),
            )
        self._store_details(answer, X)
        if isinstance(X, PreparedRows):
            answer = _of_frame(answer, X)
        self._store_selection(answer)
        return self

    def _store_selection(self, answer: dict[str, Any]) -> None:
        """Sets the attributes of a selection."""
        n_features = len(answer["scores"])
        self.scores_: FloatArray = answer["scores"]
        self.order_: npt.NDArray[np.int64] = answer["order"]
        self.support_ = np.zeros(n_features, dtype=bool)
        self.support_[answer["selected"]] = True
        self.ranking_ = np.empty(n_features, dtype=np.int64)
        self.ranking_[self.order_] = np.arange(1, n_features + 1)
        if answer["curve"].size:
            self.error_curve_: FloatArray = answer["curve"]
        if answer["coef"] is not None:
            self.coef_: FloatArray = answer["coef"]
        if "n_samples_used_" in self._fitted:
            self.n_samples_used_: int = answer["n_used"]
        if "path_" in self._fitted:
            self.path_ = Bunch(**answer["path"])
        self._store_outcome(answer)

    def _split_rule(self, X: Any, y: Any, groups: Any) -> Rule | None:
        """What splits of the samples respect."""
        return None

    def _store_details(self, answer: dict[str, Any], X: Any) -> None:
        """Stores what only this method has."""

    def _checked(self, X: Any, y: Any) -> tuple[Any, Target | None]:
        """Validated samples, and the target in the form of the native module."""
        if self._uses_target():
            return labeled_rows(self, X, y, ensure_all_finite="allow-nan")
        # An earlier fit to class labels may have set them.
        self.__dict__.pop("classes_", None)
        return checked_rows(self, X, ensure_min_samples=2, ensure_all_finite="allow-nan"), None

    def _uses_target(self) -> bool:
        """Whether the method is supervised."""
        return True

    def _feature_count(self, n_features: int) -> str:
        count = self.n_features_to_select
        if isinstance(count, Integral) and count > n_features:
            raise ValueError(
                f"The 'n_features_to_select' parameter of {type(self).__name__} must be at most the "
                f"number of features, {n_features}. Got {count} instead."
            )
        return feature_count_json(count)

    def _candidate_form(self) -> dict[str, Any]:
        """The method in the core's serialized form, for a comparison."""
        return {"columns": {"method": self._method, **self._own_parameters()}}

    def _page(self, parts: ReportParts) -> str:
        kept = int(self.support_.sum())
        order, scores = self.order_, parts.of_features(self.scores_)
        if isinstance(parts.x, PreparedRows):
            order = parts.x.features_of(order)
        return _native.selection_page(
            parts.native(),
            order.tolist(),
            scores.tolist(),
            (kept, getattr(self, "_automatic", None)),
            parts.check(max(kept, 1), len(parts.names)),
            parts.run,
        )

    def _summary(self) -> Summary:
        return selection_summary(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self._uses_target()
        tags.target_tags.multi_output = self._supports_outputs
        return tags


def _of_frame(answer: dict[str, Any], rows: PreparedRows) -> dict[str, Any]:
    """The answer about the features of a frame as one about its columns."""
    positions = rows.native.positions
    path = answer["path"]
    return answer | {
        "scores": rows.to_frame(answer["scores"]),
        "order": rows.order(answer["order"]),
        "selected": positions[answer["selected"]],
        "coef": None if answer["coef"] is None else rows.to_frame(answer["coef"]),
        "path": path | {"features": [positions[features] for features in path["features"]]},
    }


class WeightedSelector(BaseSelector):
    """A feature selector that supports weights of samples."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Rank the features and select some.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Class labels or, for methods that support it, a continuous target. Unsupervised methods ignore it;
            the others need it. FOHSIC, BAHSIC, HSICLasso and HSFS support several continuous columns.
        {sample_weight}

        Returns
        -------
        {self}
        """
        return self._fit(X, y, sample_weight=sample_weight)


class BaseTargetSelector(BaseSelector):
    """A feature selector for classification and regression targets."""

    _fitted: ClassVar[tuple[str, ...]] = (*BaseSelector._fitted, "target_type_")

    target_type: str
    target_type_: str

    def _checked(self, X: Any, y: Any) -> tuple[Any, Target | None]:
        return rows_and_target(self, X, y)


class WeightedTargetSelector(WeightedSelector, BaseTargetSelector):
    """A feature selector for classification and regression targets that supports weights."""


def rows_and_target(estimator: Any, X: Any, y: Any, **checks: Any) -> tuple[Any, Target]:
    """Validated samples, and a target of one or several columns in the form of the native module."""
    checks = {"ensure_min_samples": 2, "ensure_all_finite": "allow-nan", **checks}
    if n_outputs(y) > 1:
        checks["multi_output"] = True
    X, y = checked_rows(estimator, X, y, **checks)
    return X, store_target(estimator, y)


def store_target(estimator: Any, y: Any) -> Target:
    """The target in the form of the native module; sets `target_type_`, and `classes_` for classes."""
    numbers: FloatArray | None
    if n_outputs(y) > 1:
        if estimator.target_type == "class":
            raise ValueError("Class labels must be a y of one column.")
        numbers = check_array(y, dtype=np.float64, input_name="y")
    else:
        numbers = continuous_target(y, estimator.target_type)
    if numbers is not None:
        estimator.target_type_ = "number"
        # An earlier fit to class labels may have set them.
        estimator.__dict__.pop("classes_", None)
        return numbers
    estimator.target_type_ = "class"
    estimator.classes_, classes = checked_classes(y)
    return classes
