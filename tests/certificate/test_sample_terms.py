"""What a sample costs: held to exact rational arithmetic, and to sixty digits for the logistic loss."""

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction as F

import numpy as np
import pytest

from covering import covering
from exact_losses import entries, phi, supremum
from mklcvx.certificate.sample_terms import Ridge, sample_terms
from mklcvx.formulations import Task, losses
from mklcvx.formulations.losses import EVERY, LOGISTIC, POISSON, REAL, EpsilonInsensitive, NuSVR, PiecewiseQuadratic

COUNT = 60
QUADRATIC = [loss for loss in EVERY if isinstance(loss, PiecewiseQuadratic)]
RIDGES = (0.0, 1e-3, 0.9, 2.0)  # times 1/c: δ beside the curvature of the smooth losses


def case(loss, seed, scale):
    """A task of many samples, α in its box, residuals near and far, errors and centres of δ."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=COUNT) * 10.0**scale if loss.targets == REAL else np.ones(COUNT)
    price = 10.0 ** rng.uniform(-scale, scale + 0.1, COUNT)
    task = Task(np.eye(COUNT)[None], y, price, loss, bias=False)
    side = sample_terms(task)
    finite = np.clip(np.stack([side.low, side.high]), -9 * price, 9 * price)
    alpha = finite[0] + (finite[1] - finite[0]) * rng.choice([0.0, 0.3, 0.5, 1.0, rng.random()], COUNT)
    alpha = np.where(rng.random(COUNT) < 0.2, 0.0, np.clip(alpha, side.low, side.high))
    slope = loss.gradient(alpha, y, price) - side.a  # r at which α is optimal, but for its sign
    near = np.nan_to_num(-slope, posinf=9.0, neginf=-9.0)
    r = near + rng.choice([0.0, 1e-14, 1e-7, 1.0], COUNT) * rng.normal(size=COUNT) * (1 + np.abs(near))
    off = rng.choice([0.0, 1e-300, 1e-15, 1e-3], COUNT) * (1 + np.abs(r))
    return task, side, alpha, r, off


@pytest.mark.parametrize(("scale", "delta", "loss"), covering([0.0, 4.0, 9.0], RIDGES, QUADRATIC), ids=str)
def test_costs_are_above_the_exact_ones_and_hardly_so(loss, delta, scale):
    task, side, alpha, r, off = case(loss, 7, scale)
    rates = np.array([[delta / float(task.box.max())], [0.0]])
    centres = alpha * np.array([[1.0], [1 + 1e-9]])
    found = side.paying(Ridge(rates, centres)).costs(alpha, r, off)
    rows = entries(loss.shape(task.y, task.box), task.box, getattr(loss, "width", 1.0))
    for i, entry in enumerate(rows):
        ridge = [(F(float(d)), F(float(c))) for d, c in zip(rates[:, 0], centres[:, i], strict=True) if d]
        ends = [F(float(r[i])) + sign * F(float(off[i])) for sign in (-1, 0, 1)]
        suprema = [supremum(entry, end, ridge) for end in ends]
        exact = F(float(alpha[i]))
        gaps = [top - phi(entry, end, exact) for top, end in zip(suprema, ends, strict=True)]
        assert found.bound[i] >= max(suprema)
        assert found.gap[i] >= max(gaps)
        if delta == 0:
            noise = 1e-14 * abs(float(r[i])) * abs(float(alpha[i])) * 1e-2
            assert found.gap[i] <= float(max(gaps)) * (1 + 1e-9) + noise + 1e-250
            assert found.bound[i] <= float(max(suprema)) * (1 + 1e-12) + 1e-250


@pytest.mark.parametrize("delta", [0.0, 0.9])
@pytest.mark.parametrize("tube", [0.0, 1e-9, 0.3, 1e6])
def test_a_tube_that_is_an_unknown_costs_what_a_given_one_does_and_its_own_price(tube, delta):
    """At any ε the samples cost what they do with that ε; Nε is exact, and ε(N − ‖α‖₁) from above."""
    free, held = NuSVR(0.4), EpsilonInsensitive(tube)
    task, side, alpha, r, off = case(free, 3, 2.0)
    alpha = free.feasible(alpha, task.y, task.box, False)
    ridge = Ridge(np.full((1, 1), delta / float(task.box.max())), alpha[None])
    given = sample_terms(replace(task, loss=held)).paying(ridge).costs(alpha, r, off)
    found = side.paying(ridge).at(tube).costs(alpha, r, off)
    assert np.array_equal(found.bound, given.bound)
    assert np.array_equal(found.gap, given.gap)
    most, length = F(0.4 * math.fsum(task.box)), sum(map(F, np.abs(alpha).tolist()))
    assert sum(map(F, side.level_terms(tube))) == most * F(tube)
    (slack,) = side.slack_terms(alpha, tube)
    assert (
        most * F(tube) - length * F(tube) <= F(slack) <= (most - length) * F(tube) * (1 + F(1, 10**12)) + F(1, 10**250)
    )
    exact = sum(F(a) * F(y) for a, y in zip(alpha.tolist(), task.y.tolist(), strict=True))
    assert side.gain(alpha) == float(exact)


@pytest.mark.parametrize("loss", QUADRATIC, ids=lambda loss: loss.name)
def test_a_delta_beyond_the_curvature_of_an_unbounded_loss_proves_nothing(loss):
    task, side, alpha, r, off = case(loss, 8, 0.0)
    paying = side.paying(Ridge(np.full((1, 1), 3 / float(task.box.min())), alpha[None]))
    unbounded = bool(side.kappa.any()) and not np.isfinite(side.high).all()
    assert np.isinf(paying.costs(alpha, r, off).gap).all() == unbounded
    assert math.isfinite(paying.costs(alpha, r, off).gap.sum()) != unbounded


@pytest.mark.parametrize("scale", [0.0, 4.0, 9.0])
@pytest.mark.parametrize("loss", QUADRATIC, ids=lambda loss: loss.name)
def test_the_gain_is_below_the_exact_one(loss, scale):
    task, side, alpha, *_ = case(loss, 9, scale)
    rows = entries(loss.shape(task.y, task.box), task.box, getattr(loss, "width", 1.0))
    exact = sum((phi(entry, entry[0], F(float(a))) for entry, a in zip(rows, alpha, strict=True)), F(0))
    found = side.gain(alpha)
    assert F(math.nextafter(found, -math.inf)) <= exact  # the sum itself is rounded once
    size = sum(abs(float(entry[0])) * abs(a) for entry, a in zip(rows, alpha, strict=True))
    bent = sum(float(entry[2]) * a**2 / 2 for entry, a in zip(rows, alpha, strict=True))
    assert float(exact - F(found)) <= 1e-15 * abs(float(exact)) + 1e-14 * bent + 1e-30 * size


def test_a_narrow_smoothed_hinge_costs_what_the_hinge_costs():
    task, side, alpha, r, off = case(losses.SmoothedHinge(1e-12), 3, 0.0)
    hinge = sample_terms(Task(task.kernels, task.y, task.box, "c", bias=False))
    off = np.maximum(off, 1e-9)
    found, wanted = side.costs(alpha, r, off).gap, hinge.costs(alpha, r, off).gap
    np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=1e-11 * task.box.max())


# --------------------------------------------------------------------------------------------------------- logistic
def logistic_exact(c, alpha, r):
    """c log(1 + eʳ) and its Fenchel–Young gap at α, in sixty digits."""
    loss = c * (1 + r.exp()).ln() if r < 200 else c * r + c * (1 + (-r).exp()).ln()
    rest = c - alpha
    gain = -sum((part * (part / c).ln() for part in (alpha, rest) if part > 0), Decimal(0))
    return loss, loss - r * alpha - gain


@pytest.mark.parametrize("scale", [0.0, 3.0, 9.0])
@pytest.mark.parametrize("near", [0.0, 1e-13, 1e-7, 1e-2, 3.0])
def test_the_logistic_costs_are_above_the_exact_ones_and_hardly_so(scale, near):
    rng = np.random.default_rng(5)
    price = 10.0 ** rng.uniform(-scale, scale + 0.1, COUNT)
    r = rng.normal(size=COUNT) * rng.choice([0.1, 3.0, 30.0], COUNT)
    alpha = np.clip(price / (1 + np.exp(-r)) * (1 + near * rng.normal(size=COUNT)), 0.0, price)
    off = rng.choice([0.0, 1e-15, 1e-6], COUNT)
    task = Task(np.eye(COUNT)[None], np.ones(COUNT), price, LOGISTIC, bias=False)
    side = sample_terms(task)
    found = side.costs(alpha, r, off)
    with localcontext() as context:
        context.prec = 60
        for i in range(COUNT):
            c, a = Decimal(float(price[i])), Decimal(float(alpha[i]))
            ends = [Decimal(float(r[i])) + sign * Decimal(float(off[i])) for sign in (-1, 0, 1)]
            exact = [logistic_exact(c, a, end) for end in ends]
            loss, gap = max(one[0] for one in exact), max(one[1] for one in exact)
            assert Decimal(float(found.bound[i])) >= loss
            assert Decimal(float(found.gap[i])) >= gap
            assert float(found.bound[i]) <= float(loss) * (1 + 1e-13) + 1e-250
            chance = 1 / (1 + (-ends[0]).exp()), 1 / (1 + ends[0].exp())
            shares = zip((a / c, 1 - a / c), chance, strict=True)
            apart = max(float(abs(u - p) / min(u, p)) if u else math.inf for u, p in shares)  # u/p is that far from 1
            if apart < 0.1:
                paid = 96 * 2.0**-53  # relatively, for the rounding of u and p
                assert float(found.gap[i]) <= float(gap) * (1 + 2 * apart + 1e-5) + paid * (2 * apart + paid) * price[i]
            assert float(found.gap[i]) <= 2 * float(gap) + 1e-13 * price[i] * max(1.0, abs(r[i]))
        gain = sum((logistic_exact(Decimal(float(c)), Decimal(float(a)), Decimal(0))[0]
                    - logistic_exact(Decimal(float(c)), Decimal(float(a)), Decimal(0))[1]
                    for c, a in zip(price, alpha, strict=True)), Decimal(0))  # fmt: skip
        assert Decimal(side.gain(alpha)) <= gain <= Decimal(side.gain(alpha)) * Decimal("1.00000000000002")


def test_delta_is_paid_by_the_logistic_loss():
    """On a fine grid of α̂, for δ below and above the modulus 4/c."""
    price = np.full(3, 2.0)
    task = Task(np.eye(3)[None], np.ones(3), price, LOGISTIC, bias=False)
    alpha, r = np.array([0.3, 1.0, 1.9]), np.array([-2.0, 0.5, 1.0])
    grid = np.linspace(0, 2.0, 20001)[1:-1]
    for delta in (0.1, 1.9, 2.5, 40.0):
        found = sample_terms(task).paying(Ridge(np.full((1, 1), delta), alpha[None])).costs(alpha, r, np.zeros(3))
        for i in range(3):
            entropy = -grid * np.log(grid / 2) - (2 - grid) * np.log1p(-grid / 2)
            best = (r[i] * grid + entropy + delta / 2 * (grid - alpha[i]) ** 2).max()
            assert found.bound[i] >= best - 1e-12
            assert found.bound[i] <= best + delta * 2  # no more than δ times the square of the box


# ---------------------------------------------------------------------------------------------------------- Poisson
def poisson_exact(c, h, alpha, z):
    """The loss and its Fenchel–Young gap at α, in sixty digits."""

    def divergence(x):
        return (x * (x / (c * z.exp())).ln() if x else Decimal(0)) - x + c * z.exp()

    return divergence(h), divergence(h - alpha)


@pytest.mark.parametrize("scale", [0.0, 3.0])
@pytest.mark.parametrize("near", [0.0, 1e-13, 1e-7, 1e-2, 3.0])
def test_the_poisson_costs_are_above_the_exact_ones_and_hardly_so(scale, near):
    rng = np.random.default_rng(6)
    price, y = 10.0 ** rng.uniform(-scale, scale + 0.1, COUNT), rng.poisson(10.0 ** rng.uniform(-1, 3, COUNT))
    z = np.where(rng.random(COUNT) < 0.5, np.log(y + 0.01), rng.normal(size=COUNT) * 5)
    alpha = np.minimum(price * (y - np.exp(z) * (1 + near * rng.normal(size=COUNT))), price * y)
    off = rng.choice([0.0, 1e-15, 1e-6], COUNT)
    side = sample_terms(Task(np.eye(COUNT)[None], y.astype(float), price, POISSON, bias=False))
    found = side.costs(alpha, -z, off)
    with localcontext() as context:
        context.prec = 60
        gain = Decimal(0)
        for i in range(COUNT):
            c, h, a = (Decimal(float(part)) for part in (price[i], price[i] * y[i], alpha[i]))
            ends = [Decimal(float(z[i])) + sign * Decimal(float(off[i])) for sign in (-1, 0, 1)]
            exact = [poisson_exact(c, h, a, end) for end in ends]
            for bound, true in zip((found.bound[i], found.gap[i]), map(max, zip(*exact, strict=True)), strict=True):
                size = float(h + abs(a) + c * ends[2].exp())
                assert Decimal(float(bound)) >= true
                assert float(bound) <= 2 * float(true) + 1e-13 * size * (1 + abs(z[i]))
            gain += (h * (h / c).ln() if h else 0) - a - ((h - a) * ((h - a) / c).ln() if h > a else 0)
        size = float(np.sum(price * y + np.abs(alpha)))
        assert Decimal(side.gain(alpha)) <= gain <= Decimal(side.gain(alpha)) + Decimal(1e-12 * size)


def test_delta_is_paid_by_the_poisson_loss():
    """On a fine grid of α̂, for δ below and above the modulus; the box is wide, and costs its square in the end."""
    y, price = np.array([0.0, 1.0, 3.0]), np.full(3, 2.0)
    task = Task(np.eye(3)[None], y, price, POISSON, bias=False)
    z = np.array([-1.0, 0.5, 1.0])
    alpha, (low, high) = price * (y - np.exp(z)) + [0.1, -0.2, 0.3], POISSON.bounds(y, price)
    for delta in (1e-6, 1e-3, 1.0):
        ridge = Ridge(np.full((1, 1), delta), alpha[None])
        found = sample_terms(task).paying(ridge).costs(alpha, -z, np.zeros(3))
        for i in range(3):
            grid = np.linspace(low[i], high[i], 200001)
            u = (high[i] - grid) / price[i]
            entropy = -u * np.log(np.where(u > 0, u, 1.0)) + u + (y[i] * math.log(y[i]) if y[i] else 0.0) - y[i]
            best = (price[i] * entropy - grid * z[i] + delta / 2 * (grid - alpha[i]) ** 2).max()
            assert found.bound[i] >= best - 1e-9
            assert found.bound[i] <= best + delta * (0.2 if delta < 2e-3 else (high[i] - low[i]) ** 2)


def test_a_kernel_without_ridge_costs_nothing_even_where_alpha_is_unbounded():
    ridge = Ridge(np.array([[2.0], [0.0]]), np.array([[1.0, 1.0, 1.0], [5.0, 5.0, 5.0]]))
    assert ridge.at(np.array([1.0, 3.0, np.inf])) == pytest.approx([0.0, 4.0, np.inf], abs=1e-12)
