"""The structured interior-point method: exact optima of every formulation with a regulariser on its weights."""

from __future__ import annotations

import numpy as np
import pytest

from mklcvx import Instance, formulations, solve, zoo
from mklcvx.formulations import SINGLE_TASKS
from mklcvx.polish import equalities
from mklcvx.solvers import drive
from mklcvx.solvers._driver import Problem
from mklcvx.solvers._saddle import Interior, Newton
from mklcvx.solvers.interior import InteriorPoint, _curvature, _slope, residuals

from cases import KINDS, given_for, instance_for, own_parameters
from checks import check_enclosed, check_solution

NAMES = InteriorPoint.serves
BLOCK_INFINITY = {"li", "ckl", "vskl"}


def test_it_serves_every_formulation_with_a_regulariser():
    assert set(NAMES) == {f.name for f in SINGLE_TASKS} - BLOCK_INFINITY


@pytest.mark.parametrize("loss", ["c", "nu"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_instance_is_certified_to_1e_9(name, kind, loss):
    instance = instance_for(name, kind)
    given = {**given_for(instance, loss), **{k: v for k, v in own_parameters(name)[0].items() if k != "groups"}}
    solution = solve(instance, name, solver="interior", **given)
    check_solution(instance, solution, 1e-9)
    assert solution.iterations <= 40


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("given", [{"C": 1e-4}, {"C": 1e4}, {"C": 1.0, "bias": False}, {"nu": 0.4, "bias": False}])
def test_extreme_prices_and_no_bias_agree_with_the_declarations(name, given):
    base = zoo.random(30, 4, seed=8)
    instance = Instance(base.kernels, base.y, sample_weight=np.linspace(0.5, 1.5, 30))
    instance = instance.select([0]) if name == "svm" else instance
    solution = solve(instance, name, solver="interior", **given)
    assert solution.certified, solution.message
    exact = solve(instance, name, **given)
    for value in (exact.certificate.lower, exact.certificate.upper):
        check_enclosed(value, solution, 2e-8)


@pytest.mark.parametrize("name", ["l1", "sm1", "lp", "elastic"])
def test_every_branch_of_the_parameters(name):
    instance = zoo.random(24, 4, seed=1)
    for own in own_parameters(name):
        assert solve(instance, name, solver="interior", C=2.0, **own).certified


def test_the_order_of_the_kernels_plays_no_part():
    instance = zoo.real("wine", samples=60, count=10)
    order = np.random.default_rng(3).permutation(10)
    one = solve(instance, "sm2", solver="interior")
    other = solve(Instance(instance.kernels[order], instance.y), "sm2", solver="interior")
    assert other.weights == pytest.approx(one.weights[order], abs=1e-8)
    assert other.objective == pytest.approx(one.objective, rel=1e-9)


def test_single_precision_and_low_rank_are_read_as_they_are():
    base = zoo.rank_one(30, 5, seed=2)
    stored = Instance(base.kernels.astype(np.float32), base.y)
    assert stored.kernels.dtype == np.float32
    assert solve(stored, "l1", solver="interior").certified


def test_a_time_limit_keeps_what_there_is():
    solution = solve(zoo.random(40, 5, seed=1), "l1", solver="interior", time_limit=1e-9)
    assert solution.status == "not_certified"
    assert "time limit" in solution.message


# --------------------------------------------------------------------------------------------- Newton's equations
def residual_vector(task, side, at: Interior, target: float) -> np.ndarray:
    """All equations of `_saddle`, spelled out."""
    columns = np.stack([task.y * (kernel @ (at.alpha * task.y)) for kernel in task.kernels], axis=1)
    off = residuals(task, side, at, columns)
    products = [a * b - target for a, b in at.pairs]
    return np.concatenate([off.alpha, off.mu, off.totals, off.psi, *products])


@pytest.mark.parametrize("name", ["l1", "sm1", "sm2", "smp", "square", "l2", "lp", "elastic"])
@pytest.mark.parametrize("given", [{"C": 1.5}, {"nu": 0.6}, {"C": 1.5, "bias": False}])
def test_the_direction_solves_the_linearised_equations(name, given):
    """residual(x) + residual'(x)·step = 0, the derivative by central differences along the step."""
    formulation, made = formulations.get(name), InteriorPoint()
    task, _ = formulation.task(zoo.random(10, 3, seed=6), given)
    problem = Problem(formulation, task, 1e-9)
    state = made.step(problem, made.start(problem))
    at, side = state.at, formulation.regulariser
    newton = Newton(
        at, state.q, state.columns, _curvature(task, side, at), _slope(task, side, at), equalities(task)[0],
        residuals(task, side, at, state.columns),
    )  # fmt: skip
    target = 0.3 * at.level
    step = newton.direction(target)
    tiny = 1e-6
    ahead, behind = (residual_vector(task, side, at.moved(t, step), target) for t in (tiny, -tiny))
    derivative, here = (ahead - behind) / (2 * tiny), residual_vector(task, side, at, target)
    assert here + derivative == pytest.approx(np.zeros(len(here)), abs=1e-6 * np.abs(here).max())


def test_the_pairs_stay_positive_and_the_level_falls():
    formulation, made = formulations.get("sm1"), InteriorPoint()
    task, _ = formulation.task(zoo.random(20, 4, seed=6), {"theta": 0.4})
    problem = Problem(formulation, task, 1e-9)
    state = made.start(problem)
    levels = []
    for _ in range(9):
        assert all((a > 0).all() and (b > 0).all() for a, b in state.at.pairs)
        levels.append(state.at.level)
        state = made.step(problem, state)
    assert levels[-1] < 1e-5 * levels[0]
    _, run = drive(made, formulation, task, 1e-9)
    assert run.ending == "certified"
