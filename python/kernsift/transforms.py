"""Selectors from criteria of a projection: the columns that it needs.

A projection ``X @ W`` is judged by a criterion: how much it tells of the target (:class:`HSFS`), how far it
keeps classes apart (:class:`LDFS`), how much of all columns can be told from it (:class:`PFS`). Each row of W
belongs to a column, and its largest entry has a price, so that rows of columns that are not needed are
exactly zero.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from kernsift._base import TARGET_KERNELS, BaseSelector, BaseTargetSelector
from kernsift._crossing import Target, checked_rows
from kernsift._sklearn import Interval, StrOptions

__all__ = ["HSFS", "LDFS", "PFS"]

#: Parameters of methods with a path of penalties.
PENALTY_CONSTRAINTS: dict[str, list[Any]] = {
    "penalty": [Interval(Real, 0, None, closed="neither"), None],
    "n_penalties": [Interval(Integral, 2, None, closed="left")],
    "penalty_ratio": [Interval(Real, 0, 1, closed="neither")],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}


class HSFS(BaseTargetSelector):
    """HSFS: the columns of the projection that tells most of the target, nonlinearly and together.

    It looks for W that makes ``HSIC(X @ W, y)`` large, the dependence under a Gaussian kernel (see
    :func:`kernsift.hsic`), while the largest weights of the columns add up to no more than a radius. Columns
    that are not needed have rows of zeros. It sees columns that tell something only together, such as the two
    of an XOR, and targets that depend on a combination of many columns.

    The problem is not convex, so where the search starts decides. It starts from columns that are good alone,
    in pairs, by their interaction and all together, and from random weights, and the best value counts; this
    is no promise that nothing better exists. HSIC measures dependence, not prediction: beside strong columns
    it can pass over a weak one that matters.

    With `form="penalized"`, as published, a multiple of the same sum is taken off HSIC instead. No column at
    all is then always a local optimum, and with a rising penalty the columns mostly fall from several to none
    at once; a warning says so.

    Each of some hundred values costs n_samples^2 operations per direction; beyond 5000 rows random Fourier
    features make that n_samples times `features`. Sparse matrices are used as they are.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or None
        for all with a weight at `radius` or `penalty`, or without these the method's own rule: sets of
        growing size, up to 12, are chosen on two thirds of the rows, and the smallest is taken whose HSIC on
        the other third is within a twentieth of the largest.
    form : {"constrained", "penalized"}, default="constrained"
        Whether the sum of the largest weights is bounded, or has a price.
    directions : int or None, default=None
        Columns of W; None is 8, or the number of columns if that is less.
    diagonal : bool or "auto", default="auto"
        One weight per column instead of directions; no `directions` then. "auto" does so in the constrained
        form where directions would have more weights than there are rows, unless `directions` are asked for.
    target_kernel : {"auto", "class-balanced", "delta", "linear", "gaussian"}, default="auto"
        How alike two rows are by the target. "class-balanced": rows of one class, all classes counting alike;
        "delta": rows of one class, large classes counting more; "linear": the product of two numbers, or of
        the signs of two classes; "gaussian": numbers that are near. "auto" is "class-balanced" for classes
        and "gaussian" for numbers.
    width : float or None, default=None
        A typical difference within a column, which sets the scale of weights: a wanted number of columns k is
        solved within a radius of k columns of weight ``1 / width``. None is the median difference of a
        typical column, equal values left out, but no more than rows differ in the column that varies most.
        The kernel of ``X @ W`` itself has a width of 1.
    radius : float or None, default=None
        What the largest weights of the columns may add up to in the constrained form; excludes
        `n_features_to_select`.
    penalty : float or None, default=None
        The price of the penalised form; excludes `n_features_to_select`.
    random_starts : int, default=1
        Random starts beside the others.
    approximation : {"auto", "exact", "fourier", "nystrom"}, default="auto"
        How HSIC is computed: over all pairs of rows, by random Fourier features, or by landmarks. "auto" is
        "exact" up to 5000 rows, and "fourier" beyond.
    features : int, default=512
        Random Fourier features, or landmarks.
    tol : float, default=1e-5
        How near to stationary a solution must be.
    max_iter : int, default=300
        Most steps of each solution.
    target_type : {"auto", "class", "number"}, default="auto"
        What y holds. "auto" takes what is not whole for numbers, and anything else for classes.
    standardize : bool, default=True
        Scale columns to variance 1 first. Weights depend on the scales of columns, so they should be on one.
    random_state : int, RandomState instance or None, default=None
        For random starts, Fourier features and rows that are kept apart. With an int every fit gives the same
        result.
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
        Length of each column's row of weights; 0 for columns that are dropped.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns, best first; those without weights by how near they are to one, constant ones last.
    coef_ : ndarray of shape (n_features_in_, n_directions)
        The weights W, of columns on the scale that `standardize` gives them.
    path_ : :class:`~sklearn.utils.Bunch`
        How the answer changed from small radii to large ones, or from small penalties to large ones. Arrays
        with an entry per place: ``strength`` (the radius or penalty), ``objective`` (minus HSIC, with the
        price if there is one), ``optimality`` (distance from stationary), ``n_iter``, ``n_features``. Lists:
        ``features`` (columns with a weight, largest first), ``weights`` (lengths of their rows), ``stop``
        (why the steps stopped).
    classes_ : ndarray of shape (n_classes,)
        The classes, if there are some.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether the solution met `tol`.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    LDFS : The same for classes that a linear combination tells apart; convex.
    kernsift.BAHSIC : Columns leave by the same dependence, without weights.
    kernsift.HSICLasso : Columns with any dependence of their own; convex.

    References
    ----------
    .. [1] Masaeli, Fung and Dy, "From transformation-based dimensionality reduction to feature selection",
       ICML 2010.

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
    _has_path = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTargetSelector._parameter_constraints,
        "form": [StrOptions({"constrained", "penalized"})],
        "directions": [Interval(Integral, 1, None, closed="left"), None],
        "diagonal": ["boolean", StrOptions({"auto"})],
        "target_kernel": [StrOptions(TARGET_KERNELS)],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "penalty": [Interval(Real, 0, None, closed="neither"), None],
        "random_starts": [Interval(Integral, 0, None, closed="left")],
        "approximation": [StrOptions({"auto", "exact", "fourier", "nystrom"})],
        "features": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        form: str = "constrained",
        directions: int | None = None,
        diagonal: bool | str = "auto",
        target_kernel: str = "auto",
        width: float | None = None,
        radius: float | None = None,
        penalty: float | None = None,
        random_starts: int = 1,
        approximation: str = "auto",
        features: int = 512,
        tol: float = 1e-5,
        max_iter: int = 300,
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
        self.width = width
        self.radius = radius
        self.penalty = penalty
        self.random_starts = random_starts
        self.approximation = approximation
        self.features = features
        self.tol = tol
        self.max_iter = max_iter
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "directions": None if self.directions is None else int(self.directions),
            "diagonal": None if isinstance(self.diagonal, str) else bool(self.diagonal),
            "target_kernel": self.target_kernel,
            "width": _number(self.width),
            "radius": _number(self.radius),
            "penalty": _number(self.penalty),
            "random_starts": int(self.random_starts),
            "approximation": self.approximation,
            "features": int(self.features),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
        }


