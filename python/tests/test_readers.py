"""kernsift's readers on files that other libraries write."""

import gzip

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from kernsift._native import read_table
from kernsift._native_data import settings

WHOLE = np.array([[1, 2, 3], [4, 5, 6]])


def read(path):
    return read_table(path, settings(0, None, 0))[0]


def as_matrix(table):
    return np.column_stack(list(table.values()))


@pytest.mark.parametrize(
    "dtype", ["f4", "f8", "<f4", ">f8", "i1", "i2", "i4", "i8", ">i4", "u1", "u2", "u4", "u8", "?"]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, dtype, order):
    values = np.array(WHOLE % 2 if dtype == "?" else WHOLE, dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", values)
    table = read(tmp_path / "a.npy")
    assert len(table) == 3
    assert_array_equal(as_matrix(table), values.astype(float))


def test_npy_keeps_every_digit(tmp_path, rng):
    values = rng.normal(size=(40, 7)) * 10.0 ** rng.integers(-300, 300, size=(40, 7))
    values[3, 2] = np.nan
    np.save(tmp_path / "a.npy", values)
    assert_array_equal(as_matrix(read(tmp_path / "a.npy")), values)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(tmp_path, save):
    save(tmp_path / "a.npz", X=WHOLE.astype(float), y=np.array([0, 1]))
    table = read(tmp_path / "a.npz")
    assert_array_equal(as_matrix(table)[:, :3], WHOLE)
    assert_array_equal(list(table.values())[3], [0, 1])


def mixed():
    return pandas.DataFrame(
        {
            "real": [0.1, -2.5e-7, 3e300],
            "small": np.array([1.5, 2.5, -3.5], dtype=np.float32),
            "whole": np.array([1, -2, 3], dtype=np.int32),
            "truth": [True, False, True],
            "text": ["red", "grün", "red"],
            "missing": pandas.array([7, None, 9], dtype="Int64"),
            "holes": ["a", None, "b"],
        }
    )


def check_mixed(table):
    assert_array_equal(table["real"], [0.1, -2.5e-7, 3e300])
    assert_array_equal(table["small"], [1.5, 2.5, -3.5])
    assert_array_equal(table["whole"], [1, -2, 3])
    assert table["truth"] == ["true", "false", "true"]
    assert table["text"] == ["red", "grün", "red"]
    assert_array_equal(table["missing"], [7, np.nan, 9])
    assert table["holes"] == ["a", None, "b"]


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "lz4", None])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_parquet_from_pyarrow(tmp_path, compression, version):
    path = tmp_path / "a.parquet"
    table = pyarrow.Table.from_pandas(mixed())
    pyarrow.parquet.write_table(table, path, compression=compression, data_page_version=version)
    check_mixed(read(path))


def test_parquet_from_pandas(tmp_path):
    mixed().to_parquet(tmp_path / "a.parquet", index=False)
    check_mixed(read(tmp_path / "a.parquet"))


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "lz4", "uncompressed"])
def test_parquet_from_polars(tmp_path, compression):
    frame = polars.from_pandas(mixed()).with_columns(
        kind=polars.Series(["u", "v", "u"], dtype=polars.Categorical)
    )
    frame.write_parquet(tmp_path / "a.parquet", compression=compression)
    table = read(tmp_path / "a.parquet")
    assert table["kind"] == ["u", "v", "u"]
    check_mixed(table)


def test_parquet_of_many_row_groups(tmp_path, rng):
    frame = pandas.DataFrame({"a": rng.normal(size=5000), "b": rng.integers(0, 9, 5000).astype(str)})
    frame["b"] = "k" + frame["b"]
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=700)
    table = read(tmp_path / "a.parquet")
    assert_array_equal(table["a"], frame["a"])
    assert table["b"] == frame["b"].tolist()


def test_csv_from_pandas(tmp_path, rng):
    frame = pandas.DataFrame({"a b": rng.normal(size=50), 'quo"te': ["x,y"] * 49 + ["line\nbreak"]})
    frame["missing"] = np.where(np.arange(50) % 7 == 0, np.nan, rng.normal(size=50))
    for name in ("a.csv", "a.csv.gz", "a.tsv"):
        frame.to_csv(tmp_path / name, index=False, sep="\t" if name == "a.tsv" else ",")
        table = read(tmp_path / name)
        assert_array_equal(table["a b"], frame["a b"])
        assert table['quo"te'] == frame['quo"te'].tolist()
        assert_array_equal(table["missing"], frame["missing"])


def test_csv_from_polars(tmp_path):
    polars.from_pandas(mixed()).write_csv(tmp_path / "a.csv")
    table = read(tmp_path / "a.csv")
    assert_array_equal(table["real"], [0.1, -2.5e-7, 3e300])
    assert_array_equal(table["missing"], [7, np.nan, 9])
    assert table["holes"] == ["a", None, "b"]


def test_svmlight_from_scikit_learn(tmp_path, rng):
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.5)
    X[0, 5] = 1.0
    y = rng.integers(0, 3, 30)
    dump_svmlight_file(sparse.csr_array(X), y, str(tmp_path / "a.svm"), zero_based=False)
    (tmp_path / "b.svm.gz").write_bytes(gzip.compress((tmp_path / "a.svm").read_bytes()))
    for name in ("a.svm", "b.svm.gz"):
        table = read(tmp_path / name)
        # svmlight files have 16 digits.
        np.testing.assert_allclose(as_matrix(table)[:, :6], X, rtol=1e-14)
        assert_array_equal(list(table.values())[-1], y)


def test_unreadable_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        read(tmp_path / "a.csv")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"a\.npy: "):
        read(tmp_path / "a.npy")
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(ValueError, match="not an Excel file"):
        read(tmp_path / "a.xlsx")
    (tmp_path / "a.docx").write_bytes(b"PK")
    with pytest.raises(ValueError, match="cannot read files with this extension"):
        read(tmp_path / "a.docx")
