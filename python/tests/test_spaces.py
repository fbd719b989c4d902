"""Forward selection, Relief and selection in kernel space against numpy and scikit-learn."""

import pickle
import re
from itertools import permutations

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernsift import (
    FFS,
    KNNC,
    KOBL,
    RBF,
    TAKES,
    KernelDiscriminant,
    KernelGramSchmidt,
    KernelPCA,
    KernelSpaceSelector,
    ReliefF,
    load_dataset,
    load_model,
    make_synthetic,
)

SPACES = [
    TAKES(random_state=0),
    TAKES(8, weak_learner="stump", weights="individual", n_neighbors=3, standardize=False),
    KernelSpaceSelector(KernelGramSchmidt(n_components=40), random_state=0),
    KernelSpaceSelector(KernelGramSchmidt(), "relief"),
    KernelSpaceSelector(KernelPCA(), "relief", n_features_to_select=0.1, relief_neighbors=3),
    KernelSpaceSelector(KernelDiscriminant(), None),
]


def load(name):
    data = load_dataset(name)
    return data.data, data.target


def split(name):
    return train_test_split(*load(name), test_size=0.4, stratify=load(name)[1], random_state=0)


# Naive forward selection: every threshold, one at a time.


def stump_votes(values, y, n_classes):
    """The votes of the best threshold; ties are broken by the lowest."""
    n = len(y)
    best, votes = -1, None
    # Ties are broken by class.
    order = np.lexsort((y, values))
    for cut in np.unique(values)[:-1]:
        left = values <= cut
        if n_classes == 2:
            right_answers = np.sum(left == (y == 0))
            # If both directions are equally bad, be right about the first sample.
            tie = 2 * right_answers == n
            flip = (y[0] == 0) != left[0] if tie else 2 * right_answers < n
            right_answers = max(right_answers, n - right_answers)
            made = np.where(left, 0, 1) ^ int(flip)
        else:
            sides = y[order][: left.sum()], y[order][left.sum() :][::-1]
            winners = [first_to_lead(side) for side in sides]
            right_answers = sum(count for count, _ in winners)
            made = np.where(left, winners[0][1], winners[1][1])
        if right_answers > best:
            best, votes = right_answers, made
    if votes is None:
        counts = np.bincount(y)
        return np.full(n, next(c for c in y if counts[c] == counts.max()))
    return votes


def first_to_lead(side):
    """The most frequent class and its count; ties are broken by the one that reached it first."""
    classes, counts = np.unique(side, return_counts=True)
    leaders = classes[counts == counts.max()]
    return counts.max(), min(leaders, key=lambda c: np.nonzero(side == c)[0][-1])


def vote_errors(counts, y):
    """The errors of a vote, from the votes of each class."""
    if counts.shape[1] == 2:
        ayes = counts[:, 1]
        return min(np.sum((ayes >= theta) != y) for theta in range(ayes.max() + 2))
    frequency = np.bincount(y)
    # Most votes, then the more frequent class, then the first.
    says = [max(range(len(row)), key=lambda c: (row[c], frequency[c], -c)) for row in counts]
    return np.sum(says != y)


def greedy(votes, y, n_classes):
    """The order of features, the errors of the vote, and the errors of single features."""
    own = (votes != y[:, None]).sum(axis=0)
    one_hot = np.eye(n_classes, dtype=int)[votes]
    counts = np.zeros((len(y), n_classes), dtype=int)
    order, errors = [], []
    open_columns = list(range(votes.shape[1]))
    while open_columns:
        found = [(vote_errors(counts + one_hot[:, j], y), own[j], j) for j in open_columns]
        least, _, best = min(found)
        counts += one_hot[:, best]
        open_columns.remove(best)
        order.append(best)
        errors.append(least)
    return order, np.array(errors), own


def weight(errors, n, n_classes):
    share = np.clip(errors / n, 1 / (2 * n), (n_classes - 1) / n_classes)
    return np.maximum(0.5 * np.log((1 - share) / share * (n_classes - 1)), 0)


