"""The same rows and seed give the same bits: on any number of threads, again, and in a new process."""

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

#: Rows of the smallest fits: enough for every choice, few enough for the slowest method to be quick.
FEW = 100
#: Rows of the largest: above the largest pieces of common work, 2048 rows.
MANY = 3200
#: Seconds that a fit on one thread may take for its rows to be doubled once more. Costs grow with the square
#: or the cube of the rows, so that the last fit takes up to eight times as long.
ROOM = 0.04

#: Functions that draw or compute with threads, found by looking.
FUNCTIONS = {
    name: thing
    for name, thing in ((name, getattr(kernsift, name)) for name in kernsift.__all__)
    if inspect.isfunction(thing) and {"random_state", "n_jobs"} & set(inspect.signature(thing).parameters)
}
#: What a clock or a meter said, and what was asked for: nothing that was learned.
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
#: What a fitted estimator says of rows, as far as it has it.
QUESTIONS = ("transform", "predict", "predict_proba", "decision_function", "residual_norms")


def made_rows(n):
    """Three classes, and 10 columns of which 6 tell of them; all above 0, as some methods want it.

    Columns are shared out among threads by 8, so there are some for two.
    """
    rng = np.random.default_rng(n)
    y = np.arange(n) % 3
    return np.abs(rng.normal(size=(n, 10))) + np.outer(y, [1.5, 0, 1, 0, 0.5] * 2), y


def parts(thing, at=""):
    """What a result is made of, to the last bit: pairs of a place and its text."""
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        yield at, f"{thing.dtype} {thing.shape} {thing.tobytes().hex()}"
    elif isinstance(thing, float | np.floating):
        yield at, f"{type(thing).__name__} {float(thing).hex()}"
    elif thing is None or isinstance(thing, bool | int | str | np.generic):
        yield at, f"{type(thing).__name__} {thing!r}"
    elif isinstance(thing, dict):
        # In its own order, which must not hang on the hashes of a process either.
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
    elif isinstance(thing, BaseEstimator | kernsift.CompareResult):
        yield from parts({type(thing).__name__: None} | vars(thing), at)
    elif hasattr(thing, "to_bytes"):
        yield at, thing.to_bytes().hex()
    elif hasattr(thing, "to_json"):
        yield at, thing.to_json()
    else:
        raise AssertionError(f"{at} is a {type(thing)}: say here how its bits are compared")


def answers(name, n, n_jobs, **changes):
    """All that an estimator learns from `n` rows, and all that it says of others."""
    X, y = made_rows(n)
    estimator = quick(name).set_params(n_jobs=n_jobs, **changes)
    if "n_triplets" in estimator.get_params():
        # Here the triples are the work, not the rows.
        estimator.set_params(n_triplets=n)
    with warnings.catch_warnings():
        # That a few steps were not enough is no matter here.
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
        said = {ask: getattr(estimator, ask)(X[:FEW]) for ask in QUESTIONS if hasattr(estimator, ask)}
    assert said, f"{name} is asked nothing"
    return dict(parts({"learned": estimator, **said}))


def called(name, n, n_jobs=None, random_state=0):
    """What a function gives for `n` rows."""
    X, y = made_rows(n)
    # A sure answer would be the same for all seeds: the p-value of a dependence is the least there is.
    noise = np.random.default_rng(1).normal(size=n)
    given = {
        "X": X,
        "y": y,
        "Y": noise,
        "n_components": 7,
        "n_permutations": 99,
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
    """That all parts are the same; their texts are too long to be shown."""
    assert list(found) == list(expected)
    assert [at for at in expected if found[at] != expected[at]] == []


def choices(name):
    """Every other word and switch that an estimator can be given, one at a time."""
    usual = quick(name).get_params()
    for parameter, allowed in ESTIMATORS[name]._parameter_constraints.items():
        for constraint in allowed:
            options = constraint.options if isinstance(constraint, StrOptions) else ()
            options = (False, True) if isinstance(constraint, str) and constraint == "boolean" else options
            for value in sorted(options):
                if value != usual[parameter]:
                    yield {parameter: value}


def fingerprints():
    """A hash of what every estimator and function makes of few rows."""
    made = {name: answers(name, FEW, None) for name in ESTIMATORS} | {
        name: called(name, FEW) for name in FUNCTIONS
    }
    return {name: sha256(repr(what).encode()).hexdigest() for name, what in made.items()}


class TestComparison:
    """What could make the other tests pass for nothing."""

    def test_the_last_bit_is_seen(self):
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

    def test_what_it_does_not_know_is_an_error(self):
        with pytest.raises(AssertionError, match=r"\.a\[0\] is a <class 'set'>"):
            dict(parts({"a": [{1}]}))

    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_all_public_attributes_are_looked_at(self, name):
        X, y = made_rows(FEW)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = quick(name).fit(X, y)
        learned = [key for key in vars(fitted) if key.endswith("_")]
        looked_at = {at.split(".")[1].split("[")[0] for at in dict(parts(fitted)) if at}
        assert learned and set(learned) <= looked_at

    def test_other_seeds_are_seen(self):
        # All functions that are given a seed draw something, except for a search that is greedy by default.
        for name in set(FUNCTIONS) - {"gamma_for_n_components"}:
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
    # The last one is the same fit again.
    for n_jobs in (2, 4, 4):
        assert_same(work(name, n, n_jobs), expected)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_nor_with_any_other_choice(name):
    fitted, refused = [], []
    for change in choices(name):
        try:
            expected = answers(name, FEW, 1, **change)
        except ValueError:
            refused.append(change)
            continue
        assert_same(answers(name, FEW, 4, **change), expected)
        fitted.append(change)
    # The most are two kernels that are for targets of numbers.
    assert fitted and len(refused) <= 2, refused


def test_new_processes_give_the_same_bits():
    script = "import json, test_determinism; print(json.dumps(test_determinism.fingerprints()))"
    # Where this process found its modules.
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
            # Some seconds of work; the rest is for a busy machine.
            out, _ = child.communicate(timeout=120)
            assert child.returncode == 0
            assert json.loads(out) == expected
    finally:
        for child in children:
            child.kill()
