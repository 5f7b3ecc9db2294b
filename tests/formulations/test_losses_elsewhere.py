"""The losses as scikit-learn states them: the factors of docs/conventions.md between its C, alpha and ours, measured.

One kernel, the declared primal as the optimum. What is compared is the function and the value in our units.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, HuberRegressor, Lasso, LogisticRegression, QuantileRegressor, Ridge
from sklearn.svm import SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from mklcvx import Instance, formulations
from mklcvx.formulations._cvxpy import cp

N = 30
RNG = np.random.default_rng(17)
X = RNG.normal(size=(N, 3))
K = X @ X.T
TARGET = X @ [1.0, -0.5, 0.2] + 0.4 * RNG.standard_t(3, N) + 0.7
LABELS = np.where(TARGET + 0.5 * RNG.normal(size=N) > 0.7, 1.0, -1.0)
REAL = Instance(K[None], response=TARGET)
PLUS_MINUS = Instance(K[None], LABELS)
BARE = Instance(np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))[None])
FEATURES = Instance(np.einsum("im,jm->mij", X, X), response=TARGET)  # a kernel for each


class Declared:
    """The optimum of the declared primal: value, outputs f + b at the samples, α, and Σ‖f_m‖."""

    def __init__(self, instance: Instance, name: str = "svm", **given: object) -> None:
        formulation = formulations.get(name)
        task, _ = formulation.task(instance, given)
        program = formulation.declare_primal(task)
        tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
        program.problem.solve(solver=cp.CLARABEL, **tight)
        points = formulation.from_primal(program, task, 1.0)
        upper = formulation.upper(task, points.primals[0])
        lower = formulation.lower(task, points.duals[0])
        assert upper.value - lower.value <= 1e-5 * abs(upper.value)
        self.task, self.formulation, self.value = task, formulation, upper.value
        self.outputs = task.evaluate(upper.coefficients)[0] + upper.risk.bias
        self.alpha, self.rho, self.size = lower.alpha, upper.risk.rho, float(upper.norms.sum())

    def of(self, outputs: np.ndarray, norm_squared: float, bias: float) -> float:
        """Our objective at a function of theirs: outputs without the bias, and ‖f‖²."""
        assert norm_squared >= 0
        prices = self.task.box
        return norm_squared / 2 + self.task.loss_function.value(outputs + bias, self.task.y, prices).sum()


def check(ours: Declared, w: np.ndarray, bias: float, tolerance: float = 1e-6) -> None:
    """Weights of features: the same objective, and the same function."""
    assert ours.of(X @ w, w @ w, bias) == pytest.approx(ours.value, rel=tolerance)
    np.testing.assert_allclose(X @ w + bias, ours.outputs, atol=3 * np.sqrt(tolerance) * np.abs(ours.outputs).max())


# ------------------------------------------------------------------------------------------------------- a response
def test_svr_has_our_C_and_epsilon_and_its_dual_coefficients_are_alpha():
    model = SVR(kernel="precomputed", C=0.7, epsilon=0.2, tol=1e-10).fit(K, TARGET)
    ours = Declared(REAL, loss="epsilon_insensitive", C=0.7, epsilon=0.2)
    alpha = np.zeros(N)
    alpha[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(model.predict(K), ours.outputs, atol=1e-4)
    np.testing.assert_allclose(K @ alpha, K @ ours.alpha, atol=1e-3)
    assert ours.of(K @ alpha, alpha @ K @ alpha, model.intercept_[0]) == pytest.approx(ours.value, rel=1e-7)


def test_nu_svr_is_our_epsilon_insensitive_at_the_width_that_it_finds():
    price, nu = 0.7, 0.4
    model = NuSVR(kernel="precomputed", C=price, nu=nu, tol=1e-10).fit(K, TARGET)
    alpha = np.zeros(N)
    alpha[model.support_] = model.dual_coef_[0]
    free = (np.abs(alpha) > 1e-6) & (np.abs(alpha) < price - 1e-6)
    width = float(np.abs(TARGET - model.predict(K))[free].mean())
    ours = Declared(REAL, loss="epsilon_insensitive", C=price, epsilon=width)
    np.testing.assert_allclose(model.predict(K), ours.outputs, atol=1e-3)
    assert np.abs(alpha).sum() == pytest.approx(nu * N * price, rel=1e-6)  # ‖α‖₁ ≤ νnC, and ε > 0 makes it equal


def test_kernel_ridge_has_alpha_one_over_C_and_no_bias():
    model = KernelRidge(kernel="precomputed", alpha=0.25).fit(K, TARGET)
    ours = Declared(REAL, loss="squared", C=4.0, bias=False)
    np.testing.assert_allclose(model.predict(K), ours.outputs, atol=1e-6)
    c = model.dual_coef_
    assert ours.of(K @ c, c @ K @ c, 0.0) == pytest.approx(ours.value, rel=1e-9)
    with pytest.raises(AssertionError):  # the factor that is dropped by mistake
        np.testing.assert_allclose(
            KernelRidge(kernel="precomputed", alpha=0.125).fit(K, TARGET).predict(K), ours.outputs, atol=1e-3
        )


def test_ridge_has_alpha_one_over_C_and_a_bias():
    model = Ridge(alpha=0.25, tol=1e-12).fit(X, TARGET)
    check(Declared(REAL, loss="squared", C=4.0), model.coef_, model.intercept_, 1e-9)


@pytest.mark.parametrize(("loss", "factor"), [("epsilon_insensitive", 1.0), ("squared_epsilon_insensitive", 2.0)])
def test_linear_svr_has_no_half_in_its_square(loss, factor):
    model = LinearSVR(loss=loss, C=0.7, epsilon=0.2, fit_intercept=False, tol=1e-9, max_iter=1_000_000, random_state=0)
    w = model.fit(X, TARGET).coef_
    check(Declared(REAL, loss=loss, C=factor * 0.7, epsilon=0.2, bias=False), w, 0.0, 1e-5)


def test_huber_regressor_has_a_scale_that_sets_C_and_delta():
    model = HuberRegressor(epsilon=1.35, alpha=0.05, tol=1e-9, max_iter=10_000).fit(X, TARGET)
    ours = Declared(REAL, loss="huber", C=1 / (0.05 * model.scale_), delta=1.35 * model.scale_)
    check(ours, model.coef_, model.intercept_)


# ------------------------------------------------------------------------- plain norms: a kernel for every feature
def test_lasso_is_l1_with_squared_loss_at_the_price_that_its_norm_sets():
    model = Lasso(alpha=0.08, tol=1e-12, max_iter=100_000).fit(X, TARGET)
    size = float(np.abs(model.coef_).sum())
    ours = Declared(FEATURES, "l1", loss="squared", C=size / (N * 0.08))
    assert ours.size == pytest.approx(size, rel=1e-5)
    np.testing.assert_allclose(model.predict(X), ours.outputs, atol=1e-4)


def test_quantile_regressor_is_l1_with_quantile_loss_at_the_price_that_its_norm_sets():
    model = QuantileRegressor(quantile=0.7, alpha=0.05).fit(X, TARGET)
    size = float(np.abs(model.coef_).sum())
    ours = Declared(FEATURES, "l1", loss="quantile", quantile=0.7, C=size / (N * 0.05))
    theirs = size**2 / 2 + ours.task.loss_function.value(model.predict(X), TARGET, ours.task.box).sum()
    assert theirs == pytest.approx(ours.value, rel=1e-6)


def test_elastic_net_without_its_plain_norm_is_a_mean():
    model = ElasticNet(alpha=0.1, l1_ratio=0.0, tol=1e-12, max_iter=1_000_000).fit(X, TARGET)
    check(Declared(REAL, loss="squared", C=1 / (N * 0.1)), model.coef_, model.intercept_)


# ------------------------------------------------------------------------------------------------------------- labels
def test_logistic_regression_has_our_C():
    model = LogisticRegression(C=0.7, tol=1e-10, max_iter=10_000).fit(X, LABELS)
    check(Declared(PLUS_MINUS, loss="logistic", C=0.7), model.coef_[0], model.intercept_[0])


@pytest.mark.parametrize(("loss", "factor"), [("hinge", 1.0), ("squared_hinge", 2.0)])
def test_linear_svc_has_no_half_in_its_square(loss, factor):
    model = LinearSVC(loss=loss, C=0.7, fit_intercept=False, tol=1e-9, max_iter=1_000_000, random_state=0)
    w = model.fit(X, LABELS).coef_[0]
    check(Declared(PLUS_MINUS, loss=loss, C=factor * 0.7, bias=False), w, 0.0, 1e-5)


def test_nu_svc_returns_what_has_the_margin_one():
    model = NuSVC(kernel="precomputed", nu=0.35, tol=1e-10).fit(K, LABELS)
    ours = Declared(PLUS_MINUS, nu=0.35)  # νn/2 is not whole: b and ρ are unique
    np.testing.assert_allclose(model.decision_function(K) * ours.rho, ours.outputs, atol=1e-5)
    signed = np.zeros(N)
    signed[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(K @ signed * ours.rho, K @ (ours.alpha * LABELS), atol=1e-5)


# --------------------------------------------------------------------------------------------------------- no targets
def test_one_class_svm_counts_in_units_of_nu_n():
    nu, kernel = 0.3, BARE.kernels[0]
    model = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-10).fit(kernel)
    ours = Declared(BARE, loss="one_class", nu=nu)
    alpha = np.zeros(N)
    alpha[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(kernel @ alpha / (nu * N), ours.outputs, atol=1e-5)
    assert model.offset_[0] / (nu * N) == pytest.approx(ours.rho, abs=1e-5)
    assert -(alpha @ kernel @ alpha) / (2 * (nu * N) ** 2) == pytest.approx(ours.value, rel=1e-6)
