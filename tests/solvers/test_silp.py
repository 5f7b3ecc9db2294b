"""The declared semi-infinite linear program: same optimum, and the weights it returns are those it certified."""

import numpy as np
import pytest

from checks import check_solution
from mklcvx import solve, zoo
from mklcvx.formulations import _silp
from mklcvx.solvers.conic import CLARABEL, Run, solve_program
from mklcvx.solvers.published.silp import linear_master
from mklcvx.solvers.published.silp_exact import SILPExact


@pytest.mark.parametrize(("name", "own"), [("l1", {}), ("sm1", {"theta": 0.4})])
@pytest.mark.parametrize("given", [{"C": 1.0}, {"nu": 0.5}])
def test_column_generation_finds_the_optimum(name, own, given):
    instance = zoo.random(24, 3, seed=4)
    solution = solve(instance, name, solver="silp_exact", tol=1e-6, **given, **own)
    check_solution(instance, solution, 1e-6)
    exact = solve(instance, name, solver="clarabel", **given, **own)
    scale = exact.certificate.scale
    assert solution.certificate.lower <= exact.certificate.upper + 1e-10 * scale
    assert solution.certificate.upper >= exact.certificate.lower - 1e-10 * scale
    assert solution.solver == "silp_exact"
    assert solution.iterations >= 1


def test_the_master_bounds_the_optimum_from_below_and_mixes_its_cuts():
    """Two cuts on two kernels: (3, 1) and (1, 2) cross at weights (1/3, 2/3), value 5/3, mix (1/3, 2/3)."""
    master = _silp.restricted_master(np.array([[3.0, 1.0], [1.0, 2.0]]))
    assert solve_program(master.problem, CLARABEL, Run())
    assert master.problem.value == pytest.approx(5 / 3)
    assert master.weights.value == pytest.approx([1 / 3, 2 / 3], abs=1e-7)
    assert np.ravel(master.cuts.dual_value) == pytest.approx([1 / 3, 2 / 3], abs=1e-7)


def test_a_master_or_an_oracle_that_fails_ends_the_run(monkeypatch):
    instance = zoo.random(16, 3, seed=9)
    for broken, words in (("separate", "the oracle could not be solved"), ("master", "the master could not be solved")):
        with monkeypatch.context() as patch:
            patch.setattr(SILPExact, broken, lambda *arguments: None)
            solution = solve(instance, "l1", solver="silp_exact")
        assert solution.status == "not_certified"
        assert words in solution.message
        exact = solve(instance, "l1", solver="clarabel")
        assert solution.certificate.lower <= exact.objective <= solution.certificate.upper


def test_the_linear_master_agrees_with_the_declared_one():
    scores = np.random.default_rng(5).normal(size=(6, 4))
    for cap in (1.0, 0.4):
        declared = _silp.restricted_master(scores, cap)
        assert solve_program(declared.problem, CLARABEL, Run())
        weights, mix = linear_master(scores, cap)
        assert (scores @ weights).max() == pytest.approx(declared.problem.value, abs=1e-7)
        assert mix == pytest.approx(np.ravel(declared.cuts.dual_value), abs=1e-6)
        assert weights.max() <= cap + 1e-12
