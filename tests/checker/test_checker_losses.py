"""The auditor and every loss: what a sample gains and costs, honest files, false ones, and optima that are known."""

import copy
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest

from declared import LOSSES, Record, answer, answered, instance_for, parameters
from honest import claimed
from mklcvx import Instance, zoo
from mklcvx.checker.audit import WITH_TAU, check, evaluated, evaluated_file, point_multipliers
from mklcvx.checker.claims import audited
from mklcvx.checker.losses import TARGETS, Bend, samples_of, wanted
from mklcvx.checker.numbers import Refused, chance, exponential, log_one_plus_exp, logarithm, trimmed
from mklcvx.formulations import get
from mklcvx.formulations.losses import LABELS
from mklcvx.io.files import save_instance
from mklcvx.zoo.plans import PLANS
from sample_sides import CORNER, GAINS, LEVEL, VALUES, domain, targets

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Solution may be inaccurate")]

BENDS = (Bend(), Bend(*map(Fraction, (0.25, 0.1, 0.05))), Bend(*map(Fraction, (2.0**-40, 2.0**-42, 2.0**-43))))
OTHER = {"width": 0.5, "epsilon": 0.25, "delta": 0.6, "quantile": 0.25, "nu": 0.5}  # near those of the tests


def audit(folder: Path, record: Record, instance: Instance) -> int:
    save_instance(folder / "problem.npz", instance)
    (folder / "answer.json").write_text(json.dumps(record), encoding="utf-8")
    return audited([str(folder / "problem.npz"), str(folder / "answer.json")], evaluated_file, point_multipliers)


def given_to(name: str, **number: float) -> dict[str, Fraction]:
    """The parameters of a loss as the auditor has them."""
    stated = parameters(LOSSES[name]) | number
    return {key: Fraction(stated[key]) for key, limit in wanted(name).items() if limit not in ("word", "flag")}


def drawn(name: str, rng: np.random.Generator, n: int = 6) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Targets, prices and samples; ρ = 0 where the margin is free."""
    loss = LOSSES[name]
    y, weight = targets(loss, n, rng), rng.uniform(0.5, 2.0, n)
    signs = (y if loss.targets == LABELS else np.ones(n)).astype(int)
    samples = samples_of(name, given_to(name), y, signs, weight, False, Fraction(0))
    return y, (2 / n if loss.free_margin else 0.7) * weight, samples


def somewhere(one: Any, price: float, rng: np.random.Generator) -> Fraction:
    """An α within its bounds, often at one of them."""
    far = Fraction(3 * price)
    low, high = (-far if one.low is None else one.low), (far if one.high is None else one.high)
    return rng.choice([low, high, low + (high - low) * Fraction(rng.uniform())])


# ------------------------------------------------------------------------------------------------- one sample's side
@pytest.mark.parametrize("name", TARGETS)
def test_costs_and_gains_are_those_of_the_theorems(name):
    """As the table of losses has them, in doubles."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, price, samples = drawn(name, rng)
        signs = y if LOSSES[name].targets == LABELS else np.ones(len(y))
        outputs = rng.normal(size=len(y)) * 2
        expected = price * VALUES[name](y, outputs)
        costs = [float(one.cost(Fraction(m), Bend())) for one, m in zip(samples, signs * outputs, strict=True)]
        assert costs == pytest.approx(expected, rel=1e-12, abs=1e-13)
        alpha = [somewhere(one, c, rng) for one, c in zip(samples, price, strict=True)]
        gains = [float(one.gain(a)) for one, a in zip(samples, alpha, strict=True)]
        assert gains == pytest.approx(GAINS[name](y, signs * np.array(alpha, dtype=float), price), rel=1e-12, abs=1e-13)
        ends = np.array([[-np.inf if one.low is None else float(one.low) for one in samples],
                         [np.inf if one.high is None else float(one.high) for one in samples]])  # fmt: skip
        assert ends == pytest.approx(domain(name, y, price), rel=1e-15)


