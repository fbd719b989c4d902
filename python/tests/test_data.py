"""Data sets and saved models."""

import struct
import zlib

import msgpack
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import datasets as sklearn_datasets

from kernsift import KOBL, FisherScore, hsic, list_datasets, load_dataset, load_model, make_synthetic


def test_every_data_set_loads():
    assert len(list_datasets()) >= 15
    for name in list_datasets():
        data = load_dataset(name)
        assert data.data.shape == (len(data.target), len(data.feature_names))
        assert data.data.dtype == np.float64 and np.isfinite(data.data).all()
        assert data.source and data.license and name in data.DESCR
        if data.target_names is not None:
            assert set(data.target) == set(range(len(data.target_names)))
    assert load_dataset("boston").target_names is None


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_sizes_of_known_data_sets(name):
    theirs = getattr(sklearn_datasets, f"load_{name}")()
    ours = load_dataset(name)
    assert_array_equal(ours.data, theirs.data)
    assert_array_equal(ours.target, theirs.target)


def test_synthetic_data_follow_their_formula():
    X, y, relevant = make_synthetic("xor", n_samples=200, n_features=6, random_state=5)
    assert X.shape == (200, 6) and len(relevant) == 2
    u = X[:, relevant]
    assert_array_equal(y, (u[:, 0] * u[:, 1] > 0).astype(int))
    again, _, _ = make_synthetic("xor", n_samples=200, n_features=6, random_state=5)
    assert_array_equal(X, again)
    _, scores, _ = make_synthetic("xor", n_samples=200, n_features=6, continuous=True, random_state=5)
    assert_allclose(scores, u[:, 0] * u[:, 1])


def file_of(model):
    content = msgpack.packb(model)
    return b"kernsift" + struct.pack("<IQI", 5, len(content), zlib.crc32(content)) + content


def selection(columns, missing="error"):
    """A saved selection of all columns, written without kernsift."""
    n_outputs = len(columns)
    return {
        "names": [column["name"] for column in columns],
        "recipe": {"columns": columns, "missing": missing, "target": None, "sparse": False},
        "encoder": None,
        "content": {
            "selection": {
                "method": "fisher",
                "order": list(range(n_outputs)),
                "scores": [1.0] * n_outputs,
                "n_selected": n_outputs,
                "outcome": {"stop": "direct", "iterations": 1},
            }
        },
    }


def number(name):
    plain = {"decimal": ".", "thousands": None, "unit": None}
    return {"name": name, "parsing": {"type": "number", "format": plain, "missing": []}}


def category(name, *levels):
    return {"name": name, "parsing": {"type": "category", "levels": list(levels)}}


@pytest.fixture
def prepared(tmp_path):
    def write(*args, **kwargs):
        path = tmp_path / "model.ks"
        path.write_bytes(file_of(selection(*args, **kwargs)))
        return load_model(path)

    return write


def test_a_basis_from_a_file(tmp_path, wine):
    X, _ = wine
    kobl = KOBL().fit(X)
    path = tmp_path / "basis.ks"
    path.write_bytes(kobl._map.to_bytes())
    model = load_model(path)
    assert model.method == "kobl"
    assert_array_equal(model.transform(X), kobl.transform(X))
    assert_allclose(model.transform(sparse.csr_array(X)), kobl.transform(X), atol=1e-10)
    assert model.feature_names_in_.tolist() == [f"x{j}" for j in range(1, 14)]
    assert model.get_feature_names_out()[:2].tolist() == ["kobl1", "kobl2"]
    mixed = pandas.DataFrame(X, columns=model.feature_names_in_)[model.feature_names_in_[::-1]]
    assert_array_equal(model.transform(mixed), kobl.transform(X))
    table = pyarrow.Table.from_pandas(mixed, preserve_index=False)
    assert_array_equal(model.transform(table), kobl.transform(X))
    with pytest.raises(ValueError, match="columns for the model: expected 13, got 2"):
        model.transform(X[:, :2])


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_frames_are_prepared_by_column_names(prepared, frame):
    model = prepared([number("a"), category("kind", "x", "y")])
    table = frame({"other": [9, 9, 9], "kind": ["y", "x", "y"], "a": [1, 2, 3]})
    assert model.transform(table).tolist() == [[1, "y"], [2, "x"], [3, "y"]]
    assert model.feature_names_in_.tolist() == ["a", "kind"]
    objects = np.array([[1.0, "y"], [2.0, "x"]], dtype=object)
    assert model.transform(objects).tolist() == [[1, "y"], [2, "x"]]
    with pytest.warns(UserWarning, match="column 'kind': 1 values are categories that the training data"):
        assert model.transform(frame({"kind": ["z"], "a": [1.0]})).tolist() == [[1, "z"]]
    with pytest.raises(ValueError, match="no column 'a'"):
        model.transform(frame({"kind": ["x"], "A1": [1.0]}))


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_missing_values(prepared, frame):
    table = frame({"a": [1.0, None, 3.0], "b": [1, 2, 3]})
    columns = [number("a"), number("b")]
    with pytest.raises(
        ValueError, match=r"row 2, column 'a': missing value\. Fill in the value or drop the row"
    ):
        prepared(columns).transform(table)
    with pytest.warns(UserWarning, match="1 rows with missing values were dropped"):
        assert prepared(columns, missing="drop").transform(table).tolist() == [[1, 1], [3, 3]]
    kept = prepared(columns, missing="auto")
    nullable = pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int64"), "b": [1, 2, 3]})
    for given in (table, nullable):
        assert_array_equal(kept.transform(given), [[1, 1], [np.nan, 2], [3, 3]])


def test_a_notebook_shows_a_model(prepared):
    shown = prepared([number("<b>"), number("ages")])._repr_html_()
    assert "<td>fisher</td>" in shown and "ages" in shown and "<b>" not in shown and "&lt;b&gt;" in shown


def test_files_that_are_not_models(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_model(tmp_path / "nothing.ks")
    with pytest.raises(OSError):
        load_model(tmp_path)
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(
        ValueError, match=r"table\.csv: not a usable kernsift model: it does not start with the magic bytes"
    ):
        load_model(path)
    path.write_bytes(file_of(selection([number("a")]))[:-1])
    with pytest.raises(ValueError, match="it is truncated"):
        load_model(path)


def unaligned(values):
    """The same numbers in a view that begins at an odd byte."""
    buffer = bytearray(1 + values.nbytes)
    buffer[1:] = values.tobytes()
    view = np.frombuffer(buffer, dtype=values.dtype, offset=1).reshape(values.shape)
    assert not view.flags.aligned
    return view


def test_arrays_that_are_not_aligned_give_the_same():
    X = np.random.default_rng(0).normal(size=(60, 4))
    y, weights = X[:, 1] + 0.1 * X[:, 2], np.arange(60.0) + 1
    expected = KOBL(n_components=3).fit(X).pivots_
    assert_array_equal(KOBL(n_components=3).fit(unaligned(X)).pivots_, expected)
    expected = FisherScore().fit(X, y, sample_weight=weights).scores_
    found = FisherScore().fit(unaligned(X), unaligned(y), sample_weight=unaligned(weights)).scores_
    assert_array_equal(found, expected)
    rows = sparse.csr_matrix(X)
    rows.data = unaligned(rows.data)
    aligned = FisherScore().fit(sparse.csr_matrix(X), y).scores_
    assert_array_equal(FisherScore().fit(rows, y).scores_, aligned)
    assert hsic(unaligned(X[:, :1]), unaligned(y)) == hsic(X[:, :1], y)
