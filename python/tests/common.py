"""The public estimators, found by looking: a new one cannot be forgotten."""

import inspect

from sklearn.base import BaseEstimator

import kernsift

ESTIMATORS = {
    name: thing
    for name, thing in ((name, getattr(kernsift, name)) for name in kernsift.__all__)
    if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
}


def quick(name):
    """An estimator with little to do, the same in every fit."""
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
