"""entropy — weights on the simplex with a penalty that evens them out; `hypergraph_smooth` is an instance of it.

    primal   min over μ, f_1..f_M, b    ½ Σ_m ‖f_m‖²/μ_m + σ Σ_m μ_m log μ_m + risk(Σ_m f_m + b),    Σμ = 1,  μ ≥ 0
    dual     max over α ∈ S             gain(α) − σ log Σ_m exp(½ q_m(α)/σ)

From one to the other. The largest μ'v − σ Σ μ_m log μ_m over the simplex is σ log Σ exp(v_m/σ), at μ ∝ exp(v/σ).

    recovery      f_m = μ_m K_m(α∘y); in terms of norms, σ(log μ_m + 1) + τ = ‖f_m‖²/(2μ_m²) with τ such that Σμ = 1

With w = ‖f_m‖²/(σμ_m²) that is w + log w = 2 log ‖f_m‖ − log σ + 2t, t = 1 + τ/σ: so μ_m = ‖f_m‖/√(σω(…)), ω Wright's
function, and e^{−t} where f_m = 0. Weights are at least that, hence t ≥ log M; where t is log M + ½ max (M‖f‖)²/σ, none
is above 1/M.

As a regulariser on weights: R(μ) = σ Σ_m μ_m log μ_m on the simplex, R*(v) = σ log Σ_m exp(v_m/σ).
Degenerate cases: σ → 0 tends to `l1`. M = 1 is `svm`.
"""

from __future__ import annotations

import numpy as np

from ._cvxpy import cp
from ._roots import increasing_root
from .families.hypergraph import SMOOTHING
from .families.single_task import Array, Functions, Multipliers, OnWeights, Regulariser


class EntropyOnSimplex(Regulariser):
    """R(μ) = σ Σ μ log μ where Σμ = 1."""

    def value(self, mu: Array, smoothing: float) -> Array:
        return smoothing * mu * np.log(mu, out=np.zeros_like(mu), where=mu > 0)

    def slope(self, mu: Array, smoothing: float) -> Array:
        return smoothing * (np.log(mu) + 1)

    def curvature(self, mu: Array, smoothing: float) -> Array:
        return smoothing / mu

    def best_weights(self, a: Array, smoothing: float) -> Array:
        from scipy.special import wrightomega

        used, count = a > 0, len(a)
        known = 2 * np.log(a[used]) - np.log(smoothing)

        def weights(t: float) -> Array:
            mu = np.full(count, np.exp(-t))
            mu[used] = a[used] / np.sqrt(smoothing * wrightomega(known + 2 * t))
            return mu

        low = np.log(count)
        high = low + (count * float(a.max())) ** 2 / (2 * smoothing)
        mu = weights(increasing_root(lambda t: 1 - float(weights(t).sum()), low, high))
        return np.asarray(mu / mu.sum())

    def conjugate(self, v: Array, smoothing: float) -> float:
        top = float(v.max())
        return top + smoothing * float(np.log(np.exp((v - top) / smoothing).sum()))


class EvenWeights(OnWeights):
    regulariser = EntropyOnSimplex()

    def primal(self, f: Functions, smoothing: float) -> cp.Problem:
        mu = cp.Variable(f.count, nonneg=True)
        ratios, epigraph = f.over(mu)
        objective = cp.sum(ratios) / 2 - smoothing * cp.sum(cp.entr(mu)) + f.risk
        return cp.Problem(cp.Minimize(objective), [f.margins, *epigraph, cp.sum(mu) == 1])

    def dual(self, alpha: Multipliers, smoothing: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        v = cp.Variable(alpha.count)
        cuts = [half_q <= v[m] for m, half_q in enumerate(alpha.half_q)]
        objective = alpha.gain - smoothing * cp.log_sum_exp(v / smoothing)
        return cp.Problem(cp.Maximize(objective), [*alpha.feasible, *cuts]), cuts


ENTROPY = EvenWeights("entropy", "weights on the simplex, evened out by their entropy", "", __doc__, (SMOOTHING,))
