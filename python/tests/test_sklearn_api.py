"""The estimators in scikit-learn: pickles, pipelines, data frames, threads, seeds."""

import copy
import pickle

import numpy as np
import pandas
import polars
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kernsift import (
    BAHSIC,
    FFS,
    FOHSIC,
    HSFS,
    KOBL,
    LDFS,
    PFS,
    RBF,
    TAKES,
    ChiSquared,
    FisherScore,
    HSICLasso,
    InformationGain,
    KernelDesign,
    KernelDiscriminant,
    KernelGramSchmidt,
    KernelPCA,
    KernelSpaceSelector,
    LaplacianScore,
    Linear,
    MutualInformation,
    NCASelector,
    ReliefF,
    gram,
)

ESTIMATORS = [
    KOBL(),
    KOBL(pivoting="random", random_state=1),
    KernelGramSchmidt(n_components=30),
    KernelPCA(n_components=5),
    KernelDiscriminant(),
    FisherScore(n_features_to_select=4),
    FFS(n_features_to_select=4),
    FFS(weak_learner="klms", random_state=1),
    ReliefF(n_features_to_select=4),
    InformationGain(n_features_to_select=4),
    MutualInformation(n_features_to_select=4),
    ChiSquared(n_features_to_select=4),
    LaplacianScore(n_features_to_select=4),
    HSFS(n_features_to_select=4, random_state=1),
    LDFS(n_features_to_select=4),
    PFS(n_features_to_select=4),
    FOHSIC(n_features_to_select=4),
    NCASelector(n_features_to_select=4),
    BAHSIC(n_features_to_select=4),
    HSICLasso(n_features_to_select=4),
    KernelDesign(gamma1=1e-3, gamma2=1e-4, random_state=1),
    TAKES(random_state=1),
    KernelSpaceSelector(selector="relief"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_pickles_and_copies(estimator, wine):
    X, y = wine
    fitted = clone(estimator).fit(X, y)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert_array_equal(again.transform(X), fitted.transform(X))
        assert again.get_params() == fitted.get_params()


def test_a_damaged_pickle_raises(wine):
    X, _ = wine
    data = bytearray(KOBL().fit(X)._map.to_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(ValueError, match="not a usable kernsift model: its checksum is wrong"):
        type(KOBL().fit(X)._map).from_bytes(bytes(data))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_any_number_of_threads_gives_the_same_bits(estimator, rng):
    # Enough samples for several tasks; HSFS has several at 300, and its cost is quadratic.
    n = 5000 if isinstance(estimator, KOBL | FisherScore) else 300 if isinstance(estimator, HSFS) else 600
    X = rng.normal(size=(n, 8))
    y = np.arange(len(X)) % 3
    one = clone(estimator).set_params(n_jobs=1, random_state=0)
    made = one.fit_transform(X, y)
    for n_jobs in (2, None, -1, -2):
        other = clone(one).set_params(n_jobs=n_jobs)
        assert_array_equal(other.fit_transform(X, y), made)
        assert_array_equal(other.transform(X), one.transform(X))


def test_seeds(wine):
    X, _ = wine

    def pivots(random_state):
        return KOBL(pivoting="random", random_state=random_state).fit(X).pivots_.tolist()

    assert pivots(3) == pivots(3)
    assert pivots(3) != pivots(4)
    assert pivots(np.random.RandomState(3)) == pivots(np.random.RandomState(3))
    # None is numpy's global generator, which advances and can be seeded.
    np.random.seed(3)  # noqa: NPY002
    assert pivots(None) == pivots(np.random.RandomState(3))
    assert pivots(None) != pivots(np.random.RandomState(3))
    generator = np.random.RandomState(3)
    fitted = KOBL(pivoting="random", random_state=generator).fit(X)
    before = generator.get_state()[2]
    fitted.transform(X)
    assert generator.get_state()[2] == before


def test_pipelines_and_grid_searches(wine):
    X, y = wine
    steps = [
        ("scale", StandardScaler()),
        ("select", FisherScore()),
        ("basis", KOBL()),
        ("classify", KNeighborsClassifier()),
    ]
    grid = {
        "select__n_features_to_select": [4, 0.9],
        "basis__kernel": ["rbf", Linear(), 0.5 * RBF(0.1) + Linear()],
    }
    search = GridSearchCV(Pipeline(steps), grid, n_jobs=2, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.95
    names = search.best_estimator_[:-1].get_feature_names_out()
    assert names[0] == "kobl0"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(estimator, library, wine):
    X, y = wine
    names = [f"c{j}" for j in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names) if library == "pandas" else polars.DataFrame(X, schema=names)
    plain = clone(estimator).fit(X, y)
    fitted = clone(estimator).set_output(transform=library).fit(frame, y)
    assert_array_equal(fitted.feature_names_in_, names)
    for made in (fitted.transform(frame), fitted.fit_transform(frame, y)):
        assert type(made) is type(frame)
        assert list(made.columns) == list(fitted.get_feature_names_out())
        assert_allclose(made.to_numpy(), plain.transform(X), atol=1e-8)


def test_feature_names(wine):
    X, y = wine
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(13)])
    selector = FisherScore(2).fit(frame, y)
    assert_array_equal(selector.get_feature_names_out(), frame.columns[selector.support_])
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(frame.rename(columns={"c0": "other"}))
    assert KernelPCA(n_components=2).fit(frame).get_feature_names_out().tolist() == [
        "kernelpca0",
        "kernelpca1",
    ]


def test_memory_layouts_and_types(wine):
    X, _ = wine
    expected = KOBL(gamma=0.05).fit_transform(X)
    assert_array_equal(KOBL(gamma=0.05).fit_transform(np.asfortranarray(X)), expected)
    assert_array_equal(KOBL(gamma=0.05).fit_transform(np.repeat(X, 2, axis=0)[::2]), expected)
    assert_array_equal(KOBL(gamma=0.05).fit_transform(X.tolist()), expected)
    whole = np.round(10 * X).astype(np.int8)
    assert_array_equal(
        KOBL(gamma=0.05).fit_transform(whole), KOBL(gamma=0.05).fit_transform(whole.astype(float))
    )
    made = KOBL(gamma=0.05).fit_transform(X.astype(np.float32))
    assert made.dtype == np.float64
    assert_allclose(made[:, :5], expected[:, :5], atol=1e-4)


def test_training_features_are_not_copied(rng):
    X = rng.normal(size=(1000, 4))
    made = KOBL(n_components=20, threshold=None).fit_transform(X)
    # In the memory layout of the factorization, owned by the native module.
    assert made.flags.f_contiguous and not made.flags.owndata and made.flags.writeable


def test_progress_goes_to_stderr_if_verbose(capsys, wine):
    X, _ = wine
    KOBL(verbose=1).fit(X)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("kernsift: kernel: rbf(gamma=")
    KOBL().fit(X)
    assert capsys.readouterr().err == ""


def test_refitting_resets_attributes(wine):
    X, y = wine
    model = make_pipeline(StandardScaler(), KOBL())
    model.fit(X[:, :5], y)
    model.fit(X, y)
    assert model[-1].n_features_in_ == 13


def test_gram_counts_equal_rows_once(rng):
    X = rng.normal(size=(300, 40))
    assert_array_equal(gram(X, X, gamma=0.1), gram(X, gamma=0.1))
