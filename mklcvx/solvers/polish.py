"""Sharpen α for given kernel weights, so that weights and α alone describe the classifier.

A conic solver's α is good to seven or eight digits, and f_m = weight_m K_m(α∘y) loses some of them. But its margins
tell which samples sit at a bound. With those fixed, the optimality conditions of the SVM with kernel
K = Σ weight_m K_m are linear in the rest:

    y_i (K(α∘y))_i + y_i b = 1 for the free samples    (loss nu: = ρ),    y'α = 0    (loss nu: 1'α = 1).

The step is the one of least norm that meets them, so a singular K does no harm. The result is one more candidate for
the certificate, which alone decides.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..certificate.passes import seen
from ..formulations import Task, UpperBound
from ..problem.stack import Array


def sharpened(task: Task, weights: Array, alpha: Array, upper: UpperBound) -> Array:
    """Return the α that the optimality conditions imply at these weights; `upper` supplies the margins."""
    (outputs, _), level, bias = task.evaluate(upper.coefficients), upper.risk.level, upper.risk.bias
    free, alpha = active_set(alpha, task.box, task.y * (outputs + bias) - level, level)
    if not free.any() or not weights.any():
        return alpha
    hessian = task.y[:, None] * task.combined(weights) * task.y
    rows, totals = task.equalities()
    columns = rows[:, free]
    multipliers = np.array([bias] * task.bias + [-level] * task.loss_function.free_margin)
    gradient = gain_gradient(task)[free] - hessian[free] @ alpha - columns.T @ multipliers
    alpha[free] += _step(hessian[np.ix_(free, free)], columns, gradient, totals - rows @ alpha, cutoff=1e-14)
    return alpha


def _step(hessian: Array, rows: Array, gradient: Array, missing: Array | list[float], cutoff: float) -> Array:
    """The least-norm step that solves the optimality conditions of the free samples and the equalities."""
    system = np.block([[hessian, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    return np.asarray(np.linalg.lstsq(system, np.concatenate([gradient, missing]), rcond=cutoff)[0][: len(hessian)])


def active_set(alpha: Array, box: Array, excess: Array, level: float) -> tuple[NDArray[np.bool_], Array]:
    """Return which samples are free, and α with the others set to their bounds. `excess` is the margins minus `level`;
    a sample is at a bound if the excess is larger than α's distance from the bound, both relative."""
    share, excess = alpha / box, excess / max(abs(level), np.finfo(float).tiny)
    at_zero, at_box = excess > share, -excess > 1 - share
    return ~(at_zero | at_box), np.where(at_zero, 0.0, np.where(at_box, box, alpha))


def gain_gradient(task: Task) -> Array:
    """The gradient of gain(α), which is linear for the losses that solvers take."""
    return task.loss_function.gradient(np.zeros(task.samples), task.y, task.box)


def refined(task: Task, working: Task, weights: Array, alpha: Array, rounds: int = 4) -> tuple[Array, Array]:
    """Return α in two parts, the second far below the last bits of the first, so that the margins of the free samples
    are accurate. The equations are those of `sharpened`, with residuals from products in slices. `task` has the kernels
    as they are stored, `working` is the same problem in centred coordinates."""
    kernel = working.combined(weights)
    rows, totals = task.equalities()
    alpha, low = task.feasible(alpha), np.zeros(task.samples)
    for _ in range(rounds):
        outputs = weights @ seen(task, alpha * task.y, task.bias, sliced=True).z + kernel @ low
        risk = task.risk(outputs)
        excess = task.y * (outputs + risk.bias) - risk.level
        free, moved = active_set(alpha, task.box, excess, risk.level)
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
    """Round values to a grid so that their sum is exactly zero; the largest entry, or entry `at`, is adjusted."""
    size = float(np.abs(values).sum())
    if not 0 < size < np.inf:
        return values
    unit = 2.0 ** (np.frexp(2.02 * size)[1] - 52)
    steps = np.rint(values / unit)
    steps[np.argmax(np.abs(steps)) if at is None else at] -= steps.sum()
    return np.asarray(steps * unit)
