"""Selection in kernel space: a basis, then a selector among its directions, then nearest neighbours.

All are classifiers; those that select are transformers as well, which give the kept directions.

| method | how |
|---|---|
| TAKES | ``TAKES()`` |
| KGS and KFFS | ``KernelSpaceSelector(KernelGramSchmidt())`` |
| FSKGS | ``KernelSpaceSelector(KernelGramSchmidt(), "relief")`` |
| FSKPCA | ``KernelSpaceSelector(KernelPCA(), "relief")`` |
| KDA as a classifier | ``KernelSpaceSelector(KernelDiscriminant(), None)`` |
| KNNC | ``KNNC()`` |
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy.typing as npt
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._base import (
    KERNEL_CONSTRAINTS,
    RUN_CONSTRAINTS,
    BaseBasis,
    BaseSpace,
    Estimator,
    labelled_rows,
    store_kernel,
)
from kernsift._crossing import FloatArray, checked_rows, native_int, native_rows, settings, to_json
from kernsift._html import Summary
from kernsift._parameters import constraints
from kernsift._progress import told
from kernsift._sklearn import Interval, StrOptions, _fit_context
from kernsift.bases import KOBL
from kernsift.kernels import Kernel, choice_form
from kernsift.selectors import ReliefF

__all__ = ["KNNC", "TAKES", "KernelSpaceSelector"]


class TAKES(BaseSpace):
    """TAKES: few directions of kernel space whose weak classifiers vote well together.

    :class:`kernsift.KOBL` finds a basis of kernel space; forward selection over weak classifiers, one per
    direction, ranks the directions and weights them (KFFS, see :class:`kernsift.FFS`). New rows get the
    class of the nearest training row in the weighted distance of the kept directions.

    It needs n_samples * n_components^2 operations and memory for n_samples * n_components numbers; with
    "klms" and up to 4096 rows n_samples^2 * n_components operations.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many directions to keep: a number, a share of all (above 0 and up to 1, at least one), or None
        for the method's own rule: up to the first minimum of `error_curve_`.
    kernel : {"rbf", "linear", "poly", "laplacian"} or Kernel, default="rbf"
        The kernel, by name or as an object of :mod:`kernsift.kernels`.
    gamma : {"median", "scale", "cv"} or float, default="median"
        Width of the named kernels "rbf", "poly" and "laplacian"; not used by others. "median" and "scale"
        are as for :class:`kernsift.KOBL`; "cv" chooses the width by cross-validation inside the training
        rows.
    degree : int, default=3
        Degree of "poly"; not used by others.
    coef0 : float, default=1.0
        Constant of "poly"; not used by others.
    n_components : int, default=None
        Directions that KOBL finds at most. None leaves the number to `threshold` and `tol`.
    threshold : "linear", float, None or callable, default="linear"
        As for :class:`kernsift.KOBL`.
    pivoting : {"greedy", "random", "gain"}, default="greedy"
        As for :class:`kernsift.KOBL`.
    first_pivot : {"first", "medoid"}, default="first"
        As for :class:`kernsift.KOBL`.
    tol : float, default=0.0
        As for :class:`kernsift.KOBL`.
    gamma_for_n_components : int, default=None
        Set gamma of the "rbf" kernel so that KOBL finds this many components; `gamma` is then ignored.
    weak_learner : {"klms", "stump", "balanced-stump"}, default="klms"
        What a direction votes by: kernel least mean squares, which can say yes in several places, a cut
        in two, or a cut for which all classes count alike.
    eta : float, default=0.5
        As for :class:`kernsift.FFS`.
    learner_bandwidth : float, default=1.0
        As for :class:`kernsift.FFS`.
    quantum : float or None, default=None
        As for :class:`kernsift.FFS`.
    weights : {"ensemble", "individual"} or None, default="ensemble"
        Which error makes the weight of a direction: that of the vote when it joined (the paper), or its
        own. None counts all kept directions alike.
    weight_power : float, default=1.0
        Power to which weights are raised, up to 16.
    n_neighbors : int, default=1
        Neighbours that vote on a class.
    tuned : bool, default=False
        Choose width (around `gamma`), weighting, number kept (unless `n_features_to_select` is given) and
        number of neighbours by cross-validation inside the training rows, with balanced stumps and their
        own errors. Unless the best choice clearly beats plain neighbours in the whole of kernel space,
        those are taken. Parameters that it chooses must be left at their defaults.
    standardize : bool, default=True
        Scale columns to mean 0 and variance 1 first; those of a sparse matrix are not shifted.
    random_state : int, RandomState instance or None, default=None
        For the order in which "klms" learns from the rows, for what KOBL draws, and for cross-validation.
        With an int every fit gives the same result; with None, which stands for numpy's global
        generator, they may differ.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    basis_ : KOBL
        The fitted basis. It maps scaled rows: ``(X - mean_) / scale_`` if `standardize`.
    weights_ : ndarray of shape (n_directions,)
        Weight of every direction of the basis; 0 for those that are not kept.
    order_ : ndarray of shape (n_directions,)
        Directions, best first.
    support_ : ndarray of shape (n_directions,)
        True for directions that are kept.
    n_selected_ : int
        How many are kept.
    error_curve_ : ndarray of shape (n_iter_,)
        Share of the training rows that the vote gets wrong after each step of the selection.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    kernel_ : Kernel
        The kernel with its width.
    gamma_ : float
        The width, where `kernel_` has one.
    n_neighbors_ : int
        Neighbours that vote; another number than `n_neighbors` only if `tuned`.
    mean_ : ndarray of shape (n_features_in_,) or None
        What is subtracted from the columns; None without `standardize`.
    scale_ : ndarray of shape (n_features_in_,) or None
        What the columns are divided by; None without `standardize`.
    n_iter_ : int
        Steps of the selection.
    converged_ : bool
        Whether the result is the one that the method defines.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    KernelSpaceSelector : The same with other bases and selectors.
    kernsift.FFS : The same among the columns themselves.

    References
    ----------
    .. [1] Xu and others, "TAKES: a fast method to select features in the kernel space", CIKM 2010.

    Examples
    --------
    >>> from kernsift import TAKES
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.model_selection import cross_val_score
    >>> wine = load_dataset("wine")
    >>> model = TAKES(10, random_state=0)
    >>> model.fit_transform(wine.data, wine.target).shape
    (178, 10)
    >>> print(f"{cross_val_score(model, wine.data, wine.target).mean():.2f}")
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KOBL._parameter_constraints,
        **BaseSpace._parameter_constraints,
        "gamma": [StrOptions({"cv"}), *KERNEL_CONSTRAINTS["gamma"]],
        **constraints("takes", "gamma_for_n_components"),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        kernel: Any = "rbf",
        gamma: Any = "median",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int | None = None,
        threshold: str | float | Callable[[float], float] | None = "linear",
        pivoting: str = "greedy",
        first_pivot: str = "first",
        tol: float = 0.0,
        gamma_for_n_components: int | None = None,
        weak_learner: str = "klms",
        eta: float = 0.5,
        learner_bandwidth: float = 1.0,
        quantum: float | None = None,
        weights: str | None = "ensemble",
        weight_power: float = 1.0,
        n_neighbors: int = 1,
        tuned: bool = False,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.threshold = threshold
        self.pivoting = pivoting
        self.first_pivot = first_pivot
        self.tol = tol
        self.gamma_for_n_components = gamma_for_n_components
        self.weak_learner = weak_learner
        self.eta = eta
        self.learner_bandwidth = learner_bandwidth
        self.quantum = quantum
        self.weights = weights
        self.weight_power = weight_power
        self.n_neighbors = n_neighbors
        self.tuned = tuned
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _unfitted_basis(self) -> KOBL:
        names = KOBL().get_params()
        basis = KOBL(**{name: getattr(self, name) for name in names})
        if self._by_cv():
            # Where the search for the width starts from.
            basis.gamma = "median"
        return basis

    def _selector_form(self) -> dict[str, Any]:
        return self._kffs_form()

    def _own_parameters(self) -> dict[str, Any]:
        if self.gamma_for_n_components is not None:
            if self.kernel != "rbf":
                raise ValueError(
                    f"gamma_for_n_components needs kernel='rbf'. Got kernel={self.kernel!r} instead."
                )
            if self._by_cv() or self.tuned:
                chosen = "tuned=True" if self.tuned else "gamma='cv'"
                raise ValueError(f"{chosen} and gamma_for_n_components both set gamma; give one of them.")
        if self._by_cv() and (isinstance(self.kernel, Kernel) or self.kernel == "linear"):
            raise ValueError(
                "gamma='cv' needs one of the named kernels that have a width: 'rbf', 'poly' or 'laplacian'. "
                f"Got kernel={self.kernel!r} instead."
            )
        if self._by_cv() and self.tuned:
            raise ValueError("tuned=True chooses the width as well as gamma='cv' does; give one of them.")
        form: dict[str, Any] = {
            "gamma_for_n_components": None
            if self.gamma_for_n_components is None
            else int(self.gamma_for_n_components)
        }
        if self._by_cv() and not self.tuned:
            form["tune"] = "gamma"
        return form

    def _by_cv(self) -> bool:
        return isinstance(self.gamma, str) and self.gamma == "cv"


