"""Data frames with categories, booleans, dates, text and missing values."""

import datetime
import pickle
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from common import ESTIMATORS, quick
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

import kernsift
from kernsift import (
    KOBL,
    SVC,
    TAKES,
    FisherScore,
    HSICLasso,
    InformationGain,
    InteractionScreen,
    Kernel,
    KernelDesign,
    OnColumns,
    ReliefF,
    SelectSignificant,
    StabilitySelector,
    XingMetric,
    compare,
    load_model,
)
from kernsift._frames import native_columns
from kernsift._native_data import settings
from kernsift._selector import BaseSelector

ROWS = 120
#: Estimators that accept missing values in arrays.
WITH_MISSING = (BaseSelector, InteractionScreen, SelectSignificant, StabilitySelector)
PROGRAM = Path(__file__).parents[2] / "target/debug/kernsift"


def frame(rows=ROWS, seed=0):
    """Features of every type: the first three depend on the class, the others are noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    start = np.datetime64("2021-01-01", "us")
    made = pandas.DataFrame(
        {
            "size": rng.normal(size=rows) + 2 * y,
            "color": pandas.Categorical(np.where(y + rng.normal(size=rows) / 3 > 0.5, "red", "blue")),
            "when": start + (rng.uniform(0, 50, rows) + 60 * y).astype(int) * np.timedelta64(1, "D"),
            "noise": rng.normal(size=rows),
            "flag": rng.uniform(size=rows) < 0.5,
            "text": rng.choice(["low", "middle", "high"], rows),
            "grade": pandas.Categorical(rng.choice(list("abc"), rows), list("abc"), ordered=True),
        }
    )
    made.loc[::15, "size"] = np.nan
    made.loc[7, "text"] = None
    return made, np.where(y == 1, "yes", "no")


KINDS = {
    "pandas": lambda X: X,
    "polars": polars.from_pandas,
    "pyarrow": lambda X: pyarrow.Table.from_pandas(X, preserve_index=False),
}


class Capsule:
    """Any object with the Arrow PyCapsule interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("selector", [FisherScore(), InformationGain(), ReliefF()])
def test_features_of_every_type_are_selected(selector):
    X, y = frame()
    fitted = selector.set_params(n_features_to_select=3).fit(X, y)
    assert_array_equal(np.asarray(X.columns)[fitted.support_], ["size", "color", "when"])
    assert fitted.scores_.shape == (7,) and fitted.n_features_in_ == 7
    assert_array_equal(fitted.feature_names_in_, X.columns)


def test_frames_of_all_libraries_give_the_same_answer():
    X, y = frame()
    X = X.drop(columns="grade")
    expected = FisherScore(2).fit(X, y).scores_
    for kind, make in KINDS.items():
        assert_array_equal(FisherScore(2).fit(make(X), y).scores_, expected, err_msg=kind)
    capsule = Capsule(KINDS["pyarrow"](X))
    assert_array_equal(FisherScore(2).fit(capsule, y).scores_, expected)


def test_a_frame_of_numbers_is_like_an_array():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    x[3, 2] = np.nan
    for selector in (FisherScore(), ReliefF(), InformationGain()):
        by_array = selector.fit(x, y).scores_
        assert_array_equal(selector.fit(pandas.DataFrame(x, columns=list("abcd")), y).scores_, by_array)


def test_skipped_columns_come_last_with_a_warning():
    X, y = frame()
    X.insert(0, "id", [f"C{i:05}" for i in range(ROWS)])
    X["constant"] = 1.0
    with pytest.warns(UserWarning, match=r"'id' \(identifier.*'constant' \(constant"):
        fitted = FisherScore(3).fit(X, y)
    assert_array_equal(fitted.scores_[[0, 8]], [0, 0])
    assert set(fitted.order_[-2:]) == {0, 8} and sorted(fitted.order_) == list(range(9))
    assert_array_equal(np.asarray(X.columns)[fitted.support_], ["size", "color", "when"])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_output_keeps_the_columns_of_the_frame(kind):
    X, y = frame()
    given = KINDS[kind](X)
    reduced = FisherScore(3).set_output(transform=kind).fit_transform(given, y)
    names = ["size", "color", "when"]
    assert list(reduced.columns) == names
    assert reduced.equals(given[names])


