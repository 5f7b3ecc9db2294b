"""sum — the plain sum of the kernels (L2-MKL in Govindaraj 2009): nothing is learned about kernels.

    primal   min over f_1..f_M, b    ½ Σ_m ‖f_m‖² + risk(Σ_m f_m + b)
    dual     max over α ∈ S          gain(α) − ½ Σ_m q_m(α)

From one to the other. Each f_m meets the same multipliers: f_m = K_m(α∘y). The Gram matrices add up, so this is
the SVM with kernel Σ_m K_m.

    recovery      weights 1
    multipliers   none beyond α

As a regulariser on weights: R(μ) = 0 at μ = 1 and +∞ elsewhere, R*(v) = Σ v. It is the limit of `lp` for p → ∞.
Degenerate cases: M = 1 is `svm`.

Reference: Govindaraj 2009, section 3.
"""

from __future__ import annotations

from ._cvxpy import cp
from .families.single_task import Fixed, Functions, Multipliers, OnWeights


class Sum(OnWeights):
    regulariser = Fixed(lambda count: 1.0)

    def primal(self, f: Functions) -> cp.Problem:
        return cp.Problem(cp.Minimize(cp.sum(f.squares) / 2 + f.risk), [f.margins])

    def dual(self, alpha: Multipliers) -> tuple[cp.Problem, list[cp.Constraint]]:
        return cp.Problem(cp.Maximize(alpha.gain - cp.sum(alpha.half_q)), alpha.feasible), []


SUM = Sum("sum", "the sum of the kernels", "Govindaraj 2009", __doc__, ())

if __name__ == "__main__":
    SUM.demonstrate()
