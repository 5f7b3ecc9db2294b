"""elastic — elastic-net constraint on the weights (SGMKL): between `l1` and `l2`.

    primal   min over μ ≥ 0, f_1..f_M, b    ½ Σ_m ‖f_m‖²/μ_m + risk(Σ_m f_m + b),      r Σμ + (1−r) Σμ² ≤ 1
    dual     max over α ∈ S, v, ζ, τ ≥ 0    gain(α) − τ − Σ_m ζ_m²/(4(1−r)τ),          ½ q_m(α) ≤ v_m,
                                            ζ_m ≥ v_m − rτ                             (r = 1: gain(α) − max v)

From one to the other. τ is the multiplier of the constraint; maximising Σ μ_m (v_m − rτ) − (1−r)τ Σ μ_m² over
μ ≥ 0 gives μ_m = (v_m − rτ)₊/(2(1−r)τ).

    recovery      f_m = μ_m K_m(α∘y);  in terms of norms, κ μ_m² (r + 2(1−r) μ_m) = ‖f_m‖²/2 with κ making the
                  constraint tight
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ v_m; tau, the constraint's

As a regulariser on weights: R(μ) = 0 where the constraint holds, R*(v) = min over τ ≥ 0 of
τ + Σ (v_m − rτ)₊²/(4(1−r)τ).
Parameters: l1_ratio = r in [0, 1], default ½.
Degenerate cases: r = 1 is `l1`, r = 0 is `l2`; M = 1 is `svm`. With (C, r) it has the decision function of `sm2`
with (cC, θ = 1/(2c³(1−r)τ)), c = Σμ. The source prints the second term once as a norm and once squared; squared it is.

Reference: Yang et al. 2011, as in Xu et al. 2013, after Eq. (14).
"""

from __future__ import annotations

import numpy as np

from ._cvxpy import cp
from ._formulation import Parameter
from ._roots import increasing_root, increasing_roots, newton_weights
from .families.single_task import Array, Constraint, Functions, Multipliers, OnWeights, Regulariser


class Net(Constraint):
    """r Σμ + (1−r) Σμ² ≤ 1."""

    def value(self, mu: Array, l1_ratio: float) -> Array:
        return l1_ratio * mu + (1 - l1_ratio) * mu**2

    def slope(self, mu: Array, l1_ratio: float) -> Array:
        return l1_ratio + 2 * (1 - l1_ratio) * mu

    def curvature(self, mu: Array, l1_ratio: float) -> Array:
        return np.full(len(mu), 2 * (1 - l1_ratio))


NET = Net()


class InNet(Regulariser):
    """R(μ) = 0 where r Σμ + (1−r) Σμ² ≤ 1."""

    constraint = NET

    def start(self, count: int, l1_ratio: float) -> Array:
        """Nine tenths of the constraint, shared evenly."""
        share, r = 0.9 / count, l1_ratio
        return np.full(count, 2 * share / (r + np.sqrt(r**2 + 4 * (1 - r) * share)))

    def best_weights(self, a: Array, l1_ratio: float) -> Array:
        """κ μ²(r + 2(1−r)μ) = a²/2 with the constraint tight; the search is over scale-free norms and log κ."""
        r, used = l1_ratio, a > 0
        if not used.any():  # all weights are as good
            return tight(np.ones(len(a)), r)
        x = (a / a.max()) ** 2 / 2
        # A kernel without norm needs no weight.
        zeros, start = np.zeros(used.sum()), tight(x[used] ** (1 / 3) + 0.1 / len(a), r)
        best = newton_weights(np.sqrt(2 * x[used]), start, lambda mu: (zeros, zeros, *NET.at(mu, l1_ratio=r)))
        if best is not None:
            mu = np.zeros(len(a))
            mu[used] = tight(best, r)
            return mu

        def weights(level: float) -> Array:
            return increasing_roots(lambda mu: np.exp(level) * mu**2 * (r + 2 * (1 - r) * mu) - x, np.full(len(a), 2.0))

        def slack(level: float) -> float:
            return 1 - float(NET.value(weights(level), r).sum())

        return tight(weights(increasing_root(slack, -5.0, 5.0 + 3 * np.log(len(a)))), r)

    def conjugate(self, v: Array, l1_ratio: float) -> float:
        tau = threshold(v, l1_ratio)
        if l1_ratio == 1 or tau == 0:
            return tau
        excess = np.maximum(v - l1_ratio * tau, 0)
        return float(tau + excess @ (excess / (4 * (1 - l1_ratio) * tau)))

    def multipliers(self, v: Array, l1_ratio: float) -> dict[str, float]:
        return {"tau": threshold(v, l1_ratio)}


def threshold(v: Array, r: float) -> float:
    """The least τ + Σ (v − rτ)₊²/(4(1−r)τ): where the weights that τ implies make the constraint tight."""
    largest = float(v.max())
    if r == 1 or largest == 0:
        return largest
    beside = v / largest  # so that the least numbers there are have digits

    def slack(tau: float) -> float:
        mu = np.maximum(beside - r * tau, 0) / (2 * (1 - r) * tau)
        return 1 - r * mu.sum() - (1 - r) * (mu @ mu)

    return largest * increasing_root(slack, 0.5, beside.sum())


def tight(mu: Array, r: float) -> Array:
    """The multiple of μ that meets the constraint."""
    linear, quadratic = r * mu.sum(), (1 - r) * (mu @ mu)
    return mu * 2 / (linear + np.sqrt(linear**2 + 4 * quadratic))


class Elastic(OnWeights):
    regulariser = InNet()

    def primal(self, f: Functions, l1_ratio: float) -> cp.Problem:
        mu = cp.Variable(f.count, nonneg=True)
        ratios, epigraph = f.over(mu)
        net = l1_ratio * cp.sum(mu) + (1 - l1_ratio) * cp.sum_squares(mu)
        return cp.Problem(cp.Minimize(cp.sum(ratios) / 2 + f.risk), [f.margins, *epigraph, net <= 1])

    def dual(self, alpha: Multipliers, l1_ratio: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        v, tau = cp.Variable(alpha.count), cp.Variable()
        cuts = [half_q <= v[m] for m, half_q in enumerate(alpha.half_q)]
        if l1_ratio == 1:
            return cp.Problem(cp.Maximize(alpha.gain - tau), [*alpha.feasible, *cuts, v <= tau]), cuts
        zeta, ratio = cp.Variable(alpha.count), cp.Variable()
        epigraph = [v - l1_ratio * tau <= zeta, cp.quad_over_lin(zeta, tau) <= ratio]
        objective = alpha.gain - tau - ratio / (4 * (1 - l1_ratio))
        return cp.Problem(cp.Maximize(objective), [*alpha.feasible, *cuts, *epigraph]), cuts


RATIO = Parameter(
    "l1_ratio", "share of the ℓ1 term", "0 ≤ l1_ratio ≤ 1", lambda v, _: 0 <= v <= 1, lambda _: 0.5, "1/2"
)

ELASTIC = Elastic("elastic", "elastic-net constraint on the weights", "Yang et al. 2011", __doc__, (RATIO,))

if __name__ == "__main__":
    ELASTIC.demonstrate()
