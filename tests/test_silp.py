"""The declared semi-infinite linear program: same optimum, and the weights it returns are those it certified."""

from __future__ import annotations

import numpy as np
import pytest

from mklcvx import formulations, solve, zoo
from mklcvx.exact import CLARABEL, Run, solve_program
from mklcvx.formulations import _silp
from mklcvx.silp import ColumnGeneration

from checks import check_solution, task_of


@pytest.mark.parametrize(("name", "own"), [("l1", {}), ("sm1", {"theta": 0.4})])
@pytest.mark.parametrize("given", [{"C": 1.0}, {"nu": 0.5}])
def test_column_generation_finds_the_optimum(name, own, given):
    instance = zoo.random(24, 3, seed=4)
    solution = solve(instance, name, solver="silp_exact", tol=1e-6, **given, **own)
    check_solution(instance, solution, 1e-6)
    exact = solve(instance, name, **given, **own)
    scale = exact.certificate.scale
    assert solution.certificate.lower <= exact.certificate.upper + 1e-10 * scale
    assert solution.certificate.upper >= exact.certificate.lower - 1e-10 * scale
    assert solution.solver == "silp_exact"
    assert solution.iterations >= 2


def test_the_master_bounds_the_optimum_from_below_and_mixes_its_cuts():
    """Two cuts on two kernels: (3, 1) and (1, 2) cross at weights (1/3, 2/3), value 5/3, mix (1/3, 2/3)."""
    master = _silp.restricted_master(np.array([[3.0, 1.0], [1.0, 2.0]]))
    assert solve_program(master.problem, CLARABEL, Run())
    assert master.problem.value == pytest.approx(5 / 3)
    assert master.weights.value == pytest.approx([1 / 3, 2 / 3], abs=1e-7)
    assert np.ravel(master.cuts.dual_value) == pytest.approx([1 / 3, 2 / 3], abs=1e-7)


def test_the_box_caps_the_masters_weights():
    master = _silp.restricted_master(np.array([[3.0, 1.0, 2.0]]), cap=0.6)
    assert solve_program(master.problem, CLARABEL, Run())
    assert master.weights.value == pytest.approx([0, 0.6, 0.4], abs=1e-7)
    assert _silp.cap({"theta": 0.3}) == 0.3
    assert _silp.cap({}) == 1


def test_the_oracle_is_the_svm_of_the_combined_kernel():
    instance = zoo.random(16, 3, seed=9)
    task, _ = formulations.get("l1").task(instance, {"C": 1.5})
    weights = np.array([0.2, 0.0, 0.8])
    single, program = _silp.separation_oracle(task, weights)
    assert solve_program(program.problem, CLARABEL, Run())
    kernel = 0.2 * instance.kernels[0] + 0.8 * instance.kernels[2]
    assert single.kernels[0] == pytest.approx(kernel)
    alpha = task.feasible(program.alpha.value)
    scores = _silp.scores(task, alpha)
    signed = alpha * task.y
    assert scores == pytest.approx([alpha.sum() - signed @ k @ signed / 2 for k in instance.kernels])
    assert weights @ scores == pytest.approx(program.problem.value, rel=1e-7)


def test_the_loop_returns_the_point_it_certified_not_a_later_one():
    judged = []
    loop = ColumnGeneration(
        separate=lambda weights: float(weights[0]),
        master=lambda cuts: (np.array([len(cuts) + 1.0]), np.ones(len(cuts))),
        judge=lambda weights, cuts, mix: judged.append(weights[0]) or (weights[0], len(cuts) == 3),
    )
    point, count = loop.run(np.array([1.0]), max_iter=10, deadline=np.inf)
    assert (point, count, judged) == (3.0, 3, [1.0, 2.0, 3.0])
    point, count = loop.run(np.array([1.0]), max_iter=2, deadline=np.inf)
    assert (point, count) == (2.0, 2)
    stuck = ColumnGeneration(lambda weights: None, loop.master, loop.judge)
    assert stuck.run(np.array([1.0]), 5, np.inf) == (None, 0)


def test_stopping_early_is_said():
    instance = zoo.random(24, 4, seed=4)
    solution = solve(instance, "l1", solver="silp_exact", max_iter=2)
    assert solution.status == "not_certified"
    assert "relative gap" in solution.message
    exact = solve(instance, "l1")
    assert solution.certificate.lower <= exact.objective <= solution.certificate.upper
    assert task_of(instance, solution).count == 4
