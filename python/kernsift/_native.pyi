"""The native module: arrays in, arrays out. Private to the package."""

import os
from collections.abc import Callable
from typing import Any, final

from kernsift._native_data import Check, Classes, FloatArray, IntArray, NativeRows, Settings, Target

__version__: str

class BreakdownError(RuntimeError): ...

def error_messages() -> list[str]: ...

_Threshold = Callable[[float], float]

@final
class FeatureMap:
    def transform(self, x: NativeRows, settings: Settings) -> FloatArray: ...
    def residual_norms(self, x: NativeRows, settings: Settings) -> FloatArray: ...
    def summary(self) -> dict[str, Any]: ...
    def coefficients(self) -> FloatArray: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> FeatureMap: ...

@final
class KernelSpace:
    def transform(self, x: NativeRows, settings: Settings) -> FloatArray: ...
    def predict(self, x: NativeRows, settings: Settings) -> IntArray: ...
    def summary(self) -> dict[str, Any]: ...
    def map(self) -> FeatureMap: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> KernelSpace: ...

@final
class Model:
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model: ...
    def method(self) -> str: ...
    def input_names(self) -> list[str]: ...
    def output_names(self) -> list[str]: ...
    def prepares(self) -> bool: ...
    def apply(self, x: NativeRows, settings: Settings) -> FloatArray: ...
    def apply_table(
        self, columns: list[tuple[str, FloatArray | list[str | None]]], settings: Settings
    ) -> tuple[FloatArray, int]: ...
    def gram(
        self, x: NativeRows, z: NativeRows | None, with_noise: bool, settings: Settings
    ) -> FloatArray: ...
    def gram_table(
        self,
        columns: list[tuple[str, FloatArray | list[str | None]]],
        others: list[tuple[str, FloatArray | list[str | None]]] | None,
        with_noise: bool,
        settings: Settings,
    ) -> tuple[FloatArray, int]: ...
    def class_names(self) -> list[str]: ...
    def predict(self, x: NativeRows, settings: Settings) -> IntArray: ...
    def predict_table(
        self, columns: list[tuple[str, FloatArray | list[str | None]]], settings: Settings
    ) -> tuple[IntArray, int]: ...

def fit_basis(
    method: str,
    x: NativeRows,
    y: Classes | None,
    settings: Settings,
    threshold: _Threshold | None = None,
    features: bool = False,
) -> tuple[FeatureMap, FloatArray | None]: ...
def gamma_for_n_components(
    method: str,
    x: NativeRows,
    n_components: int,
    settings: Settings,
    threshold: _Threshold | None = None,
) -> tuple[float, int]: ...
def method_parameters(name: str) -> str: ...
def methods() -> str: ...
def select(
    method: str,
    x: NativeRows,
    y: Target | None,
    wanted: str,
    standardize: bool,
    settings: Settings,
) -> dict[str, Any]: ...
def fit_space(
    method: str,
    x: NativeRows,
    y: Classes,
    wanted: str,
    standardize: bool,
    settings: Settings,
    threshold: _Threshold | None = None,
) -> tuple[KernelSpace, str]: ...
def fit_knnc(
    kernel: str,
    x: NativeRows,
    y: Classes,
    n_neighbors: int,
    standardize: bool,
    settings: Settings,
) -> dict[str, Any]: ...
def predict_knnc(
    kernel: str,
    x: NativeRows,
    y: Classes,
    n_neighbors: int,
    standardize: bool,
    new: NativeRows,
    settings: Settings,
) -> IntArray: ...

