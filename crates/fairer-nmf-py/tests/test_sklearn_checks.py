"""scikit-learn's own checks, without exceptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from fairer_nmf import FairerNMF

# The seed makes "same fit twice" checks meaningful, as for scikit-learn's own NMF.
ESTIMATORS = [
    FairerNMF(random_state=0),
    FairerNMF(method="mu", random_state=0),
    FairerNMF(method="standard", random_state=0),
    FairerNMF(method="standard", normalize="features", random_state=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)