@pytest.mark.parametrize(
    "name", ["sonar", "heart", "pima", "iris", "wine", "glass", "thyroid", "soybean_small"]
)
def test_ffs_equals_naive_forward_selection(name):
    X, y = load(name)
    y = np.unique(y, return_inverse=True)[1]
    n, n_classes = len(y), y.max() + 1
    votes = np.column_stack([stump_votes(column, y, n_classes) for column in X.T])
    order, errors, own = greedy(votes, y, n_classes)
    n_kept = 1 + int(np.argmin(errors))
    for weights in ("ensemble", "individual"):
        selector = FFS(weights=weights, standardize=False).fit(X, y)
        assert_array_equal(selector.order_, order)
        assert_allclose(selector.error_curve_, errors / n, rtol=1e-15)
        assert_array_equal(np.sort(order[:n_kept]), selector.get_support(indices=True))
        scores = np.zeros(X.shape[1])
        source = errors if weights == "ensemble" else own[order]
        scores[order[:n_kept]] = weight(source[:n_kept], n, n_classes)
        # Rounding of logarithms.
        assert_allclose(selector.scores_, scores, rtol=1e-13, atol=1e-15)
    assert_array_equal(FFS().fit(X, y).order_, order)
    assert FFS(3).fit(X, y).support_.sum() == 3


def klms_votes(U, y, n_classes, order, eta):
    """The published recursion for samples in a given order; all features at once."""
    k = np.exp(-((U.T[:, :, None] - U.T[:, None, :]) ** 2) / 2)
    targets = 2.0 * np.eye(n_classes)[y] - 1
    errors = np.zeros((U.shape[1], len(y), n_classes))
    for j in order:
        errors[:, j] = targets[j] - eta * np.einsum("cl,cls->cs", k[:, j], errors)
    return np.argmax(k @ errors, axis=2).T


def own_errors(selector, n_classes):
    """Errors of single features, from the scores of a selector that keeps all."""
    odds = np.exp(2 * selector.scores_)
    return (n_classes - 1) / (n_classes - 1 + odds)


@pytest.mark.parametrize("y", [[0, 1, 1, 0, 1, 0], [2, 0, 1, 0, 2, 1]], ids=["two", "three"])
@pytest.mark.parametrize("eta, width", [(0.5, 1.0), (1.0, 0.6), (0.2, 1.5)])
def test_klms_equals_the_published_recursion_in_some_order(y, eta, width, rng):
    X, y = rng.normal(size=(6, 40)), np.array(y)
    n_classes = y.max() + 1
    U = StandardScaler().fit_transform(X) / width
    # The order of samples is random, but the same for all features: their errors identify it.
    most = (n_classes - 1) / n_classes
    possible = {
        tuple(np.minimum(np.mean(klms_votes(U, y, n_classes, order, eta) != y[:, None], axis=0), most))
        for order in permutations(range(6))
    }
    assert len(possible) > 100
    for seed in range(5):
        learner = {"weak_learner": "klms", "eta": eta, "learner_bandwidth": width, "random_state": seed}
        selector = FFS(1.0, weights="individual", **learner).fit(X, y)
        # No error counts as half an error.
        ours = np.where(
            np.isclose(own_errors(selector, n_classes), 1 / 12), 0, own_errors(selector, n_classes)
        )
        assert tuple(np.round(6 * ours) / 6) in possible


def test_klms_where_the_order_of_samples_does_not_matter(rng):
    # No two values are closer than a thirtieth of their standard deviation.
    X = np.column_stack([rng.permutation(np.arange(120.0)) for _ in range(4)])
    y = np.where(rng.random(120) < 0.3, "yes", "no")
    share = np.mean(y == "yes")
    # A bandwidth so small that samples do not interact, and one so large that all get the same value.
    narrow = FFS(weak_learner="klms", learner_bandwidth=0.001).fit(X, y)
    assert_array_equal(narrow.error_curve_, np.zeros(4))
    wide = FFS(1.0, weak_learner="klms", learner_bandwidth=1000, eta=1.0, weights="individual").fit(X, y)
    assert np.all(np.isclose(own_errors(wide, 2), min(share, 0.5)) | np.isclose(own_errors(wide, 2), 0.5))


