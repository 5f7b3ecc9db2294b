"""One kernel, every loss that scikit-learn has: its machines are witnesses of certified optima, to their own accuracy.

Their function is put into our objective: no value can lie below the certificate's lower bound, and it may exceed the
upper one by `value` of it, which states how well that machine solves; `function` states how far the outputs differ, of
the largest. The factors between its parameters and ours are those of docs/conventions.md.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.linear_model import ElasticNet, HuberRegressor, Lasso, LogisticRegression, PoissonRegressor, Ridge
from sklearn.svm import SVR, LinearSVC, LinearSVR, NuSVC

from covering import covering
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


# ------------------------------------------------------------------------------------------ linear models, on features
class Witness(NamedTuple):
    """A machine, made for a bias or none and the sum of the weights, and what ours is given; its accuracy."""

    loss: str
    targets: np.ndarray
    machine: Callable
    given: dict
    value: float
    function: float
    kernels: tuple[str, ...] = tuple(KERNELS)
    biases: tuple[bool, ...] = (True, False)


NEWTON = {"max_iter": 1000, "solver": "newton-cholesky"}
LIBLINEAR = {"C": C, "tol": 1e-9, "max_iter": 10**6, "random_state": 0, "fit_intercept": False}
OF_LIBLINEAR = {"kernels": ("linear",), "biases": (False,)}  # which is without the ½ of our squares
WITNESSES = {
    "ridge": Witness("squared", TARGET, lambda b, _: Ridge(alpha=0.25, fit_intercept=b), {"C": 4.0}, 1e-13, 1e-12),
    "logistic": Witness(
        "logistic", LABELS, lambda b, _: LogisticRegression(C=C, tol=1e-14, fit_intercept=b, **NEWTON),
        {"C": C}, 1e-13, 1e-10,
    ),
    # The mean of the halves of the deviance, and ½ alpha ‖w‖²: C = 1/(alpha Σ weights).
    "poisson": Witness(
        "poisson", COUNTS,
        lambda b, total: PoissonRegressor(alpha=1 / (C * total), tol=1e-12, fit_intercept=b, **NEWTON),
        {"C": C}, 1e-13, 1e-10,
    ),
    **{
        loss: Witness(
            loss, LABELS, lambda _, __, loss=loss: LinearSVC(loss=loss, dual=True, **LIBLINEAR),
            {"C": half * C}, 1e-10, 2e-9, **OF_LIBLINEAR,
        )
        for loss, half in (("hinge", 1.0), ("squared_hinge", 2.0))
    },
    **{
        loss: Witness(
            loss, TARGET, lambda _, __, loss=loss: LinearSVR(loss=loss, epsilon=0.2, **LIBLINEAR),
            {"C": half * C, "epsilon": 0.2}, 1e-9, 2e-8, **OF_LIBLINEAR,
        )
        for loss, half in (("epsilon_insensitive", 1.0), ("squared_epsilon_insensitive", 2.0))
    },
}  # fmt: skip
CASES = [
    (name, *row) for name, witness in WITNESSES.items() for row in covering(witness.kernels, WEIGHTS, witness.biases)
]


def check_witness(witness, kernel, weight, bias):
    features, back = factor(kernel)
    model = witness.machine(bias, WEIGHTS[weight].sum())
    model.fit(features, witness.targets, sample_weight=WEIGHTS[weight])
    given = {**witness.given, "bias": bias, "value": witness.value, "function": witness.function}
    intercept = float(np.ravel(model.intercept_)[0]) if bias else 0.0
    check(kernel, weight, witness.loss, witness.targets, back @ np.ravel(model.coef_), intercept, **given)


@pytest.mark.parametrize(("name", "kernel", "weight", "bias"), CASES)
def test_a_linear_model_is_our_optimum(name, kernel, weight, bias):
    check_witness(WITNESSES[name], kernel, weight, bias)


def test_a_machine_for_another_price_is_no_witness():
    other = WITNESSES["ridge"]._replace(machine=lambda b, _: Ridge(alpha=0.2501, fit_intercept=b))
    with pytest.raises(AssertionError):
        check_witness(other, "rbf", "even", False)


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
    model = linear_model.QuantileRegressor(quantile=0.7, alpha=0.05).fit(X, TARGET)
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
