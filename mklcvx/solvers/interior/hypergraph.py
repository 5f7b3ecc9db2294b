"""interior for the family of hypergraphs — weights μ on the simplex by Newton's method with multipliers for μ ≥ 0.

    min over μ ∈ Δ of   φ(μ) + σ Σ_m μ_m log μ_m,      φ(μ) = tr(H'P⁻¹H),   P = I + K(μ)/λ          (σ = 0: hypergraph)

With X = P⁻¹H and U_m = K_mX/λ the fits t_m = tr(X'U_m) are −∂φ/∂μ_m, and ∂²φ/∂μ_m∂μ_l = 2 tr(U_m'P⁻¹U_l). Optimal are

    ν − t_m(μ) + σ log μ_m − s_m = 0,      Σ μ_m = 1,      μ_m s_m = 0,      μ, s ≥ 0

and Z = 2X is the primal point: S_m(2X) = t_m − μ't − φ(μ), so that, but for rounding, the gap of the certificate is

    max_m t_m − μ't,   or with σ   σ log Σ_m exp(t_m/σ) − μ't + σ Σ_m μ_m log μ_m

One Cholesky factorisation of P serves all labels, all kernels and all derivatives. X is not a variable of its own: P
is factored at every μ anyway, so P X = H is solved, not linearised. What Newton's equations then neglect is the
curvature of t, and that is severe: where K_m ≫ λ, φ is nearly 1/μ_m. The corrector therefore counts, besides the
products dμ·ds, the second-order term of t along the predictor dμ, exactly: with B = K(dμ)/λ, X changes by Y = −P⁻¹BX
to first order and by V = −P⁻¹BY to second order, and

    t_m(μ + dμ) = t_m − (φ''dμ)_m + tr(Y'K_mY)/λ + 2 tr(X'K_mV)/λ + O(dμ³)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...certificate.run import Ending
from ...formulations import Points
from ...formulations.families.hypergraph import Embedding, Hypergraph, HyperTask
from ..driver import Problem, State
from .loop import Array, InteriorMethod, Iterate, KKTSystem
from .qp import factored, refined
from .settings import SETTINGS, TINY


class Fit:
    """What μ makes: P and its inverse, X = P⁻¹H, the fits t = −φ' and the Hessian φ''."""

    def __init__(self, task: HyperTask, weights: Array) -> None:
        self.task = task
        matrix = task.combined(weights) / task.lam
        matrix[np.diag_indices(task.samples)] += 1
        rough = factored(matrix)
        self.solve = refined(matrix, rough)
        self.x = self.solve(task.h)
        self.fits, self.hessian = np.zeros(task.count), np.zeros((task.count, task.count))
        width = max(1, SETTINGS.label_block * task.samples // task.count)
        for first in range(0, self.x.shape[1], width):
            self._count(rough, self.x[:, first : first + width])

    def _count(self, inverse: Callable[[Array], Array], x: Array) -> None:
        """Add the contribution of some of the labels to t and φ''."""
        task, right = self.task, x.T / self.task.lam
        images = np.empty((task.count, *right.shape))
        for image, kernel in zip(images, task.each_kernel(), strict=True):
            np.matmul(right, kernel, out=image)
        solved = inverse(images.reshape(-1, task.samples).T).T
        flat = images.reshape(task.count, -1)
        half = flat @ solved.reshape(flat.shape).T
        self.fits += flat @ x.T.ravel()
        self.hessian += half + half.T

    def second_order(self, change: Array) -> Array:
        """The second-order term of t along μ + change."""
        task, tilt = self.task, self.task.combined(change) / self.task.lam
        moved = -self.solve(tilt @ self.x)
        bent = -self.solve(tilt @ moved)
        left, right = np.hstack([moved, 2 * self.x]), np.hstack([moved, bent])
        return np.array([np.vdot(left, kernel @ right) for kernel in task.each_kernel()]) / task.lam


@dataclass(frozen=True)
class SimplexIterate(Iterate):
    """μ, the multipliers s of μ ≥ 0, and ν of Σμ = 1."""

    weights: Array
    s: Array
    nu: float

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        return [(self.weights, self.s)]


@dataclass(frozen=True)
class HypergraphState(State):
    """A point with its fit; the point with the least gap, and the number of steps since then."""

    at: SimplexIterate
    fit: Fit
    gap: float
    best: Embedding
    idle: int = 0


class HypergraphSystem(KKTSystem[SimplexIterate]):
    """The equations above, s eliminated: (φ'' + (s + σ)/μ) dμ + dν = right-hand side, Σ dμ = 0."""

    def __init__(self, at: SimplexIterate, fit: Fit, smoothing: float) -> None:
        self.at, self.fit = at, fit
        self.residual = at.nu - fit.fits + smoothing * np.log(at.weights) - at.s
        matrix = fit.hessian + np.diag((at.s + smoothing) / at.weights)
        self.solve = refined(matrix, factored(matrix))
        self.solved_ones = self.solve(np.ones(len(at.weights)))

    def direction(self, target_mu: float, predicted: SimplexIterate | None = None) -> SimplexIterate:
        at, residual = self.at, self.residual
        (goal,) = self.goals(target_mu, predicted)
        if predicted is not None:
            residual = residual - self.fit.second_order(predicted.weights)
        weights = self.solve(goal / at.weights - residual)
        nu = float(weights.sum() / self.solved_ones.sum())
        weights = weights - nu * self.solved_ones
        return SimplexIterate(weights, (goal - at.s * weights) / at.weights, nu)


class InteriorHypergraph(InteriorMethod[HypergraphState, SimplexIterate]):
    serves = ("hypergraph", "hypergraph_smooth")
    max_iter = 60

    def start(self, problem: Problem) -> HypergraphState:
        """Equal weights; ν is twice the best fit, and s follows from the first equation."""
        weights, fit = problem.even, Fit(problem.task, problem.even)
        high = max(2 * float(fit.fits.max()), TINY)
        at = SimplexIterate(weights, high - fit.fits, high + (problem.task.smoothing or 0.0) * np.log(len(weights)))
        return HypergraphState(weights, at, fit, gap(problem, weights, fit), Embedding(weights, 2 * fit.x))

    def before_step(self, problem: Problem, state: HypergraphState) -> HypergraphState | None:
        """The end, where rounding is all that is left."""
        reached = state.gap <= SETTINGS.hypergraph_converged_gap * problem.tolerance
        limit = SETTINGS.hypergraph_converged * problem.tolerance * _scale(problem, state.fit)
        if reached or state.idle >= SETTINGS.hypergraph_patience or state.at.complementarity <= limit:
            return replace(state, stop_reason=Ending.ROUNDING)
        return None

    def system(self, problem: Problem, state: HypergraphState) -> HypergraphSystem:
        return HypergraphSystem(state.at, state.fit, problem.task.smoothing or 0.0)

    def accept(self, problem: Problem, state: HypergraphState, after: SimplexIterate, length: float) -> HypergraphState:
        weights, fit = after.weights, Fit(problem.task, after.weights)
        left = gap(problem, weights, fit)
        if not left < state.gap:
            return HypergraphState(weights, after, fit, state.gap, state.best, state.idle + 1)
        return HypergraphState(weights, after, fit, left, Embedding(weights, 2 * fit.x))

    def failed(self, state: HypergraphState, fault: FloatingPointError | None) -> HypergraphState:
        """Leave it to the driver: without P⁻¹ there is no point either."""
        raise fault or FloatingPointError("a matrix of Newton's equations")

    def points(self, problem: Problem, state: HypergraphState) -> Points:
        """The best μ and Z, when they are new and near enough to be worth a certificate; in the end in any case."""
        waits = state.idle or state.gap > SETTINGS.certify_gap * problem.tolerance
        if waits and not (state.stop_reason or problem.closing):
            return Points([], [])
        return Points([state.best], [state.best.z])


def gap(problem: Problem, weights: Array, fit: Fit) -> float:
    """The relative gap of the certificate, up to rounding."""
    formulation: Hypergraph = problem.formulation
    joined, bonus = formulation.joined(problem.task, fit.fits), formulation.bonus(problem.task, weights)
    return (joined - float(fit.fits @ weights) - bonus) / _scale(problem, fit)


def _scale(problem: Problem, fit: Fit) -> float:
    """The scale of the relative gap, as in the certificate."""
    return max(float(np.vdot(problem.task.h, problem.task.h - fit.x)), TINY)
