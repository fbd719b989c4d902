"""p-values, knockoffs and stability selection, against scipy and on planted truth."""

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from kernsift import (
    BreakdownError,
    FisherScore,
    InteractionScreen,
    KnockoffSelector,
    SelectSignificant,
    StabilitySelector,
    feature_pvalues,
    near_copies,
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    return X, (X[:, 1] + X[:, 4] + 0.5 * rng.normal(size=400) > 0).astype(int)


def test_p_values_are_those_of_a_regression(rows):
    X, y = rows
    found = feature_pvalues(X, y)
    n = len(y)
    column = (y - y.mean()) / y.std()
    for j in range(X.shape[1]):
        u = (stats.rankdata(X[:, j]) - 0.5) / n
        functions = np.sqrt(2) * np.cos(np.pi * np.outer(u, np.arange(1, 5)))
        explained = ((functions.T @ column) ** 2).sum() / n
        p = stats.f.sf(explained / 4 / ((n - explained) / (n - 5)), 4, n - 5)
        # Both compute in double precision.
        assert_allclose(found.pvalues[j], p, rtol=1e-8)
    assert_allclose(found.qvalues, stats.false_discovery_control(found.pvalues))
    assert {found.features[0]["feature"], found.features[1]["feature"]} == {"x1", "x4"}
    assert repr(found).startswith(f"{found.n_significant} significant of 12 features\nfeature")
    assert len(pandas.DataFrame(found.features)) == len(found) == 12


@pytest.mark.parametrize("method", ["by", "holm", "bonferroni"])
def test_corrections(rows, method):
    X, y = rows
    selector = SelectSignificant(0.01, method=method).fit(X, y)
    p = selector.pvalues_
    if method == "by":
        expected = stats.false_discovery_control(p, method="by")
    elif method == "bonferroni":
        expected = np.minimum(1, 12 * p)
    else:
        order = np.argsort(p)
        expected = np.empty(12)
        expected[order] = np.minimum(1, np.maximum.accumulate((12 - np.arange(12)) * p[order]))
    assert_allclose(selector.qvalues_, expected)
    assert_array_equal(selector.get_support(indices=True), [1, 4])
    assert_array_equal(selector.transform(X), X[:, [1, 4]])


@pytest.mark.filterwarnings("ignore:feature test. with 199 permutations")
@pytest.mark.parametrize("statistic", ["cosine", "hsic"])
@pytest.mark.parametrize("permutations", [0, 199])
def test_null_p_values_are_uniform(statistic, permutations):
    rng = np.random.default_rng(1)
    found = feature_pvalues(
        rng.normal(size=(150, 300)),
        rng.normal(size=150),
        statistic=statistic,
        permutations=permutations,
        random_state=0,
    )
    # Of continuous uniform numbers; those of permutations are multiples of 1/200.
    assert stats.kstest(found.pvalues, "uniform").pvalue > 0.01


def test_covariates(rows):
    X, _ = rows
    rng = np.random.default_rng(2)
    frame = pandas.DataFrame(X[:, :3], columns=list("abc"))
    frame["batch"] = pandas.Categorical(np.array(["p", "q", "r"])[rng.integers(0, 3, 400)])
    shift = frame["batch"].cat.codes.to_numpy()
    frame["a"] += shift
    y = 2.0 * shift + frame["b"].to_numpy() + rng.normal(size=400)
    assert feature_pvalues(frame, y).pvalues[0] < 1e-6
    for permutations, how in ((0, "functions of the covariates"), (199, "within 3 strata")):
        found = feature_pvalues(frame, y, covariates=["batch"], permutations=permutations, random_state=0)
        assert how in found.adjustment
        assert found.pvalues[0] > 0.01 and found.pvalues[1] < 0.01 and np.isnan(found.pvalues[3])
    assert np.isnan(feature_pvalues(frame, y, covariates=[3]).pvalues[3])
    with pytest.raises(ValueError, match="no column 'batches'"):
        feature_pvalues(frame, y, covariates=["batches"])
    with pytest.raises(ValueError, match="no column 12"):
        feature_pvalues(X, y, covariates=[12])
    with pytest.raises(ValueError, match="alpha"):
        feature_pvalues(X, y, alpha=1.0)


@pytest.mark.parametrize(
    "estimator",
    [
        FisherScore(n_features_to_select=2),
        SelectKBest(k=2),
        SelectFromModel(LogisticRegression(), max_features=2, threshold=-np.inf),
        LinearSVC(penalty="l1", dual=False, C=0.01),
    ],
)
def test_stability_of_any_selector(rows, estimator):
    X, y = rows
    selector = StabilitySelector(estimator, n_pairs=10, random_state=0).fit(X, y)
    assert_array_equal(selector.get_support(indices=True), [1, 4])
    q = selector.frequencies_.sum()
    assert_allclose([selector.mean_selected_, selector.expected_false_], [q, q**2 / (0.5 * 12)])
    again = StabilitySelector(estimator, n_pairs=10, random_state=0, n_jobs=2).fit(X, y)
    assert_array_equal(selector.frequencies_, again.frequencies_)
    frame = pandas.DataFrame(X)
    frame.columns = [f"c{j}" for j in range(12)]
    assert list(selector.fit(frame, y).get_feature_names_out()) == ["c1", "c4"]


def test_stability_needs_importances(rows):
    X, y = rows
    with pytest.raises(TypeError, match="KNeighborsClassifier has none of"):
        StabilitySelector(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="minimum of 10"):
        StabilitySelector().fit(X[:9], y[:9])


@pytest.mark.parametrize(
    "estimator", [FisherScore(), LogisticRegression(), RandomForestClassifier(n_estimators=50)]
)
def test_knockoffs_of_any_estimator(estimator):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 40))
    y = X[:, :12].sum(axis=1) > 0
    selector = KnockoffSelector(estimator, 0.2, random_state=0).fit(X, y)
    found = selector.get_support(indices=True)
    # The false discovery rate of 0.2 is that of many draws; in single ones it varies by 0.15.
    assert np.sum(found < 12) >= 8 and np.mean(found >= 12) <= 0.5
    assert_array_equal(selector.evalues_ > 0, selector.support_)
    again = KnockoffSelector(estimator, 0.2, random_state=0, n_jobs=2).fit(X, y)
    assert_array_equal(selector.scores_, again.scores_)


