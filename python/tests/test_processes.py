"""Ctrl-C, forks and threads: what can hang a program."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import Queue
from threading import Barrier, Event, Thread

import numpy as np
import pytest
from common import ESTIMATORS, answers_of, quick, small_rows
from joblib import Parallel, cpu_count, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from kernsift import KOBL, SVC, ReliefF
from kernsift._native_data import n_threads

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

#: Seconds until work of a few seconds is taken to hang, however busy the machine is.
HANGS = 120

#: Long work of every kind: rows, columns, what is done with them.
LONG_WORK = {
    # A basis, which looks for a signal at every step.
    "kobl": (200_000, 20, "KOBL(n_components=3000, threshold=None).fit(X)"),
    # Two that cannot look, inside an eigen-decomposition: it goes on behind the scenes.
    "kpca": (4_000, 20, "KernelPCA(n_components=3).fit(X)"),
    "kda": (4_000, 20, "KernelDiscriminant(criterion='gda').fit(X, y)"),
    # Selectors that go down a gradient, follow a path, take columns away, vote.
    "hsfs": (6_000, 20, "HSFS().fit(X, y)"),
    "hsic_lasso": (40_000, 100, "HSICLasso().fit(X, y)"),
    "bahsic": (5_000, 60, "BAHSIC().fit(X, y)"),
    "svm_rfe": (5_000, 500, "SVMRFE().fit(X, y)"),
    "takes": (4_000, 20, "TAKES().fit(X, y)"),
    # SVMs.
    "svc": (40_000, 20, "SVC(C=1000.0).fit(X, y)"),
    "svc_cv": (6_000, 20, "SVCCV().fit(X, y)"),
    # Kernels and metrics from triplets.
    "design": (400, 60, "KernelDesign(n_triplets=4000, random_state=0).fit(X, y)"),
    "xing": (1_000, 200, "XingMetric(n_triplets=20_000, random_state=0).fit(X, y)"),
    # Functions.
    "compare": (600, 20, "compare(X, y, random_state=0)"),
    "hsic": (6_000, 20, "hsic(X, y, n_permutations=10**6)"),
    "gamma_for_n_components": (20_000, 20, "gamma_for_n_components(X, 2000)"),
}
#: Runs the given work, and reports how it ended and whether the next fit is right.
WORKER = """
import sys, traceback
import numpy
from kernsift import *

few = numpy.random.default_rng(0).normal(size=(200, 5))

def small_fit(n_jobs=None):
    return KOBL(n_components=20, n_jobs=n_jobs).fit(few).residual_norms_.tobytes()

expected = small_fit()
for line in sys.stdin:
    n, d, work = line.split(maxsplit=2)
    X = numpy.random.default_rng(0).normal(size=(int(n), int(d)))
    y = X[:, 0] * X[:, 1] > 0
    print("ready", flush=True)
    try:
        exec(work)
        print("over", flush=True)
    except KeyboardInterrupt as stop:
        # Out of the package's own call of its native half, and not out of a check of the rows.
        print("stopped in", traceback.extract_tb(stop.__traceback__)[-1].filename, flush=True)
        right = small_fit(1 if "n_jobs=1" in work else None) == expected
        print("right" if right else "wrong", flush=True)
