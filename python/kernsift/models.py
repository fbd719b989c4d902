"""Files of saved models."""

from __future__ import annotations

import copy
import importlib
import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernsift import _native
from kernsift._frames import (
    array_cells,
    as_frame,
    frame_names,
    native_columns,
    options_json,
    warn_of_others,
)
from kernsift._html import MAX_BARS, facts_table
from kernsift._native_data import FloatArray, Settings, checked_array, native_rows, settings
from kernsift._selected import shortened
from kernsift._sklearn import _get_output_config
from kernsift._warnings import warn

__all__ = ["SavedModel", "load_model", "save_model"]


def save_model(selector: Any, X: Any, path: str | os.PathLike[str]) -> None:
    """Save the features of a fitted selector, with how to read their columns and encode their values.

    The command line writes the same file with ``kernsift select --save``. :func:`load_model` and
    ``kernsift apply`` read it. A file with the extension ``.json`` can also be applied by a few lines of any
    other language; the page "Saved models" of the documentation describes its fields.

    Parameters
    ----------
    selector : estimator
        A fitted feature selector of this package, or another with `get_support`.
    X : dataframe, array-like or sparse matrix
        The samples that it was fitted to. Types of columns, fill values of missing values and scales are
        learned from them, without weights.
    path : str or path
        The file. It is replaced if it exists.

    Examples
    --------
    >>> from kernsift import FisherScore, load_dataset, save_model
    >>> wine = load_dataset("wine")
    >>> selector = FisherScore(3).fit(wine.data, wine.target)
    >>> save_model(selector, wine.data, "wine.json")  # doctest: +SKIP
    >>> load_model("wine.json").get_feature_names_out()  # doctest: +SKIP
    """
    check_is_fitted(selector)
    X = as_frame(X)
    # The names and the number of the features are those of the fit.
    validate_data(selector, X, reset=False, skip_check_array=True)
    selected = np.flatnonzero(selector.get_support())
    scores: Any = getattr(selector, "scores_", getattr(selector, "frequencies_", None))
    if np.shape(scores) != (selector.n_features_in_,):
        # Scores of pairs, for example.
        scores = np.ones(selector.n_features_in_)
    scores = np.asarray(scores, dtype=np.float64)
    order = getattr(selector, "order_", selected[np.argsort(-scores[selected], kind="stable")])
    order = order[np.isin(order, selected)]
    inner = getattr(selector, "estimator", selector)
    run = settings(0, getattr(selector, "n_jobs", None), 0)
    if frame_names(X):
        options = getattr(inner, "_column_options", {})
        prepared, positions = _native.Prepared(native_columns(X), options_json(**options), run), order
    else:
        names = getattr(selector, "feature_names_in_", [f"x{j}" for j in range(selector.n_features_in_)])
        x = X.tocsc() if sparse.issparse(X) else np.asarray(X)
        columns = ((str(names[j]), array_cells(_dense(x[:, [j]]))) for j in selected)
        prepared, positions = (
            _native.Prepared(columns, options_json(include="*"), run),
            np.searchsorted(selected, order),
        )
    model = _native.Model.of_selection(
        prepared,
        getattr(selector, "_method", type(selector).__name__),
        list(zip(positions.tolist(), scores[order].tolist(), strict=True)),
        bool(getattr(inner, "standardize", True)),
        run,
    )
    model.save(os.fspath(path))


