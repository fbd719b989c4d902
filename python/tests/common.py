"""All public estimators, and small data for them."""

import inspect
import pickle
import warnings

import numpy as np
from sklearn.base import BaseEstimator

import kernsift

#: A saved model is read from a file, and not fitted.
ESTIMATORS = {
    name: thing
    for name, thing in ((name, getattr(kernsift, name)) for name in kernsift.__all__)
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator) and thing is not kernsift.SavedModel
}


def quick(name):
    """An estimator that fits quickly and is deterministic."""
    cls = ESTIMATORS[name]
    wanted = {
        "n_features_to_select": 2,
        "n_triplets": 60,
        "gamma1": 1e-3,
        "gamma2": 1e-4,
        "random_state": 0,
        "cv": 2,
    }
    known = inspect.signature(cls).parameters
    return cls(**{key: value for key, value in wanted.items() if key in known})


def small_rows():
    """Samples for which every method selects features, and their classes."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    return np.abs(rng.normal(size=(60, 5))) + 1.5 * np.outer(y, [1, 0, 1, 0, 0]), y


def answers_of(name, n_jobs=None):
    """The output of a quick estimator on small data, after pickling."""
    X, y = small_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = pickle.loads(pickle.dumps(quick(name).set_params(n_jobs=n_jobs).fit(X, y)))
    return fitted.transform(X) if hasattr(fitted, "transform") else fitted.predict(X)
