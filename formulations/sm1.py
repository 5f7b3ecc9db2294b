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

import numpy as np

from ._cvxpy import cp
from ._formulation import Parameter
from .families.single_task import Array, Functions, Multipliers, OnWeights, SoftMargin


class CappedSimplex(SoftMargin):
    """R(μ) = 0 where Σμ = 1 and μ ≤ θ."""

    def cap(self, theta: float) -> float:
        return theta

    def alone(self, count: int, theta: float) -> bool:
        return theta * count <= 1 + 1e-9

    def best_weights(self, a: Array, theta: float) -> Array:
        return best_weights(a, theta)

    def price(self, zeta: Array, theta: float) -> float:
        return float(theta * zeta.sum())

    def threshold(self, v: Array, theta: float) -> float:
        """The τ where buying slack stops paying: at most 1/θ kernels lie above it."""
        above = min(int(1 / theta), len(v) - 1)
        return float(np.sort(v)[::-1][above])


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


class HingeOverKernels(OnWeights):
    regulariser = CappedSimplex()

    def primal(self, f: Functions, theta: float) -> cp.Problem:
        mu = cp.Variable(f.count, nonneg=True)
        ratios, epigraph = f.over(mu)
        constraints = [f.margins, *epigraph, cp.sum(mu) == 1, mu <= theta]
        return cp.Problem(cp.Minimize(cp.sum(ratios) / 2 + f.risk), constraints)

    def dual(self, alpha: Multipliers, theta: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        tau, zeta = cp.Variable(), cp.Variable(alpha.count, nonneg=True)
        cuts = [half_q <= tau + zeta[m] for m, half_q in enumerate(alpha.half_q)]
        return cp.Problem(cp.Maximize(alpha.gain - tau - theta * cp.sum(zeta)), [*alpha.feasible, *cuts]), cuts


BOX = Parameter(
    "theta", "largest weight of a kernel", "θ ≥ 1/M",
    lambda v, count: v * count >= 1 - 1e-12, lambda count: min(1.0, 2 / count), "2/M",
)  # fmt: skip

SM1 = HingeOverKernels("sm1", "hinge loss over kernels: a box on the weights", "Xu et al. 2013", __doc__, (BOX,))

if __name__ == "__main__":
    SM1.demonstrate()
