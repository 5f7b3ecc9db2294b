"""lp — Lp-MKL: weights in the ℓp ball, from sparse (p = 1) to uniform (p → ∞).

    primal   min over μ ≥ 0, f_1..f_M, b    ½ Σ_m ‖f_m‖²/μ_m + risk(Σ_m f_m + b),      ‖μ‖_p ≤ 1
    dual     max over α ∈ S, v              gain(α) − ‖v‖_{p/(p−1)},                   ½ q_m(α) ≤ v_m

From one to the other. The support function of the ℓp ball is the norm with the conjugate exponent p/(p−1).

    recovery      f_m = μ_m K_m(α∘y),   μ_m ∝ ‖f_m‖^{2/(p+1)}
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ v_m; tau = ‖v‖_{p/(p−1)}

As a regulariser on weights: R(μ) = 0 in the ball, R*(v) = ‖v‖_{p/(p−1)}. In terms of norms the penalty is
½ (Σ_m ‖f_m‖^{2p/(p+1)})^{(p+1)/p}.
Parameters: p ≥ 1, default 3/2.
Degenerate cases: p = 1 is `l1`, p = 2 is `l2`, p → ∞ tends to `sum`; M = 1 is `svm`.

Reference: Kloft et al. 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._cvxpy import cp
from ._dual import DualProgram, Multipliers
from ._formulation import Parameter
from ._primal import Functions, PrimalProgram
from ._regulariser import Constraint, Regulariser
from .families.single_task import SingleTask
from .families.task import Array, Task


def primal(task: Task, p: float) -> PrimalProgram:
    f, mu = Functions(task), cp.Variable(task.count, nonneg=True)
    ratios, epigraph = f.over(mu)
    return f.program(cp.sum(ratios) / 2, [*epigraph, cp.pnorm(mu, p, approx=False) <= 1])


def dual(task: Task, p: float) -> DualProgram:
    alpha, v = Multipliers(task), cp.Variable(task.count)
    cost = cp.pnorm(v, p / (p - 1), approx=False) if p > 1 else cp.max(v)
    return alpha.program(cost, cuts=[half_q <= v[m] for m, half_q in enumerate(alpha.half_q)])


def penalty(a: Array, p: float) -> float:
    return norm(a, 2 * p / (p + 1)) ** 2 / 2


def conjugate(d: Array, p: float) -> float:
    return norm(d**2 / 2, p / (p - 1) if p > 1 else np.inf)


def norm(x: Array, p: float) -> float:
    """‖x‖_p of a non-negative vector, safe from overflow for large p."""
    largest = x.max()
    if largest == 0 or np.isinf(p):
        return float(largest)
    return float(largest * np.sum((x / largest) ** p) ** (1 / p))


def weights(a: Array, d: Array, p: float) -> Array:
    mu = (a / a.max()) ** (2 / (p + 1)) if a.any() else np.ones(len(a))
    return mu / norm(mu, p)


def multipliers(a: Array, d: Array, p: float) -> dict[str, Any]:
    return {"tau": conjugate(d, p)}


BALL = Parameter("p", "norm of the ball of weights", "p ≥ 1", lambda v, _: v >= 1, lambda _: 1.5, "3/2")

LP = SingleTask(
    name="lp",
    title="weights in the ℓp ball",
    reference="Kloft et al. 2011",
    theorem=__doc__,
    parameters=(BALL,),
    primal=primal,
    dual=dual,
    penalty=penalty,
    conjugate=conjugate,
    weights=weights,
    multipliers=multipliers,
    regulariser=Regulariser(
        Constraint(lambda mu, p: mu**p, lambda mu, p: p * mu ** (p - 1), lambda mu, p: p * (p - 1) * mu ** (p - 2)),
        start=lambda count, p: np.full(count, 0.9 * count ** (-1 / p)),
    ),
)
