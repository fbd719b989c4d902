"""Reading a comparison: ranks over tables, learning curves, predictions; budgets with scikit-learn."""

import itertools
import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, confusion_matrix
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from kernsift import AutoSelector, FisherScore, MethodRanks, _reports, compare, rank_methods
from kernsift.datasets import load_dataset, make_synthetic

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("matplotlib.pyplot")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


METHODS = ["fisher", "relief", "random"]


@pytest.fixture(scope="module")
def results():
    found = {}
    for name in ("iris", "wine", "wdbc", "ionosphere", "sonar"):
        data = load_dataset(name)
        found[name] = compare(data.data, data.target, METHODS, [1, 3], 3, evaluator="knn", random_state=0)
    return found


@pytest.fixture(scope="module")
def wdbc():
    data = load_dataset("wdbc")
    keep = np.random.default_rng(0).permutation(len(data.target))[:200]
    return data.data[keep], data.target[keep]


class TestRanks:
    def test_statistics_are_those_of_scipy(self, results):
        ranks = rank_methods(results)
        scores = np.array([r.table(values="mean").mean(axis=1) for r in results.values()])
        expected = stats.rankdata(scores, axis=1)
        order = [METHODS.index(label) for label in ranks.methods]
        assert_array_equal(ranks.table().to_numpy().T, expected[:, order])
        assert_allclose(ranks.table("score").to_numpy().T, scores[:, order], rtol=1e-12)
        assert_allclose(ranks.mean_ranks, expected.mean(axis=0)[order], rtol=1e-12)
        chi_squared = stats.friedmanchisquare(*scores.T).statistic
        assert_allclose(ranks._found["chi_squared"], chi_squared, rtol=1e-12)
        n, k = scores.shape
        f = (n - 1) * chi_squared / (n * (k - 1) - chi_squared)
        # The tail of the F distribution by continued fractions.
        assert_allclose(ranks.pvalue, stats.f.sf(f, k - 1, (k - 1) * (n - 1)), rtol=1e-10)

    @pytest.mark.parametrize(("n_methods", "n_tables"), [(2, 3), (3, 5), (7, 4), (20, 9)])
    def test_critical_differences_are_those_of_scipy(self, n_methods, n_tables):
        rng = np.random.default_rng(n_methods)
        ranks = _ranks(rng.normal(size=(n_tables, n_methods)))
        quantile = stats.studentized_range.isf(0.05, n_methods, np.inf) / np.sqrt(2)
        # scipy integrates numerically, to about 1e-8.
        expected = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_tables))
        assert_allclose(ranks.critical_difference, expected, rtol=1e-6)

    def test_ties_and_groups(self):
        scores = np.tile([0.1, 0.1, 0.2, 0.3, 0.4], (12, 1))
        ranks = _ranks(scores)
        assert ranks.mean_ranks == [1.5, 1.5, 3, 4, 5]
        # The 11 other tables have one of 5! / 2! orders each.
        assert_allclose(ranks.pvalue, 60.0**-11)
        # The critical difference is 1.76.
        assert ranks.groups == [["m0", "m1", "m2"], ["m2", "m3"], ["m3", "m4"]]
        assert_allclose(_ranks(scores)._found["chi_squared"], stats.friedmanchisquare(*scores.T).statistic)

    def test_text_plot_and_page(self, results):
        ranks = rank_methods(list(results.values()))
        assert ranks.tables == ["X", "X (2)", "X (3)", "X (4)", "X (5)"]
        assert "Friedman test: p" in repr(ranks) and ranks.methods[-1] == "random"
        ax = ranks.plot_critical_differences()
        texts = [text.get_text() for text in ax.texts]
        assert any(text.startswith("fisher (") for text in texts) and any("CD" in text for text in texts)
        assert "critical difference" in ranks.to_html()
        assert rank_methods(results, scoring="auc").table("score").to_numpy().min() > 0.4

    def test_errors(self, results):
        boston = load_dataset("boston")
        numbers = compare(boston.data, boston.target, "random", 2, 2, random_state=0)
        for given, message in [
            ([results["iris"]], "at least two results of compare, got 1"),
            ([results["iris"], "wine"], "got 'wine'"),
            ([results["iris"], numbers], "scoring must be"),
        ]:
            with pytest.raises(ValueError, match=message):
                rank_methods(given)


