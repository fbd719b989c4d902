"""Ctrl-C, forks and threads: what can hang a program."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from common import ESTIMATORS, answers_of, quick, small_rows
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from kernsift import KOBL, SVC, ReliefF

#: Work that looks for a signal at every step, and work that cannot look: an eigen-decomposition.
LONG_FITS = {
    "kobl": (200_000, "KOBL(n_components=3000, threshold=None).fit(rows)"),
    "kpca": (4_000, "KernelPCA(n_components=3).fit(rows)"),
    "kda": (4_000, "KernelDiscriminant(criterion='gda').fit(rows, rows[:, 0] > 0)"),
}
SCRIPT = """
import numpy, kernsift, os, sys
rows = numpy.random.default_rng(0).normal(size=({n}, 20))
print("ready", flush=True)
try:
    kernsift.{fit}
except KeyboardInterrupt:
    print("stopped", flush=True)
    os._exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX")
@pytest.mark.parametrize("name", LONG_FITS)
def test_ctrl_c_stops_a_long_fit(name):
    n, fit = LONG_FITS[name]
    script = SCRIPT.format(n=n, fit=fit)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.5)
        assert child.poll() is None, "the fit was over before it could be stopped"
        child.send_signal(signal.SIGINT)
        start = time.monotonic()
        out, _ = child.communicate(timeout=30)
        # The waiting thread looks every 50 ms, whatever the work does; the rest is for a busy machine.
        assert time.monotonic() - start < 2
        assert (out, child.returncode) == ("stopped\n", 7)
    finally:
        child.kill()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_makes_its_own_threads():
    X = np.random.default_rng(0).normal(size=(2000, 5))
    expected = KOBL(n_components=40, n_jobs=2, gamma=0.1).fit(X).pivots_
    child = os.fork()
    if child == 0:
        # Without pytest's own way out of the process.
        os._exit(0 if (KOBL(n_components=40, n_jobs=2, gamma=0.1).fit(X).pivots_ == expected).all() else 1)
    for _ in range(300):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


def test_fits_of_several_threads_do_not_disturb_each_other():
    X = np.random.default_rng(0).normal(size=(3000, 5))
    expected = KOBL(n_components=50, gamma=0.1, threshold=lambda t: t**4).fit(X).pivots_
    with ThreadPoolExecutor(4) as pool:
        fits = [
            pool.submit(lambda: KOBL(n_components=50, gamma=0.1, threshold=lambda t: t**4).fit(X).pivots_)
            for _ in range(8)
        ]
        for fit in fits:
            assert_array_equal(fit.result(timeout=60), expected)


def test_other_threads_run_during_a_fit():
    X = np.random.default_rng(0).normal(size=(20000, 5))
    with ThreadPoolExecutor(1) as pool:
        fit = pool.submit(KOBL(n_components=300, threshold=None).fit, X)
        counted = 0
        while not fit.done():
            counted += 1
    assert counted > 1000


def test_memory_is_told_only_of_a_fit_that_ran_alone():
    X = np.random.default_rng(0).normal(size=(20000, 5))
    together = Barrier(2)

    def peak(_):
        together.wait()
        return KOBL(n_components=100, threshold=None).fit(X)._fit_peak

    alone = KOBL(n_components=100, threshold=None).fit(X)._fit_peak
    # Its factor takes 16 MB.
    assert 16e6 < alone < 40e6
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(peak, range(2)):
            assert found is None or 16e6 < found < 40e6


def test_every_estimator_in_eight_threads_at_once():
    expected = {name: answers_of(name) for name in ESTIMATORS}
    with ThreadPoolExecutor(8) as pool:
        # All of them and then all again, so that the same ones run beside each other too.
        fits = [(name, pool.submit(answers_of, name)) for name in [*ESTIMATORS, *ESTIMATORS]]
        for name, fit in fits:
            assert_array_equal(fit.result(timeout=60), expected[name], err_msg=name)


def test_every_estimator_in_a_spawned_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map_async(answers_of, ESTIMATORS).get(timeout=120)
    for name, made in zip(ESTIMATORS, found, strict=True):
        assert_array_equal(made, answers_of(name), err_msg=name)


def test_estimators_cross_to_spawned_processes_fitted():
    X, y = small_rows()
    fitted = [quick(name).fit(X, y) for name in ("HSFS", "KOBL", "TAKES", "KernelDesign", "SVC")]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        again = pool.map_async(_shown, fitted).get(timeout=120)
    assert again == [_shown(estimator) for estimator in fitted]


def _shown(estimator):
    return estimator._summary_html()


@pytest.mark.parametrize("backend", ["multiprocessing", "threading"])
def test_grid_searches_in_parallel(backend):
    X, y = small_rows()
    model = Pipeline([("scale", StandardScaler()), ("select", ReliefF()), ("classify", SVC())])
    grid = {"select__n_features_to_select": [1, 2], "classify__C": [1.0, 10.0]}
    alone = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    with parallel_config(backend):
        beside = GridSearchCV(model, grid, cv=2, n_jobs=2, error_score="raise").fit(X, y)
    assert_array_equal(beside.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
