"""sum — the plain sum of the kernels (L2-MKL in Govindaraj 2009): nothing is learned about kernels.

    primal   min over f_1..f_M, b    ½ Σ_m ‖f_m‖² + risk(Σ_m f_m + b)
    dual     max over α ∈ S          gain(α) − ½ Σ_m q_m(α)

From one to the other. Each f_m meets the same multipliers: f_m = K_m(α∘y). The Gram matrices add up, so this is
the SVM with kernel Σ_m K_m.

    recovery      weights 1
    multipliers   none beyond α

As a regulariser on weights: R(μ) = 0 at μ = 1 and +∞ elsewhere, R*(v) = Σ v. It is the limit of `lp` for p → ∞.
Degenerate cases: M = 1 is `svm`.

Reference: Govindaraj 2009, section 3.
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
    return f.program(cp.sum(f.squares) / 2)


def dual(task: Task) -> DualProgram:
    alpha = Multipliers(task)
    return alpha.program(cp.sum(alpha.half_q))


def penalty(a: Array) -> float:
    return float(a @ a / 2)


def conjugate(d: Array) -> float:
    return float(d @ d / 2)


def weights(a: Array, d: Array) -> Array:
    return np.ones(len(a))


def multipliers(a: Array, d: Array) -> dict[str, Any]:
    return {}


SUM = SingleTask(
    name="sum",
    title="the sum of the kernels",
    reference="Govindaraj 2009",
    theorem=__doc__,
    parameters=(),
    primal=primal,
    dual=dual,
    penalty=penalty,
    conjugate=conjugate,
    weights=weights,
    multipliers=multipliers,
    regulariser=fixed(np.ones),
)
