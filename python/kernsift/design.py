"""Kernel design: a mixture of kernels by linear programming, from "i is more like j than k"."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import Bunch, check_array
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._base import KeepsColumns
from kernsift._crossing import FloatArray, IntArray, Settings, native_int, native_rows, native_target, to_json
from kernsift._html import Bars, Summary, kept_summary
from kernsift._kept import kernel_weights
from kernsift._sklearn import Interval, StrOptions
from kernsift.kernels import Kernel, OnFeature, WhiteNoise
from kernsift.learners import KernelLearner, shifted

__all__ = ["KernelDesign"]


class KernelDesign(KeepsColumns, KernelLearner):
    """A mixture of kernels that agrees with triples, and the columns it needs.

    The weights of ``K = sum_p alpha_p K_p`` solve a linear programme: of all mixtures the one with the least
    mean of what triples lack of ``K[i, j] - K[i, k] >= 1``, plus `gamma1` times the sum over columns of the
    largest weight of a kernel on that column, plus `gamma2` times the mean of the diagonal. Every base kernel
    is scaled to a mean of 1 on the diagonal. With kernels of single columns this selects columns:
    :meth:`transform` keeps those with a weight.

    A condition makes the mixture positive semidefinite, see `psd`. It is met by cuts, which are added in
    rounds where the mixture breaks it.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, default=("gaussian", "linear")
        What is mixed, in any combination:

        - names: "gaussian" (or "rbf"), "laplacian", "linear", "polynomial" (or "poly"), each for every
          column or for all columns together, as `weak` says;
        - kernels of :mod:`kernsift.kernels`, taken as they are;
        - functions ``k(X, Z)`` that give the Gram matrix of two sets of rows. For these Gram matrices of
          all kernels are kept, and penalties are chosen by the triples at hand, also with labels.

        Kernels and functions see standardised rows if `standardize`.
    weak : bool, default=True
        Whether a name stands for a kernel of every single column, or for one of all columns.
    psd : {"auto", "nonnegative", "dominance_with_noise", "eigen_cuts", "strict_dominance"}, default="auto"
        What makes the mixture positive semidefinite:

        - "nonnegative": no weight is negative. It holds for all rows, and needs base kernels that are
          positive semidefinite.
        - "dominance_with_noise": with white noise added, the mixture is diagonally dominant on the rows that
          triples name. Noise costs `gamma2`.
        - "eigen_cuts": no eigenvalue on these rows is negative.
        - "strict_dominance": diagonally dominant without noise, as printed in the paper. With kernels that
          are not very narrow only zero is: then `status_` is "trivial-cone", with a warning.
        - "auto": "nonnegative" if all base kernels allow it, else "dominance_with_noise".
    quantiles : sequence of float, default=(0.1, 0.5, 0.9)
        Widths of "gaussian" and "laplacian": `gamma` is one over these quantiles of the distances, squared
        for "gaussian", between rows that triples name.
    gammas : sequence of float, default=None
        These widths themselves, instead of `quantiles`.
    degree : int, default=2
        Degree of "polynomial".
    coef0 : float, default=1.0
        Constant of "polynomial".
    group : {"column", "kernel"}, default="column"
        Whether `gamma1` counts the largest weight of each column, or the weight of every kernel.
    gamma1 : float or sequence of float, default=None
        The price of columns. Of several the best is chosen; None stands for 1e-5, 1e-4, 1e-3 and 1e-2,
        and for more than 512 kernels for shares of the smallest one that leaves no column.
    gamma2 : float or sequence of float, default=None
        The price of the diagonal. Of several the best is chosen; None stands for 0, 1e-5, 1e-4 and 1e-3,
        and for more than 512 kernels for 1e-4.
        Penalties are chosen by how a half of the rows, whose triples were not learned from, comes out.
    repeats : int, default=1
        How many times halves are drawn for that.
    threshold : float, default=0.01
        Columns whose largest weight is at most this share of the largest of all leave, and the programme is
        solved again without them. With 0 every column that has a weight stays.
    standardize : bool, default=True
        Bring columns to mean 0 and variance 1 first; sparse ones are not shifted.
    n_triplets : int, default=1500
        Triples drawn if `y` has labels.
    target_type : {"auto", "class", "number"}, default="auto"
        What labels are. "auto" takes what is not whole for numbers, and anything else for classes.
    tol : float, default=1e-8
        The relative gap between objective and proven bound at which the solver stops.
    max_rounds : int, default=200
        Most rounds of cuts.
    random_state : int, RandomState instance or None, default=None
        For drawing triples and halves. None is numpy's global generator.
    n_jobs : int, default=None
        Threads: None or -1 is one per core; in a worker process of joblib, None is its share of the cores.
        The result does not depend on it.
    verbose : int, default=0
        Above 0, progress and notes are written to stderr, and how long it took.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_kernels,)
        The weight of each base kernel, scaled to a mean of 1 on the diagonal.
    kernels_ : list of Kernel or callable
        The base kernels: those of names first, column by column, then the others in their order. A column
        that is constant has none.
    kernel_scales_ : ndarray of shape (n_kernels,)
        What each of them is multiplied by, so that the mean of its diagonal is 1.
    kernel_ : Sum or None
        The mixture, of rows that were standardised, if `standardize`, and without noise; :meth:`kernel` takes
        rows as given. None if a function is among the kernels.
    noise_ : float
        The weight of white noise that makes the mixture positive semidefinite on the rows that triples name;
        0 where it is so without.
    scores_ : ndarray of shape (n_features,)
        The largest weight of each column, as a share of the largest of all. A kernel of all columns
        counts for each.
    support_ : ndarray of bool of shape (n_features,)
        The columns that have a weight.
    status_ : str
        How the search ended: "optimal"; "trivial-cone" or "over-regularized", both with weights of zero;
        "max-iterations" or "stalled".
    converged_ : bool
        Whether the result is the one that the method defines: one of the first three.
    objective_ : float
        The objective of the mixture.
    bounds_ : ndarray of shape (n_iter_,)
        What no mixture can be better than, as proven after each round.
    bound_ : float
        The last of these.
    n_iter_ : int
        Rounds.
    n_cuts_ : int
        Cuts in the last round.
    n_points_ : int
        Different rows that triples name.
    psd_ : str
        The way that was taken for `psd`.
    gamma1_, gamma2_ : float
        The penalties used.
    trials_ : Bunch
        The penalties that were tried: `gamma1`, `gamma2` and `accuracy`, arrays that are empty if penalties
        were given.
    triplet_report_ : Bunch
        Counts: `n_triplets`, `n_points`, `n_duplicates`, `n_contradictions`, `n_in_cycles`.
    mean_, scale_ : ndarray of shape (n_features,) or None
        What was subtracted from columns, and what they were divided by.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are strings.

    See Also
    --------
    XingMetric : A metric from the same triples.
    triplets_from_labels : Draws triples.
    triplet_accuracy : The share of triples that a Gram matrix has in order.

    References
    ----------
    Fung, Rosales and Rao, "Feature selection and kernel design via linear programming", IJCAI 2007.

    Examples
    --------
    >>> from kernsift import KernelDesign
    >>> from kernsift.datasets import load_dataset
    >>> from sklearn.svm import SVC
    >>> wine = load_dataset("wine")
    >>> design = KernelDesign(random_state=0).fit(wine.data, wine.target)
    >>> design.status_, design.psd_
    ('optimal', 'nonnegative')
    >>> design.score(wine.data, [[0, 1, 100], [60, 70, 1]])
    1.0
    >>> SVC(kernel=design.kernel).fit(wine.data, wine.target).score(wine.data, wine.target) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernels": [list, tuple],
        "weak": ["boolean"],
        "psd": [
            StrOptions({"auto", "nonnegative", "dominance_with_noise", "eigen_cuts", "strict_dominance"})
        ],
        "quantiles": ["array-like"],
        "gammas": ["array-like", None],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "group": [StrOptions({"column", "kernel"})],
        "gamma1": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "gamma2": [Interval(Real, 0, None, closed="left"), "array-like", None],
        "repeats": [Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        **KernelLearner._parameter_constraints,
    }

    def __init__(
        self,
        kernels: Sequence[str | Kernel | Callable[[Any, Any], Any]] = ("gaussian", "linear"),
        *,
        weak: bool = True,
        psd: str = "auto",
        quantiles: Sequence[float] = (0.1, 0.5, 0.9),
        gammas: Sequence[float] | None = None,
        degree: int = 2,
        coef0: float = 1.0,
        group: str = "column",
        gamma1: float | Sequence[float] | None = None,
        gamma2: float | Sequence[float] | None = None,
        repeats: int = 1,
        threshold: float = 0.01,
        standardize: bool = True,
        n_triplets: int = 1500,
        target_type: str = "auto",
        tol: float = 1e-8,
        max_rounds: int = 200,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.weak = weak
        self.psd = psd
        self.quantiles = quantiles
        self.gammas = gammas
        self.degree = degree
        self.coef0 = coef0
        self.group = group
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.repeats = repeats
        self.threshold = threshold
        self.standardize = standardize
        self.n_triplets = n_triplets
        self.target_type = target_type
        self.tol = tol
        self.max_rounds = max_rounds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def kernel(self, X: Any, Z: Any = None, noise: bool = False) -> FloatArray:
        """Compute the Gram matrix of the mixture.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            Rows.
        Z : {array-like, sparse matrix} of shape (n_samples_Z, n_features), default=None
            Rows to compare with; None stands for `X`.
        noise : bool, default=False
            Add `noise_` where rows are equal. With it the mixture is positive semidefinite on the rows that
            triples named; without it, it ranks the same. For ``SVC`` with noise use
            ``functools.partial(design.kernel, noise=True)``.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Z)
            The kernel of every row of `X` with every row of `Z`.
        """
        x = self._scaled(X)
        z = None if Z is None or Z is X else self._scaled(Z)
        k = self._gram(x, z)
        if noise and self.noise_ > 0:
            k = k + self.noise_ * WhiteNoise()(x, z)
        return k

    def _gram(self, x: Any, z: Any) -> FloatArray:
        if self.kernel_ is not None:
            mixture: FloatArray = self.kernel_(x, z)
            return mixture
        k = np.zeros((x.shape[0], (x if z is None else z).shape[0]))
        for weight, kernel in zip(self.alpha_ * self.kernel_scales_, self.kernels_, strict=True):
            if weight != 0:
                k += weight * _own_gram(kernel, x, z)
        return k

    def _accuracy(self, X: Any, triplets: IntArray, run: Settings) -> float:
        if self.kernel_ is not None:
            return super()._accuracy(X, triplets, run)
        return _native.triplet_accuracy(self._gram(X, None), triplets)

    def _learn(self, X: Any, triplets: IntArray | None, y: Any, run: Settings) -> dict[str, Any]:
        named, others = self._named_and_others()
        target = None if triplets is not None else native_target(y, self.target_type, "y")
        rows = (
            native_rows(X),
            triplets,
            target,
            native_int("n_triplets", self.n_triplets),
            bool(self.standardize),
            run,
        )
        own = [kernel for kernel in others if isinstance(kernel, Kernel)]
        if len(own) == len(others):
            parts = named + ([{"custom": [kernel._form() for kernel in own]}] if own else [])
            return _native.fit_design(self._form(parts), *rows)
        form = self._form(named)
        answer = _native.prepare_design(form, *rows)
        kernels: list[Any] = [Kernel.from_json(json.dumps(k)) for k in json.loads(answer["kernels"])] + others
        x = shifted(X, answer["shift"], answer["scale"])
        kept, places = _distinct(x, answer["triplets"])
        features = [kernel.feature if isinstance(kernel, OnFeature) else None for kernel in kernels]
        grams = [_own_gram(kernel, x[kept], None) for kernel in kernels]
        answer |= _native.weigh_design(form, grams, features, places, answer["triplets"], run)
        return answer | {
            "kernels": kernels,
            "kernel": None,
            "scores": _scores(answer["alpha"], features, X.shape[1]),
        }

    def _store(self, answer: dict[str, Any]) -> None:
        kernels = answer["kernels"]
        if isinstance(kernels, str):
            kernels = [Kernel.from_json(json.dumps(kernel)) for kernel in json.loads(kernels)]
        self.kernels_: list[Any] = kernels
        self.kernel_ = None if answer["kernel"] is None else Kernel.from_json(answer["kernel"])
        self.alpha_: FloatArray = answer["alpha"]
        self.kernel_scales_: FloatArray = answer["scales"]
        self.noise_: float = answer["noise"]
        self.objective_: float = answer["objective"]
        self.bounds_: FloatArray = answer["bounds"]
        self.bound_ = float(self.bounds_[-1])
        self.n_cuts_: int = answer["cuts"]
        self.n_points_: int = answer["points"]
        self.psd_: str = answer["psd"]
        self.gamma1_: float = answer["gamma1"]
        self.gamma2_: float = answer["gamma2"]
        self.trials_ = Bunch(**answer["trials"])
        self.triplet_report_ = Bunch(**answer["report"])
        if not self.alpha_.any():
            text = f"{type(self).__name__}: {answer['stop']}."
            warnings.warn(text, UserWarning, stacklevel=4)

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _mixture(self, names: list[str]) -> dict[str, Any]:
        def told(kernel: Any) -> tuple[str, str]:
            if isinstance(kernel, OnFeature):
                return names[kernel.feature], str(kernel.kernel)
            return "all", str(kernel)

        order = np.argsort(-np.abs(self.alpha_), kind="stable")[: np.count_nonzero(self.alpha_)]
        kernels = [(*told(self.kernels_[p]), float(self.alpha_[p])) for p in order]
        return {"kernels": kernels, "n_kernels": len(self.kernels_)}

    def _summary(self) -> Summary:
        labels, weights = kernel_weights(self)
        facts = [
            ("search", self.status_),
            ("positive semidefinite by", self.psd_),
            ("kernels", f"{len(labels)} of {len(self.kernels_)}"),
        ]
        return Summary(kept_summary(self, *facts).facts, Bars("weight", labels, weights))

    def _form(self, parts: list[Any]) -> str:
        """The design, as the native half takes it."""
        penalties: dict[str, Any]
        if isinstance(self.gamma1, Real) and isinstance(self.gamma2, Real):
            self._refuse("repeats", "penalties are given")
            penalties = {"given": {"kernels": float(self.gamma1), "diagonal": float(self.gamma2)}}
        else:
            grid = {
                "kernels": _numbers("gamma1", self.gamma1),
                "diagonal": _numbers("gamma2", self.gamma2),
            }
            penalties = {"halves": {**grid, "repeats": int(self.repeats)}}
        form = {
            "parts": parts,
            "psd": self.psd,
            "grouping": self.group,
            "penalties": penalties,
            "threshold": float(self.threshold),
            "tolerance": float(self.tol),
            "max_rounds": int(self.max_rounds),
        }
        return to_json(form)

    def _named_and_others(self) -> tuple[list[Any], list[Any]]:
        """Kernels that have names, as the core spells them, and the rest."""
        names = [kernel for kernel in self.kernels if isinstance(kernel, str)]
        others = [kernel for kernel in self.kernels if not isinstance(kernel, str)]
        if not self.kernels:
            raise ValueError("kernels must hold one kernel or more, got none.")
        for kernel in others:
            if not isinstance(kernel, Kernel) and not callable(kernel):
                raise ValueError(
                    f"kernels must hold names, kernels of kernsift.kernels and functions, got {kernel!r}."
                )
        unknown = [name for name in names if name not in _FORMS]
        if unknown:
            raise ValueError(f"kernels may have the names {', '.join(_FORMS)}, got {unknown[0]!r}.")
        forms = list(dict.fromkeys(_FORMS[name] for name in names))
        self._refuse_what_has_no_use(forms, others)
        if not forms:
            return [], others
        if self.gammas is None:
            gammas = {"quantiles": _numbers("quantiles", self.quantiles)}
        else:
            gammas = {"values": _numbers("gammas", self.gammas)}
        spelled = {
            "gaussian": {"gaussian": gammas},
            "laplacian": {"laplacian": gammas},
            "linear": "linear",
            "polynomial": {"polynomial": {"degree": int(self.degree), "coef0": float(self.coef0)}},
        }
        return [{"weak" if self.weak else "full": [spelled[form] for form in forms]}], others

    def _refuse_what_has_no_use(self, forms: list[str], others: list[Any]) -> None:
        """A parameter that would not be used is a mistake worth telling."""
        if not {"gaussian", "laplacian"} & set(forms):
            for name in ("quantiles", "gammas"):
                self._refuse(name, "neither 'gaussian' nor 'laplacian' is among the kernels")
        elif self.gammas is not None:
            self._refuse("quantiles", "gammas are given")
        if "polynomial" not in forms:
            for name in ("degree", "coef0"):
                self._refuse(name, "'polynomial' is not among the kernels")
        if not forms:
            self._refuse("weak", "no kernel is given by its name")
        if not (forms and self.weak) and not any(isinstance(kernel, OnFeature) for kernel in others):
            self._refuse("threshold", "no kernel sees a single column")
            self._refuse("group", "no kernel sees a single column")

    def _refuse(self, name: str, why: str) -> None:
        value, default = getattr(self, name), inspect.signature(type(self)).parameters[name].default
        same = value is default if default is None else np.array_equal(np.asarray(value), np.asarray(default))
        if not same:
            raise ValueError(f"'{name}' has no effect, for {why}; leave it out. Got {value!r}.")


#: Names of kernels, and what the core calls them.
_FORMS = {
    "gaussian": "gaussian",
    "rbf": "gaussian",
    "laplacian": "laplacian",
    "linear": "linear",
    "polynomial": "polynomial",
    "poly": "polynomial",
}


def _numbers(name: str, values: Any) -> list[float] | None:
    """One number or several, as a list; nothing stands for nothing."""
    if values is None:
        return None
    numbers = np.atleast_1d(np.asarray(values))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite numbers, got {values!r}.")
    return [float(number) for number in numbers]


def _own_gram(kernel: Any, x: Any, z: Any) -> FloatArray:
    """The Gram matrix by a kernel or a function, which has been checked."""
    z = x if z is None else z
    name = f"the Gram matrix by {kernel}"
    gram: FloatArray = check_array(kernel(x, z), dtype=np.float64, order="C", input_name=name)
    if gram.shape != (x.shape[0], z.shape[0]):
        raise ValueError(f"{name} must have the shape {(x.shape[0], z.shape[0])}, got {gram.shape}.")
    return gram


def _distinct(x: Any, triplets: IntArray) -> tuple[IntArray, IntArray]:
    """Rows that triples name, equal ones once; and the place of every row among them, 0 if not named."""
    points = np.unique(triplets)
    named = x[points]
    # Adding 0 makes -0 and 0 one.
    dense = (named.toarray() if sparse.issparse(named) else np.asarray(named)) + 0.0
    _, first, inverse = np.unique(dense, axis=0, return_index=True, return_inverse=True)
    places = np.zeros(x.shape[0], dtype=np.int64)
    places[points] = inverse.ravel()
    return points[first], places


def _scores(alpha: FloatArray, features: list[int | None], n_features: int) -> FloatArray:
    """The largest weight of each column, as a share of the largest of all."""
    scores = np.zeros(n_features)
    for weight, feature in zip(np.abs(alpha), features, strict=True):
        place = slice(None) if feature is None else feature
        scores[place] = np.maximum(scores[place], weight)
    largest = scores.max()
    return scores / largest if largest > 0 else scores
