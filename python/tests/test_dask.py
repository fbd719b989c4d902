"""Fits on Dask collections: no bit depends on chunks, schedulers, workers, or lost workers."""

import json
import os
import pickle
import signal
import subprocess
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import MetaEstimatorMixin
from sklearn.tree import DecisionTreeClassifier

import kernsift
from kernsift import _native

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from kernsift import dask as on_dask  # noqa: E402

PROGRAM = Path(__file__).parents[2] / "target/debug/kernsift"
N = 40_000


def make_table(n=N, d=6, seed=0):
    """Features 0 and 1 decide the class by their signs, feature 2 alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 1, 1, 100, 0.01, 1][:d] + 3
    y = np.sign(X[:, 0] - 3) * np.sign(X[:, 1] - 3) + 1.5 * (X[:, 2] - 3) + rng.normal(size=n) > 0
    return X, y.astype(int)


X, Y = make_table()
NUMBERS = X[:, 2] ** 2 + 0.1 * X[:, 5]


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GiB", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def estimators():
    return [
        on_dask.FisherScore(random_state=0),
        on_dask.InformationGain(random_state=0),
        on_dask.ChiSquared(statistic="bins", random_state=0),
        on_dask.HSICLasso(2, block_size=20, permutations=1, random_state=0),
        on_dask.InteractionScreen(n_functions=2, random_state=0),
        on_dask.KOBL(n_components=20, pivoting="random", random_state=0),
    ]


def answers(fitted):
    """The fitted numbers of an estimator."""
    names = ["scores_", "order_", "support_", "pairs_", "beyond_", "pivots_", "residual_norms_"]
    found = {name: np.asarray(getattr(fitted, name)) for name in names if hasattr(fitted, name)}
    if hasattr(fitted, "_map"):
        found["map"] = fitted._map.transform(X[:50].copy(), fitted._settings())
    return found


def assert_equal_bits(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name


@pytest.mark.parametrize("estimator", estimators(), ids=lambda e: type(e).__name__)
def test_bits_do_not_depend_on_chunks_and_workers(cluster, estimator):
    odd = da.from_array(X, chunks=(7001, 4)), da.from_array(Y, chunks=11_000)
    on_cluster = answers(estimator.fit(*odd))
    import dask

    with dask.config.set(scheduler="synchronous"):
        whole = da.from_array(X, chunks=X.shape), da.from_array(Y, chunks=Y.shape)
        assert_equal_bits(on_cluster, answers(estimator.fit(*whole)))
    # An ordinary estimator of the package, which pickles without Dask.
    local = pickle.loads(pickle.dumps(estimator.to_local()))
    assert type(local) is getattr(kernsift, type(estimator).__name__)
    assert_equal_bits(on_cluster, answers(local))
    if hasattr(local, "get_support") and local.support_.any():
        assert local.transform(X[:5]).shape == (5, local.support_.sum())


def test_selections_are_those_in_memory(cluster):
    blocks = da.from_array(X, chunks=(9000, 6))
    for name in ["FisherScore", "InformationGain", "ChiSquared"]:
        extra = {"statistic": "bins"} if name == "ChiSquared" else {}
        local = getattr(kernsift, name)(**extra).fit(X, Y)
        fitted = getattr(on_dask, name)(**extra).fit(blocks, da.from_array(Y, chunks=9000))
        assert fitted.support_.tolist() == local.support_.tolist()
        # Fisher: sums in another order. The others: cuts at sampled values.
        tolerance = 1e-9 if name == "FisherScore" else 0.02
        assert np.abs(fitted.scores_ - local.scores_).max() < tolerance * local.scores_.max()
    local = kernsift.FisherScore().fit(X, NUMBERS)
    fitted = on_dask.FisherScore().fit(blocks, da.from_array(NUMBERS, chunks=9000))
    assert fitted.target_type_ == "number"
    np.testing.assert_allclose(fitted.scores_, local.scores_, rtol=1e-8)
    screen = on_dask.InteractionScreen().fit(blocks, da.from_array(Y, chunks=9000))
    assert sorted(screen.pairs_[0]) == [0, 1]
    assert screen.main_effects_.tolist() == [2]


def test_data_frames_with_text_labels(cluster):
    import pandas as pd

    columns = [f"c{j}" for j in range(6)]
    frame = pd.DataFrame(X, columns=columns).assign(label=np.where(Y == 1, "yes", "no"))
    table = dd.from_pandas(frame, npartitions=5)
    fitted = on_dask.FisherScore(n_features_to_select=1).fit(table[columns], table["label"])
    assert fitted.get_feature_names_out().tolist() == ["c2"]
    assert fitted.classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="Column 'label' of X holds"):
        on_dask.FisherScore().fit(table, table["label"])


def test_parquet_files_of_which_columns_are_read(cluster, tmp_path):
    import pandas as pd

    names = [f"x{j}" for j in range(6)]
    pd.DataFrame(X, columns=names).assign(y=Y).to_parquet(tmp_path / "a.parquet", row_group_size=2000)
    # Dask joins the parts of single columns.
    table = dd.read_parquet(tmp_path / "a.parquet", split_row_groups=True)
    data = table[names], table["y"]
    expected = on_dask.FisherScore().fit(da.from_array(X, chunks=(9000, 6)), da.from_array(Y, chunks=9000))
    assert_equal_bits(answers(expected), answers(on_dask.FisherScore().fit(*data)))
    rows = np.sort(np.random.default_rng(0).choice(N, 500, replace=False))
    drawn = [on_dask._taken(*on_dask._parts(part, "X"), rows) for part in data]
    np.testing.assert_array_equal(drawn[0], X[rows])
    np.testing.assert_array_equal(drawn[1], Y[rows])


class Dies:
    """Kills its worker the first time that it computes a chunk."""

    def __init__(self, flag):
        self.flag = flag

    def __call__(self, block):
        try:
            os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return block
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_changes_no_bit(cluster, tmp_path):
    y = da.from_array(Y, chunks=8000)
    # Each in a round of its own: the first reads the classes.
    for estimator in [
        on_dask.FisherScore(),
        on_dask.KOBL(n_components=20, pivoting="random", random_state=0),
    ]:
        expected = answers(estimator.fit(da.from_array(X, chunks=(8000, 6)), y))
        flag = str(tmp_path / type(estimator).__name__)
        x = da.from_array(X, chunks=(8000, 6)).map_blocks(Dies(flag), dtype=float, meta=np.empty((0, 0)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert_equal_bits(expected, answers(estimator.fit(x, y)))
        assert os.path.exists(flag)


@pytest.mark.skipif(not PROGRAM.exists(), reason="the command line is not built")
def test_bits_are_those_of_the_command_line_in_passes(cluster, tmp_path):
    import pandas as pd

    path = tmp_path / "table.parquet"
    names = [f"x{j}" for j in range(6)]
    rows, y = make_table(120_000)
    pd.DataFrame(rows, columns=names).assign(y=y).to_parquet(path, row_group_size=9999)
    # The table takes about 20 MB in memory.
    command = [PROGRAM, "select", path, "-m", "fisher", "--json", "--memory-limit", "16M", "--threads", "1"]
    answer = subprocess.run(command, capture_output=True, check=True, text=True)
    record = json.loads(answer.stdout)
    assert record["in_passes"] is True
    fitted = on_dask.FisherScore().fit(da.from_array(rows, chunks=(5000, 6)), da.from_array(y, chunks=5000))
    assert [record["scores"][name] for name in names] == fitted.scores_.tolist()


def test_what_is_unsupported_is_said(cluster):
    blocks, y = da.from_array(X, chunks=(9000, 6)), da.from_array(Y, chunks=9000)
    with pytest.raises(TypeError, match=r"X must be a dask array, data frame or series, got ndarray"):
        on_dask.FisherScore().fit(X, Y)
    with pytest.raises(ValueError, match="'pivoting' must be random"):
        on_dask.KOBL().fit(blocks)
    with pytest.raises(ValueError, match="requires y to be passed"):
        on_dask.FisherScore().fit(blocks)
    with pytest.raises(ValueError, match="row 3, column 'x0': NaN"):
        on_dask.FisherScore().fit(da.where(blocks == X[2, 0], np.nan, blocks), y)
    with pytest.raises(ValueError, match="one value for each"):
        on_dask.FisherScore().fit(blocks, y[:-1])
    failed = on_dask.FisherScore()
    with pytest.raises(ValueError, match="row 3, column 'x0': NaN"):
        failed.fit(da.where(blocks == X[2, 0], np.nan, blocks), y)
    assert not hasattr(failed, "classes_")
    with pytest.raises(ValueError, match="not the bytes of a round"):
        _native.add_sums(b"x", [])


def test_samples_are_those_of_the_rows(cluster):
    # All rows: the fit in memory.
    rows = slice(0, 3000)
    local = kernsift.NCASelector(2, random_state=0).fit(X[rows], Y[rows])
    odd = da.from_array(X[rows], chunks=(701, 4)), da.from_array(Y[rows], chunks=1100)
    fitted = on_dask.NCASelector(2, random_state=0).fit(*odd)
    assert_equal_bits(answers(local), answers(fitted))
    assert fitted.n_samples_drawn_ == 3000
    assert_equal_bits(answers(local), answers(pickle.loads(pickle.dumps(fitted.to_local()))))
    # A sample does not depend on chunks.
    whole = da.from_array(X, chunks=X.shape), da.from_array(Y, chunks=Y.shape)
    odd = da.from_array(X, chunks=(7001, 4)), da.from_array(Y, chunks=11_000)
    found = [on_dask.NCASelector(2, random_state=0).fit(*data, max_samples=500) for data in (whole, odd)]
    assert found[0].n_samples_drawn_ == 500
    assert_equal_bits(*map(answers, found))
    other = on_dask.NCASelector(2, random_state=1).fit(*odd, max_samples=500)
    assert answers(other)["scores_"].tolist() != answers(found[0])["scores_"].tolist()
    with pytest.raises(ValueError, match="max_samples must be an integer, at least 2"):
        on_dask.NCASelector().fit(*odd, max_samples=1)
    with pytest.raises(ValueError, match="y must have one value for each of the 40000"):
        on_dask.NCASelector().fit(odd[0], odd[1][:-1])
    with pytest.raises(TypeError, match="y must be a dask array"):
        on_dask.NCASelector().fit(odd[0], Y)
    with pytest.raises(ValueError, match="X must have two dimensions, got 1"):
        on_dask.NCASelector().fit(odd[1], odd[1])
    # All rows, lazily.
    selector = on_dask.NCASelector(2, random_state=0)
    mapped = selector.fit_transform(*odd, max_samples=500)
    np.testing.assert_array_equal(mapped.compute(), X[:, selector.support_])
    mapped = on_dask.TAKES(n_features_to_select=3, random_state=0).fit_transform(*odd, max_samples=500)
    assert mapped.shape == (N, 3) and mapped[:7].compute().shape == (7, 3)


def test_samples_of_mixed_data_frames(cluster):
    import pandas as pd

    frame = pd.DataFrame(X[:2000, :3], columns=["a", "b", "c"])
    frame["kind"] = pd.Categorical(np.where(Y[:2000] == 1, "up", "down"))
    frame.loc[::50, "a"] = np.nan
    label = pd.Series(np.where(Y[:2000] == 1, "yes", "no"), name="label")
    table = dd.from_pandas(frame.assign(label=label), npartitions=3)
    columns = list(frame.columns)
    for name in ["AutoSelector", "ReliefF"]:
        local = getattr(kernsift, name)(random_state=0).fit(frame, label)
        fitted = getattr(on_dask, name)(random_state=0).fit(table[columns], table["label"])
        assert fitted.get_feature_names_out().tolist() == local.get_feature_names_out().tolist()
        assert "kind" in fitted.get_feature_names_out()
    # Categories of which no part has all.
    kinds = [pd.DataFrame({"kind": pd.Categorical(codes)}) for codes in ([1, 2], [2, 3])]
    parts = [on_dask.delayed(part) for part in kinds]
    drawn = on_dask._taken(parts, np.array([2, 2]), np.arange(1, 4))
    assert drawn["kind"].dtype == "category" and drawn["kind"].tolist() == [2, 2, 3]


def test_every_class_fits(cluster):
    blocks, y = da.from_array(X[:400], chunks=(150, 6)), da.from_array(Y[:400], chunks=150)
    sampled = [getattr(on_dask, name) for name in on_dask.__all__]
    sampled = [each for each in sampled if issubclass(each, on_dask.SampledFit)]
    sampled.remove(on_dask.SampledFit)
    assert len(sampled) == 18
    for each in sampled:
        assert each.__doc__.startswith(f":class:`kernsift.{each.__name__}` fitted to a random sample")
        inner = {"estimator": kernsift.FisherScore()} if issubclass(each, MetaEstimatorMixin) else {}
        estimator = each(**inner).fit(blocks, y)
        assert estimator.n_samples_drawn_ == 400
        assert type(estimator.to_local()) is getattr(kernsift, each.__name__)


def test_independent_fits_run_on_the_cluster(cluster):
    rows, y = X[:300], Y[:300]

    def answers_of_all():
        stable = kernsift.StabilitySelector(kernsift.FisherScore(2), n_pairs=3, random_state=0, n_jobs=2)
        knockoffs = kernsift.KnockoffSelector(kernsift.FisherScore(), n_copies=2, random_state=0, n_jobs=2)
        tree = DecisionTreeClassifier(random_state=0)
        compared = kernsift.compare(rows, y, ["fisher"], [1, 2], evaluator=tree, random_state=0, n_jobs=2)
        fits = stable.fit(rows, y).frequencies_.tolist(), knockoffs.fit(rows, y).support_.tolist()
        return *fits, str(compared)

    expected = answers_of_all()
    with joblib.parallel_config("dask"):
        assert answers_of_all() == expected


def test_maps_of_dask_arrays(cluster):
    blocks = da.from_array(X[:5000], chunks=(1500, 3))
    basis = on_dask.KOBL(n_components=5, pivoting="random", random_state=0)
    mapped = basis.fit_transform(blocks)
    assert mapped.shape == (5000, 5)
    np.testing.assert_array_equal(mapped.compute(), basis.transform(X[:5000]))
