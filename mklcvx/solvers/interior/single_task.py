"""Single tasks: a structured interior-point method for α and weights together, to ten digits.

    min over the weights' side x of max over α of   gain(α) − Σ_m μ_m(x) ½ q_m(α) + R(x)

(for block-∞ norms some of x is maximised as well). Newton's equations of `saddle` need one pass over the kernels and
one Cholesky factorisation of n×n, whatever the number of kernels; about a dozen steps of the engine's loop give the
optimum. A formulation brings gradient and Hessian of its regulariser and of its constraint and nothing else. Kernels
are read one at a time, in whatever precision they are stored.

The start meets the equations where it can: multipliers are as large as the gradients ask for, and no product is below
the first τ. Classifiers offered to the certificate: f_m = μ_m K_m(α∘y), a trifle longer. Where C is large, a margin
that rounding leaves at 1 − 1e-10 costs C·1e-10; lengthening f by as much costs less. When the complementarity says that
the optimum is reached and the certificate does not, α is sharpened as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...certificate.run import Ending
from ...formulations import SINGLE_TASKS, Points, Task
from ..driver import Problem
from .finish import active_set_finish, elimination_step, interior_offer, offer
from .loop import InteriorMethod
from .reduced_hessian import ReducedHessian, reduced_hessian_of
from .saddle import SaddleIterate, SaddleSystem
from .settings import SETTINGS
from .starting_point import balanced, first_alpha, first_point
from .state import IPMState, evaluated
from .weights_side import Side, side_of


@dataclass(frozen=True)
class InteriorSingle(InteriorMethod[IPMState, SaddleIterate]):
    serves: ClassVar[tuple[str, ...]] = tuple(f.name for f in SINGLE_TASKS)
    max_iter: ClassVar[int] = 100

    def start(self, problem: Problem) -> IPMState:
        task, side = problem.task, side_of(problem.task, problem.formulation)
        if isinstance(problem.warm, IPMState) and fits(problem.warm, task, side):
            return from_neighbour(problem, side, problem.warm)
        return from_nothing(task, side, reduced_hessian_of(task))

    def before_step(self, problem: Problem, state: IPMState) -> IPMState | None:
        return elimination_step(problem, state)

    def system(self, problem: Problem, state: IPMState) -> SaddleSystem:
        state.hessian.set_weights(state.weights)
        system = SaddleSystem(problem.task, state.side, state.hessian, state.at, state.images, state.residuals)
        system.relative_complementarity = state.relative_complementarity
        return system

    def accept(self, problem: Problem, state: IPMState, after: SaddleIterate, length: float) -> IPMState:
        weights = state.side.weights(after.x)
        images = state.hessian.update_and_matvec(weights, after.alpha * problem.task.y)
        ahead = state.moved_to(state.side, after, images)
        if ahead.warm_start_point is None and ahead.relative_complementarity <= SETTINGS.warm_start_gap:
            ahead = replace(ahead, warm_start_point=after)
        return _unless_dead(state, state.followed_by(ahead))

    def failed(self, state: IPMState, fault: FloatingPointError | None) -> IPMState:
        """The best state is the end where a step is not finite; what cannot be factored the driver says."""
        if fault is not None:
            raise fault
        return _unless_dead(state, replace(state.best, dead_end=Ending.NO_PROGRESS))

    def points(self, problem: Problem, state: IPMState) -> Points:
        """α with the classifier that the weights make with it, once that is worth a certificate."""
        last, direct = problem.closing or bool(state.dead_end), state.active_set_point
        if direct is None and state.relative_complementarity > problem.tolerance and not last:
            return Points([], [])
        direct = direct or active_set_finish(problem, state.side, state.hessian, state.active_set_guess)
        if direct is not None:
            return offer(problem.task, state.side, direct.alpha, direct.x, direct.nu)
        return interior_offer(problem, state, last)


def _unless_dead(state: IPMState, ahead: IPMState) -> IPMState:
    """A dead end after an elimination says that the elimination was wrong."""
    return state.restored() if ahead.dead_end and state.before_elimination is not None else ahead


def fits(warm: IPMState, task: Task, side: Side) -> bool:
    """Whether a state is one of the same samples, kernels, equalities and variables."""
    other = warm.hessian.task
    same = other.kernels is task.kernels and (other.loss, other.bias) == (task.loss, task.bias)
    alike = type(warm.side) is type(side) and len(warm.side.sign) == len(side.sign)
    return same and alike and np.array_equal(other.y, task.y)


def from_nothing(task: Task, side: Side, hessian: ReducedHessian) -> IPMState:
    x = side.start()
    alpha, images = first_alpha(task, side.weights(x))
    at = first_point(task, side, x, alpha, images)
    return evaluated(task, side, hessian, at, images, at.mu)


def from_neighbour(problem: Problem, side: Side, warm: IPMState) -> IPMState:
    """The optimum for a neighbouring parameter as a start: with luck the same bounds hold; else its warm start point,
    if the box is about the same."""
    task, hessian, near = problem.task, warm.hessian, warm.active_set_guess
    far = bool(np.max(np.abs(np.log(task.box / near.box))) > np.log(SETTINGS.warm_start_max_ratio))
    if far and near.touches_box:
        return from_nothing(task, side, hessian)
    direct = active_set_finish(problem, side, hessian, near.moved_to(task), SETTINGS.active_set_steps)
    if direct is not None:
        weights = side.weights(direct.x)
        return replace(warm, weights=weights, side=side, active_set_point=direct, dead_end=Ending.NONE)
    if far:
        return from_nothing(task, side, hessian)
    at = warm.warm_start_point or warm.at
    alpha = balanced(task, at.alpha / (at.alpha + at.box_slack) * task.box)
    images = task.images(alpha * task.y)
    first = first_point(task, side, at.x, alpha, images, SETTINGS.warm_mu)
    return evaluated(task, side, hessian, first, images, first.mu)
