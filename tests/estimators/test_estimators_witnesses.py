"""Estimators beside scikit-learn's own machines, which are witnesses where there is one kernel."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_tweedie_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from mklcvx import MKLClassifier, MKLRegressor, OneClassMKL, load_model
from mklcvx.problem.kernels import Gaussian
from refusals import check_refused
from tables import (
    CANCER,
    DIABETES,
    GRAPE,
    KERNELS,
    LEARNED,
    MALIGNANT,
    PROGRESSION,
    RAW,
    TARGET,
    TEST,
    TRAIN,
    WINE,
)

pytestmark = pytest.mark.slow

ONE = [Gaussian(0.05)]


def factor(X, gamma):
    """F with F F' the Gaussian kernel of the samples."""
    values, vectors = np.linalg.eigh(np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=-1)))
    return vectors * np.sqrt(values.clip(0))


NEWTON = {"tol": 1e-12, "solver": "newton-cholesky", "max_iter": 1000}
LIBLINEAR = {"fit_intercept": False, "max_iter": 10**6}
COUNTED = np.random.default_rng(0).normal(size=(50, 2))
COUNTS = np.random.default_rng(1).poisson(np.exp(1 + COUNTED[:, 0]))
DATA = {
    "diabetes": (LEARNED, TARGET),
    "cancer": (CANCER, MALIGNANT),
    "wine": (WINE, GRAPE),
    "counts": (COUNTED, COUNTS),
}
CASES = {
    "liblinear's squared losses are ours at twice the price": (
        MKLRegressor("svm", "linear", loss="squared_epsilon_insensitive", C=2.0, epsilon=0.2, bias=False, **RAW),
        LinearSVR(loss="squared_epsilon_insensitive", C=1.0, epsilon=0.2, tol=1e-10, **LIBLINEAR),
        "diabetes", {"predict": 1e-6},
    ),
    "squared hinge": (
        MKLClassifier("svm", "linear", loss="squared_hinge", C=2.0, bias=False, **RAW),
        LinearSVC(C=1.0, tol=1e-10, **LIBLINEAR), "cancer", {"decision_function": 1e-5},
    ),
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
    "crammer and singer": (
        MKLClassifier("svm", "linear", loss="crammer_singer", C=0.5, bias=False, **RAW),
        LinearSVC(multi_class="crammer_singer", C=0.5, tol=1e-9, **LIBLINEAR), "wine", {"decision_function": 1e-4},
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


@pytest.mark.parametrize("nu", [0.03, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("formulation", ["svm", "l1", "l2"])
def test_at_most_the_share_nu_of_the_training_samples_are_outliers(formulation, nu):
    """Samples on the margin are none: rounding must not count them."""
    kernels = ONE if formulation == "svm" else KERNELS.kernels[:2]
    outliers = OneClassMKL(formulation, kernels, nu=nu).fit(LEARNED).predict(LEARNED) < 0
    assert outliers.sum() <= nu * len(LEARNED) + 1e-9
    assert outliers.sum() >= nu * len(LEARNED) - 12  # those that may lie on the margin


def test_logistic_on_a_kernel_is_that_of_its_features():
    machine, map_of_kernel = MKLClassifier("svm", [Gaussian(0.02)], loss="logistic", C=3.0), factor(CANCER, 0.02)
    expected = LogisticRegression(C=3.0, **NEWTON).fit(map_of_kernel, MALIGNANT).predict_proba(map_of_kernel)
    np.testing.assert_allclose(machine.fit(CANCER, MALIGNANT).predict_proba(CANCER), expected, atol=3e-6)


def test_nu_is_nu_svc_at_another_scale():
    model = MKLClassifier("svm", [Gaussian(0.02)], loss="nu", nu=0.2).fit(CANCER, MALIGNANT)
    theirs = NuSVC(gamma=0.02, nu=0.2, tol=1e-10).fit(CANCER, MALIGNANT)
    rho = model.solutions_[0].multipliers["rho"]
    np.testing.assert_allclose(model.decision_function(CANCER) / rho, theirs.decision_function(CANCER), atol=1e-5)
    np.testing.assert_array_equal(model.predict(CANCER), theirs.predict(CANCER))
    unnamed = MKLClassifier("svm", [Gaussian(0.02)], nu=0.2).fit(CANCER, MALIGNANT)
    np.testing.assert_array_equal(unnamed.decision_function(CANCER), model.decision_function(CANCER))


def test_several_targets_with_one_kernel_are_kernel_ridge():
    targets = np.column_stack([PROGRESSION, DIABETES[:, 2]])[TRAIN]
    model = MKLRegressor("svm", ONE, C=2.0, bias=False).fit(LEARNED, targets)
    theirs = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.05).fit(LEARNED, targets)
    apart = np.linalg.norm(model.predict(LEARNED) - theirs.predict(LEARNED))
    gap = model.certificate_.gap  # the value grows by ½C of the square, and by ½‖·‖² of the difference of functions
    assert apart <= np.sqrt(2 * gap / 2.0)
    np.testing.assert_allclose(model.predict(DIABETES), theirs.predict(DIABETES), rtol=0, atol=np.sqrt(2 * gap))
    assert gap < 1e-7


@pytest.mark.parametrize("weighted", [False, True])
def test_nu_svr_is_that_of_scikit_learn(tmp_path, weighted):
    weight = 0.5 + np.arange(len(TARGET)) % 3 if weighted else None
    size = TARGET.std()  # of the targets: LIBSVM's tolerance is absolute
    model = MKLRegressor("svm", [Gaussian(0.02)], loss="nu_svr", C=2.0, nu=0.3, **RAW)
    model.fit(LEARNED, TARGET / size, weight)
    theirs = NuSVR(gamma=0.02, C=2.0, nu=0.3, tol=1e-10).fit(LEARNED, TARGET / size, weight)
    assert model.predict(DIABETES) == pytest.approx(theirs.predict(DIABETES), abs=1e-4)
    assert model.intercept_ == pytest.approx(theirs.intercept_[0], abs=1e-4)
    held = np.zeros(len(TARGET))
    held[theirs.support_] = theirs.dual_coef_[0]
    assert model.dual_coef_ == pytest.approx(held, abs=1e-3)
    tube = model.solutions_[0].multipliers["epsilon"]
    prices = np.ones(len(TARGET)) if weight is None else weight
    outside = np.abs(TARGET / size - model.predict(LEARNED)) > tube * (1 + 1e-6)
    assert prices[outside].sum() <= 0.3 * prices.sum() <= prices[np.abs(model.dual_coef_) > 1e-9].sum()
    model.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").predict(LEARNED) == pytest.approx(model.predict(LEARNED), rel=1e-12)


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
