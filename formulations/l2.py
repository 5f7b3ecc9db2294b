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

import numpy as np

from ._cvxpy import cp
from .families.single_task import Array, Constraint, Functions, Multipliers, OnWeights, Regulariser


class Ball(Constraint):
    """Σ μ² ≤ 1."""

    def value(self, mu: Array) -> Array:
        return mu**2

    def slope(self, mu: Array) -> Array:
        return 2 * mu

    def curvature(self, mu: Array) -> Array:
        return np.full(len(mu), 2.0)


class InBall(Regulariser):
    """R(μ) = 0 where ‖μ‖₂ ≤ 1."""

    constraint = Ball()

    def start(self, count: int) -> Array:
        return np.full(count, 0.9 / np.sqrt(count))

    def best_weights(self, a: Array) -> Array:
        mu = np.cbrt(a / a.max()) ** 2 if a.any() else np.ones(len(a))
        return mu / np.linalg.norm(mu)

    def penalty(self, a: Array) -> float:
        return float(np.sum(a ** (4 / 3)) ** (3 / 2) / 2)

    def conjugate(self, v: Array) -> float:
        return float(np.linalg.norm(v))


class L2MKL(OnWeights):
    regulariser = InBall()

    def primal(self, f: Functions) -> cp.Problem:
        mu = cp.Variable(f.count, nonneg=True)
        ratios, epigraph = f.over(mu)
        return cp.Problem(cp.Minimize(cp.sum(ratios) / 2 + f.risk), [f.margins, *epigraph, cp.norm(mu) <= 1])

    def dual(self, alpha: Multipliers) -> tuple[cp.Problem, list[cp.Constraint]]:
        v = cp.Variable(alpha.count)
        cuts = [half_q <= v[m] for m, half_q in enumerate(alpha.half_q)]
        return cp.Problem(cp.Maximize(alpha.gain - cp.norm(v)), [*alpha.feasible, *cuts]), cuts


L2 = L2MKL("l2", "weights in the ℓ2 ball", "Cortes et al. 2009; Kloft et al. 2011", __doc__, ())

if __name__ == "__main__":
    L2.demonstrate()
