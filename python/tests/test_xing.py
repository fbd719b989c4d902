"""Xing's metric: against metric-learn, against scipy, and as an estimator."""

import json
import pickle
import re

import numpy as np
import pytest
from make_mmc_metrics import FILE, pairs, problem, value
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kernsift import BreakdownError, Mahalanobis, XingMetric, triplet_accuracy, triplets_from_labels
from kernsift.datasets import load_dataset

SETS = ["wine", "wdbc"]


@pytest.fixture(scope="module")
def problems():
    return {name: problem(name) for name in SETS}


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("form", ["full", "diagonal"])
@pytest.mark.parametrize("name", SETS)
def test_no_worse_than_mmc(problems, name, form, standardize):
    X, triplets = problems[name]
    theirs = np.array(json.loads(FILE.read_text(encoding="utf-8"))[f"{name} {form}"])
    theirs = theirs if form == "full" else np.diag(theirs)
    ours = XingMetric(form == "diagonal", standardize=standardize).fit(X, triplets)
    assert ours.status_ == "optimal"
    # Full on wine 129.4 and 129.1; on wdbc 105 and 49, where the projections of MMC do not converge.
    assert value(ours.metric_, X, triplets) >= value(theirs, X, triplets)


@pytest.mark.parametrize("name", SETS)
def test_the_full_optimum_by_a_bound_in_numpy(problems, name):
    X, triplets = problems[name]
    metric = XingMetric().fit(X, triplets).metric_
    near, far = (X[rows[:, 0]] - X[rows[:, 1]] for rows in pairs(triplets))
    # In these coordinates f(A) <= 1 is a trace of at most 1. The sum is concave and below its tangent at A,
    # whose largest value is the largest eigenvalue of the gradient.
    back = np.linalg.inv(np.linalg.cholesky(near.T @ near))
    z = far @ back.T
    distances = np.sqrt(((far @ metric) * far).sum(axis=1) / ((near @ metric) * near).sum())
    slope = z.T @ (z / distances[:, None]) / 2
    bound = distances.sum() / 2 + np.linalg.eigvalsh(slope)[-1]
    assert distances.sum() == pytest.approx(value(metric, X, triplets), rel=1e-12)
    # The default tolerance, and rounding in other coordinates.
    assert 1 - 1e-12 <= bound / distances.sum() <= 1 + 1.01e-6


