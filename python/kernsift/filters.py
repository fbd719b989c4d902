"""Selectors that score columns by what they tell or how they lie, without a model."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from kernsift._base import BaseSelector, BaseTargetSelector
from kernsift._crossing import Target, checked_rows
from kernsift._sklearn import Interval, StrOptions

__all__ = ["ChiSquared", "InformationGain", "LaplacianScore", "MutualInformation"]

#: How columns are put in bins.
BINS_CONSTRAINTS: dict[str, list[Any]] = {
    "discretizer": [StrOptions({"mdl", "frequency", "width"})],
    "n_bins": [Interval(Integral, 2, 10_000, closed="both")],
}


class InformationGain(BaseSelector):
    """Information gain: how much a column in bins tells of the class.

    Numbers are put in bins first; a column of at most 10 different values, with 5 rows or more each on
    average, is taken as it is. The default cuts only where that pays, so that a column that tells nothing
    gains exactly 0. It looks at one column at a time, so it is blind to features that only work together
    (XOR), and keeps redundant copies.

    It sorts each column; sparse matrices are filled column by column.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: the columns that gain, up to the first that does not.
        Where bins did not come from the classes, the gain must pass a G test at 0.05 divided by the number of
        columns. If none does, the best one is kept, with a warning.
    discretizer : {"mdl", "frequency", "width"}, default="mdl"
        How columns of more than 10 different values are put in bins: by cuts that pay for their description
        (Fayyad and Irani), by as many rows in each, or by equal parts of the range.
    n_bins : int, default=10
        How many bins, if not "mdl".
    measure : {"gain", "ratio", "uncertainty"}, default="gain"
        The gain in nats; the gain over the entropy of the bins; or twice the gain over the entropies of
        bins and classes (symmetrical uncertainty).
    standardize : bool, default=True
        Without effect, as no scale matters to this method. Here for all selectors to be alike.
    random_state : int, RandomState instance or None, default=None
        Not used: this method draws nothing. Here for all selectors to be alike.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        True for columns that are kept.
    scores_ : ndarray of shape (n_features_in_,)
        The measure of each column, larger is better.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns, best first; of equals the first comes first.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_iter_ : int
        Always 1.
    converged_ : bool
        Always True.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    MutualInformation : The same without bins.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        **BINS_CONSTRAINTS,
        "measure": [StrOptions({"gain", "ratio", "uncertainty"})],
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

    def _own_parameters(self) -> dict[str, Any]:
        return {"discretizer": self.discretizer, "n_bins": int(self.n_bins), "measure": self.measure}


