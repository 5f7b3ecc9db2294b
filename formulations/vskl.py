"""vskl — variable sparsity kernel learning: ℓ1 within groups of kernels, ℓs between them.

    primal   min over f_1..f_M, b    ½ (Σ_j (Σ_{m∈j} ‖f_m‖)^s)^{2/s} + risk(Σ_m f_m + b)
    dual     max over α ∈ S, d       gain(α) − ½ ‖d‖²_{s*},               √q_m(α) ≤ d_j for m in group j

with s* = s/(s−1).

From one to the other. As for `ckl`: the dual norm within a group is the largest √q_m, between groups ℓ_{s*}.

    recovery      f_m = t_m (‖d‖_{s*}/d_j)^{2−s*} K_m(α∘y) for m in group j
    multipliers   `lambda` (M,), the shares t_m = ‖f_m‖/Σ_{group} ‖f‖ on the simplex of each group

Parameters: s ≥ 2, default 2.
Degenerate cases: s → ∞ tends to ½·ckl(2C); a single group is `l1`; with s = 2 and one kernel per group it is `sum`.

Reference: Saketha Nath et al. 2009.
"""

from __future__ import annotations

import numpy as np

from ._cvxpy import cp
from ._formulation import Parameter
from ._groups import Groups, group_largest, group_shares, group_sums
from .families.single_task import Array, Between, Functions, Multipliers, SingleTask
from .lp import norm


class VariableSparsity(SingleTask):
    between = Between(0.5, exponent=lambda s, groups: (s - 2) / s)
    losses = ("c",)
    grouped = True

    def primal(self, f: Functions, groups: Groups, s: float) -> cp.Problem:
        length = cp.Variable(groups.max() + 1)
        sums = [cp.sum([f.norms[m] for m in np.flatnonzero(groups == j)]) for j in range(groups.max() + 1)]
        within = [group_sum <= length[j] for j, group_sum in enumerate(sums)]
        penalty = cp.square(cp.pnorm(length, s, approx=False)) / 2
        return cp.Problem(cp.Minimize(penalty + f.risk), [f.margins, *within])

    def dual(self, alpha: Multipliers, groups: Groups, s: float) -> tuple[cp.Problem, list[cp.Constraint]]:
        d = cp.Variable(groups.max() + 1)
        cuts = [root_q <= d[j] for root_q, j in zip(alpha.root_q, groups, strict=True)]
        cost = cp.square(cp.pnorm(d, s / (s - 1), approx=False)) / 2
        return cp.Problem(cp.Maximize(alpha.gain - cost), [*alpha.feasible, *cuts]), cuts

    def penalty(self, a: Array, groups: Groups, s: float) -> float:
        return norm(group_sums(a, groups), s) ** 2 / 2

    def conjugate(self, d: Array, groups: Groups, s: float) -> float:
        return norm(group_largest(d, groups), s / (s - 1)) ** 2 / 2

    def weights(self, a: Array, d: Array, groups: Groups, s: float) -> Array:
        largest, conjugate_s = group_largest(d, groups), s / (s - 1)
        seen = largest > 0
        rise = np.where(seen, norm(largest, conjugate_s) / np.where(seen, largest, 1.0), 0.0) ** (2 - conjugate_s)
        return np.asarray(group_shares(a, groups) * np.where(seen, rise, 0.0)[groups])

    def multipliers(self, a: Array, d: Array, groups: Groups, s: float) -> dict[str, float | Array]:
        return {"lambda": group_shares(a, groups)}


SPREAD = Parameter("s", "norm between groups", "s ≥ 2", lambda v, _: v >= 2, lambda _: 2.0, "2")

VSKL = VariableSparsity("vskl", "ℓ1 within groups, ℓs between them", "Saketha Nath et al. 2009", __doc__, (SPREAD,))

if __name__ == "__main__":
    VSKL.demonstrate()