def test_other_estimators_encode_frames_and_new_categories():
    X, y = frame()
    model = SVC(kernel="rbf", gamma=0.1).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.9
    new = X.copy()
    new["text"] = "unknown"
    with pytest.warns(UserWarning, match="column 'text': 120 values are categories"):
        model.predict(new)
    basis = KOBL(gamma=0.1).fit(X)
    again = pickle.loads(pickle.dumps(basis))
    assert_array_equal(again.transform(X), basis.transform(X))
    piped = make_pipeline(FisherScore(3).set_output(transform="pandas"), SVC(gamma=0.1)).fit(X, y)
    assert (piped.predict(X) == y).mean() > 0.9


def test_compare_takes_frames():
    X, y = frame()
    result = compare(X, y, ["fisher", "relief", "information-gain"], [1, 3], cv=3, random_state=0)
    assert result.table().shape[0] == 3
    with pytest.raises(ValueError, match="row 1, column 'size': missing value"):
        compare(X, y, "fisher", [1], missing="error")


def test_a_report_of_a_frame_names_its_levels(tmp_path):
    X, y = frame()
    page = FisherScore(3).fit(X, y).to_html(X, y, cv=None)
    assert "red" in page and "color" in page
    page = FisherScore(2).set_columns(exclude="color").fit(X, y).to_html(X, y, cv=2)
    assert ".set_columns(exclude=&#39;color&#39;, missing=&#39;auto&#39;).fit(X, y)" in page
    assert "excluded" in page and "Cross-validation failed" not in page


def test_inspect_gives_an_account_of_every_column():
    X, y = frame()
    X["class"] = y
    found = kernsift.inspect(X, target="class")
    kinds = {column["name"]: (column["type"], column["action"]) for column in found.columns}
    assert kinds["size"] == ("number", "feature") and kinds["when"] == ("date", "feature")
    assert kinds["color"] == ("category", "feature") and kinds["flag"][0] == "boolean"
    assert kinds["class"] == ("category", "target") and kinds["grade"][0].startswith("ordered")
    assert found.columns[0]["n_missing"] == 8 and "9 missing values" in repr(found)
    assert "<td>size</td>" in found._repr_html_()
    with pytest.raises(ValueError, match="X has no column 'klass'"):
        kernsift.inspect(X, target="klass")
    with pytest.raises(TypeError, match="inspect needs a data frame"):
        kernsift.inspect(np.zeros((2, 2)))