def test_klms_on_a_fine_grid_is_nearly_exact(sonar):
    X, y = sonar
    exact, fine, coarse = (
        FFS(1.0, weak_learner="klms", weights="individual", quantum=q, random_state=0).fit(X, y).scores_
        for q in (0, 0.01, 1.0)
    )
    assert np.mean(exact == fine) > 0.9
    assert not np.array_equal(exact, coarse)
    # With few samples, klms is exact by default.
    default = FFS(1.0, weak_learner="klms", weights="individual", random_state=0).fit(X, y)
    assert_array_equal(default.scores_, exact)


def relief_twin(X, y, k, squared):
    classes, counts = np.unique(y, return_counts=True)
    distances = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    total = np.zeros(X.shape[1])
    for i in range(len(y)):
        for c, count in zip(classes, counts, strict=True):
            members = np.nonzero(y == c)[0]
            near = members[np.argsort(distances[i, members], kind="stable")[:k]]
            difference = abs(X[i] - X[near])
            gain = (difference**2 if squared else difference).mean(axis=0)
            total += -gain if c == y[i] else gain * count / (len(y) - counts[classes == y[i]])
    return np.maximum(total / len(y), 0)


@pytest.mark.parametrize("difference", ["absolute", "squared"])
@pytest.mark.parametrize("n_neighbors", [1, 3])
@pytest.mark.parametrize("name", ["wine", "iris", "sonar"])
def test_relief_equals_its_definition(name, n_neighbors, difference):
    X, y = load(name)
    options = {"n_neighbors": n_neighbors, "difference": difference, "class_weights": "frequency"}
    if name == "iris":
        # Integers, so that ties are exact.
        X = np.round(10 * X)
        selector = ReliefF(metric="euclidean", standardize=False, **options).fit(X, y)
    else:
        selector = ReliefF(metric="euclidean", units="unscaled", **options).fit(X, y)
        X = StandardScaler().fit_transform(X)
    scores = relief_twin(X, y, n_neighbors, difference == "squared")
    # Sums of a few hundred differences of order one.
    assert_allclose(selector.scores_, scores, rtol=1e-10, atol=1e-12)
    assert_array_equal(selector.support_, scores > 0)
    # Features with score zero are ordered too, the worst last.
    assert_array_equal(np.diff(selector.scores_[selector.order_]) <= 0, True)


def test_relief_finds_an_xor_and_stumps_do_not():
    X, y, relevant = make_synthetic("xor", n_samples=400, n_features=10, random_state=1)
    assert set(ReliefF(2, n_neighbors=10).fit(X, y).get_support(indices=True)) == set(relevant)
    assert not hasattr(ReliefF(2).fit(X, y), "error_curve_")


@pytest.mark.parametrize("gamma", [1e-6, "median", "scale", 30.0])
@pytest.mark.parametrize("name", ["wine", "sonar"])
def test_knnc_with_a_radial_kernel_is_plain_nearest_neighbors(name, gamma):
    X, X_new, y, _ = split(name)
    plain = make_pipeline(StandardScaler(), KNeighborsClassifier(1)).fit(X, y)
    assert_array_equal(KNNC(gamma=gamma).fit(X, y).predict(X_new), plain.predict(X_new))


def test_knnc_by_kernel_distance():
    X, X_new, y, _ = split("wine")
    model = KNNC(3, kernel="laplacian", gamma=0.1, standardize=False).fit(X, y)
    distances = -2 * model.kernel_(X_new, X)
    near = y[np.argsort(distances, axis=1, kind="stable")[:, :3]]
    # The class of two of three; if all differ, the nearest.
    expected = np.where(near[:, 1] == near[:, 2], near[:, 1], near[:, 0])
    assert_array_equal(model.predict(X_new), expected)
    assert_array_equal(model.fit(sparse.csr_array(X), y).predict(sparse.csr_array(X_new)), expected)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X_new), expected)
    assert model.gamma_ == 0.1 and model.mean_ is None
    names = np.array(["a", "b", "c"])
    assert_array_equal(clone(model).fit(X, names[y]).predict(X_new), names[expected])
    assert not hasattr(model.set_params(kernel="linear").fit(X, y), "gamma_")


def test_knnc_stores_its_samples():
    X, X_new, y, _ = split("wine")
    model = KNNC().fit(X, y)
    expected = model.predict(X_new)
    X[:] = 0
    assert_array_equal(model.predict(X_new), expected)


