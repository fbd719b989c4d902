"""Progress of `verbose`, and advice in warnings."""

import io
import sys
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from common import ESTIMATORS, quick, small_rows
from sklearn.exceptions import ConvergenceWarning

from kernsift import (
    HSFS,
    L1SVM,
    LDFS,
    PFS,
    SVC,
    SVCCV,
    SVMRFE,
    FisherScore,
    KernelDesign,
    KernelPCA,
    LinearSVC,
    NCASelector,
    XingMetric,
    _progress,
)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_verbose_fits_report_their_end(name, capsys):
    X, y = small_rows()
    estimator = quick(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for silent in (0, False):
            estimator.set_params(verbose=silent).fit(X, y)
        assert capsys.readouterr() == ("", "")
        estimator.set_params(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[-1].startswith(f"kernsift: {name}: 60 samples, 5 features, fitted in ")
    assert all(line.startswith("kernsift: ") for line in lines)


def test_long_fits_report_progress(capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1800, 5))
    start = time.monotonic()
    KernelPCA(n_components=3, verbose=1, n_jobs=1).fit(X)
    if time.monotonic() - start < 1.2:
        pytest.skip("too quick to say anything")
    assert "kernsift: KernelPCA: 1800 samples, 5 features, 1 s so far\n" in capsys.readouterr().err


def test_notes_are_shown_when_they_occur(monkeypatch):
    written = []
    stream = SimpleNamespace(write=lambda text: written.append((time.monotonic(), text)), flush=lambda: None)
    monkeypatch.setattr("sys.stderr", stream)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4100, 4))
    start = time.monotonic()
    NCASelector(2, verbose=1, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    end = time.monotonic()
    (noted,) = [when for when, text in written if "of 4100 rows, by 2000 landmarks" in text]
    # The search comes after the note, and takes longer than everything before it.
    assert noted - start < 0.6 * (end - start)


def test_messages_repeat(capsys, monkeypatch):
    monkeypatch.setattr(_progress, "DELAY", 0.01)
    monkeypatch.setattr(_progress, "INTERVAL", 0.01)
    with _progress.report_progress(SimpleNamespace(verbose=2), np.zeros((1, 2))):
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 2
    assert lines[0] == "kernsift: SimpleNamespace: 1 sample, 2 features, 0 s so far"
    with pytest.raises(RuntimeError), _progress.report_progress(SimpleNamespace(verbose=1), np.zeros((1, 2))):
        raise RuntimeError
    # A failed fit is not reported as fitted.
    assert "fitted" not in capsys.readouterr().err


def test_notebooks_and_programs_without_a_console(monkeypatch):
    X, y = small_rows()
    # Notebooks replace sys.stderr.
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    quick("KOBL").set_params(verbose=1).fit(X, y)
    assert stream.getvalue().count("kernsift: ") == 2
    monkeypatch.setattr(sys, "stderr", None)
    quick("KOBL").set_params(verbose=1).fit(X, y)


@pytest.mark.parametrize(
    "estimator, advice",
    [
        (LinearSVC(max_iter=1, tol=1e-12), "Raise max_iter (now 1) or tol (now 1e-12), or standardize the"),
        (SVC(max_iter=1), "Raise max_iter (now 1) or tol (now 0.001), or standardize the features first"),
        (SVCCV(max_iter=1, cv=2), "Raise max_iter (now 1)"),
        (SVMRFE(1, max_iter=1), "Raise max_iter (now 1)."),
        (SVMRFE(1, max_iter=1, standardize=False), "Raise max_iter (now 1), or standardize the features"),
        (L1SVM(2, max_iter=1, tol=1e-14), "Raise max_iter (now 1) or tol (now 1e-14)."),
        (LDFS(penalty=0.01, max_iter=1, tol=1e-14), "Raise max_iter (now 1) or tol (now 1e-14)."),
        (PFS(penalty=0.01, max_iter=1, tol=1e-14), "Raise max_iter (now 1) or tol (now 1e-14)."),
        (HSFS(radius=1.0, max_iter=1, tol=1e-14), "Raise max_iter (now 1) or tol (now 1e-14)."),
        (XingMetric(max_iter=1), "Raise max_iter (now 1) or tol (now 1e-06)."),
        (KernelDesign(psd="eigen_cuts", max_rounds=1, n_triplets=200), "Raise max_rounds (now 1) or tol"),
    ],
    ids=str,
)
def test_a_fit_that_did_not_converge_gives_advice(estimator, advice, wine):
    X, y = wine
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.set_params(random_state=0).fit(X, y)
    found = [warning for warning in caught if warning.category is ConvergenceWarning]
    assert len(found) == 1
    text = str(found[0].message)
    assert text.startswith(f"{type(estimator).__name__} did not converge: ") and advice in text
    # The warning points at the line that called fit.
    assert found[0].filename == __file__
    assert not estimator.converged_


def test_warnings_point_at_the_line_that_called_fit():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="none is selected") as caught:
        FisherScore().fit(rng.normal(size=(60, 3)), rng.integers(0, 2, 60))
    assert [warning.filename for warning in caught] == [__file__]
