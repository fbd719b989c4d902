"""Knockoffs around any selector."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import validate_data

from kernsift import _native
from kernsift._base import Estimator
from kernsift._html import Bars, Summary
from kernsift._importances import importances
from kernsift._native_data import FloatArray, explain_conversion_errors, native_rows, settings
from kernsift._parameters import Docs
from kernsift._progress import report_progress
from kernsift._selected import feature_names, shortened
from kernsift._selector import FeatureSelectorMixin
from kernsift._sklearn import HasMethods, Interval, _fit_context
from kernsift._warnings import warn
from kernsift.dependence import HSICLasso

__all__ = ["KnockoffSelector"]

#: Attributes with the importance of every feature.
IMPORTANCES = ("scores_", "feature_importances_", "coef_")
#: Samples below which there is no covariance.
MIN_SAMPLES = 10


class KnockoffSelector(MetaEstimatorMixin, FeatureSelectorMixin, Estimator):
    """Selects features that add something to the others, with a bound on the false discovery rate.

    Every feature gets a random copy with the same correlations with all other features, but nothing to do
    with the target beyond them. `estimator` is fitted to features and copies together. The importance of a
    feature less that of its copy is as likely positive as negative for a feature that adds nothing, so that
    the number of negative differences estimates the number of false positives (knockoff+) [1]_.

    Copies come from a normal distribution with the correlations of the features that stand out from noise;
    the bound is exact only for normal features with known correlations. Very similar features have similar
    copies, and so no power; other features are not affected. At least 1 / `q` features can be selected, or
    none.

    {parameters and attributes}

    See Also
    --------
    SelectSignificant : Selects the features on which the target depends, each alone.
    StabilitySelector : Selects the features that most fits to halves of the samples select.

    References
    ----------
    .. [1] Candès, Fan, Janson and Lv, "Panning for gold: 'model-X' knockoffs for high dimensional controlled
       variable selection", 2018.
    .. [2] Ren and Barber, "Derandomised knockoffs: leveraging e-values for false discovery rate control",
       2024.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsift import FisherScore, KnockoffSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 50))
    >>> y = X[:, :15].sum(axis=1) > 0
    >>> selector = KnockoffSelector(FisherScore(), q=0.2, random_state=0).fit(X, y)
    >>> int(selector.support_[:15].sum()) > 10
    True
    """

    _fitted: ClassVar[tuple[str, ...]] = ("scores_", "evalues_", "n_significant_", "support_")
    _common_attributes: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods("fit"), None],
        "q": [Interval(Real, 0, 1, closed="neither")],
        "n_copies": [Interval(Integral, 1, 1000, closed="both")],
        "normal_scores": ["boolean"],
    }
    _docs: ClassVar[Docs] = {
        "estimator": (
            "estimator or None",
            "A selector or another estimator with `scores_`, `feature_importances_` or `coef_` (absolute "
            "values), one per feature. It is cloned. None is :class:`HSICLasso`. If its "
            "`n_features_to_select` is None, it selects three times the fewest features "
            "that can be selected here.",
        ),
        "q": (
            "float",
            "The bound on the expected fraction of false positives among the selected features.",
        ),
        "n_copies": (
            "int",
            "Number of copies of all features. With several the result depends less on chance: they are "
            "merged by e-values [2]_, and at least 2 / `q` features can be selected, or none.",
        ),
        "normal_scores": (
            "bool",
            "Whether to replace each feature by the normal quantiles of its ranks first, for features with "
            "heavy tails.",
        ),
        "n_jobs": ("int or None", "Number of fits at the same time, by joblib."),
        "scores_": (
            "ndarray of shape (n_features_in_,)",
            "The importance of each feature less that of its copy; the mean over copies.",
        ),
        "evalues_": ("ndarray of shape (n_features_in_,)", "The e-value of each feature."),
        "n_significant_": ("int", "Number of selected features."),
    }

    def __init__(
        self,
        estimator: Any = None,
        q: float = 0.1,
        *,
        n_copies: int = 1,
        normal_scores: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.q = q
        self.n_copies = n_copies
        self.normal_scores = normal_scores
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the estimator to features and copies.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n_samples,), default=None
            The target, as `estimator` needs it.

        Returns
        -------
        {self}
        """
        checks = {"accept_sparse": "csr", "dtype": np.float64, "ensure_min_samples": MIN_SAMPLES}
        with explain_conversion_errors(X):
            rows = validate_data(self, X, **checks) if y is None else validate_data(self, X, y, **checks)
        X, y = (rows, None) if y is None else rows
        # Copies are dense in any case.
        X = X.toarray() if sparse.issparse(X) else X
        with report_progress(self, X):
            self._fit(X, y)
        if not self.n_significant_:
            text = (
                f"No feature is selected: at q = {self.q} at least {self._fewest()} features must stand out "
                "from their copies. A larger q"
                f"{' or a single copy' if self.n_copies > 1 else ''} needs fewer."
            )
            warn(text)
        return self

    def _fit(self, X: FloatArray, y: Any) -> None:
        run = settings(0, None, 0)
        model = _native.KnockoffModel(native_rows(X), bool(self.normal_scores), run)
        random_state = check_random_state(self.random_state)
        seeds = random_state.randint(np.iinfo(np.int32).max, size=self.n_copies)
        differences = Parallel(n_jobs=self.n_jobs)(
            delayed(_differences)(
                self._scorer(X.shape[1]), model.x, model.sample(int(seed), run), y, int(seed)
            )
            for seed in seeds
        )
        selected, evalues = _native.knockoff_filter([w.tolist() for w in differences], float(self.q))
        self.scores_: FloatArray = np.mean(differences, axis=0)
        self.evalues_: FloatArray = np.array(evalues)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[selected] = True
        self.n_significant_ = len(selected)

    def _fewest(self) -> int:
        """The fewest features that can be selected: half the level for each of several copies."""
        return math.ceil((1 if self.n_copies == 1 else 2) / self.q - 1e-9)

    def _inner(self) -> Any:
        return HSICLasso() if self.estimator is None else clone(self.estimator)

    def _scorer(self, n_features: int) -> Any:
        """The estimator. A selector with an automatic number of features scores too few of them."""
        estimator = self._inner()
        if estimator.get_params(deep=False).get("n_features_to_select", 0) is None:
            estimator.set_params(n_features_to_select=min(3 * self._fewest(), n_features))
        return estimator

    def _summary(self) -> Summary:
        names = feature_names(self)
        order = np.argsort(np.where(self.support_, -self.scores_, np.inf), kind="stable")
        order = order[: self.n_significant_]
        facts = [("selected", f"{len(order)} of {len(names)} features")]
        return Summary(facts, Bars("score", [shortened(names[j]) for j in order], self.scores_[order]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        tags.target_tags = get_tags(self._inner()).target_tags
        tags.target_tags.multi_output = False
        return tags


def _differences(estimator: Any, X: FloatArray, copies: FloatArray, y: Any, seed: int) -> FloatArray:
    """The importance of each feature less that of its copy."""
    # Where swapped, the copy has the place of the feature: ties by column order prefer neither.
    swapped = np.random.default_rng(seed).integers(0, 2, X.shape[1]).astype(bool)
    both = np.hstack([np.where(swapped, copies, X), np.where(swapped, X, copies)])
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    found = importances(estimator.fit(both, y), IMPORTANCES)
    first, second = np.split(found, 2)
    return np.where(swapped, second - first, first - second)
