"""The automatic selector, and automatic numbers of features of other selectors."""

import numpy as np
import pandas
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import kernsift
from kernsift import AutoSelector, feature_pvalues
from kernsift.datasets import make_synthetic


def test_the_answer_is_complete():
    X, y, relevant = make_synthetic("xor", n_samples=300, n_features=12, random_state=1)
    found = AutoSelector(random_state=0).fit(X, y)
    assert_array_equal(found.get_support(indices=True), sorted(relevant))
    assert found.n_features_ == 2 and found.pvalue_ < 1e-6
    # The errors of random labels would be about 0.5.
    assert found.error_.nested and found.error_.error < 0.25 < found.error_.baseline == 0.5
    curve = found.error_curve_
    assert curve.n_features[0] == 1 and curve.error[0] > curve.error[1]
    assert_array_equal(sorted(found.interactions_.pairs[0]), sorted(relevant))
    assert found.frequencies_[sorted(relevant)].min() > 0.9
    assert {other.method for other in found.alternatives_} == {"LDFS", "HSIC Lasso", "Fisher score"}
    assert not any(other.close for other in found.alternatives_)
    expected = feature_pvalues(X, y)
    # Sums in another order, in the exponents of small p-values.
    assert_allclose(found.pvalues_, expected.pvalues, rtol=1e-9)
    assert_allclose(found.qvalues_, expected.qvalues, rtol=1e-9)
    assert found.method_ == "NCA" and found.left_out_ == [] and found.three_way_.features.shape[1] == 3
    names = [f"x{j}" for j in sorted(relevant)]
    assert all(name in found.summary_ for name in names), found.summary_
    # In the report, too: the pair is drawn, for each feature alone looks like noise.
    page = found.to_html(X, y, cv=None)
    assert page.index("Features that matter jointly") < page.index("Rows by two features")


def test_regression_with_a_category_and_missing_values(rng):
    # The effect of the number depends on the category.
    n = 400
    table = pandas.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    table["kind"] = pandas.Categorical(rng.choice(["u", "v"], n))
    y = table["b"] * np.where(table["kind"] == "u", 1.0, -1.0) + 0.2 * rng.normal(size=n)
    table.loc[::29, "b"] = np.nan
    found = AutoSelector(random_state=0).fit(table, y)
    assert set(found.get_feature_names_out()) == {"b", "kind"}, found.summary_
    assert found.pvalues_.shape == found.qvalues_.shape == (7,) and (found.qvalues_ >= found.pvalues_).all()


