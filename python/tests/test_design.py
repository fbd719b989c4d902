"""Kernel design: against the full linear program, and as an estimator."""

import functools
import pickle
import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kernsift import KOBL, KernelDesign, hsic, triplet_accuracy, triplets_from_labels
from kernsift.datasets import load_dataset
from kernsift.kernels import RBF, Laplacian, Linear, OnFeature, Polynomial, Sum

MODES = ["nonnegative", "dominance_with_noise", "eigen_cuts", "strict_dominance"]
GIVEN = {"gamma1": 1e-3, "gamma2": 1e-4}


def rows_and_triplets(name, n, count=200, seed=0):
    """Some samples of a data set, and triplets of them."""
    data = load_dataset(name)
    kept = np.sort(np.random.default_rng(seed).permutation(len(data.data))[:n])
    return data.data[kept], triplets_from_labels(data.target[kept], count, random_state=seed)


def scaled_grams(X, triplets, kernels, standardize=True):
    """Gram matrices on the distinct samples in triplets, with a mean diagonal of 1; and the triplets."""
    x = (X - X.mean(axis=0)) / X.std(axis=0) if standardize else X
    points = np.unique(triplets)
    rows, place = np.unique(x[points], axis=0, return_inverse=True)
    grams = np.array([kernel(rows) for kernel in kernels])
    grams /= np.einsum("pii->pi", grams).mean(axis=1)[:, None, None]
    return grams, place.ravel()[np.searchsorted(points, triplets)]


def objective(alpha, noise, grams, triplets, groups, gamma1, gamma2):
    """The objective by its definition."""
    k = np.tensordot(alpha, grams, axes=1)
    i, j, far = triplets.T
    slack = np.maximum(0, 1 - k[i, j] + k[i, far]).mean()
    largest = np.zeros(groups.max() + 1)
    np.maximum.at(largest, groups, np.abs(alpha))
    return slack + gamma1 * largest.sum() + gamma2 * (np.diag(k).mean() + noise)


def naive(grams, triplets, groups, psd, gamma1, gamma2):
    """The optimum of the linear program with a variable per weight, group, triplet and pair of samples."""
    k, n, _ = grams.shape
    i, j, far = triplets.T
    t, g = len(triplets), groups.max() + 1
    above, below = np.triu_indices(n, 1)
    dominant = psd != "nonnegative"
    r = len(above) if dominant else 0
    eye, none = sparse.eye_array, sparse.csr_array
    member = none((np.ones(k), (np.arange(k), groups)), shape=(k, g))
    # Columns: weights, noise, groups, slacks, pairs. Every row has an upper bound.
    margins = grams[:, i, j] - grams[:, i, far]
    blocks = [
        [none(-margins.T), None, None, -eye(t), none((t, r))],
        [eye(k), none((k, 1)), -member, None, None],
        [-eye(k), None, -member, None, None],
    ]
    bound = [-np.ones(t), np.zeros(2 * k)]
    if dominant:
        pairs = grams[:, above, below].T
        both = np.concatenate([above, below])
        sums = none((np.ones(2 * r), (both, np.tile(np.arange(r), 2))), shape=(n, r))
        diagonal = np.einsum("pii->ip", grams)
        blocks += [
            [none(pairs), None, None, None, -eye(r)],
            [none(-pairs), None, None, None, -eye(r)],
            [none(-diagonal), none(-np.ones((n, 1))), None, None, sums],
        ]
        bound += [np.zeros(2 * r + n)]
    cost = np.concatenate([np.full(k, gamma2), [gamma2], np.full(g, gamma1), np.full(t, 1 / t), np.zeros(r)])
    weights = (0, None) if psd == "nonnegative" else (None, None)
    noise = (0, None) if psd == "dominance_with_noise" else (0, 0)
    bounds = [weights] * k + [noise] + [(0, None)] * (g + t + r)
    rows = sparse.block_array(blocks, format="csr")
    found = linprog(cost, A_ub=rows, b_ub=np.concatenate(bound), bounds=bounds, method="highs")
    assert found.status == 0, found.message
    return found.fun


