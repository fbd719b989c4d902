"""Saved selections: as steps of pipelines, as JSON that another program applies, and in ONNX."""

import csv
import json
import pickle
import re
import shlex
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from kernsift import (
    KOBL,
    AutoSelector,
    FisherScore,
    ReliefF,
    list_datasets,
    load_model,
    register_onnx_converters,
    save_model,
)

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "target/debug/kernsift"
MESSY = ROOT / "crates/cli/tests/messy"
#: Not comma-separated text with a header of distinct names.
OTHER_DIALECTS = ["comments", "decimal_comma", "decimal_mixed", "decimal_option", "german"]
OTHER_DIALECTS += ["r_table", "repeated_headers", "transposed"]
#: `--na-values` is for reading files; other programs pass null.
READING = ["na_values"]
#: Refused: no features, or a single row.
REFUSED = ["one_row", "only_ids"]
#: Months with names in other languages, which the program of the documentation leaves out.
LANGUAGES = ["month_names"]
TABLES = sorted(
    path for path in MESSY.glob("*.csv") if path.stem not in {*OTHER_DIALECTS, *READING, *REFUSED, *LANGUAGES}
)

needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="the command line is not built")


@pytest.fixture(scope="module")
def reader():
    """The program of the documentation that applies a selection in JSON, without its example."""
    page = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    code = next(block for block in blocks if "def encoded" in block).split('\n\nwith open("visits.json"')[0]
    imported = set(re.findall(r"^import (\w+)", code, re.MULTILINE))
    assert imported == {"datetime", "json", "math", "re"} and "from " not in code.split("def ")[0]
    names = {}
    exec(code, names)
    return names["encoded"]


