"""The same data and seed give identical results: on any number of threads, repeated, and in a new process."""

import inspect
import json
import os
import subprocess
import sys
import time
import warnings
from hashlib import sha256

import numpy as np
import pytest
from common import ESTIMATORS, quick
from sklearn.base import BaseEstimator

import kernsift
from kernsift._sklearn import StrOptions

#: Number of samples of the smallest fits: enough for every option, few enough for the slowest method.
FEW = 100
#: Number of samples of the largest fits: above the largest block size, 2048.
MANY = 3200
#: The number of samples is doubled while a fit on one thread takes less than this number of seconds. Costs
#: grow with the square or cube of the samples, so that the last fit takes up to eight times as long.
ROOM = 0.04

#: Functions with random numbers or threads.
FUNCTIONS = {
    name: thing
    for name, thing in ((name, getattr(kernsift, name)) for name in kernsift.__all__)
    if inspect.isfunction(thing) and {"random_state", "n_jobs"} & set(inspect.signature(thing).parameters)
}
#: Attributes that are not learned: time, memory and parameters.
NOT_LEARNED = {
    "seconds",
    "select_seconds",
    "evaluate_seconds",
    "peak_bytes",
    "_costs",
    "_fit_seconds",
    "_fit_peak",
    "n_jobs",
}
#: Methods of fitted estimators.
QUESTIONS = ("transform", "predict", "predict_proba", "decision_function", "residual_norms")


def made_rows(n):
    """Three classes, and 10 positive features of which 6 depend on them.

    Threads get blocks of 8 features, so there are two blocks.
    """
    rng = np.random.default_rng(n)
    y = np.arange(n) % 3
    return np.abs(rng.normal(size=(n, 10))) + np.outer(y, [1.5, 0, 1, 0, 0.5] * 2), y


def parts(thing, at=""):
    """The parts of a result, exactly: pairs of a path and its text."""
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        yield at, f"{thing.dtype} {thing.shape} {thing.tobytes().hex()}"
    elif isinstance(thing, float | np.floating):
        yield at, f"{type(thing).__name__} {float(thing).hex()}"
    elif thing is None or isinstance(thing, bool | int | str | np.generic):
        yield at, f"{type(thing).__name__} {thing!r}"
    elif isinstance(thing, dict):
        # In its order, which must not depend on the hash seed of the process.
        yield at, f"dict of {[name for name in thing if name not in NOT_LEARNED]}"
        for name, value in thing.items():
            if name not in NOT_LEARNED:
                yield from parts(value, f"{at}.{name}")
    elif isinstance(thing, list | tuple | np.ndarray):
        yield at, f"{type(thing).__name__} of {len(thing)}"
        for i, value in enumerate(thing):
            yield from parts(value, f"{at}[{i}]")
    elif isinstance(thing, kernsift.Kernel):
        yield at, thing.to_json()
    elif isinstance(
        thing, BaseEstimator | kernsift.CompareResult | kernsift.Interactions | kernsift.FeaturePValues
    ):
        yield from parts({type(thing).__name__: None} | vars(thing), at)
    elif hasattr(thing, "to_bytes"):
        yield at, thing.to_bytes().hex()
    elif hasattr(thing, "to_json"):
        yield at, thing.to_json()
    else:
        raise AssertionError(f"{at} is a {type(thing)}: say here how its bits are compared")


def answers(name, n, n_jobs, **changes):
    """The fitted attributes for `n` samples, and the output for others."""
    X, y = made_rows(n)
    estimator = quick(name).set_params(n_jobs=n_jobs, **changes)
    if "n_triplets" in estimator.get_params():
        # The work depends on the triplets, not on the samples.
        estimator.set_params(n_triplets=n)
    with warnings.catch_warnings():
        # Convergence does not matter here.
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
        said = {ask: getattr(estimator, ask)(X[:FEW]) for ask in QUESTIONS if hasattr(estimator, ask)}
    assert said, f"{name} is asked nothing"
    return dict(parts({"learned": estimator, **said}))