def groups_of(kernels, group):
    if group == "kernel":
        return np.arange(len(kernels))
    columns = [kernel.feature for kernel in kernels]
    return np.unique(columns, return_inverse=True)[1].ravel()


WIDE = (1, 0.1, 0.01)
NARROW = (10, 100, 1000)
CASES = [
    *((name, n, psd, WIDE) for name, n in (("iris", 30), ("wine", 40)) for psd in MODES[:2]),
    # Few samples and narrow kernels: a nonzero solution exists.
    ("iris", 12, "strict_dominance", NARROW),
    ("wine", 16, "strict_dominance", NARROW),
    # Here it does not.
    ("iris", 30, "strict_dominance", WIDE),
    ("wine", 40, "strict_dominance", WIDE),
]


@pytest.mark.filterwarnings("ignore:KernelDesign. no mixture")
@pytest.mark.parametrize("group", ["column", "kernel"])
@pytest.mark.parametrize("name, n, psd, gammas", CASES)
def test_the_optimum_is_that_of_the_full_linear_program(name, n, psd, gammas, group):
    X, triplets = rows_and_triplets(name, n)
    design = KernelDesign(["rbf"], gammas=gammas, psd=psd, group=group, threshold=0, **GIVEN)
    design.fit(X, triplets)
    kernels = [OnFeature(f, RBF(g)) for f in range(X.shape[1]) for g in sorted(gammas)]
    assert design.kernels_ == kernels
    grams, placed = scaled_grams(X, triplets, kernels)
    groups = groups_of(kernels, group)
    best = naive(grams, placed, groups, psd, **GIVEN)
    assert design.objective_ == pytest.approx(best, rel=1e-6)
    assert design.bound_ == pytest.approx(best, rel=1e-6)
    own = objective(design.alpha_, design.noise_, grams, placed, groups, **GIVEN)
    # The final correction for the condition is of the order of the tolerance.
    assert own == pytest.approx(best, rel=1e-6)
    trivial = psd == "strict_dominance" and gammas == WIDE
    assert design.status_ == ("trivial-cone" if trivial else "optimal")
    assert (best == pytest.approx(1, abs=1e-9)) == trivial
    assert design.n_points_ == grams.shape[1]


@pytest.mark.parametrize("psd", MODES)
def test_bounds_never_fall_and_the_kernel_is_semidefinite(psd):
    for name, n, gammas in (("iris", 12, NARROW), ("wine", 16, NARROW), ("wine", 60, WIDE)):
        X, triplets = rows_and_triplets(name, n)
        design = KernelDesign(["rbf", "poly"], gammas=gammas, psd=psd, **GIVEN)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            design.fit(X, triplets)
        assert (np.diff(design.bounds_) >= 0).all()
        assert design.bounds_.shape == (design.n_iter_,)
        # Rounding of sums of 200 terms.
        assert design.bound_ <= design.objective_ * (1 + 1e-12)
        # The condition holds on the samples in triplets.
        k = design.kernel(X[np.unique(triplets)], noise=True)
        values = np.linalg.eigvalsh(k)
        assert values[0] >= -1e-8 * values[-1]
        if psd == "nonnegative":
            assert design.noise_ == 0
            assert (design.alpha_ >= 0).all()


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("psd", MODES[:3])
def test_the_objective_in_numpy(psd, standardize):
    X, triplets = rows_and_triplets("wine", 30)
    X = X if standardize else X / X.max(axis=0)
    design = KernelDesign(
        ["rbf", "linear", "laplacian", "poly"], psd=psd, standardize=standardize, **GIVEN
    ).fit(X, triplets)
    assert design.status_ == "optimal"
    grams, placed = scaled_grams(X, triplets, design.kernels_, standardize)
    groups = groups_of(design.kernels_, "column")
    own = objective(design.alpha_, design.noise_, grams, placed, groups, **GIVEN)
    # The same sums in another order, of weights that are large and cancel.
    assert own == pytest.approx(design.objective_, rel=1e-9)
    k = np.tensordot(design.alpha_, grams, axes=1)
    assert np.diag(k).mean() == pytest.approx(design.alpha_.sum(), rel=1e-12)
    # The weights of the kernel are alpha times the scales of the base kernels.
    weights = design.alpha_ * design.kernel_scales_
    pairs = [(w, kernel) for w, kernel in zip(weights, design.kernels_, strict=True) if w != 0]
    assert isinstance(design.kernel_, Sum)
    assert [part[1] for part in design.kernel_.parts] == [kernel for _, kernel in pairs]
    assert [part[0] for part in design.kernel_.parts] == pytest.approx([w for w, _ in pairs], rel=1e-15)
    largest = np.zeros(X.shape[1])
    np.maximum.at(largest, [kernel.feature for kernel in design.kernels_], np.abs(design.alpha_))
    assert design.scores_ == pytest.approx(largest / largest.max())
    assert np.array_equal(design.support_, largest > 0)


