"""Every loss in CVXPY: primal and dual, declared apart, have one value, under every kind of penalty; limits and special
cases of losses; and problems in other units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mklcvx.formulations import Task, get
from mklcvx.formulations.losses import (
    ABSOLUTE,
    HINGE,
    REAL,
    SQUARED,
    SQUARED_HINGE,
    EpsilonInsensitive,
    Huber,
    Quantile,
    SmoothedHinge,
    SquaredEpsilonInsensitive,
)
from sample_sides import CHOSEN, PRICED, SIDES, named, task

# Not what the solver says of its point counts but what the bounds make of it.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Solution may be inaccurate")]

PENALTIES = {"sum": {}, "l1": {}, "sm2": {"theta": 0.7}, "l2": {}, "elastic": {"l1_ratio": 0.4}, "li": {}} | {
    "block_elastic": {"l1_ratio": 0.4}, "group_lasso": {"lam": 0.8},
}  # fmt: skip


def solved(program) -> float:
    program.problem.solve(solver="CLARABEL", use_quad_obj=False)
    return float(program.problem.value)


def value_of(loss, name="l1", bias=True, prices=1.0, seed=0) -> float:
    """The optimal value, by the declared dual."""
    problem = task(loss, bias, seed, **PENALTIES[name])
    return solved(get(name).declare_dual(replace(problem, box=problem.box * prices)))


PAIRS = [  # √q ≤ λ may leave group_lasso none of the α of a ν-form, which sum to one
    (name, loss, bias) for name in PENALTIES for loss, bias in SIDES if name != "group_lasso" or not loss.free_margin
]  # fmt: skip


@pytest.mark.parametrize(("name", "loss", "bias"), PAIRS, ids=named)
def test_primal_and_dual_agree_and_so_do_the_bounds(name, loss, bias):
    """Nothing but the loss knows the samples' side. The multiplier of the margins is α, sign included."""
    formulation, problem = get(name), task(loss, bias, n=10, **PENALTIES[name])
    programs = formulation.declare_primal(problem), formulation.declare_dual(problem)
    values = [solved(program) for program in programs]
    (alpha,), (functions,) = formulation.from_primal(programs[0], problem, 1.0)
    (other,), _ = formulation.from_dual(programs[1], problem, 1.0)
    upper = formulation.upper(problem, functions).value
    assert values == pytest.approx([upper, upper], rel=1e-6)
    for point in (alpha, other):
        assert formulation.lower(problem, point).value == pytest.approx(upper, rel=1e-5)
        assert formulation.lower(problem, point).value <= upper
    outputs, _ = problem.evaluate(functions)
    risk, feasible = problem.risk(outputs), problem.feasible(other)
    gaps = loss.fenchel_young(feasible, outputs + risk.bias, problem.y, problem.box, risk.unknown)
    slack = risk.unknown * loss.slack(feasible, problem.box) if loss.free_tube else 0.0
    assert 0 <= gaps.sum() + slack <= 1e-5 * abs(upper)


