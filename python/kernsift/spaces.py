"""Selection in kernel space: a basis, a selector of its directions, and nearest neighbors.

All are classifiers; those that select are also transformers, which return the selected directions.

| method | estimator |
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

from kernsift import _native
from kernsift._base import KERNEL_CONSTRAINTS, Estimator, labeled_rows, store_kernel
from kernsift._html import Summary
from kernsift._native_data import native_int, native_rows, to_json
from kernsift._parameters import Docs, core_docs
from kernsift._progress import report_progress
from kernsift._sklearn import Interval, StrOptions, _fit_context
from kernsift._space import BaseSpace
from kernsift.bases import KOBL, BaseBasis
from kernsift.kernels import Kernel, choice_form
from kernsift.selectors import ReliefF

__all__ = ["KNNC", "TAKES", "KernelSpaceSelector"]

WEIGHTS_NOTE = {"weights": "None weights all selected directions equally."}


class TAKES(BaseSpace):
    """TAKES: a few directions of kernel space whose weak classifiers vote well together.

    :class:`kernsift.KOBL` finds a basis of kernel space; forward selection over weak classifiers, one per
    direction, ranks and weights the directions (KFFS, see :class:`kernsift.FFS`). A new sample gets the
    class of the nearest training sample in the weighted distance over the selected directions.

    It takes n_samples * n_components^2 operations and memory for n_samples * n_components numbers; with
    "klms" and up to 4096 samples, n_samples^2 * n_components operations.

    {parameters and attributes}

    See Also
    --------
    KernelSpaceSelector : Other bases and selectors.
    kernsift.FFS : Forward selection of features.

    References
    ----------
    .. [1] {Xu2010}

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
        "threshold": KOBL._parameter_constraints["threshold"],
        "gamma": [StrOptions({"cv"}), *KERNEL_CONSTRAINTS["gamma"]],
    }
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": "None selects up to the first minimum of `error_curve_`.",
        "gamma": '"cv" chooses it by cross-validation on the training samples.',
        **KOBL._parameter_notes,
        **WEIGHTS_NOTE,
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
        exact: bool = False,
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
        self.exact = exact
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
            # The search for gamma starts from this value.
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
                "gamma='cv' needs one of the named kernels that use gamma: 'rbf', 'poly' or 'laplacian'. "
                f"Got kernel={self.kernel!r} instead."
            )
        if self._by_cv() and self.tuned:
            raise ValueError("tuned=True and gamma='cv' both choose gamma; give one of them.")
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

    The basis maps the samples into kernel space; the selector ranks, selects and weights the directions. A
    new sample gets the class of the nearest training sample in the weighted distance over the selected
    directions. :mod:`kernsift.spaces` lists the pairs of basis and selector that have a name.

    The cost is that of the basis and of the selector on its directions.

    Parameters
    ----------
    basis : KOBL, KernelGramSchmidt, KernelPCA, KernelDiscriminant or None, default=None
        The basis with its parameters; None is ``KOBL()``. It is cloned, see `basis_`; its `random_state`,
        `n_jobs` and `verbose` are not used.
    selector : {"kffs", "relief"} or None, default="kffs"
        Forward selection over weak classifiers, see :class:`kernsift.FFS`; Relief, see
        :class:`kernsift.ReliefF`; or None for the order of the basis.
    {n_features_to_select}
        Without a selector, None selects all directions.
    {weak_learner}
    {eta}
    {learner_bandwidth}
    {quantum}
    {weights}
    {weight_power}
    relief_neighbors : int, default=1
        Number of neighbors of "relief", see :class:`kernsift.ReliefF`.
    difference : {"absolute", "squared"}, default="absolute"
        How "relief" measures the difference of two samples, see :class:`kernsift.ReliefF`.
    {n_neighbors}
    {tuned}
    {standardize}
    {random_state}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    TAKES : KOBL and forward selection, with all parameters in one estimator.

    References
    ----------
    .. [1] {Cao2007}
    .. [2] {Xu2010}

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
        "basis": [BaseBasis, None],
        "selector": [StrOptions({"kffs", "relief"}), None],
        "relief_neighbors": ReliefF._parameter_constraints["n_neighbors"],
        "difference": ReliefF._parameter_constraints["difference"],
    }
    _parameter_notes: ClassVar[dict[str, str]] = {
        "weights": f'{WEIGHTS_NOTE["weights"]} Otherwise "relief" weights directions by their scores.',
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
            # Relief as published, not with the defaults of ReliefF.
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
    """k-nearest neighbors in kernel space, without selection.

    It is the baseline of selection in kernel space. The squared distance is k(x, x) - 2 k(x, z) + k(z, z);
    with "rbf" it increases with the Euclidean distance, so that any `gamma` gives the Euclidean neighbors.

    It stores the training samples and compares each new sample with all of them.

    {parameters and attributes}

    See Also
    --------
    TAKES : Selects directions first.
    sklearn.neighbors.KNeighborsClassifier : Nearest neighbors by other distances.

    References
    ----------
    .. [1] {Xu2010}

    Examples
    --------
    >>> from kernsift import KNNC
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.model_selection import cross_val_score
    >>> wine = load_dataset("wine")
    >>> print(f"{cross_val_score(KNNC(kernel='laplacian'), wine.data, wine.target).mean():.2f}")
    0.96
    """

    _docs: ClassVar[Docs] = core_docs("takes")
    _fitted: ClassVar[tuple[str, ...]] = ("classes_", "kernel_", "gamma_", "mean_", "scale_")
    # It does not iterate.
    _common_attributes = ("n_features_in_", "feature_names_in_")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
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
        """Store the training samples and compute gamma.

        Parameters
        ----------
        {X_train}
        {labels}

        Returns
        -------
        {self}
        """
        # A copy: later changes by the caller must have no effect.
        X, classes = labeled_rows(self, X, y, copy=True)
        stored = (
            native_rows(X),
            classes,
            native_int("n_neighbors", self.n_neighbors),
            self._standardizes(),
        )
        with report_progress(self, X):
            answer = _native.fit_knnc(
                to_json(choice_form(self.kernel, self.gamma, self.degree, self.coef0)),
                *stored,
                self._fit_settings(),
            )
        self._stored = stored
        store_kernel(self, Kernel.from_json(answer["kernel"]))
        self._store_scaling(answer)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes by the nearest training samples in kernel space.

        Parameters
        ----------
        {X}

        Returns
        -------
        {predicted}
        """
        x = self._new_samples(X)
        codes = _native.predict_knnc(self.kernel_.to_json(), *self._stored, x, self._settings())
        predicted: npt.NDArray[Any] = self.classes_[codes]
        return predicted

    def _summary(self) -> Summary:
        rows = len(self._stored[1][0])
        return Summary(
            [("classes", len(self.classes_)), ("kernel", self.kernel_), ("training samples", rows)]
        )
