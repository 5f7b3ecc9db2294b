"""Single tasks: a structured interior-point method for α and weights together, to ten digits.

    min over the weights' side x of max over α of   gain(α) − Σ_m μ_m(x) ½ q_m(α) + R(x)

(for block-∞ norms some of x is maximised as well). Newton's equations of `_saddle` need one pass over the kernels and
one Cholesky factorisation of n×n, whatever the number of kernels; about a dozen steps (Mehrotra's predictor and
corrector) give the optimum. A formulation brings slope and curvature of its regulariser and of its constraint and
nothing else. Kernels are read one at a time, in whatever precision they are stored.

The start meets the equations where it can: prices are as large as the gradients ask for, and no product is below the
first τ. Classifiers offered to the certificate: f_m = μ_m K_m(α∘y), a trifle longer. Where C is large, a margin that
rounding leaves at 1 − 1e-10 costs C·1e-10; lengthening f by as much costs less. When the complementarity says that
the optimum is reached and the certificate does not, α is sharpened as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...certificate import certify
from ...certificate.run import Ending
from ...formulations import SINGLE_TASKS, Implied, Points, Task
from ..driver import Algorithm, Problem
from ..polish import sharpened
from .active_set import Vertex
from .active_set import step as settled_step
from .elimination import NEARLY_NOTHING, NOTHING, Vanished, vanishing
from .iterate import Array
from .reduced_hessian import Curved, curved_for
from .saddle import ROUGHLY, Newton, balance
from .starting_point import NEARER, balanced, first_alpha, first_point
from .state import Centred, centred
from .weights_side import Shared, Side, side_of

SHORT = 0.005  # of the way to the boundary is left, less when the optimum is near
SNAPSHOT = 0.1  # the relative complementarity from which a neighbouring optimum is looked for
TRIES, HOPELESS = 4, 0.05  # steps on the bounds that hold, and a gap that ends them
FAR = 3.0  # times the box: from there the way is longer than from a start of one's own
SEEMINGLY = 0.1  # the relative complementarity from which kernels may seem to vanish
ROUNDED = 1e-6  # a gap that rounding may leave: √q of a kernel that vanishes has half the digits
MARGIN = 0.5  # of the tolerance: what must be proved, so that rounding elsewhere does no harm
REACHED = 1e-2  # of the tolerance: a complementarity that ought to have been enough
LAG = 10.0  # times the complementarity: residuals that large have to shrink first


@dataclass(frozen=True)
class InteriorSingle(Algorithm[Centred]):
    name: ClassVar[str] = "interior"
    summary: ClassVar[str] = "our structured interior-point method: weights and α together"
    reference: ClassVar[str] = ""
    serves: ClassVar[tuple[str, ...]] = tuple(f.name for f in SINGLE_TASKS)
    tolerance: ClassVar[float] = 1e-9
    max_iter: ClassVar[int] = 100

    def start(self, problem: Problem) -> Centred:
        task, side = problem.task, side_of(problem.task, problem.formulation)
        if isinstance(problem.warm, Centred) and fits(problem.warm, task, side):
            return from_neighbour(problem, side, problem.warm)
        return from_nothing(task, side, curved_for(task))

    def step(self, problem: Problem, state: Centred) -> Centred:
        if isinstance(state.side, Shared):
            if state.whole is not None and state.left <= REACHED * problem.tolerance:
                return judged(problem, state)
            limit = NEARLY_NOTHING if state.left <= SEEMINGLY else NOTHING
            reduced = vanishing(state.side, state.images, state.at, state.mistaken, limit)
            if reduced is not None:
                return state.without(reduced)
        ahead = self._step(problem, state)
        return state.not_vanishing() if ahead.dead_end and state.whole is not None else ahead

    def _step(self, problem: Problem, state: Centred) -> Centred:
        task, at, side, off = problem.task, state.at, state.side, state.residuals
        state.curved.towards(state.weights)
        newton = Newton(at, state.curved, task.y, balance(task, side)[0], side, state.images, off)
        affine = newton.direction(0.0, accuracy=ROUGHLY)
        reached = at.moved(at.longest(affine), affine).level
        behind = off.amount(at) > LAG * at.total
        centring = 1.0 if behind else max((max(reached, 0.0) / at.level) ** 3, side.least)
        step = newton.direction(at.level * centring, affine)
        after = at.moved((1 - np.clip(state.left, 1e-4, SHORT)) * side.longest(at, step), step)
        if not np.isfinite(after.level):
            return replace(state.best, dead_end=Ending.NO_PROGRESS)
        weights = side.weights(after.values[2 * task.samples :][: len(side.sign)])
        images = state.curved.swept(weights, after.values[: task.samples] * task.y)
        ahead = centred(task, side, state.curved, after, images, state.first)
        shot = state.shot or (after if ahead.left <= SNAPSHOT else None)
        return state.followed(replace(ahead, shot=shot, whole=state.whole, mistaken=state.mistaken))

    def points(self, problem: Problem, state: Centred) -> Points:
        """α with the classifier that the weights make with it, once that is worth a certificate."""
        task, last = problem.task, problem.closing or bool(state.dead_end)
        if state.vertex is None and state.left > problem.tolerance and not last:
            return Points([], [])
        direct = state.vertex or solved(problem, state.side, state.curved, state.near)
        if direct is not None:
            return offer(task, state.side, task.feasible(direct.alpha), direct.x, direct.nu)
        alpha = task.feasible(state.alpha(task))
        offered = offer(task, state.side, alpha, state.x, state.at.nu)
        plain = certify(problem.formulation, task, offered)
        if plain.certificate.proves(MARGIN * problem.tolerance):
            return offered
        if state.left > REACHED * problem.tolerance:
            return offered if last else Points([], [])
        if len(state.side.flat):
            return offered
        alpha = task.feasible(sharpened(task, state.weights, alpha, plain.upper))
        sharper = offer(task, state.side, alpha, state.x, state.at.nu)
        gained = certify(problem.formulation, task, sharper).certificate.gap < plain.certificate.gap
        return sharper if gained else offered


def judged(problem: Problem, state: Centred) -> Centred:
    """The end, if what was taken to vanish does so up to rounding; else back to where that was guessed."""
    task = problem.task
    offered = offer(task, state.side, task.feasible(state.alpha(task)), state.x, state.at.nu)
    found = certify(problem.formulation, task, offered)
    if found.certificate.relative_gap <= ROUNDED:
        return replace(state, dead_end=Ending.ROUNDING)
    assert isinstance(state.side, Vanished)
    return state.not_vanishing(state.side.too_long(found.upper.norms))


def solved(problem: Problem, side: Side, curved: Curved, near: Vertex, tries: int = 1) -> Vertex | None:
    """The optimum by a few steps on the bounds that hold, if the certificate agrees."""
    at = near
    for _ in range(tries):
        try:
            with np.errstate(all="ignore"):  # what cannot vanish, and does, is not finite
                at = settled_step(problem.task, side, curved, at)
                weights = side.weights(at.x)
        except (FloatingPointError, np.linalg.LinAlgError):
            return None
        if not (np.isfinite(at.images).all() and np.isfinite(weights).all() and (weights >= 0).all()):
            return None
        alpha = problem.task.feasible(at.alpha)
        offered = offer(problem.task, side, alpha, at.x, at.nu)
        gap = certify(problem.formulation, problem.task, offered).certificate
        if gap.proves(MARGIN * problem.tolerance):
            return at
        if gap.relative_gap > HOPELESS:
            return None
    return None


def fits(warm: Centred, task: Task, side: Side) -> bool:
    """Whether a state is one of the same samples, kernels, equalities and variables."""
    other = warm.curved.task
    same = other.kernels is task.kernels and (other.loss, other.bias) == (task.loss, task.bias)
    return (
        same
        and np.array_equal(other.y, task.y)
        and type(warm.side) is type(side)
        and len(warm.side.sign) == len(side.sign)
    )


def from_nothing(task: Task, side: Side, curved: Curved) -> Centred:
    x = side.start()
    alpha, images = first_alpha(task, side.weights(x))
    at = first_point(task, side, x, alpha, images)
    return centred(task, side, curved, at, images, at.level)


def from_neighbour(problem: Problem, side: Side, warm: Centred) -> Centred:
    """The optimum for a neighbouring parameter as a start: with luck the same bounds hold; else its snapshot, if
    the box is about the same."""
    task, curved = problem.task, warm.curved
    near = warm.near
    far = bool(np.max(np.abs(np.log(task.box / near.box))) > np.log(FAR))
    if far and near.at_box:
        return from_nothing(task, side, curved)
    direct = solved(problem, side, curved, near.moved_to(task), TRIES)
    if direct is not None:
        return replace(warm, weights=side.weights(direct.x), side=side, vertex=direct, dead_end="")
    if far:
        return from_nothing(task, side, curved)
    at = warm.shot or warm.at
    n, p = task.samples, len(side.sign)
    alpha, room, x, _ = np.split(at.values, [n, 2 * n, 2 * n + p])
    alpha = balanced(task, alpha / (alpha + room) * task.box)
    images = task.images(alpha * task.y)
    first = first_point(task, side, x, alpha, images, NEARER)
    return centred(task, side, curved, first, images, first.level)


def offer(task: Task, side: Side, alpha: Array, x: Array, nu: Array) -> Points:
    """α and one classifier that belongs to it; weights and α describe it where no kernel vanishes."""
    weights, signed = side.weights(x), alpha * task.y
    if isinstance(side, Vanished):
        coefficients = np.outer(weights, signed) + side.beyond(nu)
        return Points([alpha], [coefficients * length(task, alpha, coefficients)])
    return Points([alpha], [Implied(weights * length(task, alpha, Implied(weights, signed)), signed)])


def length(task: Task, alpha: Array, functions: Array | Implied) -> float:
    """f is made longer by what the free samples' margins lack."""
    outputs, _ = task.evaluate(functions)
    risk = task.risk(outputs)
    level = 1.0 if risk.rho is None else risk.rho
    margins = task.y * (outputs + risk.bias)
    free = (alpha > 1e-6 * task.box) & (alpha < (1 - 1e-6) * task.box)
    lack = float(np.max(level - margins[free], initial=0.0)) / max(abs(level), np.finfo(float).tiny)
    return 1 + min(lack, 1e-3)
