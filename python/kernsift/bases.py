"""Bases of kernel space: transformers that turn rows into coordinates.

All take the same kernels and give the same fitted attributes; they differ in how they choose the basis.
KOBL and kernel Gram-Schmidt need memory in proportion to rows times components; the other two hold a
square matrix of all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

from kernsift._base import BaseBasis
from kernsift._sklearn import Interval, StrOptions

__all__ = ["KOBL", "KernelDiscriminant", "KernelGramSchmidt", "KernelPCA"]


class KOBL(BaseBasis):
    """Kernel orthogonal basis learning.

    Finds how many dimensions of kernel space the data really use, and an orthonormal basis of them that
    is carried by a few rows. Each step takes the row that the basis so far explains worst; it stops when
    the worst is explained well enough, measured by a threshold that rises with the share of rows
    already used: ``r[k] / r[0] < f(k / n_samples)``.

    It evaluates n_samples * n_components kernel values, needs as much memory, and
    n_samples * n_components^2 operations: a square matrix is never formed.

    Parameters
    ----------
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
    n_components : int, default=None
        Components at most. None leaves the number to `threshold` and `tol`.
    threshold : "linear", float, None or callable, default="linear"
        f, which decides when to stop. "linear" is f(t) = t; a number p above 0 is f(t) = t^p, and a larger
        p gives more components; None never stops early. A callable is asked for f(t) at t from 0 to
        1, and must rise within [0, 1].
    pivoting : {"greedy", "random", "gain"}, default="greedy"
        Take the row with the largest residual, draw rows by their squared residuals, or take the row that
        explains most of what is left of up to 1024 rows drawn at random. Greedy pivots chase outliers where
        the residuals fall slowly; random ones leave less over there, and "gain" the least.
    first_pivot : {"first", "medoid"}, default="first"
        All rows are equally long under "rbf" and "laplacian", so the first pivot is a tie: take the first
        row, or the one that is most like the others. Only the latter does not depend on the order of rows.
    tol : float, default=0.0
        Stop as well when this share of the kernel's trace is left, from 0 to below 1.
    random_state : int, RandomState instance or None, default=None
        For the pivots of "random" and "gain", for "medoid", and for the median of more than 1000 rows.
        With an int every fit gives the same result; with None, which stands for numpy's global
        generator, they may differ.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    n_components_ : int
        Number of coordinates.
    pivots_ : ndarray of shape (n_components_,)
        Places of the training rows that carry the basis, in the order in which they were chosen.
    residual_norms_ : ndarray of shape (n_components_,)
        Length that was left of each pivot when it was chosen.
    reconstruction_cost_ : float
        Mean distance of the training rows from the span of the basis, in kernel space.
    explained_ : float
        Share of the kernel's trace that the basis explains, from 0 to 1.
    kernel_ : Kernel
        The kernel with its width.
    gamma_ : float
        The width, where `kernel_` has one.
    bound_ : float
        What the stopping rule guarantees: `reconstruction_cost_` is at most this.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether the result is the one that the method defines.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    KernelGramSchmidt : Takes the rows in their order.
    KernelPCA : The best basis for a number of components, at the price of a square matrix.
    kernsift.gamma_for_n_components : Find `gamma` for a number of components.

    References
    ----------
    .. [1] Xu and others, "TAKES: a fast method to select features in the kernel space", CIKM 2010.
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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBasis._parameter_constraints,
        "threshold": [StrOptions({"linear"}), Interval(Real, 0, None, closed="neither"), callable, None],
        "pivoting": [StrOptions({"greedy", "random", "gain"})],
        "first_pivot": [StrOptions({"first", "medoid"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return kobl_form(self.threshold, self.pivoting, self.first_pivot, self.tol)

    def _threshold_function(self) -> Any:
        return self.threshold if callable(self.threshold) else None


class KernelGramSchmidt(BaseBasis):
    """Gram-Schmidt in kernel space, the rows in the order they come.

    Every row that does not depend on earlier ones adds a component, unless a number is asked for. The
    cost is that of :class:`KOBL` at the same number of components, which without a limit is that of all
    independent rows.

    Parameters
    ----------
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
    n_components : int, default=None
        Components at most. None is as many as there are.
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
    n_components_ : int
        Number of coordinates.
    pivots_ : ndarray of shape (n_components_,)
        Places of the training rows that carry the basis.
    residual_norms_ : ndarray of shape (n_components_,)
        Length that was left of each pivot when it was chosen.
    reconstruction_cost_ : float
        Mean distance of the training rows from the span of the basis, in kernel space.
    explained_ : float
        Share of the kernel's trace that the basis explains, from 0 to 1.
    kernel_ : Kernel
        The kernel with its width.
    gamma_ : float
        The width, where `kernel_` has one.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether the result is the one that the method defines.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    KOBL : Chooses the rows, and when to stop.

    References
    ----------
    .. [1] Cao, Shen, Sun, Yang and Chen, "Feature selection in a kernel space", ICML 2007.

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
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KernelPCA(BaseBasis):
    """Kernel principal components: the directions along which the rows spread most.

    Without centring it leaves the smallest squared length over that any basis of as many components can.
    It holds a square matrix of all rows (five of them while it works), and needs n_samples^3 operations.

    Signs are fixed: the coefficient of largest size is positive in every component.

    Parameters
    ----------
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
    n_components : int, default=None
        Components. None is all that are not rounding; where fewer than asked for are not, it warns.
    center : bool, default=True
        Count coordinates from the mean of the training rows.
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
    n_components_ : int
        Number of coordinates.
    pivots_ : ndarray of shape (n_samples,)
        Places of the training rows that carry the basis: all of them.
    residual_norms_ : ndarray of shape (n_components_,)
        Length that was left over before each component was added, root mean square.
    reconstruction_cost_ : float
        Mean distance of the training rows from the span of the basis, in kernel space.
    explained_ : float
        Share of the kernel's trace that the basis explains, from 0 to 1.
    kernel_ : Kernel
        The kernel with its width.
    gamma_ : float
        The width, where `kernel_` has one.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether the result is the one that the method defines.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBasis._parameter_constraints,
        "center": ["boolean"],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "median",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int | None = None,
        center: bool = True,
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return {"center": bool(self.center)}

    def _least_rows(self) -> int:
        # A single row is its own mean: nothing is left of it.
        return 2 if self.center else super()._least_rows()


class KernelDiscriminant(BaseBasis):
    """Kernel discriminants: the directions of kernel space that keep classes apart.

    There are at most as many as classes less one. It holds a square matrix of all rows, and needs
    n_samples^3 operations.

    Parameters
    ----------
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
    n_components : int, default=None
        Components, at most the number of classes less one. None is that many.
    criterion : {"kda", "gda"}, default="kda"
        "kda" puts the spread between class means over the spread within classes; "gda" over the total
        spread, after centring.
    ridge : float, default=1e-3
        Guard against fitting every row, above 0 and below 1. "kda": added to the spread within classes,
        as a share of its mean diagonal. "gda": directions with less than this share of the largest
        eigenvalue are dropped.
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
    n_components_ : int
        Number of coordinates.
    pivots_ : ndarray of shape (n_samples,)
        Places of the training rows that carry the basis: all of them.
    residual_norms_ : ndarray of shape (n_components_,)
        Length that was left over before each component was added, root mean square.
    reconstruction_cost_ : float
        Mean distance of the training rows from the span of the basis, in kernel space.
    explained_ : float
        Share of the kernel's trace that the basis explains, from 0 to 1.
    kernel_ : Kernel
        The kernel with its width.
    gamma_ : float
        The width, where `kernel_` has one.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether the result is the one that the method defines.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    KernelPCA : Directions of large spread, whatever the classes.

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
    _needs_classes = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBasis._parameter_constraints,
        "criterion": [StrOptions({"kda", "gda"})],
        "ridge": [Interval(Real, 0, 1, closed="neither")],
    }

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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return {"criterion": self.criterion, "ridge": float(self.ridge)}


def kobl_form(threshold: Any, pivoting: str, first_pivot: str, tol: float) -> dict[str, Any]:
    """KOBL's own parameters, as the core spells them. A callable threshold crosses apart."""
    if threshold is None:
        form: Any = "none"
    elif isinstance(threshold, Real):
        form = {"power": float(threshold)}
    else:
        form = "linear"
    return {"threshold": form, "pivoting": pivoting, "first_pivot": first_pivot, "tol": float(tol)}
