"""SVMs against scikit-learn's, which wrap LIBSVM and LIBLINEAR."""

import pickle

import numpy as np
import pandas
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import scale

from kernsift import L1SVM, RBF, SVC, SVCCV, SVMRFE, LinearSVC, ReliefF
from kernsift.datasets import load_dataset
from kernsift.exceptions import BreakdownError

# Decision values of two solutions within a tolerance of 1e-3 may differ by more than that where the matrix
# is nearly singular; with 1e-6 on both sides, 1e-3 means that the solutions agree. LIBSVM caches kernels in
# single precision, so that the tolerance cannot be smaller.
TIGHT = 1e-6


def standard(name, rows=None):
    data = load_dataset(name)
    X, y = data.data[:rows], data.target[:rows]
    return scale(X), y


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("gamma", ["scale", 0.3])
@pytest.mark.parametrize("name", ["wine", "wdbc", "pima", "sonar", "madelon"])
def test_values_are_those_of_scikit_learn(name, gamma, C):
    # A part of madelon's 2000 rows of 500 columns: scikit-learn is slow there.
    X, y = standard(name, 500 if name == "madelon" else None)
    ours = SVC(C=C, gamma=gamma, tol=TIGHT).fit(X, y)
    theirs = sklearn.svm.SVC(C=C, gamma=gamma, tol=TIGHT).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    # Values within 1e-3 can only disagree about samples that are so close to a boundary: at most 1 in 200.
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.995
    ours.set_params(decision_function_shape="ovo")
    theirs.set_params(decision_function_shape="ovo")
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "poly", RBF(0.05)])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5}])
def test_kernels_and_class_weights(kernel, class_weight):
    X, y = standard("wine")
    y = np.searchsorted(np.unique(y), y)
    theirs = sklearn.svm.SVC(
        kernel=(lambda A, B: rbf_kernel(A, B, gamma=0.05)) if isinstance(kernel, RBF) else kernel,
        class_weight=class_weight,
        tol=TIGHT,
        C=0.5,
    ).fit(X, y)
    ours = SVC(kernel=kernel, class_weight=class_weight, tol=TIGHT, C=0.5).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert_array_equal(ours.n_support_.sum(), len(ours.support_))
    if kernel == "linear":
        assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_precomputed_and_sparse_give_the_same_svm(rng):
    X, y = standard("sonar")
    X = np.where(rng.random(X.shape) < 0.4, 0.0, X)
    plain = SVC(gamma=0.02, tol=TIGHT).fit(X, y)
    expected = plain.decision_function(X[:50])
    by_gram = SVC(kernel="precomputed", tol=TIGHT).fit(rbf_kernel(X, gamma=0.02), y)
    assert_allclose(by_gram.decision_function(rbf_kernel(X[:50], X, gamma=0.02)), expected, atol=1e-5)
    by_cells = SVC(gamma=0.02, tol=TIGHT).fit(sparse.csr_array(X), y)
    assert_allclose(by_cells.decision_function(sparse.csr_array(X[:50])), expected, atol=1e-5)
    with pytest.raises(ValueError, match="square matrix"):
        SVC(kernel="precomputed").fit(X, y)
    scores = cross_val_score(SVC(kernel="precomputed"), rbf_kernel(X, gamma=0.02), y)
    # Folds of 41 or 42 samples, solved to a tolerance of 1e-3: one sample on the boundary is 0.024.
    assert_allclose(scores, cross_val_score(sklearn.svm.SVC(gamma=0.02), X, y), atol=0.03)


def test_attributes_pickle_and_limits():
    X, y = standard("wdbc")
    svm = SVC(C=10).fit(X, y)
    again = pickle.loads(pickle.dumps(svm))
    assert_array_equal(again.decision_function(X), svm.decision_function(X))
    values = rbf_kernel(X, svm.support_vectors_, gamma=svm.gamma_) @ svm.dual_coef_[0]
    assert_allclose(values + svm.intercept_[0], svm.decision_function(X), atol=1e-9)
    assert not hasattr(svm, "coef_")
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        limited = SVC(C=10, max_iter=3).fit(X, y)
    assert not limited.converged_ and limited.n_iter_[0] == 3


