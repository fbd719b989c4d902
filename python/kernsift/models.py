"""Models that the command line saved."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kernsift import _native
from kernsift._crossing import FloatArray, Settings, checked_array, frame_names, native_rows, settings
from kernsift._html import MOST_BARS, facts_table
from kernsift._kept import shortened

__all__ = ["SavedModel", "load_model"]


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model file.

    Such a file holds numbers and names, nothing that is ever run: unlike a pickle it is safe to open.
    One that is cut off, altered or of a newer version is refused.

    Parameters
    ----------
    path : str or path
        A file that ``kernsift basis --save``, ``kernsift design --save`` or ``kernsift select --save`` wrote,
        the last also with methods that select in kernel space, such as TAKES.

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

    A file that is not there, or no model, is refused:

    >>> load_model("nowhere.ks")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    FileNotFoundError: ...
    """
    return SavedModel(_native.Model.load(os.fspath(path)))


class SavedModel:
    """A basis, a selection, both or a kernel from a file, ready for new data; see :func:`load_model`.

    Basis and selection together is what TAKES and its kin make: it gives the directions of kernel space that
    were kept, and knows classes. A kernel is what ``kernsift design`` learns: see :meth:`kernel`.

    Attributes
    ----------
    method : str
        The method that made it.
    feature_names_in_ : ndarray of str
        The columns that a frame must have.

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
            ("gives", _listed(self.get_feature_names_out())),
        ]
        return facts_table(facts, "kernsift model")

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Name the columns that :meth:`transform` gives.

        Parameters
        ----------
        input_features : None
            Not used; the model has its names.

        Returns
        -------
        names : ndarray of str
            The names.
        """
        return np.array(self._model.output_names(), dtype=object)

    def transform(self, X: Any) -> FloatArray:
        """Prepare rows as the training rows were, and apply the model.

        Parameters
        ----------
        X : dataframe, array-like or sparse matrix
            A frame of pandas or polars or a table of pyarrow, of which the columns are found by name whatever
            their order; or an array with the columns of `feature_names_in_`, in that order.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features_out)
            Coordinates, or the columns that were selected; of a kernel how alike the rows are among
            themselves. A model made to leave out rows with gaps does so here, and warns.
        """
        made: FloatArray = self._answer(X, self._model.apply, self._model.apply_table)
        return made

    def kernel(self, X: Any, Z: Any = None, noise: bool = False) -> FloatArray:
        """Compute the Gram matrix of a learned kernel.

        Parameters
        ----------
        X : dataframe, array-like or sparse matrix
            As for :meth:`transform`. A frame needs only the columns that the kernel looks at.
        Z : dataframe, array-like or sparse matrix, default=None
            Rows to compare with; None stands for `X`.
        noise : bool, default=False
            Whether the white noise that makes the kernel positive semidefinite on its training rows is part
            of it.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Z)
            The kernel of every row of `X` with every row of `Z`. Only a model that ``kernsift design`` made
            has one; others raise ValueError.
        """
        others = None if Z is None or Z is X else Z

        def plain(x: Any, run: Settings) -> FloatArray:
            z = None if others is None else native_rows(self._checked(others))
            return self._model.gram(x, z, noise, run)

        def by_table(columns: list[tuple[str, Any]], run: Settings) -> tuple[FloatArray, int]:
            z = None if others is None else self._columns(others)
            return self._model.gram_table(columns, z, noise, run)

        made: FloatArray = self._answer(X, plain, by_table)
        return made

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Prepare rows as the training rows were, and predict their classes.

        Parameters
        ----------
        X : dataframe, array-like or sparse matrix
            As for :meth:`transform`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The classes as they were in the file the model was made from: whole numbers if all of them are,
            else text. Only a model of selection in kernel space knows them; others raise ValueError.
        """
        names = self._model.class_names()
        whole = all(name == str(int(name)) if name.lstrip("-").isdecimal() else False for name in names)
        classes = np.array([int(name) for name in names] if whole else names)
        predicted: npt.NDArray[Any] = classes[self._answer(X, self._model.predict, self._model.predict_table)]
        return predicted

    def _answer(self, X: Any, plain: Callable[..., Any], by_table: Callable[..., tuple[Any, int]]) -> Any:
        """What the model says of rows of numbers, or of a table that needs preparing."""
        if sparse.issparse(X) or not self._model.prepares():
            return plain(native_rows(self._checked(X)), settings(0, None, 0))
        made, left_out = by_table(self._columns(X), settings(0, None, 0))
        if left_out:
            warnings.warn(f"{left_out} rows with missing values were left out.", UserWarning, stacklevel=3)
        return made

    def _checked(self, X: Any) -> Any:
        """Rows of numbers, in the order of training where they have names."""
        return checked_array(X if sparse.issparse(X) else self._in_order(X))

    def _in_order(self, X: Any) -> Any:
        """A frame's columns in the order of training; an array as it is."""
        names = list(self.feature_names_in_)
        if not set(names) <= set(frame_names(X)):
            return X
        # A table of pyarrow does not take several names in brackets.
        return X.select(names) if hasattr(X, "column_names") else X[names]

    def _columns(self, X: Any) -> list[tuple[str, Any]]:
        if hasattr(X, "columns"):
            return [(str(name), _cells(X[name])) for name in frame_names(X)]
        x = np.asarray(X)
        if x.ndim != 2 or x.shape[1] != len(self.feature_names_in_):
            raise ValueError(
                f"the model needs an array of {len(self.feature_names_in_)} columns, got the shape {x.shape}."
            )
        return [(name, _cells(x[:, j])) for j, name in enumerate(self.feature_names_in_)]


def _listed(names: npt.NDArray[np.object_]) -> str:
    """How many names, and the first of them."""
    more = "" if len(names) <= MOST_BARS else " and more"
    return f"{len(names)}: {', '.join(shortened(name, 16) for name in names[:MOST_BARS])}{more}"


def _cells(column: Any) -> Any:
    """Numbers as an array with NaN for gaps, text as a list with None for gaps."""
    try:
        return np.ascontiguousarray(_numbers(column), dtype=np.float64)
    except (TypeError, ValueError):
        listed = next(name for name in ("to_list", "to_pylist", "tolist") if hasattr(column, name))
        cells = getattr(column, listed)()
        # A gap is None or a NaN, which is not equal to itself.
        return [None if cell is None or cell != cell else str(cell) for cell in cells]


def _numbers(column: Any) -> Any:
    if hasattr(column, "to_numpy"):
        # pandas marks gaps of nullable columns by an object that is no number.
        try:
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        except TypeError:
            return column.to_numpy()
    return column