def _ranks(scores):
    """Ranks of given scores of tables (rows) and methods."""

    def summary(row):
        cells = [[{"mean": s, "sd": 0.0, "splits": 1, "of": 1, "best": False, "p": None}] for s in row]
        methods = [
            {"label": f"m{j}", "cells": c, "failed": 0, "not_converged": 0}
            | dict.fromkeys(["select_seconds", "evaluate_seconds", "peak_bytes", "failure"])
            for j, c in enumerate(cells)
        ]
        nothing = dict.fromkeys(["all_features", "all_features_failure", "simplest"])
        return json.dumps({"measure": "error", "counts": [1], "methods": methods} | nothing)

    from kernsift import _native

    return MethodRanks(_native.rank_methods([(f"t{i}", summary(row)) for i, row in enumerate(scores)]))


class TestLearningCurve:
    def test_scores_are_those_of_the_recorded_rows(self, wdbc):
        X, y = wdbc
        for evaluator in ("knn", KNeighborsClassifier(5)):
            result = compare(X, y, "fisher", 3, 3, evaluator=evaluator, train_sizes=[20, 60], random_state=0)
            assert result.train_sizes == [20, 60]
            for record in (r for r in result.records if r["method"] == "fisher"):
                fold = result.run["folds"][record["fold"]]
                rows = fold["order"][: record["train_rows"]]
                assert not set(rows) & set(fold["test"])
                model = make_pipeline(StandardScaler(), FisherScore(3), KNeighborsClassifier(5))
                model.fit(X[rows], y[rows])
                assert_allclose(
                    record["error"], 1 - model.score(X[fold["test"]], y[fold["test"]]), atol=1e-12
                )
            table = result.table(values="mean")
            assert list(table.index.names) == ["method", "train_size"] and table.shape == (2, 1)
            assert len(result.learning_curve) == 2 and result.summary == result.learning_curve[1]
            assert "fisher         20" in repr(result) and "Learning curve" in result.to_html()
            ax = result.plot_learning_curve()
            assert list(ax.lines[0].get_xdata()) == [20, 60]

    def test_it_resumes(self, wdbc, tmp_path):
        X, y = wdbc
        how = {"evaluator": GaussianNB(), "random_state": 0, "cv": 3}
        paths = [tmp_path / f"{i}.jsonl" for i in range(2)]
        compare(X, y, "fisher", 2, train_sizes=[50], record=paths[0], **how)
        grown = compare(X, y, "fisher", [1, 2], train_sizes=[20, 50], record=paths[0], **how)
        compare(X, y, "fisher", [1, 2], train_sizes=[50, 20], record=paths[1], **how)
        assert paths[0].read_bytes() == paths[1].read_bytes()
        assert pickle.loads(pickle.dumps(grown)).learning_curve == grown.learning_curve

    def test_the_last_rows_in_time(self, wdbc):
        X, y = wdbc
        result = compare(
            X, y, "fisher", 2, TimeSeriesSplit(3), evaluator="knn", train_sizes=[30], random_state=0
        )
        for fold in result.run["folds"]:
            assert fold["order"][:30] == list(range(min(fold["test"]) - 1, min(fold["test"]) - 31, -1))

    @pytest.mark.parametrize("sizes", [[0], [2.5], [], "x"])
    def test_wrong_sizes(self, sizes, wdbc):
        with pytest.raises(ValueError, match="train_sizes"):
            compare(*wdbc, "fisher", 2, train_sizes=sizes)

    def test_too_many_rows_are_an_error_before_any_work(self, wdbc, tmp_path):
        for evaluator in ("knn", GaussianNB()):
            record = tmp_path / "r.jsonl"
            with pytest.raises(
                ValueError, match="at most 133, the training rows of the smallest split, got 150"
            ):
                compare(*wdbc, "fisher", 2, 3, evaluator=evaluator, train_sizes=[150], record=record)
            assert not record.exists()
        with pytest.raises(ValueError, match="no learning curve"):
            compare(*wdbc, "fisher", 2, 3, evaluator="knn").plot_learning_curve()


