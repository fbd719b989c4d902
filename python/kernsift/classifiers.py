"""Support vector machines, also used to evaluate selected features."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._base import KERNEL_CONSTRAINTS, Estimator, labeled_rows, store_kernel
from kernsift._html import Summary
from kernsift._native_data import FloatArray, NativeRows, checked_rows, native_rows, to_json
from kernsift._parameters import Docs, constraints, declared, native_value
from kernsift._progress import report_progress
from kernsift._sklearn import Interval, LinearClassifierMixin, StrOptions, _fit_context
from kernsift.kernels import Kernel, choice_form

__all__ = ["SVC", "SVCCV", "LinearSVC"]

#: Class weights of every SVM, which may also be given.
WEIGHT_CONSTRAINTS: dict[str, list[Any]] = {"class_weight": [StrOptions({"balanced"}), dict, None]}
WEIGHT_DOCS: Docs = {
    "class_weight": (
        'dict, "balanced" or None',
        'Factors of `C` by class; "balanced" is inversely proportional to the class frequencies.',
    ),
}


class _BaseSVC(ClassifierMixin, Estimator):
    """Base class of SVMs with a kernel."""

    _catalog_name = "svc"
    _parameter_notes: ClassVar[dict[str, str]] = {
        "max_iter": "If it is reached, `converged_` is False, with a warning."
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WEIGHT_CONSTRAINTS,
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
    }
    _docs: ClassVar[Docs] = {
        **WEIGHT_DOCS,
        "X": (
            "{array-like, sparse matrix} of shape (n_samples, n_features)",
            'Samples; for ``kernel="precomputed"``, their kernel values with all training samples.',
        ),
        "decision_function_shape": (
            '{"ovr", "ovo"}',
            "What :meth:`decision_function` returns with more than two classes: a value per class, or per "
            "pair of classes.",
        ),
        "support_": ("ndarray of shape (n_SV,)", "Indices of the support vectors, increasing."),
        "support_vectors_": (
            "ndarray or sparse matrix of shape (n_SV, n_features)",
            'Support vectors; empty with kernel="precomputed".',
        ),
        "n_support_": ("ndarray of shape (n_classes,)", "Number of support vectors of each class."),
        "dual_coef_": (
            "ndarray of shape (n_pairs, n_SV)",
            "Coefficients of the support vectors in the SVM of each pair of classes.",
        ),
        "intercept_": ("ndarray of shape (n_pairs,)", "Intercepts."),
        "coef_": (
            "ndarray of shape (n_pairs, n_features)",
            "Weights of the features, with the linear kernel.",
        ),
        "n_iter_": ("ndarray of shape (n_pairs,)", "Number of iterations of each binary SVM."),
    }
    _fitted: ClassVar[tuple[str, ...]] = (
        "classes_",
        "support_",
        "support_vectors_",
        "n_support_",
        "dual_coef_",
        "intercept_",
        "coef_",
        "kernel_",
        "gamma_",
    )

    kernel: Any
    degree: int
    coef0: float
    shrinking: bool
    tol: float
    class_weight: Any
    max_iter: int | None
    decision_function_shape: str

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes by the votes of all pairs of classes; ties are broken by class order.

        Parameters
        ----------
        {X}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted class labels.
        """
        x = self._rows(X)
        predicted: npt.NDArray[Any] = self.classes_[self._svm.predict(x, self._settings())]
        return predicted

    def decision_function(self, X: Any) -> FloatArray:
        """Evaluate the decision function.

        Parameters
        ----------
        {X}

        Returns
        -------
        values : ndarray
            Two classes: shape (n_samples,), positive for the second class. More classes, "ovr": shape
            (n_samples, n_classes), the votes plus a term below one third that breaks ties. "ovo": a column
            per pair of classes, positive for the first of the pair.
        """
        x = self._rows(X)
        if len(self.classes_) > 2 and self.decision_function_shape == "ovo":
            return self._svm.decision_values(x, self._settings())
        scores = self._svm.class_scores(x, self._settings())
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _summary(self) -> Summary:
        kernel = getattr(self, "kernel_", "precomputed")
        rows = int(self.n_support_.sum())
        return Summary([("classes", len(self.classes_)), ("kernel", kernel), ("support vectors", rows)])

    def _rows(self, X: Any) -> NativeRows:
        return self._new_samples(X, accept_sparse=False if self._is_precomputed() else "csr")

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_precomputed()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.categorical = not self._is_precomputed()
        return tags

    def _form(self, c: float, kernel: Any, y: npt.NDArray[Any]) -> dict[str, Any]:
        return {
            "kernel": kernel,
            "C": c,
            "class_weight": weight_form(self.class_weight, self.classes_, y),
            "tol": float(self.tol),
            "max_iter": None if self.max_iter is None else int(self.max_iter),
            "shrinking": bool(self.shrinking),
        }

    def _store(self, svm: _native.SvmModel, X: Any, codes: npt.NDArray[np.int64]) -> None:
        self._svm = svm
        summary = svm.summary()
        # scikit-learn reverses the sign with two classes.
        sign = -1.0 if len(self.classes_) == 2 else 1.0
        self.support_: npt.NDArray[np.int64] = summary["support"]
        self.n_support_ = np.bincount(codes[self.support_], minlength=len(self.classes_))
        self.support_vectors_ = X[self.support_] if summary["kernel"] is not None else np.empty((0, 0))
        self.dual_coef_: FloatArray = sign * summary["coefficients"]
        self.intercept_: FloatArray = sign * summary["bias"]
        for name in ("coef_", "kernel_", "gamma_"):
            # An earlier fit with another kernel may have set it.
            self.__dict__.pop(name, None)
        if summary["weights"] is not None:
            self.coef_: FloatArray = sign * summary["weights"]
        if summary["kernel"] is not None:
            store_kernel(self, Kernel.from_json(summary["kernel"]))
        self._store_outcome(summary)


