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
from mklcvx.solvers.interior.loop import KKTSystem
from mklcvx.solvers.interior.multi_label import InteriorLabels
from mklcvx.solvers.interior.saddle import SaddleIterate
from mklcvx.solvers.interior.state import IPMState
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


def test_the_sum_weighs_classes_by_their_importance():
    """Where it is declared; the engine knows equal ones."""
    formulation, shares = formulations.get("ml_sum"), np.array([2.0, 1.0])
    base = with_labels(zoo.random(16, 3, seed=6), 2)
    repeated = Instance(base.kernels, labels=base.targets.values[:, [0, 0, 1]])
    program = formulation.declare_dual(replace(task_of("ml_sum", base), importance=shares))
    assert solve_program(program.problem, CLARABEL, Run())
    point = check_certified("ml_sum", task_of("ml_sum", repeated))
    assert point.lower.value == pytest.approx(program.problem.value, rel=1e-6)


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
    state, firsts = made.start(problem), []
    while state.relative_complementarity > 1e-5 and len(firsts) < 60:
        state = made.step(problem, state)
        firsts.append(state.first_mu)
    assert sorted(set(firsts)) == list(dict.fromkeys(firsts))
    assert len(set(firsts)) == 2
    check_ended_by_rounding(name, task)


@pytest.mark.parametrize("name", NAMES)
def test_a_tolerance_below_rounding_ends_by_saying_so(name):
    task = task_of(name, with_labels(zoo.badly_scaled(30, 4, seed=8), 3), 1e4)
    point, run = drive(InteriorLabels(), formulations.get(name), task, 1e-15)
    assert run.ending == "rounding allows no more"
    assert 1e-15 < point.certificate.relative_gap <= 1e-9
    assert run.iterations < 40


# --------------------------------------------------------------------------------------------- Newton's equations
def after(name: str, steps: int) -> tuple[Problem, IPMState, KKTSystem]:
    """The state after some steps, with samples of different weight, and Newton's equations there."""
    task = task_of(name, with_labels(zoo.random(10, 4, seed=6), 3, sample_weight=np.linspace(0.5, 2.0, 10)), 1.5)
    problem, made = Problem(formulations.get(name), task, TOLERANCE), InteriorLabels()
    state = made.start(problem)
    for _ in range(steps):
        state = made.step(problem, state)
    return problem, state, made.system(problem, state)


def gammas(task: LabelTask, at: SaddleIterate) -> np.ndarray:
    """γ, 1 for the sum."""
    gamma = at.x[task.count :]
    return gamma if len(gamma) else np.ones(task.classes)


def residual_vector(task: LabelTask, at: SaddleIterate, start: np.ndarray, mu: float) -> np.ndarray:
    """All equations of `interior.multi_label`, spelled out, the multipliers of class k being γ_k z and γ_k w for the γ
    of the start. `mu` is the mean of the products."""
    shape, p, minimax = task.signs.shape, len(at.x), len(at.x) > task.count
    alpha, z, w, lower, upper = (part.reshape(shape) for part in (at.alpha, at.z, at.w, at.lower, at.upper))
    weights, gamma = at.x[: task.count], gammas(task, at)
    images = np.stack([task.signs * ((alpha * task.signs) @ kernel) for kernel in task.kernels])
    halves = np.einsum("mki,ki->mk", images, alpha) / 2
    values, own = alpha.sum(axis=1) - weights @ halves, start[:, None]
    of_alpha = np.tensordot(weights, images, axes=1) - 1 - (z - w) / own
    of_x = [at.kappa[0] - halves @ gamma - at.s[: task.count], [weights.sum() - 1]]
    if minimax:
        of_x += [values + at.kappa[1] + at.s[task.count :], [gamma.sum() - 1]]
    pairs = (z * lower, w * upper, at.s * at.x)
    tau = mu * (2 * alpha.size + p) / (2 * start.sum() * task.samples + p)
    products = [(part - target).ravel() for part, target in zip(pairs, (own * tau, own * tau, tau), strict=True)]
    bounds = [(lower - alpha).ravel(), (alpha + upper - task.box).ravel()]
    return np.concatenate([of_alpha.ravel(), *of_x, *bounds, *products])


@pytest.mark.parametrize("steps", [0, 1, 4])
@pytest.mark.parametrize("name", NAMES)
def test_the_direction_solves_the_linearised_equations(name, steps):
    """residual(x) + residual'(x)·step = 0, the derivative by central differences along the step."""
    problem, state, system = after(name, steps)
    target, gamma, tiny = 0.3 * state.at.mu, gammas(problem.task, state.at), 1e-6
    step = system.direction(target)
    ahead, behind, here = (
        residual_vector(problem.task, state.at.moved(t, step), gamma, target) for t in (tiny, -tiny, 0.0)
    )
    derivative = (ahead - behind) / (2 * tiny)
    assert here + derivative == pytest.approx(np.zeros(len(here)), abs=1e-6 * np.abs(here).max())
    assert np.abs(here).max() > 1e-4 * target


@pytest.mark.parametrize("name", NAMES)
def test_the_corrector_takes_off_what_the_predictor_neglects(name):
    _, state, newton = after(name, 2)
    at, predicted = state.at, newton.direction(0.0)
    plain, step = newton.direction(0.2 * at.mu), newton.direction(0.2 * at.mu, predicted)
    for (a, b), (da, db), (ea, eb), (neglected, other) in zip(
        at.pairs, step.pairs, plain.pairs, predicted.pairs, strict=True
    ):
        assert a * db + b * da == pytest.approx(a * eb + b * ea - neglected * other, abs=1e-9 * at.mu)


@pytest.mark.parametrize("steps", [1, 6])
def test_after_a_step_the_multipliers_of_a_class_belong_to_its_new_gamma(steps):
    """The equation of α is the same as before, for the same α, z/γ and w/γ."""
    problem, state, system = after("ml_minimax", steps)
    step = system.direction(0.1 * state.at.mu)
    length, task = 0.5 * state.at.max_step(step), problem.task
    moved, ahead = state.at.moved(length, step), system.advance(length, step)
    before, now = (np.repeat(gammas(task, at), task.samples) for at in (state.at, ahead))
    assert ahead.z / now == pytest.approx(moved.z / before, rel=1e-12)
    assert ahead.w / now == pytest.approx(moved.w / before, rel=1e-12)
    assert not np.allclose(before, now, rtol=1e-6, atol=0)
