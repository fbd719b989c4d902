"""compare: against scikit-learn fold by fold, resuming, splits, methods, targets, output."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest
from html_reader import Reader
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.feature_selection import f_classif
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernsift import (
    FFS,
    KNNC,
    KOBL,
    TAKES,
    FisherScore,
    ReliefF,
    compare,
    triplet_accuracy,
)
from kernsift.datasets import load_dataset, make_synthetic

ROOT = Path(__file__).resolve().parents[2]


def command_line():
    """The command line, if it was built: the newest one."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [path for kind in ("debug", "release") if (path := target / kind / "kernsift").exists()]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


PROGRAM = command_line()


@pytest.fixture(scope="module")
def raw_wine():
    return load_dataset("wine")


@pytest.fixture(scope="module")
def wine_frame(raw_wine):
    return pandas.DataFrame(raw_wine.data, columns=raw_wine.feature_names)


@pytest.fixture(scope="module")
def complete(wine_frame, raw_wine):
    """Every method on wine with one to eight features."""
    return compare(wine_frame, raw_wine.target, "all", range(1, 9), random_state=0)


def splits_of(result):
    """Training and test rows of every record's split."""
    n = result.run["fingerprint"]["rows"]
    for fold in result.run["folds"]:
        test = np.array(fold["test"])
        train = np.array(fold["train"]) if "train" in fold else np.setdiff1d(np.arange(n), test)
        yield (fold["repeat"], fold["fold"]), (train, test)


def recomputed(records, run_folds, X, y):
    """The scores of every record, by scikit-learn with the recorded features and C."""
    for record in records:
        train, test = run_folds[record["repeat"], record["fold"]]
        chosen = X[record["features"]] if record["method"] != "all-features" else X
        assert record["k"] == chosen.shape[1]
        model = make_pipeline(StandardScaler(), SVC(C=record["chosen"]["c"], gamma="scale", tol=1e-6))
        model.fit(chosen.iloc[train], y[train])
        predicted = model.predict(chosen.iloc[test])
        # The AUC needs a score per class, from the votes of pairs of classes.
        yield record, predicted, y[test], model.decision_function(chosen.iloc[test])