def test_search_is_a_grid_search_on_the_same_folds():
    X, y = standard("pima")
    c_values, gammas = [0.1, 1.0, 10.0], [0.01, 0.1]
    ours = SVCCV(C=c_values, gamma=gammas, cv=4, tol=TIGHT, random_state=0).fit(X, y)
    assert ours.cv_errors_.shape == (2, 3) and ours.cv_fold_errors_.shape == (2, 3, 4)
    theirs = GridSearchCV(sklearn.svm.SVC(), {"C": c_values, "gamma": gammas}, cv=4).fit(X, y)
    errors = 1 - theirs.cv_results_["mean_test_score"].reshape(3, 2).T
    # Other folds of 768 samples: an error of 0.24 has a standard error of 0.015.
    assert_allclose(ours.cv_errors_, errors, atol=0.045)
    best = np.argwhere(ours.cv_errors_ == ours.cv_errors_.min())
    g, c = min(best, key=lambda at: (at[1], at[0]))
    assert (ours.gamma_, ours.C_) == (ours.cv_gamma_[g], ours.cv_C_[c])
    plain = SVC(C=ours.C_, gamma=ours.gamma_, tol=TIGHT).fit(X, y)
    assert_allclose(ours.decision_function(X), plain.decision_function(X), atol=1e-9)


def test_gammas_that_would_be_ignored_raise():
    X, y = standard("wine")
    for kernel in ("linear", RBF(0.1)):
        for gamma in (0.1, "median", [0.1, 1.0], []):
            with pytest.raises(ValueError, match="'gamma' parameter of SVCCV must keep its default"):
                SVCCV(C=[1.0], kernel=kernel, gamma=gamma).fit(X, y)
        assert SVCCV(C=[1.0], kernel=kernel).fit(X, y).cv_errors_.shape == (1, 1)
    with pytest.raises(ValueError, match="must hold at least one value"):
        SVCCV(gamma=[]).fit(X, y)
    for bad in ([0.1, -1.0], ["auto"], [float("nan")], [None]):
        with pytest.raises(ValueError, match="must hold 'scale', 'median' or positive numbers"):
            SVCCV(gamma=bad).fit(X, y)
    widths = pandas.Series([0.1, 0.01], index=[7, 3])
    ours = SVCCV(C=[1.0], gamma=widths, random_state=0).fit(X, y)
    assert_array_equal(ours.cv_gamma_, [0.01, 0.1])
    several = SVCCV(C=[1.0], gamma=["scale", 0.01], random_state=0).fit(X, y)
    assert_allclose(several.cv_gamma_, [0.01, 1 / 13])


def test_many_neighbors_and_weights_of_zero():
    X, y = standard("wine")
    many = ReliefF(n_neighbors=10**12).fit(X, y)
    assert_array_equal(many.scores_, ReliefF(n_neighbors=len(y)).fit(X, y).scores_)
    two = y != y[-1]
    classes = np.unique(y[two])
    svm = SVC(class_weight={classes[0]: 0.0, classes[1]: 1.0}).fit(X[two], y[two])
    assert (svm.predict(X[two]) == classes[1]).all()


def test_kernel_values_that_are_not_finite_raise():
    X, y = standard("wine")
    for svm in (SVC(kernel="linear"), SVCCV(kernel="linear"), LinearSVC(), SVMRFE(standardize=False)):
        with pytest.raises(BreakdownError, match="overflow; scale the features"):
            svm.fit(1e200 * X, y)