class TestPredictions:
    @pytest.mark.parametrize("evaluator", ["knn", KNeighborsClassifier(5), LogisticRegression()], ids=repr)
    def test_they_are_those_of_scikit_learn(self, evaluator, wdbc):
        X, y = wdbc
        cv = StratifiedKFold(4, shuffle=True, random_state=1)
        result = compare(X, y, "fisher", 3, cv, evaluator=evaluator, predictions=True, random_state=0)
        own = KNeighborsClassifier(5) if evaluator == "knn" else evaluator
        p = cross_val_predict(
            make_pipeline(StandardScaler(), FisherScore(3), own), X, y, cv=cv, method="predict_proba"
        )[:, 1]
        found = result.predictions
        assert (found["method"], found["n_features"], found["classes"]) == ("fisher", 3, ["0", "1"])
        # Five neighbors have no ties.
        counts = confusion_matrix(y, p > 0.5)
        assert_array_equal(found["confusion"], counts)
        assert_allclose(found["class_errors"], 1 - counts.diagonal() / counts.sum(axis=1), atol=1e-12)
        calibration = found["calibration"]
        # Rounding of the standardization, amplified by the solver.
        assert_allclose(calibration["brier_score"], brier_score_loss(y, p), rtol=1e-6)
        frequency, probability = calibration_curve(y, p, n_bins=10)
        bins = calibration["bins"]
        assert_allclose([b["frequency"] for b in bins], frequency, rtol=1e-6)
        assert_allclose([b["probability"] for b in bins], probability, rtol=1e-6)
        weights = np.array([b["rows"] for b in bins]) / 200
        expected = weights @ np.abs(frequency - probability)
        assert_allclose(calibration["expected_error"], expected, rtol=1e-6)
        assert result.plot_confusion().texts[0].get_text() == str(counts[0, 0])
        assert list(result.plot_calibration().lines[1].get_xdata()) == [b["probability"] for b in bins]
        assert "Reliability curve" in result.to_html()
        assert pickle.loads(pickle.dumps(result)).predictions == found

    def test_of_three_classes(self):
        wine = load_dataset("wine")
        names = np.array(["a", "b", "c"])[wine.target]
        for evaluator in ("knn", GaussianNB()):
            result = compare(
                wine.data, names, ["fisher", SelectKBest()] if evaluator != "knn" else "fisher", 4, 3,
                evaluator=evaluator, predictions=True, random_state=0,
            )  # fmt: skip
            found = result.predictions
            assert np.sum(found["confusion"]) == 178 and found["classes"] == ["a", "b", "c"]
            mean = np.mean([r["error"] for r in result.records if r["method"] == found["method"]])
            # Splits have 59 or 60 samples.
            assert abs(1 - np.trace(found["confusion"]) / 178 - mean) < 0.005
            assert result.plot_calibration().get_xlabel().endswith("the predicted class")

    def test_errors(self, wdbc):
        X, y = wdbc
        plain = compare(X, y, "fisher", 3, 3, evaluator="knn")
        assert plain.predictions is None
        for plot in (plain.plot_confusion, plain.plot_calibration):
            with pytest.raises(ValueError, match="predictions=True"):
                plot()
        svm = compare(X, y, "fisher", 3, 3, evaluator="linear-svm", predictions=True)
        assert svm.plot_confusion() is not None
        with pytest.raises(ValueError, match="linear-svm gives no probabilities"):
            svm.plot_calibration()
        with pytest.raises(ValueError, match="predictions=True needs class labels"):
            compare(X, X[:, 0], "random", 3, 3, predictions=True)


class TestTrees:
    def test_columns_are_in_the_order_of_the_table(self, wdbc):
        """A tree breaks ties between equal splits by the order of the columns, as in a pipeline."""
        X, y = wdbc
        # Features in few steps make equal splits frequent.
        X = np.round(4 * X / X.std(axis=0)) / 4
        for seed, k in itertools.product(range(3), (4, 8)):
            tree = DecisionTreeClassifier(random_state=seed)
            cv = StratifiedKFold(3, shuffle=True, random_state=seed)
            result = compare(X, y, FisherScore(), k, cv, evaluator=tree, scoring="roc_auc", random_state=0)
            pipeline = make_pipeline(StandardScaler(), FisherScore(k), tree)
            expected = cross_validate(pipeline, X, y, cv=cv, scoring="roc_auc")["test_score"]
            found = [r["scorers"]["roc_auc"] for r in result.records if r["method"] == "FisherScore"]
            assert_allclose(found, expected, rtol=1e-12)


