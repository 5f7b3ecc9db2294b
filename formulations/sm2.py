"""sm2 — soft margin MKL with the square hinge loss: the simplex with an ℓ2 penalty, an elastic net on weights.

    primal   min over μ, f_1..f_M, b    ½ Σ_m ‖f_m‖²/μ_m + ‖μ‖²/(2θ) + risk(Σ_m f_m + b),    Σμ = 1,  μ ≥ 0
    dual     max over α ∈ S, τ, ζ ≥ 0   gain(α) − τ − (θ/2) Σ_m ζ_m²,                       ½ q_m(α) ≤ τ + ζ_m

From one to the other. A kernel's slack ζ_m costs (θ/2) ζ_m²; stationarity in ζ_m gives μ_m = θ ζ_m, in τ it gives
Σμ = 1. The printed Eq. (12) has +τ where its derivation needs −τ (with +τ it is unbounded).

    recovery      f_m = μ_m K_m(α∘y);  in terms of norms, μ_m³/θ + κ μ_m² = ‖f_m‖²/2 with κ such that Σμ = 1
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ τ + ζ_m; tau; zeta (M,) = μ/θ

As a regulariser on weights: R(μ) = ‖μ‖²/(2θ) on the simplex, R*(v) = min over τ of τ + (θ/2) Σ (v_m − τ)₊².
Parameters: θ > 0, default 1.
Degenerate cases: θ → ∞ tends to `l1` (value − l1 ≈ ‖μ‖²/(2θ)), θ → 0 to `average` (value − 1/(2Mθ) → average).
M = 1 is `svm` plus the constant 1/(2θ).

Reference: Xu et al. 2013, Eqs (12) to (14).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._cvxpy import cp
from ._dual import DualProgram, Multipliers
from ._primal import Functions, PrimalProgram
from ._regulariser import Regulariser
from ._roots import power_simplex
from .families.single_task import THETA, SingleTask
from .families.task import Array, Task


def primal(task: Task, theta: float) -> PrimalProgram:
    f, mu = Functions(task), cp.Variable(task.count, nonneg=True)
    ratios, epigraph = f.over(mu)
    return f.program(cp.sum(ratios) / 2 + cp.sum_squares(mu) / (2 * theta), [*epigraph, cp.sum(mu) == 1])


def dual(task: Task, theta: float) -> DualProgram:
    alpha, tau, zeta = Multipliers(task), cp.Variable(), cp.Variable(task.count, nonneg=True)
    cuts = [half_q <= tau + zeta[m] for m, half_q in enumerate(alpha.half_q)]
    return alpha.program(tau + theta / 2 * cp.sum_squares(zeta), cuts)


def penalty(a: Array, theta: float) -> float:
    mu = power_simplex(a, 1 / theta, 2)
    used = a > 0
    return float(np.sum(a[used] ** 2 / mu[used]) / 2 + mu @ mu / (2 * theta))


def conjugate(d: Array, theta: float) -> float:
    tau = threshold(d, theta)
    return float(tau + theta / 2 * np.sum(np.maximum(d**2 / 2 - tau, 0) ** 2))


def threshold(d: Array, theta: float) -> float:
    """The τ with θ Σ (½d² − τ)₊ = 1: the water level of the projection onto the simplex."""
    v = np.sort(d**2 / 2)[::-1]
    levels = (np.cumsum(v) - 1 / theta) / np.arange(1, len(v) + 1)
    return float(levels[np.flatnonzero(v >= levels)[-1]])


def weights(a: Array, d: Array, theta: float) -> Array:
    return power_simplex(a, 1 / theta, 2)


def multipliers(a: Array, d: Array, theta: float) -> dict[str, Any]:
    tau = threshold(d, theta)
    return {"tau": tau, "zeta": np.maximum(d**2 / 2 - tau, 0)}


SM2 = SingleTask(
    name="sm2",
    title="square hinge loss over kernels: simplex and ℓ2 penalty",
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
        value=lambda mu, theta: mu**2 / (2 * theta),
        slope=lambda mu, theta: mu / theta,
        curvature=lambda mu, theta: np.full(len(mu), 1 / theta),
    ),
    rescale=lambda own, factor: {"theta": own["theta"] / factor},
)
