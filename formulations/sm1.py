"""sm1 — soft margin MKL with the hinge loss: a box on the kernel weights.

    primal   min over μ, f_1..f_M, b    ½ Σ_m ‖f_m‖²/μ_m + risk(Σ_m f_m + b),     Σμ = 1,  0 ≤ μ ≤ θ
    dual     max over α ∈ S, τ, ζ ≥ 0   gain(α) − τ − θ Σ_m ζ_m,                  ½ q_m(α) ≤ τ + ζ_m

From one to the other. ζ_m is the slack that kernel m buys at the price θ, as ξ_i is a sample's at the price C;
accordingly its multiplier μ_m is capped by θ as α_i is by C.

    recovery      f_m = μ_m K_m(α∘y). With a = ‖f‖ sorted down and ω the least index with
                  a_{ω+1}(1 − ωθ) ≤ θ Σ_{m>ω} a_m, ω ≥ 0:  μ_m = θ for m ≤ ω, else (1 − ωθ) a_m / Σ_{m>ω} a_m,
                  or equal shares of 1 − ωθ where those norms vanish
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ τ + ζ_m; tau; zeta (M,), the kernels' slacks

As a regulariser on weights: R(μ) = 0 on the capped simplex, R*(v) = min over τ of τ + θ Σ (v_m − τ)₊.
Parameters: θ ≥ 1/M, else no weights sum to one. Default 2/M (1 if M = 1).
Degenerate cases: θ = 1/M is `average`, θ ≥ 1 is `l1`. At θ = 1/k the penalty is k/2 times the squared k-support
norm of ‖f‖.

Reference: Xu et al. 2013, Eqs (10), (11), (17) and Lemma 8, with ≤ in place of < so that θ = 1/M has a solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._cvxpy import cp
from ._dual import DualProgram, Multipliers
from ._formulation import Parameter
from ._primal import Functions, PrimalProgram
from ._regulariser import Regulariser
from .families.single_task import SingleTask
from .families.task import Array, Task


def primal(task: Task, theta: float) -> PrimalProgram:
    f, mu = Functions(task), cp.Variable(task.count, nonneg=True)
    ratios, epigraph = f.over(mu)
    return f.program(cp.sum(ratios) / 2, [*epigraph, cp.sum(mu) == 1, mu <= theta])


def dual(task: Task, theta: float) -> DualProgram:
    alpha, tau, zeta = Multipliers(task), cp.Variable(), cp.Variable(task.count, nonneg=True)
    cuts = [half_q <= tau + zeta[m] for m, half_q in enumerate(alpha.half_q)]
    return alpha.program(tau + theta * cp.sum(zeta), cuts)


def penalty(a: Array, theta: float) -> float:
    used = a > 0
    return float(np.sum(a[used] ** 2 / best_weights(a, theta)[used]) / 2)


def conjugate(d: Array, theta: float) -> float:
    tau = threshold(d, theta)
    return float(tau + theta * np.maximum(d**2 / 2 - tau, 0).sum())


def best_weights(a: Array, theta: float) -> Array:
    """Lemma 8: the largest norms are capped, the others share what is left in proportion to their norms."""
    order = np.argsort(-a, kind="stable")
    tails = np.cumsum(a[order][::-1])[::-1]
    capped = np.arange(len(a))
    settled = a[order] * (1 - capped * theta) <= theta * tails
    omega = int(np.argmax(settled)) if settled.any() else len(a) - 1
    rest, left = order[omega:], 1 - omega * theta
    mu = np.full(len(a), theta)
    mu[rest] = left * a[rest] / tails[omega] if tails[omega] > 0 else left / len(rest)
    return mu


def threshold(d: Array, theta: float) -> float:
    """The τ where buying slack stops paying: at most 1/θ kernels lie above it."""
    above = min(int(1 / theta), len(d) - 1)
    return float(np.sort(d**2 / 2)[::-1][above])


def weights(a: Array, d: Array, theta: float) -> Array:
    return best_weights(a, theta)


def multipliers(a: Array, d: Array, theta: float) -> dict[str, Any]:
    tau = threshold(d, theta)
    return {"tau": tau, "zeta": np.maximum(d**2 / 2 - tau, 0)}


BOX = Parameter(
    "theta",
    "largest weight of a kernel",
    "θ ≥ 1/M",
    lambda v, count: v * count >= 1 - 1e-12,
    lambda count: min(1.0, 2 / count),
    "2/M",
)

SM1 = SingleTask(
    name="sm1",
    title="hinge loss over kernels: a box on the weights",
    reference="Xu et al. 2013",
    theorem=__doc__,
    parameters=(BOX,),
    primal=primal,
    dual=dual,
    penalty=penalty,
    conjugate=conjugate,
    weights=weights,
    multipliers=multipliers,
    regulariser=Regulariser(cap=lambda theta: theta, alone=lambda count, theta: theta * count <= 1 + 1e-9),
)
