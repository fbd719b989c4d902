"""Selectors: which columns matter, best first."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from kernsift._base import WEAK_CONSTRAINTS, BaseSelector, BaseTargetSelector
from kernsift._sklearn import Interval, RealNotInt, StrOptions
from kernsift.kernels import choice_form

__all__ = ["FFS", "L1SVM", "SVMRFE", "FisherScore", "ReliefF"]


class FisherScore(BaseTargetSelector):
    """Fisher score: how far class means lie apart, against the spread within classes.

    It looks at one column at a time, so it is blind to features that only work together (XOR), and it
    keeps redundant copies. The score is that of an analysis of variance up to a factor:
    ``scores_ * (n_samples - n_classes) / (n_classes - 1)`` is the F statistic. For a target of numbers it is
    ``r**2 / (1 - r**2)`` with the correlation r, and ``scores_ * (n_samples - 2)`` is the F statistic.

    It reads the data a few times and holds one number per class and column; sparse matrices are used as
    they are.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: the columns whose F test has a p-value of at most 0.05 divided by
        the number of columns. If none has, the best one is kept, with a warning.
    target_type : {"auto", "class", "number"}, default="auto"
        What y holds. "auto" takes what is not whole for numbers, and anything else for classes.
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
        A number per column, larger is better; 0 for constant columns.
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
    sklearn.feature_selection.f_classif : The F statistic of each column.
    sklearn.feature_selection.f_regression : The same for a target of numbers.

    References
    ----------
    .. [1] Fisher, "The use of multiple measurements in taxonomic problems", 1936.
    .. [2] Duda, Hart and Stork, "Pattern classification", 2001.

    Examples
    --------
    >>> from kernsift import FisherScore
    >>> from kernsift.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> selector = FisherScore(n_features_to_select=3).fit(wine.data, wine.target)
    >>> [wine.feature_names[j] for j in selector.order_[:3]]
    ['flavanoids', 'proline', 'od280_od315_of_diluted_wines']
    """

    _method = "fisher"

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        target_type: str = "auto",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class FFS(BaseSelector):
    """Forward selection over weak classifiers: columns that vote well together.

    One weak classifier per column is trained once. Then a vote grows greedily: at each step the column
    joins that leaves the fewest errors on the training rows. Two classes: votes are counted and held
    against the best threshold; more classes: the class with most votes wins.

    In the coordinates of kernel space this is KFFS, the second half of :class:`kernsift.TAKES`.

    It needs n_samples * n_features^2 operations, and a byte per row and column. With up to 1024 columns
    all of them join in the end; with more the vote stops at the number asked for, or when its error is 0
    or has not fallen for 64 steps, and the other columns follow by the errors they make alone.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: up to the first minimum of `error_curve_`.
    weak_learner : {"stump", "balanced-stump", "klms"}, default="stump"
        What a column votes by: a cut in two, a cut for which all classes count alike however many rows
        they have, or kernel least mean squares, which can say yes in several places.
    eta : float, default=0.5
        Step size of "klms", above 0 and up to 1; not used by stumps.
    learner_width : float, default=1.0
        Width of the Gaussian of "klms", in standard deviations of the column, from 0.001 to 1000; not used by
        stumps.
    quantum : float or None, default=None
        Spacing of the grid that "klms" puts its centres on, in widths, from 0.001 to 1. 0 is no grid, which
        takes n_samples^2 operations per column. None is no grid for up to 4096 rows, and 1/16 for more.
    weights : {"ensemble", "individual"}, default="ensemble"
        Which error makes the score of a column: that of the vote when it joined, or its own.
    standardize : bool, default=True
        Scale columns to variance 1 first. The order of this method does not depend on it, up to rounding.
    random_state : int, RandomState instance or None, default=None
        For the order in which "klms" learns from the rows; "stump" draws nothing.
        With an int every fit gives the same result; with None, which stands for numpy's global
        generator, they may differ.
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
        ``log((1 - e) / e) / 2`` of the error e that `weights` names, with ``log(n_classes - 1) / 2`` added;
        0 for columns that are not kept.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns in the order in which they joined. Of equals the one with the better weak classifier comes
        first, then the first.
    error_curve_ : ndarray of shape (n_iter_,)
        Share of the training rows that the vote gets wrong after each step.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Always True.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    kernsift.TAKES : The same among the directions of kernel space.

    References
    ----------
    .. [1] Wu, Brubaker, Mullin and Rehg, "Fast asymmetric learning for cascade face detection", 2008.
    .. [2] Xu and others, "TAKES: a fast method to select features in the kernel space", CIKM 2010.

    Examples
    --------
    >>> from kernsift import FFS
    >>> from kernsift.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> selector = FFS().fit(wine.data, wine.target)
    >>> print(selector.support_.sum())
    6
    >>> [wine.feature_names[j] for j in selector.order_[:3]]
    ['proline', 'alcohol', 'od280_od315_of_diluted_wines']
    """

    _method = "ffs"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        **WEAK_CONSTRAINTS,
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        weak_learner: str = "stump",
        eta: float = 0.5,
        learner_width: float = 1.0,
        quantum: float | None = None,
        weights: str = "ensemble",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.weak_learner = weak_learner
        self.eta = eta
        self.learner_width = learner_width
        self.quantum = quantum
        self.weights = weights
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return ffs_form(self.weak_learner, self.eta, self.learner_width, self.quantum, self.weights)


class ReliefF(BaseTargetSelector):
    """Relief: columns in which near rows of other classes are far, and those of the same class near.

    For each row the nearest of its own class and of each other class are found by the distance over all
    columns. A column gains by its difference to the rows of other classes and loses by that to the rows of
    the same class. As neighbours are found by all columns
    together, it sees features that only work together (XOR), unless many others drown them. For a target of
    numbers it is RReliefF: near rows whose targets are far apart take the place of other classes.

    X may have gaps (NaN). Where one of two cells is a gap, the mean difference of all pairs of known cells of
    the column stands for theirs.

    It needs n_samples^2 * n_features operations and holds a copy of the rows; sparse matrices are filled.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: the columns with a score above 0. If none has, the best one is
        kept, with a warning.
    n_neighbors : int, default=10
        Neighbours of the own class, and of each other class; a class that has fewer gives what it has. 1 is
        Relief. For a target of numbers: near rows of any kind.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        The distance by which rows are near.
    units : {"range", "standard"}, default="range"
        What columns are measured in, if `standardize`: their range, so that no difference is above 1, or
        their standard deviation.
    class_weights : {"equal", "frequency"}, default="equal"
        How much each other class counts, if there is more than one: all alike, or by its share of the rows,
        as in [2]_.
    n_samples : int or None, default=None
        Rows that look for neighbours, drawn at random; None is all.
    difference : {"absolute", "squared"}, default="absolute"
        How differences count.
    target_type : {"auto", "class", "number"}, default="auto"
        What y holds. "auto" takes what is not whole for numbers, and anything else for classes.
    standardize : bool, default=True
        Bring columns to one scale, see `units`. The method adds up differences of columns, so they should be.
    random_state : int, RandomState instance or None, default=None
        For the rows that `n_samples` draws; without it nothing is drawn.
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
        Mean gain of each column, larger is better; 0 where it is negative.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns, best first, those whose gain is negative too; of equals the first comes first.
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
    kernsift.KernelSpaceSelector : The same among the directions of kernel space.

    References
    ----------
    .. [1] Kira and Rendell, "The feature selection problem: traditional methods and a new algorithm", 1992.
    .. [2] Kononenko, "Estimating attributes: analysis and extensions of Relief", 1994.
    .. [3] Robnik-Sikonja and Kononenko, "An adaptation of Relief for attribute estimation in regression",
       1997.

    Examples
    --------
    >>> from kernsift import ReliefF
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("xor", n_samples=200, n_features=6, random_state=0)
    >>> selector = ReliefF(2).fit(X, y)
    >>> selector.get_support(indices=True), sorted(relevant.tolist())
    (array([1, 2]), [1, 2])
    """

    _method = "relief"
    _bears_gaps = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTargetSelector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"manhattan", "euclidean"})],
        "units": [StrOptions({"range", "standard"})],
        "class_weights": [StrOptions({"equal", "frequency"})],
        "n_samples": [Interval(Integral, 1, None, closed="left"), None],
        "difference": [StrOptions({"absolute", "squared"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 10,
        metric: str = "manhattan",
        units: str = "range",
        class_weights: str = "equal",
        n_samples: int | None = None,
        difference: str = "absolute",
        target_type: str = "auto",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.units = units
        self.class_weights = class_weights
        self.n_samples = n_samples
        self.difference = difference
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return {
            **relief_form(self.n_neighbors, self.difference),
            "clip": True,
            "metric": self.metric,
            "units": "range" if self.standardize and self.units == "range" else "unscaled",
            "class_weights": self.class_weights,
            "n_samples": None if self.n_samples is None else int(self.n_samples),
        }


class SVMRFE(BaseSelector):
    """SVM-RFE: recursive elimination of the columns that a support vector machine misses least.

    A machine is trained on all columns left, those that matter least to it leave, and so on until one is
    left. With the linear kernel a column matters by its squared weight, summed over the pairs of classes,
    as in ``sklearn.feature_selection.RFE(SVC(kernel="linear"))``; with "rbf" by how much the squared length
    of the machine's normal changes when the column is left out and the coefficients stay.

    It holds matrices of n_samples^2 numbers. Every machine starts from the one before.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for half of them.
    kernel : {"linear", "rbf"}, default="linear"
        The kernel.
    C : float, default=1.0
        Price of a row that the margin does not clear.
    gamma : {"scale", "median"} or float, default="scale"
        Width of "rbf", set once on all columns; not used by "linear".
    step : int or float, default=1
        Columns that leave in a round: a number, or a share of all there were.
    class_weight : "balanced" or None, default=None
        Whether all classes count alike, however many rows they have.
    max_iter : int or None, default=None
        Most steps of each machine; None is ten million, or a hundred per row if that is more. If one has
        not met its tolerance by then, `converged_` is False, with a warning.
    standardize : bool, default=True
        Scale columns to variance 1 first. Weights depend on the scales of columns, so they should be on one.
    random_state : int, RandomState instance or None, default=None
        For the sample of rows of ``gamma="median"``; nothing else is drawn.
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
        The round in which each column left, counted from 1; 0 for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns, the last to leave first.
    error_curve_ : ndarray of shape (n_iter_,)
        Share of the training rows that the machine of each round gets wrong, from the fewest columns to all.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_iter_ : int
        Rounds.
    converged_ : bool
        Whether every machine met its tolerance.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    sklearn.feature_selection.RFE : The same around any estimator.
    L1SVM : Columns that a sparse machine gives a weight.

    References
    ----------
    .. [1] Guyon, Weston, Barnhill and Vapnik, "Gene selection for cancer classification using support vector
       machines", 2002.

    Examples
    --------
    >>> from kernsift import SVMRFE
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("xor", n_samples=200, n_features=6, random_state=0)
    >>> selector = SVMRFE(2, kernel="rbf", C=10).fit(X, y)
    >>> selector.get_support(indices=True), sorted(relevant.tolist())
    (array([1, 2]), [1, 2])
    """

    _method = "svm-rfe"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "kernel": [StrOptions({"linear", "rbf"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "gamma": [StrOptions({"median", "scale"}), Interval(Real, 0, None, closed="neither")],
        "step": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), None],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        kernel: str = "linear",
        C: float = 1.0,
        gamma: Any = "scale",
        step: int | float = 1,
        class_weight: str | None = None,
        max_iter: int | None = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.step = step
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        whole = isinstance(self.step, Integral)
        return {
            "kernel": choice_form(self.kernel, self.gamma, 3, 0.0),
            "c": float(self.C),
            "step": {"count": int(self.step)} if whole else {"fraction": float(self.step)},
            "class_weight": self.class_weight or "none",
            "max_iter": 0 if self.max_iter is None else int(self.max_iter),
        }


class L1SVM(BaseSelector):
    """L1-SVM: the columns whose weights a sparse linear machine does not set to zero.

    The machine pays for the sizes of its weights, so that most are exactly zero, the more the smaller `C`
    is. For a wanted number of columns `C` rises from where the first one enters until as many have a
    weight, and is then refined to hit the number; if columns enter together the smallest weights are cut.
    More than two classes: a machine per class against the rest, and the sizes of weights are added up.

    A smaller number need not keep the first of a larger one's, and of two equal columns either may be
    dropped.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for all that have a weight at `C`.
    C : float or None, default=None
        Price of a row that the margin does not clear. None is 1, or what a wanted number of columns asks
        for; a number excludes `n_features_to_select`.
    fit_intercept : bool, default=True
        Whether there is a constant.
    class_weight : "balanced" or None, default=None
        Whether all classes count alike, however many rows they have.
    tol : float, default=1e-4
        How near to the optimum, as a share of the violation when all weights are zero.
    max_iter : int, default=1000
        Most sweeps over the columns for each price.
    standardize : bool, default=True
        Scale columns to variance 1 first. Weights depend on the scales of columns, so they should be on one.
    random_state : int, RandomState instance or None, default=None
        For the order in which columns are visited.
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
        Size of each column's weight, summed over machines; 0 for those without.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns by weight; those without by how near they are to one.
    coef_ : ndarray of shape (n_features_in_, n_machines)
        The weights of each machine: one for two classes, else one per class.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_iter_ : int
        Sweeps at the last price.
    converged_ : bool
        Whether they met `tol`.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    LinearSVC : The machine itself.
    SVMRFE : Columns leave one by one.

    References
    ----------
    .. [1] Bradley and Mangasarian, "Feature selection via concave minimization and support vector
    machines", 1998.
    .. [2] Zhu, Rosset, Hastie and Tibshirani, "1-norm support vector machines", 2003.

    Examples
    --------
    >>> from kernsift import L1SVM
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("linear", n_samples=300, n_features=20, random_state=0)
    >>> selector = L1SVM(2, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True).tolist() == sorted(relevant.tolist())
    True
    """

    _method = "l1-svm"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        C: float | None = None,
        fit_intercept: bool = True,
        class_weight: str | None = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return {
            "c": None if self.C is None else float(self.C),
            "intercept": bool(self.fit_intercept),
            "class_weight": self.class_weight or "none",
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
        }


def ffs_form(
    weak_learner: str, eta: float, learner_width: float, quantum: float | None, weights: str
) -> dict[str, Any]:
    """The parameters of forward selection, as the core spells them."""
    weak: Any = weak_learner
    if weak_learner == "klms":
        grid = None if quantum is None else float(quantum)
        weak = {"klms": {"eta": float(eta), "width": float(learner_width), "quantum": grid}}
    return {"weak": weak, "weights": weights}


def relief_form(n_neighbors: int, difference: str) -> dict[str, Any]:
    """The parameters of Relief, as the core spells them."""
    return {
        "n_neighbors": int(n_neighbors),
        "difference": difference,
        "clip": False,
        "class_weights": "frequency",
        "metric": "euclidean",
        "units": "unscaled",
    }
