"""l2 — L2-MKL: weights in the Euclidean ball.

    primal   min over μ ≥ 0, f_1..f_M, b    ½ Σ_m ‖f_m‖²/μ_m + risk(Σ_m f_m + b),      ‖μ‖₂ ≤ 1
    dual     max over α ∈ S, v              gain(α) − ‖v‖₂,                            ½ q_m(α) ≤ v_m

From one to the other. max over the ball of Σ μ_m v_m is ‖v‖₂, attained at μ = v/‖v‖₂.

    recovery      f_m = μ_m K_m(α∘y),   μ_m ∝ ‖f_m‖^{2/3}
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ v_m; tau = ‖v‖₂

As a regulariser on weights: R(μ) = 0 in the ball, R*(v) = ‖v‖₂. In terms of norms the penalty is
½ (Σ_m ‖f_m‖^{4/3})^{3/2}.
Degenerate cases: M = 1 is `svm`; it is `lp` at p = 2 and `elastic` at l1_ratio = 0. Every kernel that sees the
solution, q_m > 0, has positive weight.

Reference: Cortes et al. 2009; Kloft et al. 2011; Xu et al. 2013, Proposition 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._cvxpy import cp
from ._dual import DualProgram, Multipliers
from ._primal import Functions, PrimalProgram
from ._regulariser import Constraint, Regulariser
from .families.single_task import SingleTask
from .families.task import Array, Task


def primal(task: Task) -> PrimalProgram:
    f, mu = Functions(task), cp.Variable(task.count, nonneg=True)
    ratios, epigraph = f.over(mu)
    return f.program(cp.sum(ratios) / 2, [*epigraph, cp.norm(mu) <= 1])


def dual(task: Task) -> DualProgram:
    alpha, v = Multipliers(task), cp.Variable(task.count)
    return alpha.program(cp.norm(v), cuts=[half_q <= v[m] for m, half_q in enumerate(alpha.half_q)])


def penalty(a: Array) -> float:
    return float(np.sum(a ** (4 / 3)) ** (3 / 2) / 2)


def conjugate(d: Array) -> float:
    return float(np.linalg.norm(d**2 / 2))


def weights(a: Array, d: Array) -> Array:
    mu = np.cbrt(a / a.max()) ** 2 if a.any() else np.ones(len(a))
    return mu / np.linalg.norm(mu)


def multipliers(a: Array, d: Array) -> dict[str, Any]:
    return {"tau": conjugate(d)}


L2 = SingleTask(
    name="l2",
    title="weights in the ℓ2 ball",
    reference="Cortes et al. 2009; Kloft et al. 2011",
    theorem=__doc__,
    parameters=(),
    primal=primal,
    dual=dual,
    penalty=penalty,
    conjugate=conjugate,
    weights=weights,
    multipliers=multipliers,
    regulariser=Regulariser(
        Constraint(lambda mu: mu**2, lambda mu: 2 * mu, lambda mu: np.full(len(mu), 2.0)),
        start=lambda count: np.full(count, 0.9 / np.sqrt(count)),
    ),
)
