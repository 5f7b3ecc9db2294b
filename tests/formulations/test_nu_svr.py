"""ν-SVR: the ε-insensitive loss with an unknown tube."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import NuSVR as LibNuSVR

from mklcvx import Instance, solve
from mklcvx.formulations import Task
from mklcvx.formulations.losses.nu_svr import NuSVR
from refusals import check_refused

RNG = np.random.default_rng(0)
N = 24
X = RNG.normal(size=(N, 3))
K = np.stack([np.exp(-((X[:, None, j] - X[:, j]) ** 2)) for j in range(3)])
Y = X[:, 0] + 0.3 * RNG.standard_t(3, N)
PRICES = 0.7 * (1 + np.arange(N) % 3 / 2)
over_biases = pytest.mark.parametrize("bias", [True, False])
over_shares = pytest.mark.parametrize("nu", [0.1, 0.4, 1.0])


def task(nu: float, bias: bool = True, kernels: np.ndarray = K) -> Task:
    return Task(kernels, Y, PRICES, NuSVR(nu), bias)


@over_shares
@over_biases
def test_the_risk_is_the_least_over_bias_and_tube(nu, bias):
    for seed in range(5):
        outputs = np.random.default_rng(seed).normal(size=N)
        problem, b, tube = task(nu, bias), cp.Variable() if bias else 0.0, cp.Variable(nonneg=True)
        cost = PRICES @ cp.pos(cp.abs(Y - outputs - b) - tube) + nu * PRICES.sum() * tube
        risk = problem.risk(outputs)
        assert risk.value == pytest.approx(cp.Problem(cp.Minimize(cost)).solve(solver="CLARABEL"), rel=1e-7)
        assert risk.epsilon >= 0


@over_biases
@pytest.mark.parametrize("name", ["l1", "li"])
def test_without_anything_left_out_it_is_the_absolute_residual(name, bias):
    instance = Instance(K, response=Y, sample_weight=PRICES)
    plain, free = (solve(instance, name, bias=bias, **given) for given in (
        {"loss": "absolute"}, {"loss": "nu_svr", "nu": 1.0}))  # fmt: skip
    assert free.certificate.lower <= plain.certificate.upper
    assert plain.certificate.lower <= free.certificate.upper
    assert free.objective == pytest.approx(plain.objective, rel=1e-8)
    assert free.alpha == pytest.approx(plain.alpha, abs=1e-5)


def test_several_outputs_are_refused():
    instance = Instance(K, response=np.stack([Y, -Y], axis=1))
    with check_refused("loss nu_svr has no form for several outputs", "or use loss epsilon_insensitive"):
        solve(instance, "l1", loss="nu_svr")


def test_the_bias_may_lie_anywhere_between_where_the_prices_balance():
    """With unit prices and N/2 = 2, either end of the tube may lie anywhere between two residuals."""
    outputs = np.array([0.0, 0.5, 1.5, 3.0, 3.2, 4.0, 6.0, 6.5])
    problem = Task(np.eye(8)[None], np.zeros(8), np.ones(8), NuSVR(0.5), True)
    risk = problem.risk(outputs)
    # The lower end of −outputs − b lies between the second and the third residual, the upper one likewise.
    assert risk.bias_interval == pytest.approx((-(1.5 + 6.0) / 2, -(0.5 + 4.0) / 2))
    tubes = np.linspace(0.0, 7.0, 7001)
    for bias in np.linspace(*risk.bias_interval, 5):
        beyond = np.maximum(np.abs(outputs + bias) - tubes[:, None], 0.0).sum(axis=1)
        assert (beyond + 4.0 * tubes).min() == pytest.approx(risk.value, abs=1e-9)
    assert Task(np.eye(8)[None], np.zeros(8), np.ones(8), NuSVR(0.5), False).risk(outputs).bias_interval == (0.0, 0.0)


@over_biases
def test_alpha_is_never_too_long_by_a_last_bit(bias):
    """Wild points of many sizes, prices far apart: ‖α‖₁ ≤ N in exact arithmetic, whatever rounding does to N."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        loss, price = NuSVR(float(rng.uniform(0.01, 1.0))), 10 ** rng.uniform(-6, 6, n)
        alpha = loss.feasible(rng.normal(size=n) * 10 ** rng.uniform(-9, 9), np.zeros(n), price, bias)
        assert sum(map(Fraction, np.abs(alpha).tolist())) <= Fraction(loss.most(price))
        assert not bias or sum(map(Fraction, alpha.tolist())) == 0
        assert np.array_equal(loss.feasible(alpha, np.zeros(n), price, bias), alpha)


@over_shares
def test_one_kernel_is_libsvm(nu):
    kernel = K.sum(axis=0)
    ours = solve(Instance(kernel[None], response=Y, sample_weight=PRICES), "svm", loss="nu_svr", C=1.0, nu=nu)
    alpha, value = ours.alpha, ours.objective
    model = LibNuSVR(kernel="precomputed", C=1.0, nu=nu, tol=1e-10).fit(kernel, Y, sample_weight=PRICES)
    theirs = np.zeros(N)
    theirs[model.support_] = model.dual_coef_[0]
    assert theirs == pytest.approx(alpha, abs=1e-4)
    assert Y @ theirs - theirs @ kernel @ theirs / 2 == pytest.approx(value, rel=1e-6)
    assert model.intercept_[0] == pytest.approx(ours.bias, abs=1e-5)
    outside = np.abs(alpha) > PRICES * (1 - 1e-5)
    assert PRICES[outside].sum() <= nu * PRICES.sum() * (1 + 1e-6) <= PRICES[np.abs(alpha) > 1e-6].sum() * (1 + 1e-5)