def test_takes_is_kobl_and_forward_selection():
    for name in ("iris", "wine", "sonar"):
        X, X_new, y, _ = split(name)
        takes = TAKES(random_state=3).fit(X, y)
        pair = KernelSpaceSelector(KOBL(), random_state=3).fit(X, y)
        default = KernelSpaceSelector(random_state=3).fit(X, y)
        for other in (pair, default):
            assert_array_equal(takes.transform(X_new), other.transform(X_new))
            assert_array_equal(takes.predict(X_new), other.predict(X_new))
            for attribute in ("weights_", "order_", "support_", "error_curve_", "mean_", "scale_"):
                assert_array_equal(getattr(takes, attribute), getattr(other, attribute))
        # Step by step: the basis on scaled samples, then the selector on its coordinates.
        scaled = StandardScaler().fit_transform(X)
        basis = KOBL(random_state=3)
        features = basis.fit_transform(scaled)
        ffs = FFS(weak_learner="klms", standardize=False, random_state=3).fit(features, y)
        assert_array_equal(takes.basis_.pivots_, basis.pivots_)
        assert_array_equal(takes.order_, ffs.order_)
        assert_allclose(takes.weights_, ffs.scores_, rtol=1e-13)
        assert_array_equal(takes.error_curve_, ffs.error_curve_)


@pytest.mark.parametrize("estimator", SPACES, ids=str)
@pytest.mark.parametrize("name", ["wine", "sonar"])
def test_the_parts_fit_together(estimator, name):
    X, X_new, y, _ = split(name)
    model = clone(estimator).fit(X, y)
    made = model.transform(X_new)
    n_directions = model.basis_.n_components_
    assert made.shape == (len(X_new), model.n_selected_)
    assert model.support_.shape == model.weights_.shape == model.order_.shape == (n_directions,)
    kept = model.order_[: model.n_selected_]
    assert_array_equal(np.sort(kept), np.nonzero(model.support_)[0])
    assert (model.weights_[~model.support_] == 0).all()
    # The basis maps scaled samples; each selected direction is multiplied by the root of its weight.
    scaled = (X_new - model.mean_) / model.scale_ if model.standardize else X_new
    coordinates = model.basis_.transform(scaled)
    stretched = coordinates[:, kept] * np.sqrt(model.weights_[kept])
    assert_allclose(made, stretched, rtol=1e-9, atol=1e-12)
    # The rest is nearest neighbors; scikit-learn breaks ties differently.
    if model.n_neighbors == 1:
        plain = KNeighborsClassifier(1).fit(model.transform(X), y)
        assert_array_equal(model.predict(X_new), plain.predict(made))
    assert model.kernel_ == RBF(model.gamma_) == model.basis_.kernel_
    assert model.n_neighbors_ == model.n_neighbors
    assert model.converged_
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(X_new), made)
    assert_array_equal(again.predict(X_new), model.predict(X_new))
    assert_array_equal(again.basis_.transform(scaled), coordinates)


@pytest.mark.parametrize("weights", ["ensemble", "individual"])
def test_weights_scale_directions_by_their_root(weights):
    X, X_new, y, _ = split("wine")
    weighted = TAKES(6, weights=weights, random_state=0).fit(X, y)
    plain = TAKES(6, weights=None, random_state=0).fit(X, y)
    assert_array_equal(plain.order_, weighted.order_)
    assert_array_equal(plain.weights_, plain.support_.astype(float))
    roots = np.sqrt(weighted.weights_[weighted.order_[:6]])
    assert_allclose(plain.transform(X_new) * roots, weighted.transform(X_new), rtol=1e-13)


