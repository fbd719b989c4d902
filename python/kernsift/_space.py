"""The base class of selection in kernel space."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from kernsift import _native
from kernsift._base import Estimator, feature_count_json, labeled_rows, store_kernel
from kernsift._html import Summary, selection_summary
from kernsift._native_data import FloatArray, native_rows, to_json
from kernsift._parameters import Docs, constraints, native_value
from kernsift._progress import report_progress
from kernsift._reports import ReportMixin, ReportParts
from kernsift._sklearn import _fit_context
from kernsift.bases import BaseBasis

#: Parameters of forward selection over weak classifiers.
KFFS_PARAMETERS = ("weak_learner", "eta", "learner_bandwidth", "quantum", "weights")


class BaseSpace(ReportMixin, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Selection in kernel space: a basis, a selector of its directions, nearest neighbors."""

    _catalog_name = "takes"
    _fitted: ClassVar[tuple[str, ...]] = (
        "basis_",
        "weights_",
        "order_",
        "support_",
        "n_selected_",
        "error_curve_",
        "classes_",
        "kernel_",
        "gamma_",
        "n_neighbors_",
        "mean_",
        "scale_",
    )
    _docs: ClassVar[Docs] = {
        "n_features_to_select": (
            "int, float or None",
            "Number of directions to select: int (count), float in (0, 1] (fraction), or None (chosen "
            "automatically).",
        ),
        "basis_": (
            "KOBL, KernelGramSchmidt, KernelPCA or KernelDiscriminant",
            "The fitted basis. It expects scaled samples: ``(X - mean_) / scale_`` if `standardize`. After a "
            "fit to a data frame with categories or missing values, these are the encoded columns.",
        ),
        "weights_": (
            "ndarray of shape (n_directions,)",
            "Weight of each direction; 0 if it was not selected.",
        ),
        "order_": ("ndarray of shape (n_directions,)", "Directions, best first."),
        "support_": ("ndarray of shape (n_directions,)", "Mask of the selected directions."),
        "n_selected_": ("int", "Number of selected directions."),
        "error_curve_": (
            "ndarray of shape (n_iter_,)",
            "Training error of the vote by number of directions; only with forward selection.",
        ),
        "n_neighbors_": ("int", "Number of neighbors that vote; differs from `n_neighbors` only if `tuned`."),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "weights": [*constraints("takes", "weights")["weights"], None],
        "tuned": ["boolean"],
    }

    n_features_to_select: int | float | None
    weights: str | None
    weight_power: float
    tuned: bool
    n_neighbors: int
    standardize: bool

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the basis, select directions and store the training samples.

        Parameters
        ----------
        {X_train}
        {labels}

        Returns
        -------
        {self}
        """
        X, classes = labeled_rows(self, X, y)
        basis = self._unfitted_basis()
        with report_progress(self, X):
            self._space, used = _native.fit_space(
                to_json(self._form()),
                native_rows(X),
                classes,
                feature_count_json(self.n_features_to_select),
                self._standardizes(),
                self._fit_settings(),
                basis._threshold_function(),
            )
        basis.n_features_in_ = X.shape[1]
        self._store(basis, json.loads(used))
        self._store_selection(self._space.summary())
        return self

    def transform(self, X: Any) -> FloatArray:
        """Map samples to the selected directions, best first.

        Each direction is multiplied by the square root of its weight, so that Euclidean distances are the
        weighted distances.

        Parameters
        ----------
        {X}

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_selected_)
            Coordinates of the samples.
        """
        x = self._new_samples(X)
        return self._space.transform(x, self._settings())

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict classes by the nearest training samples in the selected directions.

        Parameters
        ----------
        {X}

        Returns
        -------
        {predicted}
        """
        x = self._new_samples(X)
        predicted: npt.NDArray[Any] = self.classes_[self._space.predict(x, self._settings())]
        return predicted

    def _form(self) -> dict[str, Any]:
        """All parameters in the core's serialized form."""
        if self.tuned:
            self._check_tuned_parameters()
        basis = self._unfitted_basis()
        return {
            "basis": {"method": basis._method, **basis._own_parameters()},
            "selector": self._selector_form(),
            "weight_power": 0.0 if self.weights is None else float(self.weight_power),
            "n_neighbors": int(self.n_neighbors),
            "tune": "everything" if self.tuned else "nothing",
            **self._own_parameters(),
        }

    def _candidate_form(self) -> dict[str, Any]:
        """The method in the core's serialized form, for a comparison."""
        if self._unfitted_basis()._threshold_function() is not None:
            raise ValueError("a callable threshold cannot be recorded. Use a named one or a number.")
        return {"space": self._form()}

    def _check_tuned_parameters(self) -> None:
        """Raises for parameters that `tuned` would override."""
        defaults = type(self)().get_params(deep=False)
        for name in (*KFFS_PARAMETERS, "weight_power", "n_neighbors"):
            if getattr(self, name) != defaults[name]:
                raise ValueError(
                    f"tuned=True chooses '{name}'; leave it at its default. Got {getattr(self, name)!r}."
                )

    def _unfitted_basis(self) -> BaseBasis:
        """A new basis with its parameters."""
        raise NotImplementedError

    def _selector_form(self) -> dict[str, Any] | None:
        """The selector in the core's serialized form."""
        raise NotImplementedError

    def _own_parameters(self) -> dict[str, Any]:
        """Further parameters in the core's serialized form."""
        return {}

    def _kffs_form(self) -> dict[str, Any]:
        """Forward selection with this estimator's parameters, in the core's serialized form."""
        # Without weights the rule does not matter.
        values = self.get_params(deep=False) | {"weights": self.weights or "ensemble"}
        return {"method": "ffs"} | {name: native_value("ffs", name, values[name]) for name in KFFS_PARAMETERS}

    def _store(self, basis: BaseBasis, used: dict[str, Any]) -> None:
        if basis._needs_classes:
            basis.classes_ = self.classes_
        basis._store(self._space.map(), warns=False)
        # With the chosen parameters, so that fitting the basis again gives the same.
        chosen = used["basis"]
        if "fixed" in chosen["kernel"] and isinstance(basis.kernel, str):
            basis.gamma = basis.kernel_.gamma
        elif "fixed" in chosen["kernel"]:
            basis.kernel = basis.kernel_
        basis.n_components = chosen["n_components"]
        if chosen.get("threshold") == "none":
            basis.set_params(threshold=None, tol=chosen["tol"])
        self.basis_ = basis
        store_kernel(self, basis.kernel_)

    def _store_selection(self, summary: dict[str, Any]) -> None:
        self.order_: npt.NDArray[np.int64] = summary["order"]
        self.weights_: FloatArray = summary["weights"]
        self.support_ = np.zeros(self.weights_.size, dtype=bool)
        self.support_[summary["selected"]] = True
        self.n_selected_: int = summary["n_selected"]
        if summary["error_curve"].size:
            self.error_curve_: FloatArray = summary["error_curve"]
        else:
            # An earlier fit with another selector may have set it.
            self.__dict__.pop("error_curve_", None)
        self.n_neighbors_: int = summary["n_neighbors"]
        self._store_scaling(summary)
        self._store_outcome(summary)

    def _page(self, parts: ReportParts) -> str:
        # A fold has fewer training samples, and so fewer directions.
        check = parts.check(self.n_selected_, self.basis_.n_components_ * 3 // 4)
        return _native.space_page(parts.native(), self._space, check, parts.run)

    def _summary(self) -> Summary:
        return selection_summary(self, ("kernel", self.kernel_), ("classes", len(self.classes_)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # As for the basis itself.
        tags.input_tags.categorical = not getattr(getattr(self, "basis", None), "_needs_classes", False)
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_selected_
