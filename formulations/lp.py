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

import numpy as np

from ._cvxpy import cp
from ._formulation import Parameter
from .families.single_task import Array, Constraint, Functions, Multipliers, OnWeights, Regulariser


def norm(x: Array, p: float) -> float:
    """‖x‖_p of a non-negative vector, safe from overflow for large p."""
    largest = x.max()
    if largest == 0 or np.isinf(p):
        return float(largest)
    return float(largest * np.sum((x / largest) ** p) ** (1 / p))


class PowerBall(Constraint):
    """Σ μ^p ≤ 1."""

    def value(self, mu: Array, p: float) -> Array:
        return np.asarray(mu**p)

    def slope(self, mu: Array, p: float) -> Array:
        return np.asarray(p * mu ** (p - 1))

    def curvature(self, mu: Array, p: float) -> Array:
        return np.asarray(p * (p - 1) * mu ** (p - 2))


class InPowerBall(Regulariser):
    """R(μ) = 0 where ‖μ‖_p ≤ 1."""

    constraint = PowerBall()

    def start(self, count: int, p: float) -> Array:
        return np.full(count, 0.9 * count ** (-1 / p))

    def best_weights(self, a: Array, p: float) -> Array:
        mu = (a / a.max()) ** (2 / (p + 1)) if a.any() else np.ones(len(a))
        return np.asarray(mu / norm(mu, p))

    def penalty(self, a: Array, p: float) -> float:
        return norm(a, 2 * p / (p + 1)) ** 2 / 2

    def conjugate(self, v: Array, p: float) -> float:
        return norm(v, p / (p - 1) if p > 1 else np.inf)


class LpMKL(OnWeights):
    regulariser = InPowerBall()

    def primal(self, f: Functions, p: float) -> cp.Problem:
        mu = cp.Variable(f.count, nonneg=True)
        ratios, epigraph = f.over(mu)
        ball = cp.pnorm(mu, p, approx=False) <= 1
        return cp.Problem(cp.Minimize(cp.sum(ratios) / 2 + f.risk), [f.margins, *epigraph, ball])

    def dual(self, alpha: Multipliers, p: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        v = cp.Variable(alpha.count)
        cuts = [half_q <= v[m] for m, half_q in enumerate(alpha.half_q)]
        cost = cp.pnorm(v, p / (p - 1), approx=False) if p > 1 else cp.max(v)
        return cp.Problem(cp.Maximize(alpha.gain - cost), [*alpha.feasible, *cuts]), cuts


BALL = Parameter("p", "norm of the ball of weights", "p ≥ 1", lambda v, _: v >= 1, lambda _: 1.5, "3/2")

LP = LpMKL("lp", "weights in the ℓp ball", "Kloft et al. 2011", __doc__, (BALL,))

if __name__ == "__main__":
    LP.demonstrate()
