"""Bases of kernel space: transformers that map samples to coordinates.

All support the same kernels and have the same fitted attributes; they differ in how they choose the basis.
KOBL and kernel Gram-Schmidt need memory for n_samples * n_components numbers; the other two store the
n_samples * n_samples kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone

from kernsift import _native
from kernsift._base import Estimator, labeled_rows, store_kernel
from kernsift._html import Summary
from kernsift._native_data import FloatArray, checked_rows, method_json, native_rows
from kernsift._parameters import Docs, constraints
from kernsift._progress import report_progress
from kernsift._reports import ReportMixin, ReportParts
from kernsift._sklearn import _fit_context
from kernsift.kernels import Kernel

__all__ = ["KOBL", "KernelDiscriminant", "KernelGramSchmidt", "KernelPCA"]

#: Attributes of bases that every training sample spans.
DENSE_DOCS: Docs = {
    "pivots_": (
        "ndarray of shape (n_samples,)",
        "Indices of the training samples that span the basis: all of them.",
    ),
    "residual_norms_": (
        "ndarray of shape (n_components_,)",
        "Root mean square of the residual norms before each component was added.",
    ),
}


class BaseBasis(ReportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A basis of kernel space. A subclass sets its method and has its parameters."""

    #: Whether `y` must hold class labels.
    _needs_classes: ClassVar[bool] = False
    _fitted: ClassVar[tuple[str, ...]] = (
        "n_components_",
        "pivots_",
        "residual_norms_",
        "reconstruction_cost_",
        "explained_",
        "kernel_",
        "gamma_",
    )
    _docs: ClassVar[Docs] = {
        "y": (
            "array-like of shape (n_samples,)",
            "Class labels, for methods that need them; ignored by the others.",
        ),
        "pivots_": (
            "ndarray",
            "Indices of the training samples that span the basis, in the order in which they were chosen.",
        ),
        "residual_norms_": (
            "ndarray of shape (n_components_,)",
            "Residual norm of each pivot when it was chosen.",
        ),
        "reconstruction_cost_": (
            "float",
            "Mean distance of the training samples from the span of the basis, in kernel space.",
        ),
        "explained_": ("float", "Fraction of the trace of the kernel matrix that the basis explains."),
    }

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    n_components: int | None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the basis.

        Parameters
        ----------
        {X_train}
        {y}

        Returns
        -------
        {self}
        """
        self._learn(X, y, features=False)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Learn the basis and transform the training samples.

        It takes no longer than :meth:`fit`. The result agrees with that of :meth:`transform` up to rounding.

        Parameters
        ----------
        {X_train}
        {y}

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components_)
            Coordinates of the training samples.
        """
        made = self._learn(X, y, features=True)
        assert made is not None
        return made

    def transform(self, X: Any) -> FloatArray:
        """Map samples into kernel space.

        Parameters
        ----------
        {X}

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components_)
            Coordinates of the samples.
        """
        x = self._new_samples(X)
        return self._map.transform(x, self._settings())

    def residual_norms(self, X: Any) -> FloatArray:
        """Compute the residual norm of each sample.

        Parameters
        ----------
        {X}

        Returns
        -------
        norms : ndarray of shape (n_samples,)
            Distance of each sample from the span of the basis, in kernel space. It is computed from a
            difference of squares: values below about 1e-8 of the sample's norm are rounding errors.
        """
        x = self._new_samples(X)
        return self._map.residual_norms(x, self._settings())

    def _threshold_function(self) -> Any:
        """A callable threshold of KOBL, which cannot be passed as JSON."""
        return None

    def _min_samples(self) -> int:
        # The median of distances needs two samples.
        by_distance = isinstance(self.kernel, str) and self.kernel in ("rbf", "laplacian")
        return 2 if by_distance and self.gamma == "median" else 1

    def _learn(self, X: Any, y: Any, features: bool) -> FloatArray | None:
        classes = None
        if self._needs_classes:
            X, classes = labeled_rows(self, X, y)
        else:
            X = checked_rows(self, X, ensure_min_samples=self._min_samples())
        with report_progress(self, X):
            fitted, made = _native.fit_basis(
                method_json(self._method, self._own_parameters()),
                native_rows(X),
                classes,
                self._fit_settings(),
                self._threshold_function(),
                features,
            )
        self._store(fitted)
        return made

    def _store(self, fitted: _native.FeatureMap, *, warns: bool = True) -> None:
        self._map = fitted
        summary = fitted.summary()
        self.n_components_: int = summary["n_components"]
        self.pivots_: npt.NDArray[np.int64] = summary["pivots"]
        self.residual_norms_: FloatArray = summary["residual_norms"]
        self.reconstruction_cost_: float = summary["reconstruction_cost"]
        self.explained_: float = summary["explained"]
        store_kernel(self, Kernel.from_json(summary["kernel"]))
        if summary["bound"] is not None:
            self.bound_: float = summary["bound"]
        self._store_outcome(summary, warns=warns)

    def _page(self, parts: ReportParts) -> str:
        named = None if self._threshold_function() else method_json(self._method, self._own_parameters())
        return _native.basis_page(parts.native(), self._map, named, parts.run)

    def _summary(self) -> Summary:
        return Summary(
            [
                ("components", self.n_components_),
                ("kernel", self.kernel_),
                ("fraction of the trace explained", self.explained_),
                ("mean residual norm", self.reconstruction_cost_),
            ]
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_classes
        # It encodes data frames, but with this tag scikit-learn's checks round samples to integers. Then all
        # samples of a class are equal, and a discriminant has no scatter within classes.
        tags.input_tags.categorical = not self._needs_classes
        return tags


class KOBL(BaseBasis):
    """Kernel orthogonal basis learning.

    Learns the intrinsic dimension of the data in kernel space and an orthonormal basis built from a few
    samples. Each step adds the sample with the largest residual norm; it stops when that norm falls below a
    threshold that rises with the fraction of samples used: ``r[k] / r[0] < f(k / n_samples)``.

    It evaluates n_samples * n_components kernel values, needs as much memory, and takes n_samples *
    n_components^2 operations; no square matrix is formed.

    {parameters and attributes}

    See Also
    --------
    KernelGramSchmidt : Uses the samples in the given order.
    KernelPCA : The best basis with a given number of components; needs the complete kernel matrix.
    kernsift.gamma_for_n_components : Finds `gamma` for a number of components.

    References
    ----------
    .. [1] {Xu2010}
    .. [2] Chen, Epperly, Tropp and Webber, "Randomly pivoted Cholesky", 2022.
    .. [3] Farahat, Ghodsi and Kamel, "A novel greedy algorithm for Nyström approximation", AISTATS 2011.

    Examples
    --------
    >>> from kernsift import KOBL
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = StandardScaler().fit_transform(load_dataset("wine").data)
    >>> basis = KOBL().fit(X)
    >>> basis.n_components_
    45
    >>> basis.transform(X).shape
    (178, 45)
    """

    _method = "kobl"
    _fitted = (*BaseBasis._fitted, "bound_")
    _docs: ClassVar[Docs] = {
        "bound_": ("float", "Upper bound of `reconstruction_cost_` that the stopping rule guarantees."),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [*constraints("kobl", "threshold")["threshold"], callable],
    }
    _parameter_notes: ClassVar[dict[str, str]] = {
        "threshold": "A callable is the function f itself: from [0, 1] to [0, 1] and not decreasing.",
    }

    def __init__(
        self,
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
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _threshold_function(self) -> Any:
        return self.threshold if callable(self.threshold) else None

    def _own_parameters(self) -> dict[str, Any]:
        # A callable is passed separately.
        plain = clone(self).set_params(threshold="linear") if callable(self.threshold) else self
        return BaseBasis._own_parameters(plain)


class KernelGramSchmidt(BaseBasis):
    """Gram-Schmidt orthogonalization in kernel space, with the samples in the given order.

    Every sample that is not a linear combination of earlier ones adds a component, up to `n_components`.
    The cost is that of :class:`KOBL` at the same number of components, which without a limit is the number
    of linearly independent samples.

    {parameters and attributes}

    See Also
    --------
    KOBL : Chooses the samples, and when to stop.

    References
    ----------
    .. [1] {Cao2007}

    Examples
    --------
    >>> from kernsift import KernelGramSchmidt
    >>> basis = KernelGramSchmidt(kernel="linear")
    >>> basis.fit_transform([[1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    array([[1., 0.],
           [1., 1.],
           [2., 1.]])
    >>> basis.pivots_
    array([0, 1])
    """

    _method = "kgs"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "median",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int | None = None,
        exact: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.exact = exact
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KernelPCA(BaseBasis):
    """Kernel principal component analysis.

    Without centering it has the smallest squared reconstruction error of all bases with the same number of
    components. It stores square matrices of all samples (five of them while it works) and takes n_samples^3
    operations.

    Signs are fixed: the coefficient with the largest absolute value is positive in every component.

    {parameters and attributes}

    See Also
    --------
    KOBL : Needs no square matrix.
    sklearn.decomposition.KernelPCA : The same components up to sign, for the same `gamma`.

    References
    ----------
    .. [1] Schölkopf, Smola and Müller, "Nonlinear component analysis as a kernel eigenvalue problem", 1998.

    Examples
    --------
    >>> from kernsift import KernelPCA
    >>> KernelPCA(kernel="linear").fit_transform([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).round(4) + 0.0
    array([[ 1.4142],
           [ 0.    ],
           [-1.4142]])
    """

    _method = "kpca"
    _docs: ClassVar[Docs] = DENSE_DOCS

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "median",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int | None = None,
        center: bool = True,
        exact: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.center = center
        self.exact = exact
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _min_samples(self) -> int:
        # Centering maps a single sample to zero.
        return 2 if self.center else super()._min_samples()


class KernelDiscriminant(BaseBasis):
    """Kernel discriminant analysis: directions of kernel space that separate classes.

    There are at most n_classes - 1 directions. It stores a square matrix of all samples and takes
    n_samples^3 operations.

    {parameters and attributes}

    See Also
    --------
    KernelPCA : Directions of large variance, without classes.

    References
    ----------
    .. [1] Mika and others, "Fisher discriminant analysis with kernels", 1999.
    .. [2] Baudat and Anouar, "Generalized discriminant analysis using a kernel approach", 2000.

    Examples
    --------
    >>> from kernsift import KernelDiscriminant
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> wine = load_dataset("wine")
    >>> model = make_pipeline(StandardScaler(), KernelDiscriminant(), KNeighborsClassifier())
    >>> print(f"{cross_val_score(model, wine.data, wine.target).mean():.2f}")
    0.99
    """

    _method = "discriminant"
    _catalog_name = "kda"
    _needs_classes = True
    _fitted = ("classes_", *BaseBasis._fitted)
    _docs: ClassVar[Docs] = DENSE_DOCS

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "median",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int | None = None,
        criterion: str = "kda",
        ridge: float = 1e-3,
        exact: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.criterion = criterion
        self.ridge = ridge
        self.exact = exact
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
