"""One kernel, every loss that scikit-learn has: its machines are witnesses of certified optima, to their own accuracy.

Their function is put into our objective: no value can lie below the certificate's lower bound, and it may exceed the
upper one by `value` of it, which states how well that machine solves; `function` states how far the outputs differ, of
the largest. The factors between its parameters and ours are those of docs/conventions.md.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from sklearn.svm import SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from mklcvx import Instance, formulations, solve

pytestmark = pytest.mark.slow

N = 40
RNG = np.random.default_rng(17)
X = RNG.normal(size=(N, 3))
TARGET = X @ [1.0, -0.5, 0.2] + 0.4 * RNG.standard_t(3, N) + 0.7
LABELS = np.where(TARGET + 0.5 * RNG.normal(size=N) > 0.7, 1.0, -1.0)
COUNTS = np.floor(np.exp(TARGET))
KERNELS = {"linear": X @ X.T, "rbf": np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))}
WEIGHTS = {"even": np.ones(N), "weighted": 1 + np.arange(N) % 3 / 2}
C = 0.7

over_kernels = pytest.mark.parametrize("kernel", KERNELS)
over_weights = pytest.mark.parametrize("weight", WEIGHTS)
over_biases = pytest.mark.parametrize("bias", [True, False])


class Factor(NamedTuple):
    """K = FF', and what leads from weights of its columns to coefficients: f = F w = K (back w)."""

    columns: np.ndarray
    back: np.ndarray


@cache
def factor(kernel: str) -> Factor:
    values, vectors = np.linalg.eigh(KERNELS[kernel])
    kept = values > 1e-12 * values.max()
    return Factor(vectors[:, kept] * np.sqrt(values[kept]), vectors[:, kept] / np.sqrt(values[kept]))


def dual_coefficients(model) -> np.ndarray:
    """One per sample, zero but for support vectors."""
    full = np.zeros(N)
    full[model.support_] = model.dual_coef_[0]
    return full


def check(kernel, weight, loss, targets, beta, intercept, *, value, function, **given) -> None:
    """Their function K beta + intercept, ‖f‖² = beta'K beta."""
    matrix, kind = KERNELS[kernel], "y" if targets is LABELS else "response"
    instance = Instance(matrix[None], **{kind: targets}, sample_weight=WEIGHTS[weight])
    ours = solve(instance, "svm", solver="interior", tol=1e-10, loss=loss, **given)
    assert ours.certified, ours.message
    task, _ = formulations.get("svm").task(instance, ours.parameters)
    outputs, mine = matrix @ beta, ours.decision_function(matrix[None])
    theirs = float(beta @ outputs / 2 + task.loss_function.value(outputs + intercept, task.y, task.box).sum())
    assert ours.certificate.lower <= theirs * (1 + 1e-14)
    assert theirs <= ours.certificate.upper * (1 + value)
    assert np.abs(outputs + intercept - mine).max() <= function * np.abs(mine).max()


# ------------------------------------------------------------------------------------------------- LIBSVM: a response
@over_kernels
@over_weights
def test_svr(kernel, weight):
    model = SVR(kernel="precomputed", C=C, epsilon=0.2, tol=1e-10)
    model.fit(KERNELS[kernel], TARGET, sample_weight=WEIGHTS[weight])
    given = {"C": C, "epsilon": 0.2, "value": 2e-7, "function": 1e-6}
    beta = dual_coefficients(model)
    check(kernel, weight, "epsilon_insensitive", TARGET, beta, model.intercept_[0], **given)


@over_kernels
@over_weights
def test_nu_svr_at_the_width_that_it_finds(kernel, weight):
    prices = C * WEIGHTS[weight]
    model = NuSVR(kernel="precomputed", C=C, nu=0.4, tol=1e-10)
    model.fit(KERNELS[kernel], TARGET, sample_weight=WEIGHTS[weight])
    beta = dual_coefficients(model)
    free = (np.abs(beta) > 1e-6) & (np.abs(beta) < prices - 1e-6)
    width = float(np.abs(TARGET - model.predict(KERNELS[kernel]))[free].mean())
    given = {"C": C, "epsilon": width, "value": 2e-7, "function": 1e-6}
    check(kernel, weight, "epsilon_insensitive", TARGET, beta, model.intercept_[0], **given)
    assert np.abs(beta).sum() == pytest.approx(0.4 * prices.sum(), rel=1e-9)


