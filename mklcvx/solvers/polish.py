"""Sharpen α for given kernel weights, so that weights and α alone describe the classifier.

A conic solver's α is good to seven or eight digits, and f_m = weight_m K_m(α∘y) loses some of them. But its margins
tell which samples sit at a bound. With those fixed, the optimality conditions of the machine with kernel
K = Σ weight_m K_m are linear in the rest (but for the entropies, for which it is a step of Newton's):

    s_i (Kβ)_i + s_i b = g_i'(α_i) for the free samples    (loss nu: = ρ),    s'α = 0    (loss nu: 1'α = 1).

Where the tube ε is an unknown, and not 0, it is one more: ‖α‖₁ = N on the sides of 0 where the α are.

The step is the one of least norm that meets them, so a singular K does no harm. The result is one more candidate for
the certificate, which alone decides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..certificate.passes import seen
from ..formulations import Task, UpperBound
from ..formulations.losses import Risk
from ..problem.low_rank import LowRank
from ..problem.stack import Array
from .interior.sample_variables import DualPoint
from .interior.samples_side import samples_side


def sharpened(task: Task, weights: Array, alpha: Array, upper: UpperBound) -> Array:
    """Return the α that the optimality conditions imply at these weights; `upper` supplies the margins."""
    (outputs, _), level, bias = task.evaluate(upper.coefficients), upper.risk.level, upper.risk.bias
    samples, signs = samples_side(task).at(_tube(upper.risk), alpha), task.signs
    slope = samples.smooth_slope(DualPoint(alpha, *samples.distances(alpha)))
    excess = signs * (outputs + bias) - slope - (upper.risk.rho or 0.0)
    free, held = samples.active(alpha, excess, level)
    if not free.any() or not weights.any():
        return held
    at = DualPoint(held, *samples.distances(held))
    kernel = _combined(task, weights)
    (rows, totals), (row, total) = task.equalities(), samples.active_sum(held, excess)
    multipliers = np.array([bias] * task.bias + [-level] * task.loss_function.free_margin)
    known = rows[:, free].T @ multipliers
    rows, totals = np.vstack([rows, row]), np.append(totals, total)
    columns = rows[:, free]
    slope = samples.smooth_slope(at) - samples.kink(held, excess)
    gradient = slope[free] - (signs * kernel.matvec(signs * held))[free] - known
    block = signs[free, None] * kernel.block(free) * signs[free] + np.diag(samples.curvature(at)[free])
    change = np.zeros(task.samples)
    change[free] = _step(block, columns, gradient, totals - rows @ held, cutoff=1e-14)
    return np.where(free, samples.stepped(held, change), held)


class _Formed(NamedTuple):
    """K = Σ weight_m K_m, formed."""

    entries: Array

    def matvec(self, vector: Array) -> Array:
        return np.asarray(self.entries @ vector)

    def block(self, chosen: NDArray[np.bool_]) -> Array:
        return self.entries[np.ix_(chosen, chosen)]


class _InFactors(NamedTuple):
    """The same from factors. It is never formed: of many samples it would take far more memory than they do."""

    factors: LowRank
    weights: Array

    def matvec(self, vector: Array) -> Array:
        columns = self.factors.columns
        return np.asarray(columns @ (self.factors.spread(self.weights) * (vector @ columns)))

    def block(self, chosen: NDArray[np.bool_]) -> Array:
        columns = self.factors.columns[chosen]
        return np.asarray((columns * self.factors.spread(self.weights)) @ columns.T)


def _combined(task: Task, weights: Array) -> _Formed | _InFactors:
    if isinstance(task.kernels, LowRank):
        return _InFactors(task.kernels, weights)
    return _Formed(task.combined(weights))


def _step(hessian: Array, rows: Array, gradient: Array, missing: Array | list[float], cutoff: float) -> Array:
    """The least-norm step that solves the optimality conditions of the free samples and the equalities."""
    system = np.block([[hessian, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    right = np.concatenate([gradient, missing])
    if not (np.isfinite(system).all() and np.isfinite(right).all()):
        raise np.linalg.LinAlgError("a system that is not finite")  # LAPACK would print lines of its own
    return np.asarray(np.linalg.lstsq(system, right, rcond=cutoff)[0][: len(hessian)])


def _tube(risk: Risk) -> Array:
    """ε where it is an unknown."""
    return np.zeros(0) if risk.epsilon is None else np.array([risk.epsilon])


def gain_gradient(task: Task) -> Array:
    """The gradient of gain(α) where it is linear, as for the losses of the published algorithms."""
    return task.loss_function.gradient(np.zeros(task.samples), task.y, task.box)


def refined(task: Task, working: Task, weights: Array, alpha: Array, rounds: int = 4) -> tuple[Array, Array]:
    """Return α in two parts, the second far below the last bits of the first, so that the margins of the free samples
    are accurate. The equations are those of `sharpened`, with residuals from products in slices. `task` has the kernels
    as they are stored, `working` is the same problem in centred coordinates."""
    kernel, side, signs = _combined(working, weights), samples_side(task), task.signs
    alpha, low = task.feasible(alpha), np.zeros(task.samples)
    for _ in range(rounds):
        outputs = weights @ seen(task, alpha * signs, task.bias, sliced=True).z + kernel.matvec(low)
        risk = task.risk(outputs)
        samples = side.at(_tube(risk), alpha)
        at = DualPoint(alpha, *samples.distances(alpha))
        curvature = samples.curvature(at)
        slope = samples.smooth_slope(at) - curvature * signs * low
        excess = signs * (outputs + risk.bias) - slope - (risk.rho or 0.0)
        free, moved = samples.active(alpha, excess, risk.level)
        if not free.any():
            return task.feasible(moved), np.zeros(task.samples)
        (rows, totals), (row, total) = task.equalities(), samples.active_sum(moved, excess)
        rows, totals = np.vstack([rows, row]), np.append(totals, total)
        columns = (rows * signs)[:, free]  # of β: Σβ = 0, and s'β = 1 for loss nu
        change = (moved - alpha) * signs
        low = np.where(free, low, 0.0)
        wanted = -(signs * (excess + samples.kink(alpha, excess)) + kernel.matvec(change))[free]
        missing = [
            math.fsum([total, *(-row * moved), *(-row * signs * low)]) for row, total in zip(rows, totals, strict=True)
        ]
        block = kernel.block(free) + np.diag(curvature[free])
        low[free] += _step(block, columns, wanted, missing, cutoff=1e-15)
        whole = task.feasible(np.where(free, alpha + signs * low, moved))
        low = np.where(free, ((alpha - whole) * signs) + low, 0.0)
        alpha = whole
    return alpha, balanced(low) if task.bias else low


def balanced(values: Array, at: int | None = None) -> Array:
    """Round values to a grid so that their sum is exactly zero; the largest entry, or entry `at`, is adjusted."""
    size = float(np.abs(values).sum())
    if not 0 < size < np.inf:
        return values
    unit = 2.0 ** (np.frexp(2.02 * size)[1] - 52)
    steps = np.rint(values / unit)
    steps[np.argmax(np.abs(steps)) if at is None else at] -= steps.sum()
    return np.asarray(steps * unit)
