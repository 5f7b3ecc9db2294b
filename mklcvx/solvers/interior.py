"""interior — a structured interior-point method for every formulation with a separable regulariser on its weights.

    min over μ of max over α of   gain(α) − Σ_m μ_m ½ q_m(α) + R(μ)

Weights and α are found together: Newton's equations of `_saddle` are n×n whatever the number of kernels, so that a step
costs one pass over the kernels and one Cholesky factorisation, and about a dozen steps (Mehrotra's predictor and
corrector) give the optimum to ten digits. A formulation brings slope and curvature of R and of its constraint and
nothing else. Kernels are read one at a time, in whatever precision they are stored. Where the weights are given,
only the quadratic program of the SVM is left, and `_interior_qp` solves it.

Classifiers offered to the certificate: f_m = μ_m K_m(α∘y), a trifle longer. Where C is large, a margin that rounding
leaves at 1 − 1e-10 costs C·1e-10; lengthening f by as much costs less. When the complementarity says that the optimum
is reached and the certificate does not, α is sharpened as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..formulations import SINGLE_TASKS, Points, Task
from ..formulations._regulariser import Regulariser
from ..polish import equalities, gain_slope, sharpened
from ._driver import Algorithm, Problem, State
from ._interior_qp import interior_point
from ._machine import svm_program
from ._saddle import Array, Interior, Newton, Residuals

SHORT = 0.995  # of the way to the boundary
NEAR, REACHED = 1e3, 0.1  # times the tolerance: a complementarity worth certifying, and one that ought to be enough
STALLED = 1e-22  # of the first complementarity: rounding is all that is left


@dataclass(frozen=True)
class Centred(State):
    """An interior point with Q(μ) and the columns Q_mα; where weights are given, only α, at its optimum."""

    at: Interior | None
    q: Array
    columns: Array
    first: float
    alpha: Array


@dataclass(frozen=True)
class InteriorPoint(Algorithm[Centred]):
    name: ClassVar[str] = "interior"
    summary: ClassVar[str] = "our structured interior-point method: weights and α together"
    reference: ClassVar[str] = ""
    serves: ClassVar[tuple[str, ...]] = tuple(f.name for f in SINGLE_TASKS if f.regulariser is not None)
    tolerance: ClassVar[float] = 1e-9
    max_iter: ClassVar[int] = 60

    def start(self, problem: Problem) -> Centred:
        task, side = problem.task, problem.formulation.regulariser
        mu = side.start(task.count, **task.own)
        if side.alone(task.count, **task.own):
            return _given(task, mu, problem.tolerance)
        alpha = _first_alpha(task, mu)
        q, columns = _passed(task, alpha, mu)
        halves, gradient = alpha @ columns / 2, columns @ mu - gain_slope(task)
        push, pull = _size(gradient), _size(halves)
        cap = np.full(task.count, side.cap(**task.own)) if side.cap is not None else np.zeros(0)
        head = np.maximum(cap - mu, 1e-3 * cap) if len(cap) else cap
        product = push * float(np.mean(alpha))
        slack, kappa = 0.0, 0.0
        if side.constraint is not None:
            kappa = pull
            slack = max(1 - float(side.constraint.value(mu, **task.own).sum()), 1e-2) if side.constraint.curved else 0.0
        at = Interior(
            alpha=alpha, room=task.box - alpha, lower=np.full(len(alpha), push), upper=product / (task.box - alpha),
            mu=mu, floor=np.full(task.count, pull), head=head, ceiling=np.full(len(head), pull),
            nu=np.zeros(task.bias + (task.loss == "nu")), kappa=kappa, slack=slack,
        )  # fmt: skip
        return Centred(mu, at, q, columns, at.level, alpha)

    def step(self, problem: Problem, state: Centred) -> Centred:
        task, at, side = problem.task, state.at, problem.formulation.regulariser
        if at is None:
            return replace(state, dead_end="rounding allows no more")
        newton = Newton(
            at, state.q, state.columns, _curvature(task, side, at), _slope(task, side, at), equalities(task)[0],
            residuals(task, side, at, state.columns),
        )  # fmt: skip
        affine = newton.direction(0.0)
        reached = at.moved(at.longest(affine), affine).level
        step = newton.direction(at.level * (max(reached, 0.0) / at.level) ** 3, affine)
        after = at.moved(SHORT * at.longest(step), step)
        if not np.isfinite(after.level) or after.level <= STALLED * state.first:
            return replace(state, dead_end="rounding allows no more")
        return Centred(after.mu, after, *_passed(task, after.alpha, after.mu), state.first, after.alpha)

    def points(self, problem: Problem, state: Centred) -> Points:
        """α with the classifier that the weights make with it, once that is worth a certificate."""
        task, alpha = problem.task, problem.task.feasible(state.alpha)
        left = 0.0 if state.at is None else state.at.total / self._scale(task, state)
        if left > NEAR * problem.tolerance:
            return Points([], [])
        alphas = [alpha]
        if left <= REACHED * problem.tolerance:
            upper = problem.formulation.upper(task, np.outer(state.weights, alpha * task.y))
            alphas.append(task.feasible(sharpened(task, state.weights, alpha, upper)))
        return Points(alphas, [_lengthened(task, a, np.outer(state.weights, a * task.y)) for a in alphas])

    def _scale(self, task: Task, state: Centred) -> float:
        """The larger of gain and cost at the point."""
        return max(task.gain(state.alpha), float(state.alpha @ state.columns @ state.weights) / 2, 1e-300)


def _given(task: Task, weights: Array, tolerance: float) -> Centred:
    """Nothing but α is to be found."""
    q = task.y[:, None] * task.combined(weights) * task.y
    alpha = interior_point(svm_program(task, q), 0.1 * tolerance)
    return Centred(weights, None, q, np.zeros((task.samples, 0)), 0.0, alpha)


def residuals(task: Task, side: Regulariser, at: Interior, columns: Array) -> Residuals:
    (rows, totals), slope, own = equalities(task), _slope(task, side, at), task.own
    alpha = columns @ at.mu - gain_slope(task) + rows.T @ at.nu - at.lower + at.upper
    mu = side.slope(at.mu, **own) - at.alpha @ columns / 2 - at.floor
    if slope is not None:
        mu = mu + at.kappa * slope
    if len(at.head):
        mu = mu + at.ceiling
    psi = np.zeros(0)
    if side.constraint is not None:
        psi = np.array([float(side.constraint.value(at.mu, **own).sum()) - 1 + at.slack])
    return Residuals(alpha, mu, rows @ at.alpha - totals, psi)


def _passed(task: Task, alpha: Array, mu: Array) -> tuple[Array, Array]:
    """Q(μ) and the columns Q_mα, in one pass over the kernels."""
    combined, columns = np.zeros((task.samples, task.samples)), np.empty((task.samples, task.count))
    signed = alpha * task.y
    for m, kernel in enumerate(task.each_kernel()):
        combined += mu[m] * kernel
        columns[:, m] = kernel @ signed
    combined *= task.y
    combined *= task.y[:, None]
    return combined, columns * task.y[:, None]


def _first_alpha(task: Task, mu: Array) -> Array:
    """Even within each class, as large as the SVM's value wants, well inside the box."""
    positive = task.y > 0
    even = np.where(positive, 0.5 / positive.sum(), 0.5 / (~positive).sum()) if task.bias else task.box / task.box.sum()
    if task.loss == "c":
        cost = float(mu @ task.correlations(even) ** 2)
        even = even / cost if cost > 0 else task.box
    return np.clip(even, 1e-8 * task.box, 0.5 * task.box)


def _lengthened(task: Task, alpha: Array, functions: Array) -> Array:
    """f longer by what the free samples' margins lack."""
    outputs, _ = task.evaluate(functions)
    risk = task.risk(outputs)
    level = 1.0 if risk.rho is None else risk.rho
    margins = task.y * (outputs + risk.bias)
    free = (alpha > 1e-6 * task.box) & (alpha < (1 - 1e-6) * task.box)
    lack = float(np.max(level - margins[free], initial=0.0)) / max(abs(level), np.finfo(float).tiny)
    return functions * (1 + min(lack, 1e-3))


def _slope(task: Task, side: Regulariser, at: Interior) -> Array | None:
    return None if side.constraint is None else side.constraint.slope(at.mu, **task.own)


def _curvature(task: Task, side: Regulariser, at: Interior) -> Array:
    own = side.curvature(at.mu, **task.own)
    return own if side.constraint is None else own + at.kappa * side.constraint.curvature(at.mu, **task.own)


def _size(values: Array) -> float:
    return max(float(np.abs(values).max()), np.finfo(float).tiny)
