"""Feature selectors: Fisher score, forward selection, NCA, ReliefF and SVM-based selectors."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from kernsift._parameters import Docs
from kernsift._selector import BaseSelector, BaseTargetSelector, WeightedSelector, WeightedTargetSelector
from kernsift._sklearn import Interval, RealNotInt, StrOptions

__all__ = ["FFS", "L1SVM", "SVMRFE", "FisherScore", "NCASelector", "ReliefF"]


class FisherScore(WeightedTargetSelector):
    """Fisher score: distance between class means relative to the within-class variance.

    It scores one feature at a time: it does not find features that predict the target only jointly (XOR),
    and it keeps redundant features. The score is proportional to the F statistic of an analysis of
    variance: ``scores_ * (n_samples - n_classes) / (n_classes - 1)``. For a continuous target it is ``r**2
    / (1 - r**2)`` with the correlation r, and ``scores_ * (n_samples - 2)`` is the F statistic.

    It reads the data a few times and stores one number per class and feature. Sparse matrices stay sparse.

    {parameters and attributes}

    See Also
    --------
    sklearn.feature_selection.f_classif : The F statistic of each feature.
    sklearn.feature_selection.f_regression : The same for a continuous target.

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
    _fitted: ClassVar[tuple[str, ...]] = (*BaseTargetSelector._fitted, "classes_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": (
            "None selects the features whose F test has a p-value of at most 0.05 divided by the number of "
            "features; if there is none, nothing, with a warning."
        ),
    }

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
    """Forward selection over weak classifiers: features whose weak classifiers vote well together.

    One weak classifier per feature is trained once. Then an ensemble vote grows greedily: each step adds
    the feature that leaves the fewest training errors. With two classes the number of votes is compared
    with the best threshold; with more classes the class with most votes wins.

    In kernel space this is KFFS, the second half of :class:`kernsift.TAKES`.

    It takes n_samples * n_features^2 operations and one byte per sample and feature. With up to 1024
    features all of them are ranked by the vote; with more, the vote stops at the requested number, or when
    its error is 0 or has not decreased for 64 steps, and the remaining features are ranked by the errors of
    their own weak classifiers.

    {parameters and attributes}

    See Also
    --------
    kernsift.TAKES : Forward selection of directions of kernel space.

    References
    ----------
    .. [1] Wu, Brubaker, Mullin and Rehg, "Fast asymmetric learning for cascade face detection", 2008.
    .. [2] {Xu2010}

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
    _fitted: ClassVar[tuple[str, ...]] = (*BaseSelector._fitted, "error_curve_", "classes_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": "None selects up to the first minimum of `error_curve_`.",
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        weak_learner: str = "stump",
        eta: float = 0.5,
        learner_bandwidth: float = 1.0,
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
        self.learner_bandwidth = learner_bandwidth
        self.quantum = quantum
        self.weights = weights
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class NCASelector(WeightedTargetSelector):
    """NCA selection: features with which a kernel classifier or regressor predicts each row from the others.

    Neighborhood components analysis predicts a sample from all others, weighted by a Gaussian kernel over the
    selected features. Each step adds the feature that leaves the least leave-one-out loss: the log loss of
    the class with equally weighted classes, or the squared error relative to the variance. The loss counts
    errors that remain, so redundant features are not selected. The bandwidth of the kernel is chosen after
    each step.

    `scores_` is the decrease of the loss when a feature was added, or the increase without it. With few
    samples the search is averaged over subsamples, and `scores_` is the mean of one over the root of the
    feature's place in the searches. Results do not depend on the order of samples.

    Each step takes n_samples^2 / 2 exponentials per feature. Beyond 4000 samples the sums are over 2000
    landmarks, and the loss is that of at most 20,000 samples; beyond 2000 features the candidates are the
    best 500 by each of several quick scores. Features that matter only jointly are found as significant pairs
    and sets of three, which a step may add together.

    A sample of an integer weight w is predicted by its w - 1 copies, too; if a weight is not an integer,
    samples have no copies.

    {parameters and attributes}

    See Also
    --------
    kernsift.FOHSIC : Forward selection by dependence.
    sklearn.neighbors.NeighborhoodComponentsAnalysis : A linear transformation with a similar loss.

    References
    ----------
    .. [1] Goldberger, Roweis, Hinton and Salakhutdinov, "Neighbourhood components analysis", 2004.
    .. [2] Yang, Wang and Zuo, "Neighborhood component feature selection for high-dimensional data", 2012.

    Examples
    --------
    >>> from kernsift import NCASelector
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("ring", n_samples=200, n_features=10, random_state=0)
    >>> selector = NCASelector(2).fit(X, y)
    >>> selector.get_support(indices=True).tolist() == sorted(relevant.tolist())
    True
    """

    _method = "nca"
    _fitted: ClassVar[tuple[str, ...]] = (*BaseTargetSelector._fitted, "path_", "classes_", "n_samples_used_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": "None adds features until the loss no longer decreases by a relevant amount.",
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        search: str = "forward",
        swaps: bool = False,
        n_subsamples: int | None = None,
        exact: bool = False,
        target_type: str = "auto",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.search = search
        self.swaps = swaps
        self.n_subsamples = n_subsamples
        self.exact = exact
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ReliefF(WeightedTargetSelector):
    """ReliefF: features that differ between near samples of different classes and agree within a class.

    For each sample, the nearest neighbors in its own class (hits) and in each other class (misses) are
    found by the distance over all features. The score of a feature is its mean difference to misses minus
    its mean difference to hits. As neighbors depend on all features, it finds features that predict the
    target only jointly (XOR), unless they are masked by noise. For a continuous target it is RReliefF.

    Missing values (NaN) are supported: the difference to a missing value is the mean difference of all
    pairs of known values of the feature.

    It takes n_samples^2 * n_features operations and stores a copy of the data; sparse matrices are
    converted to dense ones.

    {parameters and attributes}

    See Also
    --------
    kernsift.KernelSpaceSelector : Relief on directions of kernel space.

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
    _fitted: ClassVar[tuple[str, ...]] = (*BaseTargetSelector._fitted, "classes_", "n_samples_used_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": (
            "None selects the features with a score above 0; if there is none, nothing, with a warning."
        ),
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
        exact: bool = False,
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
        self.exact = exact
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        own = super()._own_parameters()
        # With standardize=False no scale is changed.
        return own if self.standardize else {**own, "units": "unscaled"}


class SVMRFE(WeightedSelector):
    """SVM-RFE: recursive feature elimination by a support vector machine.

    An SVM is trained on the remaining features, the least important ones are removed, and so on until one
    remains. With the linear kernel the importance of a feature is its squared weight, summed over the pairs
    of classes, as in ``sklearn.feature_selection.RFE(SVC(kernel="linear"))``; with "rbf" it is the change
    of the squared norm of the weight vector when the feature is removed and the dual coefficients are kept.

    It stores matrices of n_samples^2 numbers. Every SVM starts from the solution of the one before.

    {parameters and attributes}

    See Also
    --------
    sklearn.feature_selection.RFE : Recursive feature elimination with any estimator.
    L1SVM : Features with nonzero weight in a sparse linear SVM.

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
        "kernel": [StrOptions({"linear", "rbf"})],
        "step": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="neither")],
    }
    _docs: ClassVar[Docs] = {"kernel": ('{"linear", "rbf"}', "The kernel of the SVM.")}
    _fitted: ClassVar[tuple[str, ...]] = (
        *BaseSelector._fitted,
        "error_curve_",
        "classes_",
        "n_samples_used_",
    )
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": "None selects half of the features.",
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
        exact: bool = False,
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
        self.exact = exact
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class L1SVM(WeightedSelector):
    """L1-SVM: features with nonzero weight in a sparse linear SVM.

    The l1 penalty sets most weights to exactly zero, more of them for smaller `C`. For a given number of
    features, `C` increases until that many features have a weight, and is then refined to hit the number;
    if features enter together, those with the smallest weights are dropped. With more than two classes, one
    SVM per class against the rest is trained, and absolute weights are summed.

    Selections are not nested: fewer features need not be a subset of more. Of two identical features either
    may be dropped.

    {parameters and attributes}

    See Also
    --------
    LinearSVC : The linear SVM.
    SVMRFE : Recursive feature elimination.

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
    _fitted: ClassVar[tuple[str, ...]] = (*BaseSelector._fitted, "coef_", "classes_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": "None selects the features with nonzero weight at `C`.",
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