def test_integers_with_many_values_are_a_continuous_target():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    amounts = (1000 * (x[:, 1] + 5)).astype(int)
    fitted = FisherScore(1).fit(x, amounts)
    assert fitted.target_type_ == "number" and not hasattr(fitted, "classes_")
    assert_array_equal(fitted.get_support(indices=True), [1])
    for few in (amounts % 3, amounts % 2 == 0, (amounts % 3).astype(float), (amounts % 3).astype(str)):
        assert FisherScore().fit(x, few).target_type_ == "class"
    assert FisherScore(target_type="class").fit(x, amounts // 1000).target_type_ == "class"
    # Numbers as text are read as in a file.
    text = [f"{amount / 7:.2f}".replace(".", ",") for amount in amounts]
    assert FisherScore(1).fit(x, text).target_type_ == "number"
    design = KernelDesign(n_triplets=40, gamma1=1e-3, gamma2=1e-4, random_state=0)
    assert design.fit(x, amounts).target_type_ == "number"
    assert design.fit(x, [[0, 1, 2], [3, 4, 5]]).target_type_ is None
    assert compare(x, amounts, "fisher", [1], cv=2, random_state=0).scoring == "r2"


@pytest.mark.parametrize("missing", [np.nan, None, pandas.NA])
def test_missing_targets_are_counted(missing):
    X, y = frame()
    y = y.astype(object)
    y[[3, 5]] = missing
    for act in (FisherScore().fit, SVC().fit, XingMetric().fit, lambda X, y: compare(X, y, "fisher", [1])):
        with pytest.raises(ValueError, match="Input y contains NaN: 2 of 120 target values are missing"):
            act(X, y)


def test_the_target_may_be_a_column_of_the_frame():
    X, y = frame()
    whole = compare(X, y, "fisher", [2], cv=3, evaluator="knn", random_state=0)
    table = X.assign(label=y)
    named = compare(table, "label", "fisher", [2], cv=3, evaluator="knn", random_state=0)
    assert named.records == whole.records
    longer = pandas.concat([table.iloc[:1].assign(label=None), table], ignore_index=True)
    with pytest.warns(UserWarning, match="dropped 1 of 121 rows with missing targets"):
        named = compare(longer, "label", "fisher", [2], cv=KFold(3), evaluator="knn", random_state=0)
    pairs = [(train + 1, test + 1) for train, test in KFold(3).split(X)]
    with pytest.warns(UserWarning, match="dropped 1"):
        again = compare(longer, "label", "fisher", [2], cv=pairs, evaluator="knn", random_state=0)
    assert again.records == named.records
    with pytest.raises(ValueError, match="X is not a data frame with a column 'klass'"):
        compare(table, "klass", "fisher", [2])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", [KernelDesign, XingMetric])
def test_kernel_learners_encode_frames(learner, kind):
    X, y = frame()
    X["constant"] = 1.0
    X = X.drop(columns="grade")
    options = {"n_triplets": 200, "random_state": 0}
    options |= {"gamma1": 1e-2, "gamma2": 1e-3} if learner is KernelDesign else {}
    given = KINDS[kind](X)
    with pytest.warns(UserWarning, match="'constant'"):
        fitted = learner(**options).fit(given, y)
    assert fitted.scores_.shape == (7,) and fitted.scores_[6] == 0
    # A feature of several columns has one score, and those that depend on the class have the largest.
    assert set(np.argsort(-fitted.scores_)[:2]) <= {0, 1, 2}
    assert fitted.score(given, y) > 0.9
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.kernel(given), fitted.kernel(given))
    new = X.iloc[:5].assign(text="unknown")
    with pytest.warns(UserWarning, match="column 'text': 5 values are categories"):
        k = fitted.kernel(KINDS[kind](new), given)
    assert k.shape == (5, ROWS) and np.isfinite(k).all()
    assert Kernel.from_json(fitted.kernel_.to_json()) == fitted.kernel_
    if learner is KernelDesign:
        reduced = fitted.set_output(transform="pandas").transform(X)
        assert list(reduced.columns) == [n for n, kept in zip(X, fitted.support_, strict=True) if kept]
        assert any(isinstance(kernel, OnColumns) for kernel in fitted.kernels_)
        assert "size" in fitted.to_html(given, y, cv=None)