def test_the_same_answer_with_any_number_of_threads():
    X, y, _ = make_synthetic("ring", n_samples=200, n_features=8, random_state=3)
    one, two = (AutoSelector(random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert_array_equal(one.scores_, two.scores_)
    assert_array_equal(one.error_curve_.error, two.error_curve_.error)
    assert one.summary_ == two.summary_


def test_a_short_time_budget_says_what_is_left_out():
    X, y, relevant = make_synthetic("xor", n_samples=300, n_features=10, random_state=1)
    found = AutoSelector(2, time_budget=1e-6, random_state=0).fit(X, y)
    assert_array_equal(found.get_support(indices=True), sorted(relevant))
    assert found.error_ is None and "cross-validation, for lack of time" in found.left_out_
    assert all(f"Left out: {what}." in found.summary_ for what in found.left_out_)


def test_three_features_that_matter_jointly(rng):
    X = rng.normal(size=(800, 10))
    y = X[:, 1] * X[:, 4] * X[:, 7] > 0
    found = AutoSelector(random_state=0).fit(X, y)
    assert_array_equal(found.get_support(indices=True), [1, 4, 7])
    assert_array_equal(found.three_way_.features[0], [1, 4, 7])
    assert found.three_way_.pvalues[0] < 1e-6


def test_nothing_is_selected_from_noise(rng):
    X, y = rng.normal(size=(150, 10)), np.arange(150) % 2
    found = AutoSelector(random_state=0).fit(X, y)
    assert found.n_features_ == 0 and found.pvalue_ > 0.05
    with pytest.warns(UserWarning, match="No features were selected"):
        assert found.transform(X).shape == (150, 0)
    assert AutoSelector(3, random_state=0).fit(X, y).n_features_ == 3


@pytest.mark.parametrize(
    "name", ["ReliefF", "L1SVM", "HSFS", "FOHSIC", "BAHSIC", "LDFS", "FFS", "NCASelector"]
)
def test_automatic_numbers_may_be_zero(name, rng):
    X, y = rng.normal(size=(150, 10)), np.arange(150) % 2
    kind = getattr(kernsift, name)
    with pytest.warns(UserWarning, match="better than chance .* none is selected"):
        assert kind().fit(X, y).support_.sum() == 0
    assert kind(2).fit(X, y).support_.sum() == 2


def repeated(rng, n_patients=40, n_rows=5):
    """Patients with almost equal rows, and classes that depend on no feature."""
    groups = np.repeat(np.arange(n_patients), n_rows)
    X = rng.normal(size=(n_patients, 6))[groups] + 0.05 * rng.normal(size=(n_patients * n_rows, 6))
    return X, rng.permutation(np.arange(n_patients) % 2)[groups], groups


def test_groups_do_not_leak(rng):
    X, y, groups = repeated(rng)
    optimistic, right = (AutoSelector(random_state=0).fit(X, y, groups=g) for g in (None, groups))
    # Rows of a patient predict each other. Errors of 40 patients in 24 other draws: 46 % ± 12 %.
    assert optimistic.error_.error < 0.1 and optimistic.pvalue_ < 0.001 and optimistic.n_features_ > 0
    assert right.n_features_ == 0 and right.pvalue_ > 0.05 and right.error_.error > 0.25
    # An effect is found with groups, too.
    X[:, 2] += 3 * y
    found = AutoSelector(random_state=0).fit(X, y, groups=groups)
    assert 2 in found.get_support(indices=True) and found.pvalue_ < 0.01 and found.error_.error < 0.25


def test_splitters_of_scikit_learn(rng):
    X, y, groups = repeated(rng)
    X[:, 2] += 3 * y
    how = {"random_state": 0}
    by_groups = AutoSelector(cv=GroupKFold(4), **how).fit(X, y, groups)
    assert 2 in by_groups.get_support(indices=True) and by_groups.error_.nested
    pairs = list(GroupKFold(4).split(X, y, groups))
    again = AutoSelector(cv=pairs, **how).fit(X, y)
    assert_array_equal(by_groups.error_curve_.error, again.error_curve_.error)
    in_time = AutoSelector(cv=TimeSeriesSplit(4), **how).fit(X, y)
    assert 2 in in_time.get_support(indices=True) and in_time.error_.nested
    folds = [
        (np.arange(200)[np.arange(200) % 5 != k], np.arange(200)[np.arange(200) % 5 == k]) for k in range(5)
    ]
    assert AutoSelector(cv=folds, **how).fit(X, y).error_.nested
    with pytest.raises(ValueError, match="'cv' must be an integer, from 2 to 10, got 41"):
        AutoSelector(cv=41, **how).fit(X, y, groups)
    with pytest.raises(ValueError, match="from 2 to the number of groups, 3, got 5"):
        AutoSelector(**how).fit(X, y, np.arange(200) % 3)
    with pytest.raises(ValueError, match="at least two different values"):
        AutoSelector(**how).fit(X, y, np.zeros(200))
    with pytest.raises(ValueError, match="compare cannot record a splitter"):
        kernsift.compare(X, y, AutoSelector(cv=GroupKFold(4)), 2)


def test_groups_by_metadata_routing(rng):
    X, y, groups = repeated(rng)
    direct = AutoSelector(2, random_state=0).fit(X, y, groups)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = AutoSelector(2, random_state=0).set_fit_request(groups=True)
        pipeline = make_pipeline(selector, KNeighborsClassifier()).fit(X, y, groups=groups)
    assert_array_equal(pipeline[0].error_curve_.error, direct.error_curve_.error)
