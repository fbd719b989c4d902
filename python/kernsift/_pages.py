"""Pages about fitted estimators."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernsift import _native
from kernsift._crossing import Check, NamedRows, Settings, checked_rows, native_rows, native_target, settings
from kernsift._kept import column_names

#: Rows by which a choice is checked, at most: an evaluator's time grows with their square.
ROWS = 2000
#: Parameters that settle how many columns are kept, where they are None unless given.
SETTLE = ("n_features_to_select", "penalty", "radius", "C")
#: What is usual.
CV, NAME = 5, "X"


class MakesPages:
    """Makes a page about itself."""

    def to_html(
        self,
        X: Any,
        y: Any = None,
        path: str | os.PathLike[str] | None = None,
        *,
        cv: int | None = CV,
        name: str = NAME,
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
        if cv is not None and not (isinstance(cv, Integral) and 2 <= cv <= x.shape[0]):
            raise ValueError(f"cv must be a number of folds from 2 to {x.shape[0]}, or None, got {cv!r}.")
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
        # Triples are not about single rows.
        self.has_triples = np.ndim(y) == 2 and np.shape(y)[1] == 3
        self.y = y if y is None or self.has_triples else column_or_1d(y, warn=True)
        self.target_name = called if isinstance(called := getattr(y, "name", None), str) else None
        self.x, self.cv, self.name = x, cv, name
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
        if self.y is None or self.has_triples:
            return None
        usual = "class" if hasattr(self.estimator, "classes_") else "auto"
        return native_target(self.y, getattr(self.estimator, "target_type", usual), "y")

    def asked(self) -> str:
        estimator = self.estimator
        gaps = 0 if not isinstance(self.x, np.ndarray) else int(np.isnan(self.x).sum())
        scaled = getattr(estimator, "standardize", False)
        arguments = "X" if self.y is None else "X, y"
        options = "" if self.cv == CV else f", cv={self.cv}"
        options += "" if self.name == NAME else f", name={self.name!r}"
        return json.dumps(
            {
                "data": self.name,
                "target": self.target_name,
                "missing_values": f"{gaps}: kept" if gaps else None,
                "scaling": "standardized" if scaled else "none",
                "method": type(estimator).__name__,
                "settings": {key: _plain(value) for key, value in estimator.get_params().items()},
                "seed": self.seed if isinstance(estimator.random_state, Integral) else None,
                "seconds": getattr(estimator, "_fit_seconds", None),
                "peak_bytes": getattr(estimator, "_fit_peak", None),
                "command": f"{estimator!r}.fit({arguments}).to_html({arguments}{options})",
            }
        )

    def check(self, kept: int, most: int) -> Check:
        """The method in folds, as the native half takes it; or why it was not checked."""
        from kernsift.evaluate import compare

        if self.cv is None:
            return "Cross-validation was disabled (cv=None)."
        if self.y is None:
            return "Cross-validation needs a target."
        if isinstance(self.x, np.ndarray) and np.isnan(self.x).any():
            return "Cross-validation does not support missing values."
        estimator = clone(self.estimator)
        # What else settles how many columns are kept would leave no room for a number of them.
        usual = type(estimator)().get_params(deep=False)
        settled = [name for name in SETTLE if name in usual and usual[name] is None]
        estimator.set_params(**dict.fromkeys(settled))
        x, y = self.x, self.y
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
            return f"Cross-validation failed: {error}"
        return (found._text, found._costs, counts, found.scoring)


def _plain(value: Any) -> Any:
    """A setting as JSON has it, or as Python prints it."""
    if isinstance(value, np.generic):
        value = value.item()
    is_number = isinstance(value, float) and np.isfinite(value)
    return value if value is None or is_number or isinstance(value, bool | int | str) else repr(value)