@pytest.mark.parametrize("bend", BENDS, ids=["no ridge", "a large ridge", "a small ridge"])
@pytest.mark.parametrize("name", TARGETS)
def test_no_alpha_is_worth_more_than_the_cost_and_one_is_worth_it(name, bend):
    """cost ≥ g(α) − αm + ½(Aα² − 2Bα + D), a supremum: a fine grid comes near."""
    rng = np.random.default_rng(1)
    for _ in range(2):
        _, price, samples = drawn(name, rng)
        for one, c in zip(samples, price, strict=True):
            margin = Fraction(rng.normal() * 2)
            try:
                cost = one.cost(margin, bend)
            except Refused:
                assert one.high is None
                assert one.kappa <= bend.square
                continue
            far = Fraction(12 * c)
            low, high = -far if one.low is None else one.low, far if one.high is None else one.high
            places = [low + (high - low) * Fraction(k, 200) for k in range(201)]
            if name == "poisson":  # a wide box, and a maximiser that may be beyond it
                called = high - one.price * exponential(margin, 1)
                places += [called + one.price * Fraction(k, 50) for k in range(-50, 51)]
                places = [place for place in places if low <= place <= high]
            worth = [
                one.gain(a) - a * margin + bend.square * a * a / 2 - bend.linear * a + bend.constant / 2 for a in places
            ]
            assert max(worth) <= cost
            if name != "poisson" or (called > low and bend.square * (high - low) < 1):
                assert float(cost - max(worth)) <= 0.02 * c


def test_a_ridge_that_outweighs_the_curvature_of_an_unbounded_loss_is_refused():
    (one, *_) = drawn("squared", np.random.default_rng(0))[2]
    for beyond in (Fraction(0), Fraction(1, 2**60)):
        with pytest.raises(Refused, match="outweighs the curvature"):
            one.cost(one.a - 1, Bend(one.kappa + beyond, Fraction(0), Fraction(0)))
    assert one.cost(one.a, Bend(one.kappa, Fraction(0), Fraction(0))) == 0


def test_kappa_is_the_exact_quotient_of_the_double():
    _, price, samples = drawn("squared", np.random.default_rng(3))
    assert all(one.kappa * Fraction(0.7 * c) == 1 for one, c in zip(samples, price / 0.7, strict=True))
    assert any(Fraction(1 / float(1 / one.kappa)) != one.kappa for one in samples)


# ------------------------------------------------------------------------------------------- logarithms, from a side
@pytest.mark.parametrize("x", [0.0, 1e-30, -1e-30, 0.3, -0.3, 40.0, -40.0, 177.0, -200.0, 899.0, -900.5, 5e5, -5e5])
def test_logarithms_and_exponentials_are_on_their_side(x):
    with flint.ctx.workprec(4000):
        exact = flint.fmpq(*x.as_integer_ratio())
        true = {
            "log less x₊": (-abs(flint.arb(exact))).exp().log1p(),
            "exp": flint.arb(-abs(exact)).exp(),
            "chance": 1 / (1 + (-flint.arb(exact)).exp()),
        }
        ball = lambda value: flint.arb(flint.fmpq(value.numerator, value.denominator))  # noqa: E731
        for side, holds in ((-1, lambda a, b: a <= b), (1, lambda a, b: a >= b)):
            assert holds(ball(log_one_plus_exp(Fraction(x), side) - max(Fraction(x), 0)), true["log less x₊"])
            assert holds(ball(exponential(-abs(Fraction(x)), side)), true["exp"])
        apart = ball(log_one_plus_exp(Fraction(x), 1)) - ball(log_one_plus_exp(Fraction(x), -1))
        assert apart < 1e-55 * (1 + abs(x))
        nearest, blur = chance(Fraction(x))
        assert abs(ball(nearest) - true["chance"]) <= ball(blur)
        for near in (1 - 2.0**-53, 1 + 2.0**-52, 5e-324, 1e300):
            log = flint.arb(near).log()
            assert ball(logarithm(Fraction(near), -1)) < log < ball(logarithm(Fraction(near), 1))


