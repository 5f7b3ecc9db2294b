"""group_lasso — the group lasso: the plain block norm λ Σ ‖f_m‖, not squared.

    primal   min over f_1..f_M, b    λ Σ_m ‖f_m‖ + risk(Σ_m f_m + b)
    dual     max over α ∈ S          gain(α),                              √q_m(α) ≤ λ for every m

From one to the other. λa = min over μ ≥ 0 of ½ a²/μ + (λ²/2) μ, least at μ = a/λ. The conjugate of λ Σ a is 0 where
every d_m ≤ λ and +∞ elsewhere: what was a cost of the kernels becomes a constraint on α.

    recovery      f_m = μ_m K_m(α∘y),   μ_m = ‖f_m‖/λ
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ λ²/2: a kernel is used only where its constraint is tight

As a regulariser on weights: R(μ) = (λ²/2) Σ μ, R*(v) = 0 where every v_m ≤ λ²/2 and +∞ elsewhere. An α that violates
the constraint is no lower bound, but S contains every multiple tα with 0 ≤ t ≤ 1, and t = λ/max √q_m(α) will do.
Parameters: lam = λ > 0, default 1.
Degenerate cases: f = 0 is optimal exactly where λ ≥ λ_max, the least max_m √q_m(α) over the multipliers α of the best
constant predictor. A smooth loss has one such α, as α_i = C(y_i − mean y) for the squared loss and equal prices. For
λ → 0 only the risk is left. With A = Σ ‖f_m‖ of the optimum of `l1`, λ = A has the same f and α, and a value that is
larger by A²/2: both penalties have the slope A there. There is no ν-form: its α sum to one, and √q_m(α) ≤ λ may leave
none of them.

Reference: Yuan & Lin 2006; Bach 2008.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ._cvxpy import cp
from ._formulation import Own, Parameter
from .families.single_task import Array, Functions, Multipliers, OnWeights, Regulariser

ROUNDING = 2.0**-40  # of q: where α was made to meet the constraint, q may be computed to be as much larger


class Priced(Regulariser):
    """R(μ) = (λ²/2) Σ μ."""

    constraint = None

    def value(self, mu: Array, lam: float) -> Array:
        return lam**2 / 2 * mu

    def slope(self, mu: Array, lam: float) -> Array:
        return np.full(len(mu), lam**2 / 2)

    def best_weights(self, a: Array, lam: float) -> Array:
        return a / lam

    def penalty(self, a: Array, lam: float) -> float:
        return float(lam * a.sum())

    def conjugate(self, v: Array, lam: float) -> float:
        return 0.0 if (v <= lam**2 / 2 * (1 + ROUNDING)).all() else np.inf

    def multipliers(self, v: Array, lam: float) -> dict[str, float | Array]:
        return {}


class GroupLasso(OnWeights):
    regulariser = Priced()
    losses = ("c",)

    def primal(self, f: Functions, lam: float) -> cp.Problem:
        return cp.Problem(cp.Minimize(lam * cp.sum(f.norms) + f.risk), [f.margins])

    def dual(self, alpha: Multipliers, lam: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        cuts = [half_q <= lam**2 / 2 for half_q in alpha.half_q]
        return cp.Problem(cp.Maximize(alpha.gain), [*alpha.feasible, *cuts]), cuts

    def excess(self, d: Array, lam: float) -> float:
        return float(d.max()) / lam

    def rescale(self, own: Mapping[str, Own], factor: float) -> dict[str, Own]:
        return {"lam": own["lam"] * np.sqrt(factor)}


LAMBDA = Parameter("lam", "price of a function's norm", "λ > 0", lambda v, _: v > 0, lambda _: 1.0, "1")

GROUP_LASSO = GroupLasso("group_lasso", "the sum of the norms", "Yuan & Lin 2006; Bach 2008", __doc__, (LAMBDA,))

if __name__ == "__main__":
    GROUP_LASSO.demonstrate()
