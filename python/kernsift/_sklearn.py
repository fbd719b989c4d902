"""All private names of scikit-learn that kernsift uses. No other module imports one.

scikit-learn has no public replacement for them. Tested with scikit-learn 1.6 to 1.9; `pyproject.toml` has the
same bounds. Before you raise the upper bound, run the tests with the new version.
"""

from sklearn.base import _fit_context
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    RealNotInt,
    StrOptions,
    validate_params,
)
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _get_feature_names

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "LinearClassifierMixin",
    "Options",
    "RealNotInt",
    "StrOptions",
    "_fit_context",
    "_get_feature_names",
    "_get_output_config",
    "_safe_indexing",
    "validate_params",
]
