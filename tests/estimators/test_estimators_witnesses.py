"""What estimators make of decision values, beside scikit-learn's own machines, which are witnesses where there is one
kernel: probabilities, scores of outliers, means of counts. The values themselves are those of `solve`, whose witnesses
are in tests/solvers/test_losses_against_sklearn.py."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_tweedie_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import OneClassSVM

from mklcvx import MKLClassifier, MKLRegressor, OneClassMKL
from mklcvx.problem.kernels import Gaussian
from refusals import check_refused
from tables import CANCER, DIABETES, GRAPE, KERNELS, LEARNED, MALIGNANT, RAW, TEST, WINE

pytestmark = pytest.mark.slow

ONE = [Gaussian(0.05)]


NEWTON = {"tol": 1e-12, "solver": "newton-cholesky", "max_iter": 1000}
COUNTED = np.random.default_rng(0).normal(size=(50, 2))
COUNTS = np.random.default_rng(1).poisson(np.exp(1 + COUNTED[:, 0]))
DATA = {"cancer": (CANCER, MALIGNANT), "wine": (WINE, GRAPE), "counts": (COUNTED, COUNTS)}
CASES = {
    "logistic": (
        MKLClassifier("svm", "linear", loss="logistic", C=0.3, **RAW), LogisticRegression(C=0.3, **NEWTON),
        "cancer", {"decision_function": 1e-7, "predict_proba": 1e-7, "predict_log_proba": 1e-6},
    ),
    "each class against the rest": (
        MKLClassifier("svm", "linear", loss="logistic", C=0.3, **RAW),
        OneVsRestClassifier(LogisticRegression(C=0.3, **NEWTON)), "wine", {"predict_proba": 1e-6},
    ),
    "softmax": (
        MKLClassifier("svm", "linear", loss="softmax", C=0.3, **RAW),
        LogisticRegression(C=0.3, tol=1e-12, max_iter=10**5), "wine", {"predict_proba": 1e-6, "predict": 0.0},
    ),
    "poisson": (
        MKLRegressor("svm", "linear", loss="poisson", C=0.5, normalise=None),
        PoissonRegressor(alpha=1 / (0.5 * 50), **NEWTON), "counts", {"predict": 1e-5},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_with_one_kernel_an_estimator_is_scikit_learns(case):
    model, theirs, data, methods = CASES[case]
    X, y = DATA[data]
    model, theirs = clone(model).fit(X, y), clone(theirs).fit(X, y)
    for method, apart in methods.items():
        np.testing.assert_allclose(getattr(model, method)(X), getattr(theirs, method)(X), rtol=1e-6, atol=apart)
    if data != "wine":
        assert model.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-6)


def test_scores_are_weighted():
    model, theirs = (clone(one).fit(COUNTED, COUNTS) for one in CASES["poisson"][:2])
    weight = np.arange(50)
    assert model.score(COUNTED, COUNTS, weight) == pytest.approx(theirs.score(COUNTED, COUNTS, weight), abs=1e-8)


@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_one_class_is_one_class_svm_at_another_scale(nu):
    model, theirs = OneClassMKL("svm", ONE, nu=nu).fit(LEARNED), OneClassSVM(gamma=0.05, nu=nu, tol=1e-10).fit(LEARNED)
    unit, expected = nu * len(LEARNED), theirs.decision_function(DIABETES)
    np.testing.assert_allclose(unit * model.decision_function(DIABETES), expected, atol=1e-6)
    np.testing.assert_allclose(unit * model.score_samples(DIABETES), theirs.score_samples(DIABETES), atol=1e-6)
    np.testing.assert_allclose(unit * model.offset_, theirs.offset_[0], atol=1e-6)
    apart = np.abs(expected) > 1e-5  # others lie on the margin, where rounding decides
    np.testing.assert_array_equal(model.predict(DIABETES)[apart], theirs.predict(DIABETES)[apart])
    assert apart[TEST].all()


@pytest.mark.parametrize(
    ("formulation", "nu"), [("svm", 0.03), ("svm", 0.3), ("l1", 0.1), ("l1", 0.9), ("l2", 0.03), ("l2", 0.3)]
)
def test_at_most_the_share_nu_of_the_training_samples_are_outliers(formulation, nu):
    """Samples on the margin are none: rounding must not count them."""
    kernels = ONE if formulation == "svm" else KERNELS.kernels[:2]
    outliers = OneClassMKL(formulation, kernels, nu=nu).fit(LEARNED).predict(LEARNED) < 0
    assert outliers.sum() <= nu * len(LEARNED) + 1e-9
    assert outliers.sum() >= nu * len(LEARNED) - 12  # those that may lie on the margin


def test_several_counts_are_predicted_and_scored_and_other_responses_refused():
    both = np.column_stack([COUNTS, COUNTS // 2])
    model = MKLRegressor("l1", loss="poisson").fit(COUNTED, both)
    assert model.solutions_[0].certified
    predicted = model.predict(COUNTED)
    assert (predicted > 0).all()
    each = [d2_tweedie_score(both[:, k], predicted[:, k], power=1) for k in range(2)]
    assert model.score(COUNTED, both) == pytest.approx(np.mean(each))
    with check_refused("loss poisson takes counts y ≥ 0", "use another loss"):
        MKLRegressor("l1", loss="poisson").fit(COUNTED, COUNTS - 1)