# ------------------------------------------------------------------------------------------ limits and special cases
@pytest.mark.parametrize("bias", [True, False])
def test_one_loss_is_another(bias):
    pairs = [
        (EpsilonInsensitive(0.0), 1.0, ABSOLUTE, 1.0),
        (Quantile(0.5), 2.0, ABSOLUTE, 1.0),
        (SquaredEpsilonInsensitive(0.0), 1.0, SQUARED, 1.0),
        (Huber(100.0), 1.0, SQUARED, 1.0),
    ]
    for loss, prices, other, others in pairs:
        assert value_of(loss, "l1", bias, prices) == pytest.approx(value_of(other, "l1", bias, others), rel=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_risks_of_losses_that_are_the_same_are_the_same_numbers(bias):
    rng = np.random.default_rng(2)
    for loss, prices, other in ((EpsilonInsensitive(0.0), 1, ABSOLUTE), (Quantile(0.5), 2, ABSOLUTE),
                                (SquaredEpsilonInsensitive(0.0), 1, SQUARED), (Huber(1e9), 1, SQUARED)):  # fmt: skip
        problem, outputs = task(loss, bias), rng.normal(size=14)
        one = replace(problem, box=prices * problem.box).risk(outputs)
        two = replace(problem, loss=other).risk(outputs)
        assert (one.value, one.bias) == pytest.approx((two.value, two.bias), rel=1e-13)
        assert one.bias_interval == pytest.approx(two.bias_interval, rel=1e-13)


def test_the_smoothed_hinge_tends_to_the_hinge_from_below_in_proportion_to_its_width():
    """0 ≤ hinge − smoothed ≤ ½ w Σc, and the difference halves with w."""
    hinge, total = value_of(HINGE), task(HINGE, True).box.sum()
    apart = [hinge - value_of(SmoothedHinge(width)) for width in (0.02, 0.01, 0.005)]
    assert all(-1e-6 <= gap <= width * total / 2 for gap, width in zip(apart, (0.02, 0.01, 0.005), strict=True))
    assert apart[0] / apart[1] == pytest.approx(2, rel=0.05)
    assert apart[1] / apart[2] == pytest.approx(2, rel=0.05)


def test_the_smoothed_hinge_of_a_large_width_is_the_squared_hinge():
    assert value_of(SmoothedHinge(1e3), prices=1e3) == pytest.approx(value_of(SQUARED_HINGE), rel=1e-5)


def test_huber_tends_to_the_absolute_loss_from_below():
    absolute, total = value_of(ABSOLUTE), task(ABSOLUTE, True).box.sum()
    apart = [absolute - value_of(Huber(corner), prices=1 / corner) for corner in (0.02, 0.01)]
    assert all(-1e-6 <= gap <= corner * total / 2 for gap, corner in zip(apart, (0.02, 0.01), strict=True))
    assert apart[0] > apart[1]


def test_a_tube_as_wide_as_the_targets_leaves_nothing_to_fit():
    wide = np.ptp(task(ABSOLUTE, True).y) / 2
    for loss in (EpsilonInsensitive(wide), SquaredEpsilonInsensitive(wide)):
        assert value_of(loss) == pytest.approx(0.0, abs=1e-7)
        assert task(loss, True).risk(np.zeros(14)).value == pytest.approx(0.0, abs=1e-15)


# ------------------------------------------------------------------------------------------------------------- units
@pytest.mark.parametrize("loss", CHOSEN, ids=named)
@pytest.mark.parametrize("name", ["l1", "sm2"])
def test_a_problem_with_other_kernels_units_is_the_same_problem(name, loss):
    """Kernels divided by 7: a declaration there, read in the old units, has the same points and the same value."""
    formulation, problem, size = get(name), task(loss, loss.takes_bias, **PENALTIES[name]), 7.0
    scaled = formulation.in_units(problem, size)
    program = formulation.declare_primal(scaled)
    value = solved(program) / problem.value_unit(size)
    (alpha,), (functions,) = formulation.from_primal(program, scaled, size)
    assert formulation.upper(problem, functions).value == pytest.approx(value, rel=1e-6)
    assert formulation.lower(problem, alpha).value == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("loss", [loss for loss in PRICED if loss.targets == REAL], ids=named)
def test_a_problem_in_other_units_of_its_targets_is_the_same_problem(loss):
    formulation, problem, size = get("l1"), task(loss, True), 5.0
    other = loss.in_units_of(size)
    moved = Task(problem.kernels, problem.y / size, problem.box * size ** (loss.degree - 2), other, True)
    rng = np.random.default_rng(0)
    alpha, functions = problem.feasible(rng.normal(size=14)), rng.normal(size=(3, 14))
    assert formulation.lower(moved, alpha / size).value * size**2 == pytest.approx(
        formulation.lower(problem, alpha).value
    )
    assert formulation.upper(moved, functions / size).value * size**2 == pytest.approx(
        formulation.upper(problem, functions).value
    )
    assert [getattr(other, name) * size for name in loss.lengths] == [getattr(loss, name) for name in loss.lengths]
