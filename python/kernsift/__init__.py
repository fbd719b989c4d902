"""kernsift finds the few features that matter in a table of data, when what matters is nonlinear.

| module | what it holds |
|---|---|
| :mod:`kernsift.bases` | bases of kernel space, as transformers |
| :mod:`kernsift.selectors` | selectors of columns |
| :mod:`kernsift.filters` | selectors of columns that need no model |
| :mod:`kernsift.transforms` | selectors of columns from criteria of a projection: HSFS, LDFS, PFS |
| :mod:`kernsift.dependence` | HSIC, and the selectors of columns that rest on it |
| :mod:`kernsift.spaces` | selection in kernel space, as transformers and classifiers |
| :mod:`kernsift.learners` | kernels and metrics learned from "i is more like j than k" |
| :mod:`kernsift.design` | kernels designed by linear programming, from the same |
| :mod:`kernsift.classifiers` | support vector machines |
| :mod:`kernsift.kernels` | kernels as objects |
| :mod:`kernsift.evaluate` | methods side by side |
| :mod:`kernsift.plots` | pictures of fitted estimators |
| :mod:`kernsift.functions` | Gram matrices, widths, triples |
| :mod:`kernsift.datasets` | data sets, and made-up ones with known answers |
| :mod:`kernsift.models` | models that the command line saved |
| :mod:`kernsift.exceptions` | what goes wrong besides bad input |

The estimators follow scikit-learn. All computing is done by the native half, ``kernsift._native``.
"""

from kernsift._native import __version__
from kernsift.bases import KOBL, KernelDiscriminant, KernelGramSchmidt, KernelPCA
from kernsift.classifiers import SVC, SVCCV, LinearSVC
from kernsift.datasets import list_datasets, load_dataset, make_synthetic
from kernsift.dependence import BAHSIC, FOHSIC, HSICLasso, HSICResult, hsic
from kernsift.design import KernelDesign
from kernsift.evaluate import CompareResult, compare
from kernsift.exceptions import BreakdownError
from kernsift.filters import ChiSquared, InformationGain, LaplacianScore, MutualInformation
from kernsift.functions import gamma_for_n_components, gram, triplet_accuracy, triplets_from_labels
from kernsift.kernels import (
    RBF,
    Kernel,
    Laplacian,
    Linear,
    Mahalanobis,
    OnFeature,
    Polynomial,
    Sum,
    WhiteNoise,
)
from kernsift.learners import XingMetric
from kernsift.models import SavedModel, load_model
from kernsift.plots import (
    plot_error_curve,
    plot_kernels,
    plot_map,
    plot_margins,
    plot_path,
    plot_redundancy,
    plot_residuals,
    plot_scores,
)
from kernsift.selectors import FFS, L1SVM, SVMRFE, FisherScore, ReliefF
from kernsift.spaces import KNNC, TAKES, KernelSpaceSelector
from kernsift.transforms import HSFS, LDFS, PFS

__all__ = [
    "BAHSIC",
    "FFS",
    "FOHSIC",
    "HSFS",
    "KNNC",
    "KOBL",
    "L1SVM",
    "LDFS",
    "PFS",
    "RBF",
    "SVC",
    "SVCCV",
    "SVMRFE",
    "TAKES",
    "BreakdownError",
    "ChiSquared",
    "CompareResult",
    "FisherScore",
    "HSICLasso",
    "HSICResult",
    "InformationGain",
    "Kernel",
    "KernelDesign",
    "KernelDiscriminant",
    "KernelGramSchmidt",
    "KernelPCA",
    "KernelSpaceSelector",
    "Laplacian",
    "LaplacianScore",
    "Linear",
    "LinearSVC",
    "Mahalanobis",
    "MutualInformation",
    "OnFeature",
    "Polynomial",
    "ReliefF",
    "SavedModel",
    "Sum",
    "WhiteNoise",
    "XingMetric",
    "__version__",
    "compare",
    "gamma_for_n_components",
    "gram",
    "hsic",
    "list_datasets",
    "load_dataset",
    "load_model",
    "make_synthetic",
    "plot_error_curve",
    "plot_kernels",
    "plot_map",
    "plot_margins",
    "plot_path",
    "plot_redundancy",
    "plot_residuals",
    "plot_scores",
    "triplet_accuracy",
    "triplets_from_labels",
]
