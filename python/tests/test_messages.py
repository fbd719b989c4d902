"""Error messages."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernsift import (
    HSFS,
    KOBL,
    LDFS,
    PFS,
    RBF,
    SVC,
    SVMRFE,
    BreakdownError,
    FisherScore,
    HSICLasso,
    KernelDiscriminant,
    KernelGramSchmidt,
    KernelPCA,
    WhiteNoise,
    XingMetric,
    _native,
    gamma_for_n_components,
    load_dataset,
    make_synthetic,
    triplets_from_labels,
)

X = np.random.default_rng(0).normal(size=(30, 3))
y = np.arange(30) % 3


def with_cell(value):
    x = X.copy()
    x[4, 1] = value
    return x


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: KOBL().fit(with_cell(np.nan)), "Input X contains NaN.\nKOBL does not accept missing values"),
        (lambda: KOBL().fit(with_cell(np.inf)), "Input X contains infinity or a value too large"),
        (
            lambda: KOBL().fit(X[:1]),
            "Found array with 1 sample(s) (shape=(1, 3)) while a minimum of 2 is required by KOBL.",
        ),
        (
            lambda: KernelPCA(gamma=1.0).fit(X[:1]),
            "Found array with 1 sample(s) (shape=(1, 3)) while a minimum of 2 is required by KernelPCA.",
        ),
        (
            lambda: KOBL(n_components=31).fit(X),
            "KOBL: parameter 'n_components' must be from 1 to the number of rows, 30, got 31",
        ),
        (
            lambda: KernelGramSchmidt(n_components=31).fit(X),
            "KGS: parameter 'n_components' must be from 1 to the number of rows, 30, got 31",
        ),
        (
            lambda: KernelDiscriminant(n_components=3).fit(X, y),
            "KDA: parameter 'n_components' must be from 1 to one fewer than the 3 classes, got 3",
        ),
        (
            lambda: KernelDiscriminant().fit(X, ["a"] * 30),
            "KDA: all rows have the class 'a'; at least two classes are required",
        ),
        (
            lambda: FisherScore().fit(X, [7] * 30),
            "Fisher score: all rows have the class '7'; at least two classes are required",
        ),
        (lambda: FisherScore(target_type="class").fit(X, X[:, 0]), "Unknown label type: continuous"),
        (lambda: KernelDiscriminant().fit(X), "requires y to be passed, but the target y is None"),
        (
            lambda: FisherScore(9).fit(X, y),
            "The 'n_features_to_select' parameter of FisherScore must be at most the number of features, 3. "
            "Got 9 instead.",
        ),
        (
            lambda: FisherScore(1.5).fit(X, y),
            "The 'n_features_to_select' parameter of FisherScore must be an int in the range [1, inf), "
            "a float in the range (0.0, 1.0] or None. Got 1.5 instead.",
        ),
        (
            lambda: KOBL(gamma="auto").fit(X),
            " or a float in the range (0.0, inf). Got 'auto' instead.",
        ),
        (lambda: KOBL(gamma=-1).fit(X), "The 'gamma' parameter of KOBL must be"),
        (lambda: KOBL(gamma=np.inf).fit(X), "The 'gamma' parameter of KOBL must be"),
        (lambda: KOBL(gamma=np.nan).fit(X), "The 'gamma' parameter of KOBL must be"),
        (lambda: KOBL(kernel="gauss").fit(X), "The 'kernel' parameter of KOBL must be a str among"),
        (lambda: KOBL(pivoting="in-order").fit(X), "The 'pivoting' parameter of KOBL must be a str among"),
        (lambda: KOBL(first_pivot="last").fit(X), "The 'first_pivot' parameter of KOBL must be a str among"),
        (lambda: KOBL(threshold="steep").fit(X), "The 'threshold' parameter of KOBL must be"),
        (lambda: KOBL(threshold=0).fit(X), "The 'threshold' parameter of KOBL must be"),
        (
            lambda: KOBL(tol=1.0).fit(X),
            "The 'tol' parameter of KOBL must be a float in the range [0.0, 1.0).",
        ),
        (lambda: KOBL(n_jobs=0).fit(X), "The 'n_jobs' parameter of KOBL must be"),
        (
            lambda: KernelDiscriminant(ridge=0).fit(X, y),
            "The 'ridge' parameter of KernelDiscriminant must be",
        ),
        (
            lambda: KernelDiscriminant(criterion="lda").fit(X, y),
            "The 'criterion' parameter of KernelDiscriminant must be a str among {",
        ),
        (
            lambda: KernelPCA(center="yes").fit(X),
            "The 'center' parameter of KernelPCA must be an instance of",
        ),
        (
            lambda: KOBL().fit(X).transform(X[:, :2]),
            "X has 2 features, but KOBL is expecting 3 features as input.",
        ),
        (
            lambda: gamma_for_n_components(X, 31),
            "gamma_for_n_components: parameter 'n_components' must be from 1 to the number of rows, 30, "
            "got 31",
        ),
        (lambda: load_dataset("wime"), "no built-in data set 'wime'; did you mean 'wine'?"),
        (lambda: make_synthetic("xnor"), "no pattern 'xnor'; did you mean 'xor'?"),
        (lambda: make_synthetic("xor", n_features=1), "'columns' must be at least 2 for this pattern, got 1"),
    ],
)
def test_bad_input_is_a_value_error(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


@pytest.mark.parametrize(
    "act, message",
    [
        (
            lambda: KOBL().fit(np.ones((5, 2))),
            "gamma: all rows are equal, so gamma cannot be estimated; give gamma as a number",
        ),
        (
            lambda: KernelPCA(gamma=1.0).fit(np.ones((5, 2))),
            "KPCA: all rows are equal in kernel space, so there are no components",
        ),
        (
            lambda: KernelDiscriminant(gamma=1.0).fit(np.ones((6, 2)), [0, 1] * 3),
            "the class means are equal in kernel space; change gamma, or check the target",
        ),
        (lambda: KOBL(kernel=RBF(1.0) + -0.9 * RBF(0.01)).fit(X), "not positive semidefinite"),
    ],
)
def test_breakdowns(act, message):
    with pytest.raises(BreakdownError, match=re.escape(message)) as caught:
        act()
    assert isinstance(caught.value, RuntimeError)
    assert type(caught.value).__module__ == "kernsift"


def test_degenerate_but_valid_input():
    # A constant kernel has one dimension, and a single sample spans its basis.
    assert KOBL(gamma=1.0).fit(np.ones((5, 2))).n_components_ == 1
    one = KOBL(gamma=1.0).fit(X[:1])
    assert one.n_components_ == 1 and one.reconstruction_cost_ == 0
    assert KOBL(kernel=WhiteNoise(), threshold=None).fit(X).n_components_ == 30


def test_too_much_memory_raises_before_the_work_starts():
    rows = np.zeros((2_000_000, 1))
    rows[0] = 1
    with pytest.raises(MemoryError, match=r"KPCA of 2000000 rows needs about 174\.6 TiB of memory"):
        KernelPCA(gamma=1.0, exact=True).fit(rows)


def test_fewer_components_than_requested_warn():
    with pytest.warns(
        UserWarning, match="KPCA: 20 components were requested, but only 3 are above rounding error"
    ):
        KernelPCA(kernel="linear", n_components=20).fit(X)


def test_messages_name_no_command_line_options():
    messages = _native.error_messages()
    assert len(messages) >= 27
    assert not [message for message in messages if re.search(r"--\w|0{8}", message)]


@pytest.mark.parametrize("n_jobs", [-(10**30), -(2**63), -2])
def test_any_negative_n_jobs_uses_at_least_one_thread(n_jobs):
    assert_array_equal(KOBL(n_jobs=n_jobs).fit(X).pivots_, KOBL().fit(X).pivots_)


@pytest.mark.parametrize(
    "act, name",
    [
        (lambda: HSFS(max_iter=10**30).fit(X, y), "max_iter"),
        (lambda: SVC(max_iter=10**30).fit(X, y), "max_iter"),
        (lambda: SVMRFE(step=10**30).fit(X, y), "step"),
        (lambda: XingMetric(max_iter=10**30).fit(X, y), "max_iter"),
        (lambda: XingMetric(n_triplets=10**30).fit(X, y), "n_triplets"),
        (lambda: triplets_from_labels(y, n=10**30), "n"),
        (lambda: KOBL(n_components=10**30).fit(X), "n_components"),
    ],
)
def test_integers_that_are_too_large_are_named(act, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter .*Got 10+ instead"):
        act()


def test_a_degree_that_is_too_large_is_refused():
    with pytest.raises(
        ValueError, match=r"The 'degree' parameter must be at most 4294967295\. Got 10000000000"
    ):
        KOBL(kernel="poly", degree=10**10).fit(X)


@pytest.mark.parametrize(
    "method",
    [
        HSFS(random_starts=10**9),
        HSFS(approximation="fourier", features=10**9),
        PFS(n_penalties=10**11),
        LDFS(n_penalties=10**11),
        HSICLasso(block_size=10, permutations=10**9),
    ],
    ids=lambda method: type(method).__name__,
)
def test_sizes_beyond_the_memory_are_refused(method):
    with pytest.raises((MemoryError, ValueError)):
        method.fit(X, y)
