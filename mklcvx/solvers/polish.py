"""Sharpen α for given kernel weights, so that weights and α alone describe the classifier.

A conic solver's α is good to seven or eight digits, and f_m = weight_m K_m(α∘y) loses some of them. But its margins
tell which samples sit at a bound. With those fixed, the optimality conditions of the SVM with kernel
K = Σ weight_m K_m are linear in the rest:

    y_i (K(α∘y))_i + y_i b = 1 for the free samples    (loss nu: = ρ),    y'α = 0    (loss nu: 1'α = 1).

The step is the least one that meets them, so a singular K does no harm. Nothing here is trusted: the result is
one more candidate for the certificate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.passes import seen
from ..formulations import Task, UpperBound
from ..problem.stack import Array


def sharpened(task: Task, weights: Array, alpha: Array, upper: UpperBound) -> Array:
    """The α that the optimality conditions imply at these weights; `upper` supplies the margins."""
    (outputs, _), level, bias = task.evaluate(upper.coefficients), upper.risk.level, upper.risk.bias
    free, alpha = settled(alpha, task.box, task.y * (outputs + bias) - level, level)
    if not free.any() or not weights.any():
        return alpha
    hessian = task.y[:, None] * task.combined(weights) * task.y
    rows, totals = task.equalities()
    columns = rows[:, free]
    multipliers = np.array([bias] * task.bias + [-level] * task.loss_function.free_margin)
    gradient = gain_slope(task)[free] - hessian[free] @ alpha - columns.T @ multipliers
    alpha[free] += _step(hessian[np.ix_(free, free)], columns, gradient, totals - rows @ alpha, cutoff=1e-14)
    return alpha


def _step(hessian: Array, rows: Array, gradient: Array, missing: Any, cutoff: float) -> Array:
    """The least step that the free samples' gradient and what the equalities lack ask for."""
    system = np.block([[hessian, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    return np.asarray(np.linalg.lstsq(system, np.concatenate([gradient, missing]), rcond=cutoff)[0][: len(hessian)])


def settled(alpha: Array, box: Array, excess: Array, level: float) -> tuple[NDArray[np.bool_], Array]:
    """Which samples are free, and α with the others put at their bounds: the larger of two distances decides. `excess`
    is what the margins have over `level`."""
    share, excess = alpha / box, excess / max(abs(level), np.finfo(float).tiny)
    at_zero, at_box = excess > share, -excess > 1 - share
    return ~(at_zero | at_box), np.where(at_zero, 0.0, np.where(at_box, box, alpha))


def gain_slope(task: Task) -> Array:
    """The gradient of gain(α), which is linear for the losses that solvers take."""
    return task.loss_function.gradient(np.zeros(task.samples), task.box)


def refined(task: Task, working: Task, weights: Array, alpha: Array, rounds: int = 4) -> tuple[Array, Array]:
    """α in two parts, of which the second is far below the last bits of the first, so that the margins of the free
    samples are what they should be: the same equations, with residuals from products in slices. `task` has the kernels
    as they are stored, `working` the same problem in centred coordinates."""
    kernel = working.combined(weights)
    rows, totals = task.equalities()
    alpha, low = task.feasible(alpha), np.zeros(task.samples)
    for _ in range(rounds):
        outputs = weights @ seen(task, alpha * task.y, task.bias, sliced=True).z + kernel @ low
        risk = task.risk(outputs)
        excess = task.y * (outputs + risk.bias) - risk.level
        free, moved = settled(alpha, task.box, excess, risk.level)
        if not free.any():
            return task.feasible(moved), np.zeros(task.samples)
        columns = (rows * task.y)[:, free]  # of β: Σβ = 0, and y'β = 1 for loss nu
        change = (moved - alpha) * task.y
        low = np.where(free, low, 0.0)
        wanted = -(task.y * excess + kernel @ change)[free]
        missing = [
            math.fsum([total, *(-row * moved), *(-row * task.y * low)]) for row, total in zip(rows, totals, strict=True)
        ]
        low[free] += _step(kernel[np.ix_(free, free)], columns, wanted, missing, cutoff=1e-15)
        whole = task.feasible(np.where(free, alpha + task.y * low, moved))
        low = np.where(free, ((alpha - whole) * task.y) + low, 0.0)
        alpha = whole
    return alpha, balanced(low) if task.bias else low


def balanced(values: Array, at: int | None = None) -> Array:
    """On a grid, with the sum zero exactly: the largest entry, or the one that is named, makes up for the others."""
    size = float(np.abs(values).sum())
    if not 0 < size < np.inf:
        return values
    unit = 2.0 ** (np.frexp(2.02 * size)[1] - 52)
    steps = np.rint(values / unit)
    steps[np.argmax(np.abs(steps)) if at is None else at] -= steps.sum()
    return np.asarray(steps * unit)
