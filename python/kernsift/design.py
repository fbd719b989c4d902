"""Kernel design by linear programming, from triplets (i is closer to j than to k)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, check_array

from kernsift import _native
from kernsift._html import Bars, Summary, selection_summary
from kernsift._native_data import (
    FloatArray,
    IntArray,
    Settings,
    Target,
    native_int,
    native_rows,
    to_json,
)
from kernsift._parameters import Docs, choices, declared, native_value
from kernsift._selected import kernel_weights
from kernsift._selector import FeatureSelectorMixin
from kernsift._warnings import warn
from kernsift.kernels import Kernel, OnColumns, OnFeature, WhiteNoise
from kernsift.learners import KernelLearner, standardized

__all__ = ["KernelDesign"]


class KernelDesign(FeatureSelectorMixin, KernelLearner):
    """Kernel design: a mixture of kernels that satisfies triplets, by linear programming.

    The weights of ``K = sum_p alpha_p K_p`` solve a linear program. They minimize the mean hinge loss of the
    triplet constraints ``K[i, j] - K[i, k] >= 1``, plus `gamma1` times the sum over features of the largest
    weight of a kernel on that feature, plus `gamma2` times the mean of the diagonal. Every base kernel is
    scaled to a mean of 1 on the diagonal. Kernels of single features select features: :meth:`transform`
    returns those with nonzero weight.

    The mixture is positive semidefinite, see `psd`. Cutting planes are added in rounds until the
    condition holds.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    alpha_ : ndarray of shape (n_kernels,)
        Weight of each base kernel, scaled to a mean of 1 on the diagonal.
    kernels_ : list of Kernel or callable
        The base kernels: first those given by name, feature by feature, then the others. Constant features
        have none. They see the encoded columns of a data frame: a kernel of a category is on several.
    kernel_scales_ : ndarray of shape (n_kernels,)
        Factor of each base kernel that makes the mean of its diagonal 1.
    kernel_ : Sum or None
        The mixture, without noise, on standardized samples (if `standardize`); :meth:`kernel` expects
        samples in the given units. None if a function is among the kernels.
    noise_ : float
        Weight of the white noise that makes the Gram matrix of the samples in triplets positive semidefinite;
        0 if none is needed.
    scores_ : ndarray of shape (n_features,)
        Largest weight of each feature, relative to the largest of all. A kernel of all features counts for
        each.
    {support_}
    status_ : str
        Status of the solver: "optimal"; "trivial-cone" or "over-regularized", both with zero weights;
        "max-iterations" or "stalled". The first three count as converged.
    objective_ : float
        Objective of the mixture.
    bounds_ : ndarray of shape (n_iter_,)
        Lower bound of the objective after each round.
    bound_ : float
        The last of these.
    n_cuts_ : int
        Number of cuts in the last round.
    n_points_ : int
        Number of distinct samples in triplets.
    psd_ : str
        The condition used for `psd`.
    gamma1_, gamma2_ : float
        The penalties used.
    trials_ : Bunch
        The penalties that were tried: `gamma1`, `gamma2` and `accuracy`; empty arrays if penalties were
        given.
    triplet_report_ : Bunch
        Counts: `n_triplets`, `n_points`, `n_duplicates`, `n_contradictions`, `n_in_cycles`.
    target_type_ : str or None
        What `y` holds: "class" or "number" (a continuous target); None for triplets.
    {mean_}
    {scale_}
    {attributes}

    See Also
    --------
    XingMetric : Learns a metric from triplets.
    triplets_from_labels : Draws triplets.
    triplet_accuracy : The fraction of triplets that a Gram matrix satisfies.

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

    _method = "design"
    _docs: ClassVar[Docs] = {
        "kernels": (
            "sequence of str, Kernel or callable",
            "The base kernels, in any combination. Kernels and functions get standardized samples if "
            "`standardize`, and the encoded columns of a data frame.\n"
            '- names: "rbf", "laplacian", "linear", "poly", each for every feature or for all features '
            "together, see `weak`;\n"
            "- objects of :mod:`kernsift.kernels`;\n"
            "- functions ``k(X, Z)`` that return the Gram matrix of two sets of samples. With functions, the "
            "Gram matrices of all kernels are stored, and penalties are chosen by held-out triplets also if "
            "labels are given.",
        ),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"kernels": [list, tuple]}

    def __init__(
        self,
        kernels: Sequence[str | Kernel | Callable[[Any, Any], Any]] = ("rbf", "linear"),
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
        {X_gram}
        {Z}
        noise : bool, default=False
            Whether to add `noise_` for equal samples, which makes the Gram matrix of the samples in triplets
            positive semidefinite and does not change the order of similarities. For ``SVC`` with noise use
            ``functools.partial(design.kernel, noise=True)``.

        Returns
        -------
        {K}
        """
        x = self._scaled(X)
        z = None if Z is None or Z is X else self._scaled(Z)
        k = self._gram(x, z)
        if noise and self.noise_ > 0:
            k = k + self.noise_ * WhiteNoise()(x, z)
        return k

    def _gram(self, x: Any, z: Any) -> FloatArray:
        if self.kernel_ is not None:
            combined: FloatArray = self.kernel_(x, z)
            return combined
        k = np.zeros((x.shape[0], (x if z is None else z).shape[0]))
        for weight, kernel in zip(self.alpha_ * self.kernel_scales_, self.kernels_, strict=True):
            if weight != 0:
                k += weight * _base_gram(kernel, x, z)
        return k

    def _accuracy(self, X: Any, triplets: IntArray, run: Settings) -> float:
        if self.kernel_ is not None:
            return super()._accuracy(X, triplets, run)
        return _native.triplet_accuracy(self._gram(X, None), triplets)

    def _learn(
        self, X: Any, triplets: IntArray | None, target: Target | None, run: Settings
    ) -> dict[str, Any]:
        form, functions = self._form()
        rows = (
            native_rows(X),
            self._sizes(),
            triplets,
            target,
            native_int("n_triplets", self.n_triplets),
            self._standardizes(),
            run,
        )
        if not functions:
            return _native.fit_design(form, *rows)
        answer = _native.prepare_design(form, *rows)
        named: list[Any] = [Kernel.from_json(json.dumps(k)) for k in json.loads(answer["kernels"])]
        others = [kernel for kernel in self.kernels if not isinstance(kernel, str)]
        kernels = named[: len(named) - len(others) + len(functions)] + others
        x = standardized(X, answer["shift"], answer["scale"])
        kept, places = _distinct(x, answer["triplets"])
        features = answer["features"][: len(kernels) - len(others)] + [self._feature_of(k) for k in others]
        grams = [_base_gram(kernel, x[kept], None) for kernel in kernels]
        answer |= _native.weigh_design(form, grams, features, places, answer["triplets"], run)
        return answer | {
            "kernels": kernels,
            "kernel": None,
            "features": features,
            "scores": _scores(answer["alpha"], features, len(self._sizes() or range(X.shape[1]))),
        }

    def _feature_of(self, kernel: Any) -> int | None:
        """The feature that a kernel sees if it sees only one."""
        sizes = self._sizes() or [1] * self.n_features_in_
        feature_of = np.repeat(np.arange(len(sizes)), sizes)
        if isinstance(kernel, OnFeature):
            return int(feature_of[kernel.feature])
        if isinstance(kernel, OnColumns) and len(set(feature_of[kernel.start : kernel.stop])) == 1:
            return int(feature_of[kernel.start])
        return None

    def _store(self, answer: dict[str, Any]) -> None:
        kernels = answer["kernels"]
        if isinstance(kernels, str):
            kernels = [Kernel.from_json(json.dumps(kernel)) for kernel in json.loads(kernels)]
        self.kernels_: list[Any] = kernels
        self.kernel_ = None if answer["kernel"] is None else Kernel.from_json(answer["kernel"])
        positions = self._frame_encoder.positions if hasattr(self, "_frame_encoder") else None
        #: The column of the training samples that each kernel sees if it sees only one.
        self._kernel_columns = [
            int(positions[feature]) if positions is not None and feature is not None else feature
            for feature in answer["features"]
        ]
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
            warn(text)

    def _combination(self, names: list[str]) -> dict[str, Any]:
        def described(p: int) -> tuple[str, str]:
            column, kernel = self._kernel_columns[p], self.kernels_[p]
            return ("all", str(kernel)) if column is None else (str(names[column]), str(kernel.kernel))

        order = np.argsort(-np.abs(self.alpha_), kind="stable")[: np.count_nonzero(self.alpha_)]
        kernels = [(*described(p), float(self.alpha_[p])) for p in order]
        return {"kernels": kernels, "n_kernels": len(self.kernels_)}

    def _summary(self) -> Summary:
        labels, weights = kernel_weights(self)
        facts = [
            ("solver", self.status_),
            ("positive semidefinite by", self.psd_),
            ("kernels", f"{len(labels)} of {len(self.kernels_)}"),
        ]
        return Summary(selection_summary(self, *facts).facts, Bars("weight", labels, weights))

    def _form(self) -> tuple[str, list[Any]]:
        """The design in the core's serialized form, and the kernels that are functions."""
        names = [kernel for kernel in self.kernels if isinstance(kernel, str)]
        own = [kernel for kernel in self.kernels if isinstance(kernel, Kernel)]
        functions = [kernel for kernel in self.kernels if not isinstance(kernel, str | Kernel)]
        if not self.kernels:
            raise ValueError("kernels must have at least one kernel, got none.")
        for function in functions:
            if not callable(function):
                raise ValueError(
                    f"kernels must be names, objects of kernsift.kernels or functions, got {function!r}."
                )
        known = choices("design", "kernels")
        for name in names:
            if name not in known:
                raise ValueError(f"kernels must be among {', '.join(sorted(known))}, got {name!r}.")
        form = {
            name: native_value("design", name, getattr(self, name))
            for name in declared("design")
            if name != "kernels"
        }
        bases = {name: form.pop(name) for name in ("weak", "quantiles", "gammas", "degree", "coef0")}
        bases |= {"kernels": names, "custom": [kernel._form() for kernel in own]}
        return to_json({**form, "bases": bases}), functions


def _base_gram(kernel: Any, x: Any, z: Any) -> FloatArray:
    """The validated Gram matrix of a kernel or function."""
    z = x if z is None else z
    name = f"the Gram matrix of {kernel}"
    gram: FloatArray = check_array(kernel(x, z), dtype=np.float64, order="C", input_name=name)
    if gram.shape != (x.shape[0], z.shape[0]):
        raise ValueError(f"{name} must have the shape {(x.shape[0], z.shape[0])}, got {gram.shape}.")
    return gram


def _distinct(x: Any, triplets: IntArray) -> tuple[IntArray, IntArray]:
    """Indices of the distinct samples in triplets; the position of each sample among them, or 0."""
    points = np.unique(triplets)
    named = x[points]
    # Adding 0 turns -0 into 0.
    dense = (named.toarray() if sparse.issparse(named) else np.asarray(named)) + 0.0
    _, first, inverse = np.unique(dense, axis=0, return_index=True, return_inverse=True)
    places = np.zeros(x.shape[0], dtype=np.int64)
    places[points] = inverse.ravel()
    return points[first], places


def _scores(alpha: FloatArray, features: list[int | None], n_features: int) -> FloatArray:
    """The largest weight of each feature, relative to the largest of all."""
    scores = np.zeros(n_features)
    for weight, feature in zip(np.abs(alpha), features, strict=True):
        place = slice(None) if feature is None else feature
        scores[place] = np.maximum(scores[place], weight)
    largest = scores.max()
    return scores / largest if largest > 0 else scores