class LDFS(BaseSelector):
    """LDFS: columns whose combination keeps classes apart, by discriminant analysis with weights that vanish.

    With `form="least-squares"` class indicators T, scaled by the sizes of classes, are fitted by ``X @ W``
    under ``penalty * sum_j max_k |W[j, k]|``, which is convex and without a penalty is linear discriminant
    analysis. Published is the ratio of scatters with the penalty added. The ratio does not change when W
    shrinks, but the penalty does, so that it can be had for nothing and selects nothing; "normalized" and
    "constrained" keep the ratio and mend that by holding the scale of W fixed. They are not convex, and with
    more than two classes see only what the first discriminant sees.

    It is linear: it sees no ring, no XOR, nothing but means that differ. For these there is :class:`HSFS`.

    Columns are centred and brought to unit spread inside; sparse matrices are not filled.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or None
        for all with a weight at `penalty`, or without one at a tenth of the penalty at which the first column
        enters. Where columns enter together the smallest weights are cut. A smaller number need not keep the
        first of a larger one's.
    form : {"least-squares", "normalized", "constrained"}, default="least-squares"
        Which problem is solved: least squares, or the ratio with weights of length one, or with a scatter
        within classes of one.
    penalty : float or None, default=None
        The penalty; excludes `n_features_to_select`.
    n_penalties : int, default=61
        Penalties on the path.
    penalty_ratio : float, default=1e-3
        The last penalty of the path as a share of the first.
    ridge : float, default=0.1
        Added to the scatter within classes of columns of unit spread; not used by least squares. The fewer
        rows there are for a column, the larger it should be.
    weighted_scatter : bool, default=True
        Whether classes count by their rows in the scatter between them; not used by least squares.
    tol : float, default=1e-6
        The optimality that counts as solved.
    max_iter : int, default=10000
        Most sweeps, or steps of the ratios, for each penalty.
    standardize : bool, default=True
        Without effect, as columns are always brought to unit spread. Here for all selectors to be alike.
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
        The largest weight of each column; 0 for those without.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns by weight; those without by how hard the criterion pulls at them.
    coef_ : ndarray of shape (n_features_in_, n_directions)
        The weights W of columns of mean 0 and unit spread: a column per class for least squares, else one.
    path_ : :class:`~sklearn.utils.Bunch`
        How the answer changed with falling penalties. Arrays with an entry per place: ``strength`` (the
        penalty), ``objective``, ``optimality`` (for least squares the larger of duality gap and violation of
        the first-order conditions), ``n_iter``, ``n_features``. Lists: ``features`` (columns with a weight,
        largest first), ``weights`` (their largest), ``stop`` (why the iterations stopped).
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_iter_ : int
        Sweeps or steps on the whole path.
    converged_ : bool
        Whether the solution met `tol`.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    HSFS : The same for any dependence.
    kernsift.L1SVM : Columns that a sparse linear machine gives a weight.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : The analysis without selection.

    References
    ----------
    .. [1] Masaeli, Fung and Dy, "From transformation-based dimensionality reduction to feature selection",
       ICML 2010.
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
    _has_path = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "form": [StrOptions({"least-squares", "normalized", "constrained"})],
        **PENALTY_CONSTRAINTS,
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "weighted_scatter": ["boolean"],
    }

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

    def _own_parameters(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "penalty": _number(self.penalty),
            "n_penalties": int(self.n_penalties),
            "penalty_ratio": float(self.penalty_ratio),
            "ridge": float(self.ridge),
            "weighted_scatter": bool(self.weighted_scatter),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
        }


class PFS(BaseSelector):
    """PFS: columns from which all the others can be told, without a target.

    X is fitted by ``X @ W`` under ``penalty * sum_j max_k |W[j, k]|``: principal component analysis in its
    convex form, with a price that drops whole columns. A column is kept that helps to tell the others, by
    however many; of two copies either will do. A column that has nothing to do with any other tells only
    itself and comes late.

    Beyond 200 columns, or with `n_components`, the leading principal components stand for the columns as what
    is to be told. Columns are centred and brought to unit spread inside; sparse matrices are not filled.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or None
        for all with a weight at `penalty`, or without one at a tenth of the penalty at which the first column
        enters. Where columns enter together the smallest weights are cut. A smaller number need not keep the
        first of a larger one's.
    n_components : int or None, default=None
        Leading principal components that stand for the columns; None is the columns themselves up to 200 of
        them, and 20 components beyond.
    penalty : float or None, default=None
        The penalty; excludes `n_features_to_select`.
    n_penalties : int, default=61
        Penalties on the path.
    penalty_ratio : float, default=1e-2
        The last penalty of the path as a share of the first.
    tol : float, default=1e-6
        The optimality that counts as solved.
    max_iter : int, default=10000
        Most sweeps for each penalty.
    standardize : bool, default=True
        Without effect, as columns are always brought to unit spread. Here for all selectors to be alike.
    random_state : int, RandomState instance or None, default=None
        For the start of the search for principal components, which does not matter to the result beyond
        rounding.
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
        The largest weight of each column; 0 for those without.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns by weight; those without by how hard the criterion pulls at them.
    coef_ : ndarray of shape (n_features_in_, n_targets)
        The weights W of columns of mean 0 and unit spread: a column per column of X, or per component.
    path_ : :class:`~sklearn.utils.Bunch`
        How the answer changed with falling penalties. Arrays with an entry per place: ``strength`` (the
        penalty), ``objective``, ``optimality`` (the larger of duality gap and violation of the first-order
        conditions), ``n_iter``, ``n_features``. Lists: ``features`` (columns with a weight, largest first),
        ``weights`` (their largest), ``stop`` (why the sweeps stopped).
    n_iter_ : int
        Sweeps on the whole path.
    converged_ : bool
        Whether the solution met `tol`.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    kernsift.LaplacianScore : Columns that vary little between neighbouring rows, without a target.
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
    _has_path = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        **PENALTY_CONSTRAINTS,
    }

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

    def _checked(self, X: Any, y: Any) -> tuple[Any, Target | None]:
        X = checked_rows(self, X, ensure_min_samples=2)
        return X, None

    def _own_parameters(self) -> dict[str, Any]:
        return {
            "n_components": None if self.n_components is None else int(self.n_components),
            "penalty": _number(self.penalty),
            "n_penalties": int(self.n_penalties),
            "penalty_ratio": float(self.penalty_ratio),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)
