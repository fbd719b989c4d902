"""HTML reports about fitted estimators."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernsift import _native
from kernsift._frames import PreparedRows, as_frame, frame_names, prepare
from kernsift._html import saved
from kernsift._native_data import (
    Check,
    FloatArray,
    NamedRows,
    NativeRows,
    Settings,
    Target,
    checked_rows,
    n_outputs,
    native_rows,
    native_target,
    settings,
)
from kernsift._parameters import documented
from kernsift._selected import feature_names
from kernsift._splits import read_splits_of_rows
from kernsift.evaluate import compare

#: Maximum number of samples for cross-validation: the time of an evaluator grows with their square.
MAX_SAMPLES = 2000
#: Parameters that determine the number of features, if their default is None.
SIZE_PARAMETERS = ("n_features_to_select", "penalty", "radius", "C")
#: Defaults.
CV, NAME = 5, "X"


class ReportMixin:
    """Adds :meth:`to_html`, which makes a report."""

    @documented()
    def to_html(
        self,
        X: Any,
        y: Any = None,
        path: str | os.PathLike[str] | None = None,
        *,
        cv: int | None = CV,
        name: str = NAME,
    ) -> str | None:
        """Make a report as one self-contained HTML page: the result, its quality, and plots.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training samples.
        y : array-like, default=None
            The target of the fit.
        {path}
        cv : int or None, default=5
            Number of folds in which a selection is repeated, for several numbers of features, and evaluated
            on the held-out samples. None skips cross-validation. At most 2000 samples, drawn at random, are
            used. Groups given to `fit` are kept together; a splitter given as `cv` of the estimator makes the
            splits.
        name : str, default="X"
            Name of the data in the report.

        Returns
        -------
        {page}
        """
        check_is_fitted(self)
        allow_nan = self.__sklearn_tags__().input_tags.allow_nan  # type: ignore[attr-defined]
        x = checked_rows(self, X, reset=False, ensure_all_finite="allow-nan" if allow_nan else True)
        frame = as_frame(X)
        if hasattr(self, "scores_") and frame_names(frame):
            # The report shows features, not encoded columns.
            run = settings(0, self.n_jobs, 0)  # type: ignore[attr-defined]
            x = prepare(frame, run, **self._column_options)  # type: ignore[attr-defined]
        if cv is not None and not (isinstance(cv, Integral) and 2 <= cv <= x.shape[0]):
            raise ValueError(f"cv must be a number of folds from 2 to {x.shape[0]}, or None, got {cv!r}.")
        page = self._page(ReportParts(self, X, x, y, cv, name))
        return saved(page, path)

    @abstractmethod
    def _page(self, parts: ReportParts) -> str:
        """The HTML text."""


class ReportParts:
    """The parts of a report that do not depend on the kind of estimator."""

    def __init__(self, estimator: Any, given: Any, x: Any, y: Any, cv: int | None, name: str) -> None:
        self.estimator, self.given = estimator, given
        # Triplets are not a target with one value per sample.
        self.has_outputs = getattr(estimator, "_supports_outputs", False) and n_outputs(y) > 1
        self.has_triplets = n_outputs(y) == 3 and not self.has_outputs
        if y is None or self.has_triplets:
            self.y = y
        elif self.has_outputs:
            self.y = check_array(y, dtype=np.float64, input_name="y")
        else:
            self.y = column_or_1d(y, warn=True)
        self.target_name = called if isinstance(called := getattr(y, "name", None), str) else None
        self.x, self.cv, self.name = x, cv, name
        self.names = x.names if isinstance(x, PreparedRows) else _column_names(estimator)

    @property
    def seed(self) -> int:
        """The seed; a RandomState is not advanced."""
        given = self.estimator.random_state
        return int(given) if isinstance(given, Integral) else 0

    @property
    def run(self) -> Settings:
        return settings(self.seed, self.estimator.n_jobs, self.estimator.verbose)

    def native(self) -> tuple[str, NativeRows, list[str], Target | None]:
        """The facts about the fit, the samples, their feature names and the target."""
        return self._facts(), native_rows(self.x), self.names, self._target()

    def of_features(self, values: Any) -> Any:
        """Values of the columns of a frame as values of its features."""
        return values[self.x.native.positions] if isinstance(self.x, PreparedRows) else values

    def _target(self) -> Target | None:
        """The target in the form of the native module; None without a target, or if `y` holds triplets."""
        if self.y is None or self.has_triplets:
            return None
        if self.has_outputs:
            outputs: FloatArray = self.y
            return outputs
        default = "class" if hasattr(self.estimator, "classes_") else "auto"
        return native_target(self.y, getattr(self.estimator, "target_type", default), "y")

    def _facts(self) -> str:
        """Data, method and cost of the fit as JSON."""
        estimator = self.estimator
        account = None
        if isinstance(self.x, PreparedRows):
            n_missing, account = self.x.native.n_missing, json.loads(self.x.native.account)
        else:
            n_missing = int(np.isnan(self.x).sum()) if isinstance(self.x, np.ndarray) else 0
        scaled = getattr(estimator, "standardize", False)
        arguments = "X" if self.y is None else "X, y"
        chosen = ", ".join(f"{key}={value!r}" for key, value in estimator._column_options.items() if value)
        columns = f".set_columns({chosen})" if chosen else ""
        options = "" if self.cv == CV else f", cv={self.cv}"
        options += "" if self.name == NAME else f", name={self.name!r}"
        return json.dumps(
            {
                "data": self.name,
                "target": self.target_name,
                "account": account,
                "missing_values": str(n_missing) if n_missing else None,
                "scaling": "standardized" if scaled else "none",
                "method": type(estimator).__name__,
                "settings": {key: _plain(value) for key, value in estimator.get_params().items()},
                "seed": self.seed if isinstance(estimator.random_state, Integral) else None,
                "seconds": getattr(estimator, "_fit_seconds", None),
                "peak_bytes": getattr(estimator, "_fit_peak", None),
                "command": f"{estimator!r}{columns}.fit({arguments}).to_html({arguments}{options})",
            }
        )

    def check(self, kept: int, most: int) -> Check:
        """The cross-validated method in the form of the native module; or why there is none."""
        if self.cv is None:
            return "Cross-validation was disabled (cv=None)."
        if self.y is None:
            return "Cross-validation needs a target."
        if self.has_outputs:
            return "Cross-validation is for a target of one column."
        estimator = clone(self.estimator)
        # Other parameters that determine the number of features would contradict a given number.
        defaults = type(estimator)().get_params(deep=False)
        unset = [name for name in SIZE_PARAMETERS if name in defaults and defaults[name] is None]
        estimator.set_params(**dict.fromkeys(unset))
        # A splitter makes the outer splits, and the selector has folds that respect the groups.
        cv: Any = self.cv
        if not isinstance(getattr(estimator, "cv", 0), Integral):
            cv = estimator.cv
            estimator.set_params(cv=CV)
        x, y, groups = self.x, self.y, getattr(self.estimator, "_groups", None)
        weights = getattr(self.estimator, "_sample_weight", None)
        if x.shape[0] > MAX_SAMPLES:
            chosen = np.sort(np.random.RandomState(self.seed % 2**32).permutation(x.shape[0])[:MAX_SAMPLES])
            x, y = x[chosen], y[chosen]
            groups = None if groups is None else groups[chosen]
            if not isinstance(cv, Integral) and not hasattr(cv, "split"):
                cv = read_splits_of_rows(cv, chosen, self.x.shape[0], y, None)
            weights = None if weights is None else weights[chosen]
        counts = _native.counts_around(kept, most)
        try:
            found = compare(
                NamedRows(x, self.names),
                y,
                {type(estimator).__name__: estimator},
                counts,
                cv,
                groups=groups,
                sample_weight=weights,
                target_type=getattr(estimator, "target_type", "auto"),
                standardize=bool(estimator.standardize),
                missing=self.estimator._column_options.get("missing", "auto"),
                name=self.name,
                random_state=self.seed,
                n_jobs=estimator.n_jobs,
                verbose=estimator.verbose,
            )
        except ValueError as error:
            return f"Cross-validation failed: {error}"
        return (found._text, found._costs, counts, found.scoring)


def _column_names(estimator: Any) -> list[str]:
    """Names of the columns that an estimator computes with; those of a category are numbered."""
    encoder = getattr(estimator, "_frame_encoder", None)
    if encoder is None:
        return [str(column) for column in feature_names(estimator)]
    pairs = zip(encoder.names, encoder.sizes, strict=True)
    return [f"{name} ({k + 1})" if size > 1 else name for name, size in pairs for k in range(size)]


def _plain(value: Any) -> Any:
    """A value that JSON can hold, or its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    is_number = isinstance(value, float) and np.isfinite(value)
    return value if value is None or is_number or isinstance(value, bool | int | str) else repr(value)