"""


class Worker:
    """A process that runs one piece of work after another."""

    def __init__(self):
        self.child = subprocess.Popen(
            [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.lines = Queue()
        # A thread reads the lines, as reading from a pipe has no timeout.
        Thread(target=lambda: [self.lines.put(line) for line in self.child.stdout], daemon=True).start()

    def hear(self, seconds=HANGS):
        return self.lines.get(timeout=seconds).split()

    def stop_amid(self, work, after=0.6, patience=HANGS):
        """Sends work, then Ctrl-C, and waits for a correct fit; returns the seconds until the exception."""
        self.child.stdin.write(f"{work[0]} {work[1]} {work[2]}\n")
        self.child.stdin.flush()
        assert self.hear() == ["ready"]
        # Validation takes a few hundredths of it.
        time.sleep(after)
        assert self.lines.empty() and self.child.poll() is None, "it was over before it could be stopped"
        start = time.monotonic()
        self.child.send_signal(signal.SIGINT)
        *said, file = self.hear()
        seconds = time.monotonic() - start
        assert said == ["stopped", "in"] and Path(file).parent.name == "kernsift", (said, file)
        assert self.hear(patience) == ["right"]
        return seconds

    def end(self):
        self.child.kill()
        self.child.communicate()


@pytest.fixture(scope="module")
def workers():
    """A worker for the next test: the same one unless a test has failed."""
    kept = []
    yield kept
    for worker in kept:
        worker.end()


@contextmanager
def used(workers):
    worker = workers.pop() if workers else Worker()
    try:
        yield worker
    except BaseException:
        worker.end()
        raise
    workers.append(worker)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX")
@pytest.mark.parametrize("name", LONG_WORK)
def test_ctrl_c_stops_long_work_and_the_next_fit_is_right(name, workers):
    with used(workers) as worker:
        seconds = worker.stop_amid(LONG_WORK[name])
    # The waiting thread checks every 50 ms, then waits at most a second until the work has stopped; the rest
    # is margin for a busy machine.
    assert seconds < 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX")
def test_a_fit_does_not_wait_for_abandoned_work(workers):
    with used(workers) as worker:
        # A fit of a few milliseconds on a busy machine, beside an eigen-decomposition of many seconds.
        worker.stop_amid((3_000, 20, "KernelPCA(n_jobs=1).fit(X)"), after=1.5, patience=2)


def in_a_fork(work):
    """Runs the work in a forked child; returns its success, and raises if it hangs."""
    child = os.fork()
    if child == 0:
        # Exits without the cleanup of pytest.
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    ends = time.monotonic() + HANGS
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@needs_fork
class TestForks:
    """A child has its parent's memory, but of its threads only the one that forked."""

    X = np.random.default_rng(0).normal(size=(2000, 5))

    @classmethod
    def pivots(cls):
        return KOBL(n_components=40, n_jobs=2, gamma=0.1).fit(cls.X).pivots_.tolist()

    def test_the_helper_of_these_tests(self):
        assert in_a_fork(lambda: True) and not in_a_fork(lambda: False) and not in_a_fork(lambda: 1 / 0)

    def test_after_a_fit(self):
        expected = self.pivots()
        assert in_a_fork(lambda: self.pivots() == expected)
        assert self.pivots() == expected

    def test_a_child_of_a_child(self):
        expected = self.pivots()
        assert in_a_fork(lambda: self.pivots() == expected and in_a_fork(lambda: self.pivots() == expected))

    def test_every_estimator(self):
        expected = expected_answers()
        # The exit code of a child only says that results differ, so run them one by one.
        for name, made in expected.items():
            assert in_a_fork(lambda name=name, made=made: (answers_of(name) == made).all()), name

    def test_before_any_fit(self):
        # In a process of its own: this one has had fits. Each line goes out by one write, which a pipe keeps
        # whole; print may write a line and its end apart, with the other's line between.
        script = """
import os, numpy, kernsift
X = numpy.random.default_rng(0).normal(size=(2000, 5))
child = os.fork()
pivots = kernsift.KOBL(n_components=40, n_jobs=2, gamma=0.1).fit(X).pivots_.tolist()
os.write(1, f"{pivots}\\n".encode())
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
        out = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script], stdout=subprocess.PIPE, text=True, timeout=HANGS
        )
        assert out.returncode == 0 and out.stdout.splitlines() == [str(self.pivots())] * 2

    def test_while_other_threads_fit(self):
        expected, over, fits = self.pivots(), Event(), []

        def fit_until_over():
            while not over.is_set():
                fits.append(self.pivots() == expected)

        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(fit_until_over) for _ in range(2)]
            try:
                # At other moments of the fits each time.
                right = [in_a_fork(lambda: self.pivots() == expected) for _ in range(20)]
            finally:
                over.set()
            for thread in running:
                thread.result(timeout=HANGS)
        assert all(right)
        assert len(fits) > 2 and all(fits)


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


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fits_inside_callbacks_of_several_threads_end(n_jobs):
    """Each fit waits for another one; in a process of its own, since a deadlock could not be stopped."""
    program = f"""
import threading, numpy, kernsift
X = numpy.random.default_rng(0).normal(size=(200, 3))
together = threading.Barrier(4)

def nested(depth):
    if depth == 0:
        return kernsift.KOBL(n_jobs={n_jobs}, n_components=5, threshold=None).fit(X)
    first = [True]

    def threshold(t):
        if first:
            first.clear()
            if depth == 2:
                together.wait()
            nested(depth - 1)
        return t

    return kernsift.KOBL(n_jobs={n_jobs}, n_components=5, threshold=threshold).fit(X)

