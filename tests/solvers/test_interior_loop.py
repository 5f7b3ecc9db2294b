"""The parts that all families of the interior-point engine share: the step rule, iterates, and the steps around it."""

from dataclasses import replace

import numpy as np
import pytest

from mklcvx import formulations, zoo
from mklcvx.certificate import certify
from mklcvx.certificate.run import Ending
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.interior import loop, step_length
from mklcvx.solvers.interior.engine import KINDS
from mklcvx.solvers.interior.loop import InteriorMethod
from mklcvx.solvers.interior.qp import BoxQP, QPIterate, QPSystem, interior_point
from mklcvx.solvers.interior.settings import SETTINGS
from mklcvx.solvers.interior.single_task import InteriorSingle, active_set_finish, candidate_points, elimination_step
from mklcvx.solvers.interior.step_length import boundary_fraction

PROGRAM = BoxQP(np.diag([1.0, 2.0, 4.0]), np.ones(3), np.full(3, 0.6), np.zeros((0, 3)), np.zeros(0))


def test_an_iterate_knows_its_products_and_how_far_it_can_go():
    at = QPIterate(*np.array([[1.0], [2.0], [3.0], [0.5], [0.0]]))
    step = QPIterate(*np.array([[-2.0], [1.0], [1.0], [-0.1], [0.0]]))
    assert (at.complementarity, at.mu) == (4.0, 2.0)
    assert at.max_step(step) == 0.5
    assert at.max_step(QPIterate(*np.array([[0.5], [-0.25], [1.0], [-0.1], [0.0]]))) == 1.0
    assert vars(at.moved(0.5, step)) == {"alpha": 0.0, "box_slack": 2.5, "z": 3.5, "w": 0.45, "nu": 0.0}


def test_steps_go_nearer_to_the_boundary_as_the_optimum_comes_near():
    shares = [boundary_fraction(left) for left in (1.0, 0.005, 0.001, 1e-9)]
    assert shares == pytest.approx([0.995, 0.995, 0.999, 0.9999])


def system_at(alpha: float) -> QPSystem:
    at = QPIterate(np.full(3, alpha), 0.6 - np.full(3, alpha), np.ones(3), np.ones(3), np.zeros(0))
    return QPSystem(PROGRAM, at, PROGRAM.q @ at.alpha - PROGRAM.c, np.zeros(0))


def test_the_target_follows_from_what_the_predictor_reaches():
    system = system_at(0.3)
    assert system.aim(0.1 * system.at.mu) == pytest.approx(1e-3)
    assert system.aim(-1e-20) == 0.0
    system.min_centring = 0.02
    assert system.aim(0.1 * system.at.mu) == 0.02
    system.residuals_lag = True
    assert system.aim(0.1 * system.at.mu) == 1.0


def test_the_step_rule_is_changed_in_one_place(monkeypatch):
    """A shorter fraction costs the quadratic program steps, and all families take theirs from the same rule."""
    taken = []
    rule = loop.boundary_fraction
    monkeypatch.setattr(loop, "boundary_fraction", lambda left: taken.append(left) or rule(left))
    assert interior_point(PROGRAM, 1e-10) == pytest.approx([0.6, 0.5, 0.25], abs=1e-8)
    usual = len(taken)
    short = replace(SETTINGS, boundary_fraction=0.5, final_boundary_fraction=0.5)
    monkeypatch.setattr(step_length, "SETTINGS", short)
    assert interior_point(PROGRAM, 1e-10) == pytest.approx([0.6, 0.5, 0.25], abs=1e-8)
    assert len(taken) - usual > 2 * usual
    assert all(issubclass(kind, InteriorMethod) and kind.step is InteriorMethod.step for kind in KINDS)


def test_numerical_trouble_is_an_ending():
    for kind in KINDS:
        assert kind.newton_step is InteriorMethod.newton_step
    state = InteriorSingle().start(problem_of("l1"))
    assert InteriorSingle().failed(state, None).stop_reason is Ending.NO_PROGRESS


def problem_of(name: str) -> Problem:
    formulation = formulations.get(name)
    return Problem(formulation, formulation.task(zoo.random(24, 4, seed=6), {"C": 1.0})[0], 1e-9)


@pytest.mark.parametrize("name", ["l1", "sm2", "lp", "ckl"])
def test_the_active_set_finish_stands_on_its_own(name):
    """From an interior point whose own gap is far larger it finds the optimum; from the start it finds nothing."""
    problem, method = problem_of(name), InteriorSingle()
    state = method.start(problem)
    assert active_set_finish(problem, state.side, state.hessian, state.active_set_guess) is None
    while state.relative_complementarity > 1e-6:
        state = method.newton_step(problem, state)
    found = active_set_finish(problem, state.side, state.hessian, state.active_set_guess, 4)
    assert found is not None
    points = candidate_points(state.side, found)
    assert certify(problem.formulation, problem.task, points).certificate.proves(1e-9)


def test_without_groups_there_is_nothing_to_eliminate():
    problem = problem_of("l1")
    assert elimination_step(problem, InteriorSingle().start(problem)) is None
    assert elimination_step(problem_of("ckl"), InteriorSingle().start(problem_of("ckl"))) is None
