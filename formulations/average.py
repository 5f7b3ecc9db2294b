"""average — the average kernel: the baseline that multiple kernel learning has to beat.

    primal   min over f_1..f_M, b    (M/2) Σ_m ‖f_m‖² + risk(Σ_m f_m + b)
    dual     max over α ∈ S          gain(α) − (1/2M) Σ_m q_m(α)

From one to the other. As for `sum`, with every kernel divided by M: f_m = (1/M) K_m(α∘y).

    recovery      weights 1/M
    multipliers   none beyond α

As a regulariser on weights: R(μ) = 0 at μ = 1/M and +∞ elsewhere, R*(v) = mean v. It is `sm1` at θ = 1/M, and
the limit of `sm2` for θ → 0.
Degenerate cases: M = 1 is `svm`.

Reference: Xu et al. 2013, section III-A, observation 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._cvxpy import cp
from ._dual import DualProgram, Multipliers
from ._primal import Functions, PrimalProgram
from ._regulariser import fixed
from .families.single_task import SingleTask
from .families.task import Array, Task


def primal(task: Task) -> PrimalProgram:
    f = Functions(task)
    return f.program(task.count * cp.sum(f.squares) / 2)


def dual(task: Task) -> DualProgram:
    alpha = Multipliers(task)
    return alpha.program(cp.sum(alpha.half_q) / task.count)


def penalty(a: Array) -> float:
    return float(len(a) * (a @ a) / 2)


def conjugate(d: Array) -> float:
    return float(d @ d / (2 * len(d)))


def weights(a: Array, d: Array) -> Array:
    return np.full(len(a), 1 / len(a))


def multipliers(a: Array, d: Array) -> dict[str, Any]:
    return {}


AVERAGE = SingleTask(
    name="average",
    title="the average of the kernels",
    reference="Xu et al. 2013",
    theorem=__doc__,
    parameters=(),
    primal=primal,
    dual=dual,
    penalty=penalty,
    conjugate=conjugate,
    weights=weights,
    multipliers=multipliers,
    regulariser=fixed(lambda count: np.full(count, 1 / count)),
)
