"""Dependence between variables: HSIC, and the selectors based on it."""

from __future__ import annotations

import json
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from kernsift import _native
from kernsift._base import KERNEL_CONSTRAINTS, RUN_CONSTRAINTS, SHARED_CONSTRAINTS
from kernsift._native_data import (
    NativeRows,
    Target,
    checked_array,
    native_rows,
    native_target,
    settings,
    to_json,
)
from kernsift._parameters import choices, constraints, core_docs, documented
from kernsift._selector import BaseTargetSelector, WeightedTargetSelector
from kernsift._sklearn import Interval, StrOptions, validate_params
from kernsift.kernels import Kernel, choice_form

__all__ = ["BAHSIC", "FOHSIC", "HSICLasso", "HSICResult", "hsic"]

ROWS = ["array-like", "sparse matrix"]
#: Kernels of the target.
TARGET_KERNELS = choices("hsfs", "target_kernel")


class HSICResult(NamedTuple):
    """Result of :func:`hsic` with permutations.

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
    #: Fraction of permutations with at least this value; the data themselves count as one.
    p_value: float


@validate_params(
    {
        "X": ROWS,
        "Y": ROWS,
        **KERNEL_CONSTRAINTS,
        "y_kernel": [StrOptions(TARGET_KERNELS | {"rbf", "poly", "laplacian"}), Kernel],
        "y_gamma": KERNEL_CONSTRAINTS["gamma"],
        "target_type": SHARED_CONSTRAINTS["target_type"],
        **constraints("fohsic", "estimator"),
        "n_permutations": [Interval(Integral, 0, None, closed="left")],
        **RUN_CONSTRAINTS,
    },
    prefer_skip_nested_validation=True,
)
@documented(core_docs("kobl"))
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
    """Measure the dependence between two sets of variables.

    The Hilbert-Schmidt independence criterion compares the kernel matrices K and L of both sets of variables
    over the same samples: ``trace(K @ H @ L @ H) / n**2`` with ``H = I - 1 / n``. With kernels such as "rbf"
    the population value is zero only for independent variables. The matrices are stored only if permutations
    are requested.

    Variables are not scaled; standardize them first if they should have equal weight.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_features)
        The first set of variables.
    Y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_outputs)
        The second: class labels, a continuous target, or several variables.
    {kernel}
        It is the kernel of `X`.
    {gamma}
    {degree}
    {coef0}
    y_kernel : str or Kernel, default="auto"
        The kernel of `Y`, by name or as an object. For a two-dimensional `Y`, the names are those of
        `kernel`, and "auto" is "rbf". For a one-dimensional `Y` there are also the kernels of a target:
        "class-balanced" (one over the size of the class for samples of one class, else 0), "delta" (1 for
        samples of one class), "linear" (the product of two values, or of the signs of two classes) and
        "gaussian" (with the median difference as bandwidth); "auto" is "class-balanced" for class labels and
        "gaussian" for a continuous target.
    y_gamma : {"median", "scale"} or float, default="median"
        As `gamma`, for the kernel of `Y`.
    {target_type}
        It matters only for a one-dimensional `Y` with a kernel of a target.
    estimator : {"biased", "unbiased", "normalized"}, default="biased"
        "biased" is the formula above, which is never negative and of size ``1 / n`` for independent
        variables. "unbiased" leaves out the diagonals; its expectation is zero for independent variables.
        "normalized" divides the biased estimate by the square root of ``hsic(X, X) * hsic(Y, Y)`` (centered
        kernel alignment, from 0 to 1).
    n_permutations : int, default=0
        Number of permutations of `Y` for a p-value, which needs 16 * n_samples^2 bytes. 0 computes none.
    {random_state}
    {n_jobs}
    {verbose}

    Returns
    -------
    value : float or HSICResult
        The estimate; with `n_permutations`, a named tuple ``(value, p_value)``.

    See Also
    --------
    HSICLasso : Features that depend on the target one at a time.
    kernsift.HSFS : Features of the projection on which the target depends most.

    References
    ----------
    .. [1] Gretton, Bousquet, Smola and Schoelkopf, "Measuring statistical dependence with Hilbert-Schmidt
       norms", 2005.
    .. [2] {Song2012}

    Examples
    --------
    >>> import numpy as np
    >>> from kernsift import hsic
    >>> x = np.linspace(-1, 1, 101)
    >>> round(float(np.corrcoef(x, x**2)[0, 1]), 3)  # no linear dependence
    0.0
    >>> hsic(x, x**2, n_permutations=99, random_state=0).p_value
    0.01
    """
    x = _rows(X, "X")
    y, y_choice = _y_variables(Y, y_kernel, y_gamma, degree, coef0, target_type)
    value, p_value = _native.hsic(
        x,
        to_json(choice_form(kernel, gamma, degree, coef0)),
        y,
        y_choice,
        to_json({"estimator": estimator, "permutations": int(n_permutations)}),
        settings(random_state, n_jobs, verbose),
    )
    return value if p_value is None else HSICResult(value, p_value)


def _rows(X: Any, name: str) -> NativeRows:
    """Validated samples; a one-dimensional array is one variable."""
    if not sparse.issparse(X) and np.ndim(X) == 1:
        X = np.asarray(X).reshape(-1, 1)
    return native_rows(checked_array(X, name, ensure_min_samples=2))


def _y_variables(
    Y: Any, kernel: Any, gamma: Any, degree: int, coef0: float, target_type: str
) -> tuple[NativeRows | Target, str]:
    """The second set of variables, and its kernel in the core's serialized form."""
    target = isinstance(kernel, str) and kernel in TARGET_KERNELS
    if target and not sparse.issparse(Y) and np.ndim(Y) == 1:
        return native_target(Y, target_type, "Y"), json.dumps(kernel)
    if target and kernel not in ("auto", "linear"):
        raise ValueError(f"y_kernel={kernel!r} needs a one-dimensional Y; Y has several columns.")
    kernel = "rbf" if isinstance(kernel, str) and kernel == "auto" else kernel
    return _rows(Y, "Y"), to_json(choice_form(kernel, gamma, degree, coef0))


