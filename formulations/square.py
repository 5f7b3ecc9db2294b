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

import numpy as np

from ._cvxpy import cp
from .families.single_task import THETA, Array, Functions, Multipliers
from .sm2 import SquaredOnSimplex, SquareHingeOverKernels


class SquaredWeights(SquaredOnSimplex):
    """R(μ) = ‖μ‖²/(2θ)."""

    constraint = None

    def best_weights(self, a: Array, theta: float) -> Array:
        return np.cbrt(theta * a**2 / 2)

    def penalty(self, a: Array, theta: float) -> float:
        return float(3 / 2 * (4 * theta) ** (-1 / 3) * np.sum(a ** (4 / 3)))

    def conjugate(self, v: Array, theta: float) -> float:
        return self.price(v, theta)

    def multipliers(self, v: Array, theta: float) -> dict[str, float | Array]:
        return {"zeta": v}


class SquareOverKernels(SquareHingeOverKernels):
    regulariser = SquaredWeights()

    def primal(self, f: Functions, theta: float) -> cp.Problem:
        mu = cp.Variable(f.count, nonneg=True)
        ratios, epigraph = f.over(mu)
        objective = cp.sum(ratios) / 2 + cp.sum_squares(mu) / (2 * theta) + f.risk
        return cp.Problem(cp.Minimize(objective), [f.margins, *epigraph])

    def dual(self, alpha: Multipliers, theta: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        v = cp.Variable(alpha.count)
        cuts = [half_q <= v[m] for m, half_q in enumerate(alpha.half_q)]
        return cp.Problem(cp.Maximize(alpha.gain - theta / 2 * cp.sum_squares(v)), [*alpha.feasible, *cuts]), cuts


SQUARE = SquareOverKernels(
    "square", "square loss over kernels: ℓ2 penalty on the weights", "Xu et al. 2013", __doc__, (THETA,)
)

if __name__ == "__main__":
    SQUARE.demonstrate()
