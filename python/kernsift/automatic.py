"""The automatic selector."""

from __future__ import annotations

import json
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

from kernsift import _native
from kernsift._frames import PreparedRows
from kernsift._native_data import FloatArray, Rule
from kernsift._parameters import Docs
from kernsift._selector import BaseTargetSelector
from kernsift._sklearn import _fit_context
from kernsift._splits import read_groups, read_splits


class AutoSelector(BaseTargetSelector):
    """The features that matter, how many they are, and how well they predict: the selector to start with.

    It screens single features, pairs and sets of three features; searches by the criterion of
    :class:`NCASelector`, with jointly relevant features as candidates; chooses the number of features by
    cross-validation (the fewest features with an error within one standard error of the least); and
    estimates the error on samples that took no part by nested cross-validation. Another method (LDFS, HSIC
    Lasso, Fisher score) is used instead if it is decisively better on the same folds. If nothing predicts
    the target better than chance, no feature is selected, unless a number is requested.

    `summary_` says in a few sentences what was found. Categories, missing values and data frames are
    supported; features are standardized inside each fold.

    {parameters and attributes}

    See Also
    --------
    kernsift.NCASelector : The search alone.
    kernsift.InteractionScreen : The screen of all pairs.

    Examples
    --------
    >>> from kernsift import AutoSelector
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("xor", n_samples=300, n_features=20, random_state=0)
    >>> selector = AutoSelector(random_state=0).fit(X, y)
    >>> selector.get_support(indices=True).tolist() == sorted(relevant.tolist())
    True
    """

    _method = "auto"
    _fitted: ClassVar[tuple[str, ...]] = (
        *BaseTargetSelector._fitted,
        "n_features_",
        "summary_",
        "pvalue_",
        "error_",
        "error_curve_",
        "pvalues_",
        "qvalues_",
        "frequencies_",
        "interactions_",
        "three_way_",
        "method_",
        "alternatives_",
        "left_out_",
        "classes_",
    )
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": "None chooses the number by cross-validation, and may select nothing.",
        "cv": "Or a splitter of scikit-learn, which gets the groups, or pairs of training and test indices.",
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": ["cv_object"],
    }
    _docs: ClassVar[Docs] = {
        "n_features_": ("int", "Number of selected features."),
        "summary_": ("str", "What was found, in sentences."),
        "pvalue_": (
            "float",
            "p-value of the hypothesis that nothing predicts the target, adjusted.",
        ),
        "error_": (
            "Bunch or None",
            "Error on samples that took no part: `error`, `standard_error`, `baseline` (without features), "
            "`nested`. It is the balanced error rate, or 1 - R^2 for a continuous target; with `scoring` the "
            "error rate, 1 - AUC, the log loss, or the mean absolute error divided by that of the mean. None "
            "without cross-validation.",
        ),
        "error_curve_": (
            "Bunch",
            "Cross-validated error by number of features: arrays `n_features`, `error` and `standard_error`.",
        ),
        "pvalues_": (
            "ndarray of shape (n_features_in_,)",
            "p-value of each feature alone: does the target depend on it at all? From the screen, which uses "
            "at most 3000 samples. NaN for skipped columns.",
        ),
        "qvalues_": (
            "ndarray of shape (n_features_in_,)",
            "p-values adjusted for the number of features (Benjamini and Hochberg). A feature that matters "
            "only together with another has a large q-value.",
        ),
        "frequencies_": (
            "ndarray of shape (n_features_in_,)",
            "Fraction of searches on parts of the data that selected each feature.",
        ),
        "interactions_": (
            "Bunch",
            "Significant pairs, the best first: arrays `pairs` of shape (n_pairs, 2) and `pvalues`, adjusted "
            "for all pairs.",
        ),
        "three_way_": (
            "Bunch",
            "Significant sets of three features, the best first: arrays `features` of shape (n_sets, 3) and "
            "`pvalues`, adjusted for all sets.",
        ),
        "method_": ("str", "The method that selected: NCA, unless another was decisively better."),
        "alternatives_": (
            "list of Bunch",
            "Other methods on the same folds: `method`, `n_features`, `error`, `standard_error` and `close`.",
        ),
        "left_out_": ("list of str", "What is missing for lack of time or samples."),
    }
    #: Features are standardized inside each fold.
    standardize = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        cv: Any = 5,
        time_budget: float | None = None,
        scoring: str | None = None,
        exact: bool = False,
        target_type: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.cv = cv
        self.time_budget = time_budget
        self.scoring = scoring
        self.exact = exact
        self.target_type = target_type
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Rank the features and select some.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n_samples,)
            Class labels or a continuous target.
        groups : array-like of shape (n_samples,), default=None
            Samples of one group, such as a patient, are kept together in all folds. A pipeline or search
            passes them if they are requested: ``set_fit_request(groups=True)``.

        Returns
        -------
        {self}
        """
        return self._fit(X, y, groups=groups)

    def _split_rule(self, X: Any, y: Any, groups: Any) -> Rule | None:
        groups = read_groups(groups, X.shape[0])
        # For the cross-validation of reports.
        self._groups = groups
        splits = read_splits(self.cv, np.zeros((X.shape[0], 1)), y, groups)
        return groups if splits is None else splits

    def _own_parameters(self) -> dict[str, Any]:
        if isinstance(self.cv, Integral):
            return super()._own_parameters()
        # Splits are given apart from the parameters.
        budget = None if self.time_budget is None else float(self.time_budget)
        return {"cv": 5, "time_budget": budget, "scoring": self.scoring}

    def _candidate_form(self) -> dict[str, Any]:
        if not isinstance(self.cv, Integral):
            raise ValueError(
                "compare cannot record a splitter as cv of AutoSelector; use an int, and groups."
            )
        return super()._candidate_form()

    def _store_details(self, answer: dict[str, Any], X: Any) -> None:
        self._automatic: str = answer["automatic"]
        found = json.loads(self._automatic)
        selected = answer["selected"].tolist()
        is_frame = isinstance(X, PreparedRows)
        positions = X.native.positions if is_frame else np.arange(X.shape[1])
        if is_frame:
            names = X.names
        else:
            names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])
        self.n_features_ = len(selected)
        self.summary_ = "\n".join(
            _native.automatic_summary(self._automatic, selected, [str(n) for n in names])
        )
        self.pvalue_: float = found["p_value"]
        error = found["estimate"]
        self.error_ = None if error is None else Bunch(nested=error.pop("is_nested"), **error)
        curve = found["curve"]
        self.error_curve_: Any = Bunch(
            n_features=np.array([point["n_features"] for point in curve], dtype=np.int64),
            error=_numbers(curve, "error"),
            standard_error=_numbers(curve, "standard_error"),
        )
        n_columns = X.n_columns if is_frame else X.shape[1]
        self.pvalues_: FloatArray = np.full(n_columns, np.nan)
        self.qvalues_: FloatArray = np.full(n_columns, np.nan)
        self.pvalues_[positions] = found["p_values"]
        self.qvalues_[positions] = _native.adjusted(found["p_values"], "bh")
        frequencies = np.array(found["frequencies"])
        self.frequencies_: FloatArray = X.to_frame(frequencies) if is_frame else frequencies
        self.interactions_ = Bunch(
            pairs=positions[_features(found["pairs"], 2)], pvalues=_numbers(found["pairs"], "q_value")
        )
        three_way = found["three_way"]
        self.three_way_ = Bunch(
            features=positions[_features(three_way, 3)], pvalues=_numbers(three_way, "q_value")
        )
        self.method_: str = found["method"]
        self.left_out_: list[str] = found["left_out"]
        self.alternatives_ = [
            Bunch(close=other.pop("is_close"), **other) for other in map(dict, found["alternatives"])
        ]


def _features(items: list[dict[str, Any]], size: int) -> npt.NDArray[np.int64]:
    return np.array([item["features"] for item in items], dtype=np.int64).reshape(-1, size)


def _numbers(items: list[dict[str, Any]], key: str) -> npt.NDArray[np.float64]:
    return np.array([item[key] for item in items], dtype=float)
