"""interior for the family of hypergraphs — weights θ on the simplex by Newton's method with multipliers for θ ≥ 0.

    min over θ ∈ Δ of   φ(θ) + μ Σ_j θ_j log θ_j,      φ(θ) = tr(H'A⁻¹H),   A = I + K(θ)/λ          (μ = 0: hypergraph)

With X = A⁻¹H and U_j = K_jX/λ the fits t_j = tr(X'U_j) are −∂φ/∂θ_j, and ∂²φ/∂θ_j∂θ_l = 2 tr(U_j'A⁻¹U_l). Optimal are

    ν − t_j(θ) + μ log θ_j − s_j = 0,      Σ θ_j = 1,      θ_j s_j = 0,      θ, s ≥ 0

and Z = 2X is the primal point: S_j(2X) = t_j − θ't − φ(θ), so that, but for rounding, the gap of the certificate is

    max_j t_j − θ't,   or with μ   μ log Σ_j exp(t_j/μ) − θ't + μ Σ_j θ_j log θ_j

One Cholesky factorisation of A serves all labels, all kernels and all derivatives. X is not a variable of its own: A
is factored at every θ anyway, so A X = H is solved for, not linearised. What Newton's equations then neglect is how t
bends with θ, and that is severe: where K_j ≫ λ, φ is nearly 1/θ_j. The corrector therefore counts, besides the
products dθ·ds, the second-order term of t along the predictor dθ, exactly: with B = K(dθ)/λ, X moves by Y = −A⁻¹BX and
bends by V = −A⁻¹BY, and

    t_j(θ + dθ) = t_j − (φ''dθ)_j + tr(Y'K_jY)/λ + 2 tr(X'K_jV)/λ + O(dθ³)
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
    """What θ makes: A and its inverse, X = A⁻¹H, the fits t = −φ' and the Hessian φ''."""

    def __init__(self, task: HyperTask, theta: Array) -> None:
        self.task = task
        matrix = task.combined(theta) / task.lam
        matrix[np.diag_indices(task.samples)] += 1
        rough = factored(matrix)
        self.solve = refined(matrix, rough)
        self.x = self.solve(task.h)
        self.fits, self.hessian = np.zeros(task.count), np.zeros((task.count, task.count))
        width = max(1, SETTINGS.label_block * task.samples // task.count)
        for first in range(0, self.x.shape[1], width):
            self._count(rough, self.x[:, first : first + width])

    def _count(self, inverse: Callable[[Array], Array], x: Array) -> None:
        """Add what some of the labels contribute to t and φ''."""
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
        """The second-order term of t along θ + change."""
        task, tilt = self.task, self.task.combined(change) / self.task.lam
        moved = -self.solve(tilt @ self.x)
        bent = -self.solve(tilt @ moved)
        left, right = np.hstack([moved, 2 * self.x]), np.hstack([moved, bent])
        return np.array([np.vdot(left, kernel @ right) for kernel in task.each_kernel()]) / task.lam


@dataclass(frozen=True)
class SimplexIterate(Iterate):
    """θ, the multipliers s of θ ≥ 0, and ν of Σθ = 1."""

    theta: Array
    s: Array
    nu: float

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        return [(self.theta, self.s)]


@dataclass(frozen=True)
class HypergraphState(State):
    """A point with its fit; the point with the least gap, and for how many steps it has been."""

    at: SimplexIterate
    fit: Fit
    gap: float
    best: Embedding
    idle: int = 0


class HypergraphSystem(KKTSystem[SimplexIterate]):
    """The equations above, s eliminated: (φ'' + (s + μ)/θ) dθ + dν = right-hand side, Σ dθ = 0."""

    def __init__(self, at: SimplexIterate, fit: Fit, smoothing: float) -> None:
        self.at, self.fit = at, fit
        self.residual = at.nu - fit.fits + smoothing * np.log(at.theta) - at.s
        matrix = fit.hessian + np.diag((at.s + smoothing) / at.theta)
        self.solve = refined(matrix, factored(matrix))
        self.solved_ones = self.solve(np.ones(len(at.theta)))

    def direction(self, target_mu: float, predicted: SimplexIterate | None = None) -> SimplexIterate:
        at, residual = self.at, self.residual
        (goal,) = self.goals(target_mu, predicted)
        if predicted is not None:
            residual = residual - self.fit.second_order(predicted.theta)
        theta = self.solve(goal / at.theta - residual)
        nu = float(theta.sum() / self.solved_ones.sum())
        theta = theta - nu * self.solved_ones
        return SimplexIterate(theta, (goal - at.s * theta) / at.theta, nu)


class InteriorHypergraph(InteriorMethod[HypergraphState, SimplexIterate]):
    serves = ("hypergraph", "hypergraph_smooth")
    max_iter = 60

    def start(self, problem: Problem) -> HypergraphState:
        """Every kernel alike; ν twice as high as the best fit wants, s what the first equation makes of it."""
        theta, fit = problem.even, Fit(problem.task, problem.even)
        high = max(2 * float(fit.fits.max()), TINY)
        at = SimplexIterate(theta, high - fit.fits, high + (problem.task.smoothing or 0.0) * np.log(len(theta)))
        return HypergraphState(theta, at, fit, gap(problem, theta, fit), Embedding(theta, 2 * fit.x))

    def before_step(self, problem: Problem, state: HypergraphState) -> HypergraphState | None:
        """The end, where rounding is all that is left."""
        reached = state.gap <= SETTINGS.hypergraph_converged_gap * problem.tolerance
        limit = SETTINGS.hypergraph_converged * problem.tolerance * _scale(problem, state.fit)
        if reached or state.idle >= SETTINGS.hypergraph_patience or state.at.complementarity <= limit:
            return replace(state, dead_end=Ending.ROUNDING)
        return None

    def system(self, problem: Problem, state: HypergraphState) -> HypergraphSystem:
        return HypergraphSystem(state.at, state.fit, problem.task.smoothing or 0.0)

    def accept(self, problem: Problem, state: HypergraphState, after: SimplexIterate, length: float) -> HypergraphState:
        theta, fit = after.theta, Fit(problem.task, after.theta)
        left = gap(problem, theta, fit)
        if not left < state.gap:
            return HypergraphState(theta, after, fit, state.gap, state.best, state.idle + 1)
        return HypergraphState(theta, after, fit, left, Embedding(theta, 2 * fit.x))

    def failed(self, state: HypergraphState, fault: FloatingPointError | None) -> HypergraphState:
        """The driver says it: without A⁻¹ there is no point either."""
        raise fault or FloatingPointError("a matrix of Newton's equations")

    def points(self, problem: Problem, state: HypergraphState) -> Points:
        """The best θ and Z, when they are new and near enough to be worth a certificate; in the end in any case."""
        waits = state.idle or state.gap > SETTINGS.certify_gap * problem.tolerance
        if waits and not (state.dead_end or problem.closing):
            return Points([], [])
        return Points([state.best], [state.best.z])


def gap(problem: Problem, theta: Array, fit: Fit) -> float:
    """The relative gap that the certificate finds unless rounding adds to it."""
    formulation: Hypergraph = problem.formulation
    joined, bonus = formulation.joined(problem.task, fit.fits), formulation.bonus(problem.task, theta)
    return (joined - float(fit.fits @ theta) - bonus) / _scale(problem, fit)


def _scale(problem: Problem, fit: Fit) -> float:
    """What the certificate compares a gap with."""
    return max(float(np.vdot(problem.task.h, problem.task.h - fit.x)), TINY)
