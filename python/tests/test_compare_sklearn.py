"""compare with evaluators, selectors, splitters and scores of scikit-learn: against cross_validate."""

import json

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectKBest, VarianceThreshold, f_classif
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    log_loss,
    make_scorer,
    mean_absolute_error,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernsift import FisherScore, ReliefF, compare
from kernsift.datasets import load_dataset


@pytest.fixture(scope="module")
def wdbc():
    data = load_dataset("wdbc")
    keep = np.random.default_rng(0).permutation(len(data.target))[:200]
    return data.data[keep], data.target[keep]


@pytest.fixture(scope="module")
def patients():
    """Thirty patients with six almost equal rows each, and a class per patient that no feature predicts."""
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(30), 6)
    X = rng.normal(size=(30, 8))[groups] + 0.05 * rng.normal(size=(180, 8))
    y = rng.permutation(np.arange(30) % 2)[groups]
    order = rng.permutation(180)
    return X[order], y[order], groups[order]


SPLITTERS = [
    (RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1), None),
    (GroupKFold(4), np.arange(200) // 8),
    (ShuffleSplit(3, test_size=0.3, train_size=0.4, random_state=2), None),
]
SCORING = ["roc_auc", "neg_log_loss", "f1_macro"]


@pytest.mark.parametrize("evaluator", [LogisticRegression(), GaussianNB(), KNeighborsClassifier(7)], ids=repr)
@pytest.mark.parametrize(("cv", "groups"), SPLITTERS, ids=lambda v: type(v).__name__)
def test_the_scores_of_a_pipeline_by_cross_validate(evaluator, cv, groups, wdbc):
    X, y = wdbc
    result = compare(
        X, y, [FisherScore()], [2, 5], cv, evaluator=evaluator, scoring=SCORING, groups=groups, random_state=0
    )
    for k in (2, 5):
        pipeline = make_pipeline(StandardScaler(), FisherScore(k), evaluator)
        expected = cross_validate(pipeline, X, y, cv=cv, groups=groups, scoring=SCORING)
        records = [r for r in result.records if r["method"] == "FisherScore" and r["k"] == k]
        assert len(records) == len(expected["test_roc_auc"])
        for name in SCORING:
            found = [record["scorers"][name] for record in records]
            # Standardized features differ by rounding, which the solver and the exponents amplify.
            assert_allclose(found, expected[f"test_{name}"], rtol=1e-6)
            mean = result.table(name, "mean").loc["FisherScore", k]
            assert_allclose(mean, np.mean(found), rtol=1e-12)


def test_own_scores_are_those_of_scikit_learn(wdbc):
    X, y = wdbc
    names = np.array(["benign", "malign"])[y]
    for classes in (y, names):
        found = compare(
            X, classes, "fisher", 3, 3, evaluator=LogisticRegression(), scoring="log-loss", random_state=0
        )
        for record in (r for r in found.records if r["method"] == "fisher"):
            test = np.array(found.run["folds"][record["fold"]]["test"])
            train = np.setdiff1d(np.arange(len(y)), test)
            columns = [int(name[1:]) for name in record["features"]]
            model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[train][:, columns], y[train])
            p, guess = model.predict_proba(X[test][:, columns]), model.predict(X[test][:, columns])
            # The rounding of the standardization, amplified by the solver.
            assert_allclose(record["log_loss"], log_loss(y[test], p), rtol=1e-6)
            assert_allclose(record["auc"], roc_auc_score(y[test], p[:, 1]), rtol=1e-12)
            assert_allclose(record["f1"], f1_score(y[test], guess), rtol=1e-12)
            assert_allclose(record["balanced_accuracy"], balanced_accuracy_score(y[test], guess), rtol=1e-12)