class SVC(_BaseSVC):
    """C-support vector classification.

    It solves the problem of :class:`sklearn.svm.SVC`, with these of its parameters. Differences: `dual_coef_`
    has a row per pair of classes; `support_` is sorted over all samples, not class by class;
    ``gamma="auto"``, "sigmoid" and callable kernels, `probability` and `sample_weight` are not supported; the
    default of `max_iter` is None, not -1.

    With more than two classes, a binary SVM is trained for each pair of classes. Up to 4096 samples the Gram
    matrix is stored; with more, up to 1 GiB of its columns is cached.

    {parameters and attributes}

    See Also
    --------
    SVCCV : Chooses `C` and `gamma` by cross-validation.
    LinearSVC : Without a kernel, for many samples.

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

    _docs: ClassVar[Docs] = {
        "kernel": (
            '{"rbf", "linear", "poly", "laplacian", "precomputed"} or Kernel',
            'The kernel, by name or as an object of :mod:`kernsift.kernels`. With "precomputed", `X` is '
            "the Gram matrix.",
        ),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions({"rbf", "linear", "poly", "laplacian", "precomputed"}), Kernel],
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
        """Train a binary SVM for each pair of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; for ``kernel="precomputed"``, their Gram matrix.
        {labels}

        Returns
        -------
        {self}
        """
        precomputed = self._is_precomputed()
        if precomputed and sparse.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        X, classes = labeled_rows(self, X, y)
        if precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        kernel = choice_form("linear" if precomputed else self.kernel, self.gamma, self.degree, self.coef0)
        with report_progress(self, X):
            form = to_json(self._form(float(self.C), kernel, self.classes_[classes[0]]))
            svm = _native.fit_svm(form, native_rows(X), classes, precomputed, self._fit_settings())
        self._store(svm, X, classes[0])
        return self


class SVCCV(_BaseSVC):
    """Support vector classification with C and gamma chosen by cross-validation.

    For each gamma the Gram matrix is computed once and used for all folds, pairs of classes and values of C,
    which increase with warm starts. The pair with the smallest error is used to train on all samples; ties
    are broken by the smaller `C`, then the smaller `gamma`. Folds are stratified.

    Parameters
    ----------
    C : array-like of float, default=(0.1, 1, 10, 100, 1000)
        Values of the regularization parameter to try.
    gamma : {"scale", "median"}, float or list of these, default="scale"
        Values of gamma to try, see :class:`SVC`.
    cv : int, default=5
        Number of folds.
    {kernel}
        "linear" and kernel objects do not use `gamma`, which must then keep its default.
    {degree}
    {coef0}
    {shrinking}
    {tol}
    {class_weight}
        "balanced" is computed in each fold.
    {max_iter}
    {decision_function_shape}
    {random_state}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    C_ : float
        The best `C`.
    cv_errors_ : ndarray of shape (n_gamma, n_C)
        Cross-validated error by gamma and C.
    cv_fold_errors_ : ndarray of shape (n_gamma, n_C, cv)
        The error in each fold.
    cv_C_ : ndarray of shape (n_C,)
        The values of C, increasing.
    cv_gamma_ : ndarray of shape (n_gamma,)
        The values of gamma, increasing; NaN for kernels without gamma.
    {attributes}

    See Also
    --------
    SVC : With given `C` and `gamma`.

    References
    ----------
    .. [1] Hsu, Chang and Lin, "A practical guide to support vector classification", 2003.

    Examples
    --------
    >>> from kernsift import SVCCV
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.preprocessing import scale
    >>> wine = load_dataset("wine")
    >>> svm = SVCCV(gamma=[0.01, 0.1], random_state=0).fit(scale(wine.data), wine.target)
    >>> print(svm.cv_errors_.shape, bool(svm.cv_errors_.min() < 0.03))
    (2, 5) True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": ["array-like", *constraints("svc", "C")["C"]],
        "gamma": ["array-like", *KERNEL_CONSTRAINTS["gamma"]],
        "cv": [Interval(Integral, 2, None, closed="left")],
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
        """Choose C and gamma by cross-validation, then train on all samples.

        Parameters
        ----------
        {X_train}
        {labels}

        Returns
        -------
        {self}
        """
        X, classes = labeled_rows(self, X, y)
        if self.cv > X.shape[0]:
            raise ValueError(
                f"The 'cv' parameter of SVCCV must be at most the number of samples, n_samples={X.shape[0]}. "
                f"Got {self.cv} instead."
            )
        gammas = self._gammas()
        kernel = choice_form(self.kernel, "scale" if gammas else self.gamma, self.degree, self.coef0)
        search = {
            "svm": self._form(1.0, kernel, self.classes_[classes[0]]),
            "c": [float(c) for c in np.atleast_1d(self.C)],
            "gamma": [g if isinstance(g, str) else float(g) for g in gammas],
            "folds": int(self.cv),
        }
        with report_progress(self, X):
            rows = native_rows(X)
            svm, found = _native.search_svm(to_json(search), rows, classes, self._fit_settings())
        self._store(svm, X, classes[0])
        points = found["errors"]
        values = sorted({p[1] for p in points})
        self.C_: float = found["c"]
        self.cv_C_: FloatArray = np.array(values)
        self.cv_errors_: FloatArray = np.array([p[2] for p in points]).reshape(-1, len(values))
        self.cv_fold_errors_: FloatArray = np.array([p[3] for p in points]).reshape(
            -1, len(values), int(self.cv)
        )
        self.cv_gamma_: FloatArray = np.array([p[0] for p in points[:: len(values)]], dtype=float)
        return self

    def _gammas(self) -> list[Any]:
        """The values of gamma if there are several; raises if the kernel would ignore them."""
        gamma = self.gamma
        if isinstance(gamma, str) and gamma == "scale":
            return []
        if isinstance(self.kernel, Kernel) or self.kernel == "linear":
            raise ValueError(
                f"The 'gamma' parameter of SVCCV must keep its default with kernel={self.kernel!r}, "
                f"which does not use gamma. Got {gamma!r} instead."
            )
        if isinstance(gamma, str | Real):
            return []
        gammas = list(gamma) if np.ndim(gamma) == 1 else []
        if not gammas:
            raise ValueError(
                f"The 'gamma' parameter of SVCCV must hold at least one value. Got {gamma!r} instead."
            )
        for value in gammas:
            is_positive = isinstance(value, Real) and 0 < float(value) < np.inf
            if not is_positive and not (isinstance(value, str) and value in ("scale", "median")):
                raise ValueError(
                    "The 'gamma' parameter of SVCCV must hold 'scale', 'median' or positive numbers. "
                    f"Got {value!r} instead."
                )
        return gammas

    def _summary(self) -> Summary:
        found = [("C", self.C_), ("cross-validated error", self.cv_errors_.min())]
        return Summary([*super()._summary().facts, *found])


