"""Estimators beside scikit-learn's own machines, which are witnesses where there is one kernel."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import d2_tweedie_score, r2_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

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


def test_epsilon_insensitive_is_svr():
    model = MKLRegressor("svm", ONE, loss="epsilon_insensitive", C=2.0, epsilon=0.2).fit(LEARNED, TARGET)
    theirs = SVR(gamma=0.05, C=2.0, epsilon=0.2, tol=1e-10).fit(LEARNED, TARGET)
    np.testing.assert_allclose(model.predict(DIABETES), theirs.predict(DIABETES), atol=1e-6)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_[0], atol=1e-6)
    beta = np.zeros(len(TARGET))
    beta[theirs.support_] = theirs.dual_coef_[0]
    np.testing.assert_allclose(model.dual_coef_, beta, atol=1e-5)


def test_squared_without_bias_is_kernel_ridge():
    model = MKLRegressor("svm", ONE, C=2.0, bias=False).fit(LEARNED, TARGET)
    theirs = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.05).fit(LEARNED, TARGET)
    np.testing.assert_allclose(model.predict(DIABETES), theirs.predict(DIABETES), atol=1e-9)
    np.testing.assert_allclose(model.dual_coef_, theirs.dual_coef_, atol=1e-9)
    assert model.score(DIABETES, PROGRESSION) == r2_score(PROGRESSION, model.predict(DIABETES))


def test_squared_losses_are_liblinears_at_twice_the_price():
    model = MKLRegressor("svm", "linear", loss="squared_epsilon_insensitive", C=2.0, epsilon=0.2, bias=False, **RAW)
    theirs = LinearSVR(
        loss="squared_epsilon_insensitive", C=1.0, epsilon=0.2, tol=1e-10, fit_intercept=False, max_iter=10**6
    )
    expected = theirs.fit(LEARNED, TARGET).predict(DIABETES)
    np.testing.assert_allclose(model.fit(LEARNED, TARGET).predict(DIABETES), expected, atol=1e-6)
    machine = MKLClassifier("svm", "linear", loss="squared_hinge", C=2.0, bias=False, **RAW).fit(CANCER, MALIGNANT)
    theirs = LinearSVC(C=1.0, tol=1e-10, fit_intercept=False, max_iter=10**6).fit(CANCER, MALIGNANT)
    np.testing.assert_allclose(machine.decision_function(CANCER), theirs.decision_function(CANCER), atol=1e-5)


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


def test_logistic_is_logistic_regression():
    model = MKLClassifier("svm", "linear", loss="logistic", C=0.3, **RAW).fit(CANCER, MALIGNANT)
    theirs = LogisticRegression(C=0.3, tol=1e-12, solver="newton-cholesky", max_iter=1000).fit(CANCER, MALIGNANT)
    np.testing.assert_allclose(model.decision_function(CANCER), theirs.decision_function(CANCER), atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(CANCER), theirs.predict_proba(CANCER), atol=1e-7)
    np.testing.assert_allclose(model.predict_log_proba(CANCER), theirs.predict_log_proba(CANCER), atol=1e-6)
    machine, map_of_kernel = MKLClassifier("svm", [Gaussian(0.02)], loss="logistic", C=3.0), factor(CANCER, 0.02)
    theirs = LogisticRegression(C=3.0, tol=1e-12, solver="newton-cholesky", max_iter=1000)
    expected = theirs.fit(map_of_kernel, MALIGNANT).predict_proba(map_of_kernel)
    np.testing.assert_allclose(machine.fit(CANCER, MALIGNANT).predict_proba(CANCER), expected, atol=3e-6)


def test_probabilities_of_many_classes_are_those_of_one_against_the_rest():
    model = MKLClassifier("svm", "linear", loss="logistic", C=0.3, **RAW).fit(WINE, GRAPE)
    one = LogisticRegression(C=0.3, tol=1e-12, solver="newton-cholesky", max_iter=1000)
    expected = OneVsRestClassifier(one).fit(WINE, GRAPE).predict_proba(WINE)
    np.testing.assert_allclose(model.predict_proba(WINE), expected, atol=1e-6)
    np.testing.assert_array_equal(model.classes_[model.predict_proba(WINE).argmax(axis=1)], model.predict(WINE))


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


def test_softmax_is_multinomial_logistic_regression():
    model = MKLClassifier("svm", "linear", loss="softmax", C=0.3, **RAW).fit(WINE, GRAPE)
    theirs = LogisticRegression(C=0.3, tol=1e-12, max_iter=10**5).fit(WINE, GRAPE)
    np.testing.assert_allclose(model.predict_proba(WINE), theirs.predict_proba(WINE), atol=1e-6)
    np.testing.assert_array_equal(model.predict(WINE), theirs.predict(WINE))


def test_crammer_singer_is_liblinears():
    model = MKLClassifier("svm", "linear", loss="crammer_singer", C=0.5, bias=False, **RAW).fit(WINE, GRAPE)
    theirs = LinearSVC(multi_class="crammer_singer", C=0.5, tol=1e-9, fit_intercept=False, max_iter=10**6)
    expected = theirs.fit(WINE, GRAPE).decision_function(WINE)
    np.testing.assert_allclose(model.decision_function(WINE), expected, atol=1e-4)


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


def test_poisson_is_poisson_regression_and_scores_its_deviance(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = rng.poisson(np.exp(1 + X[:, 0]))
    model = MKLRegressor("svm", "linear", loss="poisson", C=0.5, normalise=None).fit(X, y)
    other = PoissonRegressor(alpha=1 / (0.5 * 50), tol=1e-12, solver="newton-cholesky", max_iter=1000).fit(X, y)
    assert model.predict(X) == pytest.approx(other.predict(X), rel=1e-6)
    assert model.intercept_ == pytest.approx(other.intercept_, abs=1e-6)
    assert model.score(X, y) == pytest.approx(other.score(X, y), abs=1e-8)
    assert model.score(X, y, np.arange(50)) == pytest.approx(other.score(X, y, np.arange(50)), abs=1e-8)
    model.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").predict(X) == pytest.approx(model.predict(X), rel=1e-12)
    both = MKLRegressor("l1", loss="poisson").fit(X, np.column_stack([y, y // 2]))
    assert both.solutions_[0].certified
    assert both.predict(X).shape == (50, 2)
    assert (both.predict(X) > 0).all()
    each = [d2_tweedie_score(y // part, both.predict(X)[:, k], power=1) for k, part in enumerate((1, 2))]
    assert both.score(X, np.column_stack([y, y // 2])) == pytest.approx(np.mean(each))
    with check_refused("loss poisson takes counts y ≥ 0", "use another loss"):
        MKLRegressor("l1", loss="poisson").fit(X, y - 1)
