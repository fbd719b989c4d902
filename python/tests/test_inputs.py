"""Input and output types of every estimator."""

import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from common import ESTIMATORS, quick
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.multiclass import check_classification_targets

from kernsift import FisherScore, KernelDesign, gram, hsic
from kernsift._selector import FeatureSelectorMixin

NAMES = ["height", "weight", "age", "count", "flag"]


def rows():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = np.abs(rng.normal(size=(40, 5))) + 1.5 * np.outer(y, [1, 0, 1, 0, 0])
    X[:, 3] = np.round(3 * X[:, 3])
    X[:, 4] = X[:, 4] > 0.7
    return X, y


def frame():
    """Columns of several types."""
    made = pandas.DataFrame(rows()[0], columns=NAMES)
    return made.astype({"age": "float32", "count": "int32", "flag": bool})


def nullable():
    return frame().astype({"height": "Float64", "count": "Int64", "flag": "boolean"})


FORMS = {
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "columns backwards": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
    "object": lambda X: X.astype(object),
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "coo_array": sparse.coo_array,
    "pandas": lambda X: pandas.DataFrame(X, columns=NAMES),
    "pandas of pyarrow": lambda X: pandas.DataFrame(X, columns=NAMES).astype("float64[pyarrow]"),
    "pandas nullable": lambda X: pandas.DataFrame(X, columns=NAMES).astype("Float64"),
    "polars": lambda X: polars.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pyarrow.table(dict(zip(NAMES, X.T, strict=True))),
}
#: Numeric types, for which the samples are converted.
KINDS = {
    "int8": lambda X: np.round(9 * X).astype(np.int8),
    "bool": lambda X: X > 0.9,
    "float16": lambda X: X.astype(np.float16),
    "float32": lambda X: X.astype(np.float32),
    "mixed pandas": lambda X: frame(),
    "nullable without missing values": lambda X: nullable(),
    "mixed polars": lambda X: polars.from_pandas(frame()),
    "mixed pyarrow": lambda X: pyarrow.Table.from_pandas(frame(), preserve_index=False),
}


def answer(estimator, X):
    """The output of an estimator as an array."""
    made = estimator.transform(X) if isinstance(estimator, TransformerMixin) else estimator.predict(X)
    return made.toarray() if sparse.issparse(made) else np.asarray(made)