def objective(svm, X, y, penalty, loss, C, class_weight=None):
    """The objective of LIBLINEAR for two classes."""
    signs = np.where(y == svm.classes_[1], 1.0, -1.0)
    w = np.append(svm.coef_[0], svm.intercept_)
    b = np.maximum(0, 1 - signs * (X @ svm.coef_[0] + svm.intercept_))
    norm = np.abs(w).sum() if penalty == "l1" else 0.5 * w @ w
    return norm + C * (b**2 if loss == "squared_hinge" else b).sum()


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize(
    ("penalty", "loss"), [("l2", "squared_hinge"), ("l2", "hinge"), ("l1", "squared_hinge")]
)
@pytest.mark.parametrize("name", ["wdbc", "sonar", "pima", "sparse"])
def test_linear_objectives_are_those_of_scikit_learn(name, penalty, loss, C, rng):
    if name == "sparse":
        X = sparse.random_array((400, 300), density=0.05, rng=rng, format="csr")
        y = (X @ rng.normal(size=300) > 0).astype(int)
    else:
        X, y = standard(name)
    ours = LinearSVC(C=C, penalty=penalty, loss=loss, tol=1e-5, max_iter=100_000, random_state=0).fit(X, y)
    dual = penalty == "l2"
    theirs = sklearn.svm.LinearSVC(
        C=C, penalty=penalty, loss=loss, dual=dual, tol=1e-5, max_iter=1_000_000, random_state=0
    ).fit(X, y)
    reached = objective(ours, X, y, penalty, loss, C)
    assert_allclose(reached, objective(theirs, X, y, penalty, loss, C), rtol=1e-4)
    assert_allclose(ours.objective_[0], reached, rtol=1e-9)
    if penalty == "l1":
        assert abs((ours.coef_ != 0).sum() - (theirs.coef_ != 0).sum()) <= 1


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_linear_svms_of_three_classes(class_weight):
    X, y = standard("wine")
    settings = {"C": 0.1, "class_weight": class_weight, "tol": 1e-8, "random_state": 0}
    ours = LinearSVC(max_iter=100_000, **settings).fit(X, y)
    theirs = sklearn.svm.LinearSVC(max_iter=1_000_000, dual=True, **settings).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert_array_equal(ours.predict(X), theirs.predict(X))


# At its default tolerance of 1e-3 scikit-learn has an error of 1.5 % in the squared weights of two features
# of sonar whose true ones differ by 1.6 % (0.00708 and 0.00698), and swaps them.
@pytest.mark.parametrize(
    ("name", "tol"), [("wdbc", 1e-3), ("wdbc", TIGHT), ("sonar", 1e-4), ("sonar", TIGHT)]
)
def test_elimination_removes_what_scikit_learn_removes(name, tol):
    X, y = standard(name)
    theirs = RFE(sklearn.svm.SVC(kernel="linear", tol=tol), n_features_to_select=1, step=1).fit(X, y)
    ours = SVMRFE(1).fit(X, y)
    assert_array_equal(ours.order_, np.argsort(theirs.ranking_))


def test_elimination_in_steps_selects_the_same_features():
    X, y = standard("wine")
    for step in (3, 0.3):
        theirs = RFE(sklearn.svm.SVC(kernel="linear", tol=TIGHT), n_features_to_select=5, step=step).fit(X, y)
        assert_array_equal(SVMRFE(5, step=step).fit(X, y).support_, theirs.support_)
    assert SVMRFE().fit(X, y).support_.sum() == 6


def test_l1_svm_selects_the_nonzero_weights_of_the_svm():
    X, y = standard("wdbc")
    svm = sklearn.svm.LinearSVC(C=0.02, penalty="l1", dual=False, tol=1e-6, max_iter=100_000).fit(X, y)
    ours = L1SVM(C=0.02, tol=1e-6, standardize=False, random_state=0).fit(X, y)
    assert_array_equal(ours.support_, svm.coef_[0] != 0)
    assert_allclose(ours.scores_, np.abs(svm.coef_[0]), atol=1e-3)
    for k in (1, 4, 10):
        chosen = L1SVM(k, random_state=0).fit(X, y)
        assert chosen.support_.sum() == k and (chosen.scores_[chosen.support_] > 0).all()
    with pytest.raises(ValueError, match="left out where a number of features is given"):
        L1SVM(3, C=1.0).fit(X, y)
