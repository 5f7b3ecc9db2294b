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

from collections.abc import Mapping

import numpy as np

from ._cvxpy import cp
from ._formulation import Own
from ._roots import power_simplex
from .families.single_task import THETA, Array, Functions, Multipliers, OnWeights, SoftMargin


class SquaredOnSimplex(SoftMargin):
    """R(μ) = ‖μ‖²/(2θ) where Σμ = 1."""

    def value(self, mu: Array, theta: float) -> Array:
        return mu**2 / (2 * theta)

    def slope(self, mu: Array, theta: float) -> Array:
        return mu / theta

    def curvature(self, mu: Array, theta: float) -> Array:
        return np.full(len(mu), 1 / theta)

    def best_weights(self, a: Array, theta: float) -> Array:
        return power_simplex(a, 1 / theta, 2)

    def price(self, zeta: Array, theta: float) -> float:
        return float(theta / 2 * np.sum(zeta**2))

    def threshold(self, v: Array, theta: float) -> float:
        """The τ with θ Σ (v − τ)₊ = 1: the water level of the projection onto the simplex."""
        v = np.sort(v)[::-1]
        levels = (np.cumsum(v) - 1 / theta) / np.arange(1, len(v) + 1)
        return float(levels[np.flatnonzero(v >= levels)[-1]])


class SquareHingeOverKernels(OnWeights):
    regulariser = SquaredOnSimplex()

    def primal(self, f: Functions, theta: float) -> cp.Problem:
        mu = cp.Variable(f.count, nonneg=True)
        ratios, epigraph = f.over(mu)
        objective = cp.sum(ratios) / 2 + cp.sum_squares(mu) / (2 * theta) + f.risk
        return cp.Problem(cp.Minimize(objective), [f.margins, *epigraph, cp.sum(mu) == 1])

    def dual(self, alpha: Multipliers, theta: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        tau, zeta = cp.Variable(), cp.Variable(alpha.count)  # ζ ≥ 0 at the optimum, where as a bound its price is 0
        cuts = [half_q <= tau + zeta[m] for m, half_q in enumerate(alpha.half_q)]
        objective = alpha.gain - tau - theta / 2 * cp.sum_squares(zeta)
        return cp.Problem(cp.Maximize(objective), [*alpha.feasible, *cuts]), cuts

    def rescale(self, own: Mapping[str, Own], factor: float) -> Mapping[str, Own]:
        return {"theta": own["theta"] / factor}


SM2 = SquareHingeOverKernels(
    "sm2", "square hinge loss over kernels: simplex and ℓ2 penalty", "Xu et al. 2013", __doc__, (THETA,)
)

if __name__ == "__main__":
    SM2.demonstrate()
