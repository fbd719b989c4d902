"""Pictures: what stands on the axes, and what is refused."""

import itertools
import sys

import matplotlib
import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

import kernsift
from kernsift import (
    BAHSIC,
    FFS,
    FOHSIC,
    HSFS,
    KOBL,
    LDFS,
    PFS,
    SVC,
    SVMRFE,
    TAKES,
    FisherScore,
    HSICLasso,
    KernelDesign,
    KernelDiscriminant,
    KernelGramSchmidt,
    KernelPCA,
    KernelSpaceSelector,
    NCASelector,
    XingMetric,
    plot_error_curve,
    plot_kernels,
    plot_map,
    plot_margins,
    plot_path,
    plot_redundancy,
    plot_residuals,
    plot_scores,
)

matplotlib.use("agg")
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def design():
    wine = kernsift.load_dataset("wine")
    frame = pandas.DataFrame(wine.data, columns=wine.feature_names)
    return KernelDesign(gamma1=1e-3, gamma2=1e-4, random_state=0).fit(frame, wine.target)


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def is_drawn_whole(ax):
    """Whether all that is drawn lies inside the figure, and no two labels of the bars overlap."""
    figure = ax.figure
    figure.canvas.draw()
    drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert drawn.x0 >= 0 and drawn.y0 >= 0 and drawn.x1 <= width and drawn.y1 <= height
    if ax.patches:
        boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(boxes))
    return True


class TestScores:
    def test_columns_best_first(self, wine):
        X, y = wine
        names = kernsift.load_dataset("wine").feature_names
        fitted = FisherScore(4).fit(pandas.DataFrame(X, columns=names), y)
        ax = plot_scores(fitted)
        assert labels(ax) == [names[j] for j in fitted.order_[:4]]
        assert_allclose([bar.get_width() for bar in ax.patches], fitted.scores_[fitted.order_[:4]])
        assert ax.get_title() == "4 of 13 features selected"
        # The first bar is at the top.
        assert ax.yaxis_inverted()
        assert is_drawn_whole(ax)

    @pytest.mark.parametrize("n", [3, 20, 200])
    def test_any_number_of_columns_with_long_names(self, n, rng):
        X = rng.normal(size=(60, n))
        frame = pandas.DataFrame(
            X, columns=[f"a name that is far too long for an axis, {j}" for j in range(n)]
        )
        ax = plot_scores(FisherScore(n).fit(frame, X[:, 0] > 0))
        assert len(ax.patches) == min(n, 20)
        assert all(len(label) <= 56 for label in labels(ax))
        assert ("the best 20 of 200" in ax.get_title()) == (n == 200)
        assert is_drawn_whole(ax)

    def test_names_are_no_formulas(self, rng):
        X = rng.normal(size=(60, 3))
        frame = pandas.DataFrame(X, columns=["$x^{$", "_hidden\nnext\u202e", "<b>"])
        ax = plot_scores(FisherScore(3).fit(frame, X[:, 0] > 0))
        assert is_drawn_whole(ax)
        path = plot_path(LDFS(penalty=1e-4).fit(frame, X[:, 0] + X[:, 1] > 0))
        path.figure.canvas.draw()
        assert sorted(legend(path)) == [r" _hidden next", r"\$x^{\$", "<b>"][: len(legend(path))] or legend(
            path
        )
        assert "\u202e" not in "".join(legend(path))

    def test_directions_and_learners(self, wine, design):
        X, y = wine
        space = TAKES(random_state=0).fit(X, y)
        ax = plot_scores(space)
        assert labels(ax)[0] == f"direction {space.order_[0]}" and len(ax.patches) == space.n_selected_
        assert ax.get_title() == f"{space.n_selected_} of {space.basis_.n_components_} directions selected"
        assert len(plot_scores(design, max_features=3).patches) == 3
        assert len(plot_scores(XingMetric(random_state=0).fit(X, y)).patches) == 13


