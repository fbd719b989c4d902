"""The automatic selector, and automatic numbers of features of other selectors."""

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal

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