def command(*arguments):
    ran = subprocess.run(
        [PROGRAM, *map(str, arguments), "--quiet"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def compared(reader, table, folder, options=()):
    """The names of the selected features, after the program and `kernsift apply` gave the same numbers."""
    model, numbers = folder / "model.json", folder / "numbers.csv"
    command("select", table, *options, "-m", "fisher", "-k", "0.9", "--save", model)
    command("apply", model, table, "--encode", "--out", numbers)
    selection = json.loads(model.read_text(encoding="utf-8"))
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with numbers.open(encoding="utf-8", newline="") as file:
        names, *lines = csv.reader(file)
    columns = [name for feature in selection["features"] for name in feature["columns"]]
    assert names[: len(columns)] == columns
    found = [reader(selection, row) for row in rows]
    expected = np.array([line[: len(columns)] for line in lines], dtype=float)
    found = np.array([row for row in found if row is not None])
    # Numbers in files have all their digits, and both use the same formulas: all bits are equal, except
    # those of sines and cosines, which mathematical libraries round differently.
    has_points = [" sin" in name or " cos" in name for name in columns]
    assert_allclose(found, expected, rtol=0, atol=1e-14 if any(has_points) else 0)
    return [feature["name"] for feature in selection["features"]]


@needs_program
@pytest.mark.parametrize("name", list_datasets())
def test_built_in_data_as_json(reader, tmp_path, name):
    table = tmp_path / "table.csv"
    command("data", "export", name, "--out", table)
    assert compared(reader, table, tmp_path)


@needs_program
@pytest.mark.parametrize("path", TABLES, ids=[path.stem for path in TABLES])
def test_messy_tables_as_json(reader, tmp_path, path):
    first = path.with_suffix(".txt").read_text(encoding="utf-8").splitlines()[0]
    options = shlex.split(first.removeprefix("$ kernsift inspect "))[1:]
    assert compared(reader, path, tmp_path, options)


def messy(n=400):
    rng = np.random.default_rng(3)
    table = pandas.DataFrame(
        {
            "size": [f"{v:,.1f} kg" for v in rng.normal(3000, 900, n)],
            "city": rng.choice(["Bonn", "Oslo", "Rome"], n),
            "sold": [f"{1 + d % 28:02}.{1 + d % 12:02}.{2019 + d % 5}" for d in rng.integers(0, 900, n)],
            "seen": pandas.Timestamp("2021-01-01") + pandas.to_timedelta(rng.integers(0, 9_000_000, n), "s"),
            "grade": rng.choice(["low", "mid", "high"], n),
            "sure": rng.choice(["Yes", "no"], n),
            "share": [f"{v:.0f}%" for v in rng.uniform(0, 100, n)],
        }
    )
    for name in ("size", "city", "sold", "seen", "sure"):
        table.loc[rng.random(n) < 0.05, name] = None
    table["y"] = rng.integers(0, 2, n)
    return table


@needs_program
def test_unseen_levels_missing_values_and_dates(reader, tmp_path):
    old, new, model = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "model.json"
    types = ["seen=date+month+weekday+hour", "grade=ordered:low<mid<high"]
    table = messy()
    table.to_csv(old, index=False)
    options = [option for kind in types for option in ("--type", kind)]
    command("select", old, *options, "-m", "fisher", "-k", "7", "--save", model)
    rows = table[:40].drop(columns="y")
    rows.loc[:5, "city"] = "Paris"
    rows.loc[3:9, "grade"] = "none"
    rows.loc[8:12] = None
    rows.to_csv(new, index=False)
    expected = pandas.read_csv(pandas.io.common.StringIO(command("apply", model, new, "--encode")))
    selection = json.loads(model.read_text(encoding="utf-8"))
    with new.open(encoding="utf-8", newline="") as file:
        found = np.array([reader(selection, row) for row in csv.DictReader(file)])
    assert {"city=Oslo", "seen month sin", "seen hour cos", "size is missing"} <= set(expected.columns)
    assert found.shape == expected.shape == (40, sum(len(each["columns"]) for each in selection["features"]))
    # The mathematical library of Python may round a sine or a cosine differently.
    assert_allclose(found, expected, rtol=0, atol=1e-14)
    # In Python, the same file and the same frame.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_model = load_model(model, encode=True).transform(pandas.read_csv(new))
    assert_allclose(by_model, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("missing", ["error", "drop"])
@needs_program
def test_missing_values_that_are_not_imputed(reader, tmp_path, missing):
    old, model = tmp_path / "old.csv", tmp_path / "model.json"
    old.write_text("a,b,y\n1,2,u\n2,1,u\n3,4,v\n4,3,v\n", encoding="utf-8")
    command("select", old, "--missing", missing, "-m", "fisher", "-k", "1", "--save", model)
    selection = json.loads(model.read_text(encoding="utf-8"))
    assert selection["missing"] == missing
    if missing == "drop":
        assert reader(selection, {"a": "NA"}) is None
    else:
        with pytest.raises(ValueError, match="missing value in a"):
            reader(selection, {"a": ""})


@pytest.fixture
def frame():
    table = messy().drop(columns=["seen", "share"])
    return table.drop(columns="y"), table["y"]


def test_a_selector_is_saved_with_its_frame(reader, tmp_path, frame):
    X, y = frame
    selector = FisherScore(3).set_columns(types={"grade": "ordered:low<mid<high"}).fit(X, y)
    for name in ("model.ks", "model.json"):
        save_model(selector, X, tmp_path / name)
    binary, text = load_model(tmp_path / "model.ks"), load_model(tmp_path / "model.json")
    best_first = X.columns[selector.order_[:3]].tolist()
    assert binary.get_feature_names_out().tolist() == text.get_feature_names_out().tolist() == best_first
    assert binary.feature_names_in_[binary.get_support(indices=True)].tolist() == sorted(
        best_first, key=X.columns.get_loc
    )
    assert text.get_support().all() and text.n_features_in_ == 3
    complete = X.notna().all(axis=1).to_numpy()
    for model in (binary, text):
        made = model.transform(X)
        assert made.shape == (len(X), 3)
        assert_array_equal(made[complete], X.loc[complete, best_first].astype(object))
    encoded = [load_model(tmp_path / name, encode=True).transform(X) for name in ("model.ks", "model.json")]
    assert_array_equal(*encoded)
    selection = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    # The same formulas as in the library, without sines and cosines.
    assert_array_equal([reader(selection, row) for row in rows], encoded[1])
    assert_allclose(encoded[0].mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_selector_is_saved_with_its_array(tmp_path, wine, form):
    X, y = wine
    selector = ReliefF(4).fit(form(X), y)
    save_model(selector, form(X), tmp_path / "model.json")
    model = load_model(tmp_path / "model.json", encode=True)
    assert model.get_feature_names_out().tolist() == [f"x{j}" for j in selector.order_[:4]]
    best = X[:, selector.order_[:4]]
    # Mean and standard deviation are sums in another order than those of scikit-learn.
    assert_allclose(model.transform(best), StandardScaler().fit_transform(best), rtol=0, atol=1e-12)


def test_other_selectors_are_saved(tmp_path, wine):
    X, y = wine
    save_model(SelectKBest(k=2).fit(X, y), X, tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["method"] == "SelectKBest"


def test_what_cannot_be_saved(tmp_path, frame, wine):
    X, y = frame
    selector = FisherScore(2).fit(X, y)
    with pytest.raises(ValueError, match="feature names should match"):
        save_model(selector, X[X.columns[::-1]], tmp_path / "model.json")
    with pytest.raises(ValueError, match=r"is selected, but not a feature of X\. Pass the samples"):
        save_model(selector, X.assign(**{X.columns[selector.order_[0]]: 1}), tmp_path / "model.json")
    kobl = tmp_path / "kobl.ks"
    kobl.write_bytes(KOBL().fit(wine[0])._map.to_bytes())
    with pytest.raises(ValueError, match="fitted by kobl is not a selection of features"):
        load_model(kobl, encode=True)
    with pytest.raises(ValueError, match="fitted by kobl is not a selection of features"):
        load_model(kobl).get_support()


def altered(text, **fields):
    return json.dumps(json.loads(text) | fields)


def test_json_that_is_refused(tmp_path, wine):
    X, y = wine
    path = tmp_path / "model.json"
    save_model(FisherScore(2).fit(X, y), X, path)
    good = path.read_text(encoding="utf-8")
    one = json.loads(good)["features"][0]
    for text, why in [
        (good[:-4], "its JSON cannot be decoded"),
        (altered(good, version=9), "its format is version 9, this program reads version 1 of JSON"),
        (altered(good, format="other"), "the field 'format' must be 'kernsift selection', got 'other'"),
        ("{}", "its JSON cannot be decoded: missing field `format`"),
        (altered(good, features=[one, one]), "its parts are inconsistent"),
        (altered(good, features=[one | {"encoding": one["encoding"] | {"scale": 0}}]), "inconsistent"),
        (altered(good, features=[one | {"encoding": one["encoding"] | {"fill": None}}]), "inconsistent"),
        (altered(good, features=[one | {"encoding": {"type": "rank"}}]), "unknown variant"),
    ]:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=re.escape(why)):
            load_model(path)


def test_a_model_is_a_step_of_a_pipeline(tmp_path, frame):
    X, y = frame
    selector = AutoSelector(3, random_state=0).fit(X, y)
    save_model(selector, X, tmp_path / "model.json")
    step = load_model(tmp_path / "model.json", encode=True)
    check_is_fitted(step)
    assert step.fit(X) is step and step.get_params() == {"encode": True}
    pipeline = make_pipeline(step, LogisticRegression()).fit(X, y)
    assert 0 <= cross_val_score(pipeline, X, y, cv=3, error_score="raise").mean() <= 1
    expected = pipeline.predict_proba(X)
    for copy in (pickle.loads(pickle.dumps(pipeline)), clone(pipeline).fit(X, y)):
        assert_array_equal(copy.predict_proba(X), expected)
    changed = clone(step).set_params(encode=False)
    assert step.encode and changed.transform(X).shape[1] == 3
    shown = step._repr_mimebundle_()
    assert "kernsift model" in shown["text/html"] and "auto" in shown["text/plain"]


@pytest.mark.parametrize("package", [pandas, polars])
def test_set_output(tmp_path, frame, package):
    X, y = frame
    save_model(FisherScore(3).fit(X, y), X, tmp_path / "model.json")
    name = package.__name__
    given = polars.from_pandas(X) if package is polars else X.set_index(X.index + 7)
    kept = load_model(tmp_path / "model.json").set_output(transform=name).transform(given)
    numbers = load_model(tmp_path / "model.json", encode=True).set_output(transform=name).transform(given)
    assert isinstance(kept, package.DataFrame) and isinstance(numbers, package.DataFrame)
    assert list(kept.columns) == load_model(tmp_path / "model.json").get_feature_names_out().tolist()
    assert numbers.shape[0] == len(X)
    if package is pandas:
        assert kept.index.equals(given.index) and numbers.index.equals(given.index)
        known = given[kept.columns].notna()
        assert (kept.notna() == known).all(axis=None) and ((kept == given[kept.columns]) | ~known).all(
            axis=None
        )


@pytest.fixture
def onnx_predictions():
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    register_onnx_converters()

    def predictions(pipeline, X):
        model = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})
        session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(None, {"X": X})

    return predictions


@pytest.mark.parametrize(
    "selector", [FisherScore(1), ReliefF(4), AutoSelector(random_state=0)], ids=["one", "relief", "auto"]
)
def test_onnx(onnx_predictions, wine, selector):
    X, y = wine[0].astype(np.float32), wine[1]
    # The first column predicts best, and is the only one of the first selector.
    X[:, 0] += 100 * y
    pipeline = make_pipeline(StandardScaler(), selector, LogisticRegression()).fit(X, y)
    labels, probabilities = onnx_predictions(pipeline, X)
    assert_array_equal(labels, pipeline.predict(X))
    # Single precision: seven digits, and differences of numbers near 100 times larger.
    assert_allclose(probabilities, pipeline.predict_proba(X), atol=1e-4)


def test_onnx_of_a_saved_model(onnx_predictions, tmp_path, wine):
    X, y = wine[0].astype(np.float32), wine[1]
    save_model(ReliefF(4).fit(X, y), X, tmp_path / "model.ks")
    step = load_model(tmp_path / "model.ks")
    used = X[:, [int(name[1:]) for name in step.feature_names_in_]]
    pipeline = make_pipeline(step, StandardScaler(), LogisticRegression()).fit(used, y)
    labels, probabilities = onnx_predictions(pipeline, used)
    assert_array_equal(labels, pipeline.predict(used))
    # Single precision.
    assert_allclose(probabilities, pipeline.predict_proba(used), atol=1e-4)
    step.set_params(encode=True)
    with pytest.raises(ValueError, match="that encodes features cannot be converted"):
        onnx_predictions(pipeline, used)


def test_the_example_of_onnx_runs(onnx_predictions, tmp_path, monkeypatch):
    page = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    assert (tmp_path / "wine.onnx").stat().st_size > 0


def test_the_converter_needs_its_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skl2onnx", None)
    with pytest.raises(ImportError, match="needs the package skl2onnx"):
        register_onnx_converters()