def called(name, n, n_jobs=None, random_state=0):
    """The result of a function for `n` samples."""
    X, y = made_rows(n)
    # For a clear dependence the p-value is the smallest possible, whatever the seed.
    noise = np.random.default_rng(1).normal(size=n)
    given = {
        "X": X,
        "y": y,
        "Y": noise,
        "n_components": 7,
        "n_permutations": 99,
        "similarity": 0.1,
        "methods": ["takes", "relief", "ffs"],
        "n_features": [1, 5] if name == "compare" else 5,
        "cv": 3,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    known = inspect.signature(FUNCTIONS[name]).parameters
    lacking = [p.name for p in known.values() if p.default is p.empty and p.name not in given]
    assert not lacking, f"{name} needs {lacking}: give it some here"
    return dict(parts(FUNCTIONS[name](**{key: value for key, value in given.items() if key in known})))


def assert_same(found, expected):
    """Asserts that all parts are equal, without printing their long texts."""
    assert list(found) == list(expected)
    assert [at for at in expected if found[at] != expected[at]] == []


def choices(name):
    """Every other named or boolean option of an estimator, one at a time."""
    usual = quick(name).get_params()
    for parameter, allowed in ESTIMATORS[name]._parameter_constraints.items():
        for constraint in allowed:
            options = constraint.options if isinstance(constraint, StrOptions) else ()
            options = (False, True) if isinstance(constraint, str) and constraint == "boolean" else options
            for value in sorted(options):
                if value != usual[parameter]:
                    yield {parameter: value}


def fingerprints():
    """A hash of the results of every estimator and function on few samples."""
    made = {name: answers(name, FEW, None) for name in ESTIMATORS} | {
        name: called(name, FEW) for name in FUNCTIONS
    }
    return {name: sha256(repr(what).encode()).hexdigest() for name, what in made.items()}


class TestComparison:
    """Checks of the test helpers."""

    def test_a_change_of_the_last_bit_is_found(self):
        x = np.array([1.0, 2.0])
        for one, other in [
            (x, np.nextafter(x, 3)),
            (x, x.astype(np.float32)),
            (x, x[:, None]),
            (0.0, -0.0),
            (np.zeros(1), -np.zeros(1)),
            (1, True),
            ({"a": [x, {"b": x}]}, {"a": [x, {"b": -x}]}),
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
            ([1, 2], (1, 2)),
        ]:
            assert dict(parts(one)) == dict(parts(one))
            assert dict(parts(one)) != dict(parts(other))

    def test_unknown_types_raise(self):
        with pytest.raises(AssertionError, match=r"\.a\[0\] is a <class 'set'>"):
            dict(parts({"a": [{1}]}))

    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_all_public_attributes_are_compared(self, name):
        X, y = made_rows(FEW)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = quick(name).fit(X, y)
        learned = [key for key in vars(fitted) if key.endswith("_")]
        looked_at = {at.split(".")[1].split("[")[0] for at in dict(parts(fitted)) if at}
        assert learned and set(learned) <= looked_at

    def test_other_seeds_differ(self):
        # All functions with a seed draw random numbers by default, except for a greedy search and a screen.
        fixed = {"gamma_for_n_components", "interactions", "feature_pvalues", "near_copies"}
        for name in set(FUNCTIONS) - fixed:
            assert called(name, FEW, random_state=0) != called(name, FEW, random_state=1), name


@pytest.mark.parametrize("name", [*ESTIMATORS, *FUNCTIONS])
def test_threads_do_not_change_a_bit(name):
    work = answers if name in ESTIMATORS else called
    n, seconds = FEW // 2, 0
    while seconds < ROOM and n < MANY:
        n *= 2
        start = time.perf_counter()
        expected = work(name, n, 1)
        seconds = time.perf_counter() - start
    # The last one repeats the fit.
    for n_jobs in (2, 4, 4):
        assert_same(work(name, n, n_jobs), expected)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_threads_do_not_change_a_bit_with_other_options(name):
    fitted, refused = [], []
    for change in choices(name):
        try:
            expected = answers(name, FEW, 1, **change)
        except ValueError:
            refused.append(change)
            continue
        assert_same(answers(name, FEW, 4, **change), expected)
        fitted.append(change)
    # The most are three scores for continuous targets.
    assert (fitted or not list(choices(name))) and len(refused) <= 3, refused


def test_new_processes_give_the_same_bits():
    script = "import json, test_determinism; print(json.dumps(test_determinism.fingerprints()))"
    # The module path of this process.
    found_at = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": found_at, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    try:
        expected = fingerprints()
        assert set(expected) == {*ESTIMATORS, *FUNCTIONS}
        for child in children:
            # Some seconds of work; the rest is margin for a busy machine.
            out, _ = child.communicate(timeout=120)
            assert child.returncode == 0
            assert json.loads(out) == expected
    finally:
        for child in children:
            child.kill()
