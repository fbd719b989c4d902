"""Pages about fitted estimators."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from kernsift import _native
from kernsift._crossing import Check, NamedRows, Settings, checked_rows, native_rows, native_target, settings
from kernsift._kept import column_names

#: Rows by which a choice is checked, at most: a judge's time grows with their square.
ROWS = 2000


class MakesPages:
    """Makes a page about itself."""

    def to_html(
        self,
        X: Any,
        y: Any = None,
        path: str | os.PathLike[str] | None = None,
        *,
        cv: int | None = 5,
        name: str = "X",
    ) -> str | None:
        """Make one self-contained page: the answer, how good it is, and pictures of it.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows that were fitted.
        y : array-like, default=None
            What was fitted with them.
        path : path or None, default=None
            Where to write it; None returns the text.
        cv : int or None, default=5
            For a selection: folds in which the choice is made anew, for several numbers of features, and
            judged on the rows left out. None does without. Of more than 2000 rows a sample is looked at.
        name : str, default="X"
            What the page calls the data.

        Returns
        -------
        page : str or None
            The page, if no path was given.
        """
        check_is_fitted(self)
        allows_gaps = self.__sklearn_tags__().input_tags.allow_nan  # type: ignore[attr-defined]
        x = checked_rows(self, X, reset=False, ensure_all_finite="allow-nan" if allows_gaps else True)
        page = self._page(PageParts(self, x, y, cv, name))
        if path is None:
            return page
        _native.write_text(os.fspath(path), page)
        return None

    @abstractmethod
    def _page(self, parts: PageParts) -> str:
        """The page's text."""


class PageParts:
    """What every page needs of an estimator and its rows."""

    def __init__(self, estimator: Any, x: Any, y: Any, cv: int | None, name: str) -> None:
        self.estimator = estimator
        self.x, self.y, self.cv, self.name = x, y, cv, name
        self.rows = native_rows(x)
        self.names = [str(column) for column in column_names(estimator)]

    @property
    def seed(self) -> int:
        """A number to draw by: a generator must not move on."""
        given = self.estimator.random_state
        return int(given) if isinstance(given, Integral) else 0

    @property
    def run(self) -> Settings:
        return settings(self.seed, self.estimator.n_jobs, self.estimator.verbose)

    def target(self) -> Any:
        """The target as the native half takes it; none if there is none, or if it has triples."""
        if self.y is None or np.ndim(self.y) != 1:
            return None
        usual = "class" if hasattr(self.estimator, "classes_") else "auto"
        return native_target(self.y, getattr(self.estimator, "target_type", usual), "y")

    def asked(self) -> str:
        estimator = self.estimator
        gaps = 0 if not isinstance(self.x, np.ndarray) else int(np.isnan(self.x).sum())
        scaled = getattr(estimator, "standardize", False)
        arguments = "X" if self.y is None else "X, y"
        return json.dumps(
            {
                "data": self.name,
                "target": name if isinstance(name := getattr(self.y, "name", None), str) else None,
                "empty_cells": f"{gaps}: left empty" if gaps else None,
                "scaling": "mean 0 and variance 1" if scaled else "columns as they are",
                "method": type(estimator).__name__,
                "settings": {key: _plain(value) for key, value in estimator.get_params().items()},
                "seed": self.seed if isinstance(estimator.random_state, Integral) else None,
                "seconds": getattr(estimator, "_fit_seconds", None),
                "again": f"{estimator!r}.fit({arguments}).to_html({arguments})",
            }
        )

    def check(self, kept: int, most: int) -> Check:
        """The method in folds, as the native half takes it; or why it was not checked."""
        from kernsift.evaluate import compare

        if self.cv is None:
            return "Not asked for (cv=None)."
        if self.y is None:
            return "There is no target to judge by."
        if isinstance(self.x, np.ndarray) and np.isnan(self.x).any():
            return "Rows have empty cells, which no judge takes."
        estimator = clone(self.estimator).set_params(n_features_to_select=None)
        x, y = self.x, np.asarray(self.y)
        if x.shape[0] > ROWS:
            chosen = np.sort(np.random.RandomState(self.seed % 2**32).permutation(x.shape[0])[:ROWS])
            x, y = x[chosen], y[chosen]
        counts = _native.counts_around(kept, most)
        try:
            found = compare(
                NamedRows(x, self.names),
                y,
                {type(estimator).__name__: estimator},
                counts,
                self.cv,
                target_type=getattr(estimator, "target_type", "auto"),
                standardize=bool(estimator.standardize),
                name=self.name,
                random_state=self.seed,
                n_jobs=estimator.n_jobs,
                verbose=estimator.verbose,
            )
        except ValueError as error:
            return f"It could not be checked: {error}"
        return (found._text, found._costs, counts, found.scoring)


def _plain(value: Any) -> Any:
    """A setting as JSON has it, or as Python prints it."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | str) else repr(value)