def quiet_fit(name, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quick(name).fit(X, y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_container_gives_the_same_result(name):
    X, y = rows()
    # Some methods do not center sparse features, so that their results may differ.
    expected = {False: quiet_fit(name, X, y), True: quiet_fit(name, sparse.csr_array(X), y)}
    for form, make in FORMS.items():
        given = make(X)
        fitted = quiet_fit(name, given, y)
        like = expected[sparse.issparse(given)]
        assert_allclose(
            answer(fitted, given).astype(float), answer(like, X).astype(float), atol=1e-12, err_msg=form
        )
        named = form.startswith("p")
        assert hasattr(fitted, "feature_names_in_") == named, form
        if named:
            assert_array_equal(fitted.feature_names_in_, NAMES)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_numeric_type_gives_the_result_of_float64(name):
    X, y = rows()
    for kind, make in KINDS.items():
        given = make(X)
        plain = np.asarray(given.to_pandas() if hasattr(given, "to_pandas") else given, dtype=np.float64)
        expected = answer(quiet_fit(name, plain, y), plain)
        assert_allclose(
            answer(quiet_fit(name, given, y), given).astype(float), expected, atol=1e-12, err_msg=kind
        )


@pytest.mark.parametrize("name", ESTIMATORS)
def test_class_labels_may_be_strings_booleans_or_integers(name):
    X, y = rows()

    def coded(given):
        """The output; for predicted classes, whether they equal that of the second sample."""
        made = answer(quiet_fit(name, X, given), X)
        return made if issubclass(ESTIMATORS[name], TransformerMixin) else made == given[1]

    words = np.where(y, "yes", "no")
    for given in (y.astype(bool), y.astype(float), words, words.astype(object)):
        assert_array_equal(coded(given), coded(y), err_msg=str(given.dtype))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_output_types(name):
    """Selectors keep the dtype; computed values are float64."""
    X, y = rows()
    for kind in (np.float32, np.float64, np.int16, bool):
        given = X.astype(kind)
        fitted = quiet_fit(name, given, y)
        if isinstance(fitted, FeatureSelectorMixin):
            assert fitted.transform(given).dtype == kind
            assert fitted.transform(sparse.csr_array(given)).dtype == kind
            assert_array_equal(fitted.transform(given), given[:, fitted.support_])
        elif isinstance(fitted, TransformerMixin):
            assert fitted.transform(given).dtype == np.float64
            assert fitted.transform(sparse.csr_array(given)).dtype == np.float64


@pytest.mark.parametrize("name", [n for n, c in ESTIMATORS.items() if issubclass(c, FeatureSelectorMixin)])
def test_columns_of_frames_keep_their_dtypes(name):
    y = rows()[1]
    for library, given in (
        ("pandas", frame()),
        ("pandas", nullable()),
        ("polars", polars.from_pandas(frame())),
    ):
        fitted = quiet_fit(name, given, y).set_output(transform=library)
        made = fitted.transform(given)
        kept = [column for column, keep in zip(NAMES, fitted.support_, strict=True) if keep]
        assert list(made.columns) == kept
        assert [made[column].dtype for column in kept] == [given[column].dtype for column in kept]
        # polars has another result for no columns.
        assert made.equals(given[kept]) or not kept


def test_frames_are_validated_before_selection():
    y = rows()[1]
    given = polars.from_pandas(frame())
    fitted = FisherScore(2).fit(given, y).set_output(transform="polars")
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(given.rename({"age": "years"}))


def with_a_column(kind):
    """Samples with a column that is not numeric, and the expected message."""
    given = pandas.DataFrame(rows()[0], columns=NAMES).assign(age=["red", "blue"] * 20)
    if kind == "text":
        return given, "column 'age' of X has 'red'"
    return given.to_numpy(), "could not convert string to float: 'red'"


def test_arrays_that_are_not_numeric_are_refused():
    given, message = with_a_column("array")
    for name in ESTIMATORS:
        with pytest.raises(ValueError, match="OneHotEncoder or OrdinalEncoder") as caught:
            quick(name).fit(given, rows()[1])
        assert message in str(caught.value), name


def test_functions_name_columns_that_are_not_numeric():
    given, message = with_a_column("text")
    y = rows()[1]
    for act in (lambda: gram(given), lambda: hsic(given, y)):
        with pytest.raises(ValueError, match=message):
            act()


def test_a_target_that_is_not_numeric_is_not_called_a_column():
    X, _ = rows()
    for given in (X, sparse.csr_array(X), frame()):
        with pytest.raises(ValueError) as caught:
            FisherScore(target_type="number").fit(given, np.array(["a", "b"] * 20, dtype=object))
        assert "y has 'a' in sample 0, which is not a number" in str(caught.value)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_missing_values_raise_or_are_supported(name):
    y = rows()[1]
    given = nullable()
    given.loc[3, "height"] = pandas.NA
    estimator = quick(name)
    if estimator.__sklearn_tags__().input_tags.allow_nan:
        fitted = estimator.fit(given, y)
        # Without this parameter there may be any number.
        assert fitted.support_.sum() == 2 or not hasattr(estimator, "n_features_to_select")
        return
    with pytest.raises(ValueError, match="Input X contains NaN"):
        estimator.fit(given.to_numpy(dtype=float, na_value=np.nan), y)
    if name == "KnockoffSelector":
        # Copies need complete numbers.
        return
    # In a frame they are imputed and indicated, which gives a feature a second column.
    for frame in (given, polars.from_pandas(given), pyarrow.Table.from_pandas(given, preserve_index=False)):
        assert len(answer(quiet_fit(name, frame, y), frame)) == 40


def faulty():
    """Arrays with one fault each, which must be validated."""
    X, y = rows()
    for value in (np.nan, np.inf, -np.inf):
        yield np.where(np.arange(200).reshape(40, 5) == 7, value, X), y
    # Their sum is not finite either.
    yield np.where(np.arange(200).reshape(40, 5) < 2, [[np.inf, -np.inf, 0, 0, 0]] * 40, X), y
    yield X[:1], y[:1]
    yield X[:, :0], y
    yield X[0], y
    yield X, y[1:]
    yield X, np.column_stack([y, y])
    yield X, y + 0.5
    yield X, np.where(np.arange(40) == 3, np.nan, y)
    yield X, np.where(np.arange(40) == 3, np.inf, y)
    yield X, "no"
    yield X, None


@pytest.mark.parametrize("name", ESTIMATORS)
def test_faults_of_arrays_raise_as_those_of_lists(name):
    def message_of(X, y):
        with warnings.catch_warnings():
            # A column vector instead of a flat array.
            warnings.simplefilter("ignore")
            try:
                return quick(name).fit(X, y)
            except (ValueError, TypeError) as error:
                return str(error)

    for X, y in faulty():
        plain = message_of(X, y)
        listed = message_of(X.tolist(), y.tolist() if isinstance(y, np.ndarray) else y)
        if isinstance(plain, str) or isinstance(listed, str):
            assert plain == listed


def test_finite_numbers_with_infinite_sum_are_accepted():
    X, y = rows()
    X[0, 0] = X[1, 0] = 1e308
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FisherScore().fit(X, y).support_.sum() == 1


def test_arrays_are_checked_against_the_fit():
    X, y = rows()
    estimator = FisherScore(2).fit(frame(), y)
    assert list(estimator.feature_names_in_) == NAMES
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        estimator.transform(X)
    estimator.fit(X, y)
    assert not hasattr(estimator, "feature_names_in_") and estimator.n_features_in_ == 5
    with pytest.raises(ValueError, match="X has 4 features, but FisherScore is expecting 5"):
        estimator.transform(X[:, :4])


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64])
@pytest.mark.parametrize("classes", [20, 21, 26])
def test_many_classes_warn_as_in_scikit_learn(kind, classes):
    def warned(act):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            act()
        return [str(warning.message) for warning in caught]

    X, _ = rows()
    y = np.minimum(np.arange(40), classes - 1).astype(kind)
    expected = warned(lambda: check_classification_targets(y))
    assert warned(lambda: FisherScore(2, target_type="class").fit(X, y)) == expected


def test_a_design_without_features_returns_no_columns():
    given = polars.from_pandas(frame())
    y = rows()[1]
    with pytest.warns(UserWarning, match="use smaller penalties"):
        design = KernelDesign(gamma1=1e9, gamma2=1.0, n_triplets=60, random_state=0).fit(given, y)
    made = design.set_output(transform="polars").transform(given)
    assert made.shape == (40, 0) or made.shape == (0, 0)
