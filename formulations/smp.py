"""smp — soft margin MKL with the p/(p−1)-hinge loss: the simplex with an ℓp penalty.

    primal   min over μ, f_1..f_M, b    ½ Σ_m ‖f_m‖²/μ_m + (c/p) Σ_m μ_m^p + risk(Σ_m f_m + b),    Σμ = 1,  μ ≥ 0
    dual     max over α ∈ S, τ, ζ ≥ 0   gain(α) − τ − (θ/2) Σ_m ζ_m^{p/(p−1)},                    ½ q_m(α) ≤ τ + ζ_m

with c = (2(p−1)/(θp))^{p−1}.

From one to the other. g(ζ) = (θ/2) ζ^{p/(p−1)} is a kernel's price for slack and g*(μ) = (c/p) μ^p its conjugate.
With h = 2(p−1)/(θp) that is (hμ)^p/(h·p), a number even where c = h^{p−1} is too large for one.

    recovery      f_m = μ_m K_m(α∘y);  in terms of norms, c μ_m^{p+1} + κ μ_m² = ‖f_m‖²/2 with κ such that Σμ = 1
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ τ + ζ_m, μ_m = (θp/(2(p−1))) ζ_m^{1/(p−1)};
                  tau; zeta (M,)

As a regulariser on weights: R(μ) = (c/p) Σ μ^p on the simplex, R*(v) = min over τ of τ + (θ/2) Σ (v_m − τ)₊^{p/(p−1)}.
Parameters: θ > 0, default 1; p > 1, default 3/2, as far as c is a number.
Degenerate cases: p = 2 is `sm2`. p → 1 tends to `l1` plus 1, for every θ; p → ∞ to `sm1` with the box θ/2, if
θ ≥ 2/M (else there are no such weights, and values grow without bound). M = 1 is `svm` plus the constant c/p.

Reference: Xu et al. 2013, end of section III-B.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import InputError
from ..problem.instance import Instance
from ._cvxpy import cp
from ._formulation import Given, Own, Parameter
from ._roots import increasing_root, power_simplex
from .families.single_task import THETA, Array, Functions, Multipliers, OnWeights, SoftMargin

HIGHEST = 600.0  # a logarithm whose exponential is a number, and still one in other units


def rise(theta: float, p: float) -> float:
    """The h of c = h^{p−1}: c μ^{p−1} = (hμ)^{p−1} is finite where c is too large for a number."""
    return 2 * (p - 1) / (theta * p)


class PowerOnSimplex(SoftMargin):
    """R(μ) = (c/p) Σ μ^p where Σμ = 1."""

    def value(self, mu: Array, theta: float, p: float) -> Array:
        return np.asarray(mu / p * (rise(theta, p) * mu) ** (p - 1))

    def slope(self, mu: Array, theta: float, p: float) -> Array:
        return np.asarray((rise(theta, p) * mu) ** (p - 1))

    def curvature(self, mu: Array, theta: float, p: float) -> Array:
        return np.asarray(rise(theta, p) * (p - 1) * (rise(theta, p) * mu) ** (p - 2))

    def best_weights(self, a: Array, theta: float, p: float) -> Array:
        return power_simplex(a, rise(theta, p), p)

    def price(self, zeta: Array, theta: float, p: float) -> float:
        return float(theta / 2 * np.sum(zeta ** (p / (p - 1))))

    def threshold(self, v: Array, theta: float, p: float) -> float:
        """The τ at which the weights that the slacks (v − τ)₊ imply sum to one.

        The largest slack is between (h/M)^{p−1}, where all kernels have it, and h^{p−1}, where one has: its logarithm
        is looked for, since the latter may be 1e17 times the former.
        """
        below, h = v - v.max(), rise(theta, p)

        def surplus(logarithm: float) -> float:
            """Of the weights over one, each by its slack's root."""
            slacks = np.maximum(below + np.exp(logarithm), 0)
            return float(np.sum(slacks ** (1 / (p - 1)) / h)) - 1

        least, most = (p - 1) * np.log(h / len(v)), (p - 1) * np.log(h)
        largest = increasing_root(surplus, float(min(least, HIGHEST)), float(min(most, HIGHEST)))
        return float(v.max() - np.exp(largest))


POWER = Parameter("p", "exponent of the penalty on weights", "p > 1", lambda v, _: v > 1, lambda _: 1.5, "3/2")


class PowerHingeOverKernels(OnWeights):
    regulariser = PowerOnSimplex()

    def primal(self, f: Functions, theta: float, p: float) -> cp.Problem:
        mu, h = cp.Variable(f.count, nonneg=True), 2 * (p - 1) / (theta * p)
        ratios, epigraph = f.over(mu)
        uneven = cp.sum(cp.power(h * mu, p, approx=False)) / (h * p)
        return cp.Problem(cp.Minimize(cp.sum(ratios) / 2 + uneven + f.risk), [f.margins, *epigraph, cp.sum(mu) == 1])

    def dual(self, alpha: Multipliers, theta: float, p: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        tau, zeta = cp.Variable(), cp.Variable(alpha.count, nonneg=True)
        cuts = [half_q <= tau + zeta[m] for m, half_q in enumerate(alpha.half_q)]
        objective = alpha.gain - tau - theta / 2 * cp.sum(cp.power(zeta, p / (p - 1), approx=False))
        return cp.Problem(cp.Maximize(objective), [*alpha.feasible, *cuts]), cuts

    def rescale(self, own: Mapping[str, Own], factor: float) -> Mapping[str, Own]:
        return {**own, "theta": own["theta"] * factor ** (1 / (1 - own["p"]))}

    def resolve_own(self, instance: Instance, given: Given) -> dict[str, float]:
        own = super().resolve_own(instance, given)
        theta, p = own["theta"], own["p"]
        if (p - 1) * np.log(rise(theta, p)) > HIGHEST:
            raise InputError(
                f"parameters p = {p:g} and theta = {theta:g} make c = (2(p − 1)/(θp))^(p − 1) too large for a number: "
                f"lower p, or take sm1 with theta = {theta / 2:g}, to which large p lead"
            )
        return own


SMP = PowerHingeOverKernels(
    "smp", "p/(p−1)-hinge loss over kernels: simplex and ℓp penalty", "Xu et al. 2013", __doc__, (THETA, POWER)
)

if __name__ == "__main__":
    SMP.demonstrate()
