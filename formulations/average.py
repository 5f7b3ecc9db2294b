"""average — the average kernel: the baseline that multiple kernel learning has to beat.

    primal   min over f_1..f_M, b    (M/2) Σ_m ‖f_m‖² + risk(Σ_m f_m + b)
    dual     max over α ∈ S          gain(α) − (1/2M) Σ_m q_m(α)

From one to the other. As for `sum`, with every kernel divided by M: f_m = (1/M) K_m(α∘y).

    recovery      weights 1/M
    multipliers   none beyond α

As a regulariser on weights: R(μ) = 0 at μ = 1/M and +∞ elsewhere, R*(v) = mean v. It is `sm1` at θ = 1/M, and
the limit of `sm2` for θ → 0.
Degenerate cases: M = 1 is `svm`.

Reference: Xu et al. 2013, section III-A, observation 2.
"""

from __future__ import annotations

from ._cvxpy import cp
from .families.single_task import Fixed, Functions, Multipliers, OnWeights


class Average(OnWeights):
    regulariser = Fixed(lambda count: 1 / count)

    def primal(self, f: Functions) -> cp.Problem:
        return cp.Problem(cp.Minimize(f.count * cp.sum(f.squares) / 2 + f.risk), [f.margins])

    def dual(self, alpha: Multipliers) -> tuple[cp.Problem, list[cp.Constraint]]:
        return cp.Problem(cp.Maximize(alpha.gain - cp.sum(alpha.half_q) / alpha.count), alpha.feasible), []


AVERAGE = Average("average", "the average of the kernels", "Xu et al. 2013", __doc__, ())

if __name__ == "__main__":
    AVERAGE.demonstrate()
