"""Functions: Gram matrices, gamma, triplets."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

from kernsift import _native
from kernsift._base import KERNEL_CONSTRAINTS, RUN_CONSTRAINTS, SHARED_CONSTRAINTS
from kernsift._native_data import (
    FloatArray,
    IntArray,
    checked_array,
    method_json,
    native_int,
    native_rows,
    native_target,
    native_triplets,
    settings,
    to_json,
)
from kernsift._parameters import core_docs, documented
from kernsift._sklearn import Interval, validate_params
from kernsift._warnings import warn
from kernsift.bases import KOBL
from kernsift.kernels import Kernel, choice_form

__all__ = ["gamma_for_n_components", "gram", "triplet_accuracy", "triplets_from_labels"]

ROWS = ["array-like", "sparse matrix"]


@validate_params(
    {"X": ROWS, "Z": [*ROWS, None], **KERNEL_CONSTRAINTS},
    prefer_skip_nested_validation=True,
)
@documented(core_docs("kobl"))
def gram(
    X: Any,
    Z: Any = None,
    kernel: Any = "rbf",
    gamma: Any = "median",
    degree: int = 3,
    coef0: float = 1.0,
) -> FloatArray:
    """Compute a Gram matrix.

    Parameters
    ----------
    {X_gram}
    {Z}
    {kernel}
    {gamma}

        Both use `Z` if it is given, so that ``gram(X_new, X_train)`` has the kernel of ``gram(X_train)``.
    {degree}
    {coef0}

    Returns
    -------
    {K}

    See Also
    --------
    sklearn.metrics.pairwise.pairwise_kernels : The same with a number as `gamma`.

    Examples
    --------
    >>> from kernsift import gram
    >>> gram([[0.0], [1.0]], gamma=0.5).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    if not isinstance(kernel, Kernel):
        rows = checked_array(X) if Z is None else checked_array(Z, "Z")
        choice = to_json(choice_form(kernel, gamma, degree, coef0))
        kernel = Kernel.from_json(_native.resolve_kernel(choice, native_rows(rows), settings(0, None, 0)))
    k: FloatArray = kernel(X, Z)
    return k


@validate_params(
    {
        "X": ROWS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        **{
            name: KOBL._parameter_constraints[name]
            for name in ("threshold", "pivoting", "first_pivot", "tol")
        },
        **RUN_CONSTRAINTS,
    },
    prefer_skip_nested_validation=True,
)
@documented(core_docs("kobl"))
def gamma_for_n_components(
    X: Any,
    n_components: int,
    threshold: str | float | Callable[[float], float] | None = "linear",
    *,
    pivoting: str = "greedy",
    first_pivot: str = "first",
    tol: float = 0.0,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> float:
    """Find `gamma` of the RBF kernel at which KOBL finds a number of components.

    The number grows with `gamma`, so bisection finds it in about ten fits of KOBL.
    If no `gamma` gives exactly this number, the function warns and returns the nearest found.

    Parameters
    ----------
    {X}
    n_components : int
        Number of components, at most the number of samples.
    {threshold}

        A callable is the function f itself, see :class:`kernsift.KOBL`.
    {pivoting}
    {first_pivot}
    {tol}
    {random_state}
    {n_jobs}
    {verbose}

    Returns
    -------
    gamma : float
        Value of `gamma`.

    See Also
    --------
    kernsift.KOBL : The basis with this `gamma`.

    Examples
    --------
    >>> from kernsift import KOBL, gamma_for_n_components
    >>> from kernsift.datasets import load_dataset
    >>> X = load_dataset("iris").data
    >>> KOBL(gamma=gamma_for_n_components(X, 10)).fit(X).n_components_
    10
    """
    x = checked_array(X, ensure_min_samples=2)
    basis = KOBL(threshold=threshold, pivoting=pivoting, first_pivot=first_pivot, tol=tol)
    gamma, found = _native.gamma_for_n_components(
        method_json("kobl", basis._own_parameters()),
        native_rows(x),
        native_int("n_components", n_components),
        settings(random_state, n_jobs, verbose),
        threshold if callable(threshold) else None,
    )
    if found != n_components:
        text = f"no gamma gives exactly {n_components} components; the returned value gives {found}."
        warn(text)
    return gamma


@validate_params({"K": ["array-like"], "triplets": ["array-like"]}, prefer_skip_nested_validation=True)
def triplet_accuracy(K: Any, triplets: Any) -> float:
    """Compute the fraction of triplets that a Gram matrix satisfies.

    A triplet (i, j, k) states that sample i is closer to sample j than to sample k. It is satisfied if
    ``K[i, j] > K[i, k]``; equal values count one half.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Similarities, such as a Gram matrix.
    triplets : array-like of shape (n_triplets, 3)
        Indices i, j and k of the samples of each triplet.

    Returns
    -------
    accuracy : float
        The fraction, from 0 to 1.

    Examples
    --------
    >>> from kernsift import gram, triplet_accuracy
    >>> K = gram([[0.0], [1.0], [3.0]], gamma=0.5)
    >>> triplet_accuracy(K, [[0, 1, 2], [1, 2, 0]])
    0.5
    """
    k = checked_array(K, "K", accept_sparse=False)
    if k.shape[0] != k.shape[1]:
        raise ValueError(f"K must be square, got shape {k.shape}.")
    return _native.triplet_accuracy(k, native_triplets(triplets))


@validate_params(
    {
        "y": ["array-like"],
        "n": [Interval(Integral, 1, None, closed="left")],
        "random_state": RUN_CONSTRAINTS["random_state"],
        "target_type": SHARED_CONSTRAINTS["target_type"],
    },
    prefer_skip_nested_validation=True,
)
@documented()
def triplets_from_labels(
    y: Any, n: int = 1500, random_state: Any = None, *, target_type: str = "auto"
) -> IntArray:
    """Draw triplets from labels.

    A triplet (i, j, k) states that sample i is closer to sample j than to sample k. With class labels, i and
    j are of the same class and k is of another; samples without another of their class are never i. With a
    continuous target, ``y[j]`` is closer to ``y[i]`` than ``y[k]`` is.

    Every sample is i with the same probability. Triplets are distinct; if more are requested than exist, all
    occur equally often, up to one.

    Parameters
    ----------
    {target}
    n : int, default=1500
        Number of triplets.
    {random_state}
    {target_type}

    Returns
    -------
    triplets : ndarray of shape (n, 3)
        Indices i, j and k of the samples of each triplet.

    See Also
    --------
    triplet_accuracy : The fraction of triplets that a Gram matrix satisfies.

    Examples
    --------
    >>> from kernsift import triplets_from_labels
    >>> i, j, k = triplets_from_labels(["a", "b", "a", "a"], n=6, random_state=0).T
    >>> sorted(zip(i.tolist(), j.tolist(), k.tolist()))
    [(0, 2, 1), (0, 3, 1), (2, 0, 1), (2, 3, 1), (3, 0, 1), (3, 2, 1)]
    """
    return _native.triplets_from_target(
        native_target(y, target_type, "y"), native_int("n", n), settings(random_state, None, 0)
    )
