"""Weights of samples: an integer weight is a sample that is there so many times."""

import warnings

import numpy as np
import pandas
import pytest
from common import ESTIMATORS
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, confusion_matrix, make_scorer, max_error
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

import kernsift
from kernsift import BAHSIC, FisherScore, HSICLasso, compare

#: Those whose `fit` takes weights, and their precision: the solvers of some stop at a tolerance.
WEIGHTED = {
    "BAHSIC": 1e-10,
    "ChiSquared": 1e-10,
    "FOHSIC": 1e-10,
    "FisherScore": 1e-10,
    "HSICLasso": 1e-9,
    "InformationGain": 1e-10,
    "L1SVM": 1e-6,
    "LDFS": 1e-4,
    "NCASelector": 1e-9,
    "ReliefF": 1e-10,
    "SVMRFE": 1e-10,
}


def samples():
    """Samples, their classes, weights 0 to 3, and the indices of the samples that often."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 5)) + np.outer(y, [1.0, 0, 0.7, 0, 0.3])
    weight = rng.integers(0, 4, 60)
    return X, y, weight, np.repeat(np.arange(60), weight)


def test_the_signature_is_the_truth():
    supported = {name for name, cls in ESTIMATORS.items() if has_fit_parameter(cls(), "sample_weight")}
    assert supported == set(WEIGHTED)


@pytest.mark.parametrize("name", sorted(WEIGHTED))
def test_an_integer_weight_is_a_repeated_sample(name):
    X, y, weight, repeated = samples()
    selector = ESTIMATORS[name](2)
    if "tol" in selector.get_params():
        selector.set_params(tol=1e-10 if name == "LDFS" else 1e-8)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = selector.fit(X, y, sample_weight=weight).scores_
        order = selector.order_
        selector.fit(X[repeated], y[repeated])
    assert_array_equal(order, selector.order_)
    assert_allclose(scores, selector.scores_, rtol=WEIGHTED[name], atol=WEIGHTED[name] * scores.max())


def test_frames_with_categories_and_missing_values():
    X, y, weight, repeated = samples()
    frame = pandas.DataFrame(X, columns=list("abcde")).astype({"e": object})
    frame["e"] = np.where(X[:, 4] > 0.3, "high", "low")
    frame.loc[::9, "b"] = np.nan
    for selector in (FisherScore(2), HSICLasso(2), BAHSIC(2)):
        scores = selector.fit(frame, y, sample_weight=weight).scores_
        selector.fit(frame.iloc[repeated].reset_index(drop=True), y[repeated])
        assert_allclose(scores, selector.scores_, rtol=1e-9, err_msg=type(selector).__name__)


def test_balanced_weights_of_scikit_learn():
    X, y, _, _ = samples()
    y = (y > 1).astype(int)
    weight = compute_sample_weight("balanced", y)
    scores = FisherScore().fit(X, y, sample_weight=weight).scores_
    means = [X[y == c].mean(axis=0) for c in (0, 1)]
    within = [X[y == c].var(axis=0) for c in (0, 1)]
    between = ((means[0] - means[1]) / 2) ** 2
    assert_allclose(scores, between / np.mean(within, axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(59), "must have one entry per sample, 60, got an array of shape"),
        (np.ones((60, 2)), "must have one entry per sample"),
        (np.r_[np.ones(59), -1], r"must not be negative, got -1\.0 for sample 59"),
        (np.r_[np.nan, np.ones(59)], "sample_weight contains NaN"),
        (np.r_[np.inf, np.ones(59)], "sample_weight contains infinity"),
        (np.zeros(60), "must contain at least one non-zero number"),
        (["a"] * 60, "could not convert string to float"),
    ],
)
def test_invalid_weights_raise(weight, message):
    X, y, _, _ = samples()
    with pytest.raises(ValueError, match=message):
        FisherScore().fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=message):
        compare(X, y, "fisher", 1, sample_weight=weight)


def test_options_without_support_raise():
    X, y, weight, _ = samples()
    with pytest.raises(TypeError, match="sample_weight"):
        kernsift.LaplacianScore().fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"Laplacian score does not support weights .*; these do: fisher"):
        compare(X, y, ["fisher", "laplacian"], 1, sample_weight=weight)
    with pytest.raises(ValueError, match="k-nearest neighbors does not support weights"):
        compare(X, y, "fisher", 1, sample_weight=weight, evaluator="knn")
    with pytest.raises(ValueError, match="fit has no parameter sample_weight"):
        compare(X, y, "fisher", 1, class_weight="balanced", evaluator=KNeighborsClassifier())
    with pytest.raises(ValueError, match="SelectKBest does not support weights"):
        compare(X, y, [SelectKBest()], 1, sample_weight=weight, evaluator=LogisticRegression())
    scorer = make_scorer(max_error)
    with pytest.raises(ValueError, match="does not support weights: it has no parameter sample_weight"):
        compare(X, X[:, 0], "fisher", 1, sample_weight=weight, evaluator=Ridge(), scoring={"worst": scorer})


def by_hand(X, y, weight, model, balanced):
    """Error rates of a model with two features chosen by weighted Fisher scores, in three folds."""
    errors = []
    # Samples of weight 0 are left out of the splits, too.
    X, y, weight = (rows[weight > 0] for rows in (X, y, weight))
    for kept, test in StratifiedKFold(3).split(X, y):
        of_fit = weight[kept].astype(float)
        if balanced:
            totals = np.bincount(y[kept], weights=of_fit)
            of_fit = of_fit * of_fit.sum() / (len(totals) * totals[y[kept]])
        scaler = StandardScaler().fit(X[kept], sample_weight=of_fit)
        columns = FisherScore(2).fit(X[kept], y[kept], sample_weight=of_fit).order_[:2]
        rows = scaler.transform(X)[:, columns]
        predicted = model.fit(rows[kept], y[kept], sample_weight=of_fit).predict(rows[test])
        errors.append(1 - accuracy_score(y[test], predicted, sample_weight=weight[test]))
    return errors


@pytest.mark.parametrize("balanced", [False, True])
def test_compare_equals_scikit_learn_with_weights(balanced):
    X, y, weight, _ = samples()
    options = {"sample_weight": weight, "class_weight": "balanced" if balanced else None, "baseline": False}
    cv = StratifiedKFold(3)
    errors = {
        # The gamma "scale" of kernsift is weighted: both columns have the weighted variance 1.
        "svm:C=[4]": by_hand(X, y, weight, SVC(C=4, gamma=0.5, tol=1e-6), balanced),
        "logistic": by_hand(X, y, weight, LogisticRegression(), balanced),
    }
    found = compare(X, y, "fisher", 2, cv, evaluator="svm:C=[4]", **options)
    assert_allclose([r["error"] for r in found.records], errors["svm:C=[4]"], atol=1e-12)
    scoring = ["error", "accuracy"]
    found = compare(X, y, "fisher", 2, cv, evaluator=LogisticRegression(), scoring=scoring, **options)
    assert_allclose([r["error"] for r in found.records], errors["logistic"], atol=1e-12)
    scored = [r["scorers"]["accuracy"] for r in found.records]
    assert_allclose(scored, 1 - np.array(errors["logistic"]), atol=1e-12)
    pipeline = make_pipeline(LogisticRegression())
    again = compare(X, y, "fisher", 2, cv, evaluator=pipeline, **options)
    assert_allclose([r["error"] for r in again.records], errors["logistic"], atol=1e-12)
    assert "laplacian" not in compare(X, y, "all", 1, 2, evaluator="linear-svm", **options).methods


@pytest.mark.parametrize("evaluator", ["linear-svm", LogisticRegression()], ids=repr)
def test_samples_of_weight_zero_are_left_out(evaluator):
    X, y, weight, _ = samples()
    weight = np.where(y == 2, 0, 0.5 + weight)
    kept = y < 2
    groups = np.arange(60) // 4
    options = {"evaluator": evaluator, "random_state": 0, "predictions": True}
    found = compare(X, y, "fisher", 2, 3, sample_weight=weight, groups=groups, **options)
    expected = compare(
        X[kept], y[kept], "fisher", 2, 3, sample_weight=weight[kept], groups=groups[kept], **options
    )
    assert found.run["fingerprint"] == expected.run["fingerprint"]
    assert found.records == expected.records
    assert found.predictions == expected.predictions
    assert found.predictions["classes"] == ["0", "1"]
    pairs = [(np.flatnonzero(np.arange(60) % 2 == 0), np.flatnonzero(np.arange(60) % 2 == 1))]
    found = compare(X, y, "fisher", 2, pairs, sample_weight=weight, **options)
    assert sorted(found.run["folds"][0]["test"]) == np.flatnonzero((np.arange(60) % 2)[kept] == 1).tolist()


def test_predictions_are_weighted():
    X, y, weight, _ = samples()
    weight = weight + 0.25
    cv = StratifiedKFold(3)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    result = compare(
        X, y, "fisher", 5, cv, sample_weight=weight, evaluator=LogisticRegression(), predictions=True
    )
    truth, predicted, of_rows = [], [], []
    for train, test in cv.split(X, y):
        of_train = {"standardscaler__sample_weight": weight[train]}
        model.fit(X[train], y[train], logisticregression__sample_weight=weight[train], **of_train)
        truth.append(y[test])
        predicted.append(model.predict(X[test]))
        of_rows.append(weight[test])
    expected = confusion_matrix(
        np.concatenate(truth), np.concatenate(predicted), sample_weight=np.concatenate(of_rows)
    )
    # Sums of some dozen weights in another order.
    assert_allclose(result.predictions["confusion"], expected, rtol=1e-12)
    rows = [bin["rows"] for bin in result.predictions["calibration"]["bins"]]
    assert abs(sum(rows) - weight.sum()) < 1e-9


def test_a_column_as_target_takes_its_weights_along():
    X, y, weight, _ = samples()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    frame["y"] = y.astype(object)
    frame.loc[5, "y"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(frame, "y", "fisher", 1, sample_weight=weight, random_state=0)
    kept = np.arange(60) != 5
    expected = compare(X[kept], y[kept], "fisher", 1, sample_weight=weight[kept], random_state=0)
    assert [r["error"] for r in found.records] == [r["error"] for r in expected.records]
