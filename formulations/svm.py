"""svm — the support vector machine: one kernel, the root of the tree.

    primal   min over f, b      ½ ‖f‖² + risk(f + b)
    dual     max over α ∈ S     gain(α) − ½ q(α),          q(α) = (α∘y)'K(α∘y)

From one to the other. The Lagrangian of the primal has a multiplier α_i for every margin constraint.
Stationarity in f gives f = K(α∘y), in b it gives y'α = 0, in the slacks α ≤ C. Putting f back leaves −½ q(α).

    recovery      f = K(α∘y): weight 1;  b from the margins of the samples with 0 < α_i < C
    multipliers   none beyond α

Both losses: `c` (C-SVC; gain = 1'α) and `nu` (gain = 0, 1'α = 1). With `nu` the solution has rho, the margin.
Degenerate cases: without a sample strictly between its bounds the bias is an interval; its middle is returned.

Reference: Cortes & Vapnik 1995; for the ν-form Schölkopf et al. 2000, as in Xu et al. 2013, Eqs (2) to (4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._dual import DualProgram, Multipliers
from ._primal import Functions, PrimalProgram
from ._regulariser import fixed
from .families.single_task import SingleTask
from .families.task import Array, Task


def primal(task: Task) -> PrimalProgram:
    f = Functions(task)
    return f.program(f.squares[0] / 2)


def dual(task: Task) -> DualProgram:
    alpha = Multipliers(task)
    return alpha.program(alpha.half_q[0])


def penalty(a: Array) -> float:
    return float(a[0] ** 2 / 2)


def conjugate(d: Array) -> float:
    return float(d[0] ** 2 / 2)


def weights(a: Array, d: Array) -> Array:
    return np.ones(1)


def multipliers(a: Array, d: Array) -> dict[str, Any]:
    return {}


SVM = SingleTask(
    name="svm",
    title="one kernel",
    reference="Cortes & Vapnik 1995",
    theorem=__doc__,
    parameters=(),
    primal=primal,
    dual=dual,
    penalty=penalty,
    conjugate=conjugate,
    weights=weights,
    multipliers=multipliers,
    regulariser=fixed(np.ones),
    single_kernel=True,
)
