"""l1 — L1-MKL, hard margin over kernels: a block-norm SOCP and Lanckriet's QCQP.

    primal   min over f_1..f_M, b    ½ (Σ_m ‖f_m‖)² + risk(Σ_m f_m + b)
    dual     max over α ∈ S, τ       gain(α) − τ,        ½ q_m(α) ≤ τ for every m

From one to the other. ½ (Σ a_m)² = min over μ ≥ 0, Σμ = 1 of ½ Σ a_m²/μ_m, least at μ ∝ a: the primal is an SVM
with the kernel Σ μ_m K_m, minimised over the simplex. Its dual value is max over α of gain(α) − ½ Σ μ_m q_m(α);
min over μ of a linear function sits at a corner, so exchanging min and max leaves the largest q_m.

    recovery      f_m = μ_m K_m(α∘y),   μ_m = ‖f_m‖ / Σ ‖f‖
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ τ: a kernel is used only where its constraint is tight;
                  tau, the largest ½ q_m

As a regulariser on weights: R(μ) = 0 on the simplex, R*(v) = max v.
Degenerate cases: M = 1 is `svm`. Duplicated kernels leave the value unchanged and the split between them open.
`sm1` with θ ≥ 1, `lp` with p = 1 and `elastic` with l1_ratio = 1 are this formulation.

Reference: Lanckriet et al. 2004 (QCQP); Bach et al. 2004 (block norm); Xu et al. 2013, Eqs (5) to (7).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._cvxpy import cp
from ._dual import DualProgram, Multipliers
from ._primal import Functions, PrimalProgram
from ._regulariser import Regulariser
from .families.single_task import SingleTask
from .families.task import Array, Task


def primal(task: Task) -> PrimalProgram:
    f = Functions(task)
    return f.program(cp.square(cp.sum(f.norms)) / 2)


def dual(task: Task) -> DualProgram:
    alpha, tau = Multipliers(task), cp.Variable()
    return alpha.program(tau, cuts=[half_q <= tau for half_q in alpha.half_q])


def penalty(a: Array) -> float:
    return float(a.sum() ** 2 / 2)


def conjugate(d: Array) -> float:
    return float(d.max() ** 2 / 2)


def weights(a: Array, d: Array) -> Array:
    return a / a.sum() if a.any() else np.full(len(a), 1 / len(a))


def multipliers(a: Array, d: Array) -> dict[str, Any]:
    return {"tau": conjugate(d)}


L1 = SingleTask(
    name="l1",
    title="weights on the simplex",
    reference="Lanckriet et al. 2004; Bach et al. 2004",
    theorem=__doc__,
    parameters=(),
    primal=primal,
    dual=dual,
    penalty=penalty,
    conjugate=conjugate,
    weights=weights,
    multipliers=multipliers,
    regulariser=Regulariser(),
)
