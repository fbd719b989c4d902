"""p-values of features."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from kernsift import _native
from kernsift._base import Estimator
from kernsift._frames import PreparedRows, frame_names
from kernsift._html import Bars, Summary
from kernsift._native_data import FloatArray, IntArray, native_rows, to_json
from kernsift._parameters import Docs, core_docs, documented
from kernsift._progress import report_progress
from kernsift._reports import ReportMixin, ReportParts
from kernsift._selected import feature_names, feature_positions, shortened
from kernsift._selector import FeatureSelectorMixin, rows_and_target
from kernsift._sklearn import _fit_context
from kernsift._text_table import TextTableMixin

__all__ = ["FeaturePValues", "SelectSignificant", "feature_pvalues"]

_COVARIATES = (
    "list or None",
    "Names or indices of columns of `X`: test whether the target depends on a feature given these columns. "
    "They are not tested.",
)


class SelectSignificant(ReportMixin, FeatureSelectorMixin, Estimator):
    """Selects the features on which the target depends significantly, each alone.

    A p-value for every feature answers whether the target depends on it at all, also nonlinearly. It does not
    answer whether the feature adds anything to the others. p-values are adjusted for the number of features.
    It supports classes and continuous targets, categories and missing values.

    {parameters and attributes}

    See Also
    --------
    feature_pvalues : The same as a function, with names of features.
    StabilitySelector : Selects the features that most fits to halves of the samples select.

    Examples
    --------
    >>> from kernsift import SelectSignificant, make_synthetic
    >>> X, y, relevant = make_synthetic("linear", n_samples=300, n_features=50, random_state=0)
    >>> selector = SelectSignificant(alpha=0.01).fit(X, y)
    >>> set(relevant) <= set(selector.get_support(indices=True))
    True
    """

    _method = "test"
    _fitted: ClassVar[tuple[str, ...]] = (
        "scores_",
        "pvalues_",
        "qvalues_",
        "n_significant_",
        "adjustment_",
        "support_",
        "target_type_",
        "classes_",
    )
    _common_attributes: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")
    #: It uses typed features of a data frame.
    _selects_typed: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"covariates": ["array-like", None]}
    _docs: ClassVar[Docs] = {
        "covariates": _COVARIATES,
        "scores_": (
            "ndarray of shape (n_features_in_,)",
            "The statistic of each feature; NaN for covariates and skipped columns of a data frame.",
        ),
        "pvalues_": ("ndarray of shape (n_features_in_,)", "p-values; 1 for a constant feature."),
        "qvalues_": ("ndarray of shape (n_features_in_,)", "p-values adjusted for the number of features."),
        "n_significant_": ("int", "Number of features with an adjusted p-value of at most `alpha`."),
        "adjustment_": ("str or None", "How covariates were accounted for; None without covariates."),
        "support_": ("ndarray of shape (n_features_in_,)", "Mask of the significant features."),
    }

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        method: str = "bh",
        statistic: str = "cosine",
        n_functions: int = 4,
        permutations: int = 0,
        covariates: Sequence[Any] | None = None,
        target_type: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.method = method
        self.statistic = statistic
        self.n_functions = n_functions
        self.permutations = permutations
        self.covariates = covariates
        self.target_type = target_type
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Test all features.

        Parameters
        ----------
        {X_train}
        {targets}

        Returns
        -------
        {self}
        """
        columns = feature_positions(frame_names(X), self.covariates, "covariates")
        X, target = rows_and_target(self, X, y, y_numeric=self.target_type == "number")
        positions = X.native.positions if isinstance(X, PreparedRows) else np.arange(X.shape[1])
        covariates = _positions(columns, positions, feature_names(self))
        with report_progress(self, X):
            answer = _native.test_features(
                to_json(self._own_parameters()), native_rows(X), target, covariates, self._fit_settings()
            )
        self._found: dict[str, Any] = json.loads(answer)
        found = self._found
        tested: IntArray = positions[[feature["feature"] for feature in found["features"]]]

        def numbers(key: str) -> FloatArray:
            out = np.full(self.n_features_in_, np.nan)
            out[tested] = [feature[key] for feature in found["features"]]
            return out

        self.scores_ = numbers("statistic")
        self.pvalues_ = numbers("p_value")
        self.qvalues_ = numbers("q_value")
        self.n_significant_: int = found["n_significant"]
        self.adjustment_: str | None = found["adjusted_by"]
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[tested[: self.n_significant_]] = True
        self._tested = tested
        return self

    def _page(self, parts: ReportParts) -> str:
        return _native.test_page(parts.native(), to_json(self._found), to_json(self._own_parameters()))

    def _summary(self) -> Summary:
        names = feature_names(self)
        shown = self._tested[: self.n_significant_]
        facts = [("significant features", f"{self.n_significant_} of {len(self._tested)}")]
        return Summary(facts, Bars("q-value", [shortened(names[j]) for j in shown], self.qvalues_[shown]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _positions(columns: list[int], positions: IntArray, names: list[str]) -> list[int]:
    """The indices of the features in these columns."""
    feature_of = {int(column): feature for feature, column in enumerate(positions)}
    for column in columns:
        if not 0 <= column < len(names):
            raise ValueError(f"covariates: X has no column {column}; it has {len(names)} columns.")
        if column not in feature_of:
            raise ValueError(f"covariates: column {names[column]!r} was skipped and cannot be a covariate.")
    return sorted({feature_of[column] for column in columns})


class FeaturePValues(TextTableMixin):
    """p-values of features, by :func:`feature_pvalues`.

    Attributes
    ----------
    features : list of dict
        For each tested feature, the most significant first: "feature" (its name, or x0, x1 and so on),
        "statistic", "p_value" and "q_value", the p-value adjusted for the number of features.
        ``pandas.DataFrame(result.features)`` is a table.
    pvalues : ndarray of shape (n_features,)
        p-values in the order of the columns of `X`; NaN for covariates and skipped columns.
    qvalues : ndarray of shape (n_features,)
        Adjusted p-values in the order of the columns.
    n_significant : int
        Number of features with an adjusted p-value of at most `alpha`.
    adjustment : str or None
        How covariates were accounted for; None without covariates.

    Examples
    --------
    >>> from kernsift import feature_pvalues, make_synthetic
    >>> X, y, _ = make_synthetic("linear", n_samples=300, n_features=10, random_state=0)
    >>> feature_pvalues(X, y).n_significant >= 2
    True
    """

    _header = ("feature", "statistic", "p_value", "q_value")

    def __init__(self, selector: SelectSignificant) -> None:
        names = [str(name) for name in feature_names(selector)]
        self.pvalues = selector.pvalues_
        self.qvalues = selector.qvalues_
        self.n_significant = selector.n_significant_
        self.adjustment = selector.adjustment_
        self.features: list[dict[str, Any]] = [
            {
                "feature": names[j],
                "statistic": float(selector.scores_[j]),
                "p_value": float(self.pvalues[j]),
                "q_value": float(self.qvalues[j]),
            }
            for j in selector._tested
        ]

    def _headline(self) -> str:
        return f"{self.n_significant} significant of {len(self.features)} features"

    def _records(self) -> list[dict[str, Any]]:
        return self.features


@documented({**core_docs("test"), "covariates": _COVARIATES})
def feature_pvalues(
    X: Any,
    y: Any,
    *,
    alpha: float = 0.05,
    method: str = "bh",
    statistic: str = "cosine",
    n_functions: int = 4,
    permutations: int = 0,
    covariates: Sequence[Any] | None = None,
    target_type: str = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> FeaturePValues:
    """Test for every feature whether the target depends on it.

    Parameters
    ----------
    {X}
    {targets}
    {alpha}
    {method}
    {statistic}
    {n_functions}
    {permutations}
    {covariates}
    {target_type}
    {random_state}
    {n_jobs}
    {verbose}

    Returns
    -------
    result : FeaturePValues
        Prints as a table; ``result.features`` has the details.

    See Also
    --------
    SelectSignificant : The same as a selector.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsift import feature_pvalues
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> found = feature_pvalues(X, X[:, 3] ** 2 > 1)
    >>> found.features[0]["feature"], found.features[0]["q_value"] < 1e-6
    ('x3', True)
    """
    selector = SelectSignificant(
        alpha,
        method=method,
        statistic=statistic,
        n_functions=n_functions,
        permutations=permutations,
        covariates=covariates,
        target_type=target_type,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    return FeaturePValues(selector.fit(X, y))
