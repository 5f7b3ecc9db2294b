"""square — soft margin MKL with the square loss: an ℓ2 penalty on the weights and no simplex.

    primal   min over μ ≥ 0, f_1..f_M, b    ½ Σ_m ‖f_m‖²/μ_m + ‖μ‖²/(2θ) + risk(Σ_m f_m + b)
    dual     max over α ∈ S, v              gain(α) − (θ/2) Σ_m v_m²,              ½ q_m(α) ≤ v_m

From one to the other. It is `sm2` with the margin τ held at zero, which frees the sum of the weights.

    recovery      f_m = μ_m K_m(α∘y),   μ_m = θ v_m = (θ ‖f_m‖²/2)^{1/3}
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ v_m; zeta (M,) = v, the kernels' slacks

As a regulariser on weights: R(μ) = ‖μ‖²/(2θ), R*(v) = (θ/2) ‖v‖². In terms of norms the penalty is
(3/2)(4θ)^{−1/3} Σ_m ‖f_m‖^{4/3}.
Parameters: θ > 0, default 1.
Degenerate cases: its α is that of `l2` exactly when θ = 1/‖½q(α)‖₂ (loss nu: for every θ).

Reference: Xu et al. 2013, Eqs (15), (16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._cvxpy import cp
from ._dual import DualProgram, Multipliers
from ._primal import Functions, PrimalProgram
from ._regulariser import Regulariser
from .families.single_task import THETA, SingleTask
from .families.task import Array, Task


def primal(task: Task, theta: float) -> PrimalProgram:
    f, mu = Functions(task), cp.Variable(task.count, nonneg=True)
    ratios, epigraph = f.over(mu)
    return f.program(cp.sum(ratios) / 2 + cp.sum_squares(mu) / (2 * theta), epigraph)


def dual(task: Task, theta: float) -> DualProgram:
    alpha, v = Multipliers(task), cp.Variable(task.count)
    return alpha.program(theta / 2 * cp.sum_squares(v), cuts=[half_q <= v[m] for m, half_q in enumerate(alpha.half_q)])


def penalty(a: Array, theta: float) -> float:
    return float(3 / 2 * (4 * theta) ** (-1 / 3) * np.sum(a ** (4 / 3)))


def conjugate(d: Array, theta: float) -> float:
    return float(theta / 2 * np.sum((d**2 / 2) ** 2))


def weights(a: Array, d: Array, theta: float) -> Array:
    return np.cbrt(theta * a**2 / 2)


def multipliers(a: Array, d: Array, theta: float) -> dict[str, Any]:
    return {"zeta": d**2 / 2}


SQUARE = SingleTask(
    name="square",
    title="square loss over kernels: ℓ2 penalty on the weights",
    reference="Xu et al. 2013",
    theorem=__doc__,
    parameters=(THETA,),
    primal=primal,
    dual=dual,
    penalty=penalty,
    conjugate=conjugate,
    weights=weights,
    multipliers=multipliers,
    regulariser=Regulariser(
        constraint=None,
        value=lambda mu, theta: mu**2 / (2 * theta),
        slope=lambda mu, theta: mu / theta,
        curvature=lambda mu, theta: np.full(len(mu), 1 / theta),
    ),
    rescale=lambda own, factor: {"theta": own["theta"] / factor},
)
