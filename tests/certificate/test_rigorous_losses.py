"""Ball arithmetic and every loss: costs from above, the best bias, exactly optimal α, enclosures that hold whatever the
kernels are, and agreement with the auditor."""

from __future__ import annotations

from types import SimpleNamespace

import flint
import numpy as np
import pytest
from flint import arb, fmpq

from declared import LOSSES, PENALTIES, answered, instance_for, parameters, proof_of
from mklcvx import formulations, zoo
from mklcvx.certificate.ball_arithmetic import RIGOROUS, polishing, single
from mklcvx.certificate.ball_arithmetic.balls import exact, exacts
from mklcvx.certificate.ball_arithmetic.kernels import KernelBalls
from mklcvx.certificate.ball_arithmetic.losses import Bend, zero_of
from mklcvx.certificate.ball_arithmetic.polishing import polished
from mklcvx.certificate.ball_arithmetic.samples import Samples
from mklcvx.zoo.plans import PLANS
from sample_sides import GAINS, VALUES, domain, targets

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Solution may be inaccurate")]

RATIONAL = [name for name, loss in LOSSES.items() if loss.kind in ("quadratic", "tube")]
BIASED = [name for name, loss in LOSSES.items() if loss.takes_bias]
PROBLEMS = [  # every loss and every formulation with a bias and without one
    (name, formulation, loss.takes_bias and (loss_place + place) % 2 == 0)
    for loss_place, (name, loss) in enumerate(LOSSES.items())
    for place, formulation in enumerate(("l1", "sm2", "elastic", "li")[: 3 if loss.free_margin else 4])
]
SINGLE = ["sum", "average", "l1", "sm1", "sm2", "smp", "square", "l2", "lp", "elastic", "li", "ckl", "vskl"]


def drawn(
    name: str, rng: np.random.Generator, n: int = 6, bias: bool = False
) -> tuple[np.ndarray, np.ndarray, Samples]:
    """Targets, prices and the samples' side."""
    loss = LOSSES[name]
    y, weight = targets(loss, n, rng), rng.uniform(1.0, 1.5, n)
    given = {key: value for key, value in parameters(loss).items() if key != "bias"}
    stated = SimpleNamespace(samples=n, sample_weight=weight)
    number = 1.0 / (given["nu"] * n) if loss.free_margin else given["C"]
    if name in ("hinge", "nu"):
        del given["loss"]
    return y, number * weight, Samples.of(stated, y, given, bias and loss.takes_bias)


def ball(value: float) -> arb:
    return arb(exact(value))


