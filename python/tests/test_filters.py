"""Filters against scikit-learn and naive implementations."""

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.feature_selection import chi2, f_regression, mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score
from sklearn.preprocessing import StandardScaler

from kernsift import ChiSquared, FisherScore, InformationGain, LaplacianScore, MutualInformation
from kernsift.datasets import load_dataset, make_synthetic


def load(name):
    data = load_dataset(name)
    return data.data, np.unique(data.target, return_inverse=True)[1]


@pytest.mark.parametrize("name", ["wine", "sonar", "ionosphere"])
def test_counts_are_scikit_learns_chi2(name):
    X, y = load(name)
    X = abs(X)
    statistic, p = chi2(X, y)
    selector = ChiSquared().fit(X, y)
    # scikit-learn has no statistic for features of zeros.
    assert_allclose(selector.scores_, np.nan_to_num(statistic), rtol=1e-6)
    kept = np.nan_to_num(p, nan=1.0) * X.shape[1] <= 0.05
    if kept.any():
        assert_array_equal(selector.support_, kept)
    assert_allclose(ChiSquared().fit(sparse.csr_array(X), y).scores_, selector.scores_, rtol=1e-12)
    # Counts are never standardized.
    assert_array_equal(ChiSquared(standardize=False).fit(X, y).scores_, selector.scores_)


@pytest.mark.parametrize("discretizer", ["frequency", "width"])
def test_bins_are_the_contingency_table(discretizer, rng):
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] ** 2 + X[:, 1] > 1).astype(int)
    selector = ChiSquared(discretizer=discretizer, n_bins=6).fit(X, y)
    for j, column in enumerate(X.T):
        if discretizer == "frequency":
            bins = np.argsort(np.argsort(column)) * 6 // 300
        else:
            edges = np.linspace(column.min(), column.max(), 7)[1:-1]
            bins = np.digitize(column, edges)
        table = np.array([[np.sum((bins == b) & (y == c)) for c in (0, 1)] for b in np.unique(bins)])
        expected = scipy.stats.chi2_contingency(table, correction=False)
        assert_allclose(selector.scores_[j], expected.statistic, rtol=1e-10)


def test_negative_counts_raise(rng):
    X, y = rng.normal(size=(50, 2)), np.arange(50) % 2
    with pytest.raises(ValueError, match="'statistic' must be 'bins' if a value is negative"):
        ChiSquared(statistic="counts").fit(X, y)
    assert_array_equal(ChiSquared(1).fit(X, y).scores_, ChiSquared(1, statistic="bins").fit(X, y).scores_)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_information_of_classes_is_scikit_learns(k, rng):
    X = rng.normal(size=(400, 6))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=400), [0, 1.5])
    theirs = mutual_info_classif(X, y, discrete_features=False, n_neighbors=k, random_state=0)
    ours = MutualInformation(1, n_neighbors=k, discrete="none").fit(X, y).scores_
    # There are no ties, and noise of 1e-10 changes no order of distances.
    assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_information_of_numbers_is_scikit_learns(k, rng):
    X = rng.normal(size=(400, 6)) * [1, 10, 100, 1, 1, 1] + 5
    y = X[:, 0] + (X[:, 3] - 5) ** 2 + 0.3 * rng.normal(size=400)
    theirs = mutual_info_regression(X, y, discrete_features=False, n_neighbors=k, random_state=0)
    ours = MutualInformation(1, n_neighbors=k, discrete="none").fit(X, y).scores_
    assert_allclose(ours, theirs, atol=1e-6)
    # Categories against a continuous target.
    C = rng.integers(0, 3, size=(400, 2)).astype(float)
    y = y + 3 * C[:, 0]
    theirs = mutual_info_regression(C, y, discrete_features=True, n_neighbors=k, random_state=0)
    assert_allclose(MutualInformation(1, n_neighbors=k).fit(C, y).scores_, theirs, atol=1e-6)


def test_information_of_categories_is_counted(rng):
    X = rng.integers(0, 4, size=(200, 3)).astype(float)
    y = (X[:, 0] + rng.integers(0, 3, size=200) > 2).astype(int)
    expected = [mutual_info_score(column, y) for column in X.T]
    assert_allclose(MutualInformation(1).fit(X, y).scores_, expected, atol=1e-12)
    # It equals the information gain of a feature with few values.
    assert_allclose(InformationGain(1).fit(X, y).scores_, expected, atol=1e-12)


def test_ties_are_close_to_the_estimate_with_noise():
    # The wine data have few digits. Noise changes an estimate by a few hundredths; so do ties.
    X, y = load("wine")
    theirs = mutual_info_classif(X, y, random_state=0)
    ours = MutualInformation(1).fit(X, y).scores_
    assert_allclose(ours, theirs, atol=0.06)
    assert scipy.stats.spearmanr(ours, theirs).statistic > 0.98


