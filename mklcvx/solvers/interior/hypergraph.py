"""interior for the family of hypergraphs — weights θ on the simplex by Newton's method with multipliers for θ ≥ 0.

    min over θ ∈ Δ of   φ(θ) + μ Σ_j θ_j log θ_j,      φ(θ) = tr(H'A⁻¹H),   A = I + K(θ)/λ          (μ = 0: hypergraph)

With X = A⁻¹H and U_j = K_jX/λ the fits t_j = tr(X'U_j) are −∂φ/∂θ_j, and ∂²φ/∂θ_j∂θ_l = 2 tr(U_j'A⁻¹U_l). Optimal are

    ν − t_j(θ) + μ log θ_j − s_j = 0,      Σ θ_j = 1,      θ_j s_j = 0,      θ, s ≥ 0

and Z = 2X is the primal point: S_j(2X) = t_j − θ't − φ(θ), so that, but for rounding, the gap of the certificate is

    max_j t_j − θ't,   or with μ   μ log Σ_j exp(t_j/μ) − θ't + μ Σ_j θ_j log θ_j

One Cholesky factorisation of A serves all labels, all kernels and all derivatives. X is not a variable of its own: A
is factored at every θ anyway, so A X = H is solved for, not linearised. What Newton's equations then neglect is how t
bends with θ, and that is severe: where K_j ≫ λ, φ is nearly 1/θ_j. Mehrotra's corrector therefore counts, besides the
products dθ·ds, the second-order term of t along the predictor dθ, exactly: with B = K(dθ)/λ, X moves by Y = −A⁻¹BX and
bends by V = −A⁻¹BY, and

    t_j(θ + dθ) = t_j − (φ''dθ)_j + tr(Y'K_jY)/λ + 2 tr(X'K_jV)/λ + O(dθ³)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ...certificate.run import Ending
from ...formulations import Points
from ...formulations.families.hypergraph import Embedding, Hypergraph, HyperTask
from ..driver import Algorithm, Problem, State
from .qp import SHORT, Array, factored

REFINEMENTS = 2
ROOM = 2  # times n²: how much the images U_j of as many labels as are counted at once may fill
NEAR, REACHED = 1e3, 0.1  # times the tolerance: a gap worth certifying, and one that leaves the rest to rounding
SPENT = 1e-6  # times the tolerance: a complementarity θ's that a larger gap can only owe to rounding
IDLE = 10  # steps in a row without a smaller gap: here too
TINY = np.finfo(float).tiny


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
        width = max(1, ROOM * task.samples // task.count)
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

    def bend(self, change: Array) -> Array:
        """The second-order term of t along θ + change."""
        task, tilt = self.task, self.task.combined(change) / self.task.lam
        moved = -self.solve(tilt @ self.x)
        bent = -self.solve(tilt @ moved)
        left, right = np.hstack([moved, 2 * self.x]), np.hstack([moved, bent])
        return np.array([np.vdot(left, kernel @ right) for kernel in task.each_kernel()]) / task.lam


class Step(NamedTuple):
    theta: Array
    slack: Array
    top: float


@dataclass(frozen=True)
class Fitted(State):
    """θ with its fit, the multipliers s of θ ≥ 0, and ν; the point with the least gap, and for how long it has been."""

    slack: Array
    top: float
    fit: Fit
    gap: float
    best: Embedding
    idle: int = 0

    @property
    def level(self) -> float:
        """The mean of the products θ_j s_j."""
        return float(self.weights @ self.slack) / len(self.slack)

    def moved(self, length: float, step: Step) -> tuple[Array, Array, float]:
        return self.weights + length * step.theta, self.slack + length * step.slack, self.top + length * step.top

    def longest(self, step: Step) -> float:
        """At most 1, and as far as θ and s stay positive."""
        now, change = np.concatenate([self.weights, self.slack]), np.concatenate([step.theta, step.slack])
        shrinking = change < 0
        return float(min(1.0, np.min(-now[shrinking] / change[shrinking], initial=np.inf)))


class Newton:
    """The equations above at one point, s eliminated: (φ'' + (s + μ)/θ) dθ + dν = right-hand side, Σ dθ = 0."""

    def __init__(self, at: Fitted, smoothing: float) -> None:
        self.at = at
        self.lacking = at.top - at.fit.fits + smoothing * np.log(at.weights) - at.slack
        matrix = at.fit.hessian + np.diag((at.slack + smoothing) / at.weights)
        self.solve = refined(matrix, factored(matrix))
        self.image = self.solve(np.ones(len(at.weights)))

    def direction(self, target: float, predicted: Step | None = None) -> Step:
        """The step towards θ·s = target, corrected by what the predictor neglects."""
        theta, slack = self.at.weights, self.at.slack
        goal, lacking = target - theta * slack, self.lacking
        if predicted is not None:
            goal = goal - predicted.theta * predicted.slack
            lacking = lacking - self.at.fit.bend(predicted.theta)
        change = self.solve(goal / theta - lacking)
        top = float(change.sum() / self.image.sum())
        change = change - top * self.image
        return Step(change, (goal - slack * change) / theta, top)


@dataclass(frozen=True)
class InteriorHypergraph(Algorithm[Fitted]):
    name: ClassVar[str] = "interior"
    summary: ClassVar[str] = "our structured interior-point method: weights and embedding together"
    reference: ClassVar[str] = ""
    serves: ClassVar[tuple[str, ...]] = ("hypergraph", "hypergraph_smooth")
    tolerance: ClassVar[float] = 1e-9
    max_iter: ClassVar[int] = 60

    def start(self, problem: Problem) -> Fitted:
        """Every kernel alike; ν twice as high as the best fit wants, s what the first equation makes of it."""
        theta, fit = problem.even, Fit(problem.task, problem.even)
        high = max(2 * float(fit.fits.max()), TINY)
        top = high + _smoothing(problem) * np.log(len(theta))
        return Fitted(theta, high - fit.fits, top, fit, gap(problem, theta, fit), Embedding(theta, 2 * fit.x))

    def step(self, problem: Problem, state: Fitted) -> Fitted:
        if state.gap <= REACHED * problem.tolerance or state.idle >= IDLE or _spent(problem, state):
            return replace(state, dead_end=Ending.ROUNDING)
        newton = Newton(state, _smoothing(problem))
        affine = newton.direction(0.0)
        theta, slack, _ = state.moved(state.longest(affine), affine)
        reached = max(float(theta @ slack) / len(theta), 0.0)
        step = newton.direction(state.level * (reached / state.level) ** 3, affine)
        theta, slack, top = state.moved(SHORT * state.longest(step), step)
        fit = Fit(problem.task, theta)
        left = gap(problem, theta, fit)
        if not left < state.gap:
            return Fitted(theta, slack, top, fit, state.gap, state.best, state.idle + 1)
        return Fitted(theta, slack, top, fit, left, Embedding(theta, 2 * fit.x))

    def points(self, problem: Problem, state: Fitted) -> Points:
        """The best θ and Z, when they are new and near enough to be worth a certificate; in the end in any case."""
        if not (state.dead_end or problem.closing) and (state.idle or state.gap > NEAR * problem.tolerance):
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


def _spent(problem: Problem, state: Fitted) -> bool:
    scale = _scale(problem, state.fit)
    return float(state.weights @ state.slack) <= SPENT * problem.tolerance * scale


def refined(matrix: Array, rough: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """An inverse made sharper by what it leaves."""

    def solve(right: Array) -> Array:
        found = rough(right)
        for _ in range(REFINEMENTS):
            found = found + rough(right - matrix @ found)
        return found

    return solve


def _smoothing(problem: Problem) -> float:
    return problem.task.smoothing or 0.0