def test_score_is_the_accuracy_of_the_gram_matrix():
    wine = load_dataset("wine")
    design = KernelDesign(random_state=0, **GIVEN).fit(wine.data[::2], wine.target[::2])
    left, labels = wine.data[1::2], wine.target[1::2]
    triplets = triplets_from_labels(labels, 1000, random_state=5)
    score = design.score(left, triplets)
    assert score == triplet_accuracy(design.kernel(left), triplets)
    # The best baseline kernel has 0.9 here.
    assert score > 0.92
    assert 0 < design.support_.sum() < 13


def test_penalties_are_chosen_from_a_grid():
    wine = load_dataset("wine")
    design = KernelDesign(gamma1=[1e-3, 0.1], gamma2=[0, 1e-4], repeats=2, random_state=0)
    design.fit(wine.data, wine.target)
    assert sorted(zip(design.trials_.gamma1, design.trials_.gamma2, strict=True)) == [
        (1e-3, 0),
        (1e-3, 1e-4),
        (0.1, 0),
        (0.1, 1e-4),
    ]
    best = design.trials_.accuracy == design.trials_.accuracy.max()
    assert (design.gamma1_, design.gamma2_) in zip(
        design.trials_.gamma1[best], design.trials_.gamma2[best], strict=True
    )
    # The tuned design is the one with these penalties.
    again = KernelDesign(gamma1=design.gamma1_, gamma2=design.gamma2_, random_state=0)
    assert np.array_equal(again.fit(wine.data, wine.target).alpha_, design.alpha_)
    assert again.trials_.accuracy.size == 0
    one = KernelDesign(gamma1=1e-3, random_state=0, n_triplets=300).fit(wine.data, wine.target)
    assert set(one.trials_.gamma1) == {1e-3}
    assert list(one.trials_.gamma2) == [0, 1e-5, 1e-4, 1e-3]
    default = KernelDesign(random_state=0, n_triplets=300).fit(wine.data, wine.target)
    assert len(default.trials_.accuracy) == 16


def test_labels_give_drawn_triplets():
    wine = load_dataset("wine")
    triplets = triplets_from_labels(wine.target, 300, random_state=3)
    design = KernelDesign(n_triplets=300, random_state=3, **GIVEN).fit(wine.data, wine.target)
    other = KernelDesign(random_state=3, **GIVEN).fit(wine.data, triplets)
    assert np.array_equal(design.alpha_, other.alpha_)
    assert np.array_equal(design.alpha_, clone(other).fit(wine.data, triplets.tolist()).alpha_)
    assert design.score(wine.data, wine.target) == design.score(wine.data, triplets)
    assert design.triplet_report_.n_triplets == 300
    assert design.triplet_report_.n_points == len(np.unique(triplets))
    assert design.triplet_report_.n_contradictions == 0
    text = wine.target.astype(str)
    assert np.array_equal(design.alpha_, clone(design).fit(wine.data, text).alpha_)
    numbers = KernelDesign(random_state=0, **GIVEN).fit(wine.data[:, 1:], wine.data[:, 0])
    assert numbers.score(wine.data[:, 1:], wine.data[:, 0]) > 0.6


