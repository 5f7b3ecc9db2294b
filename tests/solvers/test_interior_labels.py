"""The structured interior-point method for many labels: both formulations, every class, to ten digits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cases import KINDS
from covering import covering
from mklcvx import Instance, formulations, zoo
from mklcvx.formulations.families.multi_label import LabelTask
from mklcvx.solvers.conic import CLARABEL, Run, solve_program
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.interior.multi_label import (
    InteriorLabels,
    LabelIterate,
    LabelState,
    LabelSystem,
    kernel_pass,
    residuals,
)
from mklcvx.solvers.registry import drive

NAMES = InteriorLabels.serves
TOLERANCE = 1e-9


def with_labels(base: Instance, k: int, seed: int = 0, sample_weight: np.ndarray | None = None) -> Instance:
    """The labels of the instance, and k − 1 noisier copies of them."""
    rng, first = np.random.default_rng(seed), (base.y > 0).astype(int)
    columns = [first]
    for noise in np.linspace(0.1, 0.4, k - 1):
        label = np.where(rng.random(len(first)) < noise, 1 - first, first)
        label[0], label[-1] = 1, 0
        columns.append(label)
    return Instance(base.kernels, labels=np.stack(columns, axis=1), sample_weight=sample_weight)


def task_of(name: str, instance: Instance, price: float = 1.0) -> LabelTask:
    return formulations.get(name).task(instance, {"C": price})[0]


def driven(name: str, task: LabelTask, **limits):
    return drive(InteriorLabels(), formulations.get(name), task, TOLERANCE, **limits)


def check_certified(name: str, task: LabelTask, most: int = 50):
    point, run = driven(name, task)
    assert point.certificate.proves(TOLERANCE), (point.certificate, run.ending)
    assert run.ending == "certified"
    assert run.iterations <= most
    return point


def cost_of_rounding(task: LabelTask, point) -> float:
    """What the losses lose where every product in the outputs Σ_m p_mK_mβ is rounded once, and the errors add up as a
    random walk does. The outputs cancel, so that this is far above the last bits of the value."""
    p, (beta, gamma) = point.upper.point.weights, point.lower.point
    alpha = beta / np.where(gamma > 0, gamma, np.inf)[:, None]
    products = np.abs(alpha) @ np.tensordot(p, np.abs(task.kernels), axes=1)
    return np.finfo(float).eps * float((task.box * products).sum()) / np.sqrt(task.samples * task.count)


def check_ended_by_rounding(name: str, task: LabelTask):
    """Labels that no kernel separates, at a large C: the penalty is a trifle beside the loss, and its last digits are
    below the last bits of the value."""
    point, run = driven(name, task)
    assert point.certificate.scale < 1e-4 * point.certificate.size
    assert point.certificate.gap <= cost_of_rounding(task, point)
    assert run.ending == "rounding allows no more"
    assert run.iterations <= 60


@pytest.mark.parametrize(("price", "kind", "name"), covering([1e-4, 1.0, 1e4], KINDS, NAMES))
def test_every_kind_of_instance_is_certified_to_1e_9(name, kind, price):
    task = task_of(name, with_labels(KINDS[kind](), 3), price)
    if kind == "rank one" and price == 1e4:
        check_ended_by_rounding(name, task)
    else:
        check_certified(name, task)


@pytest.mark.parametrize(
    ("name", "sizes", "price"), covering(NAMES, [(1e-9, 1.0, 1e9), (1e9, 1e9, 1e9), (1e-9, 1e-9, 1e-9)], [1e-4, 1e4])
)
def test_kernels_of_any_size_are_certified(name, sizes, price):
    base = with_labels(zoo.random(24, 3, seed=3), 3)
    check_certified(name, task_of(name, base.with_kernels(base.kernels * np.array(sizes)[:, None, None]), price))


@pytest.mark.parametrize("name", NAMES)
def test_ten_labels_of_which_two_are_repeated(name):
    base = with_labels(zoo.duplicated(30, 6, seed=4), 8)
    point = check_certified(name, task_of(name, base))
    repeated = Instance(base.kernels, labels=base.targets.values[:, [*range(8), 0, 7]])
    again = check_certified(name, task_of(name, repeated))
    if name == "ml_minimax":
        assert again.upper.value == pytest.approx(point.upper.value, rel=3e-9)
    else:
        assert again.upper.value > point.upper.value * (1 + 1e-3)


@pytest.mark.parametrize("importance", [(0.3, 2.0, 1.0), (1e-8, 2e-8, 1e-9), (1.0, 0.0, 3.0)])
def test_the_sum_weighs_classes_by_their_importance(importance):
    formulation = formulations.get("ml_sum")
    task = task_of("ml_sum", with_labels(zoo.random(16, 3, seed=6), 3))
    point = check_certified("ml_sum", replace(task, importance=np.array(importance)))
    largest = max(importance)  # the declaration is solved in units of its own
    program = formulation.declare_dual(replace(task, importance=np.array(importance) / largest))
    assert solve_program(program.problem, CLARABEL, Run())
    assert point.lower.value == pytest.approx(largest * program.problem.value, rel=1e-6)


def test_a_class_whose_weight_vanishes_is_solved_like_the_others():
    task = task_of("ml_minimax", with_labels(zoo.random(30, 4, seed=7), 4))
    point = check_certified("ml_minimax", task)
    p, (beta, gamma) = point.upper.point.weights, point.lower.point
    assert gamma.min() < 1e-6 < gamma.max()
    alpha = beta / gamma[:, None]
    penalties = task.q(alpha) @ p / 2
    outputs, _ = task.evaluate(p[None, :, None] * (alpha * task.signs)[:, None, :])
    own_gaps = penalties + task.risks(outputs) - (alpha.sum(axis=1) - penalties)
    assert (own_gaps <= 1e-6 * point.upper.value).all()


@pytest.mark.parametrize("name", NAMES)
def test_multipliers_that_started_too_small_are_started_again(name):
    """A large C and labels that no kernel separates."""
    task, made = task_of(name, with_labels(zoo.rank_one(60, 8, seed=3), 4), 1e5), InteriorLabels()
    problem = Problem(formulations.get(name), task, TOLERANCE)
    state, spreads = made.start(problem), []
    while state.gap > 1e-5 and len(spreads) < 60:
        state = made.step(problem, state)
        spreads.append(state.spread)
    assert spreads[0] < spreads[-1] == np.inf
    check_ended_by_rounding(name, task)


def test_the_best_state_ends_the_run_once_two_steps_have_made_no_progress():
    task = task_of("ml_minimax", with_labels(zoo.rank_one(60, 8, seed=3), 4), 1e5)
    problem = Problem(formulations.get("ml_minimax"), task, TOLERANCE)
    states = [InteriorLabels().start(problem)]
    while not states[-1].stop_reason:
        states.append(InteriorLabels().step(problem, states[-1]))
    *_, last, end = states
    assert end.gap <= min(last.gap, last.best.gap)
    assert (last.waited, end.stop_reason) == (1, "rounding allows no more")


@pytest.mark.parametrize("name", NAMES)
def test_a_tolerance_below_rounding_ends_by_saying_so(name):
    task = task_of(name, with_labels(zoo.badly_scaled(30, 4, seed=8), 3), 1e4)
    point, run = drive(InteriorLabels(), formulations.get(name), task, 1e-15)
    assert run.ending == "rounding allows no more"
    assert 1e-15 < point.certificate.relative_gap <= 1e-9
    assert run.iterations < 40


# --------------------------------------------------------------------------------------------- Newton's equations
def after(name: str, steps: int) -> tuple[Problem, LabelState]:
    """The state after some steps; classes of different importance, samples of different weight."""
    task = task_of(name, with_labels(zoo.random(10, 4, seed=6), 3, sample_weight=np.linspace(0.5, 2.0, 10)), 1.5)
    problem = Problem(formulations.get(name), replace(task, importance=np.array([0.5, 1.0, 2.0])), TOLERANCE)
    state = InteriorLabels().start(problem)
    for _ in range(steps):
        state = InteriorLabels().step(problem, state)
    return problem, state


def residual_vector(task: LabelTask, at: LabelIterate, target: float) -> np.ndarray:
    """All equations of `interior.multi_label`, spelled out."""
    off = residuals(at, kernel_pass(task, at.alpha, at.weights).columns)
    products = [(a * b - target).ravel() for a, b in at.pairs]
    bounds = (at.alpha + at.box_slack - task.box).ravel()
    return np.concatenate([off.alpha.ravel(), off.weights, off.gamma, off.totals, bounds, *products])


@pytest.mark.parametrize("steps", [0, 1, 4])
@pytest.mark.parametrize("name", NAMES)
def test_the_direction_solves_the_linearised_equations(name, steps):
    """residual(x) + residual'(x)·step = 0, the derivative by central differences along the step."""
    problem, state = after(name, steps)
    target = 0.3 * state.at.mu
    step = LabelSystem(problem.task, state.at, state.images).direction(target)
    tiny = 1e-6
    ahead, behind = (residual_vector(problem.task, state.at.moved(t, step), target) for t in (tiny, -tiny))
    derivative, here = (ahead - behind) / (2 * tiny), residual_vector(problem.task, state.at, target)
    assert here + derivative == pytest.approx(np.zeros(len(here)), abs=1e-6 * np.abs(here).max())
    assert np.abs(here).max() > 1e-4 * target


@pytest.mark.parametrize("name", NAMES)
def test_the_corrector_takes_off_what_the_predictor_neglects(name):
    problem, state = after(name, 2)
    newton, at = LabelSystem(problem.task, state.at, state.images), state.at
    predicted = newton.direction(0.0)
    step = newton.direction(0.2 * at.mu, predicted)
    for (a, b), (da, db), (neglected, other) in zip(at.pairs, step.pairs, predicted.pairs, strict=True):
        assert a * db + b * da == pytest.approx(0.2 * at.mu - a * b - neglected * other, abs=1e-9 * at.mu)


@pytest.mark.parametrize("name", NAMES)
def test_the_gap_that_a_step_knows_is_the_certificates(name):
    problem, state = after(name, 5)
    points = InteriorLabels().points(problem, replace(state, stop_reason="offer it"))
    lower = problem.formulation.lower(problem.task, points.duals[0])
    upper = problem.formulation.upper(problem.task, points.primals[0])
    certified = (upper.value - lower.value) / problem.formulation.scale(lower, upper)
    assert certified <= state.gap * (1 + 1e-6)
    if name == "ml_minimax":  # the sum's bound chooses better weights for the functions
        assert certified == pytest.approx(state.gap, rel=1e-6)
