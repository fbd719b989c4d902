"""Filters: selectors that score features without a model."""

from __future__ import annotations

from typing import Any, ClassVar

from kernsift._selector import BaseSelector, BaseTargetSelector, WeightedSelector

__all__ = ["ChiSquared", "InformationGain", "LaplacianScore", "MutualInformation"]


class InformationGain(WeightedSelector):
    """Information gain: how much the discretized feature reduces the entropy of the class.

    Numbers are discretized first; a feature with at most 10 different values, with 5 or more samples each
    on average, is used unchanged. The default discretizer cuts only where that reduces the description
    length, so that an uninformative feature scores exactly 0. It scores one feature at a time: it does not
    find features that predict the target only jointly (XOR), and it keeps redundant features.

    It sorts each feature; sparse matrices are converted feature by feature.

    {parameters and attributes}

    See Also
    --------
    MutualInformation : Estimated without bins.

    References
    ----------
    .. [1] Quinlan, "Induction of decision trees", 1986.
    .. [2] Fayyad and Irani, "Multi-interval discretization of continuous-valued attributes for classification
       learning", IJCAI 1993.

    Examples
    --------
    >>> from kernsift import InformationGain
    >>> from kernsift.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> selector = InformationGain(n_features_to_select=2).fit(wine.data, wine.target)
    >>> [wine.feature_names[j] for j in selector.order_[:2]]
    ['flavanoids', 'proline']
    """

    _method = "information-gain"
    _fitted: ClassVar[tuple[str, ...]] = (*BaseSelector._fitted, "classes_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": (
            "None selects the features with a gain above 0, up to the first without; where bins do not "
            "depend on the classes, the gain must pass a G test at the level 0.05 divided by the number of "
            "features. If there is none, nothing, with a warning."
        ),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        discretizer: str = "mdl",
        n_bins: int = 10,
        measure: str = "gain",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.discretizer = discretizer
        self.n_bins = n_bins
        self.measure = measure
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MutualInformation(BaseTargetSelector):
    """Mutual information with the target, estimated by nearest neighbors.

    Densities are estimated from the distances to near samples (Kraskov and others; Ross for classes),
    without bins. It scores one feature at a time: it does not find features that predict the target only
    jointly (XOR), and it keeps redundant features.

    Without ties the scores equal those of scikit-learn's `mutual_info_classif` and
    `mutual_info_regression`. These break ties by random noise; here ties are counted, so that the result is
    deterministic.

    It sorts each feature; sparse matrices are converted feature by feature.

    {parameters and attributes}

    See Also
    --------
    sklearn.feature_selection.mutual_info_classif : Breaks ties by random noise.
    sklearn.feature_selection.mutual_info_regression : The same for a continuous target.

    References
    ----------
    .. [1] Kraskov, Stogbauer and Grassberger, "Estimating mutual information", 2004.
    .. [2] Ross, "Mutual information between discrete and continuous data sets", 2014.

    Examples
    --------
    >>> from kernsift import MutualInformation
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("ring", n_samples=400, n_features=8, random_state=0)
    >>> selector = MutualInformation(2).fit(X, y)
    >>> sorted(selector.order_[:2].tolist()) == sorted(relevant.tolist())
    True
    """

    _method = "mutual-information"
    _fitted: ClassVar[tuple[str, ...]] = (*BaseTargetSelector._fitted, "classes_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": (
            "None selects the features whose mutual information exceeds, at the level 0.05, that with a "
            "permuted target; if there is none, nothing, with a warning."
        ),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 3,
        discrete: str = "auto",
        target_type: str = "auto",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.discrete = discrete
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ChiSquared(WeightedSelector):
    """Chi-squared statistic of independence between a feature and the class.

    Either the numbers are counts, such as words in texts, and must not be negative: then this is
    scikit-learn's `chi2`. Or they are discretized and samples are counted. It scores one feature at a time:
    it does not find features that predict the target only jointly (XOR), and it keeps redundant features.

    With counts it reads the data once, and sparse matrices stay sparse.

    {parameters and attributes}

    See Also
    --------
    sklearn.feature_selection.chi2 : The statistic of counts.

    References
    ----------
    .. [1] Liu and Setiono, "Chi2: feature selection and discretization of numeric attributes", 1995.

    Examples
    --------
    >>> from kernsift import ChiSquared
    >>> from kernsift.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> selector = ChiSquared(n_features_to_select=1).fit(wine.data, wine.target)
    >>> wine.feature_names[selector.order_[0]]
    'proline'
    """

    _method = "chi-squared"
    _fitted: ClassVar[tuple[str, ...]] = (*BaseSelector._fitted, "classes_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": (
            "None selects the best features up to the first whose p-value is above 0.05 divided by the "
            "number of features; if there is none, nothing, with a warning."
        ),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        statistic: str = "auto",
        discretizer: str = "frequency",
        n_bins: int = 10,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.statistic = statistic
        self.discretizer = discretizer
        self.n_bins = n_bins
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LaplacianScore(BaseSelector):
    """Laplacian score: features that vary little between neighboring samples.

    A graph connects near samples, or samples of one class. The score is ``1 - L / 2`` with L, from 0 to 2,
    the variation of the feature along the graph relative to its variance; in the paper small L is good.
    With "knn" it is unsupervised, and y is ignored.

    It takes n_samples^2 * n_features operations for the neighbors and stores a copy of the data; sparse
    matrices are converted to dense ones. The graph is sparse.

    {parameters and attributes}

    See Also
    --------
    FisherScore : The ranking of graph="classes".

    References
    ----------
    .. [1] He, Cai and Niyogi, "Laplacian score for feature selection", NIPS 2005.

    Examples
    --------
    >>> from kernsift import LaplacianScore
    >>> from kernsift.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> selector = LaplacianScore(n_features_to_select=1).fit(wine.data)
    >>> wine.feature_names[selector.order_[0]]
    'flavanoids'
    """

    _method = "laplacian"
    _fitted: ClassVar[tuple[str, ...]] = (*BaseSelector._fitted, "n_samples_used_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": (
            "None selects the features with L below 1, the value of a feature unrelated to the graph; if "
            "there is none, nothing, with a warning."
        ),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        graph: str = "knn",
        n_neighbors: int = 5,
        weights: str = "heat",
        t: float | None = None,
        exact: bool = False,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.t = t
        self.exact = exact
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _uses_target(self) -> bool:
        return self.graph == "classes"