def test_relief_weights_in_kernel_space():
    X, _, y, _ = split("sonar")
    model = KernelSpaceSelector(KernelPCA(), "relief", relief_neighbors=2, difference="squared").fit(X, y)
    features = KernelPCA().fit_transform(StandardScaler().fit_transform(X))
    options = {"n_neighbors": 2, "difference": "squared", "class_weights": "frequency"}
    relief = ReliefF(metric="euclidean", standardize=False, **options).fit(features, y)
    assert_allclose(model.weights_, relief.scores_, rtol=1e-9, atol=1e-12)
    assert not hasattr(model, "error_curve_")
    unweighted = clone(model).set_params(weights=None).fit(X, y)
    assert_array_equal(unweighted.weights_, model.support_.astype(float))
    # Attributes of an earlier fit with another selector are removed.
    model.set_params(selector="kffs").fit(X, y)
    assert len(model.error_curve_) == model.n_iter_
    assert not hasattr(model.set_params(selector=None).fit(X, y), "error_curve_")
    assert model.support_.all()


def test_the_parameters_of_the_basis_are_used():
    X, _, y, _ = split("wine")
    basis = KernelGramSchmidt(kernel="poly", degree=2, gamma=0.5, coef0=2.0, n_components=9)
    model = KernelSpaceSelector(basis, random_state=0).fit(X, y)
    direct = clone(basis).fit(StandardScaler().fit_transform(X))
    assert not hasattr(basis, "pivots_")
    assert type(model.basis_) is KernelGramSchmidt
    assert_array_equal(model.basis_.pivots_, direct.pivots_)
    assert_allclose(model.basis_.residual_norms_, direct.residual_norms_, rtol=1e-9)
    assert model.basis_.kernel_ == direct.kernel_
    copy = clone(model)
    assert copy.basis is not basis and copy.basis.get_params() == basis.get_params()
    assert copy.set_params(basis__n_components=4).fit(X, y).basis_.n_components_ == 4
    assert_array_equal(KernelSpaceSelector(KernelDiscriminant(), None).fit(X, y).basis_.classes_, [0, 1, 2])


def test_the_parameters_of_kobl_are_used():
    X, _, y, _ = split("wine")
    scaled = StandardScaler().fit_transform(X)
    own = {"pivoting": "random", "first_pivot": "medoid", "threshold": 2.0, "tol": 0.01, "n_components": 40}
    takes = TAKES(**own, kernel="laplacian", gamma="scale", random_state=5).fit(X, y)
    kobl = KOBL(**own, kernel="laplacian", gamma="scale", random_state=5).fit(scaled)
    assert_array_equal(takes.basis_.pivots_, kobl.pivots_)
    assert takes.gamma_ == kobl.gamma_
    by_function = TAKES(threshold=lambda t: t, random_state=5).fit(X, y)
    assert_array_equal(by_function.transform(X), TAKES(random_state=5).fit(X, y).transform(X))

    def refuse(t):
        raise KeyError("no threshold")

    with pytest.raises(KeyError, match="no threshold"):
        TAKES(threshold=refuse).fit(X, y)


def test_gamma_for_a_number_of_components():
    X, _, y, _ = split("wine")
    model = TAKES(gamma_for_n_components=20, random_state=0).fit(X, y)
    assert model.basis_.n_components_ == 20
    # The basis has the gamma that was found, so it can be fitted again.
    again = clone(model.basis_).fit(StandardScaler().fit_transform(X))
    assert_array_equal(again.pivots_, model.basis_.pivots_)


@pytest.mark.parametrize("parameters", [{"gamma": "cv"}, {"gamma": "cv", "kernel": "poly"}, {"tuned": True}])
def test_parameters_are_chosen_on_the_training_samples(parameters):
    X, X_new, y, y_new = split("iris")
    model = TAKES(**parameters, random_state=0).fit(X, y)
    assert model.score(X_new, y_new) > 0.8
    assert model.gamma_ > 0 and model.basis_.gamma == model.gamma_
    assert_array_equal(clone(model).fit(X, y).transform(X_new), model.transform(X_new))


