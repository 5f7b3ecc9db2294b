"""ckl — composite kernel learning: ℓ1 within groups of kernels, ℓ∞ between them. No ½ in front of the penalty.

    primal   min over f_1..f_M, b    max_j (Σ_{m∈j} ‖f_m‖)² + risk(Σ_m f_m + b)
    dual     max over α ∈ S, d       gain(α) − ¼ (Σ_j d_j)²,              √q_m(α) ≤ d_j for m in group j

From one to the other. Within a group the dual norm of Σ ‖f_m‖ is the largest √q_m; between groups that of the
largest is the sum.

    recovery      f_m = t_m K_m(α∘y)/(2t_j) for m in group j: weights t_m/(2t_j)
    multipliers   `gamma` (J,), the shares t_j = d_j/Σd on the simplex of groups; `lambda` (M,), the shares
                  t_m = ‖f_m‖/Σ_{group} ‖f‖ on the simplex of each group

Degenerate cases: one kernel per group is `li`; a single group is ckl(C) = 2·l1(C/2). A group that α does not see,
K_m(α∘y) = 0 for all its kernels, has d_j = t_j = 0, and the weights divide by it: as in `li`, they are undefined where
f_m ≠ 0, so that only the coefficients describe the answer, and any weight does where f_m = 0 (0 is reported). Within a
group that α sees all weights exist; they need not be unique, as in `l1`.

Reference: Govindaraj 2009, section 5, Eqs (10) to (13).
"""

from __future__ import annotations

import numpy as np

from ._cvxpy import cp
from ._groups import Groups, group_largest, group_shares, group_sums
from .families.single_task import Array, Between, Functions, Multipliers, SingleTask


class CompositeKernels(SingleTask):
    between = Between(0.25)
    losses = ("c",)
    grouped = True

    def primal(self, f: Functions, groups: Groups) -> cp.Problem:
        largest = cp.Variable()
        sums = [cp.sum([f.norms[m] for m in np.flatnonzero(groups == j)]) for j in range(groups.max() + 1)]
        within = [group_sum <= largest for group_sum in sums]
        return cp.Problem(cp.Minimize(cp.square(largest) + f.risk), [f.margins, *within])

    def dual(self, alpha: Multipliers, groups: Groups) -> tuple[cp.Problem, list[cp.Constraint]]:
        d = cp.Variable(groups.max() + 1)
        cuts = [root_q <= d[j] for root_q, j in zip(alpha.root_q, groups, strict=True)]
        return cp.Problem(cp.Maximize(alpha.gain - cp.square(cp.sum(d)) / 4), [*alpha.feasible, *cuts]), cuts

    def penalty(self, a: Array, groups: Groups) -> float:
        return float(group_sums(a, groups).max() ** 2)

    def conjugate(self, d: Array, groups: Groups) -> float:
        return float(group_largest(d, groups).sum() ** 2 / 4)

    def weights(self, a: Array, d: Array, groups: Groups) -> Array:
        multipliers = self.multipliers(a, d, groups)
        between, within = multipliers["gamma"][groups], multipliers["lambda"]
        seen = between > 0
        return np.where(seen, within / (2 * np.where(seen, between, 1.0)), np.where(a > 0, np.nan, 0.0))

    def multipliers(self, a: Array, d: Array, groups: Groups) -> dict[str, Array]:
        largest = group_largest(d, groups)
        between = largest / largest.sum() if largest.any() else np.full(len(largest), 1 / len(largest))
        return {"gamma": between, "lambda": group_shares(a, groups)}


CKL = CompositeKernels("ckl", "ℓ1 within groups, ℓ∞ between them", "Govindaraj 2009", __doc__, ())

if __name__ == "__main__":
    CKL.demonstrate()