@final
class SvmMachine:
    def decision_values(self, x: NativeRows, settings: Settings) -> FloatArray: ...
    def class_scores(self, x: NativeRows, settings: Settings) -> FloatArray: ...
    def predict(self, x: NativeRows, settings: Settings) -> IntArray: ...
    def summary(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    @staticmethod
    def from_json(json: str) -> SvmMachine: ...

def fit_svm(svm: str, x: NativeRows, y: Classes, precomputed: bool, settings: Settings) -> SvmMachine: ...
def search_svm(
    search: str, x: NativeRows, y: Classes, settings: Settings
) -> tuple[SvmMachine, dict[str, Any]]: ...
def fit_linear_svm(svm: str, x: NativeRows, y: Classes, settings: Settings) -> dict[str, Any]: ...
def compare(
    plan: str,
    x: NativeRows,
    names: list[str],
    y: Classes | FloatArray,
    splits: list[tuple[IntArray, IntArray]] | None,
    record: str | os.PathLike[str] | None,
    settings: Settings,
) -> tuple[str, str, list[str]]: ...
def summarize(record: str, costs: str, labels: list[str], counts: list[int], measure: str) -> str: ...
def compare_page(
    record: str, costs: str, labels: list[str], counts: list[int], measure: str, title: str, again: str
) -> str: ...
def write_text(path: str | os.PathLike[str], text: str) -> None: ...
def triplet_accuracy(gram: FloatArray, triplets: IntArray) -> float: ...
def triplets_from_target(y: Target, n: int, settings: Settings) -> IntArray: ...
def fit_xing(
    xing: str, x: NativeRows, triplets: IntArray, standardize: bool, settings: Settings
) -> dict[str, Any]: ...
def fit_design(
    design: str,
    x: NativeRows,
    triplets: IntArray | None,
    y: Target | None,
    n: int,
    standardize: bool,
    settings: Settings,
) -> dict[str, Any]: ...
def prepare_design(
    design: str,
    x: NativeRows,
    triplets: IntArray | None,
    y: Target | None,
    n: int,
    standardize: bool,
    settings: Settings,
) -> dict[str, Any]: ...
def weigh_design(
    design: str,
    grams: list[FloatArray],
    features: list[int | None],
    places: IntArray,
    triplets: IntArray,
    settings: Settings,
) -> dict[str, Any]: ...
def kernel_triplet_accuracy(kernel: str, x: NativeRows, triplets: IntArray, settings: Settings) -> float: ...
def gram(kernel: str, x: NativeRows, z: NativeRows | None, settings: Settings) -> FloatArray: ...
def hsic(
    x: NativeRows | Target,
    x_kernel: str,
    y: NativeRows | Target,
    y_kernel: str,
    how: str,
    settings: Settings,
) -> tuple[float, float | None]: ...
def resolve_kernel(choice: str, x: NativeRows, settings: Settings) -> str: ...
def take_peak() -> int | None: ...
def list_datasets() -> list[dict[str, Any]]: ...
def load_dataset(name: str) -> dict[str, Any]: ...
def make_synthetic(
    pattern: str, n_samples: int, n_features: int, noise: float, continuous: bool, seed: int
) -> dict[str, Any]: ...
def read_table(
    path: str | os.PathLike[str], settings: Settings
) -> tuple[dict[str, FloatArray | list[str | None]], list[str]]: ...
def selection_page(
    asked: str,
    x: NativeRows,
    names: list[str],
    y: Target | None,
    order: list[int],
    scores: list[float],
    n_selected: int,
    check: Check,
    settings: Settings,
) -> str: ...
def space_page(
    asked: str,
    x: NativeRows,
    names: list[str],
    y: Target | None,
    space: KernelSpace,
    check: Check,
    settings: Settings,
) -> str: ...
def basis_page(
    asked: str,
    x: NativeRows,
    names: list[str],
    y: Target | None,
    map: FeatureMap,
    method: str | None,
    settings: Settings,
) -> str: ...
def design_page(
    asked: str, x: NativeRows, names: list[str], y: Target | None, design: str, settings: Settings
) -> str: ...
def counts_around(kept: int, most: int) -> list[int]: ...
def alignment(x: NativeRows, columns: list[int], settings: Settings) -> FloatArray: ...
