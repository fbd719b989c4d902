"""Support vector machines: classifiers that judge features."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._base import RUN_CONSTRAINTS, Estimator, labelled_rows, store_kernel, warn_unless_converged
from kernsift._crossing import FloatArray, Settings, checked_rows, native_rows, settings, to_json
from kernsift._html import Summary
from kernsift._progress import told
from kernsift._sklearn import Interval, LinearClassifierMixin, StrOptions, _fit_context
from kernsift.kernels import Kernel, choice_form

__all__ = ["SVC", "SVCCV", "LinearSVC"]

#: Parameters of every machine with a kernel.
MACHINE_CONSTRAINTS: dict[str, list[Any]] = {
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "shrinking": ["boolean"],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    "decision_function_shape": [StrOptions({"ovr", "ovo"})],
}


class _BaseMachine(ClassifierMixin, Estimator):
    """What machines with a kernel share: predicting, and what they show."""

    kernel: Any
    degree: int
    coef0: float
    shrinking: bool
    tol: float
    class_weight: Any
    max_iter: int | None
    decision_function_shape: str
    random_state: Any
    n_jobs: int | None
    verbose: int

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes: the one that wins most pairs, of equals the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` their kernel with all training rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        x = self._checked(X)
        predicted: npt.NDArray[Any] = self.classes_[self._machine.predict(native_rows(x), self._settings())]
        return predicted

    def decision_function(self, X: Any) -> FloatArray:
        """Measure on which side of the border rows lie, and how far.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` their kernel with all training rows.

        Returns
        -------
        values : ndarray
            Two classes: of shape (n_samples,), above zero for the second. More, "ovr": of shape (n_samples,
            n_classes), votes plus a part below a third that decides between equals. "ovo": a column per pair
            of classes, above zero for the first of the pair.
        """
        x = self._checked(X)
        if len(self.classes_) == 2:
            return self._machine.class_scores(native_rows(x), self._settings())[:, 0]
        if self.decision_function_shape == "ovo":
            return self._machine.decision_values(native_rows(x), self._settings())
        return self._machine.class_scores(native_rows(x), self._settings())

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return checked_rows(self, X, accept_sparse=self._accepts(), reset=False)

    def _summary(self) -> Summary:
        kernel = getattr(self, "kernel_", "precomputed")
        rows = int(self.n_support_.sum())
        return Summary([("classes", len(self.classes_)), ("kernel", kernel), ("support vectors", rows)])

    def _accepts(self) -> Any:
        return "csr"

    def _settings(self) -> Settings:
        """Settings of a run that draws nothing: a RandomState must not move on."""
        return settings(0, self.n_jobs, self.verbose)

    def _form(self, c: float, kernel: Any, y: npt.NDArray[Any]) -> dict[str, Any]:
        return {
            "kernel": kernel,
            "c": c,
            "class_weight": weight_form(self.class_weight, self.classes_, y),
            "tol": float(self.tol),
            "max_iter": 0 if self.max_iter is None else int(self.max_iter),
            "shrinking": bool(self.shrinking),
        }

    def _store(self, machine: _native.SvmMachine, X: Any, codes: npt.NDArray[np.int64]) -> None:
        self._machine = machine
        summary = machine.summary()
        # scikit-learn turns the sign around where there are two classes.
        sign = -1.0 if len(self.classes_) == 2 else 1.0
        self.support_: npt.NDArray[np.int64] = summary["support"]
        self.n_support_ = np.bincount(codes[self.support_], minlength=len(self.classes_))
        self.support_vectors_ = X[self.support_] if summary["kernel"] is not None else np.empty((0, 0))
        self.dual_coef_: FloatArray = sign * summary["coefficients"]
        self.intercept_: FloatArray = sign * summary["bias"]
        for name in ("coef_", "kernel_", "gamma_"):
            # Left by an earlier fit with another kernel.
            self.__dict__.pop(name, None)
        if summary["weights"] is not None:
            self.coef_: FloatArray = sign * summary["weights"]
        if summary["kernel"] is not None:
            store_kernel(self, Kernel.from_json(summary["kernel"]))
        self.n_iter_: npt.NDArray[np.int64] = summary["iterations"]
        self.converged_: bool = summary["converged"]
        warn_unless_converged(self, summary, stacklevel=5)


class SVC(_BaseMachine):
    """Support vector machine: the widest margin between classes in kernel space.

    The same problem as that of :class:`sklearn.svm.SVC`, and these of its parameters. What differs:
    `dual_coef_` has a row per pair of classes, rather than one fewer than classes; `support_` rises over
    all rows, rather than class by class; there is no ``gamma="auto"``, no "sigmoid" or callable kernel, no
    `probability` and no `sample_weight`; for the default limit of steps `max_iter` is None, not -1.

    More than two classes: a machine for every pair of them. Up to 4096 rows the Gram matrix is kept; with
    more, columns are computed when they are needed and up to 1 GiB of them is remembered.

    Parameters
    ----------
    C : float, default=1.0
        Price of a row that the margin does not clear.
    kernel : {"rbf", "linear", "poly", "laplacian", "precomputed"} or kernel object, default="rbf"
        The kernel. For "precomputed", `X` is the Gram matrix.
    degree : int, default=3
        Degree of "poly"; not used by others.
    gamma : {"scale", "median"} or float, default="scale"
        Width of "rbf", "poly" and "laplacian": one over the number of columns times the variance of all
        cells, the median rule, or a number.
    coef0 : float, default=0.0
        Constant of "poly"; not used by others.
    shrinking : bool, default=True
        Set rows aside that seem settled. Saves time only.
    tol : float, default=1e-3
        Violation of the optimality conditions that is let pass.
    class_weight : dict, "balanced" or None, default=None
        What `C` is multiplied by for each class: given, or by one over its share of the rows.
    max_iter : int or None, default=None
        Most steps of each machine; None is ten million, or a hundred per row if that is more. If a machine
        has not met `tol` by then, `converged_` is False, with a warning.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What :meth:`decision_function` gives for more than two classes.
    random_state : int, RandomState instance or None, default=None
        For the sample of rows of ``gamma="median"``; nothing else is drawn.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    support_ : ndarray of shape (n_SV,)
        Training rows that count, rising.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        What those rows were; empty for "precomputed".
    n_support_ : ndarray of shape (n_classes,)
        How many of each class.
    dual_coef_ : ndarray of shape (n_pairs, n_SV)
        Coefficients of the rows that count in the machine of each pair of classes.
    intercept_ : ndarray of shape (n_pairs,)
        Constants.
    coef_ : ndarray of shape (n_pairs, n_features)
        Weights of the columns, for the linear kernel.
    kernel_ : kernsift.Kernel
        The kernel that was used; not for "precomputed".
    gamma_ : float
        Its width, where it has one.
    n_iter_ : ndarray of shape (n_pairs,)
        Steps of each machine.
    converged_ : bool
        Whether all met `tol`.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    SVCCV : `C` and `gamma` by cross-validation.
    LinearSVC : Without a kernel, for many rows.

    References
    ----------
    .. [1] Cortes and Vapnik, "Support-vector networks", 1995.
    .. [2] Fan, Chen and Lin, "Working set selection using second order information", 2005.

    Examples
    --------
    >>> from kernsift import SVC
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.preprocessing import scale
    >>> wine = load_dataset("wine")
    >>> X = scale(wine.data)
    >>> print(f"{SVC().fit(X[::2], wine.target[::2]).score(X[1::2], wine.target[1::2]):.2f}")
    0.99
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"rbf", "linear", "poly", "laplacian", "precomputed"}), Kernel],
        "gamma": [StrOptions({"scale", "median"}), Interval(Real, 0, None, closed="neither")],
        **MACHINE_CONSTRAINTS,
        **RUN_CONSTRAINTS,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        class_weight: Any = None,
        max_iter: int | None = None,
        decision_function_shape: str = "ovr",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Train a machine for every pair of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; for ``kernel="precomputed"`` their Gram matrix.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        precomputed = self._is_precomputed()
        if precomputed and sparse.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        X, classes = labelled_rows(self, X, y)
        if precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        kernel = choice_form("linear" if precomputed else self.kernel, self.gamma, self.degree, self.coef0)
        with told(self, X):
            machine = _native.fit_svm(
                to_json(self._form(float(self.C), kernel, self.classes_[classes[0]])),
                native_rows(X),
                classes,
                precomputed,
                settings(self.random_state, self.n_jobs, self.verbose),
            )
        self._store(machine, X, classes[0])
        return self

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _accepts(self) -> Any:
        return False if self._is_precomputed() else "csr"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_precomputed()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags


class SVCCV(_BaseMachine):
    """Support vector machine whose price and width are found by cross-validation.

    For every width the Gram matrix is computed once and serves all folds, all pairs of classes and all
    prices, which rise and start each other. The pair with the fewest errors wins, of equals the smaller
    `C`, then the smaller `gamma`; the machine is then trained on all rows. Folds keep the shares of the
    classes.

    Parameters
    ----------
    C : array-like of float, default=(0.1, 1, 10, 100, 1000)
        Prices to try.
    gamma : {"scale", "median"}, float or list of these, default="scale"
        Widths to try.
    cv : int, default=5
        Number of folds.
    kernel : {"rbf", "linear", "poly", "laplacian"} or kernel object, default="rbf"
        The kernel. With "linear" and kernel objects `gamma` must be left as it is: it is refused.
    degree : int, default=3
        Degree of "poly"; not used by others.
    coef0 : float, default=0.0
        Constant of "poly"; not used by others.
    shrinking : bool, default=True
        Set rows aside that seem settled. Saves time only.
    tol : float, default=1e-3
        Violation of the optimality conditions that is let pass.
    class_weight : dict, "balanced" or None, default=None
        What `C` is multiplied by for each class: given, or by one over its share of the rows of a fold.
    max_iter : int or None, default=None
        Most steps of each machine; None is ten million, or a hundred per row if that is more. If a machine
        has not met `tol` by then, `converged_` is False, with a warning.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What :meth:`decision_function` gives for more than two classes.
    random_state : int, RandomState instance or None, default=None
        For dealing the folds. With an int every fit gives the same result.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    C_ : float
        The price that did best.
    gamma_ : float
        The width that did best, where the kernel has one.
    cv_errors_ : ndarray of shape (n_gamma, n_C)
        Share of rows that were classified wrongly while held out, by width and price.
    cv_fold_errors_ : ndarray of shape (n_gamma, n_C, cv)
        The same in each fold.
    cv_C_ : ndarray of shape (n_C,)
        The prices, rising.
    cv_gamma_ : ndarray of shape (n_gamma,)
        The widths, rising; NaN for kernels without one.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    support_ : ndarray of shape (n_SV,)
        Training rows that count, rising.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        What those rows were.
    n_support_ : ndarray of shape (n_classes,)
        How many of each class.
    dual_coef_ : ndarray of shape (n_pairs, n_SV)
        Coefficients of the rows that count in the machine of each pair of classes.
    intercept_ : ndarray of shape (n_pairs,)
        Constants.
    coef_ : ndarray of shape (n_pairs, n_features)
        Weights of the columns, for the linear kernel.
    kernel_ : kernsift.Kernel
        The kernel that did best.
    n_iter_ : ndarray of shape (n_pairs,)
        Steps of each machine of the last training.
    converged_ : bool
        Whether all of these met `tol`.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    SVC : With given price and width.

    References
    ----------
    .. [1] Hsu, Chang and Lin, "A practical guide to support vector classification", 2003.

    Examples
    --------
    >>> from kernsift import SVCCV
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.preprocessing import scale
    >>> wine = load_dataset("wine")
    >>> machine = SVCCV(gamma=[0.01, 0.1], random_state=0).fit(scale(wine.data), wine.target)
    >>> print(machine.cv_errors_.shape, bool(machine.cv_errors_.min() < 0.03))
    (2, 5) True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": ["array-like", Interval(Real, 0, None, closed="neither")],
        "gamma": ["array-like", StrOptions({"scale", "median"}), Interval(Real, 0, None, closed="neither")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "kernel": [StrOptions({"rbf", "linear", "poly", "laplacian"}), Kernel],
        **MACHINE_CONSTRAINTS,
        **RUN_CONSTRAINTS,
    }

    def __init__(
        self,
        C: Any = (0.1, 1.0, 10.0, 100.0, 1000.0),
        *,
        gamma: Any = "scale",
        cv: int = 5,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        class_weight: Any = None,
        max_iter: int | None = None,
        decision_function_shape: str = "ovr",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.cv = cv
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Search price and width, then train on all rows.

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
        X, classes = labelled_rows(self, X, y)
        if self.cv > X.shape[0]:
            raise ValueError(
                f"The 'cv' parameter of SVCCV must be at most the number of rows, n_samples={X.shape[0]}. "
                f"Got {self.cv} instead."
            )
        several, widths = self._widths()
        kernel = choice_form(self.kernel, "scale" if several else self.gamma, self.degree, self.coef0)
        search = {
            "svm": self._form(1.0, kernel, self.classes_[classes[0]]),
            "c": [float(c) for c in np.atleast_1d(self.C)],
            "gamma": [w if isinstance(w, str) else float(w) for w in widths],
            "folds": int(self.cv),
        }
        with told(self, X):
            machine, found = _native.search_svm(
                to_json(search),
                native_rows(X),
                classes,
                settings(self.random_state, self.n_jobs, self.verbose),
            )
        self._store(machine, X, classes[0])
        points = found["errors"]
        prices = sorted({p[1] for p in points})
        self.C_: float = found["c"]
        self.cv_C_: FloatArray = np.array(prices)
        self.cv_errors_: FloatArray = np.array([p[2] for p in points]).reshape(-1, len(prices))
        self.cv_fold_errors_: FloatArray = np.array([p[3] for p in points]).reshape(
            -1, len(prices), int(self.cv)
        )
        self.cv_gamma_: FloatArray = np.array([p[0] for p in points[:: len(prices)]], dtype=float)
        return self

    def _widths(self) -> tuple[bool, list[Any]]:
        """Whether several widths are asked for, and which; refuses what would be ignored."""
        gamma = self.gamma
        if isinstance(gamma, str | Real):
            if not (isinstance(gamma, str) and gamma == "scale"):
                self._need_width(gamma)
            return False, []
        self._need_width(gamma)
        widths = list(gamma) if np.ndim(gamma) == 1 else []
        for width in widths:
            if not (
                width in ("scale", "median")
                if isinstance(width, str)
                else isinstance(width, Real) and 0 < float(width) < np.inf
            ):
                raise ValueError(
                    "The 'gamma' parameter of SVCCV must hold 'scale', 'median' or positive numbers. "
                    f"Got {width!r} instead."
                )
        if not widths:
            raise ValueError(
                f"The 'gamma' parameter of SVCCV must hold at least one width. Got {gamma!r} instead."
            )
        return True, widths

    def _summary(self) -> Summary:
        found = [("price", self.C_), ("error of cross-validation", self.cv_errors_.min())]
        return Summary([*super()._summary().facts, *found])

    def _need_width(self, gamma: Any) -> None:
        if isinstance(self.kernel, Kernel) or self.kernel == "linear":
            raise ValueError(
                f"The 'gamma' parameter of SVCCV must be left as it is with kernel={self.kernel!r}, "
                f"which has no width to search. Got {gamma!r} instead."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearSVC(LinearClassifierMixin, Estimator):
    """Linear support vector machine, without a kernel.

    The same objective as that of :class:`sklearn.svm.LinearSVC`, and these of its parameters. There is no
    `dual` (each penalty has the one solver that suits it), no `intercept_scaling`, no `multi_class` and no
    `sample_weight`. Two classes: one machine; more: one per class against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Price of a row that the margin does not clear.
    penalty : {"l2", "l1"}, default="l2"
        What keeps weights small; "l1" leaves many exactly zero, and needs the squared hinge.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        What a row costs that the margin does not clear.
    fit_intercept : bool, default=True
        Whether there is a constant. It is part of the penalty, like the weight of a column of ones.
    class_weight : dict, "balanced" or None, default=None
        What `C` is multiplied by for each class: given, or by one over its share of the rows. With more
        than two classes it counts in the machine of that class only.
    tol : float, default=1e-4
        Violation of the optimality conditions that is let pass.
    max_iter : int, default=1000
        Most sweeps over rows ("l2") or columns ("l1").
    random_state : int, RandomState instance or None, default=None
        For the order in which rows or columns are visited.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        Results do not depend on it.
    verbose : int, default=0
        Above 0, progress is written to stderr once a second, and how long it took.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the columns.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constants.
    objective_ : ndarray of shape (1,) or (n_classes,)
        What each machine minimised: penalty plus losses.
    n_iter_ : int
        Sweeps of the machine that took most.
    converged_ : bool
        Whether all met `tol`.
    n_features_in_ : int
        Number of columns of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if they had names that are all strings.

    See Also
    --------
    SVC : With a kernel.
    L1SVM : Selects columns by the "l1" penalty.

    References
    ----------
    .. [1] Hsieh and others, "A dual coordinate descent method for large-scale linear SVM", 2008.
    .. [2] Yuan, Chang, Hsieh and Lin, "A comparison of optimization methods and software for large-scale
    L1-regularized
       linear classification", 2010.

    Examples
    --------
    >>> from kernsift import LinearSVC
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.preprocessing import scale
    >>> wdbc = load_dataset("wdbc")
    >>> machine = LinearSVC(C=0.1, penalty="l1", random_state=0).fit(scale(wdbc.data), wdbc.target)
    >>> print((machine.coef_ != 0).sum() < 30)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "fit_intercept": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        **RUN_CONSTRAINTS,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Train the machine.

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
        X, classes = labelled_rows(self, X, y)
        form = {
            "c": float(self.C),
            "penalty": self.penalty,
            "loss": self.loss.replace("_", "-"),
            "intercept": bool(self.fit_intercept),
            "class_weight": weight_form(self.class_weight, self.classes_, self.classes_[classes[0]]),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
        }
        with told(self, X):
            answer = _native.fit_linear_svm(
                to_json(form),
                native_rows(X),
                classes,
                settings(self.random_state, self.n_jobs, self.verbose),
            )
        self.coef_: FloatArray = answer["weights"]
        self.intercept_: FloatArray = answer["bias"]
        self.objective_: FloatArray = answer["objectives"]
        self.n_iter_: int = answer["iterations"]
        self.converged_: bool = answer["converged"]
        warn_unless_converged(self, answer)
        return self

    def _summary(self) -> Summary:
        used = int(np.count_nonzero(self.coef_.any(axis=0)))
        columns = f"{used} of {self.n_features_in_}"
        return Summary([("classes", len(self.classes_)), ("columns with a weight", columns)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def weight_form(class_weight: Any, classes: npt.NDArray[Any], y: npt.NDArray[Any]) -> Any:
    """The weights of classes, as the core spells them."""
    if class_weight is None:
        return "none"
    if isinstance(class_weight, str):
        return class_weight
    return {"given": compute_class_weight(class_weight, classes=classes, y=y).tolist()}
