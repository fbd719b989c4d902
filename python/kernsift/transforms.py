"""Selectors from criteria of a projection ``X @ W``.

The criterion is the dependence of the target on the projection (:class:`HSFS`), the separation of classes
(:class:`LDFS`) or the reconstruction of all features (:class:`PFS`). An l1/l-infinity penalty or constraint
sets the rows of W of features that are not needed to exactly zero.
"""

from __future__ import annotations

from typing import Any, ClassVar

from kernsift._selector import BaseSelector, BaseTargetSelector, WeightedSelector

__all__ = ["HSFS", "LDFS", "PFS"]

#: The number of features of methods with a penalty.
PENALTY_NOTES = {
    "n_features_to_select": (
        "None selects all features with nonzero weight at `penalty`, or at a tenth of the penalty at which "
        "the first feature enters. Where features enter together, those with the smallest weights are "
        "dropped. Selections are not nested."
    ),
}


class HSFS(BaseTargetSelector):
    """HSFS: features of the projection on which the target depends most, nonlinearly and jointly.

    HSFS maximizes the dependence ``HSIC(X @ W, y)`` under a Gaussian kernel (see :func:`kernsift.hsic`),
    subject to a bound on the sum of the largest absolute weight of each feature. This sets whole rows of W
    to zero. Use it when features predict the target only jointly, such as the two of an XOR, or when the
    target depends on a combination of many features.

    The problem is not convex, so the result depends on the starting points: features that are good alone,
    in pairs, by their interaction and all together, and random weights. The best objective wins; a better
    solution may exist. HSIC measures dependence, not prediction error: if some features are strong, it can
    miss a weak one that matters.

    With `form="penalized"`, as published, a multiple of the same sum is subtracted from HSIC instead.
    Selecting no feature is then always a local optimum, and as the penalty grows the number of features
    mostly drops from several to none at once; a warning says so.

    Each of some hundred function values takes n_samples^2 operations per direction; beyond 5000 samples
    random Fourier features reduce that to n_samples times `features`. Sparse matrices stay sparse.

    {parameters and attributes}

    See Also
    --------
    LDFS : For classes that a linear combination of features separates; convex.
    kernsift.BAHSIC : Backward elimination by HSIC, without weights.
    kernsift.HSICLasso : Features that depend on the target one at a time; convex.

    References
    ----------
    .. [1] {Masaeli2010}

    Examples
    --------
    >>> from kernsift import HSFS
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("xor", n_samples=200, n_features=10, random_state=0)
    >>> selector = HSFS(2, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True).tolist() == sorted(relevant.tolist())
    True
    """

    _method = "hsfs"
    _supports_outputs: ClassVar[bool] = True
    _fitted: ClassVar[tuple[str, ...]] = (
        *BaseTargetSelector._fitted,
        "coef_",
        "path_",
        "classes_",
        "n_samples_used_",
    )
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": (
            "None selects all features with nonzero weight at `radius` or `penalty`; without these, sets of "
            "increasing size, up to 12, are selected on two thirds of the samples, and the smallest set is "
            "taken whose HSIC under equal weights on the other third is within 5 % of the largest."
        ),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        form: str = "constrained",
        directions: int | None = None,
        diagonal: bool | None = None,
        target_kernel: str = "auto",
        bandwidth: float | None = None,
        radius: float | None = None,
        penalty: float | None = None,
        random_starts: int = 1,
        approximation: str = "auto",
        features: int = 512,
        tol: float = 1e-5,
        max_iter: int = 300,
        exact: bool = False,
        target_type: str = "auto",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.form = form
        self.directions = directions
        self.diagonal = diagonal
        self.target_kernel = target_kernel
        self.bandwidth = bandwidth
        self.radius = radius
        self.penalty = penalty
        self.random_starts = random_starts
        self.approximation = approximation
        self.features = features
        self.tol = tol
        self.max_iter = max_iter
        self.exact = exact
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LDFS(WeightedSelector):
    """LDFS: features of a sparse linear discriminant analysis.

    With `form="least-squares"`, class indicators scaled by class sizes are fitted by ``X @ W`` with the
    penalty ``penalty * sum_j max_k |W[j, k]|``. The problem is convex; without the penalty it is linear
    discriminant analysis. The paper adds the penalty to the ratio of scatter matrices. The ratio does not
    change when W shrinks but the penalty does, so that this problem has no solution; "normalized" and
    "constrained" keep the ratio and fix the scale of W. They are not convex, and with more than two classes
    they use the first discriminant only.

    It is linear: it finds differences of class means, no ring and no XOR. For these use :class:`HSFS`.

    Features are standardized internally; sparse matrices stay sparse.

    {parameters and attributes}

    See Also
    --------
    HSFS : For any dependence.
    kernsift.L1SVM : Features with nonzero weight in a sparse linear SVM.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : The analysis without selection.

    References
    ----------
    .. [1] {Masaeli2010}
    .. [2] Ye, "Least squares linear discriminant analysis", ICML 2007.

    Examples
    --------
    >>> from kernsift import LDFS
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("linear", n_samples=300, n_features=20, random_state=0)
    >>> selector = LDFS(2).fit(X, y)
    >>> selector.get_support(indices=True).tolist() == sorted(relevant.tolist())
    True
    """

    _method = "ldfs"
    _fitted: ClassVar[tuple[str, ...]] = (*BaseSelector._fitted, "coef_", "path_", "classes_")
    _parameter_notes = PENALTY_NOTES

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        form: str = "least-squares",
        penalty: float | None = None,
        n_penalties: int = 61,
        penalty_ratio: float = 1e-3,
        ridge: float = 0.1,
        weighted_scatter: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.form = form
        self.penalty = penalty
        self.n_penalties = n_penalties
        self.penalty_ratio = penalty_ratio
        self.ridge = ridge
        self.weighted_scatter = weighted_scatter
        self.tol = tol
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class PFS(BaseSelector):
    """PFS: features from which the others can be reconstructed; unsupervised.

    X is reconstructed by ``X @ W`` with the penalty ``penalty * sum_j max_k |W[j, k]|``: principal
    component analysis in its convex form, with a penalty that drops whole features. Features are selected
    that explain many others; of two copies either may be kept. A feature unrelated to all others explains
    only itself and is ranked late.

    Beyond 200 columns, with a category of more than 20 levels, or with `n_components`, the leading principal
    components are reconstructed instead of the features. Features are standardized internally; sparse
    matrices stay sparse.

    {parameters and attributes}

    See Also
    --------
    kernsift.LaplacianScore : Features that vary little between neighboring samples.
    sklearn.decomposition.PCA : The analysis without selection.

    References
    ----------
    .. [1] Masaeli, Yan, Cui, Fung and Dy, "Convex principal feature selection", SDM 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsift import PFS
    >>> rng = np.random.default_rng(0)
    >>> u, v = rng.normal(size=(2, 100))
    >>> X = np.column_stack([u, u + v, u - v, v])
    >>> PFS(2).fit(X).support_.sum()
    np.int64(2)
    """

    _method = "pfs"
    _fitted: ClassVar[tuple[str, ...]] = (*BaseSelector._fitted, "coef_", "path_")
    _parameter_notes = PENALTY_NOTES

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int | None = None,
        penalty: float | None = None,
        n_penalties: int = 61,
        penalty_ratio: float = 1e-2,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.penalty = penalty
        self.n_penalties = n_penalties
        self.penalty_ratio = penalty_ratio
        self.tol = tol
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _uses_target(self) -> bool:
        return False
