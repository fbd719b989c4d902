"""Screening of all pairs of features for interactions."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Self

import numpy as np

from kernsift import _native
from kernsift._base import Estimator
from kernsift._frames import PreparedRows
from kernsift._html import Bars, Summary
from kernsift._native_data import (
    FloatArray,
    IntArray,
    native_rows,
    to_json,
)
from kernsift._parameters import Docs, core_docs, documented
from kernsift._progress import report_progress
from kernsift._reports import ReportMixin, ReportParts
from kernsift._selected import feature_names, shortened
from kernsift._selector import FeatureSelectorMixin, rows_and_target
from kernsift._sklearn import _fit_context
from kernsift._text_table import TextTableMixin

__all__ = ["InteractionScreen", "Interactions", "interactions"]


class InteractionScreen(ReportMixin, FeatureSelectorMixin, Estimator):
    """Finds pairs of features on which the target depends jointly, among all pairs.

    Each feature becomes a few bounded functions of its ranks. All products of functions of two features are
    compared with the target by matrix products in single precision; for the best pairs, a test in double
    precision asks what the products explain beyond functions of each feature alone. p-values are adjusted for
    all pairs. It finds XOR patterns among thousands of features, and supports categories and missing values.

    As a selector, it keeps the features of significant pairs; there may be none.

    {parameters and attributes}

    See Also
    --------
    interactions : The same as a function, with names of features.
    HSFS : Selects features that predict the target jointly.

    Examples
    --------
    >>> from kernsift import InteractionScreen, make_synthetic
    >>> X, y, relevant = make_synthetic("xor", n_samples=400, n_features=50, random_state=0)
    >>> screen = InteractionScreen().fit(X, y)
    >>> sorted(screen.pairs_[0]) == sorted(relevant)
    True
    >>> screen.n_significant_
    1
    """

    _method = "interactions"
    _fitted: ClassVar[tuple[str, ...]] = (
        "pairs_",
        "scores_",
        "beyond_",
        "pvalues_",
        "qvalues_",
        "n_significant_",
        "main_effects_",
        "support_",
        "target_type_",
        "classes_",
    )
    _common_attributes: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")
    #: It uses typed features of a data frame.
    _selects_typed: ClassVar[bool] = True
    _docs: ClassVar[Docs] = {
        "pairs_": ("ndarray of shape (n_pairs_found, 2)", "Feature indices of the pairs, the best first."),
        "scores_": (
            "ndarray of shape (n_pairs_found,)",
            "Dependence of the target on the products of functions of each pair.",
        ),
        "beyond_": (
            "ndarray of shape (n_pairs_found,)",
            "What each pair explains beyond its features alone; if that is nothing, about chi-squared "
            "distributed.",
        ),
        "pvalues_": ("ndarray of shape (n_pairs_found,)", "p-values of `beyond_`."),
        "qvalues_": ("ndarray of shape (n_pairs_found,)", "p-values adjusted for all pairs."),
        "n_significant_": ("int", "Number of pairs with a q-value of at most `alpha`."),
        "main_effects_": (
            "ndarray",
            "Indices of features whose effects alone were removed from the target before the screen, the "
            "strongest first.",
        ),
        "support_": ("ndarray of shape (n_features_in_,)", "Mask of the features of significant pairs."),
    }

    def __init__(
        self,
        n_functions: int = 4,
        *,
        n_pairs: int = 100,
        method: str = "bonferroni",
        permutations: int = 0,
        alpha: float = 0.05,
        target_type: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_functions = n_functions
        self.n_pairs = n_pairs
        self.method = method
        self.permutations = permutations
        self.alpha = alpha
        self.target_type = target_type
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Score all pairs of features and test the best.

        Parameters
        ----------
        {X_train}
        {targets}

        Returns
        -------
        {self}
        """
        numeric = self.target_type == "number"
        X, target = rows_and_target(self, X, y, ensure_min_features=2, y_numeric=numeric)
        with report_progress(self, X):
            answer = _native.interactions(
                to_json(self._own_parameters()), native_rows(X), target, self._fit_settings()
            )
        positions = X.native.positions if isinstance(X, PreparedRows) else np.arange(X.shape[1])
        self._store_pairs(json.loads(answer), positions)
        return self

    def _store_pairs(self, found: dict[str, Any], positions: IntArray) -> None:
        """Sets the attributes; `positions` are the columns of the features."""
        self._found = found
        pairs = found["pairs"]

        def numbers(key: str) -> FloatArray:
            return np.array([pair[key] for pair in pairs], dtype=np.float64)

        features = np.array([pair["features"] for pair in pairs], dtype=np.int64).reshape(-1, 2)
        self.pairs_: IntArray = positions[features]
        self.scores_ = numbers("score")
        self.beyond_ = numbers("beyond")
        self.pvalues_ = numbers("p_value")
        self.qvalues_ = numbers("q_value")
        self.n_significant_: int = self._found["n_significant"]
        self.main_effects_: IntArray = positions[np.array(self._found["main_effects"], dtype=np.int64)]
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.pairs_[: self.n_significant_].ravel()] = True

    def _page(self, parts: ReportParts) -> str:
        return _native.interactions_page(parts.native(), to_json(self._found), float(self.alpha))

    def _summary(self) -> Summary:
        names = feature_names(self)
        shown = self.pairs_[: self.n_significant_]
        labels = [f"{shortened(names[i])} and {shortened(names[j])}" for i, j in shown]
        facts = [("significant pairs", f"{self.n_significant_} of {self._found['n_all_pairs']}")]
        return Summary(facts, Bars("beyond", labels, self.beyond_[: self.n_significant_]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


class Interactions(TextTableMixin):
    """Pairs of features, by :func:`interactions`.

    Attributes
    ----------
    pairs : list of dict
        For each pair, the best first: "feature_1" and "feature_2" (names, or x0, x1 and so on), "score",
        "beyond", "degrees", "p_value" and "q_value". ``pandas.DataFrame(result.pairs)`` is a table.
    n_significant : int
        Number of leading pairs with a q-value of at most `alpha`.
    n_all_pairs : int
        Number of all pairs, for which p-values are adjusted.
    main_effects : list of str
        Features whose effects alone were removed from the target first, the strongest first.

    Examples
    --------
    >>> from kernsift import interactions, make_synthetic
    >>> X, y, _ = make_synthetic("xor", n_samples=400, n_features=10, random_state=0)
    >>> found = interactions(X, y)
    >>> found.n_significant, found.n_all_pairs
    (1, 45)
    """

    _header = ("feature_1", "feature_2", "beyond", "p_value", "q_value")

    def __init__(self, screen: InteractionScreen) -> None:
        names = [str(name) for name in feature_names(screen)]
        self.pairs: list[dict[str, Any]] = [
            {
                "feature_1": names[i],
                "feature_2": names[j],
                "score": pair["score"],
                "beyond": pair["beyond"],
                "degrees": pair["degrees"],
                "p_value": pair["p_value"],
                "q_value": pair["q_value"],
            }
            for (i, j), pair in zip(screen.pairs_, screen._found["pairs"], strict=True)
        ]
        self.n_significant = screen.n_significant_
        self.n_all_pairs: int = screen._found["n_all_pairs"]
        self.main_effects = [names[j] for j in screen.main_effects_]

    def _headline(self) -> str:
        return f"{self.n_significant} significant of {self.n_all_pairs} pairs"

    def _records(self) -> list[dict[str, Any]]:
        return self.pairs


@documented(core_docs("interactions"))
def interactions(
    X: Any,
    y: Any,
    *,
    n_functions: int = 4,
    n_pairs: int = 100,
    method: str = "bonferroni",
    permutations: int = 0,
    alpha: float = 0.05,
    target_type: str = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Interactions:
    """Find pairs of features on which the target depends jointly, among all pairs.

    Parameters
    ----------
    {X}
    {targets}
    {n_functions}
    {n_pairs}
    {method}
    {permutations}
    {alpha}
    {target_type}
    {random_state}
    {n_jobs}
    {verbose}

    Returns
    -------
    result : Interactions
        Prints as a table; ``result.pairs`` has the details.

    See Also
    --------
    InteractionScreen : The same as an estimator, with indices of features.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsift import interactions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> found = interactions(X, X[:, 3] * X[:, 8] > 0)
    >>> found.pairs[0]["feature_1"], found.pairs[0]["feature_2"]
    ('x3', 'x8')
    """
    screen = InteractionScreen(
        n_functions,
        n_pairs=n_pairs,
        method=method,
        permutations=permutations,
        alpha=alpha,
        target_type=target_type,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    return Interactions(screen.fit(X, y))