class TestAgainstScikitLearn:
    def test_every_score_of_every_method(self, complete, wine_frame, raw_wine):
        folds = dict(splits_of(complete))
        assert len(complete.records) == 5 * (8 * len(complete.methods) + 1)
        for record, predicted, truth, scores in recomputed(
            complete.records, folds, wine_frame, raw_wine.target
        ):
            # SVMs stop at other points within their tolerances, but no sample of wine is so close to a
            # boundary.
            assert round(record["error"] * len(truth)) == (predicted != truth).sum()
            # The rest are the same sums in another order.
            assert_allclose(
                record["balanced_accuracy"], balanced_accuracy_score(truth, predicted), atol=1e-12
            )
            areas = [roc_auc_score(truth == c, scores[:, c]) for c in range(3)]
            assert_allclose(record["auc"], np.mean(areas), atol=1e-12)

    def test_auc_of_two_classes(self):
        data = load_dataset("sonar")
        X = pandas.DataFrame(data.data, columns=data.feature_names)
        result = compare(X, data.target, ["fisher", "relief"], [2, 10], random_state=1, cv=4)
        folds = dict(splits_of(result))
        for record, predicted, truth, scores in recomputed(result.records, folds, X, data.target):
            # Samples whose scores differ by less than the tolerance of the SVMs may swap: one or two of the
            # about 670 pairs of a split.
            assert_allclose(record["auc"], roc_auc_score(truth, scores), atol=0.0035)
            assert round(record["error"] * len(truth)) == (predicted != truth).sum()

    def test_features_of_the_fisher_score(self, complete, wine_frame, raw_wine):
        folds = dict(splits_of(complete))
        for record in (r for r in complete.records if r["method"] == "fisher"):
            train, _ = folds[record["repeat"], record["fold"]]
            f, _ = f_classif(wine_frame.iloc[train], raw_wine.target[train])
            expected = wine_frame.columns[np.argsort(-f)[: record["k"]]]
            assert record["features"] == list(expected)

    @pytest.mark.parametrize("name", ["relief", "ffs"])
    def test_features_of_estimators_fitted_to_the_training_samples(
        self, name, complete, wine_frame, raw_wine
    ):
        estimator = {"relief": ReliefF, "ffs": FFS}[name](8, random_state=0)
        folds = dict(splits_of(complete))
        for record in (r for r in complete.records if r["method"] == name and r["k"] == 8):
            train, _ = folds[record["repeat"], record["fold"]]
            estimator.fit(wine_frame.iloc[train], raw_wine.target[train])
            assert record["features"] == [wine_frame.columns[j] for j in estimator.order_[:8]]

    def test_means_standard_deviations_and_tests_of_the_summary(self, complete):
        records = pandas.DataFrame(complete.records)
        errors = records.pivot_table("error", index=["repeat", "fold"], columns=["k", "method"])
        for place, k in enumerate(complete.n_features):
            best = errors[k].mean().min()
            for method in complete.summary["methods"]:
                cell = method["cells"][place]
                values = errors[k][method["label"]]
                assert_allclose(
                    [cell["mean"], cell["sd"]], [values.mean(), values.std()], rtol=1e-12, atol=1e-15
                )
                assert cell["best"] == (
                    cell["mean"] == min(m["cells"][place]["mean"] for m in complete.summary["methods"])
                )
                assert_allclose(cell["mean"] if cell["best"] else best, best, atol=1e-15)
                if cell["p"] is not None:
                    first = next(m["label"] for m in complete.summary["methods"] if m["cells"][place]["best"])
                    d = values - errors[k][first]
                    ratio = np.mean([len(te) / len(tr) for _, (tr, te) in splits_of(complete)])
                    if d.var() == 0:
                        expected = 1.0 if d.mean() == 0 else 0.0
                    else:
                        t = d.mean() / np.sqrt((1 / 5 + ratio) * d.var())
                        expected = 2 * stats.t.sf(abs(t), 4)
                    # The core's incomplete beta function is accurate to about 1e-12.
                    assert_allclose(cell["p"], expected, atol=1e-10)
        everything = [r["error"] for r in complete.records if r["method"] == "all-features"]
        assert_allclose(complete.summary["all_features"]["mean"], np.mean(everything), atol=1e-15)

    def test_nearest_neighbors(self, raw_wine):
        result = compare(
            raw_wine.data,
            raw_wine.target,
            "fisher",
            [2, 5],
            evaluator={"name": "knn", "n_neighbors": 3},
            random_state=0,
        )
        folds = dict(splits_of(result))
        for record in result.records:
            train, test = folds[record["repeat"], record["fold"]]
            columns = [int(name[1:]) for name in record.get("features", [])] or list(range(13))
            x, y = raw_wine.data[:, columns], raw_wine.target
            model = make_pipeline(StandardScaler(), KNeighborsClassifier(3)).fit(x[train], y[train])
            wrong = (model.predict(x[test]) != y[test]).sum()
            # Three neighbors of three classes: kernsift takes the class of the nearest, scikit-learn the
            # first class.
            assert abs(wrong - record["error"] * len(test)) <= 1

    def test_regression_by_ridge(self):
        data = load_dataset("boston")
        keep = np.arange(0, len(data.target), 3)
        x, y = data.data[keep], data.target[keep]
        result = compare(x, y, "relief", [2, 6], cv=3, random_state=0)
        assert result.scoring == "r2" and result.run["evaluator"]["name"] == "ridge"
        folds = dict(splits_of(result))
        for record in result.records:
            train, test = folds[record["repeat"], record["fold"]]
            columns = [int(name[1:]) for name in record.get("features", [])] or list(range(x.shape[1]))
            scaled = StandardScaler().fit(x[train][:, columns])
            a, b = scaled.transform(x[train][:, columns]), scaled.transform(x[test][:, columns])
            mean = y[train].mean()
            model = KernelRidge(
                kernel="rbf", gamma=1 / (a.shape[1] * a.var()), alpha=record["chosen"]["penalty"]
            ).fit(a, y[train] - mean)
            # Two ways to solve the same well-conditioned system.
            assert_allclose(record["r2"], r2_score(y[test], mean + model.predict(b)), atol=1e-8)
        assert result.summary["all_features"]["mean"] > 0.6

    def test_imputation_is_fitted_to_the_training_samples(self, raw_wine, rng):
        x, y = raw_wine.data.copy(), raw_wine.target
        x[rng.random(x.shape) < 0.05] = np.nan
        for missing in ("mean", "median"):
            result = compare(x, y, "fisher", 4, missing=missing, evaluator="knn", random_state=0)
            assert result.run["impute"] == missing
            folds = dict(splits_of(result))
            for record in (r for r in result.records if r["method"] == "fisher"):
                train, _ = folds[record["repeat"], record["fold"]]
                filled = SimpleImputer(strategy=missing).fit_transform(x[train])
                f, _ = f_classif(filled, y[train])
                assert record["features"] == [f"x{j}" for j in np.argsort(-f)[:4]]
        with pytest.raises(ValueError, match="contains NaN"):
            compare(x, y, "fisher", 4, missing="error")

    @pytest.mark.skipif(PROGRAM is None, reason="the command line is not built")
    def test_the_command_line_writes_the_same_record(self, complete, tmp_path):
        path = tmp_path / "wine.jsonl"
        command = [
            PROGRAM,
            "compare",
            "builtin:wine",
            "-m",
            "all",
            "-k",
            "1..8",
            "--record",
            str(path),
            "--quiet",
        ]
        subprocess.run(command, check=True, capture_output=True)
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        results = [
            {k: v for k, v in line.items() if k != "kind"} for line in lines if line["kind"] == "result"
        ]
        assert results == complete.records
        assert lines[0]["folds"] == complete.run["folds"]