@pytest.mark.parametrize("name", SETS)
def test_the_diagonal_optimum_is_that_of_scipy(problems, name):
    X, triplets = problems[name]
    ours = XingMetric(diagonal=True, tol=1e-9).fit(X, triplets)
    near, far = ((X[rows[:, 0]] - X[rows[:, 1]]) ** 2 for rows in pairs(triplets))

    def printed(w):
        """The paper's objective, sum_S d^2 - log sum_D d, and its gradient."""
        d = np.sqrt(far @ w + 1e-300)
        return near.sum(axis=0) @ w - np.log(d.sum()), near.sum(axis=0) - far.T @ (0.5 / d) / d.sum()

    # In units in which entries are of order one.
    unit = 1 / near.sum(axis=0)
    found = minimize(
        lambda w: (printed(w * unit)[0], printed(w * unit)[1] * unit),
        np.full(X.shape[1], 1 / X.shape[1]),
        jac=True,
        bounds=[(0, None)] * X.shape[1],
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    theirs = found.x * unit
    weights = np.diag(ours.metric_)
    # At the best scale the sum of squares is 1/2.
    weights = weights / (2 * near.sum(axis=0) @ weights)
    assert printed(weights)[0] == pytest.approx(found.fun, abs=1e-8)
    # The error of a weight is about the root of the error of the objective.
    assert weights == pytest.approx(theirs, abs=1e-3 * theirs.max())
    assert np.array_equal(weights > 0, theirs > 1e-6 * theirs.max())
    assert np.array_equal(ours.support_, weights > 0)


def squared(metric, X, Z):
    z = X[:, None, :] - Z[None, :, :]
    return np.einsum("ijk,kl,ijl->ij", z, metric, z)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_kernel_metric_and_transform_agree(diagonal, standardize):
    wine = load_dataset("wine")
    X, Z = wine.data[::3], wine.data[1::40]
    learner = XingMetric(diagonal, standardize=standardize, random_state=0).fit(wine.data, wine.target)
    assert learner.kernel(X, Z) == pytest.approx(np.exp(-squared(learner.metric_, X, Z)), rel=1e-6)
    assert learner.kernel(X) == pytest.approx(learner.kernel(X, X.copy()), abs=1e-12)
    mapped = [learner.transform(rows) for rows in (X, Z)]
    assert mapped[0].shape == (len(X), learner.n_components_)
    apart = ((mapped[0][:, None, :] - mapped[1][None, :, :]) ** 2).sum(axis=2)
    # The samples are of order 1000, and their rounding errors are squared.
    assert apart == pytest.approx(squared(learner.metric_, X, Z), rel=1e-6, abs=1e-9)
    assert isinstance(learner.kernel_, Mahalanobis)
    assert learner.scores_.max() == 1
    if diagonal:
        assert learner.n_components_ == learner.support_.sum() < 13
    else:
        assert learner.support_.all()


def test_the_metric_does_not_depend_on_units():
    wine = load_dataset("wine")
    triplets = triplets_from_labels(wine.target, 300, random_state=0)
    metrics = [XingMetric(standardize=s, tol=1e-9).fit(wine.data, triplets).metric_ for s in (False, True)]
    scale = wine.data.std(axis=0)
    a, b = (metric * np.outer(scale, scale) for metric in metrics)
    # Each is accurate to about the root of the tolerance.
    assert a == pytest.approx(b, abs=1e-3 * abs(a).max())


def test_labels_give_drawn_triplets():
    wine = load_dataset("wine")
    triplets = triplets_from_labels(wine.target, 700, random_state=3)
    learner = XingMetric(n_triplets=700, random_state=3)
    metric = learner.fit(wine.data, wine.target).metric_
    assert np.array_equal(metric, XingMetric().fit(wine.data, triplets).metric_)
    assert np.array_equal(metric, XingMetric().fit(wine.data, triplets.tolist()).metric_)
    assert learner.score(wine.data, wine.target) == learner.score(wine.data, triplets)
    accuracy = triplet_accuracy(learner.kernel(wine.data), triplets)
    assert learner.score(wine.data, triplets) == pytest.approx(accuracy, abs=1e-3)
    assert accuracy > 0.95
    numbers = XingMetric(random_state=0).fit(wine.data[:, 1:], wine.data[:, 0])
    assert numbers.score(wine.data[:, 1:], wine.data[:, 0]) > 0.6


def test_threads_and_sparse_rows_change_nothing():
    sonar = load_dataset("sonar")
    fits = [
        XingMetric(diagonal, n_jobs=jobs, standardize=False, random_state=0).fit(rows, sonar.target)
        for diagonal in (False, True)
        for jobs, rows in ((1, sonar.data), (2, sonar.data), (1, sparse.csr_array(sonar.data)))
    ]
    for one, *others in (fits[:3], fits[3:]):
        for other in others:
            assert np.array_equal(one.metric_, other.metric_)
    rows = sparse.csr_array(sonar.data)
    learner = XingMetric(random_state=0).fit(rows, sonar.target)
    assert not learner.mean_.any()
    assert learner.kernel(rows[:5], sonar.data) == pytest.approx(learner.kernel(sonar.data[:5], rows))


def test_works_with_scikit_learn():
    wine = load_dataset("wine")
    rows, left = np.arange(0, 178, 2), np.arange(1, 178, 2)
    learner = XingMetric(random_state=0).fit(wine.data[rows], wine.target[rows])
    machine = SVC(kernel=learner.kernel).fit(wine.data[rows], wine.target[rows])
    # A metric of rank 1 separates three classes on a line; predicting the largest class has 0.4.
    assert machine.score(wine.data[left], wine.target[left]) > 0.85
    again = pickle.loads(pickle.dumps(learner))
    assert np.array_equal(again.kernel(wine.data), learner.kernel(wine.data))
    line = make_pipeline(XingMetric(random_state=0), KNeighborsClassifier())
    search = GridSearchCV(line, {"xingmetric__diagonal": [False, True]}, cv=3).fit(wine.data, wine.target)
    assert search.best_score_ > 0.85
    # It is not a classifier: with a number of folds, the samples, sorted by class, would not be shuffled.
    folds = StratifiedKFold(3)
    search = GridSearchCV(XingMetric(random_state=0), {"diagonal": [False, True]}, cv=folds)
    assert search.fit(wine.data, wine.target).best_score_ > 0.85
    assert clone(learner).get_params() == learner.get_params()
    names = learner.get_feature_names_out()
    assert list(names) == [f"xingmetric{i}" for i in range(learner.n_components_)]


X = np.random.default_rng(0).normal(size=(30, 3))
y = np.arange(30) % 3


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: XingMetric().fit(X, [[0, 1, 30]]), "triplet 1: expected rows below 30, got 30"),
        (lambda: XingMetric().fit(X, [[0, 1, 2], [0, 1, 1]]), "triplet 2: expected three distinct rows"),
        (lambda: XingMetric().fit(X, [[0, 1, -1]]), "triplet 1: row numbers count from 0, got -1"),
        (
            lambda: XingMetric().fit(X, [[0.0, 1.0, 2.0]]),
            "triplets must be an integer array with three columns",
        ),
        (lambda: XingMetric().fit(X, np.zeros((0, 3), int)), "triplets: expected at least 1, got 0"),
        (lambda: XingMetric().fit(X, np.zeros((30, 2))), "y should be a 1d array"),
        (lambda: XingMetric().fit(X, None), "requires y to be passed"),
        (lambda: XingMetric().fit(X, y[:20]), "inconsistent numbers of samples"),
        (lambda: XingMetric().fit(X, np.zeros(30, int)), "all rows have the class '0'"),
        (lambda: XingMetric(tol=0).fit(X, y), "The 'tol' parameter of XingMetric"),
        (lambda: XingMetric(max_iter=0).fit(X, y), "The 'max_iter' parameter of XingMetric"),
        (lambda: XingMetric(ridge=-1).fit(X, y), "The 'ridge' parameter of XingMetric"),
        (lambda: XingMetric(ridge="some").fit(X, y), "The 'ridge' parameter of XingMetric"),
        (lambda: XingMetric(diagonal="yes").fit(X, y), "The 'diagonal' parameter of XingMetric"),
        (lambda: XingMetric().fit(X, y).kernel(X[:, :2]), "X has 2 features, but XingMetric is expecting 3"),
        (lambda: XingMetric().fit(X, y).score(X, [[0, 1, 40]]), "triplet 1: expected rows below 30, got 40"),
    ],
)
def test_bad_input_is_a_value_error(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_problems_without_a_solution_raise():
    equal = X[[0, 0, 1, 1, 2]]
    with pytest.raises(BreakdownError, match="all similar pairs are of equal rows"):
        XingMetric().fit(equal, [[0, 1, 2], [2, 3, 4]])
    with pytest.raises(BreakdownError, match="all dissimilar pairs are of equal rows"):
        XingMetric().fit(equal, [[0, 2, 1]])
    with pytest.raises(BreakdownError, match="allow a ridge"):
        XingMetric(ridge=0).fit(X, [[0, 1, 2], [3, 4, 5]])
    with pytest.raises(BreakdownError, match="as often as its opposite"):
        XingMetric().fit(X, [[0, 1, 2], [0, 2, 1]])


def test_warnings():
    with pytest.warns(UserWarning, match=r"added a ridge of 0\.01"):
        learner = XingMetric().fit(X, [[0, 1, 2], [3, 4, 5]])
    assert learner.status_ == "optimal"
    with pytest.warns(ConvergenceWarning, match="XingMetric did not converge: the limit on rounds"):
        learner = XingMetric(max_iter=1, random_state=0).fit(X, y)
    assert (learner.status_, learner.converged_, learner.n_iter_) == ("max-iterations", False, 1)
    with pytest.warns(UserWarning, match="no kernel can satisfy all of them"):
        XingMetric().fit(X, [[0, 1, 2], [0, 2, 1], [3, 4, 5], [6, 7, 8], [9, 10, 11]])


def test_a_constant_feature_has_no_weight():
    wide = np.c_[X, np.full(30, 3.5)]
    for diagonal in (False, True):
        learner = XingMetric(diagonal, random_state=0).fit(wide, y)
        assert learner.scores_[3] == 0 and not learner.support_[3]
        assert not learner.metric_[3].any() and not learner.metric_[:, 3].any()
        assert learner.transform(wide).shape == (30, learner.n_components_)


def test_a_metric_that_overflows_raises():
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = np.arange(20) % 2
    expected = XingMetric(random_state=0).fit(X, y).metric_
    for scale in (1e-100, 1e100):
        metric = XingMetric(random_state=0).fit(X * scale, y).metric_
        assert_allclose(metric * scale * scale, expected, rtol=1e-6)
    for scale in (1e-300, 1e300):
        with pytest.raises(BreakdownError, match="the metric overflows in the units of the features"):
            XingMetric(random_state=0).fit(X * scale, y)
