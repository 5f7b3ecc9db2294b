"""A structured interior-point method for many labels: weights μ, prices γ of classes and every class's α together.

    ml_sum       min over μ of Σ_k H_k(μ)               ml_minimax   min over μ of max over γ of Σ_k γ_k H_k(μ)

A step costs one pass over the kernels and one Cholesky factorisation of n×n per class. `ml_sum` is solved with γ, the
classes' importance, fixed.

Start. Even weights, every α^k a multiple of its box, where the multiple is best for the class (at most half). Then
z and w are chosen to make z − w the gradient, with products between τ and τ times `label_product_spread`; where C is
large and a margin far below 1, no such pair exists, and the equation is left to the steps: larger products cost more of
them, and digits. Only where the steps then creep, as with a large C and classes that no kernel separates, the method
starts again with products as large as the gradient wants. κ and H are the least that leave all φ·μ ≥ τ and ψ·γ ≥ τ.

Bounds. With f_k^m = μ_m K_m(α^k∘y^k) the pass over the kernels has already made everything that both bounds need, so
that the gap is known at every step; only a point that is near goes to the certificate, which passes over the kernels
again. The classifiers offered are a trifle longer: with a large C, margins that rounding leaves at 1 − 1e-13 cost
C·1e-13, and lengthening f by as much costs less.

Equations. With

    H_k(μ) = max over 0 ≤ α^k ≤ C of h_k,      h_k = 1'α^k − ½ Σ_m μ_m q_m^k(α^k),      Q_k(μ) = y^k y^k' ∘ K(μ)

`ml_minimax` seeks min over μ of max over γ of Σ_k γ_k h_k, both on the simplex; in `ml_sum` the γ_k are given. With
products that all tend to the same τ → 0, optimal are

    α^k:  Q_k(μ)α^k − 1 − z^k + w^k = 0                    z·α = w·(C − α) = τ       every class, whatever its γ_k
    μ:    κ − ½ Σ_k γ_k q^k(α^k) − φ = 0       Σμ = 1      φ·μ = τ
    γ:    H − h_k − ψ_k = 0                    Σγ = 1      ψ·γ = τ                   (`ml_minimax` only)

Class k's own equation is not multiplied by γ_k. So a class whose γ_k vanishes is solved as well as any other, and the
matrices do not degenerate with it; the barrier of the jointly concave form in β = γα has z·α = τ/γ_k instead, which
leaves such a class anywhere below H, and it takes more steps.

Linearised, with multipliers of bounds eliminated, g_k = Q_k(μ)α^k − 1 and columns G_k = [Q_m^k α^k],

    N_k dα^k + G_k dμ = f_k,                              N_k = Q_k(μ) + z/α + w/(C − α)
    φ/μ·dμ − Σ_k γ_k G_k'dα^k − ½ Σ_k q^k dγ_k + dκ = f_μ
    g_k'dα^k + ½ q^k'dμ + ψ_k/γ_k·dγ_k + dH = f_γ

Every dα^k = N_k⁻¹(f_k − G_k dμ) goes first, by one Cholesky factorisation of n×n per class. What is left has
M + n_c + 2 unknowns, with A = φ/μ + Σ_k γ_k G_k'N_k⁻¹G_k and rows B_k = ½ q^k − g_k'N_k⁻¹G_k:

    A dμ − ½ Σ_k q^k dγ_k + dκ = f_μ + Σ_k γ_k G_k'N_k⁻¹f_k          1'dμ = 1 − 1'μ
    B dμ + ψ/γ·dγ + dH = f_γ − g_k'N_k⁻¹f_k                          1'dγ = 1 − 1'γ

Memory: the n_c factors, n×n each, and the columns, n_c×n×M.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...certificate.record import VANISHING
from ...certificate.run import Ending
from ...formulations import Points
from ...formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask, MultiLabel
from ..driver import Problem, State
from .loop import Array, InteriorMethod, Iterate, KKTSystem
from .qp import factored
from .settings import SETTINGS, TINY


class Images(NamedTuple):
    """What one pass over the kernels gives: K(μ), and the columns Q_m^k α^k, (k, n, M)."""

    combined: Array
    columns: Array


def kernel_pass(task: LabelTask, alpha: Array, weights: Array) -> Images:
    """One product of each kernel with all classes at once."""
    combined, columns = np.zeros((task.samples, task.samples)), np.empty((*alpha.shape, task.count))
    signed = alpha * task.signs
    for m, kernel in enumerate(task.each_kernel()):
        combined += weights[m] * kernel
        columns[:, :, m] = signed @ kernel
    columns *= task.signs[:, :, None]
    return Images(combined, columns)


@dataclass(frozen=True)
class LabelIterate(Iterate):
    """The unknowns of the equations above, H as `largest`; ψ is empty where γ is given."""

    alpha: Array
    box_slack: Array
    z: Array
    w: Array
    weights: Array
    phi: Array
    gamma: Array
    psi: Array
    kappa: float
    largest: float

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        pairs = [(self.alpha, self.z), (self.box_slack, self.w), (self.weights, self.phi)]
        return [*pairs, (self.gamma, self.psi)] if len(self.psi) else pairs


class Equations(NamedTuple):
    """One entry for each equation, or for each unknown: α of every class, μ, γ, and the totals of μ and of γ."""

    alpha: Array
    weights: Array
    gamma: Array
    totals: Array


def half_squares(alpha: Array, columns: Array) -> Array:
    """½ q^k, (k, M)."""
    return np.asarray(np.einsum("ki,kia->ka", alpha, columns) / 2)


def residuals(at: LabelIterate, columns: Array) -> Equations:
    """The residuals of the equations at a point."""
    halves, free = half_squares(at.alpha, columns), len(at.psi)
    alpha = columns @ at.weights - 1 - at.z + at.w
    weights = at.kappa - at.gamma @ halves - at.phi
    gamma = (at.largest - at.alpha.sum(axis=1) + halves @ at.weights)[:free] - at.psi
    return Equations(alpha, weights, gamma, np.array([at.weights.sum() - 1, at.gamma.sum() - 1])[: 1 + bool(free)])


class LabelSystem(KKTSystem[LabelIterate]):
    centring_exponent = SETTINGS.label_centring_exponent

    def __init__(self, task: LabelTask, at: LabelIterate, images: Images) -> None:
        self.at, self.columns, self.combined, self.signs = at, images.columns, images.combined, task.signs
        self.residuals = residuals(at, images.columns)
        self.gradient = images.columns @ at.weights - 1
        self.halves = half_squares(at.alpha, images.columns)
        self.barrier_diag = at.z / at.alpha + at.w / at.box_slack
        own = zip(task.signs, self.barrier_diag, strict=True)
        self.inverses = [factored(y[:, None] * self.combined * y + np.diag(diagonal)) for y, diagonal in own]
        pairs = zip(self.inverses, images.columns, strict=True)
        self.solved = np.stack([inverse(columns) for inverse, columns in pairs])
        self._factor_small()

    def _factor_small(self) -> None:
        """The system in (μ, γ, κ, H), scaled to a diagonal of ones."""
        from scipy.linalg.lapack import dgetrf

        at, count, free = self.at, len(self.at.weights), len(self.at.psi)
        size, borders = count + free, 2 if free else 1
        small = np.zeros((size + borders, size + borders))
        weighted = np.einsum("k,kia,kib->ab", at.gamma, self.columns, self.solved, optimize=True)
        small[:count, :count] = (weighted + weighted.T) / 2 + np.diag(at.phi / at.weights)
        small[:count, size] = small[size, :count] = 1
        if free:
            small[:count, count:size] = -self.halves.T
            small[count:size, :count] = self.halves - np.einsum("ki,kia->ka", self.gradient, self.solved)
            small[count:size, count:size] = np.diag(at.psi / at.gamma)
            small[count:size, -1] = small[-1, count:size] = 1
        scale = 1 / np.sqrt(np.diag(small)[:size])
        scale = np.append(scale, [1 / part.max() for part in (scale[:count], scale[count:]) if len(part)])
        factors, pivots, singular = dgetrf(scale[:, None] * small * scale)
        if singular:
            raise FloatingPointError("a matrix of Newton's equations")
        self.scale, self.small = scale, (factors, pivots)

    def _solve(self, right: Equations) -> Equations:
        """The unknowns dα, dμ, dγ and (dκ, dH)."""
        from scipy.linalg import lu_solve

        count, free = len(self.at.weights), len(self.at.psi)
        own = np.stack([inverse(f) for inverse, f in zip(self.inverses, right.alpha, strict=True)])
        weights = right.weights + np.einsum("k,kia,ki->a", self.at.gamma, self.columns, own, optimize=True)
        gamma = right.gamma - np.einsum("ki,ki->k", self.gradient, own)[:free]
        wanted = np.concatenate([weights, gamma, right.totals])
        found = self.scale * lu_solve(self.small, self.scale * wanted, check_finite=False)
        weights, gamma, multipliers = np.split(found, [count, count + free])
        return Equations(own - self.solved @ weights, weights, gamma, multipliers)

    def matvec(self, step: Equations) -> Equations:
        """The left sides of the linearised equations."""
        at, free = self.at, len(self.at.psi)
        alpha = (step.alpha * self.signs) @ self.combined * self.signs
        alpha = alpha + self.barrier_diag * step.alpha + self.columns @ step.weights
        pulled = np.einsum("k,kia,ki->a", at.gamma, self.columns, step.alpha, optimize=True)
        weights = at.phi / at.weights * step.weights - pulled + step.totals[0] - step.gamma @ self.halves[:free]
        risen = np.einsum("ki,ki->k", self.gradient, step.alpha) + self.halves @ step.weights
        gamma = risen[:free] + at.psi / at.gamma[:free] * step.gamma + step.totals[-1]
        return Equations(alpha, weights, gamma, np.array([step.weights.sum(), step.gamma.sum()])[: len(step.totals)])

    def direction(self, target_mu: float, predicted: LabelIterate | None = None) -> LabelIterate:
        at, residual, free = self.at, self.residuals, len(self.at.psi)
        goals = self.goals(target_mu, predicted)
        alpha = goals[0] / at.alpha - goals[1] / at.box_slack - residual.alpha
        gamma = goals[3] / at.gamma - residual.gamma if free else residual.gamma
        right = Equations(alpha, goals[2] / at.weights - residual.weights, gamma, -residual.totals)
        step = self._solve(right)
        for _ in range(SETTINGS.label_refinements):
            left = Equations(*(wanted - had for wanted, had in zip(right, self.matvec(step), strict=True)))
            step = Equations(*(one + more for one, more in zip(step, self._solve(left), strict=True)))
        kappa, worst = (float(total) for total in (*step.totals, 0.0)[:2])
        z, w = (goals[0] - at.z * step.alpha) / at.alpha, (goals[1] + at.w * step.alpha) / at.box_slack
        phi = (goals[2] - at.phi * step.weights) / at.weights
        gamma = step.gamma if free else np.zeros(len(at.gamma))
        psi = (goals[3] - at.psi * step.gamma) / at.gamma if free else at.psi
        return LabelIterate(step.alpha, -step.alpha, z, w, step.weights, phi, gamma, psi, kappa, worst)


@dataclass(frozen=True)
class LabelState(State):
    """An interior point with its pass over the kernels; the factors that lengthen f_k, and the relative gap."""

    at: LabelIterate
    images: Images
    lengths: Array
    gap: float
    relative_complementarity: float
    spread: float  # of the products where it started
    creeping: int  # how many of the last steps were too short
    best: LabelState | None = None  # the least gap since the point has converged
    waited: int = 0  # steps since then that made no progress


class InteriorLabels(InteriorMethod[LabelState, LabelIterate]):
    serves = ("ml_sum", "ml_minimax")
    max_iter = 60

    def start(self, problem: Problem) -> LabelState:
        return _started(problem, SETTINGS.label_product_spread)

    def system(self, problem: Problem, state: LabelState) -> LabelSystem:
        return LabelSystem(problem.task, state.at, state.images)

    def accept(self, problem: Problem, state: LabelState, after: LabelIterate, length: float) -> LabelState:
        """The state after a step; a new start where steps creep, the end where the gap has stalled for a while."""
        short = length < SETTINGS.creeping_step and state.gap > SETTINGS.creeping_gap
        creeping = state.creeping + 1 if short else 0
        if creeping > SETTINGS.creeping_patience and state.spread < np.inf:
            return _started(problem, np.inf)
        found = _evaluated(
            problem, after, kernel_pass(problem.task, after.alpha, after.weights), state.spread, creeping
        )
        converged = state.relative_complementarity <= SETTINGS.converged * problem.tolerance
        return _waiting(state.best or state, found, state.waited) if converged else found

    def failed(self, state: LabelState, fault: FloatingPointError | None) -> LabelState:
        return super().failed(state.best or state, fault)

    def points(self, problem: Problem, state: LabelState) -> Points:
        """α of every class, and the classifiers that weights and α imply, once the gap is near the tolerance."""
        at, task = state.at, problem.task
        if state.gap > SETTINGS.certify_gap * problem.tolerance and not (state.stop_reason or problem.closing):
            return Points([], [])
        gamma = at.gamma if len(at.psi) else np.ones(task.classes)
        functions = at.weights[None, :, None] * (state.lengths[:, None] * at.alpha * task.signs)[:, None, :]
        return Points([ClassDual(gamma[:, None] * at.alpha, gamma)], [ClassPrimal(functions, at.weights)])


def _waiting(best: LabelState, found: LabelState, waited: int) -> LabelState:
    """The state after a step from where only rounding is left: what is lost to it differs from step to step. The end
    is the best state, once some steps in a row have made no progress."""
    waited = 0 if found.gap <= SETTINGS.label_stall * best.gap else waited + 1
    best = min(best, found, key=lambda state: state.gap)
    if waited >= SETTINGS.label_patience:
        return replace(best, stop_reason=Ending.ROUNDING)
    return replace(found, best=replace(best, best=None), waited=waited)


def _started(problem: Problem, spread: float) -> LabelState:
    task, weights = problem.task, problem.even
    full = kernel_pass(task, np.tile(task.box, (task.classes, 1)), weights)
    costs = full.columns @ weights @ task.box
    # The multiple of the box that is best for each class, at most half.
    shares = np.minimum(0.5, np.divide(task.box.sum(), costs, out=np.full(len(costs), 0.5), where=costs > 0))
    alpha, images = np.outer(shares, task.box), Images(full.combined, shares[:, None, None] * full.columns)
    at = _first_point(task, alpha, weights, images.columns, problem.formulation.name == "ml_minimax", spread)
    return _evaluated(problem, at, images, spread)


def _first_point(
    task: LabelTask, alpha: Array, weights: Array, columns: Array, free: bool, spread: float
) -> LabelIterate:
    """Multipliers that meet their equations, with products as even as that allows. γ is even where it is free, else
    the classes' importance, made to sum to one."""
    gradient, box_slack, halves = columns @ weights - 1, task.box - alpha, half_squares(alpha, columns)
    gamma = np.ones(task.classes) if free or not task.importance.any() else task.importance
    gamma = gamma / gamma.sum()
    product = float(np.mean(alpha * np.maximum(np.abs(gradient), SETTINGS.min_gradient)))
    w = np.clip(product / alpha - gradient, product / box_slack, spread * product / box_slack)
    z = np.clip(w + gradient, product / alpha, spread * product / alpha)
    costs, values = gamma @ halves, alpha.sum(axis=1) - halves @ weights
    kappa, largest = float(np.max(costs + product / weights)), float(np.max(values + product / gamma)) if free else 0.0
    psi = largest - values if free else np.zeros(0)
    return LabelIterate(alpha, box_slack, z, w, weights, kappa - costs, gamma, psi, kappa, largest)