def load_model(path: str | os.PathLike[str], *, encode: bool = False) -> SavedModel:
    """Read a model file.

    A model file contains numbers and names, no code: unlike a pickle it is safe to open. A truncated or
    altered file, or one of a newer version, is an error.

    Parameters
    ----------
    path : str or path
        A file from :func:`save_model`, ``kernsift select --save``, ``kernsift basis --save`` or
        ``kernsift design --save``.
    encode : bool, default=False
        Whether :meth:`SavedModel.transform` of a selection encodes the features as numbers.

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
    return SavedModel(_native.Model.load(os.fspath(path)), encode)


class SavedModel(TransformerMixin, BaseEstimator):
    """A saved basis, selection, selection in kernel space, or kernel; see :func:`load_model`.

    It is a transformer of scikit-learn that is fitted already: :meth:`fit` changes nothing, so that it can
    be a step of a pipeline, and copies by :func:`sklearn.base.clone` stay fitted.

    A selection in kernel space, such as that of TAKES, transforms samples to the selected directions and
    predicts classes. ``kernsift design`` saves a kernel, see :meth:`kernel`.

    Attributes
    ----------
    method : str
        The method of the model.
    feature_names_in_ : ndarray of str
        The columns of an array. A data frame needs them, too, but for a selection only the selected ones.
    n_features_in_ : int
        Their number.
    encode : bool
        Whether :meth:`transform` of a selection encodes the features as numbers.

    Examples
    --------
    After ``kernsift basis builtin:wine --save wine.ks``:

    >>> from kernsift import load_dataset, load_model
    >>> model = load_model("wine.ks")  # doctest: +SKIP
    >>> model.transform(load_dataset("wine").data)  # doctest: +SKIP
    """

    def __init__(self, model: _native.Model, encode: bool = False) -> None:
        if encode:
            # Refuses other models.
            model.encoded_names()
        self._model = model
        self.encode = encode
        self.method: str = model.method()
        self.feature_names_in_: npt.NDArray[np.object_] = np.array(model.input_names(), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return ["encode"]

    def __sklearn_clone__(self) -> Self:
        return copy.copy(self)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Do nothing: the model is fitted.

        Parameters
        ----------
        X : object, default=None
            Ignored.
        y : object, default=None
            Ignored.

        Returns
        -------
        self : object
            The model.
        """
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"<kernsift model: {self.method} of {len(self.feature_names_in_)} columns>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

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
        names = self._model.encoded_names() if self.encode else self._model.output_names()
        return np.array(names, dtype=object)

    def get_support(self, indices: bool = False) -> npt.NDArray[Any]:
        """Which features a selection selects.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return positions instead of a mask.

        Returns
        -------
        support : ndarray
            A mask of `feature_names_in_`, or the positions of the selected features in ascending order. The
            columns of :meth:`transform` are in the order of the ranking. Models that are not selections raise
            ValueError.
        """
        selected = np.sort(self._model.selected())
        if indices:
            return selected
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[selected] = True
        return mask

    def transform(self, X: Any) -> Any:
        """Prepare samples as in training, and apply the model.

        Parameters
        ----------
        X : dataframe, array-like or sparse matrix
            A data frame of pandas or polars or a table of pyarrow, whose columns are found by name; or an
            array with the columns of `feature_names_in_`, in that order.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features_out)
            Coordinates, or the selected features with their original values, or with `encode` as numbers, as
            a fit encodes them: missing values are imputed, categories become indicators, and numbers are
            standardized. For a kernel, the Gram matrix of the samples. A model that drops rows with missing
            values does so here, with a warning. With :meth:`set_output`, a data frame, for which such rows
            are an error.
        """
        if self.encode:
            X = X.toarray() if sparse.issparse(X) else X
            return self._answer(X, self._model.apply, self._model.encode_table, framed=True)
        made = self._answer(X, self._model.apply, self._model.apply_table, framed=True)
        if not isinstance(made, dict):
            return made
        container = _get_output_config("transform", estimator=self)["dense"]
        if container == "default":
            return _matrix(made)
        # Each column keeps its type.
        frame = importlib.import_module(container).DataFrame(made)
        if container == "pandas" and len(frame) == len(getattr(X, "index", ())):
            frame.index = X.index
        return frame

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
        self,
        X: Any,
        plain: Callable[..., Any],
        by_table: Callable[..., tuple[Any, int, Any]],
        framed: bool = False,
    ) -> Any:
        """Applies the model to an array, or to a table that needs preprocessing."""
        if sparse.issparse(X) or not self._model.prepares():
            return plain(native_rows(self._checked(X)), settings(0, None, 0))
        made, dropped, others = by_table(self._columns(X), settings(0, None, 0))
        if dropped:
            if framed and _get_output_config("transform", estimator=self)["dense"] != "default":
                raise ValueError(
                    f"The model drops {dropped} rows with missing values, and a data frame would not say "
                    "which. Drop them before, or fit a model that imputes."
                )
            warn(f"{dropped} rows with missing values were dropped.")
        warn_of_others(others)
        return made

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
                f"the model needs an array of {len(self.feature_names_in_)} columns, got shape {x.shape}. It "
                f"has these columns in this order: {shortened(', '.join(self.feature_names_in_), 200)}. Pass "
                "them alone, or a data frame, whose columns are found by name."
            )
        return [(name, _cells(x[:, j])) for j, name in enumerate(self.feature_names_in_)]


def _dense(column: Any) -> npt.NDArray[Any]:
    """A column of a matrix as an array of one dimension."""
    dense: npt.NDArray[Any] = column.toarray() if sparse.issparse(column) else column
    return dense.ravel()


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