class TestCurves:
    def test_the_number_kept_is_marked(self, wine):
        X, y = wine
        for fitted in (FFS().fit(X, y), TAKES(random_state=0).fit(X, y)):
            curve, mark = plot_error_curve(fitted).lines
            assert_allclose(curve.get_ydata(), 100 * fitted.error_curve_)
            assert_array_equal(curve.get_xdata(), np.arange(1, len(fitted.error_curve_) + 1))
            assert mark.get_xdata()[0] == fitted.support_.sum()

    def test_rounds_that_take_several_columns(self, wine):
        X, y = wine
        curve, mark = plot_error_curve(SVMRFE(4, step=5).fit(X, y)).lines
        assert_array_equal(curve.get_xdata(), [1, 3, 8, 13])
        assert mark.get_xdata()[0] == 4

    @pytest.mark.parametrize(
        "estimator, label",
        [
            (HSFS(3, random_state=0), "radius"),
            (HSFS(form="penalized", penalty=0.01, max_iter=20, random_state=0), "penalty"),
            (LDFS(3), "penalty"),
            (PFS(3), "penalty"),
            (HSICLasso(3), "penalty"),
            (FOHSIC(3), "number of features"),
            (BAHSIC(3), "number of features"),
            (NCASelector(3), "number of features"),
        ],
        ids=str,
    )
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_paths(self, estimator, label, wine):
        X, y = wine
        fitted = estimator.fit(X, y)
        ax = plot_path(fitted, max_features=2)
        assert ax.get_xlabel() == label
        best = [f"x{j}" for j in fitted.order_[fitted.support_[fitted.order_]][:2]]
        assert legend(ax) == best
        line = next(line for line in ax.lines if line.get_label() == best[0])
        last = dict(zip(fitted.path_.features[-1], fitted.path_.weights[-1], strict=True))
        assert line.get_ydata()[-1] == last.get(fitted.order_[0], 0)
        assert ax.xaxis_inverted() == (label == "penalty")
        assert is_drawn_whole(ax)

    @pytest.mark.parametrize(
        "basis", [KOBL(), KernelGramSchmidt(n_components=5), KernelPCA(), KernelDiscriminant()], ids=str
    )
    def test_residuals(self, basis, wine):
        X, y = wine
        ax = plot_residuals(basis.fit(X, y))
        curve, stop = ax.lines
        assert_array_equal(curve.get_ydata(), basis.residual_norms_)
        assert stop.get_xdata()[0] == basis.n_components_
        assert is_drawn_whole(ax)

    def test_residuals_of_a_space_are_those_of_its_basis(self, wine):
        X, y = wine
        space = KernelSpaceSelector().fit(X, y)
        assert_array_equal(plot_residuals(space).lines[0].get_ydata(), space.basis_.residual_norms_)


class TestMaps:
    def test_points_keep_the_spread(self, wine):
        X, _ = wine
        fitted = KOBL().fit(X)
        ax = plot_map(fitted, X)
        points = np.asarray(ax.collections[0].get_offsets())
        mapped = fitted.transform(X)
        variances = np.linalg.eigvalsh(np.cov(mapped.T))[::-1]
        assert_allclose(np.var(points, axis=0, ddof=1), variances[:2], rtol=1e-8)
        share = f"({100 * variances[0] / variances.sum():.0f} % of the variance)"
        assert ax.get_xlabel() == f"direction 1 {share}"

    def test_a_learned_kernel_is_mapped_by_itself(self, design):
        wine = kernsift.load_dataset("wine")
        points = np.vstack([c.get_offsets() for c in plot_map(design, wine.data).collections])
        k = design.kernel(wine.data)
        center = np.eye(len(k)) - 1 / len(k)
        assert_allclose((points**2).sum(axis=0), np.linalg.eigvalsh(center @ k @ center)[::-1][:2], rtol=1e-6)

    def test_colours(self, wine):
        X, y = wine
        fitted = KernelDiscriminant().fit(X, y)
        names = np.array(["a", "b", "$c$"])[y]
        assert legend(plot_map(fitted, X, names)) == [r"\$c\$", "a", "b"]
        by_number = plot_map(fitted, X, X[:, 0])
        assert_allclose(by_number.collections[0].get_array(), X[:, 0])
        assert len(by_number.figure.axes) == 2
        with pytest.raises(ValueError, match="y has 3 values, but X has 178 samples"):
            plot_map(fitted, X, y[:3])
        with pytest.raises(ValueError, match="178 classes, more than ten"):
            plot_map(fitted, X, [str(i) for i in range(178)])

    def test_one_direction_and_sparse_rows(self, wine):
        X, y = wine
        plot_map(KernelDiscriminant().fit(X, y > 0), X, y > 0)
        ax = plot_map(FisherScore(3).fit(sparse.csr_array(X), y), sparse.csr_array(X), y)
        assert len(legend(ax)) == 3

    def test_redundancy(self, rng):
        x = rng.normal(size=1500)
        X = np.column_stack([x, x**3, rng.normal(size=1500), np.zeros(1500)])
        for given in (X, sparse.csr_array(X)):
            ax = plot_redundancy(FisherScore(3).fit(given, x > 0), given)
            alike = np.asarray(ax.images[0].get_array())
            places = [labels(ax).index(f"x{j}") for j in range(3)]
            one, curve, noise = places
            assert alike[one, curve] > 0.5 > 0.1 > alike[one, noise]
            assert_allclose(np.diag(alike), 1)
            assert is_drawn_whole(ax)

    def test_a_constant_column_is_like_nothing(self, rng):
        X = np.column_stack([rng.normal(size=(50, 2)), np.ones(50)])
        alike = np.asarray(plot_redundancy(FisherScore(3).fit(X, X[:, 0] > 0), X).images[0].get_array())
        assert_allclose(alike[-1], 0)