def test_scores_of_the_built_in_evaluators_are_those_of_scikit_learn():
    wine = load_dataset("wine")
    found = compare(
        wine.data, wine.target, "fisher", 3, 3, evaluator="knn", scoring="log_loss", random_state=0
    )
    assert "log loss of knn" in repr(found) and found.scoring == "log-loss"
    for record in (r for r in found.records if r["method"] == "fisher"):
        test = np.array(found.run["folds"][record["fold"]]["test"])
        train = np.setdiff1d(np.arange(178), test)
        columns = [int(name[1:]) for name in record["features"]]
        model = make_pipeline(StandardScaler(), KNeighborsClassifier(5))
        model.fit(wine.data[train][:, columns], wine.target[train])
        p = model.predict_proba(wine.data[test][:, columns])
        y = wine.target[test]
        # The same sums in another order.
        assert_allclose(record["log_loss"], log_loss(y, p), rtol=1e-12)
        assert_allclose(record["auc"], roc_auc_score(y, p, multi_class="ovr"), rtol=1e-12)
    assert_allclose(
        found.table("balanced-error", "mean"), 1 - found.table("balanced-accuracy", "mean"), rtol=1e-12
    )
    boston = load_dataset("boston")
    x, y = boston.data[::4], boston.target[::4]
    own = compare(x, y, "relief", 3, 3, evaluator="knn", scoring=["mae", "rmse"], random_state=0)
    other = compare(x, y, "relief", 3, 3, evaluator=LinearRegression(), scoring="rmse", random_state=0)
    assert own.scoring == "mae" and own.records[-1]["rmse"] > own.records[-1]["mae"]
    for record in (r for r in other.records if r["method"] == "relief"):
        test = np.array(other.run["folds"][record["fold"]]["test"])
        train = np.setdiff1d(np.arange(len(y)), test)
        columns = [int(name[1:]) for name in record["features"]]
        guess = LinearRegression().fit(x[train][:, columns], y[train]).predict(x[test][:, columns])
        # Least squares with and without standardization.
        assert_allclose(record["rmse"], root_mean_squared_error(y[test], guess), rtol=1e-9)
        assert_allclose(record["mae"], mean_absolute_error(y[test], guess), rtol=1e-9)


class TestGroups:
    def test_repeated_rows_of_a_patient_do_not_leak(self, patients):
        X, y, groups = patients
        for evaluator in ("knn", "svm", KNeighborsClassifier()):
            errors = [
                compare(X, y, "fisher", 4, evaluator=evaluator, groups=g, random_state=0).table(values="mean")
                for g in (None, groups)
            ]
            # Rows of a patient identify it; without them the classes of 30 patients are guessed, with a
            # standard deviation of 9 %.
            assert errors[0].loc["fisher", 4] < 0.1 and errors[1].loc["fisher", 4] > 0.3

    def test_groups_are_on_one_side(self, patients):
        X, y, groups = patients
        frame = pandas.DataFrame(X, columns=list("abcdefgh")).assign(
            patient=[f"p{g}" for g in groups], class_=y
        )
        for result in (
            compare(X, y, "fisher", 2, 4, repeats=2, evaluator="knn", groups=groups, random_state=0),
            compare(
                frame, "class_", "fisher", 2, 4, repeats=2, evaluator="knn", groups="patient", random_state=0
            ),
            compare(X, y, "fisher", 2, GroupKFold(4), evaluator="knn", groups=list(groups)),
        ):
            assert result.run["fingerprint"]["columns"] == 8
            for fold in result.run["folds"]:
                inside = set(groups[fold["test"]])
                assert not inside & set(groups[np.setdiff1d(np.arange(180), fold["test"])])

    def test_a_record_is_of_its_groups(self, patients, tmp_path):
        X, y, groups = patients
        how = {"evaluator": "knn", "random_state": 0, "record": tmp_path / "r.jsonl"}
        compare(X, y, "fisher", 2, groups=groups, **how)
        with pytest.raises(ValueError, match="the record is of other splits"):
            compare(X, y, "fisher", 2, **how)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"groups": np.zeros(180)}, "at least two different values"),
            ({"groups": [None, *range(179)]}, "a missing value, for sample 0"),
            ({"groups": [1, 2]}, "one entry per sample, 180"),
            ({"groups": "patient"}, "not a data frame with a column 'patient'"),
            ({"groups": np.arange(180) % 3}, "from 2 to the number of groups, 3, got 5"),
            ({"stratify": False, "cv": TimeSeriesSplit(3)}, "stratify=False needs an int as cv"),
        ],
    )
    def test_errors(self, change, message, patients):
        X, y, _ = patients
        with pytest.raises(ValueError, match=message):
            compare(X, y, **{"methods": "fisher", "n_features": 2, "evaluator": "knn", **change})