def test_kernels_of_all_kinds_combine():
    X, triplets = rows_and_triplets("wine", 50)
    own = [RBF(0.1), OnFeature(3, Laplacian(2.0))]
    design = KernelDesign([own[0], "rbf", own[1], "poly"], weak=False, gammas=[0.5], **GIVEN)
    design.fit(X, triplets)
    names = [RBF(0.5), Polynomial(2, 1 / 13, 1.0)]
    assert design.kernels_ == [*names, *own]
    objects = KernelDesign([*names, *own], **GIVEN).fit(X, triplets)
    assert np.array_equal(design.alpha_, objects.alpha_)
    # A kernel of all features counts for each.
    assert design.support_.all()


@pytest.mark.parametrize("psd", [*MODES[:3], "auto"])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_functions_are_weighted_like_kernels(psd, rows):
    X, triplets = rows_and_triplets("wine", 40)
    # A duplicated sample, in triplets with itself and with others.
    X, triplets = np.r_[X, X[:2]], np.r_[triplets, [[0, 40, 5], [40, 1, 6], [41, 0, 7]]]
    kernels = [RBF(0.1), OnFeature(3, Laplacian(2.0)), Linear()]
    functions = [lambda x, z: RBF(0.1)(x, z), kernels[1], lambda x, z: np.asarray((x @ z.T).toarray())]
    if rows is np.asarray:
        functions[2] = lambda x, z: x @ z.T
    X = rows(X)
    for names in ([], ["rbf"]):
        design, other = (KernelDesign([*names, *k], psd=psd, **GIVEN) for k in (kernels, functions))
        design.fit(X, triplets)
        other.fit(X, triplets)
        assert other.objective_ == pytest.approx(design.objective_, rel=1e-6)
        # Weights are accurate to about the root of the tolerance.
        assert other.alpha_ == pytest.approx(design.alpha_, abs=1e-3 * np.abs(design.alpha_).max())
        assert other.kernel_scales_ == pytest.approx(design.kernel_scales_, rel=1e-12)
        assert (other.n_points_, other.psd_) == (design.n_points_, design.psd_)
        assert other.kernels_[-3:] == functions
        assert other.kernels_[:-3] == design.kernels_[:-3]
        assert other.kernel_ is None
        assert np.array_equal(other.support_, design.support_)
        gram = other.kernel(X[:5], X, noise=True)
        assert gram == pytest.approx(design.kernel(X[:5], X, noise=True), abs=1e-3 * np.abs(gram).max())
        assert other.score(X, triplets) == triplet_accuracy(other.kernel(X), triplets)


