"""Every formulation, both losses, on every kind of instance: two declarations, one optimum, one certificate."""

import numpy as np
import pytest

from cases import KINDS, LOSSES, NAMES, ORDINARY, TOLERANCES, given_for, instance_for, own_parameters
from checks import check_enclosed, check_solution, declared_values, task_of
from covering import covering
from labelled import synthetic
from mklcvx import Instance, formulations, solve, zoo
from mklcvx.solvers.conic import CLARABEL, Run, solve_program

pytestmark = pytest.mark.slow

CASES = [
    (kind, name, loss if (name, loss) in LOSSES else "c")
    for kind, name, loss in covering([kind for kind in KINDS if kind not in ("n = 3", "n = 4")], NAMES, ["c", "nu"])
]


@pytest.mark.parametrize(("kind", "name", "loss"), CASES)
def test_both_declarations_lie_within_the_certificate(kind, name, loss):
    instance = instance_for(name, kind)
    given, tolerance = given_for(instance, loss), TOLERANCES.get(kind, ORDINARY)
    solution = solve(instance, name, solver="clarabel", tol=tolerance.certificate, **given)
    check_solution(instance, solution, tolerance.certificate)
    for value in declared_values(name, instance, given):
        check_enclosed(value, solution, tolerance.value)


VARIANTS = [(name, loss, own) for name, loss in LOSSES for own in own_parameters(name)]


@pytest.mark.parametrize(("name", "loss", "own"), VARIANTS, ids=[f"{n}-{loss}-{own}" for n, loss, own in VARIANTS])
def test_parameters_weights_and_a_missing_bias(name, loss, own):
    """Each branch of the parameters, without bias, with a C of its own for every sample."""
    base = instance_for(name, "balanced")
    groups = own.get("groups", base.groups)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, base.samples)
    instance = Instance(base.kernels, base.y, groups=groups if name != "svm" else None, sample_weight=weights)
    given = {**given_for(base, loss), **{k: v for k, v in own.items() if k != "groups"}, "bias": False}
    solution = solve(instance, name, solver="clarabel", **given)
    check_solution(instance, solution, ORDINARY.certificate)
    for value in declared_values(name, instance, given):
        check_enclosed(value, solution, ORDINARY.value)


WITH_CUTS = ["l1", "sm1", "sm2", "smp", "square", "l2", "lp", "elastic", "group_lasso", "ml_sum", "ml_minimax"]


@pytest.mark.parametrize("name", WITH_CUTS)
def test_weights_are_the_multipliers_of_the_duals_cuts(name):
    instance = synthetic(20, 2, seed=7) if name.startswith("ml") else zoo.random(20, 4, seed=12)
    formulation = formulations.get(name)
    solution = solve(instance, name, solver="clarabel", C=2.0)
    task = task_of(instance, solution)
    program = formulation.declare_dual(task)
    assert solve_program(program.problem, CLARABEL, Run())
    multipliers = np.array([float(np.ravel(cut.dual_value)[0]) for cut in program.cuts])
    assert multipliers == pytest.approx(solution.weights, abs=1e-4)


def test_norms_are_the_multipliers_of_the_cuts_of_block_elastic():
    instance, formulation = zoo.random(20, 4, seed=12), formulations.get("block_elastic")
    solution = solve(instance, "block_elastic", solver="clarabel", C=2.0, l1_ratio=0.4)
    program = formulation.declare_dual(task_of(instance, solution))
    assert solve_program(program.problem, CLARABEL, Run())
    multipliers = np.array([float(np.ravel(cut.dual_value)[0]) for cut in program.cuts])
    assert multipliers == pytest.approx(solution.norms, abs=1e-4)
    assert solution.multipliers["tau"] == pytest.approx(0.4 * solution.norms.sum(), rel=1e-6)


@pytest.mark.parametrize("name", ["li", "ckl"])
def test_a_kernel_that_alpha_does_not_see_can_still_be_used(name):
    """On single features K_m(α∘y) = 0 with f_m ≠ 0 is ordinary: the weight is undefined, coefficients say it all."""
    from sklearn.datasets import load_breast_cancer

    features, target = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(target))[:80]
    x = features[rows, :12]
    x = np.round((x - x.mean(axis=0)) / x.std(axis=0) * 2**12) / 2**12  # so that the products are exact
    y = np.where(target[rows] == 1, 1, -1)
    instance = Instance(np.stack([np.outer(c, c) for c in x.T]), y, groups=np.arange(12))
    solution = solve(instance, name, solver="clarabel", C=1.0)
    check_solution(instance, solution, ORDINARY.certificate)
    undefined = np.isnan(solution.weights)
    assert undefined.sum() >= 4
    assert (solution.norms[undefined] > 0.1).any()
    assert solution.coefficients is not None
    assert all(value is None for value in np.array(solution.as_dict()["weights"], dtype=object)[undefined])


@pytest.mark.parametrize("given", [{"C": 2.0}, {"nu": 0.5}, {"loss": "squared"}])
def test_programs_solved_in_other_units_leave_points_that_prove_their_value(given):
    """Of kernels, and of real targets."""
    formulation, size, instance = formulations.get("l1"), 7.0, zoo.random(16, 3, seed=13)
    if "loss" in given:
        instance = Instance(instance.kernels, response=20 * np.random.default_rng(13).normal(size=16))
    task, _ = formulation.task(instance, given)
    in_target_units = formulation.normalised(task)
    assert (in_target_units.target_unit == 1) == ("loss" not in given)
    scaled = formulation.in_units(in_target_units, size)
    value_unit = task.value_unit(size) / scaled.target_unit**2
    primal, dual = formulation.declare_primal(scaled), formulation.declare_dual(scaled)
    for program, read in ((primal, formulation.from_primal), (dual, formulation.from_dual)):
        assert solve_program(program.problem, CLARABEL, Run())
        points, value = read(program, scaled, size), program.problem.value / value_unit
        for alpha in points.duals:
            assert formulation.lower(task, alpha).value == pytest.approx(value, rel=1e-6)
        for coefficients in points.primals:
            assert formulation.upper(task, coefficients).value == pytest.approx(value, rel=1e-6)
