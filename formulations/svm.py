"""svm — the support vector machine: one kernel, the root of the tree.

    primal   min over f, b      ½ ‖f‖² + risk(f + b)
    dual     max over α ∈ S     gain(α) − ½ q(α),          q(α) = (α∘y)'K(α∘y)

From one to the other. The Lagrangian of the primal has a multiplier α_i for every margin constraint.
Stationarity in f gives f = K(α∘y), in b it gives y'α = 0, in the slacks α ≤ C. Putting f back leaves −½ q(α).

    recovery      f = K(α∘y): weight 1;  b from the margins of the samples with 0 < α_i < C
    multipliers   none beyond α

Losses: any. `hinge` is the C-SVC (gain = 1'α), `nu` the ν-SVM (gain = 0, 1'α = 1; the solution has rho, the margin),
`squared` kernel ridge regression, `epsilon_insensitive` support vector regression.
Degenerate cases: without a sample strictly between its bounds the bias is an interval; its middle is returned.

Reference: Cortes & Vapnik 1995; for the ν-form Schölkopf et al. 2000, as in Xu et al. 2013, Eqs (2) to (4).
"""

from __future__ import annotations

from ._cvxpy import cp
from .families.single_task import Fixed, Functions, Multipliers, OnWeights


class Svm(OnWeights):
    regulariser = Fixed(lambda count: 1.0)
    single_kernel = True

    def primal(self, f: Functions) -> cp.Problem:
        return cp.Problem(cp.Minimize(f.squares[0] / 2 + f.risk), [f.margins])

    def dual(self, alpha: Multipliers) -> tuple[cp.Problem, list[cp.Constraint]]:
        return cp.Problem(cp.Maximize(alpha.gain - alpha.half_q[0]), alpha.feasible), []


SVM = Svm("svm", "one kernel", "Cortes & Vapnik 1995", __doc__, ())

if __name__ == "__main__":
    SVM.demonstrate()