class KernelSpaceSelector(BaseSpace):
    """Selection in kernel space with any basis and selector.

    The basis maps the rows into kernel space, the selector ranks the directions, keeps some and weights
    them. New rows get the class of the nearest training row in the weighted distance of the kept
    directions. See :mod:`kernsift.spaces` for the pairs that have a name.

    The cost is that of the basis and of the selector on its directions.

    Parameters
    ----------
    basis : KOBL, KernelGramSchmidt, KernelPCA, KernelDiscriminant or None, default=None
        The basis with its parameters; it is not fitted itself, see `basis_`. Its `random_state`, `n_jobs`
        and `verbose` are not used, but those given here. None is ``KOBL()``.
    selector : {"kffs", "relief"} or None, default="kffs"
        Forward selection over weak classifiers, see :class:`kernsift.FFS`; Relief, see
        :class:`kernsift.ReliefF`; or None to take the directions as the basis orders them.
    n_features_to_select : int, float or None, default=None
        How many directions to keep: a number, a share of all (above 0 and up to 1, at least one), or None
        for the selector's own rule, which without a selector keeps all.
    weak_learner : {"klms", "stump", "balanced-stump"}, default="klms"
        What a direction votes by in "kffs": kernel least mean squares, which can say yes in several places,
        a cut in two, or a cut for which all classes count alike.
    eta : float, default=0.5
        As for :class:`kernsift.FFS`.
    learner_bandwidth : float, default=1.0
        As for :class:`kernsift.FFS`.
    quantum : float or None, default=None
        As for :class:`kernsift.FFS`.
    weights : {"ensemble", "individual"} or None, default="ensemble"
        Which error makes the weight of a direction in "kffs": that of the vote when it joined, or its own.
        Both words let "relief" weight directions by its scores. None counts all kept directions alike.
    weight_power : float, default=1.0
        Power to which weights are raised, up to 16.
    relief_neighbors : int, default=1
        Neighbours that "relief" looks at, see :class:`kernsift.ReliefF`.
    difference : {"absolute", "squared"}, default="absolute"
        How differences count in "relief".
    n_neighbors : int, default=1
        Neighbours that vote on a class.
    tuned : bool, default=False
        As for :class:`TAKES`; the width is chosen around that of the basis.
    standardize : bool, default=True
        Scale columns to mean 0 and variance 1 first; those of a sparse matrix are not shifted.
    random_state : int, RandomState instance or None, default=None
        For the order in which "klms" learns from the rows, for what the basis draws, and for
        cross-validation.
        With an int every fit gives the same result; with None, which stands for numpy's global
        generator, they may differ.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    basis_ : KOBL, KernelGramSchmidt, KernelPCA or KernelDiscriminant
        The fitted basis. It maps scaled rows: ``(X - mean_) / scale_`` if `standardize`.
    weights_ : ndarray of shape (n_directions,)
        Weight of every direction of the basis; 0 for those that are not kept.
    order_ : ndarray of shape (n_directions,)
        Directions, best first.
    support_ : ndarray of shape (n_directions,)
        True for directions that are kept.
    n_selected_ : int
        How many are kept.
    error_curve_ : ndarray of shape (n_iter_,)
        Share of the training rows that the vote gets wrong after each step, for "kffs".
    classes_ : ndarray of shape (n_classes,)
        The classes.
    kernel_ : Kernel
        The kernel with its width.
    gamma_ : float
        The width, where `kernel_` has one.
    n_neighbors_ : int
        Neighbours that vote; another number than `n_neighbors` only if `tuned`.
    mean_ : ndarray of shape (n_features_in_,) or None
        What is subtracted from the columns; None without `standardize`.
    scale_ : ndarray of shape (n_features_in_,) or None
        What the columns are divided by; None without `standardize`.
    n_iter_ : int
        Steps of the selection.
    converged_ : bool
        Whether the result is the one that the method defines.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    TAKES : KOBL and forward selection, with all parameters in one place.

    References
    ----------
    .. [1] Cao, Shen, Sun, Yang and Chen, "Feature selection in a kernel space", ICML 2007.
    .. [2] Xu and others, "TAKES: a fast method to select features in the kernel space", CIKM 2010.

    Examples
    --------
    >>> from kernsift import KernelPCA, KernelSpaceSelector
    >>> from kernsift.datasets import load_dataset
    >>> iris = load_dataset("iris")
    >>> fskpca = KernelSpaceSelector(KernelPCA(), "relief", n_features_to_select=4)
    >>> fskpca.fit(iris.data, iris.target).order_[:4]
    array([0, 1, 2, 3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSpace._parameter_constraints,
        "basis": [BaseBasis, None],
        "selector": [StrOptions({"kffs", "relief"}), None],
        "relief_neighbors": ReliefF._parameter_constraints["n_neighbors"],
        "difference": ReliefF._parameter_constraints["difference"],
    }

    def __init__(
        self,
        basis: BaseBasis | None = None,
        selector: str | None = "kffs",
        *,
        n_features_to_select: int | float | None = None,
        weak_learner: str = "klms",
        eta: float = 0.5,
        learner_bandwidth: float = 1.0,
        quantum: float | None = None,
        weights: str | None = "ensemble",
        weight_power: float = 1.0,
        relief_neighbors: int = 1,
        difference: str = "absolute",
        n_neighbors: int = 1,
        tuned: bool = False,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.basis = basis
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.weak_learner = weak_learner
        self.eta = eta
        self.learner_bandwidth = learner_bandwidth
        self.quantum = quantum
        self.weights = weights
        self.weight_power = weight_power
        self.relief_neighbors = relief_neighbors
        self.difference = difference
        self.n_neighbors = n_neighbors
        self.tuned = tuned
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _unfitted_basis(self) -> BaseBasis:
        if self.basis is None:
            return KOBL()
        self.basis._validate_params()
        basis: BaseBasis = clone(self.basis)
        return basis

    def _selector_form(self) -> dict[str, Any] | None:
        if self.selector is None:
            return None
        if self.selector == "relief":
            # Relief as published, in place of the defaults of ReliefF.
            return {
                "method": "relief",
                "n_neighbors": int(self.relief_neighbors),
                "difference": self.difference,
                "clip": False,
                "class_weights": "frequency",
                "metric": "euclidean",
                "units": "unscaled",
            }
        return self._kffs_form()


class KNNC(ClassifierMixin, Estimator):
    """Nearest neighbours by kernel distance, without any selection.

    What selection in kernel space has to beat. The squared distance is k(x, x) - 2 k(x, z) + k(z, z);
    under "rbf" it grows with the plain one, so that any `gamma` gives plain nearest neighbours.

    It remembers the training rows, and compares each new row with all of them.

    Parameters
    ----------
    n_neighbors : int, default=1
        Neighbours that vote on a class.
    kernel : {"rbf", "linear", "poly", "laplacian"} or Kernel, default="rbf"
        The kernel, by name or as an object of :mod:`kernsift.kernels`.
    gamma : {"median", "scale"} or float, default="median"
        Width of the named kernels "rbf", "poly" and "laplacian"; not used by others.
        "median" makes a typical pair of rows neither equal nor strange: for "rbf" it is
        1 / (2 m^2) with m the median distance among at most 1000 rows. "scale" is
        scikit-learn's 1 / (n_features * X.var()).
    degree : int, default=3
        Degree of "poly"; not used by others.
    coef0 : float, default=1.0
        Constant of "poly"; not used by others.
    standardize : bool, default=True
        Scale columns to mean 0 and variance 1 first; those of a sparse matrix are not shifted.
    random_state : int, RandomState instance or None, default=None
        For the median of more than 1000 rows.
        With an int every fit gives the same result; with None, which stands for numpy's global
        generator, they may differ.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    kernel_ : Kernel
        The kernel with its width.
    gamma_ : float
        The width, where `kernel_` has one.
    mean_ : ndarray of shape (n_features_in_,) or None
        What is subtracted from the columns; None without `standardize`.
    scale_ : ndarray of shape (n_features_in_,) or None
        What the columns are divided by; None without `standardize`.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    TAKES : Selects among directions first.
    sklearn.neighbors.KNeighborsClassifier : Plain nearest neighbours.

    References
    ----------
    .. [1] Xu and others, "TAKES: a fast method to select features in the kernel space", CIKM 2010.

    Examples
    --------
    >>> from kernsift import KNNC
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.model_selection import cross_val_score
    >>> wine = load_dataset("wine")
    >>> print(f"{cross_val_score(KNNC(kernel='laplacian'), wine.data, wine.target).mean():.2f}")
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        **KERNEL_CONSTRAINTS,
        "standardize": ["boolean"],
        **RUN_CONSTRAINTS,
    }

    def __init__(
        self,
        n_neighbors: int = 1,
        *,
        kernel: Any = "rbf",
        gamma: Any = "median",
        degree: int = 3,
        coef0: float = 1.0,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Remember the rows, and find the kernel's width.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        # A copy: what the caller does to the rows later must not matter.
        X, classes = labelled_rows(self, X, y, copy=True)
        remembered = (
            native_rows(X),
            classes,
            native_int("n_neighbors", self.n_neighbors),
            bool(self.standardize),
        )
        with told(self, X):
            answer = _native.fit_knnc(
                to_json(choice_form(self.kernel, self.gamma, self.degree, self.coef0)),
                *remembered,
                settings(self.random_state, self.n_jobs, self.verbose),
            )
        self._remembered = remembered
        store_kernel(self, Kernel.from_json(answer["kernel"]))
        self.mean_: FloatArray | None = answer["shift"]
        self.scale_: FloatArray | None = answer["scale"]
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes by the nearest training rows in kernel space.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes. Of classes with as many votes, the one whose first neighbour is nearer.
        """
        check_is_fitted(self)
        x = checked_rows(self, X, reset=False)
        codes = _native.predict_knnc(
            self.kernel_.to_json(),
            *self._remembered,
            native_rows(x),
            settings(0, self.n_jobs, self.verbose),
        )
        predicted: npt.NDArray[Any] = self.classes_[codes]
        return predicted

    def _summary(self) -> Summary:
        rows = len(self._remembered[1][0])
        return Summary([("classes", len(self.classes_)), ("kernel", self.kernel_), ("rows remembered", rows)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
