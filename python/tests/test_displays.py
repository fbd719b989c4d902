"""What notebooks show."""

import pickle
import warnings

import numpy as np
import pandas
import pytest
import sklearn
from common import ESTIMATORS, quick
from html_reader import Reader
from sklearn.base import clone

import kernsift
from kernsift import KOBL, FisherScore, KernelDesign, load_dataset

HOSTILE = ['<script>alert("x")</script>', "a\u202eb\u200f", "\"onmouseover='x'", "&amp;", "x" * 500]


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = np.abs(rng.normal(size=(40, 5))) + np.outer(y, [3, 2, 2, 2, 2])
    return pandas.DataFrame(X, columns=HOSTILE), y


def well_formed(text):
    reader = Reader()
    reader.feed(text)
    return reader.open == [] and reader.wrong == []


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fitted_estimator_shows_a_summary(name, hostile):
    X, y = hostile
    estimator = quick(name)
    before = estimator._repr_mimebundle_()["text/html"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
    shown = estimator._repr_mimebundle_()["text/html"]
    summary = estimator._summary_html()
    # scikit-learn's diagram first, then the summary.
    assert summary and shown.endswith(summary) and estimator._repr_html_().endswith(summary)
    assert "sk-container" in shown and "sk-container" in before
    assert well_formed(summary)
    assert "<script" not in summary and "\u202e" not in summary and "x" * 60 not in summary
    assert "<script>alert" not in shown
    # Not before the fit, nor in text output.
    assert clone(estimator)._summary_html() == ""
    with sklearn.config_context(display="text"):
        assert "text/html" not in estimator._repr_mimebundle_()
        assert not hasattr(estimator, "_repr_html_")


def test_summaries(hostile):
    X, y = hostile
    selector = FisherScore(2).fit(X, y)
    shown = selector._summary_html()
    assert "2 of 5 features" in shown and shown.count("<span") == 2
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;" in FisherScore(5).fit(X, y)._summary_html()
    basis = KOBL(gamma=0.1).fit(X)
    assert f"<td>{basis.n_components_}</td>" in basis._summary_html()
    assert "RBF(gamma=0.1)" in basis._summary_html()
    design = KernelDesign(gamma1=1e-4, gamma2=0.0, random_state=0).fit(X, y)
    assert f"{np.count_nonzero(design.alpha_)} of {len(design.kernels_)}" in design._summary_html()


def test_many_features_are_truncated(rng):
    X = rng.normal(size=(50, 30))
    shown = FisherScore(25).fit(X, X[:, 0] > 0)._summary_html()
    assert shown.count("<span") == 10 and "and 15 more" in shown


def test_a_fit_that_did_not_converge_is_marked(wine):
    X, y = wine
    with pytest.warns(sklearn.exceptions.ConvergenceWarning):
        machine = kernsift.LinearSVC(max_iter=1, tol=1e-12, random_state=0).fit(X, y)
    assert "<th>converged</th><td>no</td>" in machine._summary_html()


def test_data_sets():
    wine = load_dataset("wine")
    assert repr(wine) == "<kernsift data: wine, 178 samples, 13 features, 3 classes>"
    assert well_formed(wine._repr_html_()) and "178 samples, 13 features" in wine._repr_html_()
    again = pickle.loads(pickle.dumps(wine))
    assert type(again) is type(wine) and again.name == "wine" and (again.data == wine.data).all()
    for name in kernsift.list_datasets():
        data = load_dataset(name)
        assert ("continuous" in repr(data)) == (data.target_names is None)


def test_saved_models(tmp_path):
    path = tmp_path / "model.ks"
    path.write_bytes(KOBL(gamma=0.1, n_components=12).fit(np.arange(60.0).reshape(20, 3))._map.to_bytes())
    shown = kernsift.load_model(path)._repr_html_()
    assert well_formed(shown) and "<td>kobl</td>" in shown and "<td>3: x1, x2, x3</td>" in shown