def test_automatic_selection_finds_dependent_features():
    X, y, relevant = make_synthetic("linear", n_samples=400, n_features=30, random_state=1)
    for selector in (InformationGain(), MutualInformation(), ChiSquared()):
        assert set(selector.fit(X, y).get_support(indices=True)) == set(relevant)
    X, y, relevant = make_synthetic("linear", n_samples=400, n_features=30, continuous=True, random_state=1)
    for selector in (FisherScore(), MutualInformation()):
        assert set(selector.fit(X, y).get_support(indices=True)) == set(relevant)


def test_independent_features_warn(rng):
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    for selector in (InformationGain(), MutualInformation(), ChiSquared()):
        with pytest.warns(UserWarning, match="none is selected"):
            assert selector.fit(X, y).support_.sum() == 0


@pytest.mark.parametrize("standardize", [True, False])
def test_lines_are_f_statistics(standardize, rng):
    X = rng.normal(size=(80, 6)) * [1, 1e3, 1e-3, 1, 1, 1] + [0, 1e4, 0, 3, 0, 0]
    y = X[:, 0] + X[:, 3] + rng.normal(size=80)
    selector = FisherScore(standardize=standardize).fit(X, y)
    F, p = f_regression(X, y)
    assert_allclose(selector.scores_ * 78, F, rtol=1e-6)
    assert_array_equal(selector.support_, p * 6 <= 0.05)
    X[rng.random(X.shape) < 0.5] = 0
    F = f_regression(X, y)[0]
    assert_allclose(FisherScore().fit(sparse.csr_array(X), y).scores_ * 78, F, rtol=1e-6)


def entropy(y):
    shares = np.bincount(y) / len(y)
    return -sum(p * np.log2(p) for p in shares if p > 0)


def mdl_bins(column, y):
    """Fayyad and Irani's recursion, one cut at a time."""
    order = np.argsort(column, kind="stable")
    column, y, n = column[order], y[order], len(y)
    best, place = -1.0, None
    for i in range(1, n):
        if column[i - 1] < column[i]:
            gain = entropy(y) - i / n * entropy(y[:i]) - (1 - i / n) * entropy(y[i:])
            if gain > best + 1e-10:
                best, place = gain, i
    if place is None:
        return []
    left, right = y[:place], y[place:]
    k, k1, k2 = (len(np.unique(part)) for part in (y, left, right))
    delta = np.log2(3.0**k - 2) - (k * entropy(y) - k1 * entropy(left) - k2 * entropy(right))
    if best <= (np.log2(n - 1) + delta) / n:
        return []
    return [*mdl_bins(column[:place], left), column[place], *mdl_bins(column[place:], right)]


@pytest.mark.parametrize("name", ["wine", "iris", "sonar"])
def test_gain_over_mdl_bins(name):
    X, y = load(name)
    X = X[:, :13]
    selector = InformationGain().fit(X, y)
    for j, column in enumerate(X.T):
        bins = np.digitize(column, mdl_bins(column, y))
        assert_allclose(selector.scores_[j], mutual_info_score(bins, y), atol=1e-12)
    assert_array_equal(selector.support_, selector.scores_ > 0)


def laplacian_twin(X, k, width):
    n = len(X)
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    near = np.argsort(np.where(np.eye(n, dtype=bool), np.inf, squared), axis=1, kind="stable")[:, :k]
    joined = np.zeros((n, n), dtype=bool)
    joined[np.arange(n)[:, None], near] = True
    joined |= joined.T
    if width is None:
        width = squared[joined].mean()
    S = np.where(joined, np.exp(-squared / width), 0)
    D = S.sum(axis=1)
    F = X - (D @ X) / D.sum()
    return np.einsum("ij,ik,kj->j", F, np.diag(D) - S, F) / (D @ F**2)


@pytest.mark.parametrize("width", [None, 4.0])
@pytest.mark.parametrize("name", ["wine", "sonar"])
def test_laplacian_is_the_quotient_of_the_matrices(name, width):
    X, _ = load(name)
    selector = LaplacianScore(n_neighbors=7, t=width).fit(X)
    L = laplacian_twin(StandardScaler().fit_transform(X), 7, width)
    assert_allclose(selector.scores_, 1 - L / 2, atol=1e-12)
    assert_array_equal(selector.support_, L < 1)


def test_classes_as_a_graph(wine):
    X, y = wine
    selector = LaplacianScore(graph="classes").fit(X, y)
    fisher = FisherScore().fit(X, y)
    assert_allclose(selector.scores_, 1 - 0.5 / (1 + fisher.scores_), rtol=1e-12)
    assert_array_equal(selector.order_, fisher.order_)
    # Without the graph of classes, a target is ignored.
    assert_array_equal(LaplacianScore().fit(X, y).scores_, LaplacianScore().fit(X).scores_)
    with pytest.raises(ValueError, match="requires y to be passed"):
        LaplacianScore(graph="classes").fit(X)