class TestLearners:
    def test_kernels(self, design):
        ax = plot_kernels(design, max_kernels=4)
        heaviest = np.sort(design.alpha_)[::-1][:4]
        assert_allclose([bar.get_width() for bar in ax.patches], heaviest)
        best = design.kernels_[design.alpha_.argmax()]
        assert labels(ax)[0].startswith(design.feature_names_in_[best.feature] + ": ")
        assert is_drawn_whole(ax)

    def test_margins(self, design):
        wine = kernsift.load_dataset("wine")
        triplets = kernsift.triplets_from_labels(wine.target, 200, 1)
        ax = plot_margins(design, wine.data, triplets)
        assert sum(bar.get_height() for bar in ax.patches) == 200
        assert legend(ax) == [f"{100 * design.score(wine.data, triplets):.1f} % satisfied"]
        assert legend(plot_margins(design, wine.data, wine.target)) == [
            f"{100 * design.score(wine.data, wine.target):.1f} % satisfied"
        ]


PICTURES = {
    "plot_scores": (lambda ax: plot_scores(FisherScore(3).fit(*DATA), ax=ax)),
    "plot_error_curve": (lambda ax: plot_error_curve(FFS().fit(*DATA), ax=ax)),
    "plot_path": (lambda ax: plot_path(LDFS(3).fit(*DATA), ax=ax)),
    "plot_residuals": (lambda ax: plot_residuals(KOBL().fit(*DATA), ax=ax)),
    "plot_map": (lambda ax: plot_map(KOBL().fit(*DATA), *DATA, ax=ax)),
    "plot_redundancy": (lambda ax: plot_redundancy(FisherScore(3).fit(*DATA), DATA[0], ax=ax)),
    "plot_kernels": (lambda ax: plot_kernels(KernelDesign(gamma1=1e-3, gamma2=0.0).fit(*DATA), ax=ax)),
    "plot_margins": (lambda ax: plot_margins(XingMetric(random_state=0).fit(*DATA), *DATA, ax=ax)),
}
DATA = (lambda iris: (iris.data, iris.target))(kernsift.load_dataset("iris"))


def test_every_picture_is_listed():
    assert sorted(PICTURES) == [name for name in kernsift.__all__ if name.startswith("plot_")]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_go_where_they_are_told(name, monkeypatch):
    _, (first, second) = pyplot.subplots(1, 2)
    assert PICTURES[name](second) is second
    assert second.has_data() and not first.has_data()
    assert len(pyplot.get_fignums()) == 1
    alone = PICTURES[name](None)
    assert alone.figure not in (first.figure,) and len(pyplot.get_fignums()) == 2
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="the plot needs matplotlib, which is not installed"):
        PICTURES[name](None)


def test_wrong_estimators_raise_with_advice(wine):
    X, y = wine
    fisher, kobl, svc = FisherScore().fit(X, y), KOBL().fit(X), SVC().fit(X, y)
    for act, message in [
        (lambda: plot_scores(kobl), "KOBL has no scores. Pass a selector"),
        (lambda: plot_scores(svc), "SVC has no scores. Pass a selector"),
        (lambda: plot_error_curve(fisher), "FisherScore has no error_curve_. Pass one of: FFS"),
        (lambda: plot_path(fisher), "FisherScore has no path_. Pass one of: HSFS"),
        (lambda: plot_residuals(fisher), "FisherScore has no residual_norms_. Pass one of: a basis"),
        (lambda: plot_redundancy(kobl, X), "KOBL does not select features. Pass a selector"),
        (lambda: plot_kernels(fisher), "FisherScore has no kernel weights. Pass a KernelDesign"),
        (lambda: plot_margins(fisher, X, y), "FisherScore is not a kernel learner. Pass a KernelDesign"),
    ]:
        with pytest.raises(TypeError, match=message):
            act()
    for act in (
        lambda: plot_scores(FisherScore()),
        lambda: plot_error_curve(FFS()),
        lambda: plot_path(LDFS()),
        lambda: plot_residuals(KOBL()),
        lambda: plot_map(KOBL(), X),
        lambda: plot_redundancy(FisherScore(), X),
        lambda: plot_kernels(KernelDesign()),
        lambda: plot_margins(XingMetric(), X, y),
    ):
        with pytest.raises(NotFittedError):
            act()
    # Nothing was begun that could not be ended.
    assert pyplot.get_fignums() == []
