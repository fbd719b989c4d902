"""scikit-learn's estimator checks."""

from common import ESTIMATORS
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsift

#: Each estimator with (nearly) its defaults, and with other parameters.
CHECKED = [
    kernsift.KOBL(),
    kernsift.KOBL(pivoting="random", first_pivot="medoid", n_components=3),
    kernsift.KernelGramSchmidt(),
    kernsift.KernelPCA(),
    kernsift.KernelPCA(center=False),
    kernsift.KernelDiscriminant(),
    kernsift.KernelDiscriminant(criterion="gda"),
    kernsift.FisherScore(),
    kernsift.FisherScore(n_features_to_select=1),
    kernsift.FFS(),
    kernsift.FFS(n_features_to_select=1, weak_learner="klms", quantum=0.1),
    kernsift.ReliefF(),
    kernsift.ReliefF(n_features_to_select=1, difference="squared"),
    kernsift.SVMRFE(),
    kernsift.SVMRFE(n_features_to_select=1, kernel="rbf", step=0.4),
    kernsift.L1SVM(),
    kernsift.L1SVM(n_features_to_select=1),
    kernsift.ReliefF(n_neighbors=1, metric="euclidean", units="unscaled", n_samples=20, random_state=0),
    kernsift.InformationGain(),
    kernsift.InformationGain(n_features_to_select=1, discretizer="frequency", measure="ratio"),
    kernsift.MutualInformation(),
    kernsift.MutualInformation(n_features_to_select=1, discrete="all"),
    kernsift.ChiSquared(),
    kernsift.ChiSquared(n_features_to_select=1, statistic="bins", discretizer="width"),
    kernsift.LaplacianScore(),
    kernsift.LaplacianScore(n_features_to_select=1, graph="classes"),
    kernsift.HSFS(),
    kernsift.HSFS(n_features_to_select=1, diagonal=True, random_state=0),
    kernsift.HSFS(form="penalized", directions=2, max_iter=50, random_state=0),
    kernsift.LDFS(),
    kernsift.LDFS(n_features_to_select=1, form="normalized", ridge=1.0),
    kernsift.LDFS(form="constrained", penalty=0.05),
    kernsift.PFS(),
    kernsift.PFS(n_features_to_select=1, n_components=1),
    kernsift.FOHSIC(),
    kernsift.FOHSIC(n_features_to_select=1, estimator="unbiased", gamma=0.5),
    kernsift.AutoSelector(),
    kernsift.AutoSelector(n_features_to_select=1, cv=3, time_budget=60.0),
    kernsift.NCASelector(),
    kernsift.NCASelector(n_features_to_select=1, search="gradient", swaps=True, n_subsamples=2),
    kernsift.BAHSIC(),
    kernsift.BAHSIC(n_features_to_select=1, form="fast", step=0.5, target_kernel="delta"),
    kernsift.HSICLasso(),
    kernsift.HSICLasso(n_features_to_select=1, block_size=2, permutations=2),
    kernsift.InteractionScreen(),
    kernsift.InteractionScreen(2, permutations=3, alpha=0.5),
    kernsift.SelectSignificant(),
    kernsift.SelectSignificant(0.5, statistic="hsic", permutations=9, random_state=0),
    kernsift.KnockoffSelector(random_state=0),
    kernsift.KnockoffSelector(kernsift.FisherScore(), 0.5, n_copies=2, normal_scores=True, random_state=0),
    kernsift.StabilitySelector(n_pairs=2, random_state=0),
    kernsift.StabilitySelector(kernsift.FisherScore(n_features_to_select=1), n_pairs=3, random_state=0),
    kernsift.TAKES(),
    kernsift.TAKES(weak_learner="stump", weights=None, standardize=False, random_state=0),
    kernsift.TAKES(tuned=True),
    kernsift.KernelSpaceSelector(),
    kernsift.KernelSpaceSelector(kernsift.KernelGramSchmidt(), "relief"),
    kernsift.KernelSpaceSelector(kernsift.KernelPCA(), "relief"),
    kernsift.KernelSpaceSelector(kernsift.KernelDiscriminant(), None),
    kernsift.KNNC(),
    kernsift.KNNC(kernel="laplacian", standardize=False),
    kernsift.SVC(),
    kernsift.SVC(kernel="linear", class_weight="balanced"),
    kernsift.SVC(kernel="precomputed"),
    kernsift.SVCCV(C=[1.0, 10.0], cv=2),
    kernsift.LinearSVC(),
    kernsift.LinearSVC(penalty="l1"),
    kernsift.KernelDesign(n_triplets=100),
    kernsift.KernelDesign(["rbf"], psd="dominance_with_noise", n_triplets=50, gamma1=1e-3, gamma2=1e-4),
    kernsift.XingMetric(n_triplets=100),
    kernsift.XingMetric(diagonal=True, standardize=False, n_triplets=100, ridge=0.1),
]


def test_no_estimator_is_forgotten():
    assert {type(estimator) for estimator in CHECKED} == set(ESTIMATORS.values())


def without_weights(estimator):
    """The checks of weights that fail because these parameters do not support them."""
    parameters = estimator.get_params(deep=False)
    if parameters.get("estimator") != "unbiased" and parameters.get("block_size") is None:
        return {}
    names = ["pandas_series", "not_an_array", "list", "shape", "not_overwritten"]
    checks = [f"check_sample_weights_{name}" for name in names]
    checks += [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    return dict.fromkeys(checks, "weights are refused with a block size and with the unbiased estimate")


@parametrize_with_checks(CHECKED, expected_failed_checks=without_weights)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
