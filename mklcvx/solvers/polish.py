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

import numpy as np
from numpy.typing import NDArray

from ..certificate.passes import seen
from ..formulations import Task, UpperBound

Array = NDArray[np.float64]


def sharpened(task: Task, weights: Array, alpha: Array, upper: UpperBound) -> Array:
    """The α that the optimality conditions imply at these weights; `upper` supplies the margins."""
    outputs, _ = task.evaluate(upper.coefficients)
    level = upper.risk.level
    margins = task.y * (outputs + upper.risk.bias)
    free, alpha = settled(alpha, task.box, margins - level, max(abs(level), np.finfo(float).tiny))
    if not free.any() or not weights.any():
        return alpha
    hessian = task.y[:, None] * task.combined(weights) * task.y
    rows, totals = task.equalities()
    columns = rows[:, free]
    corner = np.zeros((len(columns), len(columns)))
    system = np.block([[hessian[np.ix_(free, free)], columns.T], [columns, corner]])
    multipliers = _starting_multipliers(task, upper)
    gradient = gain_slope(task)[free] - hessian[free] @ alpha - columns.T @ multipliers
    missing = totals - rows @ alpha
    step = np.linalg.lstsq(system, np.concatenate([gradient, missing]), rcond=1e-14)[0]
    alpha[free] += step[: free.sum()]
    return alpha


def settled(alpha: Array, box: Array, excess: Array, level: float) -> tuple[NDArray[np.bool_], Array]:
    """Which samples are free, and α with the others put at their bounds: the larger of two distances decides."""
    share, excess = alpha / box, excess / level
    at_zero, at_box = excess > share, -excess > 1 - share
    return ~(at_zero | at_box), np.where(at_zero, 0.0, np.where(at_box, box, alpha))


def equalities(task: Task) -> tuple[Array, Array]:
    """The feasible set's equalities as rows and totals: y'α = 0 with a bias, 1'α = 1 for loss nu."""
    return task.equalities()


def gain_slope(task: Task) -> Array:
    """The gradient of gain(α), which is linear for the losses that solvers take."""
    return task.loss_function.gradient(np.zeros(task.samples), task.box)


def _starting_multipliers(task: Task, upper: UpperBound) -> Array:
    return np.array([upper.risk.bias] * task.bias + [-upper.risk.level] * task.loss_function.free_margin)


def refined(task: Task, working: Task, weights: Array, alpha: Array, rounds: int = 4) -> tuple[Array, Array]:
    """α in two parts, of which the second is far below the last bits of the first, so that the margins of the free
    samples are what they should be: the same equations, with residuals from products in slices. `task` has the kernels
    as they are stored, `working` the same problem in centred coordinates."""
    kernel = working.combined(weights)
    rows, totals = task.equalities()
    alpha, low = task.feasible(alpha), np.zeros(task.samples)
    for _ in range(rounds):
        found = seen(task, alpha * task.y, task.bias, sliced=True)
        outputs = weights @ found.z + kernel @ low
        risk = task.risk(outputs)
        level = risk.level
        excess = task.y * (outputs + risk.bias) - level
        free, moved = settled(alpha, task.box, excess, max(abs(level), np.finfo(float).tiny))
        if not free.any():
            return task.feasible(moved), np.zeros(task.samples)
        columns = (rows * task.y)[:, free]  # of β: Σβ = 0, and y'β = 1 for loss nu
        system = np.block([[kernel[np.ix_(free, free)], columns.T], [columns, np.zeros((len(rows), len(rows)))]])
        change = (moved - alpha) * task.y
        low = np.where(free, low, 0.0)
        wanted = -(task.y * excess + kernel @ change)[free]
        missing = [
            math.fsum([total, *(-row * moved), *(-row * task.y * low)]) for row, total in zip(rows, totals, strict=True)
        ]
        step = np.linalg.lstsq(system, np.concatenate([wanted, missing]), rcond=1e-15)[0][: free.sum()]
        low[free] += step
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