def test_knockoffs_say_why_nothing_is_selected(rows):
    X, y = rows
    with pytest.warns(UserWarning, match="at least 10 features must stand out"):
        selector = KnockoffSelector(FisherScore(), random_state=0).fit(X, y)
    assert not selector.support_.any()
    with pytest.raises(ValueError, match="which is not a number"):
        KnockoffSelector(FisherScore()).fit(pandas.DataFrame({"a": ["x", "y"] * 20}), [0, 1] * 20)


def test_near_copies_of_arrays_and_frames(rng):
    X = rng.normal(size=(300, 5))
    X[:, 4] = np.exp(X[:, 1])
    X[:, 3] = X[:, 1] + 0.1 * rng.normal(size=300)
    found = near_copies(X)
    assert {key: list(copies) for key, copies in found.items()} == {1: [4, 3], 3: [1, 4], 4: [1, 3]}
    # cos(pi rank) of monotone functions is equal, up to the rounding of a sum of 300 numbers.
    assert abs(found[1][4] - 1) < 1e-12 and 0.9 <= found[1][3] < 1
    assert near_copies(X, [0, 2]) == {} and list(near_copies(X, [3], similarity=0.9)) == [3]
    mask = np.arange(5) == 1
    assert near_copies(X, mask) == near_copies(X, [1]) == {1: found[1]}

    frame = pandas.DataFrame(X, columns=list("abcde")).assign(id=[f"row {i}" for i in range(300)])
    frame["kind"] = pandas.Categorical(np.where(X[:, 0] > 0, "u", "v"))
    frame["same"] = pandas.Categorical(np.where(X[:, 0] > 0, "1", "2"))
    with pytest.warns(UserWarning, match="id"):
        found = near_copies(frame, ["b", "kind", "id"])
    # Column "same" has the levels of "kind", so it is an exact duplicate in other words.
    assert list(found["b"]) == ["e", "d"] and list(found["kind"]) == ["same"]


@pytest.mark.parametrize(
    ("features", "match"),
    [([7], "no column 7"), (["z"], "no column 'z'"), ([True, False], "a mask needs 3 entries")],
)
def test_unknown_features_have_no_near_copies(features, match):
    with pytest.raises(ValueError, match=match):
        near_copies(np.eye(3) + np.arange(9).reshape(3, 3), features)


def test_reports_of_tests(rows, tmp_path):
    X, y = rows
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    selector = SelectSignificant(0.01).fit(frame, y)
    page = selector.to_html(frame, y)
    assert "Does the target depend on this feature at all?" in page and "c4" in page
    selector.to_html(frame, y, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").endswith("</html>\n")


@pytest.mark.parametrize("method", ["bh", "by"])
def test_q_values_of_pairs(method):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 8))
    y = X[:, 1] * X[:, 6] + X[:, 2] * X[:, 3] > 0
    # All 28 pairs are tested and reported.
    screen = InteractionScreen(method=method).fit(X, y)
    assert_allclose(screen.qvalues_, stats.false_discovery_control(screen.pvalues_, method=method))
    assert screen.n_significant_ >= 2
    # Also if fewer are reported.
    few = InteractionScreen(method=method, n_pairs=3).fit(X, y)
    assert_array_equal(few.qvalues_, screen.qvalues_[:3])
    with pytest.raises(ValueError, match="bonferroni or holm with permutations"):
        InteractionScreen(method=method, permutations=9).fit(X, y)


def test_near_copies_cost_other_features_no_power():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(600, 30))
    y = X[:, :10].sum(axis=1) > 0
    copies = X[:, 20:21] + 0.05 * rng.normal(size=(600, 2))
    X = np.hstack([X, copies, X[:, 20:22].sum(axis=1, keepdims=True), np.ones((600, 1))])
    found = KnockoffSelector(FisherScore(), 0.2, random_state=0).fit(X, y).get_support(indices=True)
    # A sum of 10 normal features; in single draws the fraction of false positives varies by 0.15.
    assert np.sum(found < 10) >= 8 and np.mean(found >= 10) <= 0.5


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, np.nan])
def test_bad_levels(rows, q):
    X, y = rows
    with pytest.raises(ValueError, match="'q' parameter of KnockoffSelector"):
        KnockoffSelector(FisherScore(), q).fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        SelectSignificant(q).fit(X, y)


def test_bad_data(rows):
    X, y = rows
    for selector in (SelectSignificant(), KnockoffSelector(FisherScore()), StabilitySelector(FisherScore(1))):
        with pytest.raises(ValueError, match="10"):
            selector.fit(X[:9], y[:9])
    constant = np.hstack([X[:, :2], np.ones((400, 1))])
    assert SelectSignificant().fit(constant, y).pvalues_[2] == 1
    with pytest.warns(UserWarning, match="single row"):
        SelectSignificant().fit(X, np.where(np.arange(400) == 0, 2, y))
    with pytest.raises(BreakdownError, match="constant"):
        KnockoffSelector(FisherScore()).fit(np.ones((40, 3)), y[:40])
