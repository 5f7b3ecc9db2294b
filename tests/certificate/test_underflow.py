"""Numbers whose squares, powers and shares underflow: bounds are held to exact arithmetic there, too."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction as F
from types import SimpleNamespace

import numpy as np
import pytest

from covering import covering
from exact_losses import entries, phi, supremum
from mklcvx import Instance, prove, solve
from mklcvx.certificate.joint import At
from mklcvx.certificate.regularisers import Powered, PricedBounds, SquaredBounds
from mklcvx.certificate.rounding import above, below, square_over, times_square
from mklcvx.certificate.sample_terms import Ridge, sample_terms
from mklcvx.certificate.weight_shapes import shape_of
from mklcvx.formulations import Task
from mklcvx.formulations.losses import EVERY, LOGISTIC, POISSON, REAL, PiecewiseQuadratic

COUNT = 24
PRICES = ((-290, -150), (-200, 200), (0, 200))  # exponents
CURVED = [loss for loss in EVERY if isinstance(loss, PiecewiseQuadratic)]


def spread(rng, low, high, count=COUNT):
    return 10.0 ** rng.uniform(low, high, count)


@np.errstate(over="ignore")
def test_a_square_with_a_factor_or_a_divisor_loses_less_than_tiny():
    rng = np.random.default_rng(1)
    for x, other in zip(spread(rng, -300, 100, 500), spread(rng, -150, 150, 500), strict=True):
        square = F(x) ** 2
        for found, exact in ((times_square(other, x), square * F(other)), (square_over(x, other), square / F(other))):
            if exact < F(10) ** 300:
                assert F(float(below(found))) <= exact <= F(float(above(found)))


# -------------------------------------------------------------------------------------------------------- the samples
@np.errstate(over="ignore", under="ignore", invalid="ignore")
def extreme_samples(loss, prices, seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=COUNT) if loss.targets == REAL else np.ones(COUNT)
    task = Task(np.eye(COUNT)[None], y, spread(rng, *prices), loss, bias=False)
    side = sample_terms(task)
    finite = np.clip(np.stack([side.low, side.high]), -9 * task.box, 9 * task.box)
    alpha = finite[0] + (finite[1] - finite[0]) * rng.random(COUNT) * 10.0 ** rng.choice([0, -50, -160], COUNT)
    near = np.nan_to_num(side.a - loss.gradient(alpha, y, task.box), posinf=9.0, neginf=-9.0)
    r = np.clip(np.where(rng.random(COUNT) < 0.5, near, spread(rng, -300, 10)), -1e90, 1e90)
    return task, side, alpha, r, rng.choice([0.0, 1e-160, 1e-15], COUNT)


@pytest.mark.parametrize(("ridge", "prices", "loss"), covering([0.0, 0.3, 1e-60], PRICES, CURVED), ids=str)
def test_samples_cost_at_least_what_they_do_exactly(loss, prices, ridge):
    task, side, alpha, r, off = extreme_samples(loss, prices, 3)
    rate = min(ridge / float(task.box.max()), 1e150)
    with np.errstate(over="ignore", under="ignore"):
        found = side.paying(Ridge(np.full((1, 1), rate), alpha[None])).costs(alpha, r, off)
    rows = entries(loss.shape(task.y, task.box), task.box, getattr(loss, "width", 1.0))
    for i, entry in enumerate(rows):
        paid = [(F(rate), F(float(alpha[i])))] if rate else []
        for end in (F(float(r[i])) + sign * F(float(off[i])) for sign in (-1, 0, 1)):
            top = supremum(entry, end, paid)
            assert found.bound[i] >= top
            assert found.gap[i] >= (math.inf if top == math.inf else top - phi(entry, end, F(float(alpha[i]))))
    exact = sum((phi(entry, entry[0], F(float(a))) for entry, a in zip(rows, alpha, strict=True)), F(0))
    assert below(side.gain(alpha)) <= exact


@pytest.mark.parametrize(
    ("price", "alpha", "r"),
    [(1.4e150, 0.0, -737.4), (3.2e157, 4.5e-11, -491.5), (1e200, 1e-130, -800.0), (1e200, 1e-130, -30.0),
     (1e-300, 3e-301, 1.0)],
)  # fmt: skip
def test_the_logistic_loss_costs_at_least_what_it_does_exactly(price, alpha, r):
    side = sample_terms(Task(np.eye(1)[None], np.ones(1), np.array([price]), LOGISTIC, bias=False))
    found = side.costs(np.array([alpha]), np.array([r]), np.zeros(1))
    with localcontext() as context:
        context.prec = 900
        c, a, e = Decimal(price), Decimal(alpha), Decimal(r)
        loss = c * (1 + e.exp()).ln()
        gain = -sum((part * (part / c).ln() for part in (a, c - a) if part > 0), Decimal(0))
        assert Decimal(float(found.bound[0])) >= loss
        assert Decimal(float(found.gap[0])) >= loss - e * a - gain
        assert Decimal(float(below(side.gain(np.array([alpha]))))) <= gain
        assert float(found.bound[0]) <= float(loss) * (1 + 1e-13) + 1e-280 * max(price, 1.0)


@pytest.mark.parametrize(
    ("price", "y", "part", "z"),
    [(1.4e150, 604.0, 1e-170, -737.4), (3.9e154, 0.0, 3.9e-156, -713.8), (2.9e183, 31.0, 0.0, -800.0),
     (1e200, 0.0, 1e-120, -3.0), (1e-300, 2.0, 1e-300, 0.1),
     (1e200, 3e-300, 1e-100, -700.0), (1e200, 7e-316, 3e-116, -740.0)],
)  # fmt: skip
def test_the_poisson_loss_costs_at_least_what_it_does_exactly(price, y, part, z):
    """α = h − part."""
    side = sample_terms(Task(np.eye(1)[None], np.array([y]), np.array([price]), POISSON, bias=False))
    alpha = np.array([price * y - part])
    found = side.costs(alpha, np.array([-z]), np.zeros(1))
    with localcontext() as context:
        context.prec = 900
        c, h, a = Decimal(price), Decimal(price * y), Decimal(float(alpha[0]))
        p = c * Decimal(z).exp()
        for bound, x in ((found.bound[0], h), (found.gap[0], h - a)):
            assert Decimal(float(bound)) >= (x * (x / p).ln() if x else Decimal(0)) - x + p
        gain = (h * (h / c).ln() if h else Decimal(0)) - a - ((h - a) * ((h - a) / c).ln() if h > a else 0)
        assert Decimal(float(below(side.gain(alpha)))) <= gain


def test_delta_is_paid_for_classes_where_squares_underflow():
    task = SimpleNamespace(box=np.array([2e-170]), y=np.array([[1.0], [-1.0]]))
    at = At(task, np.full((2, 1), 1e-170), np.zeros((2, 1)), np.zeros((2, 1)), 1.0, 1e140)
    zero, ends = at.vertices()
    square = F(1e140) * F(1e-170) ** 2
    assert zero[0] >= square
    assert ends[1, 0] >= square


# ------------------------------------------------------------------------------------------------------- the weights
def test_regularisers_at_prices_that_magnify_what_underflows():
    v = np.array([1e150])
    assert F(SquaredBounds(1, 1e-310).conjugate(v, 0.0)) >= F(1e-310) * F(1e150) ** 2 / 2
    assert F(PricedBounds(1, 1e-160).value(np.array([1e200]))) >= F(1e-160) ** 2 * F(1e200) / 2
    powered, zeta = Powered(1, 1e100, 1.002), np.array([0.22])
    least = 0.99 * 1e100 / 2 * 0.22 ** (powered.p / (powered.p - 1) - 200) * 0.22**200  # below 1e-220, and above 0
    assert powered.conjugate(zeta, 0.0) >= least > 1e-250
    assert powered.fenchel(np.zeros(1), zeta, zeta, 0.0) >= least


def test_ranges_of_weights_where_powers_underflow():
    """φ(x) = cx³/3 − ζx + (2/3)ζx* of `smp` with p = 3, at twice its minimum x*."""
    shape = shape_of("smp", {"theta": 1e-150, "p": 3.0}, 2)
    c = F(4) / (3 * F(1e-150))  # h = 2(p − 1)/(θp)
    zeta, x = 1e-40, 2e-170
    least = F(math.sqrt(zeta / float(c)) / float(c) ** 0.5)
    exact = c**2 * F(x) ** 3 / 3 - F(zeta) * F(x) + 2 * F(zeta) * least / 3
    given = np.array([[x]]), np.array([[zeta]]), np.zeros((1, 1))
    assert shape.cost(*given)[0, 0] >= float(exact) * (1 - 1e-9)
    assert shape.beyond(*given, right=True)[0, 0] <= float(exact) * (1 + 1e-9)


# ------------------------------------------------------------------------------------------------------------ solved
Y, REALS = np.array([1, -1, 1, -1, 1]), np.array([0.3, -1.2, 0.7, 2.0, -0.4])
SOLVED = [
    ("sum", {"y": Y}, "squared_hinge"),
    ("sum", {"y": Y}, "smoothed_hinge"),
    ("sum", {"y": Y}, "logistic"),
    ("l1", {"response": REALS}, "squared"),
    ("l1", {"response": REALS}, "huber"),
    ("l1", {"response": REALS}, "squared_epsilon_insensitive"),
    ("l1", {"response": np.arange(5.0)}, "poisson"),
    ("l1", {"classes": np.arange(5) % 3}, "softmax"),
]


@pytest.mark.parametrize(("name", "targets", "loss"), SOLVED, ids=[loss for *_, loss in SOLVED])
def test_a_certificate_meets_the_proof_at_prices_whose_squares_underflow(name, targets, loss):
    x = np.random.default_rng(0).normal(size=(2, 5, 2))
    instance = Instance(x @ x.transpose(0, 2, 1) + 0.1 * np.eye(5), **targets)
    given = {"loss": loss, "C": 1e-180, "bias": False}
    found, proof = solve(instance, name, **given).certificate, prove(instance, name, **given)
    assert found.lower <= found.upper
    assert found.lower <= proof.upper
    assert proof.lower <= found.upper


def test_prices_that_overflow_in_the_units_of_a_conic_solver_are_no_exception():
    x = np.random.default_rng(0).normal(size=(2, 5, 2))
    instance = Instance(1e148 * x @ x.transpose(0, 2, 1), response=1e99 * REALS / 3, sample_weight=np.full(5, 1e100))
    found = solve(instance, "sum", loss="huber", C=1e100, solver="clarabel").certificate
    assert found.lower <= found.upper