threads = [threading.Thread(target=nested, args=(2,)) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "done\n"


def test_other_threads_run_during_a_fit():
    X = np.random.default_rng(0).normal(size=(20000, 5))
    with ThreadPoolExecutor(1) as pool:
        fit = pool.submit(KOBL(n_components=300, threshold=None).fit, X)
        counted = 0
        while not fit.done():
            counted += 1
    assert counted > 1000


def test_memory_is_reported_only_for_a_fit_without_others():
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


@cache
def expected_answers():
    return {name: answers_of(name) for name in ESTIMATORS}


def test_every_estimator_in_eight_threads_at_once():
    expected = expected_answers()
    # Fits of the same estimator run at once too. Fits with two threads share two, the others all cores.
    jobs = [(name, n_jobs) for n_jobs in (2, 2, None, None) for name in ESTIMATORS]
    with ThreadPoolExecutor(8) as pool:
        fits = [(name, pool.submit(answers_of, name, n_jobs)) for name, n_jobs in jobs]
        for name, fit in fits:
            assert_array_equal(fit.result(timeout=HANGS), expected[name], err_msg=name)


def test_every_estimator_in_three_processes_at_once():
    expected = expected_answers()
    names = [*ESTIMATORS, *ESTIMATORS]
    # loky is the default of joblib.
    found = Parallel(n_jobs=3, timeout=HANGS)(delayed(answers_of)(name) for name in names)
    for name, made in zip(names, found, strict=True):
        assert_array_equal(made, expected[name], err_msg=name)


def test_every_estimator_in_a_spawned_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map_async(answers_of, ESTIMATORS).get(timeout=120)
    for name, made in zip(ESTIMATORS, found, strict=True):
        assert_array_equal(made, expected_answers()[name], err_msg=name)


def test_fitted_estimators_are_sent_to_spawned_processes():
    X, y = small_rows()
    fitted = [quick(name).fit(X, y) for name in ("HSFS", "KOBL", "TAKES", "KernelDesign", "SVC")]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        again = pool.map_async(_shown, fitted).get(timeout=120)
    assert again == [_shown(estimator) for estimator in fitted]


def _shown(estimator):
    return estimator._summary_html()


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_grid_searches_in_parallel(backend):
    X, y = small_rows()
    model = Pipeline([("scale", StandardScaler()), ("select", ReliefF()), ("classify", SVC())])
    grid = {"select__n_features_to_select": [1, 2], "classify__C": [1.0, 10.0]}
    alone = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    found = Queue()

    def search():
        with parallel_config(backend):
            found.put(GridSearchCV(model, grid, cv=2, n_jobs=2, error_score="raise").fit(X, y).cv_results_)

    # A search has no limit of time of its own.
    Thread(target=search, daemon=True).start()
    beside = found.get(timeout=HANGS)
    assert_array_equal(beside["mean_test_score"], alone.cv_results_["mean_test_score"])


def threads_of_fits():
    """Number of threads of this process after a fit with n_jobs=None, and after one with -1."""
    tasks = Path("/proc/self/task")
    counts, before = [], {task.name for task in tasks.iterdir()}
    for n_jobs in (None, -1):
        KOBL(n_components=5, n_jobs=n_jobs).fit(small_rows()[0])
        # A thread is listed as soon as it is there, but takes its name when it first runs, which on a busy
        # machine may be long after the fit.
        ends = time.monotonic() + HANGS / 4
        while True:
            names = [(task / "comm").read_text() for task in tasks.iterdir() if task.name not in before]
            ours = sum(name.startswith("kernsift") for name in names)
            if ours == len(names) or time.monotonic() > ends:
                break
            time.sleep(0.01)
        counts.append(ours)
    return counts


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
class TestOversubscription:
    """Workers of joblib use their share of the cores by default."""

    @pytest.fixture(scope="class")
    @classmethod
    def cores(cls):
        """Number of threads in a process without joblib."""
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            by_default, all_cores = pool.apply_async(threads_of_fits).get(timeout=HANGS)
        # Both have one per core, and share them.
        assert by_default == all_cores > 0
        return all_cores

    @staticmethod
    def expected(share, cores):
        """Pools are cached by size: that for -1 is another one, or the same."""
        return [share, cores if share == cores else share + cores]

    @pytest.mark.parametrize("inner", [None, 3])
    def test_loky(self, inner, cores, monkeypatch):
        # joblib keeps a value that is set.
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        share = max(1, cpu_count() // 2) if inner is None else inner
        get_reusable_executor().shutdown(wait=True)
        with parallel_config("loky", inner_max_num_threads=inner):
            found = Parallel(n_jobs=2, timeout=HANGS)(delayed(threads_of_fits)() for _ in range(2))
        # Other tests must not reuse these processes, which have started their threads.
        get_reusable_executor().shutdown(wait=True)
        # One worker may have run both.
        assert found[0] == self.expected(share, cores)

    @needs_fork
    def test_multiprocessing(self, cores, monkeypatch):
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        # It sets no variable for its workers, so each has one thread.
        with parallel_config("multiprocessing"):
            found = Parallel(n_jobs=2, timeout=HANGS)(delayed(threads_of_fits)() for _ in range(2))
        assert found[0] == self.expected(1, cores)

    def test_threading(self):
        # Its workers share the thread pool of the process, one thread per core.
        with parallel_config("threading"):
            assert Parallel(n_jobs=2)(delayed(n_threads)(None) for _ in range(2)) == [0, 0]

    @pytest.mark.parametrize(("limit", "expected"), [("5", 5), ("1", 1), ("0", 1), ("4,2", 1), ("", 1)])
    def test_the_thread_limit_of_a_worker(self, limit, expected, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
        assert n_threads(None) == 0, "it is for workers only"
        # A thread of joblib in a child process behaves like a process of joblib, and starts faster.
        monkeypatch.setattr(multiprocessing, "parent_process", lambda: "a parent")
        assert n_threads(None) == 0, "a child that joblib did not start"
        with parallel_config("threading"):
            assert Parallel(n_jobs=2)(delayed(n_threads)(n) for n in (None, -1, -2, 7)) == [
                expected,
                0,
                -1,
                7,
            ]