class TestRecords:
    def test_a_record_is_reproducible_and_can_grow(self, raw_wine, tmp_path):
        x, y = raw_wine.data, raw_wine.target
        paths = [tmp_path / f"{i}.jsonl" for i in range(2)]
        compare(x, y, ["fisher"], [1], record=paths[0], random_state=0)
        grown = compare(x, y, ["fisher", "relief"], [1, 3], record=str(paths[0]), random_state=0)
        compare(x, y, ["fisher", "relief"], [1, 3], record=paths[1], random_state=0, n_jobs=1)
        assert paths[0].read_bytes() == paths[1].read_bytes()
        # Methods that are not requested again are not shown, and without a seed that of the record is used.
        less = compare(x, y, ["relief"], [3], record=paths[0])
        assert less.run["seed"] == 0 and less.methods == ["relief"] and len(less.records) == 10
        assert paths[0].read_bytes() == paths[1].read_bytes()
        assert [r for r in grown.records if r["method"] == "relief" and r["k"] == 3] == less.records[5:]

    def test_a_record_of_another_comparison_raises(self, raw_wine, tmp_path):
        x, y = raw_wine.data, raw_wine.target
        path = tmp_path / "runs.jsonl"
        compare(x, y, "fisher", 1, record=path, random_state=0, evaluator="knn")
        for change, message in [
            ({"random_state": 1}, "the record is of seed 0"),
            ({"evaluator": "svm"}, "another evaluator"),
            ({"cv": 4}, "other splits"),
            ({"standardize": False}, "another scaling"),
            ({"X": x + 1}, "other data"),
        ]:
            arguments = {"X": x, "y": y, "random_state": 0, "evaluator": "knn", **change}
            with pytest.raises(ValueError, match=message):
                compare(methods="fisher", n_features=1, record=path, **arguments)
        other = tmp_path / "notes.txt"
        other.write_text("mine")
        with pytest.raises(ValueError, match="not a record"):
            compare(x, y, "fisher", 1, record=other)
        assert other.read_text() == "mine"
        with pytest.raises(OSError, match="does not exist; create it first"):
            compare(x, y, "fisher", 1, record=tmp_path / "no folder" / "runs.jsonl")

    SCRIPT = """
import sys
from kernsift import compare, load_dataset
data = load_dataset("sonar")
methods = ["relief", "ffs", "takes"]
print("ready", flush=True)
how = {"repeats": 2, "record": sys.argv[1], "random_state": 0, "n_jobs": 2}
try:
    compare(data.data, data.target, methods, range(1, 5), **how)
except KeyboardInterrupt:
    print("stopped", flush=True)
    sys.exit(7)
"""

    @classmethod
    def start(cls, path):
        child = subprocess.Popen([sys.executable, "-c", cls.SCRIPT, path], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n"
        return child

    @pytest.fixture(scope="class")
    @classmethod
    def expected(cls, tmp_path_factory):
        path = tmp_path_factory.mktemp("complete") / "complete.jsonl"
        out, _ = cls.start(path).communicate(timeout=300)
        assert out == ""
        return path.read_bytes()

    @pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX")
    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
    def test_resuming(self, how, expected, tmp_path):
        path = tmp_path / "cut.jsonl"
        child = self.start(path)
        try:
            # A line for the run, one per method, and four results of the first unit of work.
            while not path.exists() or path.read_bytes().count(b"\n") < 8:
                assert child.poll() is None, "it was over before it could be stopped"
                time.sleep(0.01)
            child.send_signal(how)
            out, _ = child.communicate(timeout=60)
        finally:
            child.kill()
        if how == signal.SIGINT:
            assert (out, child.returncode) == ("stopped\n", 7)
        assert 8 <= path.read_bytes().count(b"\n") < expected.count(b"\n")
        out, _ = self.start(path).communicate(timeout=300)
        assert out == ""
        assert path.read_bytes() == expected


class TestSplits:
    def test_splitters_and_pairs(self, raw_wine):
        x, y = raw_wine.data, raw_wine.target
        splitter = KFold(4, shuffle=True, random_state=3)
        pairs = list(splitter.split(x))
        result = compare(x, y, "fisher", [1, 2], cv=splitter, evaluator="knn", random_state=0)
        assert [fold["test"] for fold in result.run["folds"]] == [list(test) for _, test in pairs]
        assert result.run["splits"] is None
        backwards = [(train[::-1], test[::-1]) for train, test in pairs]
        for cv in (pairs, iter(pairs), backwards, [(list(a), list(b)) for a, b in pairs]):
            again = compare(x, y, "fisher", [1, 2], cv=cv, evaluator="knn", random_state=0)
            assert again.records == result.records

    def test_splits_may_omit_samples(self, raw_wine):
        cv = ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=0)
        result = compare(raw_wine.data, raw_wine.target, "fisher", 2, cv=cv, evaluator="knn")
        for (_, (train, test)), (a, b) in zip(splits_of(result), cv.split(raw_wine.data), strict=True):
            assert (list(train), list(test)) == (sorted(a), sorted(b))

    def test_repeats(self, raw_wine):
        result = compare(raw_wine.data, raw_wine.target, "fisher", 2, cv=3, repeats=2, evaluator="knn")
        assert [(f["repeat"], f["fold"]) for f in result.run["folds"]] == [
            (0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2),
        ]  # fmt: skip
        assert result.summary["methods"][0]["cells"][0]["splits"] == 6

    @pytest.mark.parametrize(
        ("cv", "message"),
        [
            ([], "cv yields no splits"),
            ([1, 2], "pairs of training and test indices"),
            ([([0, 1], [1, 2])], "row 2 twice"),
            ([([0, 1], [500])], "below 178, got 500"),
            ([([0, 1], [-1])], "cv: row numbers count from 0, got -1"),
            ([([0, 1], [])], "no test rows"),
            ([([0.5, 1], [2])], "one-dimensional integer arrays"),
            ([(np.ones(178, bool), [1])], "one-dimensional integer arrays"),
            (1, "The 'cv' parameter of compare must be"),
            (179, "'folds' must be from 2 to the number of rows, 178"),
        ],
    )
    def test_bad_splits(self, cv, message, raw_wine):
        with pytest.raises(ValueError, match=message):
            compare(raw_wine.data, raw_wine.target, "fisher", 1, cv=cv)

    def test_repeats_need_a_number(self, raw_wine):
        with pytest.raises(ValueError, match="repeats=2 needs an int as cv"):
            compare(raw_wine.data, raw_wine.target, "fisher", 1, cv=KFold(3), repeats=2)