def test_what_is_nearly_one_has_a_logarithm_on_its_side():
    """1 + 1e-90 is 1 to eighty digits."""
    x = 1 + Fraction(1, 10**90)
    assert logarithm(x, 1) >= Fraction(1, 10**90)
    assert logarithm(1 / x, -1) <= -Fraction(1, 10**90)


@pytest.mark.parametrize("digits", [3, 30, 70, 79, 80, 81, 90, 300, 410])
def test_a_logarithm_is_good_to_fifty_digits_however_small_it_is(digits):
    """It may be multiplied by a price of any size."""
    for rise in (Fraction(1, 10**digits), Fraction(2, 3 * 10**digits), Fraction(-1, 10**digits)):
        low, high = logarithm(1 + rise, -1), logarithm(1 + rise, 1)
        with flint.ctx.workprec(4000):
            log = flint.arb(flint.fmpq(rise.numerator, rise.denominator)).log1p()
            least, most = (flint.arb(flint.fmpq(x.numerator, x.denominator)) for x in (low, high))
            assert least < log < most
        assert 0 < high - low <= abs(rise) / 10**50
    assert logarithm(Fraction(1), -1) == logarithm(Fraction(1), 1) == 0


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(-2, 3), Fraction(10**40, 7), Fraction(1, 3 * 2**400)])
def test_fractions_are_rounded_to_a_side(x):
    assert trimmed(x, -1) < x < trimmed(x, 1)
    assert trimmed(x, 1) - trimmed(x, -1) <= abs(x) / 2**238
    assert trimmed(Fraction(3, 2**70), 1) == Fraction(3, 2**70)


# ----------------------------------------------------------------------------------------------------- honest files
SIDES = [(name, bias) for name in TARGETS for bias in ((True, False) if LOSSES[name].takes_bias else (False,))]
PLANNED = [plan for plan in PLANS if plan.formulation not in WITH_TAU]
UNFIT = [("squared", "hinge"), ("logistic", "squared"), ("one_class", "squared"), ("hinge", "one_class")]


@pytest.mark.parametrize("plan", PLANNED, ids=lambda plan: plan.formulation)
@pytest.mark.parametrize(("seed", "name"), [(0, "squared"), (1, "huber"), (2, "epsilon_insensitive")])
def test_planted_optima_are_proved_to_the_last_bit(name, plan, seed):
    instance, optimum = zoo.planted_response(name, seed, plan)
    resolved = {"bias": True, **optimum.parameters}
    record = {
        "schema": "mklcvx.solution/2", "formulation": optimum.formulation, "parameters": resolved,
        "alpha": np.asarray(optimum.alpha).tolist(), "weights": np.asarray(optimum.weights).tolist(),
        "bias": float(optimum.bias or 0.0), "coefficients": None, "multipliers": {"tau": 0.0}, "certificate": {},
    }  # fmt: skip
    record["certificate"] = {"ridge": 0.0, "stretch": 1.0}
    low, high = check(instance.kernels, instance.targets.values, record, groups=instance.groups)
    assert low <= optimum.value <= high
    assert high - low <= 1e-14 * abs(optimum.value)


