"""A structured interior-point method for many labels: weights, classes' weights and every class's α together.

    ml_sum       min over p of Σ_k H_k(p)               ml_minimax   min over p of max over γ of Σ_k γ_k H_k(p)

Newton's equations are those of `label_saddle`: a step costs one pass over the kernels and one Cholesky factorisation
of n×n per class. `ml_sum` is solved with γ, the classes' importance, fixed.

Start. Even weights, every α^k a multiple of its box, where the multiple is best for the class (at most half). Then
z and w are chosen to make z − w the gradient, with products between τ and τ times `label_product_spread`; where C is
large and a margin far below 1, no such pair exists, and the equation is left to the steps: larger products cost more of
them, and digits. Only where the steps then creep, as with a large C and classes that no kernel separates, is it started
again with products as large as the gradient wants. κ and s are the least that leave all φ·p ≥ τ and σ·γ ≥ τ.

Bounds. With f_k^a = p_a K_a(α^k∘y^k) the pass over the kernels has already made everything that both bounds need, so
that the gap is known at every step; only a point that is near goes to the certificate, which passes over the kernels
again. The classifiers offered are a trifle longer: with a large C, margins that rounding leaves at 1 − 1e-13 cost
C·1e-13, and lengthening f by as much costs less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...certificate.record import VANISHING
from ...certificate.run import Ending
from ...formulations import Points
from ...formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask, MultiLabel
from ..driver import Problem, State
from .label_saddle import Images, LabelIterate, LabelSystem, half_squares, kernel_pass
from .loop import Array, InteriorMethod
from .settings import SETTINGS, TINY


@dataclass(frozen=True)
class LabelState(State):
    """An interior point with what the pass over the kernels gave; f_k lengthened, and the relative gap that leaves."""

    at: LabelIterate
    images: Images
    lengths: Array
    gap: float
    relative_complementarity: float
    spread: float  # of the products where it started
    creeping: int  # how many of the last steps were too short


class InteriorLabels(InteriorMethod[LabelState, LabelIterate]):
    serves = ("ml_sum", "ml_minimax")
    max_iter = 60

    def start(self, problem: Problem) -> LabelState:
        return _started(problem, SETTINGS.label_product_spread)

    def system(self, problem: Problem, state: LabelState) -> LabelSystem:
        return LabelSystem(problem.task, state.at, state.images)

    def accept(self, problem: Problem, state: LabelState, after: LabelIterate, length: float) -> LabelState:
        """The state after a step; a new start where steps creep, the end where the gap has stalled."""
        short = length < SETTINGS.creeping_step and state.gap > SETTINGS.creeping_gap
        creeping = state.creeping + 1 if short else 0
        if creeping > SETTINGS.creeping_patience and state.spread < np.inf:
            return _started(problem, np.inf)
        found = _evaluated(problem, after, kernel_pass(problem.task, after.alpha, after.p), state.spread, creeping)
        converged = state.relative_complementarity <= SETTINGS.converged * problem.tolerance
        stalled = converged and found.gap > SETTINGS.label_stall * state.gap
        return replace(found, dead_end=Ending.ROUNDING) if stalled else found

    def points(self, problem: Problem, state: LabelState) -> Points:
        """α of every class, and the classifiers that the weights make with it, once they are worth a certificate."""
        at, task = state.at, problem.task
        if state.gap > SETTINGS.certify_gap * problem.tolerance and not (state.dead_end or problem.closing):
            return Points([], [])
        gamma = at.gamma if len(at.sigma) else np.ones(task.classes)
        functions = at.p[None, :, None] * (state.lengths[:, None] * at.alpha * task.signs)[:, None, :]
        return Points([ClassDual(gamma[:, None] * at.alpha, gamma)], [ClassPrimal(functions, at.p)])


def _started(problem: Problem, spread: float) -> LabelState:
    task, p = problem.task, problem.even
    full = kernel_pass(task, np.tile(task.box, (task.classes, 1)), p)
    costs = full.columns @ p @ task.box
    # The multiple of the box that is best for each class, at most half.
    shares = np.minimum(0.5, np.divide(task.box.sum(), costs, out=np.full(len(costs), 0.5), where=costs > 0))
    alpha, images = np.outer(shares, task.box), Images(full.combined, shares[:, None, None] * full.columns)
    at = _first_point(task, alpha, p, images.columns, problem.formulation.name == "ml_minimax", spread)
    return _evaluated(problem, at, images, spread)


def _first_point(task: LabelTask, alpha: Array, p: Array, columns: Array, free: bool, spread: float) -> LabelIterate:
    """Multipliers that meet their equations, with products as even as that allows. γ is even where it is free, else
    the classes' importance, made to sum to one."""
    gradient, box_slack, halves = columns @ p - 1, task.box - alpha, half_squares(alpha, columns)
    gamma = np.ones(task.classes) if free or not task.importance.any() else task.importance
    gamma = gamma / gamma.sum()
    product = float(np.mean(alpha * np.maximum(np.abs(gradient), SETTINGS.min_gradient)))
    w = np.clip(product / alpha - gradient, product / box_slack, spread * product / box_slack)
    z = np.clip(w + gradient, product / alpha, spread * product / alpha)
    costs, values = gamma @ halves, alpha.sum(axis=1) - halves @ p
    kappa, s = float(np.max(costs + product / p)), float(np.max(values + product / gamma)) if free else 0.0
    sigma = s - values if free else np.zeros(0)
    return LabelIterate(alpha, box_slack, z, w, p, kappa - costs, gamma, sigma, kappa, s)


def _evaluated(problem: Problem, at: LabelIterate, images: Images, spread: float, creeping: int = 0) -> LabelState:
    """The state at a point: both bounds from what the pass over the kernels gave."""
    task: LabelTask = problem.task
    formulation: MultiLabel = problem.formulation
    squares = np.maximum(np.einsum("ki,kia->ka", at.alpha, images.columns), 0.0)
    outputs = images.columns @ at.p * task.signs
    lengths = _lengths(task, at, squares @ at.p / 2, outputs)
    risks = task.risks(lengths[:, None] * outputs)
    upper, _ = formulation.primal_value(task, squares * (lengths[:, None] * at.p) ** 2, risks, at.p)
    total = 1.0 if len(at.sigma) else float(task.importance.sum())
    gain, cost = total * float(at.gamma @ at.alpha.sum(axis=1)), total * float(np.max(at.gamma @ squares)) / 2
    size = max(2 * cost, VANISHING * max(gain, upper), TINY)
    products = at.gamma @ (at.alpha * at.z + at.box_slack * at.w).sum(axis=1) + at.p @ at.phi
    products += at.gamma[: len(at.sigma)] @ at.sigma
    gap = (upper - gain + cost) / size
    return LabelState(at.p, at, images, lengths, gap, total * float(products) / size, spread, creeping)


def _lengths(task: LabelTask, at: LabelIterate, penalties: Array, outputs: Array) -> Array:
    """What to multiply every f_k by: what lifts the margins of all α < C to 1, and above rounding, unless that costs
    too much."""
    below = at.box_slack > SETTINGS.bound_tolerance * task.box
    lacks = np.max(np.where(below, 1 - task.signs * outputs, 0.0), axis=1, initial=0.0)
    longer = 1 + np.minimum(lacks, SETTINGS.max_lengthening) + SETTINGS.min_lengthening
    now, then = penalties + task.risks(outputs), longer**2 * penalties + task.risks(longer[:, None] * outputs)
    return np.where(then <= (1 + SETTINGS.lengthening_cost) * now, longer, 1.0)
