"""Built-in data sets, and synthetic ones with known relevant features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

from kernsift import _native
from kernsift._html import facts_table
from kernsift._native_data import FloatArray, IntArray, settings
from kernsift._parameters import documented
from kernsift._selected import counted

__all__ = ["Dataset", "list_datasets", "load_dataset", "make_synthetic"]


class Dataset(Bunch):
    """A data set of :func:`load_dataset`: a :class:`~sklearn.utils.Bunch` with a short repr.

    Examples
    --------
    >>> from kernsift.datasets import load_dataset
    >>> load_dataset("wine")
    <kernsift data: wine, 178 samples, 13 features, 3 classes>
    """

    def __repr__(self) -> str:
        return f"<kernsift data: {', '.join([self.name, *self._sizes()])}>"

    def _repr_html_(self) -> str:
        samples, features, target = self._sizes()
        facts = [("size", f"{samples}, {features}"), ("target", target)]
        facts += [("source", self.source), ("license", self.license)]
        return facts_table(facts, self.name)

    def _sizes(self) -> tuple[str, str, str]:
        n, d = self.data.shape
        names = self.target_names
        target = "continuous target" if names is None else f"{len(names)} classes"
        return counted(n, "sample"), counted(d, "feature"), target


def list_datasets() -> list[str]:
    """List the built-in data sets.

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
    """Load a built-in data set.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.

    Returns
    -------
    data : Dataset
        With `name`, `data` (array of shape (n_samples, n_features)), `target` (class indices or a continuous
        target), `feature_names`, `target_names` (None if the target is continuous), `source`, `license` and
        `DESCR`.

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
    size = f"{found['n_samples']} samples, {found['n_features']} features"
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


@documented()
def make_synthetic(
    pattern: str = "xor",
    n_samples: int = 500,
    n_features: int = 20,
    noise: float = 0.0,
    continuous: bool = False,
    random_state: Any = None,
) -> tuple[FloatArray, npt.NDArray[Any], IntArray]:
    """Make synthetic data with known relevant features.

    All features are independent standard normal unless they are copies. The relevant features u1, u2, ... are
    at random positions; a sample is of class 1 if a score is positive.

    Parameters
    ----------
    pattern : {"linear", "ring", "xor", "xor-ring", "redundant", "noise"}, default="xor"
        The score. "linear": u1 + u2. "ring": (u1^2 + u2^2) / 2 - ln 2, which linear methods do not find.
        "xor": u1 u2, which methods that score one feature at a time do not find. "xor-ring": u1 u2 + (u3^2 +
        u4^2) / 2 - 1. "redundant": as linear, with two noisy copies of each relevant feature. "noise": random
        classes.
    n_samples : int, default=500
        Number of samples.
    n_features : int, default=20
        Number of features, relevant ones included.
    noise : float, default=0.0
        Standard deviation of Gaussian noise that is added to the score.
    continuous : bool, default=False
        Whether the score itself is the target.
    {random_state}

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    y : ndarray of shape (n_samples,)
        Classes 0 and 1, or scores.
    relevant : ndarray
        Indices of the relevant features. For "redundant", the two originals, then the copies of the first,
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
