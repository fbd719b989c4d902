"""Ctrl-C, forks and threads: what can hang a program."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernsift import KOBL

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
