"""Models saved by the command line."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kernsift import _native
from kernsift._frames import as_frame, frame_names, native_columns, warn_of_others
from kernsift._html import MAX_BARS, facts_table
from kernsift._native_data import FloatArray, Settings, checked_array, native_rows, settings
from kernsift._selected import shortened
from kernsift._warnings import warn

__all__ = ["SavedModel", "load_model"]


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model file.

    A model file contains numbers and names, no code: unlike a pickle it is safe to open. A truncated or
    altered file, or one of a newer version, is an error.

    Parameters
    ----------
    path : str or path
        A file from ``kernsift basis --save``, ``kernsift design --save`` or ``kernsift select --save``.

    Returns
    -------
    model : SavedModel
        The model.

    Examples
    --------
    After ``kernsift select builtin:wine -m fisher -k 3 --save wine.ks``:

    >>> from kernsift import load_model
    >>> model = load_model("wine.ks")  # doctest: +SKIP
    >>> model.get_feature_names_out()  # doctest: +SKIP

    A file that does not exist, or is not a model, is an error:

    >>> load_model("nowhere.ks")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    FileNotFoundError: ...
    """
    return SavedModel(_native.Model.load(os.fspath(path)))


class SavedModel:
    """A saved basis, selection, selection in kernel space, or kernel; see :func:`load_model`.

    A selection in kernel space, such as that of TAKES, transforms samples to the selected directions and
    predicts classes. ``kernsift design`` saves a kernel, see :meth:`kernel`.

    Attributes
    ----------
    method : str
        The method of the model.
    feature_names_in_ : ndarray of str
        The columns that a data frame must have.

    Examples
    --------
    After ``kernsift basis builtin:wine --save wine.ks``:

    >>> from kernsift import load_dataset, load_model
    >>> model = load_model("wine.ks")  # doctest: +SKIP
    >>> model.transform(load_dataset("wine").data)  # doctest: +SKIP
    """

    def __init__(self, model: _native.Model) -> None:
        self._model = model
        self.method: str = model.method()
        self.feature_names_in_: npt.NDArray[np.object_] = np.array(model.input_names(), dtype=object)

    def __repr__(self) -> str:
        return f"<kernsift model: {self.method} of {len(self.feature_names_in_)} columns>"

    def _repr_html_(self) -> str:
        facts = [
            ("method", self.method),
            ("columns", _listed(self.feature_names_in_)),
            ("output", _listed(self.get_feature_names_out())),
        ]
        return facts_table(facts, "kernsift model")

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : None
            Ignored; the model contains the names.

        Returns
        -------
        names : ndarray of str
            The names.
        """
        return np.array(self._model.output_names(), dtype=object)

    def transform(self, X: Any) -> FloatArray:
        """Prepare samples as in training, and apply the model.

        Parameters
        ----------
        X : dataframe, array-like or sparse matrix
            A data frame of pandas or polars or a table of pyarrow, whose columns are found by name; or an
            array with the columns of `feature_names_in_`, in that order.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features_out)
            Coordinates, or the selected features with their original values; for a kernel, the Gram matrix
            of the samples. A model that drops rows with missing values does so here, with a warning.
        """
        made: FloatArray = self._answer(X, self._model.apply, self._model.apply_table)
        return made

    def kernel(self, X: Any, Z: Any = None, noise: bool = False) -> FloatArray:
        """Compute the Gram matrix of a learned kernel.

        Parameters
        ----------
        X : dataframe, array-like or sparse matrix
            As for :meth:`transform`. A data frame needs only the columns that the kernel uses.
        Z : dataframe, array-like or sparse matrix, default=None
            Samples to compare with; None is `X`.
        noise : bool, default=False
            Whether to add the white noise that makes the kernel positive semidefinite on its training
            samples.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Z)
            The kernel values of the samples of `X` and `Z`. Only models of ``kernsift design`` have a kernel;
            others raise ValueError.
        """
        others = None if Z is None or Z is X else Z

        def plain(x: Any, run: Settings) -> FloatArray:
            z = None if others is None else native_rows(self._checked(others))
            return self._model.gram(x, z, noise, run)

        def by_table(
            columns: list[tuple[str, Any]], run: Settings
        ) -> tuple[FloatArray, int, list[tuple[str, int]]]:
            z = None if others is None else self._columns(others)
            return self._model.gram_table(columns, z, noise, run)

        made: FloatArray = self._answer(X, plain, by_table)
        return made

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Prepare samples as in training, and predict their classes.

        Parameters
        ----------
        X : dataframe, array-like or sparse matrix
            As for :meth:`transform`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted class labels, as in the training file: integers if all of them are, else str. Only
            models of selection in kernel space predict; others raise ValueError.
        """
        names = self._model.class_names()
        integers = all(name == str(int(name)) if name.lstrip("-").isdecimal() else False for name in names)
        classes = np.array([int(name) for name in names] if integers else names)
        predicted: npt.NDArray[Any] = classes[self._answer(X, self._model.predict, self._model.predict_table)]
        return predicted

    def _answer(
        self, X: Any, plain: Callable[..., Any], by_table: Callable[..., tuple[Any, int, Any]]
    ) -> Any:
        """Applies the model to an array, or to a table that needs preprocessing."""
        if sparse.issparse(X) or not self._model.prepares():
            return plain(native_rows(self._checked(X)), settings(0, None, 0))
        made, dropped, others = by_table(self._columns(X), settings(0, None, 0))
        if dropped:
            warn(f"{dropped} rows with missing values were dropped.")
        warn_of_others(others)
        return _matrix(made) if isinstance(made, dict) else made

    def _checked(self, X: Any) -> Any:
        """Validated samples; the columns of a frame in the order of training."""
        return checked_array(X if sparse.issparse(X) else self._in_order(X))

    def _in_order(self, X: Any) -> Any:
        """The columns of a frame in the order of training; an array unchanged."""
        X, names = as_frame(X), list(self.feature_names_in_)
        if not set(names) <= set(frame_names(X)):
            return X
        # A pyarrow table does not support several names in brackets.
        return X.select(names) if hasattr(X, "column_names") else X[names]

    def _columns(self, X: Any) -> list[tuple[str, Any]]:
        X = as_frame(X)
        if frame_names(X):
            return list(native_columns(X))
        x = np.asarray(X)
        if x.ndim != 2 or x.shape[1] != len(self.feature_names_in_):
            raise ValueError(
                f"the model needs an array of {len(self.feature_names_in_)} columns, got shape {x.shape}."
            )
        return [(name, _cells(x[:, j])) for j, name in enumerate(self.feature_names_in_)]


def _matrix(columns: dict[str, Any]) -> npt.NDArray[Any]:
    """The columns of a dict; of type object if one of them holds text."""
    numeric = all(isinstance(cells, np.ndarray) for cells in columns.values())
    return np.column_stack([np.asarray(cells, None if numeric else object) for cells in columns.values()])


def _listed(names: npt.NDArray[np.object_]) -> str:
    """The number of names, and the first of them."""
    more = "" if len(names) <= MAX_BARS else " and more"
    return f"{len(names)}: {', '.join(shortened(name, 16) for name in names[:MAX_BARS])}{more}"


def _cells(column: npt.NDArray[Any]) -> Any:
    """Numbers as an array, text as a list; missing values are NaN and None."""
    try:
        return np.ascontiguousarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        # NaN is not equal to itself.
        return [None if cell is None or cell != cell else str(cell) for cell in column.tolist()]