# ------------------------------------------------------------------------------------------------------- false files
def lies(name: str, record: Record) -> dict[str, Record]:
    """Wrong claims about an answer, by what is wrong."""
    found, loss = {}, LOSSES[name]

    def lie(what: str) -> Record:
        found[what] = copy.deepcopy(record)
        return found[what]

    for factor in (1 + 1e-6, 1 - 1e-6):
        made = lie(f"objective times {factor}")
        made["objective"] *= factor
        made["certificate"]["upper"] *= factor
    number = "nu" if loss.free_margin else "C"
    for factor in (2.0, 0.5):
        lie(f"{number} times {factor}")["parameters"][number] *= factor
    for parameter in loss.own:
        lie(f"another {parameter.name}")["parameters"][parameter.name] = OTHER[parameter.name]
        del lie(f"no {parameter.name}")["parameters"][parameter.name]
    lie("a parameter of another loss")["parameters"]["width" if "epsilon" in record["parameters"] else "epsilon"] = 0.1
    for other in TARGETS:
        if other != name:
            lie(f"as {other}")["parameters"]["loss"] = other
    lie("a loss that is none")["parameters"]["loss"] = "hinges"
    alpha = lie("alpha unbalanced by an ulp")["alpha"]
    largest = int(np.argmax(np.abs(alpha)))
    alpha[largest] = math.nextafter(alpha[largest], 0.0)
    lie("targets of another kind")["target"] = "labels"
    if loss.level_name:
        lie("another level")["multipliers"][loss.level_name] += 1e-3
        del lie("no level")["multipliers"][loss.level_name]
    if loss.free_tube:
        lie("a negative tube")["multipliers"]["epsilon"] = -1e-9
        made = lie("alpha that is too long")
        made["alpha"] = [a * 1.01 for a in made["alpha"]]
    return found


@pytest.mark.parametrize("name", TARGETS)
def test_false_files_are_refused(tmp_path, capsys, name):
    instance, record = answered(name, "l1", LOSSES[name].takes_bias)
    made = lies(name, record)
    believed = []
    for what, forged in made.items():
        status, out = audit(tmp_path, forged, instance), capsys.readouterr().out
        if status != 1 or not out.splitlines()[-1].startswith("NOT confirmed: "):
            believed.append((what, status, out))
    assert believed == []
    assert len(made) >= 15


@pytest.mark.parametrize("name", TARGETS)
def test_an_alpha_that_leaves_its_box_by_an_ulp_is_refused(name):
    instance, record = answered(name, "sum", False)
    loss = LOSSES[name]
    y, tried = instance.targets.values if loss.targets != "none" else None, 0
    weight = np.asarray(instance.sample_weight)
    price = 1.0 / (record["parameters"]["nu"] * len(weight)) * weight if loss.free_margin else 0.7 * weight
    ends = {"quantile": (-(1 - LEVEL) * price, LEVEL * price), "huber": (-price * CORNER, price * CORNER)}.get(
        name, LOSSES[name].bounds(y, price)
    )
    for box, way in zip(ends, (-math.inf, math.inf), strict=True):
        if math.isinf(box[3]):
            continue
        forged = copy.deepcopy(record)
        forged["certificate"] = {"ridge": 1e-9, "stretch": 1.0}
        if loss.free_tube:  # which has a sum as well
            forged["alpha"] = [0.0] * len(box)
        if not loss.free_margin:
            forged["alpha"][3] = float(box[3])
            check(instance.kernels, y, forged, weight)
        forged["alpha"][3] = math.nextafter(float(box[3]), way)
        with pytest.raises(Refused, match="alpha leaves its box"):
            check(instance.kernels, y, forged, weight)
        tried += 1
    assert tried == 2 - sum(math.isinf(box[3]) for box in ends)


def test_an_alpha_that_is_too_long_by_an_ulp_is_refused():
    """N is ν times the sum of the prices, a double: up to it, and not beyond."""
    instance, record = answered("nu_svr", "sum", False)
    y, weight = instance.targets.values, np.asarray(instance.sample_weight)
    most, held = 0.6 * math.fsum(0.7 * weight), (0.7 * weight).tolist()
    full = [*held[:7], math.nextafter(math.fsum([most, *(-h for h in held[:7])]), 0.0), *[0.0] * 4]
    assert sum(map(Fraction, full)) <= Fraction(most)
    record["certificate"], record["alpha"] = {"ridge": 1e-9, "stretch": 1.0}, full
    check(instance.kernels, y, record, weight)
    record["alpha"] = [*full[:7], full[7] + 4 * np.spacing(most), *full[8:]]
    with pytest.raises(Refused, match="larger than nu times that of the prices"):
        check(instance.kernels, y, record, weight)