class TestMethods:
    def test_estimators_are_the_methods_of_the_same_name(self, raw_wine):
        x, y = raw_wine.data, raw_wine.target
        estimators = {
            "fisher": FisherScore(),
            "ffs": FFS(),
            "relief:n_neighbors=5": ReliefF(n_neighbors=5),
            "takes": TAKES(),
            "takes:weight_power=0": TAKES(weight_power=0),
        }
        a = compare(x, y, list(estimators), [1, 3], evaluator="knn", random_state=0)
        b = compare(x, y, estimators, [1, 3], evaluator="knn", random_state=0)
        assert a.records == b.records
        assert a._text == b._text, "the same settings"

    def test_labels(self, raw_wine):
        methods = [ReliefF(), ReliefF(n_neighbors=3), ReliefF(), "relief", "random"]
        result = compare(raw_wine.data, raw_wine.target, methods, 2, evaluator="knn", cv=3)
        assert result.methods == ["ReliefF", "ReliefF(n_neighbors=3)", "ReliefF (2)", "relief", "random"]
        means = result.table(values="mean")[2]
        assert means["ReliefF"] == means["relief"] == means["ReliefF (2)"]
        assert not hasattr(methods[0], "order_"), "not fitted"
        by_name = {"near": "relief:n_neighbors=1", "far": ReliefF(n_neighbors=9)}
        labeled = compare(raw_wine.data, raw_wine.target, by_name, 2, evaluator="knn", cv=3)
        assert labeled.methods == ["near", "far"]

    def test_all_is_every_method_that_supports_the_target(self, complete):
        assert {"fisher", "ffs", "relief"} <= set(complete.methods)
        x, y, _ = make_synthetic("linear", 60, 5, continuous=True, random_state=0)
        numbers = compare(x, y, evaluator="knn", cv=3)
        assert "ffs" not in numbers.methods and "relief" in numbers.methods

    @pytest.mark.parametrize(
        ("methods", "message"),
        [
            ("relif", "did you mean 'relief'?"),
            ("relief:n_neighbor=5", "did you mean 'n_neighbors'?"),
            ([], "'methods' must be at least one"),
            (["fisher", "fisher"], "different from each other"),
            ([KOBL()], "a basis or classifier is not a selector"),
            ([KNNC()], "a basis or classifier is not a selector"),
            ([3], "names or selectors of kernsift, got 3"),
            ([FisherScore(3)], "sets 'n_features_to_select' of FisherScore"),
            ([FisherScore(standardize=False)], "Leave 'standardize' of FisherScore at its default"),
            ([ReliefF(random_state=5)], "one random_state for all methods"),
            ([ReliefF(n_neighbors=0)], "The 'n_neighbors' parameter of ReliefF must be"),
            ([TAKES(threshold=lambda t: t)], "cannot be recorded"),
            ([TAKES(tuned=True, n_neighbors=5)], "chooses 'n_neighbors'; leave it at its default"),
            ({"all-features": "fisher"}, "different from each other"),
        ],
    )
    def test_bad_methods(self, methods, message, raw_wine):
        with pytest.raises(ValueError, match=message.replace("?", r"\?")):
            compare(raw_wine.data, raw_wine.target, methods, 1)

    def test_failures_are_reported_and_not_fatal(self, raw_wine):
        result = compare(
            raw_wine.data,
            raw_wine.target,
            ["fisher", "relief:n_neighbors=46,clip=false"],
            [1, 2],
            evaluator="knn",
        )
        failed = result.summary["methods"][1]
        assert failed["failed"] == 10 and "n_neighbors" in failed["failure"]
        assert "relief:n_neighbors=46,clip=false: 10 results failed" in repr(result)
        assert result.table(values="mean").loc["relief:n_neighbors=46,clip=false"].isna().all()
        assert list(result.table().loc["relief:n_neighbors=46,clip=false"]) == ["", ""]
        assert "Failures" in result.to_html()

    def test_names_may_contain_line_separators(self, raw_wine):
        names = ["a\u2028b", "c\x85d", *map(str, range(11))]
        frame = pandas.DataFrame(raw_wine.data, columns=names)
        result = compare(frame, raw_wine.target, {"my\u2029label": "fisher"}, [13], evaluator="knn")
        assert set(result.records[-1]["features"]) == set(names)


