"""Every loss in CVXPY: primal and dual, declared apart, have one value, under every kind of penalty; limits and special
cases of losses; and problems in other units."""

import pytest

from mklcvx.formulations import get
from mklcvx.formulations.losses import NuSVR
from sample_sides import CHOSEN, SIDES, named, task

# Not what the solver says of its point counts but what the bounds make of it.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Solution may be inaccurate")]

PENALTIES = {"sum": {}, "l1": {}, "sm2": {"theta": 0.7}, "l2": {}, "elastic": {"l1_ratio": 0.4}, "li": {}} | {
    "block_elastic": {"l1_ratio": 0.4}, "group_lasso": {"lam": 0.8},
}  # fmt: skip


def solved(program) -> float:
    program.problem.solve(solver="CLARABEL", use_quad_obj=False)
    return float(program.problem.value)


ALL = [*SIDES, (NuSVR(0.1), True), (NuSVR(0.1), False)]  # whose tube does not vanish
PAIRS = [  # √q ≤ λ may leave group_lasso none of the α of a ν-form, which sum to one
    (name, loss, bias) for name in PENALTIES for loss, bias in ALL if name != "group_lasso" or not loss.free_margin
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
