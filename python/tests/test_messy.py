"""The messy tables of the command line's tests: the command line and Python give the same answers."""

import argparse
import json
import shlex
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest
from numpy.testing import assert_allclose

import kernsift
from kernsift import AutoSelector, FisherScore, ReliefF, compare, load_model

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "target/debug/kernsift"
#: Without features, or with a single row: both refuse them.
REFUSED = ["one_row", "only_ids"]
#: Columns that pandas would read as numbers, although their spelling matters, or that it cannot parse.
AS_TEXT = ["zip_classes", "large_classes"]
#: Options of pandas for files with another separator, and for the options of reading.
READING = {
    "decimal_comma": {"sep": ";"},
    "german": {"sep": ";"},
    "r_table": {"sep": "\t"},
    "comments": {"sep": "|", "comment": "#"},
    "na_values": {"na_values": ["-999", "unknown"]},
}
#: Options of reading that data frames do not need. In Python, the rows with text in a continuous target have
#: to be dropped before.
ONLY_COMMAND_LINE = ["stray_target", "decimal_option", "decimal_mixed", "transposed"]
TABLES = sorted(
    path for path in (ROOT / "crates/cli/tests/messy").glob("*.csv") if path.stem not in ONLY_COMMAND_LINE
)
NAMES = [path.stem for path in TABLES]

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the command line is not built")


def read(path):
    """The table as users read it, with the spellings of missing values that pandas does not know."""
    options = {"na_values": ["?", "-", "#DIV/0!", "#VALUE!"], **READING.get(path.stem, {})}
    if path.stem in AS_TEXT:
        options["dtype"] = str
    table = pandas.read_csv(path, **options)
    if path.stem == "r_table":
        table = table.reset_index(names="unnamed_1")
    # The command line has another name for a column without one.
    return table.rename(columns={"Unnamed: 0": "unnamed_1"})


def options_of(path):
    """The options of the table's account, such as types."""
    first = path.with_suffix(".txt").read_text(encoding="utf-8").splitlines()[0]
    return shlex.split(first.removeprefix("$ kernsift inspect "))[1:]


def columns_of(path):
    """The same options as arguments of Python."""
    parser = argparse.ArgumentParser()
    for name in ("include", "exclude", "id", "type"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--missing", default="auto")
    given = vars(parser.parse_known_args(options_of(path))[0])
    types = dict(each.split("=", 1) for each in given.pop("type"))
    return given | {"types": types}


def command(*arguments):
    """The JSON that the command line prints, or None if it refuses the table."""
    ran = subprocess.run([PROGRAM, *arguments, "--quiet"], capture_output=True, text=True, check=False)
    if ran.returncode == 2:
        return None
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout) if "--json" in arguments else ran.stdout


@pytest.fixture(autouse=True)
def _ignore_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_most_tables_are_compared():
    assert len(TABLES) >= 46


@pytest.mark.parametrize("path", TABLES, ids=NAMES)
@pytest.mark.parametrize("method", ["relief", "fisher"])
def test_select_and_apply(path, method, tmp_path):
    model, new = tmp_path / "model.ks", tmp_path / "new.csv"
    answer = command("select", path, *options_of(path), "-m", method, "-k", "1", "--save", model, "--json")
    table = read(path)
    target = table.columns[-1] if answer is None else answer["data"]["target"]
    selector = {"relief": ReliefF, "fisher": FisherScore}[method]
    kept = table[table[target].notna()]
    X, y = kept.drop(columns=target), kept[target]
    if path.stem in REFUSED:
        assert answer is None
        with pytest.raises(ValueError):
            selector().fit(X, y)
        return
    fitted = selector(1).set_columns(**columns_of(path)).fit(X, y)
    assert list(X.columns[fitted.order_][:1]) == answer["selected"]
    found = dict(zip(X.columns, fitted.scores_, strict=True))
    for name, score in answer["scores"].items():
        # pandas parses a few numbers with another last bit.
        assert_allclose(found[name], score, rtol=1e-9, atol=1e-12, err_msg=name)
    # New rows: some of the table in another order.
    rows = table.iloc[[5, 3, 8, 5]].copy()
    rows.to_csv(new, index=False)
    out = tmp_path / "out.csv"
    command("apply", model, new, "--out", out)
    by_command, written = (pandas.read_csv(file)[answer["selected"]] for file in (out, new))
    pandas.testing.assert_frame_equal(by_command, written, check_dtype=False)
    by_estimator = fitted.set_output(transform="pandas").transform(rows.drop(columns=target))
    pandas.testing.assert_frame_equal(by_estimator, rows[by_estimator.columns])
    by_model = pandas.DataFrame(load_model(model).transform(rows), columns=answer["selected"])
    assert by_model.shape == (4, len(answer["selected"]))


@pytest.mark.parametrize("path", TABLES, ids=NAMES)
def test_automatic_selection(path):
    answer = command("select", path, *options_of(path), "--json")
    if path.stem in REFUSED:
        assert answer is None
        return
    target, table = answer["data"]["target"], read(path)
    kept = table[table[target].notna()]
    selector = AutoSelector(random_state=0).set_columns(**columns_of(path))
    fitted = selector.fit(kept.drop(columns=target), kept[target])
    assert sorted(fitted.get_feature_names_out()) == sorted(answer["selected"])


@pytest.mark.parametrize("path", TABLES, ids=NAMES)
def test_compare(path):
    # The default evaluator takes longer.
    methods = ["-m", "fisher,relief", "-k", "1", "--evaluator", "knn", "--json"]
    expected = command("compare", path, *options_of(path), *methods)
    table = read(path)
    if path.stem in REFUSED:
        assert expected is None
        return
    target = expected["data"]["target"]
    found = compare(
        table, target, ["fisher", "relief"], [1], evaluator="knn", random_state=0, **columns_of(path)
    )
    scores = ("error", "balanced_accuracy", "auc", "r2")
    assert len(found.records) == len(expected["results"])
    for ours, theirs in zip(found.records, expected["results"], strict=True):
        assert (ours["method"], ours["fold"]) == (theirs["method"], theirs["fold"])
        for score in scores:
            if theirs.get(score) is not None:
                assert_allclose(ours[score], theirs[score], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("path", TABLES, ids=NAMES)
def test_inspect(path):
    expected = command("inspect", path, *options_of(path), "--json")
    target = next(column["name"] for column in expected["columns"] if column["action"] == "target")
    chosen = {name: value for name, value in columns_of(path).items() if name != "missing"}
    found = kernsift.inspect(read(path), target=target, **chosen)
    for ours, theirs in zip(found.columns, expected["columns"], strict=True):
        keys = ("name", "type", "action", "n_missing", "n_distinct")
        assert [ours[key] for key in keys] == [theirs[key] for key in keys]
    assert found.n_rows == expected["rows"]
    dropped = [note for note in found.notes if "missing targets" in note]
    assert dropped == (["dropped 4 of 24 rows with missing targets"] if path.stem == "missing_target" else [])


def test_polars_gives_the_same_answer():
    path = next(path for path in TABLES if path.stem == "customers")
    answer = command("select", path, "-m", "relief", "--json")
    table = polars.read_csv(path, null_values=["?", "-", "NA"], try_parse_dates=True)
    target = answer["data"]["target"]
    fitted = ReliefF().fit(table.drop(target), table[target].to_numpy())
    names = np.array(table.drop(target).columns)
    assert list(names[fitted.order_][: len(answer["selected"])]) == answer["selected"]