class LinearSVC(LinearClassifierMixin, Estimator):
    """Linear support vector classification.

    It has the objective of :class:`sklearn.svm.LinearSVC`, with these of its parameters. `dual` (each penalty
    has one solver), `intercept_scaling`, `multi_class` and `sample_weight` are not supported. With more than
    two classes, one SVM per class against the rest is trained.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {classes_}
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    objective_ : ndarray of shape (1,) or (n_classes,)
        Objective of each SVM: penalty plus losses.
    {attributes}

    See Also
    --------
    SVC : With a kernel.
    L1SVM : Selects features by the "l1" penalty.

    References
    ----------
    .. [1] Hsieh and others, "A dual coordinate descent method for large-scale linear SVM", 2008.
    .. [2] Yuan, Chang, Hsieh and Lin, "A comparison of optimization methods and software for large-scale
       L1-regularized linear classification", 2010.

    Examples
    --------
    >>> from kernsift import LinearSVC
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.preprocessing import scale
    >>> wdbc = load_dataset("wdbc")
    >>> svm = LinearSVC(C=0.1, penalty="l1", random_state=0).fit(scale(wdbc.data), wdbc.target)
    >>> print((svm.coef_ != 0).sum() < 30)
    True
    """

    _catalog_name = "linear-svm"
    _docs: ClassVar[Docs] = WEIGHT_DOCS
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = WEIGHT_CONSTRAINTS
    _parameter_notes: ClassVar[dict[str, str]] = {
        "class_weight": "With more than two classes, the weight of a class is used only in the SVM of that "
        "class against the rest.",
        "random_state": "It determines the order in which samples or features are visited.",
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
        """Train the SVM.

        Parameters
        ----------
        {X_train}
        {labels}

        Returns
        -------
        {self}
        """
        X, classes = labeled_rows(self, X, y)
        weight = weight_form(self.class_weight, self.classes_, self.classes_[classes[0]])
        own = {name: getattr(self, name) for name in declared("linear-svm") if name != "class_weight"}
        form = {name: native_value("linear-svm", name, value) for name, value in own.items()}
        form["class_weight"] = weight
        with report_progress(self, X):
            rows = native_rows(X)
            answer = _native.fit_linear_svm(to_json(form), rows, classes, self._fit_settings())
        self.coef_: FloatArray = answer["weights"]
        self.intercept_: FloatArray = answer["bias"]
        self.objective_: FloatArray = answer["objectives"]
        self._store_outcome(answer)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distances of samples to the hyperplanes, times the norm of the weights.

        Parameters
        ----------
        {X}

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            A column per class; for two classes, one value per sample, positive for the second.
        """
        check_is_fitted(self)
        scores = safe_sparse_dot(checked_rows(self, X, reset=False), self.coef_.T, dense_output=True)
        values: FloatArray = scores + self.intercept_
        return values.ravel() if values.shape[1] == 1 else values

    def _summary(self) -> Summary:
        used = int(np.count_nonzero(self.coef_.any(axis=0)))
        nonzero = f"{used} of {self.n_features_in_}"
        return Summary([("classes", len(self.classes_)), ("features with nonzero weight", nonzero)])


def weight_form(class_weight: Any, classes: npt.NDArray[Any], y: npt.NDArray[Any]) -> Any:
    """The class weights in the core's serialized form."""
    if class_weight is None or isinstance(class_weight, str):
        return class_weight or "none"
    return {"given": compute_class_weight(class_weight, classes=classes, y=y).tolist()}
