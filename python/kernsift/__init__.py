"""kernsift: nonlinear feature selection.

| module | contents |
|---|---|
| :mod:`kernsift.bases` | bases of kernel space, as transformers |
| :mod:`kernsift.selectors` | feature selectors |
| :mod:`kernsift.filters` | feature selectors that need no model |
| :mod:`kernsift.transforms` | feature selectors from criteria of a projection: HSFS, LDFS, PFS |
| :mod:`kernsift.dependence` | HSIC, and feature selectors based on it |
| :mod:`kernsift.screening` | pairs of features that matter jointly |
| :mod:`kernsift.significance` | p-values of features |
| :mod:`kernsift.knockoffs` | selection with a bound on the false discovery rate |
| :mod:`kernsift.stability` | stability selection around any selector |
| :mod:`kernsift.copies` | features that are almost equal |
| :mod:`kernsift.spaces` | selection in kernel space, as transformers and classifiers |
| :mod:`kernsift.learners` | kernels and metrics learned from triplets |
| :mod:`kernsift.design` | kernel design by linear programming, from triplets |
| :mod:`kernsift.classifiers` | support vector machines |
| :mod:`kernsift.kernels` | kernels as objects |
| :mod:`kernsift.evaluate` | comparison of methods by cross-validation |
| :mod:`kernsift.ranks` | mean ranks of methods over several tables |
| :mod:`kernsift.plots` | plots of fitted estimators |
| :mod:`kernsift.functions` | Gram matrices, gamma, triplets |
| :mod:`kernsift.datasets` | built-in and synthetic data sets |
| :mod:`kernsift.tables` | what a data frame holds |
| :mod:`kernsift.dask` | the same estimators on Dask collections, with the extra ``kernsift[dask]`` |
| :mod:`kernsift.models` | models saved by the command line |
| :mod:`kernsift.exceptions` | exceptions |

The estimators follow the API of scikit-learn. The native module ``kernsift._native`` does the computing.
"""

from kernsift._native import __version__
from kernsift.automatic import AutoSelector
from kernsift.bases import KOBL, KernelDiscriminant, KernelGramSchmidt, KernelPCA
from kernsift.classifiers import SVC, SVCCV, LinearSVC
from kernsift.copies import near_copies
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
    OnColumns,
    OnFeature,
    Polynomial,
    Sum,
    WhiteNoise,
)
from kernsift.knockoffs import KnockoffSelector
from kernsift.learners import XingMetric
from kernsift.models import SavedModel, load_model, save_model
from kernsift.onnx import register_onnx_converters
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
from kernsift.ranks import MethodRanks, rank_methods
from kernsift.screening import Interactions, InteractionScreen, interactions
from kernsift.selectors import FFS, L1SVM, SVMRFE, FisherScore, NCASelector, ReliefF
from kernsift.significance import FeaturePValues, SelectSignificant, feature_pvalues
from kernsift.spaces import KNNC, TAKES, KernelSpaceSelector
from kernsift.stability import StabilitySelector
from kernsift.tables import Inspection, inspect
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
    "AutoSelector",
    "BreakdownError",
    "ChiSquared",
    "CompareResult",
    "FeaturePValues",
    "FisherScore",
    "HSICLasso",
    "HSICResult",
    "InformationGain",
    "Inspection",
    "InteractionScreen",
    "Interactions",
    "Kernel",
    "KernelDesign",
    "KernelDiscriminant",
    "KernelGramSchmidt",
    "KernelPCA",
    "KernelSpaceSelector",
    "KnockoffSelector",
    "Laplacian",
    "LaplacianScore",
    "Linear",
    "LinearSVC",
    "Mahalanobis",
    "MethodRanks",
    "MutualInformation",
    "NCASelector",
    "OnColumns",
    "OnFeature",
    "Polynomial",
    "ReliefF",
    "SavedModel",
    "SelectSignificant",
    "StabilitySelector",
    "Sum",
    "WhiteNoise",
    "XingMetric",
    "__version__",
    "compare",
    "feature_pvalues",
    "gamma_for_n_components",
    "gram",
    "hsic",
    "inspect",
    "interactions",
    "list_datasets",
    "load_dataset",
    "load_model",
    "make_synthetic",
    "near_copies",
    "plot_error_curve",
    "plot_kernels",
    "plot_map",
    "plot_margins",
    "plot_path",
    "plot_redundancy",
    "plot_residuals",
    "plot_scores",
    "rank_methods",
    "register_onnx_converters",
    "save_model",
    "triplet_accuracy",
    "triplets_from_labels",
]