@pytest.mark.parametrize(
    "estimator",
    [
        TAKES(tuned=True),
        TAKES(tuned=True, kernel=RBF(0.05)),
        TAKES(tuned=True, kernel="laplacian", threshold=lambda t: t**2),
        KernelSpaceSelector(KernelGramSchmidt(), "relief", tuned=True),
        KernelSpaceSelector(KernelPCA(n_components=20), "relief", tuned=True),
        KernelSpaceSelector(KernelDiscriminant(), None, tuned=True),
    ],
    ids=["takes", "takes with a width", "takes with a threshold", "kgs", "kpca", "gda"],
)
def test_tuning(estimator):
    X, X_new, y, y_new = split("wine")
    model = clone(estimator).set_params(random_state=0).fit(X, y)
    assert model.score(X_new, y_new) > 0.9
    # The basis has the chosen parameters, so it can be fitted again.
    again = clone(model.basis_).fit(StandardScaler().fit_transform(X), y)
    assert_allclose(again.residual_norms_, model.basis_.residual_norms_, rtol=1e-9)
    kept = clone(estimator).set_params(random_state=0, n_features_to_select=1).fit(X, y)
    assert kept.n_selected_ == 1


@pytest.mark.parametrize(
    "parameter",
    [{"n_neighbors": 3}, {"weights": None}, {"weak_learner": "stump"}, {"weight_power": 2.0}, {"eta": 0.1}],
    ids=str,
)
def test_parameters_that_tuning_chooses_raise(parameter):
    X, _, y, _ = split("iris")
    name = next(iter(parameter))
    with pytest.raises(ValueError, match=f"tuned=True chooses '{name}'; leave it at its default"):
        TAKES(tuned=True, **parameter).fit(X, y)


def test_powers_of_weights():
    X, X_new, y, _ = split("heart")
    plain = TAKES(random_state=0).fit(X, y)
    squared = TAKES(random_state=0, weight_power=2.0).fit(X, y)
    assert_allclose(squared.weights_, plain.weights_**2, rtol=1e-12)
    none = TAKES(random_state=0, weight_power=0.0).fit(X, y)
    assert_array_equal(none.transform(X_new), TAKES(random_state=0, weights=None).fit(X, y).transform(X_new))


def test_balanced_stumps_find_a_rare_class(rng):
    # One sample in ten is of class 1, and most of those have large values of feature 3: unweighted, 0 is
    # best.
    X = rng.normal(size=(400, 6))
    y = np.zeros(400, dtype=int)
    y[:40] = 1
    X[:30, 3] += 1.5
    balanced = FFS(1, weak_learner="balanced-stump", weights="individual").fit(X, y)
    own = [FFS(6, weak_learner=weak, weights="individual").fit(X, y) for weak in ("balanced-stump", "stump")]
    assert np.argmax(own[0].scores_) == 3
    assert balanced.scores_.max() > 0
    assert not np.allclose(own[0].scores_, own[1].scores_)


def test_sparse_rows(rng):
    X, X_new, y, _ = split("sonar")
    X, X_new = (np.where(rng.random(a.shape) < 0.5, 0.0, a) for a in (X, X_new))
    for estimator in SPACES:
        model = clone(estimator).set_params(standardize=False)
        expected = model.fit(X, y).transform(X_new)
        made = model.fit(sparse.csr_array(X), y).transform(sparse.csr_array(X_new))
        # The kernel of sparse samples is summed in another order.
        assert_allclose(made, expected, atol=1e-6)
    scaled = TAKES(random_state=0).fit(sparse.csr_array(X), y)
    assert_array_equal(scaled.mean_, np.zeros(60))
    assert_allclose(scaled.scale_, X.std(axis=0), rtol=1e-12)
    # The storage does not matter to a fitted model.
    assert_allclose(scaled.transform(X_new), scaled.transform(sparse.csr_array(X_new)), atol=1e-9)
    for model in (TAKES(random_state=0).fit(X, y), KNNC().fit(X, y), KNNC().fit(sparse.csr_array(X), y)):
        assert_array_equal(model.predict(sparse.csr_array(X_new)), model.predict(X_new))