class Slow(SelectKBest):
    """Takes half a second."""

    def fit(self, X, y):
        import time

        time.sleep(0.5)
        return super().fit(X, y)


def test_a_time_budget_with_a_scikit_learn_estimator(wdbc, tmp_path):
    how = {"evaluator": GaussianNB(), "random_state": 0, "record": tmp_path / "r.jsonl", "baseline": False}
    methods = {"slow": Slow(), "fisher": "fisher"}
    with pytest.warns(UserWarning, match="slow is left out of 4 splits, which do not fit"):
        found = compare(*wdbc, methods, 2, 5, time_budget=1.5, **how)
    assert len([r for r in found.records if r["method"] == "slow"]) == 1
    assert found.table(values="mean").loc["fisher"].notna().all()
    # A later run adds the rest.
    complete = compare(*wdbc, methods, 2, 5, **how)
    assert len([r for r in complete.records if r["method"] == "slow"]) == 5


class TestAuto:
    def test_another_scoring(self):
        X, y, relevant = make_synthetic("xor", n_samples=300, n_features=8, random_state=1)
        found = AutoSelector(scoring="auc", random_state=0).fit(X, y)
        assert_array_equal(found.get_support(indices=True), sorted(relevant))
        assert "Error (1 - AUC)" in found.summary_ and found.error_.baseline == 0.5
        # Pairs of samples are ordered right more often than single ones are predicted right.
        plain = AutoSelector(random_state=0).fit(X, y)
        assert found.error_.error < plain.error_.error
        loss = AutoSelector(scoring="log-loss", random_state=0).fit(X, y)
        # Two classes of about equal size.
        assert_allclose(loss.error_.baseline, np.log(2), atol=0.02)
        with pytest.raises(ValueError, match="scoring"):
            AutoSelector(scoring="f1").fit(X, y)
        with pytest.raises(ValueError, match="balanced-error, balanced-accuracy, error, auc or log-loss"):
            AutoSelector(scoring="mae").fit(X, y)

    def test_reports_of_samples_have_their_own_splits(self, monkeypatch):
        # Pairs of indices of all samples, of which the report uses some.
        monkeypatch.setattr(_reports, "MAX_SAMPLES", 60)
        X, y, _ = make_synthetic("linear", n_samples=150, n_features=3, random_state=0)
        X[:, 2] = np.arange(150)
        pairs = [(np.arange(150)[np.arange(150) % 3 != k], np.arange(k, 150, 3)) for k in range(3)]
        seen = []

        def watched(rows, y, methods, counts, cv, **options):
            seen.extend((rows.x[train, 2], rows.x[test, 2]) for train, test in cv)
            return compare(rows, y, methods, counts, cv, **options)

        monkeypatch.setattr(_reports, "compare", watched)
        selector = AutoSelector(1, cv=pairs, random_state=0).fit(X, y)
        assert "Cross-validation failed" not in selector.to_html(X, y)
        assert len(seen) == 3 and sum(len(test) for _, test in seen) == 60
        for k, (train, test) in enumerate(seen):
            assert set(test % 3) == {k} and k not in set(train % 3)

    def test_reports_respect_groups(self):
        rng = np.random.default_rng(5)
        groups = np.repeat(np.arange(30), 5)
        X = rng.normal(size=(30, 5))[groups] + 0.05 * rng.normal(size=(150, 5))
        y = rng.permutation(np.arange(30) % 2)[groups]
        page = AutoSelector(2, random_state=0).fit(X, y, groups=groups).to_html(X, y, cv=3)
        assert "groups kept together" in page
        assert "groups kept together" not in AutoSelector(2, random_state=0).fit(X, y).to_html(X, y, cv=3)