# ------------------------------------------------------------------------------------------------------ linear algebra
@over_kernels
@over_weights
def test_kernel_ridge(kernel, weight):
    model = KernelRidge(kernel="precomputed", alpha=0.25).fit(KERNELS[kernel], TARGET, sample_weight=WEIGHTS[weight])
    given = {"C": 4.0, "bias": False, "value": 1e-13, "function": 1e-12}
    check(kernel, weight, "squared", TARGET, model.dual_coef_, 0.0, **given)


@over_kernels
@over_weights
def test_ridge_with_a_bias(kernel, weight):
    features, back = factor(kernel)
    model = Ridge(alpha=0.25).fit(features, TARGET, sample_weight=WEIGHTS[weight])
    given = {"C": 4.0, "value": 1e-13, "function": 1e-12}
    check(kernel, weight, "squared", TARGET, back @ model.coef_, model.intercept_, **given)


# ------------------------------------------------------------------------------------------------------------- Newton
@over_kernels
@over_weights
@over_biases
def test_logistic_regression(kernel, weight, bias):
    features, back = factor(kernel)
    model = LogisticRegression(C=C, tol=1e-14, max_iter=1000, fit_intercept=bias, solver="newton-cholesky")
    model.fit(features, LABELS, sample_weight=WEIGHTS[weight])
    given = {"C": C, "bias": bias, "value": 1e-13, "function": 1e-10}
    intercept = float(model.intercept_[0]) if bias else 0.0
    check(kernel, weight, "logistic", LABELS, back @ model.coef_[0], intercept, **given)


@over_kernels
@over_weights
@over_biases
def test_poisson_regression(kernel, weight, bias):
    """The mean of the halves of the deviance, and ½ alpha ‖w‖²: C = 1/(alpha Σ weights)."""
    features, back = factor(kernel)
    price = 1 / (C * WEIGHTS[weight].sum())
    model = PoissonRegressor(alpha=price, tol=1e-12, max_iter=1000, fit_intercept=bias, solver="newton-cholesky")
    model.fit(features, COUNTS, sample_weight=WEIGHTS[weight])
    given = {"C": C, "bias": bias, "value": 1e-13, "function": 1e-10}
    check(kernel, weight, "poisson", COUNTS, back @ model.coef_, float(model.intercept_), **given)


# ------------------------------------------------------------------------------------- LIBLINEAR, without the ½ of ours
@over_weights
@pytest.mark.parametrize(("loss", "half"), [("hinge", 1.0), ("squared_hinge", 2.0)])
def test_linear_svc(weight, loss, half):
    features, back = factor("linear")
    model = LinearSVC(loss=loss, C=C, fit_intercept=False, tol=1e-9, max_iter=10**6, random_state=0, dual=True)
    model.fit(features, LABELS, sample_weight=WEIGHTS[weight])
    given = {"C": half * C, "bias": False, "value": 1e-10, "function": 2e-9}
    check("linear", weight, loss, LABELS, back @ model.coef_[0], 0.0, **given)


@over_weights
@pytest.mark.parametrize(("loss", "half"), [("epsilon_insensitive", 1.0), ("squared_epsilon_insensitive", 2.0)])
def test_linear_svr(weight, loss, half):
    features, back = factor("linear")
    model = LinearSVR(loss=loss, C=C, epsilon=0.2, fit_intercept=False, tol=1e-9, max_iter=10**6, random_state=0)
    model.fit(features, TARGET, sample_weight=WEIGHTS[weight])
    given = {"C": half * C, "epsilon": 0.2, "bias": False, "value": 1e-9, "function": 2e-8}
    check("linear", weight, loss, TARGET, back @ model.coef_, 0.0, **given)


# -------------------------------------------------------------------------------------------------------- quasi-Newton
def test_huber_regressor_at_the_scale_that_it_finds():
    """On the linear kernel: it can interpolate with the other one, and its scale collapses."""
    features, back = factor("linear")
    model = HuberRegressor(epsilon=1.35, alpha=0.05, tol=1e-9, max_iter=10**4).fit(features, TARGET)
    given = {"C": 1 / (0.05 * model.scale_), "delta": 1.35 * model.scale_, "value": 1e-9, "function": 3e-5}
    check("linear", "even", "huber", TARGET, back @ model.coef_, model.intercept_, **given)