@pytest.mark.parametrize("estimator", [*SPACES, KNNC(3, kernel="laplacian")], ids=str)
def test_any_number_of_threads_gives_the_same_bits(estimator):
    X, X_new, y, _ = split("wdbc")
    one, two = (clone(estimator).set_params(n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(one.predict(X_new), two.predict(X_new))
    if hasattr(one, "transform"):
        assert_array_equal(one.transform(X_new), two.transform(X_new))
        assert_array_equal(one.weights_, two.weights_)


def test_seeds(sonar):
    X, y = sonar

    def weights(random_state):
        return TAKES(random_state=random_state, weights="individual").fit(X, y).weights_.tolist()

    assert weights(3) == weights(3)
    assert weights(np.random.RandomState(3)) == weights(np.random.RandomState(3))
    assert weights(3) != weights(4)
    model = TAKES(random_state=np.random.RandomState(3)).fit(X, y)
    before = model.random_state.get_state()[2]
    model.predict(X)
    assert model.random_state.get_state()[2] == before


def test_in_pipelines_and_searches():
    X, y = load("wine")
    as_transformer = make_pipeline(TAKES(10, random_state=0), KNeighborsClassifier(5))
    assert cross_val_score(as_transformer, X, y, error_score="raise").mean() > 0.9
    grid = {
        "basis": [KOBL(), KOBL(gamma=0.02), KernelPCA(n_components=10), KernelDiscriminant()],
        "selector": ["kffs", "relief", None],
        "n_neighbors": [1, 3],
    }
    search = GridSearchCV(KernelSpaceSelector(random_state=0), grid, n_jobs=2, cv=3, error_score="raise")
    assert search.fit(X, y).best_score_ > 0.95


def test_frames_and_names():
    data = load_dataset("wine")
    frame = pandas.DataFrame(data.data, columns=data.feature_names)
    y = np.array(["barolo", "grignolino", "barbera"])[data.target]
    model = TAKES(4, random_state=0).set_output(transform="pandas").fit(frame, y)
    assert list(model.transform(frame).columns) == ["takes0", "takes1", "takes2", "takes3"]
    assert_array_equal(model.feature_names_in_, data.feature_names)
    assert set(model.predict(frame)) <= set(y)
    assert model.score(frame, y) > 0.95
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"alcohol": "spirit"}))


def test_saved_models_predict(tmp_path):
    X, X_new, y, _ = split("wine")
    y = np.array(["a", "b", "c"])[y]
    model = TAKES(random_state=0).fit(X, y)
    path = tmp_path / "takes.ks"
    path.write_bytes(model._space.to_bytes())
    saved = load_model(path)
    assert saved.method == "takes"
    assert_array_equal(saved.transform(X_new), model.transform(X_new))
    assert_array_equal(saved.predict(X_new), model.predict(X_new))
    assert saved.predict(X_new).dtype.kind == "U"
    # Integer labels are returned as integers.
    numbers = TAKES(random_state=0).fit(X, np.searchsorted(["a", "b", "c"], y) - 1)
    path.write_bytes(numbers._space.to_bytes())
    assert_array_equal(load_model(path).predict(X_new), numbers.predict(X_new))
    assert load_model(path).predict(X_new).dtype.kind == "i"
    path.write_bytes(KOBL().fit(X)._map.to_bytes())
    with pytest.raises(ValueError, match="a model fitted by kobl does not predict classes"):
        load_model(path).predict(X_new)
    with pytest.raises(ValueError, match="the model is not a selection in kernel space"):
        type(model._space).from_bytes(path.read_bytes())


X30 = np.random.default_rng(0).normal(size=(30, 3))
y30 = np.arange(30) % 3