def test_functions_that_are_not_kernels():
    X, triplets = rows_and_triplets("wine", 20)

    def distance(x, z):
        return np.abs(x[:, None] - z[None]).sum(axis=2)

    design = KernelDesign([lambda x, z: -distance(x, z), "rbf"], **GIVEN).fit(X, triplets)
    assert design.psd_ == "dominance_with_noise"
    values = np.linalg.eigvalsh(design.kernel(X, noise=True))
    assert values[0] >= -1e-8 * values[-1]
    for function, message in [
        (lambda x, z: distance(x, z)[:, 1:], "must have the shape (20, 20), got (20, 19)"),
        (lambda x, z: np.full((20, 20), np.nan), "contains NaN"),
        (lambda x, z: np.triu(distance(x, z)), "expected symmetric"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            KernelDesign([function], **GIVEN).fit(X, triplets)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        KernelDesign([lambda x, z: -distance(x, z)], psd="nonnegative", **GIVEN).fit(X, triplets)


@pytest.mark.parametrize("psd", MODES[:2])
def test_works_with_scikit_learn(psd):
    wine = load_dataset("wine")
    rows, left = np.arange(0, 178, 2), np.arange(1, 178, 2)
    design = KernelDesign(psd=psd, random_state=0, **GIVEN).fit(wine.data[rows], wine.target[rows])
    for kernel in (design.kernel, functools.partial(design.kernel, noise=True)):
        machine = SVC(kernel=kernel).fit(wine.data[rows], wine.target[rows])
        # Predicting the largest class has 0.4; with noise the kernel is mostly noise.
        assert machine.score(wine.data[left], wine.target[left]) > 0.85
    # One nearest neighbor by the kernel distance.
    ends = [np.diag(design.kernel(wine.data[part])) for part in (rows, left)]
    cross = design.kernel(wine.data[left], wine.data[rows])
    distances = np.maximum(ends[1][:, None] + ends[0][None] - 2 * cross, 0)
    inner = np.maximum(ends[0][:, None] + ends[0][None] - 2 * design.kernel(wine.data[rows]), 0)
    neighbor = KNeighborsClassifier(1, metric="precomputed").fit(inner, wine.target[rows])
    assert neighbor.score(distances, wine.target[left]) > 0.9


def test_the_kernel_is_a_kernsift_kernel():
    wine = load_dataset("wine")
    design = KernelDesign(random_state=0, **GIVEN).fit(wine.data, wine.target)
    x = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
    assert design.kernel_(x) == pytest.approx(design.kernel(wine.data), rel=1e-9)
    basis = KOBL(kernel=design.kernel_).fit(x)
    assert 1 < basis.n_components_ < 178
    assert basis.kernel_ == design.kernel_
    learned, plain = (
        hsic(x, wine.target, kernel=kernel, estimator="normalized") for kernel in (design.kernel_, Linear())
    )
    assert learned > plain
    again = pickle.loads(pickle.dumps(design))
    assert again.kernel_ == design.kernel_
    assert np.array_equal(again.kernel(wine.data), design.kernel(wine.data))
    assert again.score(wine.data, wine.target) == design.score(wine.data, wine.target)


def test_it_selects_features_in_pipelines():
    pd = pytest.importorskip("pandas")
    wine = load_dataset("wine")
    frame = pd.DataFrame(wine.data, columns=wine.feature_names)
    design = KernelDesign(random_state=0, **GIVEN).set_output(transform="pandas").fit(frame, wine.target)
    kept = design.transform(frame)
    assert list(kept.columns) == list(design.get_feature_names_out())
    assert list(kept.columns) == [n for n, s in zip(wine.feature_names, design.scores_, strict=True) if s > 0]
    assert np.array_equal(kept, wine.data[:, design.get_support()])
    assert np.array_equal(design.kernel(frame), design.kernel(frame, frame.copy()))
    line = make_pipeline(KernelDesign(random_state=0, **GIVEN), KNeighborsClassifier())
    assert line.fit(frame, wine.target).score(frame, wine.target) > 0.7
    search = GridSearchCV(
        KernelDesign(random_state=0, n_triplets=300, **GIVEN),
        {"psd": ["nonnegative", "dominance_with_noise"]},
        # The samples are sorted by class.
        cv=KFold(3, shuffle=True, random_state=0),
    )
    assert search.fit(wine.data, wine.target).best_score_ > 0.9
    assert clone(design).get_params() == design.get_params()


def test_threads_and_sparse_rows_change_nothing():
    data = load_dataset("sonar")
    # With zeros.
    X = np.where(data.data < 0.1, 0, data.data)[:, ::4]
    options = {"standardize": False, "random_state": 0, "n_triplets": 300, **GIVEN}
    for psd in MODES[:2]:
        one, two, thin = (
            KernelDesign(psd=psd, n_jobs=jobs, **options).fit(rows, data.target)
            for jobs, rows in ((1, X), (2, X), (1, sparse.csr_array(X)))
        )
        assert np.array_equal(one.alpha_, two.alpha_)
        # Kernels of sparse samples are summed in another order.
        assert thin.objective_ == pytest.approx(one.objective_, rel=1e-6)
    rows = sparse.csr_array(X)
    design = KernelDesign(random_state=0, n_triplets=300, **GIVEN).fit(rows, data.target)
    assert not design.mean_.any()
    assert design.kernel(rows[:5], X) == pytest.approx(design.kernel(X[:5], rows), rel=1e-9)
    assert design.transform(rows).shape == (208, design.support_.sum())


def test_zero_solutions_warn():
    X, triplets = rows_and_triplets("wine", 40)
    strict = KernelDesign(psd="strict_dominance", **GIVEN)
    with pytest.warns(UserWarning, match="only the zero mixture of these kernels is diagonally dominant"):
        strict.fit(X, triplets)
    assert strict.status_ == "trivial-cone"
    with pytest.warns(UserWarning, match="the penalties are too large"):
        heavy = KernelDesign(gamma1=100, gamma2=0).fit(X, triplets)
    assert heavy.status_ == "over-regularized"
    for design in (strict, heavy):
        assert design.converged_ and design.objective_ == 1
        assert not design.alpha_.any() and not design.scores_.any() and not design.support_.any()
        assert not design.kernel(X, noise=True).any()
        assert design.score(X, triplets) == 0.5
        with pytest.warns(UserWarning, match="No features were selected"):
            assert design.transform(X).shape == (40, 0)
    with pytest.warns(ConvergenceWarning, match="KernelDesign did not converge: the limit on rounds"):
        short = KernelDesign(psd="dominance_with_noise", max_rounds=1, **GIVEN).fit(X, triplets)
    assert (short.status_, short.converged_, short.n_iter_) == ("max-iterations", False, 1)


def test_features_below_the_threshold_are_dropped():
    wine = load_dataset("wine")
    triplets = triplets_from_labels(wine.target, 500, random_state=0)
    # Gamma depends on pairs of samples that are drawn.
    options = {"gamma1": 1e-4, "gamma2": 1e-4, "random_state": 0}
    every, some = (KernelDesign(threshold=t, **options).fit(wine.data, triplets) for t in (0, 0.3))
    kept = every.scores_ > 0.3
    assert kept.sum() < every.support_.sum()
    assert not some.support_[~kept].any()
    # It is solved again without the others, as if they did not exist.
    alone = KernelDesign(threshold=0, **options).fit(wine.data[:, kept], triplets)
    assert some.objective_ == pytest.approx(alone.objective_, rel=1e-7)
    assert some.objective_ >= every.objective_


X = np.random.default_rng(0).normal(size=(30, 3))
y = np.arange(30) % 3
DESIGN = functools.partial(KernelDesign, **GIVEN)


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: DESIGN().fit(X, [[0, 1, 30]]), "triplet 1: expected rows below 30, got 30"),
        (lambda: DESIGN().fit(X, [[0, 1, 2], [0, 1, 1]]), "triplet 2: expected three distinct rows"),
        (lambda: DESIGN().fit(X, [[0, 1, -1]]), "triplet 1: row numbers count from 0, got -1"),
        (lambda: DESIGN().fit(X, [[0.0, 1.0, 2.0]]), "triplets must be an integer array with three columns"),
        (lambda: DESIGN().fit(X, [["a", "b", "c"]]), "triplets must be an integer array with three columns"),
        (lambda: DESIGN().fit(X, np.zeros((0, 3), int)), "triplets: expected at least 1, got 0"),
        (lambda: DESIGN().fit(X, np.zeros((30, 2))), "y should be a 1d array"),
        (lambda: DESIGN().fit(X, None), "requires y to be passed"),
        (lambda: DESIGN().fit(X, y[:20]), "inconsistent numbers of samples"),
        (lambda: DESIGN().fit(X, np.zeros(30, int)), "all rows have the class '0'"),
        (lambda: DESIGN(tol=0).fit(X, y), "The 'tol' parameter of KernelDesign"),
        (lambda: DESIGN(psd="always").fit(X, y), "The 'psd' parameter of KernelDesign"),
        (lambda: DESIGN(max_rounds=0).fit(X, y), "The 'max_rounds' parameter of KernelDesign"),
        (lambda: DESIGN(threshold=1).fit(X, y), "The 'threshold' parameter of KernelDesign"),
        (lambda: DESIGN("linear").fit(X, y), "The 'kernels' parameter of KernelDesign"),
        (lambda: DESIGN([]).fit(X, y), "kernels must have at least one kernel"),
        (lambda: DESIGN(["sigmoid"]).fit(X, y), "got 'sigmoid'"),
        (lambda: DESIGN(["rbf", "rbf"]).fit(X, y), "'kernels' must be different names"),
        (lambda: DESIGN([3]).fit(X, y), "kernels must be names, objects of kernsift.kernels or functions"),
        (lambda: DESIGN([OnFeature(5, RBF(1))]).fit(X, y), "5"),
        (lambda: DESIGN(["linear"], gammas=[1]).fit(X, y), "'gammas' has no effect"),
        (lambda: DESIGN(["linear"], quantiles=[0.5]).fit(X, y), "'quantiles' has no effect"),
        (
            lambda: DESIGN(gammas=[1], quantiles=[0.5]).fit(X, y),
            "'quantiles' has no effect because gammas are",
        ),
        (lambda: DESIGN(degree=3).fit(X, y), "'degree' has no effect because poly is not among"),
        (lambda: DESIGN(coef0=0).fit(X, y), "'coef0' has no effect"),
        (lambda: DESIGN([RBF(1)], weak=False).fit(X, y), "'weak' has no effect"),
        (lambda: DESIGN(weak=False, threshold=0.1).fit(X, y), "'threshold' has no effect"),
        (lambda: DESIGN(repeats=2).fit(X, y), "'repeats' has no effect because both penalties are given"),
        (lambda: DESIGN(gammas=[-1]).fit(X, y), "'gammas' must be a list of numbers, above 0"),
        (lambda: DESIGN(gammas=[]).fit(X, y), "'gammas' must be one number or more"),
        (lambda: DESIGN(gammas=["a"]).fit(X, y), "gammas must be finite numbers"),
        (
            lambda: DESIGN(quantiles=[2]).fit(X, y),
            "'quantiles' must be a list of numbers, above 0 and at most 1",
        ),
        (lambda: KernelDesign(gamma1=[0, 1]).fit(X, y), "'gamma1' must be a number, above 0"),
        (lambda: KernelDesign(gamma1=-1).fit(X, y), "The 'gamma1' parameter of KernelDesign"),
        (lambda: KernelDesign(gamma2=[-1]).fit(X, y), "'gamma2' must be a number, at least 0"),
        (lambda: DESIGN(["poly"], coef0=-1, psd="nonnegative").fit(X, y), "not positive semidefinite"),
        (lambda: DESIGN().fit(X, y).kernel(X[:, :2]), "X has 2 features, but KernelDesign is expecting 3"),
        (lambda: DESIGN().fit(X, y).score(X, [[0, 1, 40]]), "triplet 1: expected rows below 30, got 40"),
    ],
)
def test_bad_input_is_a_value_error(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_contradictions_are_counted():
    with pytest.warns(UserWarning, match="no kernel can satisfy all of them"):
        design = DESIGN().fit(X, [[0, 1, 2], [0, 2, 1], [3, 4, 5], [3, 4, 5], [6, 7, 8]])
    report = design.triplet_report_
    assert (report.n_triplets, report.n_duplicates, report.n_contradictions) == (5, 1, 1)
    with pytest.raises((ValueError, RuntimeError), match="opposite"):
        DESIGN().fit(X, [[0, 1, 2], [0, 2, 1]])


def test_a_constant_feature_has_no_kernel():
    design = DESIGN(random_state=0).fit(np.c_[X[:, :1], np.full(30, 3.5), X[:, 1:]], y)
    assert {kernel.feature for kernel in design.kernels_} == {0, 2, 3}
    assert design.scores_[1] == 0 and not design.support_[1]