# ------------------------------------------------------------------------- plain norms: a kernel for every feature
FEATURES = Instance(np.einsum("im,jm->mij", X, X), response=TARGET)


def test_lasso_is_l1_with_squared_loss_at_the_price_that_its_norm_sets():
    model = Lasso(alpha=0.08, tol=1e-12, max_iter=100_000).fit(X, TARGET)
    size = float(np.abs(model.coef_).sum())
    ours = solve(FEATURES, "l1", loss="squared", C=size / (N * 0.08))
    assert ours.certified, ours.message
    assert ours.norms.sum() == pytest.approx(size, rel=1e-5)
    np.testing.assert_allclose(model.predict(X), ours.decision_function(FEATURES.kernels), atol=1e-4)


def test_quantile_regressor_is_l1_with_quantile_loss_at_the_price_that_its_norm_sets():
    model = QuantileRegressor(quantile=0.7, alpha=0.05).fit(X, TARGET)
    size = float(np.abs(model.coef_).sum())
    ours = solve(FEATURES, "l1", loss="quantile", quantile=0.7, C=size / (N * 0.05))
    task, _ = formulations.get("l1").task(FEATURES, ours.parameters)
    theirs = size**2 / 2 + task.loss_function.value(model.predict(X), TARGET, task.box).sum()
    assert theirs == pytest.approx(ours.objective, rel=1e-6)


def test_elastic_net_without_its_plain_norm_is_a_mean():
    model = ElasticNet(alpha=0.1, l1_ratio=0.0, tol=1e-12, max_iter=1_000_000).fit(X, TARGET)
    given = {"C": 1 / (N * 0.1), "value": 1e-9, "function": 1e-4}
    features, back = factor("linear")
    beta = back @ np.linalg.lstsq(features, X @ model.coef_, rcond=None)[0]
    check("linear", "even", "squared", TARGET, beta, model.intercept_, **given)


def test_nu_svc_returns_what_has_the_margin_one():
    model = NuSVC(kernel="precomputed", nu=0.35, tol=1e-10).fit(KERNELS["linear"], LABELS)
    ours = solve(Instance(KERNELS["linear"][None], LABELS), "svm", nu=0.35)  # b and ρ are unique
    scaled = model.decision_function(KERNELS["linear"]) * ours.multipliers["rho"]
    np.testing.assert_allclose(scaled, ours.decision_function(KERNELS["linear"][None]), atol=1e-5)


# ----------------------------------------------------------------------------------------------------------- no targets
@over_weights
@pytest.mark.parametrize("nu", [0.3, 0.55])
def test_one_class_svm(weight, nu):
    """LIBSVM's ν counts the sum of the weights, ours the samples; its α are in units of that sum."""
    matrix, weights = KERNELS["rbf"], WEIGHTS[weight]
    model = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-10).fit(matrix, sample_weight=weights)
    total = nu * weights.sum()
    ours = solve(
        Instance(matrix[None], sample_weight=weights), "svm", solver="interior", tol=1e-10, nu=total / N,
    )  # fmt: skip
    assert ours.certified, ours.message
    alpha = dual_coefficients(model) / total
    theirs = -float(alpha @ matrix @ alpha) / 2
    assert alpha.sum() == pytest.approx(1, rel=1e-12)
    assert ours.certificate.lower * (1 + 1e-9) <= theirs <= ours.certificate.upper * (1 - 1e-14)
    np.testing.assert_allclose(matrix @ alpha, matrix @ ours.alpha, rtol=0, atol=1e-6)
    assert model.offset_[0] / total == pytest.approx(ours.multipliers["rho"], rel=1e-6)


# ------------------------------------------------------------------------------------------- a witness can be refuted
@over_kernels
def test_a_machine_for_another_price_is_no_witness(kernel):
    model = KernelRidge(kernel="precomputed", alpha=0.2501).fit(KERNELS[kernel], TARGET)
    given = {"C": 4.0, "bias": False, "value": 1e-13, "function": 1e-12}
    with pytest.raises(AssertionError):
        check(kernel, "even", "squared", TARGET, model.dual_coef_, 0.0, **given)