# ------------------------------------------------------------------------------------------------------ one sample
@pytest.mark.parametrize("name", LOSSES)
def test_costs_and_gains_are_those_of_the_theorems(name):
    rng = np.random.default_rng(0)
    with flint.ctx.workprec(128):
        for _ in range(20):
            y, price, samples = drawn(name, rng)
            signs, outputs = np.array(samples.signs), rng.normal(size=6) * 2
            residuals = samples.residuals([ball(z) for z in outputs], arb(0), arb(0))
            costs = [float(one.cost(r, Bend())) for one, r in zip(samples.losses, residuals, strict=True)]
            assert costs == pytest.approx(price * VALUES[name](y, outputs), rel=1e-12, abs=1e-13)
            low, high = np.clip(domain(name, y, price), -3.0, 3.0)
            alpha = np.clip(low + (high - low) * rng.uniform(size=6), low, high)
            rows = zip(samples.losses, exacts(alpha), strict=True)
            gains = [float(arb(one.gain(a))) for one, a in rows]
            assert gains == pytest.approx(GAINS[name](y, signs * alpha, price), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("square", [0.0, 2.0**-40, 0.3, 3.0, 50.0])
@pytest.mark.parametrize("name", LOSSES)
def test_no_alpha_is_worth_more_than_the_cost_and_one_is_worth_it(name, square):
    """Residuals are balls of some radius: the cost covers all of them."""
    rng = np.random.default_rng(1)
    with flint.ctx.workprec(128):
        for _ in range(4):
            _, price, samples = drawn(name, rng)
            for one, c in zip(samples.losses, price, strict=True):
                centre = float(c * rng.uniform())
                bend = Bend(*exacts([square, square * centre, square * centre**2]))
                r, blur = exact(rng.normal() * 3), exact(float(rng.choice([0.0, 1e-3])))
                cost = one.cost((arb(r) - arb(blur)).union(arb(r) + arb(blur)), bend)
                if not cost.is_finite():
                    assert one.high is None
                    assert one.kappa <= bend.square
                    continue
                low, high = (exact(12 * c * way) if end is None else end for end, way in ((one.low, -1), (one.high, 1)))
                places = [low + (high - low) * fmpq(k, 100) for k in range(101)]
                if name == "poisson":  # a wide box, and a maximiser that may be beyond it
                    called = one._called_for(arb(r))
                    places += [called + one.price * fmpq(k, 20) for k in range(-20, 21)]
                    places = [place for place in places if low <= place <= high]
                worth = [
                    arb(one.gain(a)) + arb((r - one.a + side * blur) * a + bend.at(a))
                    for a in places
                    for side in (1, -1)
                ]
                assert all(value.lower() <= cost.upper() for value in worth)
                if not one.rational and bend.square > one.kappa:
                    continue  # a bound, not the supremum
                if name == "poisson" and called < low:
                    continue
                assert float(cost.upper()) <= max(float(value) for value in worth) + 0.1 * float(c) + 2 * float(
                    arb(blur) * arb(max(abs(low), abs(high)))
                )


@pytest.mark.parametrize("r", [-1e300, -1e6, -800.0, -1e-30, 0.0, 1e-30, 800.0, 1e6])
def test_the_logistic_loss_of_extreme_residuals(r):
    """log(1 + e^r) lies between r₊ and r₊ + log 2, and where it is small it is e^r."""
    one = drawn("logistic", np.random.default_rng(0))[2].losses[0]
    with flint.ctx.workprec(128):
        for bend in (Bend(), Bend(*exacts([1e-12, 1e-13, 1e-14]))):
            cost = one.cost(ball(r), bend) / arb(one.high)
            assert cost.is_finite()
            assert cost.lower() >= max(r, 0.0) - 1e-10
            assert cost.upper() <= max(r, 0.0) + (0.6932 if abs(r) < 1 else 1e-10 * (1 + abs(r)))


def test_a_zero_is_found_exactly_between_and_beyond_the_breaks():
    for slope, zero in ((fmpq(1, 3), fmpq(7, 5)), (fmpq(2), fmpq(-9)), (fmpq(5), fmpq(40))):
        assert zero_of(lambda b, s=slope, z=zero: s * (z - b), exacts([-1.0, 0.5, 2.0, 3.0])) == zero


@pytest.mark.parametrize("name", BIASED)
def test_no_bias_is_better_than_the_best(name):
    rng = np.random.default_rng(2)
    with flint.ctx.workprec(128):
        for offset in (0.0, 1e9):
            _, _, samples = drawn(name, rng, bias=True)
            outputs = [ball(z) for z in rng.normal(size=6) + offset]
            bends = [Bend()] * 6
            best, (bias, rho) = samples.risk(outputs, bends), samples.best_offsets(outputs)
            for step in (1e-2, 1e-4, -1e-2, -1e-4):
                for level in (rho, rho + step) if samples.most is not None else (rho,):
                    rows = zip(samples.at(level), samples.residuals(outputs, bias + step, level), bends, strict=True)
                    moved = sum((one.cost(r, bend) for one, r, bend in rows), arb(0)) + samples.level_cost(level)
                    assert float(moved - best) >= -1e-12


# ---------------------------------------------------------------------------------------------------- feasible points
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_points_are_made_feasible_exactly_and_hardly_moved(name, bias):
    rng = np.random.default_rng(3)
    for _ in range(20):
        samples = drawn(name, rng, 7, bias)[2]
        alpha = samples.feasible(exacts(rng.normal(size=7)))
        for value, one in zip(alpha, samples.losses, strict=True):
            assert one.low is None or value >= one.low
            assert one.high is None or value <= one.high
        totals = [sum(a * s for a, s in zip(alpha, row, strict=True)) for row in samples.equalities]
        assert totals == [0] * samples.bias + [1] * samples.free_margin
        assert samples.most is None or sum(abs(a) for a in alpha) <= samples.most
        assert samples.feasible(list(alpha)) == alpha


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", RATIONAL)
def test_the_active_set_method_finds_the_optimal_alpha(name, bias):
    """From anywhere: then both bounds meet to the last digit."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(6):
        samples = drawn(name, rng, 7, bias)[2]
        factor = rng.integers(-4, 5, (7, 3)) / 4
        balls = KernelBalls((factor @ factor.T)[None])
        start = samples.feasible(exacts(rng.normal(size=7)))
        (alpha,) = polished(balls, [fmpq(1)], [samples], [start])
        with flint.ctx.workprec(256):
            machine = single.Machine(samples, balls)
            enclosure = machine.at_point([fmpq(1)], arb(0), lambda q: q[0] / 2, alpha)
            found += bool((enclosure.upper - enclosure.lower).upper() < 2.0**-150)
            assert not enclosure.upper < enclosure.lower
    assert found == 6


# --------------------------------------------------------------------------------------------------------- enclosures
def indefinite(rng: np.random.Generator, n: int, count: int) -> np.ndarray:
    draws = rng.integers(-6, 7, (count, n, n)) / 16
    factors = rng.integers(-4, 5, (count, n, 2)) / 4
    return factors @ factors.transpose(0, 2, 1) + (draws + draws.transpose(0, 2, 1)) / 4


@pytest.mark.parametrize("name", LOSSES)
def test_no_lower_bound_exceeds_an_upper_one(monkeypatch, name):
    """Whatever the kernels and the points are, of which every second one has coefficients of its own."""
    monkeypatch.setattr(polishing, "LARGEST", 0)
    monkeypatch.setattr(single, "ROUNDS", 0)
    rng, loss, finite = np.random.default_rng(3), LOSSES[name], 0
    for formulation in SINGLE:
        chosen = formulations.get(formulation)
        if loss.free_margin and chosen.between is not None:
            continue
        instance = instance_for(loss, 6, weighted=False)
        task, _ = chosen.task(instance, parameters(loss) | PENALTIES.get(formulation, {}))
        kernels, samples, enclosures = indefinite(rng, 6, 3), drawn(name, rng, 6, True)[2], []
        for own_coefficients in (False, True) * 2:
            alpha = np.array([float(arb(v)) for v in samples.feasible(exacts(rng.normal(size=6)))])
            weights = rng.choice([0.0, 0.3, 1.0], 3) + 0.01
            signed = weights[:, None] * (alpha * samples.signs)
            coefficients = signed + rng.normal(size=(3, 6)) / 1000 if own_coefficients else None
            point = SimpleNamespace(alpha=alpha, weights=weights, coefficients=coefficients, multipliers={})
            with flint.ctx.workprec(128):
                enclosures.append(single.bounds(chosen, task, single.Machine(samples, KernelBalls(kernels)), point))
        assert all(not one.lower > other.upper for one in enclosures for other in enclosures)
        finite += sum(one.upper.is_finite() for one in enclosures)
    assert finite > 20


@pytest.mark.parametrize(("name", "formulation", "bias"), PROBLEMS)
def test_the_auditor_and_balls_agree(name, formulation, bias):
    instance, record = answered(name, formulation, bias)
    proof, said = proof_of(instance, record), record["certificate"]
    lifted = 1e-3 * said["scale"] if formulation == "li" else 0.0  # the auditor's li has its kernels lifted
    assert max(proof.lower, said["lower"]) <= min(proof.upper, said["upper"]) + lifted
    own = (said["upper"] - said["lower"]) / said["scale"]  # of the answer, which no proof makes better
    assert proof.relative_width <= (1e-5 if formulation == "li" else max(5e-8, 1.01 * own))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.formulation)
@pytest.mark.parametrize("name", ["squared", "huber", "epsilon_insensitive"])
def test_planted_optima_are_enclosed(name, plan):
    for seed in range(2):
        instance, optimum = zoo.planted_response(name, seed, plan)
        chosen = formulations.get(optimum.formulation)
        _, resolved = chosen.task(instance, optimum.parameters)
        record = {
            "formulation": optimum.formulation, "parameters": resolved, "alpha": optimum.alpha,
            "weights": optimum.weights, "coefficients": None, "multipliers": {},
        }  # fmt: skip
        proof = proof_of(instance, record)
        assert proof.lower <= optimum.value <= proof.upper
        assert proof.sharp


def test_where_no_solver_finds_a_point_the_trivial_one_serves():
    for name in ("squared", "one_class"):
        instance, chosen = instance_for(LOSSES[name]), formulations.get("l1")
        point = RIGOROUS[chosen.family].trivial(chosen, instance, "none")
        assert point.alpha.shape == (1, 12)
        assert not point.alpha.any()
