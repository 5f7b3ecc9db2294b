"""A structured interior-point method for many labels: weights, classes' weights and every class's α together.

    ml_sum       min over p of Σ_k H_k(p)               ml_minimax   min over p of max over γ of Σ_k γ_k H_k(p)

Newton's equations are those of `_label_saddle`: a step costs one pass over the kernels and one Cholesky factorisation
of n×n per class. Mehrotra's predictor and corrector choose the target of the products. `ml_sum` is solved with γ, the
classes' importance, fixed.

Start. Even weights, every α^k a multiple of its box, where the multiple is best for the class (at most half). Then
z and w are chosen to make z − w the gradient, with products between τ and SPREAD·τ; where C is large and a margin
far below 1, no such pair exists, and the equation is left to the steps: larger products cost more of them, and digits.
Only where the steps then creep, as with a large C and classes that no kernel separates, is it started again with
products as large as the gradient wants. κ and s are the least that leave all φ·p ≥ τ and σ·γ ≥ τ.

Bounds. With f_k^a = p_a K_a(α^k∘y^k) the pass over the kernels has already made everything that both bounds need, so
that the gap is known at every step; only a point that is near goes to the certificate, which passes over the kernels
again. The classifiers offered are a trifle longer: with a large C, margins that rounding leaves at 1 − 1e-13 cost
C·1e-13, and lengthening f by as much costs less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...certificate.record import VANISHING
from ...certificate.run import Ending
from ...formulations import Points
from ...formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask, MultiLabel
from ..driver import Algorithm, Problem, State
from .label_saddle import Array, Images, LabelNewton, LabelPoint, passed

SHORT = 0.995  # of the way to the boundary
SPREAD = 1e4  # the largest product of α at the start, in the smallest
LEAST = 1e-3  # gradient that counts at the start, which may be optimal by chance
CREEPING, FAR, PATIENCE = 0.1, 0.5, 5  # steps shorter than that, with a gap above that, so many times: start again
SURE, TRIFLE = 1e-14, 1e-12  # lengths of f that rounding cannot undo, and what they may cost
NEAR = 1e3  # times the tolerance: a gap worth certifying
REACHED = 1e-2  # times the tolerance: a complementarity that leaves the rest of the gap to rounding


@dataclass(frozen=True)
class Labelled(State):
    """An interior point with what the pass over the kernels gave; f_k lengthened, and the relative gap that leaves."""

    at: LabelPoint
    images: Images
    lengths: Array
    gap: float
    left: float  # of the gap, if all equations held: the complementarity, relative
    spread: float  # of the products where it started
    crept: int  # how many of the last steps were too short


@dataclass(frozen=True)
class InteriorLabels(Algorithm[Labelled]):
    name: ClassVar[str] = "interior"
    summary: ClassVar[str] = "our structured interior-point method: weights and α together"
    reference: ClassVar[str] = ""
    serves: ClassVar[tuple[str, ...]] = ("ml_sum", "ml_minimax")
    tolerance: ClassVar[float] = 1e-9
    max_iter: ClassVar[int] = 60

    def start(self, problem: Problem) -> Labelled:
        return _started(problem, SPREAD)

    def step(self, problem: Problem, state: Labelled) -> Labelled:
        at = state.at
        try:
            newton = LabelNewton(problem.task, at, state.images)
            affine = newton.direction(0.0)
            reached = at.moved(at.longest(affine), affine).level
            step = newton.direction(at.level * (max(reached, 0.0) / at.level) ** 2, affine)
        except FloatingPointError:
            return replace(state, dead_end=Ending.ROUNDING)
        length = at.longest(step)
        crept = state.crept + 1 if length < CREEPING and state.gap > FAR else 0
        if crept > PATIENCE and state.spread < np.inf:
            return _started(problem, np.inf)
        after = at.moved(SHORT * length, step)
        if not np.isfinite(after.level):
            return replace(state, dead_end=Ending.ROUNDING)
        found = _judged(problem, after, passed(problem.task, after.alpha, after.p), state.spread, crept)
        stalled = state.left <= REACHED * problem.tolerance and found.gap > state.gap / 2
        return replace(found, dead_end=Ending.ROUNDING) if stalled else found

    def points(self, problem: Problem, state: Labelled) -> Points:
        """α of every class, and the classifiers that the weights make with it, once they are worth a certificate."""
        at, task = state.at, problem.task
        if state.gap > NEAR * problem.tolerance and not (state.dead_end or problem.closing):
            return Points([], [])
        gamma = at.gamma if len(at.slack) else np.ones(task.classes)
        functions = at.p[None, :, None] * (state.lengths[:, None] * at.alpha * task.signs)[:, None, :]
        return Points([ClassDual(gamma[:, None] * at.alpha, gamma)], [ClassPrimal(functions, at.p)])


def _started(problem: Problem, spread: float) -> Labelled:
    task, p = problem.task, problem.even
    full = passed(task, np.tile(task.box, (task.classes, 1)), p)
    shares = _best_shares(task, full.columns @ p)
    alpha, images = np.outer(shares, task.box), Images(full.combined, shares[:, None, None] * full.columns)
    free = problem.formulation.name == "ml_minimax"
    at = _centred(task, alpha, p, images.columns, _class_weights(task, free), free, spread)
    return _judged(problem, at, images, spread)


def _best_shares(task: LabelTask, gradient: Array) -> Array:
    """The multiple of the box that is best for each class, at most half; `gradient` is Q_k(p) box."""
    costs = gradient @ task.box
    return np.minimum(0.5, np.divide(task.box.sum(), costs, out=np.full(len(costs), 0.5), where=costs > 0))


def _class_weights(task: LabelTask, free: bool) -> Array:
    """γ: even to begin with, or the classes' importance, which sums to one as well."""
    given = np.ones(task.classes) if free or not task.importance.any() else task.importance
    return given / given.sum()


