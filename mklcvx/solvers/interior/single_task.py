"""Single tasks: a structured interior-point method for α and weights together, to ten digits.

    min over the weights' side x of max over α of   gain(α) − Σ_m μ_m(x) ½ q_m(α) + R(x)

(for block-∞ norms some of x is maximised as well). Newton's equations of `saddle` need one pass over the kernels and
one Cholesky factorisation of n×n, whatever the number of kernels; about a dozen steps of the engine's loop give the
optimum. A formulation brings gradient and Hessian of its regulariser and of its constraint and nothing else. Kernels
are read one at a time, in whatever precision they are stored.

The start meets the equations where it can: multipliers are as large as the gradients ask for, and no product is below
the first τ. Functions offered to the certificate: f_m = μ_m K_mβ, for margins (hinge, nu) a trifle longer: where C is
large, a margin that rounding leaves at 1 − 1e-10 costs C·1e-10; lengthening f by as much costs less. When the
complementarity says that the optimum is reached and the certificate does not, α is sharpened as well.

Around these steps: points are offered, the active-set method finishes, groups of kernels are eliminated. Only the
certificate says whether that was right, and where it was not, the interior point stays as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from ...certificate import certify
from ...certificate.run import Ending
from ...formulations import SINGLE_TASKS, Points, RankOneCoefficients, Task
from ...problem.stack import same_place
from ..driver import Problem
from ..polish import sharpened
from .active_set import ActiveSetPoint, active_set_step
from .elimination import ReducedGroups, eliminate_groups
from .loop import Array, InteriorMethod
from .reduced_hessian import ReducedHessian, reduced_hessian_of
from .saddle import SaddleIterate, SaddleSystem
from .settings import SETTINGS, TINY
from .state import IPMState, balanced, evaluated, first_alpha, first_point, first_weights, ridge_alpha
from .weights_side import Shared, Side, side_of


class InteriorSingle(InteriorMethod[IPMState, SaddleIterate]):
    serves = tuple(f.name for f in SINGLE_TASKS)
    losses = None
    max_iter = 100

    def start(self, problem: Problem) -> IPMState:
        task, side = problem.task, side_of(problem.task, problem.formulation)
        if isinstance(problem.warm, IPMState) and fits(problem.warm, task, side):
            return from_neighbour(problem, side, problem.warm)
        return from_nothing(side, reduced_hessian_of(task))

    def before_step(self, problem: Problem, state: IPMState) -> IPMState | None:
        return elimination_step(problem, state)

    def system(self, problem: Problem, state: IPMState) -> SaddleSystem:
        state.hessian.set_weights(state.weights)
        system = SaddleSystem(state.side, state.hessian, state.at, state.images, state.residuals)
        system.relative_complementarity = state.relative_complementarity
        return system

    def accept(self, problem: Problem, state: IPMState, after: SaddleIterate, length: float) -> IPMState:
        ahead = self._moved(state, after)
        for _ in range(SETTINGS.step_halvings if state.side.samples.smooth else 0):
            if ahead.error <= SETTINGS.max_error_growth * state.error:
                break
            ahead = self._moved(state, after := state.at.halfway(after))
        if ahead.warm_start_point is None and ahead.relative_complementarity <= SETTINGS.warm_start_gap:
            ahead = replace(ahead, warm_start_point=after)
        return _unless_stopped(state, state.followed_by(ahead))

    def _moved(self, state: IPMState, after: SaddleIterate) -> IPMState:
        images = state.hessian.update_and_matvec(state.side.weights(after.x), after.alpha * state.side.samples.signs)
        return state.moved_to(state.side, after, images)

    def failed(self, state: IPMState, fault: FloatingPointError | None) -> IPMState:
        """End with the best state if a step is not finite; leave failed factorisations to the driver."""
        if fault is not None:
            raise fault
        return _unless_stopped(state, replace(state.best, stop_reason=Ending.NO_PROGRESS))

    def points(self, problem: Problem, state: IPMState) -> Points:
        """α with the classifier that weights and α imply, once the point is near the optimum."""
        last, direct = problem.closing or bool(state.stop_reason), state.active_set_point
        if direct is None and state.relative_complementarity > problem.tolerance and not last:
            return Points([], [])
        direct = direct or active_set_finish(problem, state.side, state.hessian, state.active_set_guess)
        if direct is not None:
            return candidate_points(state.side, direct)
        return interior_candidates(problem, state, last)


def _unless_stopped(state: IPMState, ahead: IPMState) -> IPMState:
    """Undo the elimination if it has led to a dead end."""
    return state.restored() if ahead.stop_reason and state.before_elimination is not None else ahead


class Warm(Protocol):
    """What a state from which a neighbour starts must have."""

    @property
    def side(self) -> Side: ...
    @property
    def hessian(self) -> ReducedHessian: ...


def fits(warm: Warm, task: Task, side: Side) -> bool:
    """Whether a state has the same samples, kernels, equalities and variables."""
    other = warm.hessian.task
    kernels = other.kernels is task.kernels or same_place(other.kernels, task.kernels)
    same = kernels and (other.loss, other.bias) == (task.loss, task.bias)
    alike = type(warm.side) is type(side) and len(warm.side.sign) == len(side.sign)
    return same and alike and np.array_equal(other.y, task.y)


def from_nothing(side: Side, hessian: ReducedHessian) -> IPMState:
    x = first_weights(side)
    if side.samples.unbounded:
        alpha = ridge_alpha(side, hessian, side.weights(x))
        images = side.task.matvecs(alpha)
    else:
        alpha, images = first_alpha(side.samples, side.task, side.weights(x))
    at = first_point(side, x, alpha, images)
    return evaluated(side, hessian, at, images, at.mu)


def from_neighbour(problem: Problem, side: Side, warm: IPMState) -> IPMState:
    """Start from the optimum for a neighbouring parameter. If the same bounds hold, that is the solution; otherwise use
    its warm start point, if the boxes are of similar size."""
    task, hessian, near, old = problem.task, warm.hessian, warm.active_set_guess, warm.side.samples
    ratio = task.box / old.price
    far = bool(np.max(np.abs(np.log(ratio))) > np.log(SETTINGS.warm_start_max_ratio))
    if far and near.capped(old):
        return from_nothing(side, hessian)
    moved = near.moved_to(task, side.samples, old)
    direct = active_set_finish(problem, side, hessian, moved, SETTINGS.active_set_steps)
    if direct is not None:
        weights = side.weights(direct.x)
        return replace(warm, weights=weights, side=side, active_set_point=direct, stop_reason=Ending.NONE)
    if far:
        return from_nothing(side, hessian)
    at = warm.warm_start_point or warm.at
    alpha = balanced(task, side.samples.transferred(at, ratio))
    images = task.matvecs(alpha * task.signs)
    first = first_point(side, at.x, alpha, images, SETTINGS.warm_mu)
    return evaluated(side, hessian, first, images, first.mu)


def candidate_points(side: Side, at: SaddleIterate | ActiveSetPoint) -> Points:
    """α, made feasible, and one classifier that belongs to it; weights and α describe it if no group was
    eliminated."""
    task, alpha, weights = side.task, side.task.feasible(at.alpha), side.weights(at.x)
    signed = alpha * task.signs
    if isinstance(side, ReducedGroups):
        coefficients = np.outer(weights, signed) + side.eliminated_coefficients(at.nu)
        return Points([alpha], [coefficients * _length(side, alpha, coefficients)])
    return Points(
        [alpha], [RankOneCoefficients(weights * _length(side, alpha, RankOneCoefficients(weights, signed)), signed)]
    )


def _length(side: Side, alpha: Array, functions: Array | RankOneCoefficients) -> float:
    """The factor that lifts the margins of the free samples to what they should be; 1 where the loss has none."""
    if not side.samples.polyhedral:
        return 1.0
    task, near = side.task, SETTINGS.bound_tolerance
    outputs, _ = task.evaluate(functions)
    risk = task.risk(outputs)
    free = (alpha > near * task.box) & (alpha < (1 - near) * task.box)
    margins = (task.signs * (outputs + risk.bias))[free]
    violation = float(np.max(risk.level - margins, initial=0.0)) / max(abs(risk.level), TINY)
    return 1 + min(violation, SETTINGS.max_lengthening)


def interior_candidates(problem: Problem, state: IPMState, last: bool) -> Points:
    """The candidates of the interior point itself; α is sharpened if its gap is larger than the complementarity."""
    task, at, side = problem.task, state.at, state.side
    candidates = candidate_points(side, at)
    plain = certify(problem.formulation, task, candidates)
    if plain.certificate.proves(SETTINGS.proof_margin * problem.tolerance):
        return candidates
    if state.relative_complementarity > SETTINGS.converged * problem.tolerance:
        return candidates if last else Points([], [])
    if len(side.null_rows):
        return candidates
    sharper = candidate_points(
        side, replace(at, alpha=sharpened(task, state.weights, candidates.duals[0], plain.upper))
    )
    gained = certify(problem.formulation, task, sharper).certificate.gap < plain.certificate.gap
    return sharper if gained else candidates


def active_set_finish(
    problem: Problem, side: Side, hessian: ReducedHessian, near: ActiveSetPoint, steps: int = 1
) -> ActiveSetPoint | None:
    """The optimum by a few active-set steps, if the certificate confirms it; else None."""
    at = near
    for _ in range(steps):
        try:
            with np.errstate(all="ignore"):  # a vanishing t_j makes weights infinite
                at = active_set_step(side, hessian, at)
                weights = side.weights(at.x)
                if not (np.isfinite(at.images).all() and np.isfinite(weights).all() and (weights >= 0).all()):
                    return None
                certificate = certify(problem.formulation, problem.task, candidate_points(side, at)).certificate
        except (FloatingPointError, OverflowError, np.linalg.LinAlgError):
            return None
        if certificate.proves(SETTINGS.proof_margin * problem.tolerance):
            return at
        if certificate.relative_gap > SETTINGS.active_set_max_gap:
            return None
    return None


def elimination_step(problem: Problem, state: IPMState) -> IPMState | None:
    """The state without groups that seem to vanish. If that was done before and the point has converged, confirm it or
    undo it. None if there is nothing to do."""
    if not isinstance(state.side, Shared):
        return None
    left = state.relative_complementarity
    if state.before_elimination is not None and left <= SETTINGS.converged * problem.tolerance:
        return _elimination_verdict(problem, state)
    early, late = SETTINGS.early_elimination_threshold, SETTINGS.elimination_threshold
    threshold = early if left > state.side.samples.elimination_gap else late
    reduced = eliminate_groups(state.side, state.images, state.at, state.rejected_eliminations, threshold)
    return None if reduced is None else state.without(reduced)


def _elimination_verdict(problem: Problem, state: IPMState) -> IPMState:
    """End if the eliminated groups vanish up to rounding; otherwise return to the state before the elimination."""
    point = certify(problem.formulation, problem.task, candidate_points(state.side, state.at))
    if point.certificate.relative_gap <= SETTINGS.elimination_rounding_gap:
        return replace(state, stop_reason=Ending.ROUNDING)
    assert isinstance(state.side, ReducedGroups)
    return state.restored(state.side.too_long(point.upper.norms))