@pytest.mark.parametrize(
    "act, message",
    [
        (
            lambda: TAKES().fit(X30, [7] * 30),
            "all rows have the class '7'; at least two classes are required",
        ),
        (lambda: KNNC().fit(X30, ["a"] * 30), "KNNC: all rows have the class 'a'"),
        (lambda: FFS().fit(X30, ["a"] * 30), "FFS: all rows have the class 'a'"),
        (
            lambda: TAKES().fit(X30, np.arange(30)),
            "each of the 30 classes has a single row (is the target column correct?)",
        ),
        (
            lambda: ReliefF(target_type="class").fit(X30, np.arange(30)),
            "Relief: each of the 30 classes has a single row",
        ),
        (lambda: TAKES().fit(X30, X30[:, 0]), "Unknown label type: continuous"),
        (
            lambda: TAKES(31).fit(X30, y30),
            "'number of features' must be from 1 to the number of directions, ",
        ),
        (
            lambda: KernelSpaceSelector(KernelPCA(n_components=4), "relief", n_features_to_select=5).fit(
                X30, y30
            ),
            "'number of features' must be from 1 to the number of directions, 4, got 5",
        ),
        (
            lambda: FFS(4).fit(X30, y30),
            "The 'n_features_to_select' parameter of FFS must be at most the number of features, 3.",
        ),
        (
            lambda: TAKES(n_neighbors=31).fit(X30, y30),
            "parameter 'n_neighbors' must be from 1 to the number of training rows, 30, got 31",
        ),
        (
            lambda: KNNC(31).fit(X30, y30),
            "KNNC: parameter 'n_neighbors' must be from 1 to the number of training rows, 30, got 31",
        ),
        (
            lambda: KernelSpaceSelector(selector="relief", relief_neighbors=10).fit(X30, y30),
            "'n_neighbors' must be from 1 to one fewer than the rows of the smallest class, 9, got 10",
        ),
        (lambda: FFS(weak_learner="tree").fit(X30, y30), "The 'weak_learner' parameter of FFS must be a str"),
        (lambda: TAKES(weak_learner="tree").fit(X30, y30), "The 'weak_learner' parameter of TAKES must be"),
        (lambda: TAKES(weights="both").fit(X30, y30), "The 'weights' parameter of TAKES must be"),
        (lambda: FFS(weights=None).fit(X30, y30), "The 'weights' parameter of FFS must be a str among"),
        (lambda: FFS(eta=1.5).fit(X30, y30), "must be a float in the range (0.0, 1.0]. Got 1.5 instead."),
        (lambda: FFS(quantum=2).fit(X30, y30), "The 'quantum' parameter of FFS must be"),
        (
            lambda: FFS(learner_bandwidth=np.inf).fit(X30, y30),
            "The 'learner_bandwidth' parameter of FFS must be",
        ),
        (lambda: KernelSpaceSelector("kobl").fit(X30, y30), "The 'basis' parameter of KernelSpaceSelector"),
        (
            lambda: KernelSpaceSelector(selector="fisher").fit(X30, y30),
            "The 'selector' parameter of KernelSpaceSelector must be a str among",
        ),
        (
            lambda: KernelSpaceSelector(KOBL(gamma=-1)).fit(X30, y30),
            "The 'gamma' parameter of KOBL must be",
        ),
        (
            lambda: KernelSpaceSelector(KOBL(n_components=31)).fit(X30, y30),
            "KOBL: parameter 'n_components' must be from 1 to the number of rows, 30, got 31",
        ),
        (
            lambda: TAKES(kernel="linear", gamma="cv").fit(X30, y30),
            "gamma='cv' needs one of the named kernels that use gamma: 'rbf', 'poly' or 'laplacian'. "
            "Got kernel='linear' instead.",
        ),
        (
            lambda: TAKES(kernel=RBF(1.0), gamma="cv").fit(X30, y30),
            "Got kernel=RBF(gamma=1.0) instead.",
        ),
        (
            lambda: TAKES(gamma="cv", gamma_for_n_components=5).fit(X30, y30),
            "gamma='cv' and gamma_for_n_components both set gamma; give one of them.",
        ),
        (
            lambda: TAKES(gamma="cv", tuned=True).fit(X30, y30),
            "tuned=True and gamma='cv' both choose gamma; give one of them.",
        ),
        (
            lambda: TAKES(gamma_for_n_components=5, tuned=True).fit(X30, y30),
            "tuned=True and gamma_for_n_components both set gamma; give one of them.",
        ),
        (
            lambda: TAKES(kernel="linear", tuned=True).fit(X30, y30),
            "'tune' must be left out for a kernel without gamma, got linear",
        ),
        (
            lambda: FFS().fit(X30, np.arange(30)),
            "FFS: each of the 30 classes has a single row",
        ),
        (
            lambda: TAKES(kernel="poly", gamma_for_n_components=5).fit(X30, y30),
            "gamma_for_n_components needs kernel='rbf'. Got kernel='poly' instead.",
        ),
        (lambda: KNNC(gamma="cv").fit(X30, y30), "The 'gamma' parameter of KNNC must be"),
        (
            lambda: TAKES().fit(X30, y30).predict(X30[:, :2]),
            "X has 2 features, but TAKES is expecting 3 features as input.",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_bad_input_is_a_value_error(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()