def _centred(
    task: LabelTask, alpha: Array, p: Array, columns: Array, gamma: Array, free: bool, spread: float
) -> LabelPoint:
    """Multipliers that meet their equations, with products as even as that allows."""
    gradient, room = columns @ p - 1, task.box - alpha
    halves = np.einsum("ki,kia->ka", alpha, columns) / 2
    product = float(np.mean(alpha * np.maximum(np.abs(gradient), LEAST)))
    upper = np.clip(product / alpha - gradient, product / room, spread * product / room)
    lower = np.clip(upper + gradient, product / alpha, spread * product / alpha)
    costs, values = gamma @ halves, alpha.sum(axis=1) - halves @ p
    kappa, worst = float(np.max(costs + product / p)), float(np.max(values + product / gamma)) if free else 0.0
    slack = worst - values if free else np.zeros(0)
    return LabelPoint(alpha, room, lower, upper, p, kappa - costs, gamma, slack, kappa, worst)


def _judged(problem: Problem, at: LabelPoint, images: Images, spread: float, crept: int = 0) -> Labelled:
    """The state at a point: both bounds from what the pass over the kernels gave."""
    task, formulation = problem.task, problem.formulation
    squares = np.maximum(np.einsum("ki,kia->ka", at.alpha, images.columns), 0.0)
    outputs = images.columns @ at.p * task.signs
    lengths = _lengths(task, at, squares @ at.p / 2, outputs)
    upper = _upper(formulation, task, at.p, squares * (lengths[:, None] * at.p) ** 2, lengths[:, None] * outputs)
    total = 1.0 if len(at.slack) else float(task.importance.sum())
    gain, cost = total * float(at.gamma @ at.alpha.sum(axis=1)), total * float(np.max(at.gamma @ squares)) / 2
    size = max(2 * cost, VANISHING * max(gain, upper), np.finfo(float).tiny)
    products = at.gamma @ (at.alpha * at.lower + at.room * at.upper).sum(axis=1) + at.p @ at.floor
    products += at.gamma[: len(at.slack)] @ at.slack
    gap = (upper - gain + cost) / size
    return Labelled(at.p, at, images, lengths, gap, total * float(products) / size, spread, crept)


def _upper(formulation: MultiLabel, task: LabelTask, p: Array, squares: Array, outputs: Array) -> float:
    return formulation.primal_value(task, squares, task.risks(outputs), p)[0]


def _lengths(task: LabelTask, at: LabelPoint, penalties: Array, outputs: Array) -> Array:
    """What to multiply every f_k by: what lifts the margins of all α < C to 1, and above rounding, unless that costs
    more than a trifle."""
    below = at.room > 1e-6 * task.box
    lacks = np.max(np.where(below, 1 - task.signs * outputs, 0.0), axis=1, initial=0.0)
    longer = 1 + np.minimum(lacks, 1e-3) + SURE
    now, then = penalties + task.risks(outputs), longer**2 * penalties + task.risks(longer[:, None] * outputs)
    return np.where(then <= (1 + TRIFLE) * now, longer, 1.0)
