"""Every loss is one object: its risk and its gain are those of its theorem and meet in weak duality, its derivatives
fit, its bias is the least, and its α is feasible exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from mklcvx.formulations import losses
from mklcvx.formulations.losses import COUNTS, LOGISTIC, LOSSES, NU, SQUARED, Huber, QuadraticShape, SmoothedHinge
from mklcvx.formulations.losses._exact import middle, zeros
from sample_sides import CHOSEN, GAINS, PRICED, QUADRATIC, SIDES, VALUES, domain, named, prices, targets, task

every_loss = pytest.mark.parametrize("loss", CHOSEN, ids=named)
every_side = pytest.mark.parametrize(("loss", "bias"), SIDES, ids=named)
POINTS = 10**4
LABELLED = ("c", "hinge", "nu", "squared_hinge", "smoothed_hinge", "logistic")
UNIT = np.finfo(float).eps


def points(loss, n=POINTS, seed=0):
    """Targets, prices, outputs, and α in its domain, some of them 0 and some at a bound."""
    rng = np.random.default_rng(seed)
    y, price, outputs = targets(loss, n, rng), prices(loss, n, rng), 2 * rng.normal(size=n)
    low, high = loss.bounds(y, price)
    alpha = np.clip(2 * price * rng.normal(size=n), low, high) * (rng.random(n) < 0.9)
    return y, price, outputs, alpha


# --------------------------------------------------------------------------------------------- ℓ, g and their meeting
@every_loss
def test_values_gains_and_domains_are_those_of_the_theorem(loss):
    y, price, outputs, alpha = points(loss)
    assert loss.value(outputs, y, price) == pytest.approx(price * VALUES[loss.name](y, outputs), rel=1e-15, abs=1e-13)
    assert np.array(loss.bounds(y, price)) == pytest.approx(domain(loss.name, y, price))
    expected = GAINS[loss.name](y, loss.signs(y) * alpha, price)
    assert loss.gain(alpha, y, price) == pytest.approx(expected.sum())
    single = [loss.gain(alpha[i : i + 1], y[i : i + 1], price[i : i + 1]) for i in range(200)]
    assert single == pytest.approx(expected[:200], abs=1e-14)


@every_loss
def test_fenchel_and_young(loss):
    """c ℓ(y, z) ≥ g(α) − s α z for every z and every α in the domain; their difference is what is said."""
    y, price, outputs, alpha = points(loss)
    beta = loss.signs(y) * alpha
    direct = price * VALUES[loss.name](y, outputs) - GAINS[loss.name](y, beta, price) + beta * outputs
    gap = loss.fenchel_young(alpha, outputs, y, price)
    assert (direct >= -1e-12).all()
    assert (gap >= 0).all()
    assert gap == pytest.approx(direct, abs=1e-12)


@every_side
def test_risk_and_gain_are_weakly_dual(loss, bias):
    """risk(f) ≥ gain(α) − Σ α_i s_i f(x_i) for every f and every feasible α."""
    for seed in range(25):
        problem, rng = task(loss, bias, seed), np.random.default_rng(seed)
        outputs, alpha = 2 * rng.normal(size=14), problem.feasible(2 * rng.normal(size=14))
        least = problem.gain(alpha) - float((alpha * problem.signs) @ outputs)
        assert problem.risk(outputs).value >= least - 1e-12 * (1 + abs(least))


@every_side
def test_the_gap_of_a_pair_is_the_sum_of_its_samples(loss, bias):
    """Σ FY = risk − gain + Σ β f at any b and level, for an α that is feasible; a free tube adds ε(N − ‖α‖₁)."""
    problem, rng = task(loss, bias), np.random.default_rng(3)
    outputs, alpha = rng.normal(size=14), problem.feasible(rng.normal(size=14))
    risk = problem.risk(outputs)
    level = risk.unknown
    gaps = loss.fenchel_young(alpha, outputs + risk.bias, problem.y, problem.box, level)
    slack = level * loss.slack(alpha, problem.box) if loss.free_tube else 0.0
    assert gaps.sum() + slack == pytest.approx(risk.value - problem.gain(alpha) + (alpha * problem.signs) @ outputs)
    at_samples = loss.value(outputs + risk.bias, problem.y, problem.box, level).sum()
    assert at_samples + loss.level_cost(level, problem.box) == pytest.approx(risk.value)


@pytest.mark.parametrize("loss", QUADRATIC, ids=named)
def test_the_gap_of_a_sample_loses_no_digits_near_the_optimum(loss):
    """Against exact arithmetic: the error is that of α* − α, not that of the terms, which are 10²⁰ times as large."""
    y, price, outputs, _ = points(loss, 300)
    shape, r = loss.shape(y, price), loss.residuals(outputs, y, price)
    rng = np.random.default_rng(0)
    best = shape.maximiser(r)
    for size in (0.0, 1e-15, 1e-10, 1e-5):
        alpha = np.clip(best + size * rng.normal(size=300), shape.low, shape.high)
        found = shape.fenchel_young(alpha, r)
        for i in range(300):
            a, ri, eps, kappa = (Fraction(float(v[i])) for v in (alpha, r, shape.epsilon, shape.kappa))
            excess = max(abs(ri) - eps, 0) * (1 if ri > 0 else -1)
            there = excess / kappa if kappa else Fraction(float(best[i]))
            there = max(there, Fraction(float(shape.low[i]))) if np.isfinite(shape.low[i]) else there
            there = min(there, Fraction(float(shape.high[i]))) if np.isfinite(shape.high[i]) else there
            exact = float((there - a) * ri - eps * (abs(there) - abs(a)) - kappa * (there**2 - a**2) / 2)
            terms = float(abs(ri) + eps + kappa * abs(a))
            moved = abs(float(there - a)) + UNIT * abs(float(there))
            assert abs(found[i] - exact) <= 8 * UNIT * terms * moved
            assert found[i] >= 0


def test_the_divergence_of_the_logistic_loss_loses_no_digits():
    """Against long doubles, from far away to 10⁻⁶ beside the optimum, and in the tails."""
    rng, n = np.random.default_rng(0), 3000
    margins = rng.normal(size=n) * 10 ** rng.uniform(-2, 1.2, n)
    price, y = np.ones(n), np.ones(n)
    u = np.clip(1 / (1 + np.exp(margins)) * (1 + 10 ** rng.uniform(-6, 1, n)), 1e-300, 1 - 1e-9)
    wide, t = u.astype(np.longdouble), margins.astype(np.longdouble)
    exact = wide * (np.log(wide) + np.log1p(np.exp(t))) + (1 - wide) * (np.log1p(-wide) + np.log1p(np.exp(-t)))
    found = LOGISTIC.fenchel_young(u, margins, y, price)
    assert found == pytest.approx(exact.astype(float), rel=1e-6, abs=1e-18)
    ends = LOGISTIC.fenchel_young(np.array([0.0, 1.0]), np.array([3.0, 3.0]), np.ones(2), np.ones(2))
    assert ends == pytest.approx([math.log1p(math.exp(-3)), math.log1p(math.exp(3))])
    far = LOGISTIC.fenchel_young(np.array([0.25]), np.array([2000.0]), np.ones(1), np.ones(1))
    assert far == pytest.approx([500 + math.log(0.25) * 0.25 + math.log(0.75) * 0.75])


@every_loss
def test_gradient_and_curvature_are_those_of_the_gain(loss):
    y, price, step = np.array([1.0, 3.0 if loss.targets == COUNTS else -1.0]), np.array([0.5, 2.0]), 1e-5
    _, high = loss.bounds(y, price)
    for share in (0.45, 0.2):
        alpha = share * np.minimum(high, 1.0)
        for i, move in enumerate(step * np.eye(2)):
            there, here = loss.gain(alpha + move, y, price), loss.gain(alpha - move, y, price)
            assert (there - here) / (2 * step) == pytest.approx(loss.gradient(alpha, y, price)[i], abs=1e-8)
            bend = (there + here - 2 * loss.gain(alpha, y, price)) / step**2
            assert -bend == pytest.approx(loss.curvature(alpha, y, price)[i], rel=1e-5, abs=1e-4)


def test_the_logistic_gain_at_its_ends_is_zero_and_its_gradient_infinite():
    y, price = np.ones(2), np.array([1.0, 2.0])
    for end in (np.zeros(2), price):
        assert LOGISTIC.gain(end, y, price) == 0.0
        assert np.isinf(LOGISTIC.gradient(end, y, price)).all()
        assert np.isinf(LOGISTIC.curvature(end, y, price)).all()


# ---------------------------------------------------------------------------------------------------- the least bias
def scanned(problem, outputs, biases):
    """The risk at every bias, by the definition of the loss; a tube that is an unknown is 0 or one of the residuals."""
    z, loss = outputs + np.asarray(biases)[:, None], problem.loss_function
    if loss.free_tube:
        r = np.abs(problem.y - z)
        tubes = np.append(r, np.zeros((len(r), 1)), axis=1)
        beyond = np.maximum(r[:, None, :] - tubes[:, :, None], 0.0) @ problem.box
        return (beyond + loss.nu * problem.box.sum() * tubes).min(axis=1)
    return (problem.box * VALUES[problem.loss_function.name](problem.y, z)).sum(axis=1)


@pytest.mark.parametrize("loss", PRICED, ids=named)
@pytest.mark.parametrize("seed", range(12))
def test_the_bias_is_the_least_and_its_interval_is_flat(loss, seed):
    rng = np.random.default_rng(seed)
    problem, outputs = task(loss, True, seed, n=int(rng.integers(2, 12))), None
    outputs = rng.normal(size=problem.samples) * 10 ** rng.uniform(-2, 2)
    if seed % 3 == 0:  # ties, and prices that balance
        problem = type(problem)(problem.kernels, np.round(problem.y), np.ones(problem.samples), loss, True)
        outputs = np.round(outputs)
    risk = problem.risk(outputs)
    far = 2 + np.abs(outputs).max() + np.abs(problem.y).max()
    biases = np.append(np.linspace(-far, far, 4001), risk.bias + np.linspace(-1e-3, 1e-3, 2001))
    least = scanned(problem, outputs, biases).min()
    assert risk.value <= least + 1e-12 * (1 + least)
    assert risk.value == pytest.approx(scanned(problem, outputs, [risk.bias])[0], rel=1e-12, abs=1e-12)
    low, high = np.clip(risk.bias_interval, -far, far)
    assert low <= risk.bias <= high
    inside, outside = np.linspace(low, high, 9), [low - 1e-3 * far, high + 1e-3 * far]
    assert scanned(problem, outputs, inside) == pytest.approx(np.full(9, risk.value), abs=1e-10 * far**2)
    assert (scanned(problem, outputs, outside)[np.abs(outside) < far] > risk.value).all()


@pytest.mark.parametrize(("loss", "bias"), [side for side in SIDES if hasattr(side[0], "risk_at")], ids=named)
def test_the_risk_at_a_level_is_the_least_over_the_bias_alone(loss, bias):
    """By the values of the loss and SciPy's search; a level is ρ or ε where it is an unknown."""
    for seed in range(3):
        problem = task(loss, bias, seed, n=9)
        outputs, levels = np.random.default_rng(seed).normal(size=9), (0.0, 0.4) if loss.level_name else (0.0,)
        for level in levels:

            def total(b, problem=problem, outputs=outputs, level=level):
                cost = loss.level_cost(level, problem.box)
                return loss.value(outputs + b, problem.y, problem.box, level).sum() + cost

            least = minimize_scalar(total, bounds=(-6, 6), options={"xatol": 1e-9}).fun if bias else total(0.0)
            found = loss.risk_at(level, outputs, problem.y, problem.box, bias)
            assert found == pytest.approx(least, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("loss", PRICED, ids=named)
def test_the_slope_vanishes_at_the_bias_to_the_last_digits(loss):
    problem = task(loss, True, 5, n=200)
    outputs = np.random.default_rng(5).normal(size=200)
    risk = problem.risk(outputs)
    step = 1e-5 * (1 + abs(risk.bias))
    left, here, right = scanned(problem, outputs, [risk.bias - step, risk.bias, risk.bias + step])
    assert min(left, right) >= here - 1e-12 * here
    if loss.curvature(np.full(200, 0.1), problem.y, problem.box).any() and loss in QUADRATIC:
        shape = loss.shape(problem.y, problem.box)
        slope = math.fsum(problem.signs * shape.maximiser(shape.a - problem.signs * (outputs + risk.bias)))
        assert abs(slope) <= 1e-13 * problem.box.sum()


@pytest.mark.parametrize(("targets", "outputs"), [(1e6, 0.0), (0.0, 1e6)])
@pytest.mark.parametrize("price", [1e-4, 1e4])
def test_the_least_bias_is_told_apart_from_a_target_beside_it(targets, outputs, price):
    """One residual lies beside the mean, by 10⁻¹⁰ of the others: more than rounding, in any units."""
    y, z = targets * np.array([1.0, -1.0, 1.5e-10]), outputs * np.array([-1.0, 1.0, -1.5e-10])
    found = SQUARED.risk(z, y, np.full(3, price), True)
    assert found.bias == pytest.approx(0.5e-4, rel=1e-5)
    assert found.bias_interval == (found.bias, found.bias)


def test_the_bias_within_a_tube_lies_anywhere_that_costs_nothing():
    y, loss = np.array([0.01, -0.01]), losses.SquaredEpsilonInsensitive(0.3)
    risk = loss.risk(np.zeros(2), y, np.ones(2), True)
    assert risk.bias_interval == pytest.approx((-0.29, 0.29))
    assert (risk.bias, risk.value) == (pytest.approx(0.0, abs=1e-15), 0.0)


def test_the_bias_of_two_outliers_lies_anywhere_between_them():
    """|y − b| > δ for both: their pulls cancel; the middle is returned."""
    problem = task(Huber(1.0), True, 0, n=2)
    problem = type(problem)(problem.kernels, np.array([0.0, 10.0]), np.ones(2), Huber(1.0))
    risk = problem.risk(np.zeros(2))
    assert risk.bias_interval == pytest.approx((1.0, 9.0))
    assert (risk.bias, risk.value) == pytest.approx((5.0, 9.0))


def test_margin_and_bias_of_nu_are_quantiles_of_the_classes():
    """u = ρ − b and v = ρ + b: where the prices of a class sum to one half on the way, anywhere between two outputs."""
    y, outputs = np.repeat([1.0, -1.0], 4), np.array([1.0, 2.0, 4.0, 8.0, -1.0, -3.0, -7.0, -9.0])
    risk = NU.risk(outputs, y, np.full(8, 0.25), True)  # u from 2 to 4, v from 3 to 7
    assert risk.bias_interval == pytest.approx((-0.5, 2.5))
    assert (risk.bias, risk.rho) == pytest.approx((1.0, 4.0))
    price = np.array([0.9, 0.2, 0.2, 0.2, 0.1, 0.1, 0.2, 0.9])  # far apart: u = 1, v = 9
    risk = NU.risk(outputs, y, price, True)
    assert (risk.bias, risk.rho, *risk.bias_interval) == pytest.approx((4.0, 5.0, 4.0, 4.0))
    assert risk.value == pytest.approx(price[4:] @ np.array([8.0, 6.0, 2.0, 0.0]) - 5.0)


def test_the_bias_of_one_class_alone_is_endless_on_one_side():
    for label, end in ((1.0, 1), (-1.0, 0)):
        problem = task(SmoothedHinge(0.5), True, 0, n=3)
        problem = type(problem)(problem.kernels, np.full(3, label), np.ones(3), SmoothedHinge(0.5))
        risk = problem.risk(np.array([0.0, 1.0, 2.0]))
        assert np.isinf(risk.bias_interval[end])
        assert (risk.bias, risk.value) == (risk.bias_interval[1 - end], 0.0)


def test_the_bias_of_the_logistic_loss_is_the_log_odds_of_the_prices():
    """Without outputs; with one class only it goes as far as the loss is nothing."""
    y, price = np.array([1.0, -1.0]), np.array([1e6, 10.0])
    assert LOGISTIC.risk(np.zeros(2), y, price, True).bias == pytest.approx(math.log(1e5), rel=1e-12)
    assert LOGISTIC.risk(np.zeros(2), -y, price, True).bias == pytest.approx(-math.log(1e5), rel=1e-12)
    for apart in (np.array([1e6, 1e-6]), np.array([1e40, 1.0]), np.array([1.0, 1e40])):
        found = LOGISTIC.risk(np.zeros(2), y, apart, True).bias
        assert found == pytest.approx(math.log(apart[0] / apart[1]), rel=1e-12)
    for label in (1.0, -1.0):
        risk = LOGISTIC.risk(np.array([-3.0, 2.0]), np.full(2, label), np.ones(2), True)
        assert (risk.bias, risk.value) == pytest.approx((67.0 * label, 0.0), abs=1e-20)


@pytest.mark.parametrize("kappa", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_a_record_is_turned_by_its_signs(kappa, seed):
    """r = a + z + b with (low, high) is −r' for r' = −a − z − b with (−high, −low): the same losses, the same bias."""
    rng = np.random.default_rng(seed)
    a, outputs, price = rng.normal(size=7), rng.normal(size=7), rng.uniform(0.5, 1.5, 7)
    signs = rng.choice([-1.0, 1.0], 7)
    shape = QuadraticShape.of(price, a=a, epsilon=0.1, kappa=kappa, low=-price, high=2 * price)
    turned = QuadraticShape.of(
        price, signs * a, 0.1, kappa, np.where(signs > 0, -price, -2 * price), np.where(signs > 0, 2 * price, price)
    )
    found, other = shape.least_bias(outputs, signs), turned.least_bias(outputs, np.ones(7))
    assert found == pytest.approx(other)
    r, same = a - signs * (outputs + found[0]), signs * a - (outputs + found[0])
    assert shape.value(r) == pytest.approx(turned.value(same))


def test_zeros_of_straight_pieces():
    def bent(x):
        return min(x, 0.0) + max(x - 1.0, 0.0)

    breaks = np.array([0.0, 1.0])
    assert zeros(bent, breaks, 1e-12) == (0.0, 1.0)
    assert zeros(lambda x: bent(x) + 7, breaks, 1e-12) == (-7.0, -7.0)  # beyond the breakpoints
    assert zeros(lambda x: bent(x) - 0.5, breaks, 1e-12) == (1.5, 1.5)
    assert zeros(lambda x: max(x, 0.0), np.array([0.0]), 1e-12) == (-math.inf, 0.0)
    assert zeros(lambda x: min(x, 0.0), np.array([0.0]), 1e-12) == (0.0, math.inf)
    assert [middle(-math.inf, 2.0), middle(2.0, math.inf), middle(1.0, 3.0)] == [2.0, 2.0, 2.0]
    for shift in (-9.0, 0.0, 9.0):  # wherever the breakpoints lie
        for unit in (1e-20, 1.0, 1e9):
            for rise, expected in ((7.0, shift - 7), (-7.0, shift + 8), (-0.5, shift + 1.5)):
                found = zeros(
                    lambda x, t=shift, u=unit, d=rise: u * (bent(x / u - t) + d), unit * (breaks + shift), 0.0
                )
                assert np.array(found) / unit == pytest.approx(np.full(2, expected))
            assert zeros(lambda x, u=unit: x - u, np.array([4 * unit]), 0.0) == pytest.approx((unit, unit), abs=0)


# ---------------------------------------------------------------------------------------------------- the feasible set
@every_side
def test_feasible_points_are_feasible_exactly_and_stay_where_they_are(loss, bias):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        problem = task(loss, bias, seed, n=(5, 14, 300)[seed % 3])
        wild = rng.normal(size=problem.samples) * 10 ** rng.uniform(-9, 9) * (rng.random(problem.samples) < 0.8)
        alpha = problem.feasible(wild)
        rows, totals = problem.equalities()
        assert len(rows) == bias + loss.free_margin
        assert ((alpha >= problem.low) & (alpha <= problem.limit)).all()
        for row, total in zip(rows, totals, strict=True):
            assert math.fsum([*(row * alpha), -total]) == 0
        assert loss.slack(alpha, problem.box) >= 0
        assert np.array_equal(problem.feasible(alpha), alpha)


def test_feasible_scales_the_heavier_sign_down():
    problem = task(SQUARED, True, 0, n=4)
    assert problem.feasible(np.array([3.0, 1.0, -2.0, 0.0])) == pytest.approx([1.5, 0.5, -2.0, 0.0])
    assert problem.feasible(np.array([1.0, -6.0, np.nan, -2.0])) == pytest.approx([1.0, -0.75, 0.0, -0.25])
    assert not problem.feasible(np.array([1.0, 2.0, 0.0, 0.0])).any()  # nothing balances them


@every_loss
def test_signs_lead_from_alpha_to_beta(loss):
    problem = task(loss, False)
    assert np.array_equal(problem.signs, problem.y if loss.targets == "labels" else np.ones(14))
    alpha = problem.feasible(np.random.default_rng(0).normal(size=14))
    beta = problem.signs * alpha
    assert problem.root_q(alpha) ** 2 == pytest.approx([beta @ kernel @ beta for kernel in problem.kernels])
    assert np.array_equal(problem.low, loss.bounds(problem.y, problem.box)[0])


# ------------------------------------------------------------------------------------------------------- the table
def test_every_loss_is_in_the_table_by_its_name():
    assert LOSSES["c"] is LOSSES["hinge"]
    for name, loss in LOSSES.items():
        assert name in ("c", loss.name)
        assert (loss.targets == "labels") == (name in LABELLED)
    assert {loss.name for loss in CHOSEN} == {*LOSSES} - {"c"}
    assert Huber(2.0) == Huber(2.0) != Huber(1.0)
    assert LOSSES["one_class"] != NU


@pytest.mark.parametrize(("trait", "names"), [
    ("log_odds", {"logistic"}), ("log_link", {"poisson"}), ("free_margin", {"nu", "one_class"}),
    ("free_tube", {"nu_svr"}), ("joint", set()),
])  # fmt: skip
def test_a_trait_belongs_to_the_losses_that_have_it(trait, names):
    assert {loss.name for loss in CHOSEN if getattr(loss, trait)} == names
    assert {loss.name for loss in CHOSEN if not loss.takes_bias} == {"one_class"}


def test_a_record_has_one_entry_per_sample():
    shape = QuadraticShape.of(np.array([1.0, 2.0]), epsilon=0.5, kappa=np.array([3.0, 4.0]))
    assert [part.tolist() for part in shape] == [[1, 1], [0.5, 0.5], [3, 4], [0, 0], [np.inf, np.inf]]