def test_a_saved_design_of_a_mixed_frame_is_the_same(tmp_path):
    X, y = frame()
    path, model = tmp_path / "mixed.csv", tmp_path / "design.ks"
    X = X.drop(columns="grade")
    X.assign(label=y).to_csv(path, index=False)
    line = ["design", path, "--target", "label", "-n", "200"]
    if not PROGRAM.exists():
        pytest.skip("the command line is not built")
    options = ["--set", "gamma1=0.01", "--set", "gamma2=0.001", "--hold-out", "0", "--save", model]
    ran = subprocess.run([PROGRAM, *line, *options, "--quiet"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    fitted = KernelDesign(gamma1=0.01, gamma2=0.001, n_triplets=200, random_state=0).fit(X, y)
    # The same kernel on the same numbers, which the file holds with all digits.
    assert_allclose(load_model(model).kernel(X), fitted.kernel(X), rtol=1e-9, atol=1e-12)


def test_declared_categories_of_numbers_are_categories():
    codes = pandas.Series(["80331", "10115", "20095"] * 8, dtype="category")
    X = pandas.DataFrame({"code": codes, "size": np.arange(24) % 5})
    for make in KINDS.values():
        assert kernsift.inspect(make(X)).columns[0]["type"] == "category"
    large = pandas.DataFrame({"id": [2**53, 2**53 + 1] * 4, "size": np.arange(8) % 3})
    assert kernsift.inspect(large).columns[0]["n_distinct"] == 2


def test_all_estimators_take_categories():
    X, y = frame()
    for name in ESTIMATORS:
        tags = quick(name).__sklearn_tags__().input_tags
        # With this tag, scikit-learn's checks fit samples for which there is no metric or discriminant.
        without = ("XingMetric", "KernelDiscriminant", "KnockoffSelector")
        assert tags.categorical == (name not in without), name
        assert tags.allow_nan == issubclass(ESTIMATORS[name], WITH_MISSING), name
        if name == "KnockoffSelector":
            with pytest.raises(ValueError, match="OneHotEncoder or OrdinalEncoder"):
                quick(name).fit(X, y)
        else:
            quick(name).fit(X, y)


def test_arrays_are_encoded_like_the_frame():
    X, y = frame()
    X = X[["size", "noise"]].assign(constant=1.0)
    model = TAKES(random_state=0).fit(X, y)
    assert model.mean_ is None and model.basis_.n_features_in_ == 3
    complete = X.dropna()
    assert_array_equal(model.predict(complete.to_numpy()), model.predict(complete))


#: Integers that a float cannot tell apart.
LARGE = [2**53 + 1, None, 2**53 + 2]
TEXTS = [None if value is None else str(value) for value in LARGE]
SECONDS = [datetime.timedelta(seconds=1, milliseconds=500), None, datetime.timedelta(days=1)]


@pytest.mark.parametrize(
    "made",
    [
        pandas.DataFrame({"x": pandas.array(LARGE, dtype="Int64")}),
        pandas.DataFrame({"x": pandas.array(LARGE, dtype="UInt64")}),
        pandas.DataFrame({"x": pandas.Series(LARGE, dtype=pandas.ArrowDtype(pyarrow.int64()))}),
        polars.DataFrame({"x": LARGE}),
        polars.DataFrame({"x": polars.Series(LARGE, dtype=polars.UInt64)}),
        pyarrow.table({"x": pyarrow.array(LARGE)}),
        pyarrow.table({"x": pyarrow.array(LARGE, pyarrow.uint64())}),
    ],
)
def test_large_integers_are_text(made):
    assert list(native_columns(made)) == [("x", TEXTS)]


@pytest.mark.parametrize(
    "made",
    [
        pandas.DataFrame({"x": pandas.Series(SECONDS)}),
        polars.DataFrame({"x": SECONDS}),
        pyarrow.table({"x": pyarrow.array(SECONDS, pyarrow.duration("ns"))}),
    ],
)
def test_durations_are_seconds(made):
    ((_, cells),) = native_columns(made)
    assert_array_equal(cells, [1.5, np.nan, 86_400.0])


def test_times_with_nanoseconds_and_dates_of_arrow_types():
    times = pyarrow.table({"x": pyarrow.array([0, None, 86_400 * 10**9 + 1], pyarrow.timestamp("ns"))})
    ((_, [days]),) = native_columns(times)
    assert_allclose(days, [0, np.nan, 1])
    dates = pandas.Series([datetime.date(1970, 1, 2), None], dtype=pandas.ArrowDtype(pyarrow.date32()))
    ((_, [days]),) = native_columns(pandas.DataFrame({"x": dates}))
    assert_array_equal(days, [1, np.nan])


def test_cells_of_several_types_are_different_texts():
    ((_, (codes, texts, kind)),) = native_columns(pandas.DataFrame({"x": [True, 1, 1.0, None]}))
    assert (codes.tolist(), texts, kind) == ([0, 1, 2, -1], ["True", "1", "1.0"], "text")


def test_an_enum_of_polars_is_ordered():
    sizes = polars.Series(["large", None, "small"], dtype=polars.Enum(["small", "middle", "large"]))
    ((_, (codes, texts, kind)),) = native_columns(polars.DataFrame({"x": sizes}))
    assert (codes.tolist(), texts, kind) == ([2, -1, 0], ["small", "middle", "large"], "ordered")


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_a_column_of_lists_is_named(make):
    made = make({"size": [1.5, 2.5], "parts": [[1, 2], [3]]})
    with pytest.raises(TypeError, match="column 'parts' has cells of the type"):
        list(native_columns(made))


def test_objects_with_the_arrow_interface_are_transformed_like_frames():
    X, y = frame()
    X = X.drop(columns="grade")
    table = pyarrow.Table.from_pandas(X, preserve_index=False)
    for estimator in (FisherScore(3), KOBL(n_components=2)):
        fitted = estimator.fit(Capsule(table), y)
        made = [pandas.DataFrame(fitted.transform(given)) for given in (Capsule(table), table)]
        pandas.testing.assert_frame_equal(*made)


def test_columns_are_chosen_as_on_the_command_line():
    X, y = frame()
    X.insert(0, "number", np.arange(ROWS) + 7)
    chosen = {"include": "number", "exclude": ["no*", "flag"], "id": "when", "types": {"grade": "category"}}
    selector = FisherScore().set_columns(**chosen, missing="mean")
    assert clone(selector)._column_options == selector._column_options
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = clone(selector).fit(X, y)
    assert_array_equal(fitted.scores_[[3, 4, 5]], 0)
    assert (fitted.scores_[[0, 1, 2, 6, 7]] > 0).all()
    found = {column["name"]: column for column in kernsift.inspect(X, **chosen).columns}
    assert found["number"]["action"] == "feature" and found["grade"]["type"] == "category"
    assert found["noise"]["reason"] == "excluded" and found["when"]["type"] == "id"
    methods = {"fisher": FisherScore()}
    result = compare(X, y, methods, [1, 5], cv=2, missing="mean", random_state=0, **chosen)
    assert result.summary["methods"][0]["failed"] == 0
    assert SVC(gamma=0.1).set_columns(exclude="flag", missing="mean").fit(X, y).score(X, y) > 0.9
    X["constant"] = 0
    with pytest.warns(UserWarning, match=r"'flag' \(excluded\), 'constant' \(constant\)"):
        FisherScore().set_columns(exclude="flag", include="number").fit(X, y)


def test_imputation_is_chosen():
    X, y = pandas.DataFrame({"a": [1.0, 1.0, 7.0, np.nan]}), [0, 0, 1, 1]
    by_mean = KOBL().set_columns(missing="mean").fit(X)
    encoded, _ = by_mean._frame_encoder.apply(native_columns(X), settings(0, None, 0))
    assert_allclose(encoded[:, 0], [1, 1, 7, 3])
    with pytest.raises(ValueError, match="row 4, column 'a': missing value"):
        FisherScore().set_columns(missing="error").fit(X, y)


def test_wrong_choices_of_columns():
    X, y = frame()
    with pytest.raises(ValueError, match="no type 'nummer'; did you mean 'number'"):
        FisherScore().set_columns(types={"size": "nummer"})
    with pytest.raises(ValueError, match="no column 'siz'; did you mean 'size'"):
        FisherScore().set_columns(exclude="siz").fit(X, y)
    with pytest.raises(ValueError, match="missing must be"):
        FisherScore().set_columns(missing="drop")
    with pytest.raises(TypeError, match="exclude must be names or patterns"):
        FisherScore().set_columns(exclude=[3])
    with pytest.raises(TypeError, match="set_columns of its estimator"):
        StabilitySelector(FisherScore()).set_columns(exclude="size")
    for run in (FisherScore().set_columns(exclude="size").fit, lambda X, y: compare(X, y, exclude="size")):
        with pytest.raises(TypeError, match="data frame"):
            run(np.zeros((4, 2)), [0, 1, 0, 1])


def test_periods_of_dates_are_part_of_the_feature():
    rng = np.random.default_rng(0)
    when = pandas.Timestamp("2010-01-01") + pandas.to_timedelta(rng.integers(0, 3652, 300), "D")
    X = pandas.DataFrame({"noise": rng.normal(size=300), "when": when})
    winter = when.month.isin([12, 1, 2]) | (when.month == 3)
    assert HSICLasso(1).set_columns(types={"when": "date+month"}).fit(X, winter).get_support()[1]

    def error(**types):
        found = compare(X, winter, "fisher", [2], cv=3, types=types, random_state=0)
        return np.mean([record["error"] for record in found.records if record["method"] == "fisher"])

    # Ten winters are too many for intervals of days; months are separable.
    assert error(when="date+month") < 0.05 < 0.2 < error()
    assert kernsift.inspect(X, types={"when": "date+hour+month"}).columns[1]["type"] == "date+month+hour"
    with pytest.raises(ValueError, match="no period 'day'"):
        kernsift.inspect(X, types={"when": "date+day"})
