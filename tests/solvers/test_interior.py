"""The structured interior-point method: exact optima of every formulation with a regulariser on its weights."""

import numpy as np
import pytest

from cases import KINDS, LOSSES, given_for, instance_for, own_parameters
from checks import check_enclosed, check_solution
from covering import covering
from mklcvx import Instance, formulations, solve, zoo
from mklcvx.solvers.interior.reduced_hessian import ReducedHessian
from mklcvx.solvers.interior.single_task import InteriorSingle

pytestmark = pytest.mark.slow

NAMES = InteriorSingle.serves
DEGENERATE = {("li", "rank one"), ("ckl", "rank one")}  # kernels without weight that contribute all the same


@pytest.mark.parametrize("name", ["li", "ckl"])
@pytest.mark.parametrize("price", [0.01, 1.0, 1000.0])
def test_where_kernels_without_weight_contribute_it_is_certified_or_says_that_it_is_not(name, price):
    instance = instance_for(name, "rank one")
    solution, exact = (solve(instance, name, solver=solver, C=price) for solver in ("interior", "clarabel"))
    assert solution.certified == (solution.certificate.relative_gap <= 1e-9)
    assert solution.certified or "rounding allows no more" in solution.message
    assert solution.certificate.relative_gap <= 1e-8
    assert solution.certificate.lower <= exact.certificate.upper + 2e-8 * exact.certificate.scale
    assert exact.certificate.lower <= solution.certificate.upper + 2e-8 * exact.certificate.scale


ORDINARY = [
    (name, loss if (name, loss) in LOSSES else "c", kind)
    for name, loss, kind in covering(NAMES, ["c", "nu"], KINDS)
    if (name, kind) not in DEGENERATE
]


@pytest.mark.parametrize(("name", "loss", "kind"), ORDINARY)
def test_every_kind_of_instance_is_certified_to_1e_9(name, loss, kind):
    instance = instance_for(name, kind)
    given = {**given_for(instance, loss), **{k: v for k, v in own_parameters(name)[0].items() if k != "groups"}}
    solution = solve(instance, name, solver="interior", **given)
    check_solution(instance, solution, 1e-9)
    assert solution.iterations <= 40


@pytest.mark.parametrize("given", [{"C": 1e-4}, {"C": 1e4}, {"C": 1.0, "bias": False}, {"nu": 0.4, "bias": False}])
@pytest.mark.parametrize("name", NAMES)
def test_extreme_prices_and_no_bias_agree_with_the_declarations(name, given):
    if "nu" in given and "nu" not in formulations.get(name).losses:
        given = {"C": 0.4, "bias": False}
    base = zoo.random(30, 4, seed=8)
    instance = Instance(base.kernels, base.y, groups=base.groups, sample_weight=np.linspace(0.5, 1.5, 30))
    instance = instance.select([0]) if name == "svm" else instance
    solution = solve(instance, name, solver="interior", **given)
    # With C = 1e-4, f = 1e-12 is what `square` leaves beside b = ±1: margins are not known to more digits than that.
    assert solution.certified or (name, given) == ("square", {"C": 1e-4}), solution.message
    exact = solve(instance, name, solver="clarabel", **given)
    for value in (exact.certificate.lower, exact.certificate.upper):
        check_enclosed(value, solution, 2e-8)


@pytest.mark.parametrize("name", ["l1", "sm1", "lp", "elastic", "block_elastic", "group_lasso"])
def test_every_branch_of_the_parameters(name):
    instance = zoo.random(24, 4, seed=1)
    for own in own_parameters(name):
        assert solve(instance, name, solver="interior", C=2.0, **own).certified


# --------------------------------------------------------------------------------------------- Newton's equations
def test_settled_samples_are_left_out_of_the_factorisation_and_refined_for():
    """H with a diagonal that settles half of the samples: the rough inverse is near, the refined one exact."""
    task, _ = formulations.get("l1").task(zoo.random(20, 3, seed=6), {})
    hessian = ReducedHessian(task)
    hessian.set_weights(np.array([0.2, 0.3, 0.5]))
    diagonal = np.where(np.arange(20) % 2 == 0, 0.1, 1e5)
    hessian.factor(diagonal)
    assert len(hessian.free) == 10
    matrix = task.combined(np.array([0.2, 0.3, 0.5])) + np.diag(diagonal)
    right = np.linspace(1, 2, 20)
    assert hessian.matvec(right) == pytest.approx(matrix @ right)
    rough, exact = hessian.solve_roughly(right), np.linalg.solve(matrix, right)
    assert rough == pytest.approx(exact, abs=1e-3 * np.abs(exact).max())
    assert rough != pytest.approx(exact, rel=1e-9)
    rows = np.stack([right, right**2])
    assert hessian.solve_roughly(rows)[0] == pytest.approx(rough)