class FOHSIC(WeightedTargetSelector):
    """FOHSIC: forward selection by HSIC.

    Each step adds the feature that maximizes the dependence (HSIC, see :func:`hsic`) between the selected
    features and the target, with one Gaussian kernel over all selected features, ``exp(-||x - x'||^2 / (2 *
    number selected))``. It finds features that matter only jointly once one of them is selected, but an XOR
    of two features without effects of their own only by chance; :class:`BAHSIC` starts from all features
    and can find it.

    Each step takes n_samples^2 / 2 exponentials per feature. Sparse matrices stay sparse.

    {parameters and attributes}

    See Also
    --------
    BAHSIC : Backward elimination.
    kernsift.HSFS : Weights of all features at once.

    References
    ----------
    .. [1] {Song2012}

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
    _supports_outputs: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [StrOptions({"biased", "unbiased"})]
    }
    _fitted: ClassVar[tuple[str, ...]] = (*BaseTargetSelector._fitted, "path_", "classes_", "n_samples_used_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": "None adds features until the normalized HSIC no longer increases.",
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        gamma: float | None = None,
        target_kernel: str = "auto",
        estimator: str = "biased",
        exact: bool = False,
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
        self.exact = exact
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class BAHSIC(WeightedTargetSelector):
    """BAHSIC: backward elimination by HSIC.

    Each round removes the features without which the dependence (HSIC, see :func:`hsic`) of the target on
    the others stays largest, with one Gaussian kernel over all remaining features, ``exp(-||x - x'||^2 / (2
    * number remaining))``. As it starts from all features, it finds features that matter only jointly
    unless they are masked by noise: with an XOR and a ring among 100 features and 1000 samples all four are
    mostly found, with 5000 features or 200 samples they are not.

    A round takes n_samples^2 / 2 exponentials per feature, or two matrix products with `form="fast"`; with
    a step of 0.1 all rounds together cost about ten times the first. Sparse matrices stay sparse.

    {parameters and attributes}

    See Also
    --------
    FOHSIC : Forward selection.
    kernsift.SVMRFE : Recursive feature elimination by an SVM.

    References
    ----------
    .. [1] {Song2012}

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
    _supports_outputs: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [StrOptions({"biased", "unbiased"})]
    }
    _fitted: ClassVar[tuple[str, ...]] = (*BaseTargetSelector._fitted, "path_", "classes_", "n_samples_used_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": "None selects the set with the largest normalized HSIC along the path.",
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
        exact: bool = False,
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
        self.exact = exact
        self.target_type = target_type
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class HSICLasso(WeightedTargetSelector):
    """HSIC Lasso: features with any dependence on the target that others do not already explain.

    The centered kernel matrix of the target is fitted by a nonnegative, l1-penalized combination of the
    kernel matrices of single features; the problem is convex. It finds nonlinear effects of single features
    and drops redundant ones, but not features that predict the target only jointly, such as an XOR; for
    these use :class:`kernsift.HSFS` or :class:`BAHSIC`.

    Every feature has a Gaussian kernel with its own bandwidth, so that the result does not depend on the
    scale of features. Kernel matrices are products of thin factors: n_samples operations per feature, and
    as many for each pair of a selected feature and a candidate. The selected features are those of
    pyHSICLasso.

    {parameters and attributes}

    See Also
    --------
    kernsift.MutualInformation : Scores one feature at a time.
    kernsift.HSFS : Features on which the target depends jointly.

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
    _supports_outputs: ClassVar[bool] = True
    _fitted: ClassVar[tuple[str, ...]] = (*BaseTargetSelector._fitted, "coef_", "path_", "classes_")
    _parameter_notes: ClassVar[dict[str, str]] = {
        "n_features_to_select": (
            "None follows the path to about the penalty that the best feature would reach if the target were "
            "independent of all features. Selections are not nested."
        ),
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
