"""scikit-learn's own checks over every estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsift


@parametrize_with_checks(
    [
        kernsift.KOBL(),
        kernsift.KOBL(pivoting="random", first_pivot="medoid", n_components=3),
        kernsift.KernelGramSchmidt(),
        kernsift.KernelPCA(),
        kernsift.KernelPCA(center=False),
        kernsift.KernelDiscriminant(),
        kernsift.KernelDiscriminant(criterion="gda"),
        kernsift.FisherScore(),
        kernsift.FisherScore(n_features_to_select=1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
