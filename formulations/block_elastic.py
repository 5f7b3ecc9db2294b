"""block_elastic — the elastic net on the functions' norms: between `l1` and `sum`.

    primal   min over f_1..f_M, b          ½ [r (Σ_m ‖f_m‖)² + (1−r) Σ_m ‖f_m‖²] + risk(Σ_m f_m + b)
    dual     max over α ∈ S, d, ζ, τ ≥ 0   gain(α) − τ²/(2r) − Σ_m ζ_m²/(2(1−r)),      √q_m(α) ≤ d_m,  ζ_m ≥ d_m − τ

A term whose share is zero is left out: r = 0 has τ = 0, r = 1 has ζ = 0.
From one to the other. d is in the subdifferential of the penalty where d_m = rΣa + (1−r)a_m for a_m > 0 and d_m ≤ rΣa
for a_m = 0. With τ = rΣa and ζ_m = (1−r)a_m the conjugate is the sum of both conjugates, least over all ways to write
d_m ≤ τ + ζ_m.

    recovery      f_m = μ_m K_m(α∘y),   μ_m = ‖f_m‖/(rΣ‖f‖ + (1−r)‖f_m‖)
    multipliers   ‖f_m‖ are those of √q_m(α) ≤ d_m; tau = rΣ‖f‖, the least √q_m that a kernel needs to be used:
                  τ = max over k of r(d_1 + … + d_k)/(1 − r + rk), d sorted down

As a regulariser on weights: R(μ) = 0 where Σ_m rμ_m/(1 − (1−r)μ_m) ≤ 1, 0 ≤ μ ≤ 1. For ½ r (Σa)² is the minimum of
½ r Σ a²/t over shares t on the simplex, so that μ_m = t_m/(r + (1−r)t_m), and Σt = 1 is the constraint.
R*(½d²) = min over τ ≥ 0 of τ²/(2r) + Σ (d_m − τ)₊²/(2(1−r)).
Parameters: l1_ratio = r in [0, 1], default ½.
Degenerate cases: r = 1 is `l1`, r = 0 is `sum`; M = 1 is `svm`. It is not `elastic`, whose net is on the weights.

Reference: Bach et al. 2004, with a ridge for every kernel; Tomioka & Suzuki 2009.
"""

from __future__ import annotations

import numpy as np

from ._cvxpy import cp
from .elastic import RATIO
from .families.single_task import Array, Constraint, Elementwise, Functions, Multipliers, OnWeights, Regulariser


class Shares(Constraint):
    """Σ rμ/(1 − (1−r)μ) ≤ 1: the shares of the norms sum to one. Beyond the pole they are infinite."""

    def value(self, mu: Array, l1_ratio: float) -> Array:
        room = self._room(mu, l1_ratio)
        return np.divide(l1_ratio * mu, room, out=np.full(len(mu), np.inf), where=room > 0)

    def slope(self, mu: Array, l1_ratio: float) -> Array:
        return np.asarray(l1_ratio / self._room(mu, l1_ratio) ** 2)

    def curvature(self, mu: Array, l1_ratio: float) -> Array:
        return np.asarray(2 * l1_ratio * (1 - l1_ratio) / self._room(mu, l1_ratio) ** 3)

    def _room(self, mu: Array, r: float) -> Array:
        """1 − (1−r)μ, which is r at μ = 1 despite rounding."""
        return np.asarray(r + (1 - r) * (1 - mu))


class NetShares(Elementwise):
    """μ = t/(r + (1−r)t): concave in the shares t, and without the pole of its inverse."""

    def value(self, t: Array, l1_ratio: float) -> Array:
        return t / (l1_ratio + (1 - l1_ratio) * t)

    def slope(self, t: Array, l1_ratio: float) -> Array:
        return np.asarray(l1_ratio / (l1_ratio + (1 - l1_ratio) * t) ** 2)

    def curvature(self, t: Array, l1_ratio: float) -> Array:
        return np.asarray(-2 * l1_ratio * (1 - l1_ratio) / (l1_ratio + (1 - l1_ratio) * t) ** 3)


SHARES, OF_SHARES = Shares(), NetShares()


class InBlockNet(Regulariser):
    """R(μ) = 0 where the shares sum to at most one."""

    constraint, of_shares = SHARES, OF_SHARES

    def start(self, count: int, l1_ratio: float) -> Array:
        return np.ones(count) if l1_ratio == 0 else OF_SHARES.value(np.full(count, 1 / count), l1_ratio)

    def alone(self, count: int, l1_ratio: float) -> bool:
        return l1_ratio == 0

    def best_weights(self, a: Array, l1_ratio: float) -> Array:
        shares = a / a.sum() if a.any() else np.full(len(a), 1 / len(a))
        return np.ones(len(a)) if l1_ratio == 0 else OF_SHARES.value(shares, l1_ratio)

    def penalty(self, a: Array, l1_ratio: float) -> float:
        return float(l1_ratio * a.sum() ** 2 + (1 - l1_ratio) * (a @ a)) / 2

    def conjugate(self, v: Array, l1_ratio: float) -> float:
        d = np.sqrt(2 * v)
        tau = threshold(d, l1_ratio)
        squares = (tau**2 / l1_ratio if l1_ratio > 0 else 0.0, (np.maximum(d - tau, 0) ** 2).sum())
        return float(squares[0] + (squares[1] / (1 - l1_ratio) if l1_ratio < 1 else 0.0)) / 2

    def multipliers(self, v: Array, l1_ratio: float) -> dict[str, float]:
        return {"tau": threshold(np.sqrt(2 * v), l1_ratio)}


def threshold(d: Array, r: float) -> float:
    """The least τ²/(2r) + Σ (d − τ)₊²/(2(1−r)): with k kernels above τ, their mean with 1/r − 1 zeros beside them."""
    return float(np.max(r * np.cumsum(-np.sort(-d)) / (1 - r + r * np.arange(1, len(d) + 1))))


class BlockElastic(OnWeights):
    regulariser = InBlockNet()

    def primal(self, f: Functions, l1_ratio: float) -> cp.Problem:
        penalty = l1_ratio * cp.square(cp.sum(f.norms)) + (1 - l1_ratio) * cp.sum(f.squares)
        return cp.Problem(cp.Minimize(penalty / 2 + f.risk), [f.margins])

    def dual(self, alpha: Multipliers, l1_ratio: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        d, tau, zeta = cp.Variable(alpha.count), cp.Variable(nonneg=True), cp.Variable(alpha.count)
        cuts = [root_q <= d[m] for m, root_q in enumerate(alpha.root_q)]
        shared = cp.square(tau) / (2 * l1_ratio) if l1_ratio > 0 else 0.0
        apart = cp.sum_squares(zeta) / (2 * (1 - l1_ratio)) if l1_ratio < 1 else 0.0
        absent = [tau == 0] * (l1_ratio == 0) + [zeta == 0] * (l1_ratio == 1)
        constraints = [*alpha.feasible, *cuts, d - tau <= zeta, *absent]
        return cp.Problem(cp.Maximize(alpha.gain - shared - apart), constraints), cuts


BLOCK_ELASTIC = BlockElastic(
    "block_elastic", "elastic net on the norms", "Bach et al. 2004; Tomioka & Suzuki 2009", __doc__, (RATIO,)
)

if __name__ == "__main__":
    BLOCK_ELASTIC.demonstrate()