class TestMethods:
    def test_selectors_and_pipelines_of_scikit_learn(self, wdbc):
        X, y = wdbc
        methods = {
            "f": SelectKBest(f_classif),
            "rfe": RFE(LogisticRegression()),
            "steps": make_pipeline(VarianceThreshold(), SelectKBest(f_classif)),
            "pca": PCA(),
            "whole": make_pipeline(SelectKBest(f_classif), GaussianNB()),
            "fisher": "fisher",
        }
        result = compare(X, y, methods, [1, 3], 3, evaluator=GaussianNB(), random_state=0)
        table = result.table(values="mean")
        assert list(table.index) == list(methods) and table.notna().all(axis=None)
        # For two classes the Fisher score orders features as the F-test does.
        assert_allclose(table.loc["f"], table.loc["fisher"], rtol=1e-12)
        assert_allclose(table.loc["f"], table.loc["steps"], rtol=1e-12)
        assert_allclose(table.loc["f"], table.loc["whole"], rtol=1e-12)
        by_method = {r["method"]: r for r in result.records if r["k"] == 3 and r["fold"] == 0}
        assert set(by_method["f"]["features"]) == set(by_method["fisher"]["features"])
        assert len(by_method["rfe"]["features"]) == 3 and "features" not in by_method["pca"]
        page = result.to_html()
        assert "GaussianNB" in page and "SelectKBest" in page
        assert result.plot() is not None
        again = compare(X, y, [PCA(), PCA()], 1, 3, evaluator=GaussianNB())
        assert again.methods == ["PCA", "PCA (2)"]

    def test_a_failing_estimator_is_reported(self, wdbc):
        X, y = wdbc
        result = compare(X, y, "fisher", 2, 3, evaluator=KNeighborsClassifier(n_neighbors=500))
        assert "3 results failed: ValueError" in repr(result) and "n_neighbors" in repr(result)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"evaluator": SVC(), "scoring": "log-loss"},
                "scoring='log-loss' needs predict_proba, which SVC",
            ),
            ({"evaluator": SVC(), "scoring": "neg_log_loss"}, "needs predict_proba, which SVC"),
            ({"evaluator": Ridge()}, "is a regressor, but the target is class labels"),
            ({"evaluator": SVC(), "scoring": "rmse"}, "rmse"),
            ({"evaluator": SVC(), "scoring": {"auc": f1_score}}, "'auc' is a score of kernsift"),
            ({"evaluator": SVC(), "scoring": []}, "at least one score"),
            ({"evaluator": "svm", "scoring": "roc_auc"}, "scoring must be 'error' or"),
            ({"evaluator": "svm", "scoring": f1_score}, "other scores need an estimator"),
            ({"evaluator": "svm", "scoring": "log-loss"}, "needs no probabilities with the evaluator svm"),
            ({"evaluator": "svm", "methods": SelectKBest()}, "SelectKBest.* is not of kernsift"),
            ({"evaluator": SVC(), "methods": VarianceThreshold()}, "no parameter that sets the number"),
        ],
    )
    def test_errors_before_any_work(self, change, message, wdbc, tmp_path):
        record = tmp_path / "r.jsonl"
        arguments = {"methods": "fisher", "n_features": 2, "record": record, **change}
        with pytest.raises(ValueError, match=message):
            compare(*wdbc, **arguments)
        assert not record.exists()


class TestRecords:
    def test_any_scoring_and_resumption(self, wdbc, tmp_path):
        X, y = wdbc
        paths = [tmp_path / f"{i}.jsonl" for i in range(2)]

        def recall_of_second(truth, predicted):
            return float(np.mean(predicted[truth == 1] == 1))

        how = {
            "evaluator": RandomForestClassifier(5),
            "scoring": {"recall2": make_scorer(recall_of_second), "accuracy": "accuracy"},
            "cv": 3,
            "random_state": 4,
        }
        first = compare(X, y, ["fisher"], [1], record=paths[0], **how)
        grown = compare(X, y, ["fisher", ReliefF()], [1, 2], record=paths[0], n_jobs=2, **how)
        whole = compare(X, y, ["fisher", ReliefF()], [1, 2], record=paths[1], **how)
        assert paths[0].read_bytes() == paths[1].read_bytes() and grown._text == whole._text
        assert grown.scoring == "recall2" and first.run["evaluator"]["name"] == "RandomForestClassifier"
        accuracy, error = grown.table("accuracy", "mean"), grown.table("error", "mean")
        assert_allclose(accuracy, 1 - error, rtol=1e-12)
        # A run that was killed: the results of the last tasks are missing.
        lines = paths[0].read_text(encoding="utf-8").splitlines(keepends=True)
        paths[0].write_text("".join(lines[:-4]), encoding="utf-8")
        compare(X, y, ["fisher", ReliefF()], [1, 2], record=paths[0], **how)
        assert paths[0].read_bytes() == paths[1].read_bytes()
        for change in ({"scoring": "accuracy"}, {"evaluator": GaussianNB()}):
            with pytest.raises(ValueError, match="another evaluator"):
                compare(X, y, "fisher", 1, record=paths[0], **(how | change))
        assert json.loads(lines[0])["evaluator"]["description"].endswith("; scorers: recall2, accuracy")
