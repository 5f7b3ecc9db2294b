"""l1 — L1-MKL, hard margin over kernels: a block-norm SOCP and Lanckriet's QCQP.

    primal   min over f_1..f_M, b    ½ (Σ_m ‖f_m‖)² + risk(Σ_m f_m + b)
    dual     max over α ∈ S, τ       gain(α) − τ,        ½ q_m(α) ≤ τ for every m

From one to the other. ½ (Σ a_m)² = min over μ ≥ 0, Σμ = 1 of ½ Σ a_m²/μ_m, least at μ ∝ a: the primal is an SVM
with the kernel Σ μ_m K_m, minimised over the simplex. Its dual value is max over α of gain(α) − ½ Σ μ_m q_m(α);
min over μ of a linear function sits at a corner, so exchanging min and max leaves the largest q_m.

    recovery      f_m = μ_m K_m(α∘y),   μ_m = ‖f_m‖ / Σ ‖f‖
    multipliers   weights = μ, the multipliers of ½ q_m(α) ≤ τ: a kernel is used only where its constraint is tight;
                  tau, the largest ½ q_m

As a regulariser on weights: R(μ) = 0 on the simplex, R*(v) = max v.
Degenerate cases: M = 1 is `svm`. Duplicated kernels leave the value unchanged and the split between them open.
`sm1` with θ ≥ 1, `lp` with p = 1 and `elastic` with l1_ratio = 1 are this formulation.

Reference: Lanckriet et al. 2004 (QCQP); Bach et al. 2004 (block norm); Xu et al. 2013, Eqs (5) to (7).
"""

from __future__ import annotations

import numpy as np

from ._cvxpy import cp
from .families.single_task import Array, Functions, Multipliers, OnWeights, Regulariser


class OnSimplex(Regulariser):
    """R(μ) = 0 where Σμ = 1."""

    flat = True

    def best_weights(self, a: Array) -> Array:
        return a / a.sum() if a.any() else self.start(len(a))

    def penalty(self, a: Array) -> float:
        return float(a.sum() ** 2 / 2)

    def conjugate(self, v: Array) -> float:
        return float(np.max(v))


class L1MKL(OnWeights):
    regulariser = OnSimplex()

    def primal(self, f: Functions) -> cp.Problem:
        return cp.Problem(cp.Minimize(cp.square(cp.sum(f.norms)) / 2 + f.risk), [f.margins])

    def dual(self, alpha: Multipliers) -> tuple[cp.Problem, list[cp.Constraint]]:
        tau = cp.Variable()
        cuts = [half_q <= tau for half_q in alpha.half_q]
        return cp.Problem(cp.Maximize(alpha.gain - tau), [*alpha.feasible, *cuts]), cuts


L1 = L1MKL("l1", "weights on the simplex", "Lanckriet et al. 2004; Bach et al. 2004", __doc__, ())

if __name__ == "__main__":
    L1.demonstrate()
