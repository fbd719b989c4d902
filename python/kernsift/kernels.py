"""Kernels as objects: they can be printed, compared, pickled and added, and compute Gram matrices.

Each can be the `kernel` of a kernsift estimator or, as they are callable, of a scikit-learn estimator.

>>> from kernsift.kernels import RBF, Linear
>>> kernel = 0.5 * RBF(1.0) + Linear()
>>> kernel
0.5 * RBF(gamma=1.0) + 1.0 * Linear()
>>> kernel([[0.0], [1.0]]).round(4)
array([[0.5   , 0.1839],
       [0.1839, 1.5   ]])
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from kernsift import _native
from kernsift._native_data import FloatArray, checked_array, native_rows, settings
from kernsift._parameters import documented

__all__ = [
    "RBF",
    "Kernel",
    "Laplacian",
    "Linear",
    "Mahalanobis",
    "OnColumns",
    "OnFeature",
    "Polynomial",
    "Sum",
    "WhiteNoise",
]


class Kernel(ABC):
    """A kernel function of two samples.

    Sums of kernels, and a number times a kernel, are kernels.

    Examples
    --------
    >>> from kernsift import RBF, Kernel, Linear
    >>> kernel = 0.5 * RBF(1.0) + Linear()
    >>> isinstance(kernel, Kernel), kernel([[0.0], [1.0]]).shape
    (True, (2, 2))
    """

    @documented()
    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Compute the Gram matrix.

        Parameters
        ----------
        {X_gram}
        {Z}

        Returns
        -------
        {K}
        """
        x = checked_array(X)
        z = x if Z is None else checked_array(Z, "Z")
        if z.shape[1] != x.shape[1]:
            raise ValueError(f"X has {x.shape[1]} features, but Z has {z.shape[1]}.")
        # Without the second argument the matrix is exactly symmetric, at half the work.
        other = None if Z is None or Z is X else native_rows(z)
        return _native.gram(self.to_json(), native_rows(x), other, settings(0, None, 0))

    def __add__(self, other: Any) -> Sum:
        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum(_parts(self) + _parts(other))

    def __mul__(self, weight: Any) -> Sum:
        if isinstance(weight, Kernel) or not np.isscalar(weight):
            return NotImplemented
        factor = float(weight)  # type: ignore[arg-type]
        return Sum(tuple((factor * w, kernel) for w, kernel in _parts(self)))

    __rmul__ = __mul__

    def to_json(self) -> str:
        """Serialize the kernel, in the form of saved models and the command line."""
        return json.dumps(self._form(), allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Kernel:
        """Read the output of :meth:`to_json`."""
        return _from_form(json.loads(text))

    @abstractmethod
    def _form(self) -> Any:
        """The kernel as plain lists, dicts, strings and numbers."""


@dataclass(frozen=True)
class Linear(Kernel):
    """The inner product, <x, y>.

    Examples
    --------
    >>> from kernsift import Linear
    >>> Linear()([[1.0, 2.0], [3.0, 0.0]])
    array([[5., 3.],
           [3., 9.]])
    """

    def _form(self) -> Any:
        return "linear"


@dataclass(frozen=True)
class _GammaKernel(Kernel):
    """A kernel whose only parameter is gamma."""

    gamma: float

    def __post_init__(self) -> None:
        _store_positive(self, "gamma")

    _name: ClassVar[str]

    def _form(self) -> Any:
        return {self._name: {"gamma": self.gamma}}


_documented_gamma = documented({"gamma": ("float", "Coefficient, above 0.")})


@_documented_gamma
@dataclass(frozen=True)
class RBF(_GammaKernel):
    """exp(-gamma ||x - y||^2).

    Parameters
    ----------
    {gamma}

    Examples
    --------
    >>> from kernsift import RBF
    >>> RBF(0.5)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    _name = "rbf"


@_documented_gamma
@dataclass(frozen=True)
class Polynomial(Kernel):
    """(gamma <x, y> + coef0)^degree.

    Parameters
    ----------
    degree : int, default=3
        Degree, at least 1.
    {gamma}
    coef0 : float, default=1.0
        Constant; the kernel is positive semidefinite if it is not negative.

    Examples
    --------
    >>> from kernsift import Polynomial
    >>> Polynomial(degree=2)([[1.0], [2.0]])
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        if int(self.degree) != self.degree or self.degree < 1:
            raise ValueError(f"degree must be an integer of 1 or more, got {self.degree}.")
        object.__setattr__(self, "degree", int(self.degree))
        _store_positive(self, "gamma")
        _store_finite(self, "coef0")

    def _form(self) -> Any:
        return {"polynomial": {"degree": self.degree, "gamma": self.gamma, "coef0": self.coef0}}


@_documented_gamma
@dataclass(frozen=True)
class Laplacian(_GammaKernel):
    """exp(-gamma ||x - y||_1).

    Parameters
    ----------
    {gamma}

    Examples
    --------
    >>> from kernsift import Laplacian
    >>> Laplacian(0.5)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    _name = "laplacian"


@dataclass(frozen=True)
class WhiteNoise(Kernel):
    """1 if two samples are equal in all features, else 0.

    Examples
    --------
    >>> from kernsift import WhiteNoise
    >>> WhiteNoise()([[1.0], [2.0]], [[2.0], [2.0]])
    array([[0., 0.],
           [1., 1.]])
    """

    def _form(self) -> Any:
        return "white-noise"


@dataclass(frozen=True)
class OnFeature(Kernel):
    """A kernel of a single feature.

    Parameters
    ----------
    feature : int
        Index of the feature.
    kernel : Kernel
        The kernel on that feature.

    Examples
    --------
    >>> from kernsift import Linear, OnFeature
    >>> OnFeature(1, Linear())([[7.0, 1.0], [8.0, 2.0]])
    array([[1., 2.],
           [2., 4.]])
    """

    feature: int
    kernel: Kernel

    def __post_init__(self) -> None:
        if int(self.feature) != self.feature or self.feature < 0:
            raise ValueError(f"feature must be an index of 0 or more, got {self.feature}.")
        object.__setattr__(self, "feature", int(self.feature))

    def _form(self) -> Any:
        return {"on-feature": {"feature": self.feature, "kernel": self.kernel._form()}}


@dataclass(frozen=True)
class OnColumns(Kernel):
    """A kernel on some adjacent columns, such as those that encode one category.

    Parameters
    ----------
    start : int
        The first column, from 0.
    stop : int
        The column after the last.
    kernel : Kernel
        The kernel on these columns.

    Examples
    --------
    >>> from kernsift import Linear, OnColumns
    >>> OnColumns(1, 3, Linear())([[5.0, 1.0, 2.0], [7.0, 3.0, 0.0]])
    array([[5., 3.],
           [3., 9.]])
    """

    start: int
    stop: int
    kernel: Kernel

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise ValueError(f"columns must be a range of indices from 0, got {self.start} to {self.stop}.")

    def _form(self) -> Any:
        columns = {"start": self.start, "end": self.stop}
        return {"on-columns": {"columns": columns, "kernel": self.kernel._form()}}


@dataclass(frozen=True, eq=False)
class Mahalanobis(Kernel):
    """exp(-(x - y)^T M (x - y)).

    Parameters
    ----------
    metric : array-like of shape (n_features, n_features)
        M, symmetric and positive semidefinite.

    Examples
    --------
    >>> from kernsift import Mahalanobis
    >>> Mahalanobis([[1.0, 0.0], [0.0, 0.0]])([[0.0, 0.0], [1.0, 9.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    metric: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        metric = np.array(self.metric, dtype=np.float64)
        if metric.ndim != 2 or metric.shape[0] != metric.shape[1]:
            raise ValueError(f"metric must be a square matrix, got shape {metric.shape}.")
        if not np.isfinite(metric).all():
            raise ValueError("metric must be finite.")
        metric.flags.writeable = False
        object.__setattr__(self, "metric", metric)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mahalanobis) and np.array_equal(self.metric, other.metric)

    def __hash__(self) -> int:
        return hash((self.metric.shape, self.metric.tobytes()))

    def _form(self) -> Any:
        flat = self.metric.ravel().tolist()
        return {"mahalanobis": {"metric": {"v": 1, "dim": list(self.metric.shape), "data": flat}}}


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """A weighted sum of kernels; also made by ``+`` and ``*``.

    Parameters
    ----------
    parts : sequence of (float, Kernel)
        Weights and kernels. The sum is positive semidefinite if no weight is negative.

    Examples
    --------
    >>> from kernsift import Linear, Sum, WhiteNoise
    >>> Sum([(2.0, Linear()), (0.5, WhiteNoise())])([[1.0], [3.0]])
    array([[ 2.5,  6. ],
           [ 6. , 18.5]])
    """

    parts: tuple[tuple[float, Kernel], ...]

    def __post_init__(self) -> None:
        parts = tuple((float(weight), kernel) for weight, kernel in self.parts)
        if not parts:
            raise ValueError("a sum needs at least one kernel.")
        if not all(math.isfinite(weight) for weight, _ in parts):
            raise ValueError("weights must be finite numbers.")
        object.__setattr__(self, "parts", parts)

    def __repr__(self) -> str:
        return " + ".join(f"{weight!r} * {kernel!r}" for weight, kernel in self.parts)

    def _form(self) -> Any:
        return {"sum": [[weight, kernel._form()] for weight, kernel in self.parts]}


def _parts(kernel: Kernel) -> tuple[tuple[float, Kernel], ...]:
    return kernel.parts if isinstance(kernel, Sum) else ((1.0, kernel),)


def _store_finite(kernel: Kernel, name: str) -> None:
    value = float(getattr(kernel, name))
    if not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value}.")
    # The dataclass is frozen.
    object.__setattr__(kernel, name, value)


def _store_positive(kernel: Kernel, name: str) -> None:
    _store_finite(kernel, name)
    if getattr(kernel, name) <= 0:
        raise ValueError(f"{name} must be a positive number, got {getattr(kernel, name)}.")


def _from_form(form: Any) -> Kernel:
    if isinstance(form, str):
        return {"linear": Linear, "white-noise": WhiteNoise}[form]()
    ((name, content),) = form.items()
    match name:
        case "rbf":
            return RBF(**content)
        case "polynomial":
            return Polynomial(**content)
        case "laplacian":
            return Laplacian(**content)
        case "on-feature":
            return OnFeature(content["feature"], _from_form(content["kernel"]))
        case "on-columns":
            columns = content["columns"]
            return OnColumns(columns["start"], columns["end"], _from_form(content["kernel"]))
        case "mahalanobis":
            metric = content["metric"]
            return Mahalanobis(np.array(metric["data"], dtype=np.float64).reshape(metric["dim"]))
        case "sum":
            return Sum(tuple((weight, _from_form(kernel)) for weight, kernel in content))
        case _:
            raise ValueError(f"no kernel '{name}'")


def choice_form(kernel: Any, gamma: Any, degree: int, coef0: float) -> Any:
    """A kernel in the core's serialized form, with a gamma that may depend on the data."""
    if isinstance(kernel, Kernel):
        return {"fixed": kernel._form()}
    return {
        "named": {
            "family": kernel,
            "gamma": gamma if isinstance(gamma, str) else float(gamma),
            "degree": int(degree),
            "coef0": float(coef0),
        }
    }