class TestInput:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"n_features": 14}, "from 1 to the number of columns, 13, got 14"),
            ({"n_features": 0}, "The 'n_features' parameter of compare must be"),
            ({"n_features": [1, 0]}, "integers from 1"),
            ({"n_features": []}, "integers from 1"),
            ({"n_features": [1.5]}, "integers from 1"),
            ({"evaluator": "swm"}, "did you mean 'svm'?"),
            ({"evaluator": "ridge"}, "for classes, got ridge"),
            ({"evaluator": {"C": 1}}, "name under 'name'"),
            ({"evaluator": {"name": "svm", "cost": 1}}, "no parameter 'cost'"),
            ({"evaluator": {"name": "svm", "C": -1}}, "a list of numbers, above 0, got '-1'"),
            ({"evaluator": {"name": "knn", "n_neighbors": 0}}, "at least 1, got '0'"),
            ({"evaluator": "kernel-knn:gamma=3"}, "'gamma' has no effect"),
            ({"evaluator": "knn:n_neighbors=few"}, "an integer, at least 1, got 'few'"),
            ({"scoring": "r2"}, "for class labels, got 'r2'"),
            ({"scoring": "accuracy"}, "'error' or 'balanced-error' or .* for class labels"),
            ({"missing": "zero"}, "The 'missing' parameter"),
            ({"y": np.zeros((178, 2), int)}, "does not support a y of several columns"),
            ({"y": np.zeros(100, int)}, "inconsistent numbers of samples"),
        ],
    )
    def test_errors(self, change, message, raw_wine):
        arguments = {"X": raw_wine.data, "y": raw_wine.target, "methods": "fisher", "n_features": 1, **change}
        with pytest.raises(ValueError, match=message.replace("?", r"\?")):
            compare(**arguments)

    def test_parameters_of_evaluators(self, raw_wine):
        def evaluator(settings):
            return compare(raw_wine.data, raw_wine.target, "fisher", 2, cv=3, evaluator=settings).run[
                "evaluator"
            ]

        svm = evaluator({"name": "svm", "C": 2, "gammas": np.array([0.5, 1e-7])})
        assert (svm["C"], svm["gammas"]) == ([2.0], [0.5, 1e-7])
        assert evaluator("knn:n_neighbors=3") == {"name": "knn", "n_neighbors": 3}
        assert evaluator({"name": "kernel-knn", "kernel": "poly", "gamma": 3, "n_neighbors": 7}) == {
            "name": "kernel-knn",
            "kernel": {"named": {"family": "poly", "gamma": 3.0, "degree": 3, "coef0": 1.0}},
            "n_neighbors": 7,
        }

    def test_frames_give_names_and_any_labels_are_classes(self, raw_wine, wine_frame):
        labels = np.array(["red", "rosé", "white"])[raw_wine.target]
        a = compare(wine_frame, raw_wine.target, "fisher", [1, 3], evaluator="knn", random_state=0)
        b = compare(
            polars.DataFrame(dict(wine_frame)), labels, "fisher", [1, 3], evaluator="knn", random_state=0
        )
        c = compare(raw_wine.data.tolist(), list(labels), "fisher", [1, 3], evaluator="knn", random_state=0)
        kept = [record.get("features") for record in a.records]
        assert [record.get("features") for record in b.records] == kept
        assert kept[-1][0] == "flavanoids"
        assert c.records[-1]["features"][0] == f"x{raw_wine.feature_names.index('flavanoids')}"

    def test_sparse_rows(self, raw_wine, rng):
        x = raw_wine.data * (rng.random(raw_wine.data.shape) < 0.5)
        a = compare(
            x,
            raw_wine.target,
            ["fisher", "relief"],
            [1, 3],
            evaluator="knn",
            standardize=False,
            random_state=0,
        )
        b = compare(
            sparse.csc_matrix(x),
            raw_wine.target,
            ["fisher", "relief"],
            [1, 3],
            evaluator="knn",
            standardize=False,
            random_state=0,
        )
        assert [r.get("features") for r in a.records] == [r.get("features") for r in b.records]
        assert_allclose([r["error"] for r in a.records], [r["error"] for r in b.records])

    def test_target_types(self, raw_wine):
        def evaluator(y, **how):
            return compare(raw_wine.data, y, "relief", 1, cv=3, **how).run["evaluator"]["name"]

        assert evaluator(raw_wine.target) == "svm"
        assert evaluator(raw_wine.target.astype(float)) == "svm"
        assert evaluator(raw_wine.target + 0.5) == "ridge"
        assert evaluator(raw_wine.target, target_type="number") == "ridge"
        assert evaluator(raw_wine.target + 0.5, target_type="class") == "svm"

    def test_threads_do_not_matter(self, raw_wine):
        texts = {
            compare(
                raw_wine.data,
                raw_wine.target,
                ["ffs", "relief", "takes"],
                [1, 4],
                random_state=0,
                n_jobs=n_jobs,
            )._text
            for n_jobs in (1, 2, None)
        }
        assert len(texts) == 1

    def test_memory_is_counted(self, complete):
        assert all(cost["peak_bytes"] > 0 for cost in complete.costs if cost["method"] != "all-features")
        relief = next(m for m in complete.summary["methods"] if m["label"] == "relief")
        assert relief["select_seconds"] > 0 and relief["evaluate_seconds"] > 0


