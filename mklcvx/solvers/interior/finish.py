"""What the engine does with single tasks around its steps: offer points, finish on the active set, eliminate groups.

Each is a step of its own. Only the certificate says whether it was right, and where it was not, the interior point
stays as it was.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...certificate import certify
from ...certificate.run import Ending
from ...formulations import Implied, Points, Task
from ..driver import Problem
from ..polish import sharpened
from .active_set import ActiveSetPoint, active_set_step
from .elimination import ReducedGroups, eliminate_groups
from .iterate import Array
from .reduced_hessian import ReducedHessian
from .settings import SETTINGS, TINY
from .state import IPMState
from .weights_side import Shared, Side


def offer(task: Task, side: Side, alpha: Array, x: Array, nu: Array) -> Points:
    """α, made feasible, and one classifier that belongs to it; weights and α describe it where no group was
    eliminated."""
    alpha = task.feasible(alpha)
    weights, signed = side.weights(x), alpha * task.y
    if isinstance(side, ReducedGroups):
        coefficients = np.outer(weights, signed) + side.eliminated_coefficients(nu)
        return Points([alpha], [coefficients * _length(task, alpha, coefficients)])
    return Points([alpha], [Implied(weights * _length(task, alpha, Implied(weights, signed)), signed)])


def _length(task: Task, alpha: Array, functions: Array | Implied) -> float:
    """f is made longer by what the free samples' margins lack."""
    outputs, _ = task.evaluate(functions)
    risk = task.risk(outputs)
    margin = 1.0 if risk.rho is None else risk.rho
    margins, near = task.y * (outputs + risk.bias), SETTINGS.bound_tolerance
    free = (alpha > near * task.box) & (alpha < (1 - near) * task.box)
    lack = float(np.max(margin - margins[free], initial=0.0)) / max(abs(margin), TINY)
    return 1 + min(lack, SETTINGS.max_lengthening)


def interior_offer(problem: Problem, state: IPMState, last: bool) -> Points:
    """What the interior point itself proves; α is sharpened where the complementarity promised more."""
    task, at, side = problem.task, state.at, state.side
    offered = offer(task, side, at.alpha, at.x, at.nu)
    plain = certify(problem.formulation, task, offered)
    if plain.certificate.proves(SETTINGS.proof_margin * problem.tolerance):
        return offered
    if state.relative_complementarity > SETTINGS.converged * problem.tolerance:
        return offered if last else Points([], [])
    if len(side.null_rows):
        return offered
    sharper = offer(task, side, sharpened(task, state.weights, offered.duals[0], plain.upper), at.x, at.nu)
    gained = certify(problem.formulation, task, sharper).certificate.gap < plain.certificate.gap
    return sharper if gained else offered


def active_set_finish(
    problem: Problem, side: Side, hessian: ReducedHessian, near: ActiveSetPoint, steps: int = 1
) -> ActiveSetPoint | None:
    """The optimum by a few steps on the bounds that hold, if the certificate agrees."""
    at = near
    for _ in range(steps):
        try:
            with np.errstate(all="ignore"):  # what cannot vanish, and does, is not finite
                at = active_set_step(problem.task, side, hessian, at)
                weights = side.weights(at.x)
        except (FloatingPointError, np.linalg.LinAlgError):
            return None
        if not (np.isfinite(at.images).all() and np.isfinite(weights).all() and (weights >= 0).all()):
            return None
        offered = offer(problem.task, side, at.alpha, at.x, at.nu)
        certificate = certify(problem.formulation, problem.task, offered).certificate
        if certificate.proves(SETTINGS.proof_margin * problem.tolerance):
            return at
        if certificate.relative_gap > SETTINGS.active_set_max_gap:
            return None
    return None


def elimination_step(problem: Problem, state: IPMState) -> IPMState | None:
    """The state without groups that seem to vanish; where that was done and the point has converged, a verdict on it.
    None where there is nothing to do."""
    if not isinstance(state.side, Shared):
        return None
    left = state.relative_complementarity
    if state.before_elimination is not None and left <= SETTINGS.converged * problem.tolerance:
        return _elimination_verdict(problem, state)
    early = left > SETTINGS.elimination_gap
    threshold = SETTINGS.early_elimination_threshold if early else SETTINGS.elimination_threshold
    reduced = eliminate_groups(state.side, state.images, state.at, state.rejected_eliminations, threshold)
    return None if reduced is None else state.without(reduced)


def _elimination_verdict(problem: Problem, state: IPMState) -> IPMState:
    """The end, if what was eliminated vanishes up to rounding; else back to where that was guessed."""
    offered = offer(problem.task, state.side, state.at.alpha, state.at.x, state.at.nu)
    found = certify(problem.formulation, problem.task, offered)
    if found.certificate.relative_gap <= SETTINGS.elimination_rounding_gap:
        return replace(state, dead_end=Ending.ROUNDING)
    assert isinstance(state.side, ReducedGroups)
    return state.restored(state.side.too_long(found.upper.norms))