class MutualInformation(BaseTargetSelector):
    """Mutual information by nearest neighbours: how much a column tells of the target, whatever its shape.

    Densities are judged by the distance to near rows (Kraskov and others; Ross for classes), without bins. It
    looks at one column at a time, so it is blind to features that only work together (XOR), and keeps
    redundant copies.

    Without equal values the scores are those of scikit-learn's `mutual_info_classif` and
    `mutual_info_regression`. Equal values, which these part by random noise, are counted instead, so that
    nothing is drawn at random.

    It sorts each column; sparse matrices are filled column by column.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: the columns that tell more than any would tell of a
        shuffled target but once in twenty times. If none does, the best one is kept, with a warning.
    n_neighbors : int, default=3
        Neighbours that tell how dense rows lie. Fewer vary more, more see less.
    discrete : {"auto"} or bool, default="auto"
        Whether columns are categories, which are counted. "auto": those of at most 10 different whole
        numbers, with 5 rows or more each on average.
    target_type : {"auto", "class", "number"}, default="auto"
        What y holds. "auto" takes what is not whole for numbers, and anything else for classes.
    standardize : bool, default=True
        Without effect, as no scale matters to this method. Here for all selectors to be alike.
    random_state : int, RandomState instance or None, default=None
        For the shuffled target of the method's own rule. Scores do not depend on it.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        True for columns that are kept.
    scores_ : ndarray of shape (n_features_in_,)
        Information in nats, larger is better; 0 where the estimate is negative.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns, best first; of equals the first comes first.
    classes_ : ndarray of shape (n_classes,)
        The classes, if there are some.
    n_iter_ : int
        Always 1.
    converged_ : bool
        Always True.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    sklearn.feature_selection.mutual_info_classif : The same with noise in place of ties.
    sklearn.feature_selection.mutual_info_regression : The same for a target of numbers.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTargetSelector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "discrete": [StrOptions({"auto"}), "boolean"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 3,
        discrete: str | bool = "auto",
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

    def _own_parameters(self) -> dict[str, Any]:
        discrete = self.discrete if isinstance(self.discrete, str) else "all" if self.discrete else "none"
        return {"n_neighbors": int(self.n_neighbors), "discrete": discrete}


class ChiSquared(BaseSelector):
    """Chi-squared: how far the counts of a column and the classes are from independence.

    Numbers are counts, such as words in texts, and must not be negative: then this is scikit-learn's `chi2`.
    Or they are put in bins and rows are counted. It looks at one column at a time, so it is blind to features
    that only work together (XOR), and keeps redundant copies.

    Counts read the data once, and sparse matrices are used as they are.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: the best columns up to the first whose p-value is above
        0.05 divided by the number of columns. If none has, the best one is kept, with a warning.
    statistic : {"auto", "counts", "bins"}, default="auto"
        What is counted: the numbers themselves, rows by bins, or the first unless a number is negative.
    discretizer : {"mdl", "frequency", "width"}, default="frequency"
        How columns of more than 10 different values are put in bins: by cuts that pay for their description
        (Fayyad and Irani), by as many rows in each, or by equal parts of the range.
    n_bins : int, default=10
        How many bins, if not "mdl".
    standardize : bool, default=True
        Without effect: counts are taken as they are, and bins know no scale. Here for all selectors to be
        alike.
    random_state : int, RandomState instance or None, default=None
        Not used: this method draws nothing. Here for all selectors to be alike.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        True for columns that are kept.
    scores_ : ndarray of shape (n_features_in_,)
        The statistic of each column, larger is better.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns, best first; of equals the first comes first.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_iter_ : int
        Always 1.
    converged_ : bool
        Always True.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "statistic": [StrOptions({"auto", "counts", "bins"})],
        **BINS_CONSTRAINTS,
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

    def _own_parameters(self) -> dict[str, Any]:
        return {"statistic": self.statistic, "discretizer": self.discretizer, "n_bins": int(self.n_bins)}


class LaplacianScore(BaseSelector):
    """Laplacian score: columns that vary little between neighbouring rows.

    A graph joins near rows, or rows of one class. The score of a column is ``1 - L / 2`` with L, from 0 to 2,
    its variation along the graph over its variance; in the paper small L is good. With "knn" no target is
    needed, and y is ignored.

    It needs n_samples^2 * n_features operations for the neighbours and holds a copy of the rows; sparse
    matrices are filled. The graph itself is sparse.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: the columns whose L is below 1, which is what a column
        without any tie to the graph has. If none has, the best one is kept, with a warning.
    graph : {"knn", "classes"}, default="knn"
        Which rows are joined: near ones, or those of one class with weights of one over its size. The latter
        ranks as the Fisher score does.
    n_neighbors : int, default=5
        Near rows of each, for "knn"; fewer than there are rows.
    weights : {"heat", "binary"}, default="heat"
        What a pair of near rows counts: ``exp(-distance**2 / width)``, or 1.
    width : float or None, default=None
        Width of "heat"; None is the mean squared distance of joined rows.
    standardize : bool, default=True
        Scale columns to variance 1 first. Neighbours are found by the distance over all columns, so they
        should be on one scale.
    random_state : int, RandomState instance or None, default=None
        Not used: this method draws nothing. Here for all selectors to be alike.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        True for columns that are kept.
    scores_ : ndarray of shape (n_features_in_,)
        ``1 - L / 2``, larger is better; 0 for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns, best first; of equals the first comes first.
    classes_ : ndarray of shape (n_classes,)
        The classes, for "classes".
    n_iter_ : int
        Always 1.
    converged_ : bool
        Always True.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "graph": [StrOptions({"knn", "classes"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"heat", "binary"})],
        "width": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        graph: str = "knn",
        n_neighbors: int = 5,
        weights: str = "heat",
        width: float | None = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _checked(self, X: Any, y: Any) -> tuple[Any, Target | None]:
        if self.graph == "classes":
            return super()._checked(X, y)
        # Left by an earlier fit to classes.
        self.__dict__.pop("classes_", None)
        X = checked_rows(self, X, ensure_min_samples=2)
        return X, None

    def _own_parameters(self) -> dict[str, Any]:
        return {
            "graph": self.graph,
            "n_neighbors": int(self.n_neighbors),
            "weights": self.weights,
            "width": None if self.width is None else float(self.width),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.graph == "classes"
        return tags