class TestResult:
    def test_pickles(self, complete):
        again = pickle.loads(pickle.dumps(complete))
        assert repr(again) == repr(complete) and again.to_html() == complete.to_html()
        assert again.records == complete.records

    def test_tables(self, complete):
        text = complete.table()
        assert list(text.index) == complete.methods and list(text.columns) == list(range(1, 9))
        means, stds, p = (complete.table(values=v) for v in ("mean", "sd", "p"))
        best = means.idxmin()
        for k in text.columns:
            m, s = 100 * means[k][best[k]], 100 * stds[k][best[k]]
            assert text[k][best[k]] == f"{m:.1f} ± {s:.1f}*"
            assert np.isnan(p[k][best[k]])
            for method in text.index:
                assert text[k][method].endswith("-") == (p[k][method] < 0.05 and "*" not in text[k][method])
        balanced = complete.table("balanced_accuracy", "mean")
        assert balanced.shape == means.shape and (balanced > 0.5).all(axis=None)
        with pytest.raises(ValueError, match="for class labels, got 'r2'"):
            complete.table("r2")
        with pytest.raises(ValueError, match="values must be"):
            complete.table(values="median")

    def test_without_pandas(self, complete, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match="table\\(\\) needs pandas"):
            complete.table()
        assert "fisher" in repr(complete)

    def test_without_matplotlib(self, complete, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(ImportError, match="plot\\(\\) needs matplotlib"):
            complete.plot()

    def test_plots(self, complete):
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("agg")
        from matplotlib import pyplot

        ax = complete.plot()
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert sorted(labels) == sorted([*complete.methods, "all 13 features"])
        line = next(c for c in ax.containers if c.get_label() == "fisher").lines[0]
        assert_allclose(line.get_ydata(), 100 * complete.table(values="mean").loc["fisher"])
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of features", "error, %")
        _, other = pyplot.subplots()
        assert complete.plot(other, "auc") is other and other.get_ylabel() == "area under the curve, %"
        pyplot.close("all")

    def test_pages(self, complete, tmp_path):
        page = complete.to_html(title="<Wine> & more")
        reader = Reader()
        reader.feed(page)
        reader.close()
        assert reader.open == [] and reader.wrong == []
        assert reader.count["svg"] == 1 and reader.count["h1"] == 1 and reader.count["script"] == 1
        assert "&lt;Wine&gt; &amp; more" in page and "flavanoids" in page and "seed" in page.lower()
        cell = complete.summary["methods"][0]["cells"][0]
        assert f'<span class="mean">{100 * cell["mean"]:.1f}</span>' in page
        path = tmp_path / "wine.html"
        assert complete.to_html(path, title="<Wine> & more") is None
        assert path.read_text(encoding="utf-8") == page
        with pytest.raises(OSError, match="does not exist; create it first"):
            complete.to_html(tmp_path / "no folder" / "wine.html")

    def test_notebooks(self, raw_wine):
        result = compare(raw_wine.data, raw_wine.target, {"<b>": "fisher"}, [1, 2], evaluator="knn", cv=3)
        shown = result._repr_html_()
        assert "&lt;b&gt;" in shown and "<b>" not in shown and "<strong>" in shown
        reader = Reader()
        reader.feed(shown)
        assert reader.open == [] and reader.wrong == []


class TestTriplets:
    def test_by_hand(self):
        K = np.array([[1.0, 0.8, 0.2], [0.8, 1.0, 0.2], [0.2, 0.2, 1.0]])
        assert triplet_accuracy(K, [[0, 1, 2], [0, 2, 1], [2, 0, 1]]) == 0.5
        assert triplet_accuracy(K, np.array([[0, 1, 2]], dtype=np.uint8)) == 1.0

    @pytest.mark.parametrize(
        ("K", "triplets", "message"),
        [
            (np.eye(3)[:2], [[0, 1, 1]], "K must be square"),
            (np.eye(3), [[0, 1]], "three columns"),
            (np.eye(3), [[0.0, 1.0, 2.0]], "integer array"),
            (np.eye(3), [[0, 1, 3]], "triplet 1: expected rows below 3, got 3"),
            (np.eye(3), [[0, 1, -1]], "triplet 1: row numbers count from 0, got -1"),
        ],
    )
    def test_errors(self, K, triplets, message):
        with pytest.raises(ValueError, match=message):
            triplet_accuracy(K, triplets)
