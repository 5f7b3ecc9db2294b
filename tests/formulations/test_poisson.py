"""The Poisson loss: half the deviance of counts, its conjugate on the half line, and the box that no optimum leaves."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.stats import poisson
from sklearn.metrics import mean_poisson_deviance

from mklcvx import Instance, prove, solve
from mklcvx.checker.audit import check
from mklcvx.formulations.losses import POISSON
from mklcvx.zoo import regression
from refusals import check_refused

COUNTED = regression.counts(16, 3, 4)
K, Y = COUNTED.kernels, COUNTED.response
PRICES = 1 + np.arange(16) % 3 / 2


def found(y, bias=True, name="l1", **given):
    solution = solve(Instance(K, response=y, sample_weight=PRICES), name, loss="poisson", tol=1e-10, bias=bias, **given)
    assert solution.certified, solution.message
    return solution


def test_the_value_is_half_the_deviance_and_the_likelihood_but_for_a_constant():
    rng = np.random.default_rng(0)
    y, z = rng.poisson(3.0, 200).astype(float), rng.normal(1.0, 1.0, 200)
    value = POISSON.value(z, y, np.ones(200))
    assert 2 * value.mean() == pytest.approx(mean_poisson_deviance(y, np.exp(z)), rel=1e-12)
    at_best = poisson.logpmf(y, np.where(y > 0, y, 1e-300))
    assert value == pytest.approx(at_best - poisson.logpmf(y, np.exp(z)), abs=1e-10)
    assert (value > 0).all()
    assert not POISSON.value(np.log(np.arange(1.0, 21)), np.arange(1.0, 21), np.ones(20)).any()  # but for rounding


@pytest.mark.parametrize("near", [0.0, 1e-13, 1e-7, 1e-2, 3.0])
def test_the_divergence_loses_no_digits(near):
    rng = np.random.default_rng(1)
    y, price = rng.poisson(2.0, 200) * 10.0 ** rng.integers(-3, 4, 200), 10.0 ** rng.uniform(-3, 3, 200)
    z = rng.normal(size=200) * 3
    alpha = np.minimum(price * (y - np.exp(z) * (1 + near * rng.normal(size=200))), price * y)
    gap = POISSON.fenchel_young(alpha, z, y, price)
    with localcontext() as context:
        context.prec = 60
        for i in range(200):
            c, h, out = (Decimal(float(part)) for part in (price[i], price[i] * y[i], z[i]))
            u, p = h - Decimal(float(alpha[i])), c * out.exp()
            exact = (u * (u / p).ln() if u else 0) - u + p
            rounding = 1e-15 * float(abs(h) + p)  # of cy − α, whose square counts
            assert float(gap[i]) == pytest.approx(float(exact), rel=1e-6, abs=rounding**2 / float(p) + rounding * near)


def test_four_last_bits_are_rounding_and_five_are_not():
    """Those of an exponential and of products. A count of 1 + x at z = 0 costs x²/2."""
    eps = float(np.finfo(float).eps)
    found = POISSON.value(np.zeros(4), 1 + eps * np.array([-4.0, 4.0, -5.0, 5.0]), np.ones(4))
    assert found == pytest.approx([0, 0, 12.5 * eps**2, 12.5 * eps**2], rel=1e-9, abs=0)


def test_counts_need_not_be_whole_numbers():
    """g(α) = c [u − u log u − y + y log y] with u = y − α/c."""
    y, price, alpha = np.array([0.3, 0.9, 1.7, 0.0]), np.array([2.0, 0.5, 3.0, 1.0]), np.array([0.2, -0.4, 1.0, -0.6])
    u = y - alpha / price
    expected = price * (u - u * np.log(u) - y + y * np.log(np.where(y > 0, y, 1.0)))
    for i in range(4):
        assert POISSON.gain(alpha[[i]], y[[i]], price[[i]]) == pytest.approx(expected[i], rel=1e-13)
        (constant,) = POISSON.constants(y[[i]], price[[i]]).values()
        assert constant == pytest.approx(price[i] * (y[i] * math.log(y[i] or 1.0) - y[i]), rel=1e-14)
    (constant,) = POISSON.constants(y, price).values()
    assert constant == pytest.approx(np.sum(price * (y * np.log(np.where(y > 0, y, 1.0)) - y)))


@pytest.mark.parametrize("seed", range(20))
def test_no_optimum_leaves_the_box(seed):
    """Without a bias no sample costs more than all of them at f = 0; with one the sum of α is zero."""
    rng = np.random.default_rng(seed)
    y, price = rng.poisson(10.0 ** rng.uniform(-1, 3), 6).astype(float), 10.0 ** rng.uniform(-3, 3, 6)
    low, high = POISSON.bounds(y, price)
    most = POISSON.value(np.zeros(6), y, price).sum()
    for z in np.linspace(-30, 30, 2001):
        outputs = np.full(6, z)
        fits = POISSON.value(outputs, y, price) <= most
        assert (price * (y - np.exp(outputs)) > low)[fits].all()
    assert (-price @ y > low).all()
    assert (high == price * y).all()


def test_alpha_of_a_solution_is_the_count_less_its_mean():
    for bias in (True, False):
        solution = found(Y, bias)
        mean = np.exp(solution.decision_function(K))
        assert solution.alpha == pytest.approx(PRICES * (Y - mean), abs=1e-5)
        assert not bias or PRICES @ mean == pytest.approx(PRICES @ Y, rel=1e-7)
        assert (solution.alpha[Y == 0] < 0).all()


def test_the_bias_is_the_logarithm_of_a_ratio():
    rng = np.random.default_rng(2)
    outputs = 300 * rng.normal(size=16)
    risk = POISSON.risk(outputs, Y, PRICES, True)
    assert PRICES @ np.exp(outputs + risk.bias) == pytest.approx(PRICES @ Y, rel=1e-12)
    assert risk.bias_interval == (risk.bias, risk.bias)


@pytest.mark.parametrize("times", [0.01, 7.0])
def test_counts_in_other_units_at_the_matching_price(times):
    """y times t and C/t: α, f and the value stay, b is larger by log t."""
    plain, other = found(Y, C=2.0), found(times * Y, C=2.0 / times)
    assert other.objective == pytest.approx(plain.objective, rel=1e-9)
    assert other.alpha == pytest.approx(plain.alpha, abs=1e-5)
    assert other.bias - plain.bias == pytest.approx(math.log(times), abs=1e-6)
    assert found(times * Y, C=2.0).objective != pytest.approx(plain.objective, rel=1e-2)


@pytest.mark.parametrize("name", ["l1", "sm2", "li"])
def test_equal_counts_leave_nothing_to_the_kernels(name, tmp_path):
    """The value is 0 but for the price of weights, which no exponential of a logarithm hits: the gap is compared with
    Σ cy. The checker says the same."""
    instance = Instance(K, response=np.full(16, 3.0))
    solution = solve(instance, name, loss="poisson")
    assert solution.certified, solution.message
    assert solution.bias == pytest.approx(math.log(3), rel=1e-14)
    assert solution.certificate.gap < 1e-20
    assert check(K, instance.response, solution.as_dict()) == pytest.approx([solution.objective] * 2, abs=1e-12)
    assert prove(instance, name, loss="poisson").upper == pytest.approx(solution.objective, abs=1e-12)


def test_refusals():
    with check_refused("loss poisson takes counts y ≥ 0, the least is -1", "use another loss"):
        found(Y - 1)
    with check_refused("loss poisson has no minimum with a bias where all counts are 0", "set bias to false"):
        found(np.zeros(16))
    assert found(np.zeros(16), bias=False).objective > 0
    outputs = np.array([[1.0, 2.0], [0.0, 0.0]])  # one of two
    with check_refused("loss poisson has no minimum with a bias where all counts are 0"):
        POISSON.prices(1.0, np.ones(2), outputs, True)
    assert POISSON.prices(1.0, np.ones(2), outputs, False).tolist() == [1.0, 1.0]
    with check_refused("loss poisson needs counts, the instance has y: use loss hinge"):
        solve(K, "l1", y=np.where(Y > 1, 1, -1), loss="poisson")
