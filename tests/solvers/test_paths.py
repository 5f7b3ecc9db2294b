"""Paths along parameters: every point certified, the same optimum as a cold solve, arrays and JSON lines."""

import json

import numpy as np
import pytest

from cases import on_grid
from mklcvx import InputError, solve, solve_path, zoo
from mklcvx.formulations import get
from mklcvx.problem.factors import in_factors
from mklcvx.solvers.interior.engine import InteriorPoint
from mklcvx.solvers.paths import combinations
from mklcvx.solvers.registry import drive
from refusals import check_refused

pytestmark = pytest.mark.slow

WINE = zoo.real("wine", samples=60, count=8)
PRICES = [0.01, 0.1, 0.3, 1.0, 3.0, 30.0, 100.0]


@pytest.mark.parametrize("name", ["l1", "sm1", "sm2", "lp", "square", "ckl", "average"])
def test_every_point_is_the_optimum_of_a_cold_solve(name):
    """`ckl` needs kernels that are semidefinite without a doubt."""
    instance = WINE.with_kernels(in_factors(WINE.kernels)) if name == "ckl" else WINE
    found = solve_path(instance, name, {"C": PRICES}, solver="interior")
    assert found.certified
    assert found.values("C") == pytest.approx(PRICES)
    assert found.weights.shape == (7, 8)
    for price, (lower, upper) in list(zip(PRICES, found.bounds, strict=True))[::3]:
        cold = solve(instance, name, solver="clarabel", C=price)
        assert lower <= cold.certificate.upper
        assert cold.certificate.lower <= upper


@pytest.mark.parametrize(
    ("name", "grid"),
    [("sm1", {"theta": [0.2, 0.4, 1.0]}), ("lp", {"p": [1.0, 1.5, 4.0]}), ("l1", {"bias": [True, False, True]})],
)
def test_any_parameter_can_vary_with_others_fixed(name, grid):
    found = solve_path(WINE, name, grid, C=2.0)
    assert found.certified
    for solution, value in zip(found.solutions, next(iter(grid.values())), strict=True):
        again = solve(WINE, name, C=2.0, **{next(iter(grid)): value})
        assert solution.objective == pytest.approx(again.objective, rel=2e-8)
        assert solution.parameters == again.parameters


def test_a_warm_start_saves_iterations_and_a_foreign_one_is_not_used():
    formulation = get("l1")
    tasks = [formulation.task(WINE, {"C": price})[0] for price in (20.0, 22.0)]
    _, first = drive(InteriorPoint(), formulation, tasks[0], 1e-9)
    _, warm = drive(InteriorPoint(), formulation, tasks[1], 1e-9, warm=first.last)
    _, cold = drive(InteriorPoint(), formulation, tasks[1], 1e-9)
    assert warm.ending == cold.ending == "certified"
    assert warm.iterations < cold.iterations
    for other in ({"bias": False}, {"nu": 0.3}, {"nu": 0.3, "bias": False}):
        task, _ = formulation.task(WINE, other)
        assert drive(InteriorPoint(), formulation, task, 1e-9, warm=first.last)[1].ending == "certified"
    other, _ = formulation.task(zoo.random(20, 4, seed=1), {})
    point, run = drive(InteriorPoint(), formulation, other, 1e-9, warm=first.last)
    assert run.ending == "certified"
    assert point.certificate.relative_gap <= 1e-9


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (0.5, [0.5]),
        (np.array(0.5), [0.5]),
        ("ovo", ["ovo"]),
        (range(1, 3), [1, 2]),
        (np.array([0.5, 1.0]), [0.5, 1.0]),
        ([[1, 2], [3]], [[1, 2], [3]]),
        (memoryview(b"12"), [49, 50]),
        ({1: 2}, [{1: 2}]),
    ],
)
def test_values_of_a_grid_stay_what_they_are(given, values):
    assert [point["C"] for point in combinations({"C": given}, {})] == values


@pytest.mark.parametrize("values", [[[1, 2], [3]], [np.ones((2, 2)), np.ones((2, 3))], np.ones((2, 2))])
def test_ragged_grids_are_refused(values):
    with check_refused("parameter C = ", "is not a number: give a single finite number"):
        solve_path(zoo.by_hand(), "l1", {"C": values})


@pytest.mark.parametrize(
    ("grid", "fixed", "words"),
    [
        ({}, {}, "no parameter is varied"),
        ({"C": []}, {}, "grid C: it has no values"),
        ({"C": [1]}, {"C": 2}, "C is both fixed and varied"),
        ({"C": range(1000), "theta": range(1000)}, {}, "1000000 points are too many"),
    ],
)
def test_grids_that_are_none_are_refused(grid, fixed, words):
    with pytest.raises(InputError, match=words):
        combinations(grid, fixed)


def test_json_lines_on_the_command_line(run, quiet, refusal, tmp_path):
    problem = tmp_path / "i.npz"
    np.savez(problem, kernels=WINE.kernels, y=WINE.y)
    out = quiet("path", problem, "-f", "sm1", "--grid", "C=0.1,1", "--grid", "theta=0.3,1", "--quiet")
    records = [json.loads(line) for line in out.splitlines()]
    found = [(record["parameters"]["C"], record["parameters"]["theta"]) for record in records]
    assert found == [(0.1, 0.3), (0.1, 1), (1, 0.3), (1, 1)]
    assert {r["status"] for r in records} == {"certified"}
    code, out, _ = run("path", problem, "--grid", "C=0.1,1", "-o", tmp_path / "p.jsonl", "-q")
    assert (code, out) == (0, "")
    assert len((tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    assert "--grid C is given twice" in refusal("path", problem, "--grid", "C=1", "--grid", "C=2")
    assert "parameter C = -1" in refusal("path", problem, "--grid", "C=1,-1")
    code, _, err = run("path", problem, "--grid", "C=1,10", "--max-iter", "2", "-q")
    assert code == 1
    assert "2 of 2 points are not certified; the first: not certified: relative gap" in err


def test_auto_is_interior_and_exact_comes_to_help_where_it_is_not_enough(monkeypatch):
    assert solve(WINE, "l1").solver == "interior"
    monkeypatch.setattr(InteriorPoint, "max_iter", 3)
    low_rank = on_grid(zoo.rank_one(24, 4, seed=4))
    alone = solve(low_rank, "li", solver="interior", C=1.0)
    helped = solve(low_rank, "li", C=1.0)
    assert not alone.certified
    assert (helped.solver, helped.certified) == ("clarabel", True)
    limited = solve(low_rank, "li", C=1.0, max_iter=3)
    assert (limited.solver, limited.certified) == ("interior", False)


def test_the_support_is_exact():
    """At the optimum what is at a bound is there to the last bit, as the LIBSVM of the same kernel says."""
    found = solve(WINE, "l1", C=1.0)
    assert (found.weights == 0).sum() >= 2
    assert (found.alpha == 0).sum() >= 5
    assert (found.alpha == 1.0).sum() >= 1
    assert not ((found.alpha > 0) & (found.alpha < 1e-6)).any()
