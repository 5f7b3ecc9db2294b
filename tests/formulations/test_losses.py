"""Every loss is one object: its risk and its gain meet in weak duality, its derivatives fit, and its declarations agree
with its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklcvx import zoo
from mklcvx.formulations import Task, get
from mklcvx.formulations.losses import LOSSES

EVERY = sorted(LOSSES)


def task(loss: str, bias: bool, seed: int = 0, name: str = "l1") -> Task:
    rng, (made, _) = np.random.default_rng(seed), get(name).task(zoo.random(14, 3, seed=seed), {})
    price = rng.uniform(1.0, 1.2, 14) / (0.3 * 14) if LOSSES[loss].free_margin else rng.uniform(0.5, 1.5, 14)
    return Task(made.kernels, made.y, price, loss, bias, made.own)


@pytest.mark.parametrize("loss", EVERY)
@pytest.mark.parametrize("bias", [True, False])
@settings(deadline=None)
@given(seed=st.integers(0, 10**6))
def test_risk_and_gain_are_weakly_dual(loss, bias, seed):
    """risk(f) ≥ gain(α) − Σ α_i y_i f(x_i) for every f and every feasible α."""
    problem, rng = task(loss, bias), np.random.default_rng(seed)
    outputs, alpha = rng.normal(size=14), problem.feasible(rng.uniform(0, 1.5, 14))
    least = problem.gain(alpha) - float((alpha * problem.signs) @ outputs)
    assert problem.risk(outputs).value >= least - 1e-12 * (1 + abs(least))


@pytest.mark.parametrize("loss", EVERY)
@pytest.mark.parametrize("bias", [True, False])
def test_feasible_points_are_in_the_domain(loss, bias):
    problem = task(loss, bias)
    alpha = problem.feasible(np.random.default_rng(1).normal(size=14))
    rows, totals = problem.equalities()
    assert (alpha >= problem.low).all()
    assert (alpha <= problem.limit).all()
    assert rows @ alpha == pytest.approx(totals, abs=1e-15)
    assert len(rows) == bias + problem.loss_function.free_margin


@pytest.mark.parametrize("loss", EVERY)
def test_gradient_and_curvature_are_those_of_the_gain(loss):
    found, price, step = LOSSES[loss], np.array([0.5, 2.0]), 1e-5
    alpha = np.array([0.2, 0.9])
    for i, move in enumerate(step * np.eye(2)):
        there, here = found.gain(alpha + move, price), found.gain(alpha - move, price)
        assert (there - here) / (2 * step) == pytest.approx(found.gradient(alpha, price)[i], abs=1e-8)
        bend = (there + here - 2 * found.gain(alpha, price)) / step**2
        assert -bend == pytest.approx(found.curvature(alpha, price)[i], abs=1e-4)


@pytest.mark.parametrize("loss", EVERY)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", ["l1", "sm2", "li"])
def test_declarations_and_bounds_agree_for_every_loss(name, loss, bias):
    """Also for a loss that no formulation offers yet: nothing but the loss knows the samples' side."""
    formulation, problem = get(name), task(loss, bias, name=name)
    programs = formulation.declare_primal(problem), formulation.declare_dual(problem)
    for program in programs:
        program.problem.solve(solver="CLARABEL", use_quad_obj=False)
    (alpha, *_), (functions, *_) = formulation.from_primal(programs[0], problem, 1.0)
    upper = formulation.upper(problem, functions).value
    assert [one.problem.value for one in programs] == pytest.approx([upper, upper], rel=1e-6)
    assert formulation.lower(problem, alpha).value == pytest.approx(upper, rel=1e-5)
    (alpha,), _ = formulation.from_dual(programs[1], problem, 1.0)
    assert formulation.lower(problem, alpha).value == pytest.approx(upper, rel=1e-5)
    assert formulation.lower(problem, alpha).value <= upper
