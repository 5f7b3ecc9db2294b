"""Single tasks: gain(α) − U*(√q(α)) ≤ optimum ≤ U(‖f‖) + risk(f), in balls.

α is clipped to its box C_i = C·(weight of sample i), an exact product (loss nu: C = 1/(νn), an exact quotient), and
both classes are made to sum to the same exactly (loss nu: to ½ each; without bias to 1 together). The functions
f_m = K_m c_m, the bias and ρ need no repair: any values give an upper bound. A ν at its limit may lie beyond it by
rounding, as 4/5 does; then it stands for the limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

from ..formulations import SingleTask, Task
from ..instance import Instance
from ..solution import Solution
from .balls import added, exact, exacts, filled, top, total
from .penalties import ABOVE, case_of
from .semidefinite import KernelBalls, as_balls

Enclosure = tuple[arb, arb]


def bounds(
    formulation: SingleTask, task: Task, kernels: KernelBalls, instance: Instance, solution: Solution
) -> Enclosure:
    coefficients, found = solution.all_coefficients, np.asarray(solution.alpha, dtype=float)
    case = case_of(formulation, task.own, task.evaluate(coefficients)[1], task.correlations(found))
    penalty, conjugate = ABOVE[formulation.name]
    box = roomy(task, exact_box(instance, solution.parameters))
    alpha = exactly_feasible(task, exacts(found), box)
    gain = arb(total(alpha)) if task.loss == "c" else arb(0)
    lower = gain - conjugate(correlations(task, kernels, alpha), case)
    columns = [as_balls(row[:, None]) for row in coefficients]
    applied = [kernels.applied(m, column) for m, column in enumerate(columns)]
    outputs = [added(values) for values in zip(*(image.entries() for image, _ in applied), strict=True)]
    return lower, penalty([square for _, (square,) in applied], case) + risk(task, outputs, box)


def exact_box(instance: Instance, parameters: Mapping[str, Any]) -> list[fmpq]:
    """C times the weights of the samples."""
    nu = parameters.get("nu")
    price = exact(parameters["C"]) if nu is None else 1 / (exact(nu) * instance.samples)
    return [price * weight for weight in exacts(instance.sample_weight)]


def roomy(task: Task, box: list[fmpq]) -> list[fmpq]:
    """The box of loss nu, widened to the least that is not empty where rounding has put ν beyond its limit."""
    if task.loss == "c":
        return box
    sides = [total(cap for cap, sign in zip(box, task.y, strict=True) if sign == side) for side in (1, -1)]
    room = 2 * min(sides) if task.bias else sum(sides)
    return [cap / room for cap in box] if room < 1 else box


def exactly_feasible(task: Task, alpha: list[fmpq], box: list[fmpq]) -> list[fmpq]:
    """α in S, or in A, to the last digit."""
    alpha = [min(max(value, fmpq(0)), cap) for value, cap in zip(alpha, box, strict=True)]
    if not task.bias:
        return alpha if task.loss == "c" else filled(alpha, box, fmpq(1))
    sides = [np.flatnonzero(task.y > 0), np.flatnonzero(task.y < 0)]
    least = min(total(alpha[i] for i in side) for side in sides)
    target = least if task.loss == "c" else fmpq(1, 2)
    for side in sides:
        moved = filled([alpha[i] for i in side], [box[i] for i in side], target)
        for i, value in zip(side, moved, strict=True):
            alpha[i] = value
    return alpha


def correlations(task: Task, kernels: KernelBalls, alpha: list[fmpq]) -> list[arb]:
    """q_m(α) from above."""
    signed = [arb(value if sign > 0 else -value) for value, sign in zip(alpha, task.y, strict=True)]
    column = arb_mat(len(signed), 1, signed)
    return [kernels.applied(m, column)[1][0] for m in range(len(kernels))]


def risk(task: Task, outputs: list[arb], box: list[fmpq]) -> arb:
    """The risk at the bias (and ρ) that double precision finds best."""
    found = task.risk(np.array([float(value) for value in outputs]))
    bias, level = arb(found.bias), arb(1.0 if found.rho is None else found.rho)
    loss = hinge(outputs, task.y, box, bias, level)
    return loss if found.rho is None else loss - level


def hinge(outputs: list[arb], signs: Any, box: list[fmpq], bias: arb, level: arb) -> arb:
    """Σ_i C_i max(0, level − y_i (f(x_i) + bias)), from above."""
    short = (top(level - int(sign) * (value + bias)) for value, sign in zip(outputs, signs, strict=True))
    return added(arb(price) * missing for price, missing in zip(box, short, strict=True))