@pytest.mark.parametrize("name", ["squared", "squared_hinge", "squared_epsilon_insensitive"])
def test_an_answer_without_the_half_of_a_square_is_refused(tmp_path, capsys, name):
    """It is that of 2C, whatever value is claimed for it."""
    instance = instance_for(LOSSES[name])
    record = answer(instance, "sum", parameters(LOSSES[name], price=1.4))
    record["parameters"]["C"] = 0.7
    assert audit(tmp_path, record, instance) == 1
    assert "NOT confirmed: " in capsys.readouterr().out
    honest = claimed(instance, copy.deepcopy(record))
    assert honest["status"] == "not_certified"
    assert honest["certificate"]["relative_gap"] > 1e-3


@pytest.mark.parametrize("name", [name for name, kind in TARGETS.items() if kind == "response"])
def test_another_response_is_another_problem(tmp_path, capsys, name):
    instance, record = answered(name, "l1", True)
    values = instance.targets.values.copy()
    values[2] += 1e-3
    moved = Instance(instance.kernels, response=values, groups=instance.groups, sample_weight=instance.sample_weight)
    assert audit(tmp_path, record, moved) == 1
    assert "NOT confirmed: certificate." in capsys.readouterr().out


def test_targets_and_losses_that_do_not_fit_are_refused(tmp_path, capsys):
    for name, other in UNFIT:
        _, record = answered(name, "l1", False)
        instance = instance_for(LOSSES[other])
        record["target"], record["label_names"] = instance.targets.kind, list(instance.targets.names)
        record["y"] = (instance.y if instance.targets.kind == "y" else np.ones(12)).astype(int).tolist()
        assert audit(tmp_path, record, instance) == 1
        assert "NOT confirmed: target: the loss needs" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------------ weak duality
@pytest.mark.parametrize(("name", "bias"), SIDES)
def test_lower_bounds_lie_below_upper_bounds_for_kernels_that_are_not_semidefinite(name, bias):
    """The lower bound of every point and the upper bound of every other, with ridges that matter."""
    loss, rng = LOSSES[name], np.random.default_rng(4)
    instance, best = answered(name, "sm2", bias)
    kernels = np.asarray(instance.kernels) - 0.05 * np.eye(12)
    task, _ = get("sm2").task(instance, best["parameters"])
    points = []
    for near in (0.0, 0.0, 0.5, 0.9, 0.99, 1.0, 1.0):
        record = copy.deepcopy(best)
        moved = np.array(best["alpha"]) * near + (1 - near) * rng.normal(size=12)
        record["alpha"] = task.feasible(moved).tolist()
        record["bias"] += (1 - near) * rng.normal() * bias
        own = rng.random() < 0.5
        ridges = [ridge_of(kernel) for kernel in kernels]
        if own:
            signed = np.array(record["alpha"]) * np.array(record["y"])
            record["coefficients"] = (
                np.outer(record["weights"], signed) + (1 - near) * rng.normal(size=(3, 12))
            ).tolist()
            record["certificate"] = {"ridge": max(ridges), "ridges": ridges, "stretch": 1.0}
        else:
            stretch = 1.0 if loss.free_margin else 1 + 0.1 * rng.random() * (1 - near)
            record["certificate"] = {"ridge": ridge_of(np.tensordot(record["weights"], kernels, 1)), "stretch": stretch}
        y = None if loss.targets == "none" else instance.targets.values
        points.append(evaluated(kernels, y, record, instance.sample_weight, instance.groups))
    assert max(point.lower for point in points) <= min(point.upper for point in points)


def ridge_of(kernel: np.ndarray) -> float:
    return 1e-9 - 1.001 * min(0.0, float(np.linalg.eigvalsh(kernel).min()))
