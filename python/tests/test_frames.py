"""Data frames with categories, booleans, dates, text and missing values."""

import pickle
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline

import kernsift
from kernsift import KOBL, SVC, FisherScore, InformationGain, ReliefF, _native, compare
from kernsift._native_data import Settings

ROWS = 120


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


MESSY = sorted((Path(__file__).parents[2] / "crates/cli/tests/messy").glob("*.csv"))
PROGRAM = Path(__file__).parents[2] / "target/debug/kernsift"


@pytest.mark.skipif(not PROGRAM.exists(), reason="the command line is not built")
@pytest.mark.parametrize("path", MESSY, ids=lambda path: path.stem)
def test_command_line_and_python_give_the_same_answer(path):
    import json

    ran = subprocess.run(
        [PROGRAM, "select", path, "-m", "relief", "--json", "--quiet"], capture_output=True, text=True
    )
    if ran.returncode != 0:
        pytest.skip("the file is refused")
    answer = json.loads(ran.stdout)
    if path.stem in ("integer_target", "missing_target"):
        pytest.skip("in Python integers are classes, and a missing target is an error, as in scikit-learn")
    columns, _ = _native.read_table(path, Settings(0, 0, 0))
    target = answer["data"]["target"]
    X = pandas.DataFrame({name: cells for name, cells in columns.items() if name != target})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ReliefF(len(answer["selected"])).fit(X, np.asarray(columns[target]))
    assert list(X.columns[fitted.order_][: len(answer["selected"])]) == answer["selected"]
