"""Data sets that come with kernsift, and made-up ones with known answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

from kernsift import _native
from kernsift._crossing import FloatArray, IntArray, settings
from kernsift._html import facts_table
from kernsift._kept import counted

__all__ = ["Dataset", "list_datasets", "load_dataset", "make_synthetic"]


class Dataset(Bunch):
    """A data set: what :func:`load_dataset` gives.

    It is a :class:`~sklearn.utils.Bunch`, a dict whose keys are attributes too, that prints shortly.

    Examples
    --------
    >>> from kernsift.datasets import load_dataset
    >>> load_dataset("wine")
    <kernsift data: wine, 178 rows, 13 columns, 3 classes>
    """

    def __repr__(self) -> str:
        return f"<kernsift data: {', '.join([self.name, *self._sizes()])}>"

    def _repr_html_(self) -> str:
        rows, columns, target = self._sizes()
        facts = [("size", f"{rows}, {columns}"), ("target", target)]
        facts += [("source", self.source), ("license", self.license)]
        return facts_table(facts, self.name)

    def _sizes(self) -> tuple[str, str, str]:
        n, d = self.data.shape
        names = self.target_names
        target = "numbers" if names is None else f"{len(names)} classes"
        return counted(n, "row"), counted(d, "column"), target


def list_datasets() -> list[str]:
    """List the data sets that come with kernsift.

    Returns
    -------
    names : list of str
        Names for :func:`load_dataset`.

    Examples
    --------
    >>> from kernsift.datasets import list_datasets
    >>> "wine" in list_datasets()
    True
    """
    return [about["name"] for about in _native.list_datasets()]


def load_dataset(name: str) -> Dataset:
    """Load a data set that comes with kernsift.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.

    Returns
    -------
    data : Dataset
        With `name`, `data` (array of shape (n_samples, n_features)), `target` (class numbers, or numbers),
        `feature_names`, `target_names` (None if the target is a number), `source`, `license` and `DESCR`.

    Examples
    --------
    >>> from kernsift.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> wine.data.shape, wine.target_names
    ((178, 13), ['0', '1', '2'])
    >>> wine.license
    'BSD-3-Clause'
    """
    found = _native.load_dataset(name)
    size = f"{found['n_samples']} rows, {found['n_features']} features"
    text = (
        f"{name}: {found['about']}\n\n{size}, target: {found['target_type']}.\n"
        f"Source: {found['source']}.\nLicense: {found['license']}.\n"
    )
    return Dataset(
        name=name,
        data=found["data"],
        target=found["target"],
        feature_names=found["feature_names"],
        target_names=found.get("target_names"),
        source=found["source"],
        license=found["license"],
        DESCR=text,
    )


def make_synthetic(
    pattern: str = "xor",
    n_samples: int = 500,
    n_features: int = 20,
    noise: float = 0.0,
    continuous: bool = False,
    random_state: Any = None,
) -> tuple[FloatArray, npt.NDArray[Any], IntArray]:
    """Make data whose relevant columns are known.

    All columns are independent standard normal unless they are copies. The relevant ones stand at random
    places; with u1, u2, ... for them, a row is of class 1 where a score is positive.

    Parameters
    ----------
    pattern : {"linear", "ring", "xor", "xor-ring", "redundant", "noise"}, default="xor"
        The score. "linear": u1 + u2. "ring": (u1^2 + u2^2) / 2 - ln 2, which no linear method can see.
        "xor": u1 u2, invisible to every method that looks at one column at a time. "xor-ring":
        u1 u2 + (u3^2 + u4^2) / 2 - 1. "redundant": as linear, and two noisy copies of each column.
        "noise": a fair coin.
    n_samples : int, default=500
        Rows.
    n_features : int, default=20
        Columns, relevant ones included.
    noise : float, default=0.0
        Standard deviation of normal noise that is added to the score.
    continuous : bool, default=False
        Make the score itself the target.
    random_state : int, RandomState instance or None, default=None
        With an int the data are always the same; None is numpy's global generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    y : ndarray of shape (n_samples,)
        Class numbers, or scores.
    relevant : ndarray
        The relevant columns. For "redundant" the two originals come first, then the copies of the first,
        then those of the second.

    Examples
    --------
    >>> from kernsift import FisherScore
    >>> from kernsift.datasets import make_synthetic
    >>> X, y, relevant = make_synthetic("linear", random_state=0)
    >>> set(FisherScore(2).fit(X, y).order_[:2]) == set(relevant)
    True
    """
    seed = settings(random_state, None, 0).seed
    made = _native.make_synthetic(pattern, n_samples, n_features, float(noise), bool(continuous), seed)
    return np.asarray(made["data"]), np.asarray(made["target"]), np.asarray(made["relevant"])
