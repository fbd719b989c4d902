"""Dependence between variables: HSIC, and the selectors that rest on it."""

from __future__ import annotations

import json
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from kernsift import _native
from kernsift._base import (
    KERNEL_CONSTRAINTS,
    RUN_CONSTRAINTS,
    TARGET_KERNELS,
    BaseTargetSelector,
)
from kernsift._crossing import NativeRows, Target, checked_array, native_rows, native_target, settings
from kernsift._sklearn import Interval, RealNotInt, StrOptions, validate_params
from kernsift.kernels import Kernel, choice_form

__all__ = ["BAHSIC", "FOHSIC", "HSICLasso", "HSICResult", "hsic"]

ROWS = ["array-like", "sparse matrix"]


class HSICResult(NamedTuple):
    """What :func:`hsic` answers when shuffles are asked for.

    Examples
    --------
    >>> from kernsift import hsic, make_synthetic
    >>> X, y, relevant = make_synthetic("xor", n_samples=200, n_features=5, random_state=0)
    >>> result = hsic(X[:, relevant], y, n_permutations=99, random_state=0)
    >>> result.p_value
    0.01
    >>> value, p_value = result
    """

    #: The estimate.
    value: float
    #: The share of shuffles that reach it, itself counted as one.
    p_value: float


@validate_params(
    {
        "X": ROWS,
        "Y": ROWS,
        **KERNEL_CONSTRAINTS,
        "y_kernel": [StrOptions(TARGET_KERNELS | {"rbf", "poly", "laplacian"}), Kernel],
        "y_gamma": KERNEL_CONSTRAINTS["gamma"],
        "target_type": [StrOptions({"auto", "class", "number"})],
        "estimator": [StrOptions({"biased", "unbiased", "normalized"})],
        "n_permutations": [Interval(Integral, 0, None, closed="left")],
        **RUN_CONSTRAINTS,
    },
    prefer_skip_nested_validation=True,
)
def hsic(
    X: Any,
    Y: Any,
    *,
    kernel: Any = "rbf",
    gamma: Any = "median",
    degree: int = 3,
    coef0: float = 1.0,
    y_kernel: Any = "auto",
    y_gamma: Any = "median",
    target_type: str = "auto",
    estimator: str = "biased",
    n_permutations: int = 0,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> float | HSICResult:
    """Measure how much two sets of variables depend on each other.

    The Hilbert-Schmidt independence criterion compares the kernel matrices K and L of both sets of variables
    over the same rows: ``trace(K @ H @ L @ H) / n**2`` with ``H = I - 1 / n``. With kernels such as "rbf" it
    is zero only where they are independent, up to what chance leaves. No matrix is kept unless shuffles are
    asked for, then both are.

    Columns are taken as they are; scale them first if they should count alike.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_features)
        The first set of variables.
    Y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_outputs)
        The second: a target of classes or numbers, or several columns.
    kernel : {"rbf", "linear", "poly", "laplacian"} or Kernel, default="rbf"
        The kernel of `X`, by name or as an object of :mod:`kernsift.kernels`.
    gamma : {"median", "scale"} or float, default="median"
        Width of the named kernels "rbf", "poly" and "laplacian" of `X`.
    degree : int, default=3
        Degree of "poly", of either side.
    coef0 : float, default=1.0
        Constant of "poly", of either side.
    y_kernel : str or Kernel, default="auto"
        The kernel of `Y`. Several columns take what `kernel` takes, and "auto" is "rbf". A single dimension
        takes the kernels of a target: "class-balanced" (one over the size of a class between its rows, else
        0), "delta" (1 between rows of a class), "linear" (the product of two numbers, or of the signs of two
        classes), "gaussian" (numbers that are near, by the median of their differences), and "auto" is
        "class-balanced" for classes and "gaussian" for numbers. It also takes the other names and objects,
        and is then one column.
    y_gamma : {"median", "scale"} or float, default="median"
        Width of the named kernels "rbf", "poly" and "laplacian" of `Y`.
    target_type : {"auto", "class", "number"}, default="auto"
        What a single dimension of `Y` holds under a target's kernel. "auto" takes what is not whole for
        numbers, and anything else for classes.
    estimator : {"biased", "unbiased", "normalized"}, default="biased"
        The formula above, which is never negative and of size ``1 / n`` for independent variables; the
        estimate without the diagonals, which is zero for them on average; or the biased one over the root of
        ``hsic(X, X) * hsic(Y, Y)``, from 0 to 1 (centred kernel alignment).
    n_permutations : int, default=0
        Shuffles of the rows of `Y` for a p-value, which needs 16 * n_samples^2 bytes. 0 is none.
    random_state : int, RandomState instance or None, default=None
        For the shuffles, and for the rows that medians are taken over.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        The result does not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second.

    Returns
    -------
    value : float or HSICResult
        The estimate. With `n_permutations` a named tuple ``(value, p_value)``, with the share of shuffles
        that reach the value, itself counted as one.

    See Also
    --------
    HSICLasso : Columns with a dependence of their own.
    kernsift.HSFS : The columns of the projection that the target depends on most.

    References
    ----------
    .. [1] Gretton, Bousquet, Smola and Schoelkopf, "Measuring statistical dependence with Hilbert-Schmidt
       norms", 2005.
    .. [2] Song, Smola, Gretton, Bedo and Borgwardt, "Feature selection via dependence maximization", 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsift import hsic
    >>> x = np.linspace(-1, 1, 101)
    >>> round(float(np.corrcoef(x, x**2)[0, 1]), 3)  # a line sees nothing
    0.0
    >>> hsic(x, x**2, n_permutations=99, random_state=0).p_value
    0.01
    """
    x = _rows(X, "X")
    y, y_choice = _second(Y, y_kernel, y_gamma, degree, coef0, target_type)
    value, p_value = _native.hsic(
        x,
        json.dumps(choice_form(kernel, gamma, degree, coef0)),
        y,
        y_choice,
        json.dumps({"estimator": estimator, "permutations": int(n_permutations)}),
        settings(random_state, n_jobs, verbose),
    )
    return value if p_value is None else HSICResult(value, p_value)


def _rows(X: Any, name: str) -> NativeRows:
    """Rows that have been checked; a single dimension is one column."""
    if not sparse.issparse(X) and np.ndim(X) == 1:
        X = np.asarray(X).reshape(-1, 1)
    return native_rows(checked_array(X, name, ensure_min_samples=2))


def _second(
    Y: Any, kernel: Any, gamma: Any, degree: int, coef0: float, target_type: str
) -> tuple[NativeRows | Target, str]:
    """The second set of variables, and its kernel as the core spells it."""
    target = isinstance(kernel, str) and kernel in TARGET_KERNELS
    if target and not sparse.issparse(Y) and np.ndim(Y) == 1:
        return native_target(Y, target_type, "Y"), json.dumps(kernel)
    if target and kernel not in ("auto", "linear"):
        raise ValueError(f"y_kernel={kernel!r} is for a Y of one dimension; Y has several columns.")
    kernel = "rbf" if isinstance(kernel, str) and kernel == "auto" else kernel
    return _rows(Y, "Y"), json.dumps(choice_form(kernel, gamma, degree, coef0))


class FOHSIC(BaseTargetSelector):
    """FOHSIC: columns join one by one, each the one with which the target depends most on all that joined.

    Dependence is HSIC (see :func:`hsic`) with one Gaussian kernel over all columns of the set, ``exp(-||x -
    x'||^2 / (2 * size of the set))``. It sees columns that matter only together once one of them is in, but
    meets a pair of which neither tells anything alone, an XOR, by chance only; :class:`BAHSIC` starts from
    all columns and can see it.

    Each step takes n_samples^2 / 2 exponentials per column. Sparse matrices are used as they are.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: until the next column would not make the normalised HSIC larger.
    gamma : float or None, default=None
        The kernel is ``exp(-gamma * ||x - x'||^2)`` for sets of any size; None is one over twice the number
        of columns in the set.
    target_kernel : {"auto", "class-balanced", "delta", "linear", "gaussian"}, default="auto"
        How alike two rows are by the target; see `y_kernel` of :func:`hsic`.
    estimator : {"biased", "unbiased"}, default="biased"
        Which estimate of HSIC.
    target_type : {"auto", "class", "number"}, default="auto"
        What y holds. "auto" takes what is not whole for numbers, and anything else for classes.
    standardize : bool, default=True
        Scale columns to variance 1 first. The kernel adds up differences of columns, so they should be on one
        scale.
    random_state : int, RandomState instance or None, default=None
        For the rows that the median of a target of numbers is taken over; nothing else is drawn.
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
        What each column added to the normalised HSIC when it joined; 0 if nothing.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns in the order in which they joined, the others by what HSIC would have become with them.
    path_ : :class:`~sklearn.utils.Bunch`
        Each step. Arrays: ``strength`` and ``n_features`` (columns in the set), ``objective`` (minus HSIC),
        ``optimality`` (0) and ``n_iter`` (1). Lists: ``features`` (the set), ``weights`` (what each added),
        ``stop``.
    classes_ : ndarray of shape (n_classes,)
        The classes, if there are some.
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
    BAHSIC : Columns leave instead.
    kernsift.HSFS : Columns with weights, all at once.

    References
    ----------
    .. [1] Song, Smola, Gretton, Bedo and Borgwardt, "Feature selection via dependence maximization", 2012.

    Examples
    --------
    >>> from kernsift import FOHSIC
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("ring", n_samples=200, n_features=10, random_state=0)
    >>> selector = FOHSIC(2).fit(X, y)
    >>> selector.get_support(indices=True).tolist() == sorted(relevant.tolist())
    True
    """

    _method = "fohsic"
    _has_path = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTargetSelector._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "target_kernel": [StrOptions(TARGET_KERNELS)],
        "estimator": [StrOptions({"biased", "unbiased"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        gamma: float | None = None,
        target_kernel: str = "auto",
        estimator: str = "biased",
        target_type: str = "auto",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.gamma = gamma
        self.target_kernel = target_kernel
        self.estimator = estimator
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return {
            "gamma": None if self.gamma is None else float(self.gamma),
            "target_kernel": self.target_kernel,
            "estimator": self.estimator,
        }


class BAHSIC(BaseTargetSelector):
    """BAHSIC: from all columns those leave without which the target depends most on the others.

    Dependence is HSIC (see :func:`hsic`) with one Gaussian kernel over all columns that are left, ``exp(-||x
    - x'||^2 / (2 * number left))``. Since all columns are seen at once, columns that tell something only
    together are seen too, as far as the others do not drown them: with an XOR and a ring among 100 columns
    and 1000 rows all four are mostly found, with 5000 columns or 200 rows they are not.

    A round takes n_samples^2 / 2 exponentials per column, or with `form="fast"` two matrix products; with a
    step of a tenth all rounds together take some ten times the first. Sparse matrices are used as they are.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: the set with the largest normalised HSIC on the way.
    form : {"exact", "fast"}, default="exact"
        Whether columns are judged by HSIC without each of them, as published, or by its derivative by their
        weights.
    step : float, default=0.1
        The share of columns that leaves in a round, above 0 and below 1; at least one leaves.
    gamma : float or None, default=None
        The kernel is ``exp(-gamma * ||x - x'||^2)`` for sets of any size; None is one over twice the number
        of columns in the set.
    target_kernel : {"auto", "class-balanced", "delta", "linear", "gaussian"}, default="auto"
        How alike two rows are by the target; see `y_kernel` of :func:`hsic`.
    estimator : {"biased", "unbiased"}, default="biased"
        Which estimate of HSIC.
    target_type : {"auto", "class", "number"}, default="auto"
        What y holds. "auto" takes what is not whole for numbers, and anything else for classes.
    standardize : bool, default=True
        Scale columns to variance 1 first. The kernel adds up differences of columns, so they should be on one
        scale.
    random_state : int, RandomState instance or None, default=None
        For the rows that the median of a target of numbers is taken over; nothing else is drawn.
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
        Rounds that each column stayed for; 0 for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns, the last to leave first.
    path_ : :class:`~sklearn.utils.Bunch`
        Each round, from all columns to one. Arrays: ``strength`` and ``n_features`` (columns left),
        ``objective`` (minus HSIC), ``optimality`` (0) and ``n_iter`` (1). Lists: ``features`` (the set, best
        first), ``weights`` (what each is worth to it), ``stop``.
    classes_ : ndarray of shape (n_classes,)
        The classes, if there are some.
    n_iter_ : int
        Rounds.
    converged_ : bool
        Always True.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    FOHSIC : Columns join instead.
    kernsift.SVMRFE : Columns leave by a support vector machine.

    References
    ----------
    .. [1] Song, Smola, Gretton, Bedo and Borgwardt, "Feature selection via dependence maximization", 2012.

    Examples
    --------
    >>> from kernsift import BAHSIC
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("xor", n_samples=300, n_features=10, random_state=0)
    >>> selector = BAHSIC(2).fit(X, y)
    >>> selector.get_support(indices=True).tolist() == sorted(relevant.tolist())
    True
    """

    _method = "bahsic"
    _has_path = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTargetSelector._parameter_constraints,
        "form": [StrOptions({"exact", "fast"})],
        "step": [Interval(RealNotInt, 0, 1, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "target_kernel": [StrOptions(TARGET_KERNELS)],
        "estimator": [StrOptions({"biased", "unbiased"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        form: str = "exact",
        step: float = 0.1,
        gamma: float | None = None,
        target_kernel: str = "auto",
        estimator: str = "biased",
        target_type: str = "auto",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.form = form
        self.step = step
        self.gamma = gamma
        self.target_kernel = target_kernel
        self.estimator = estimator
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "step": float(self.step),
            "gamma": None if self.gamma is None else float(self.gamma),
            "target_kernel": self.target_kernel,
            "estimator": self.estimator,
        }


class HSICLasso(BaseTargetSelector):
    """HSIC Lasso: columns with any dependence that is not told by others already.

    The centred kernel matrix of the target is fitted by a sum of those of single columns with weights that
    are not negative and have a price, which is convex. It sees any shape of dependence of the target on
    single columns, and leaves out copies, but it does not see columns that tell something only together, such
    as an XOR; for these there are :class:`kernsift.HSFS` and :class:`BAHSIC`.

    Every column has a Gaussian kernel of its own width, so the scale of columns plays no part. Kernel
    matrices are products of thin factors: n_samples operations per column, and as many for each pair of a
    column that joins and one that comes near. The picks are those of pyHSICLasso.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many columns to keep: a number, a share of all (above 0 and up to 1, at least one column), or
        None for the method's own rule: down to about the penalty that the best column would reach if none had
        anything to do with the target. A smaller number need not keep the first of a larger one's.
    block_size : int or None, default=None
        Rows of a block: kernel matrices are those of blocks of shuffled rows, and their products are
        averaged. None is one block of all rows, which is exact.
    permutations : int, default=3
        How often rows are shuffled into blocks; not used without `block_size`.
    target_kernel : {"auto", "class-balanced", "delta", "linear", "gaussian"}, default="auto"
        How alike two rows are by the target; see `y_kernel` of :func:`hsic`. "gaussian" has the standard
        deviation of the target as width here.
    target_type : {"auto", "class", "number"}, default="auto"
        What y holds. "auto" takes what is not whole for numbers, and anything else for classes.
    standardize : bool, default=True
        Without effect, as no scale matters to this method. Here for all selectors to be alike.
    random_state : int, RandomState instance or None, default=None
        For the shuffles into blocks; without them nothing is drawn.
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
        Weight of each column; 0 for those without.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    order_ : ndarray of shape (n_features_in_,)
        Columns by weight; those without by how much of the target's dependence on them is left.
    coef_ : ndarray of shape (n_features_in_, 1)
        The weights.
    path_ : :class:`~sklearn.utils.Bunch`
        Each place where a column joins or leaves, with falling penalties. Arrays: ``strength`` (the penalty),
        ``objective``, ``optimality`` (violation of the first-order conditions), ``n_iter`` (1),
        ``n_features``. Lists: ``features`` (columns with a weight, largest first), ``weights``, ``stop``.
    classes_ : ndarray of shape (n_classes,)
        The classes, if there are some.
    n_iter_ : int
        Places of the path.
    converged_ : bool
        Whether the path came to its end.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    kernsift.MutualInformation : Any dependence, one column at a time.
    kernsift.HSFS : Columns that the target depends on together.

    References
    ----------
    .. [1] Yamada, Jitkrittum, Sigal, Xing and Sugiyama, "High-dimensional feature selection by feature-wise
       kernelized lasso", 2014.
    .. [2] Climente-Gonzalez, Azencott, Kaski and Yamada, "Block HSIC Lasso", 2019.

    Examples
    --------
    >>> from kernsift import HSICLasso
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("ring", n_samples=200, n_features=50, random_state=0)
    >>> selector = HSICLasso(2).fit(X, y)
    >>> selector.get_support(indices=True).tolist() == sorted(relevant.tolist())
    True
    """

    _method = "hsic-lasso"
    _has_path = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTargetSelector._parameter_constraints,
        "block_size": [Interval(Integral, 2, None, closed="left"), None],
        "permutations": [Interval(Integral, 1, None, closed="left")],
        "target_kernel": [StrOptions(TARGET_KERNELS)],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        block_size: int | None = None,
        permutations: int = 3,
        target_kernel: str = "auto",
        target_type: str = "auto",
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.block_size = block_size
        self.permutations = permutations
        self.target_kernel = target_kernel
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _own_parameters(self) -> dict[str, Any]:
        return {
            "block_size": None if self.block_size is None else int(self.block_size),
            "permutations": int(self.permutations),
            "target_kernel": self.target_kernel,
        }