def _evaluated(problem: Problem, at: LabelIterate, images: Images, spread: float, creeping: int = 0) -> LabelState:
    """The state at a point, with both bounds from its pass over the kernels."""
    task: LabelTask = problem.task
    formulation: MultiLabel = problem.formulation
    squares = np.maximum(np.einsum("ki,kia->ka", at.alpha, images.columns), 0.0)
    outputs = images.columns @ at.weights * task.signs
    lengths = _lengths(task, at, squares @ at.weights / 2, outputs)
    risks = task.risks(lengths[:, None] * outputs)
    upper, _ = formulation.primal_value(task, squares * (lengths[:, None] * at.weights) ** 2, risks, at.weights)
    total = 1.0 if len(at.psi) else float(task.importance.sum())
    gain, cost = total * float(at.gamma @ at.alpha.sum(axis=1)), total * float(np.max(at.gamma @ squares)) / 2
    size = max(2 * cost, VANISHING * max(gain, upper), TINY)
    products = at.gamma @ (at.alpha * at.z + at.box_slack * at.w).sum(axis=1) + at.weights @ at.phi
    products += at.gamma[: len(at.psi)] @ at.psi
    gap = (upper - gain + cost) / size
    return LabelState(at.weights, at, images, lengths, gap, total * float(products) / size, spread, creeping)


def _lengths(task: LabelTask, at: LabelIterate, penalties: Array, outputs: Array) -> Array:
    """The factor of every f_k that lifts the margins of all α < C to 1, and above rounding, unless that costs too
    much."""
    below = at.box_slack > SETTINGS.bound_tolerance * task.box
    violations = np.max(np.where(below, 1 - task.signs * outputs, 0.0), axis=1, initial=0.0)
    longer = 1 + np.minimum(violations, SETTINGS.max_lengthening) + SETTINGS.min_lengthening
    now, then = penalties + task.risks(outputs), longer**2 * penalties + task.risks(longer[:, None] * outputs)
    return np.where(then <= (1 + SETTINGS.lengthening_cost) * now, longer, 1.0)
