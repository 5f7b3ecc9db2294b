"""li — Li-MKL: the block-∞ norm, which wants every kernel to contribute. There is no ½ in front of the penalty.

    primal   min over f_1..f_M, b    max_m ‖f_m‖² + risk(Σ_m f_m + b)
    dual     max over α ∈ S, d       gain(α) − ¼ (Σ_m d_m)²,              √q_m(α) ≤ d_m

From one to the other. The multipliers t of ‖f_m‖² ≤ h sum to one, and 2 t_m f_m = K_m(α∘y). Eliminating f leaves
¼ Σ q_m/t_m, jointly convex in (α, t) and least at t ∝ √q.

    recovery      f_m = K_m(α∘y)/(2t_m): weights 1/(2t_m)
    multipliers   `lambda` (M,), the shares t = √q / Σ√q

Degenerate cases: a kernel that α does not see, K_m(α∘y) = 0, has t_m = 0, and the weight divides by it. Where
f_m ≠ 0 (ordinary with low-rank kernels) no weight makes f_m of K_m(α∘y) = 0: it is undefined, and only the coefficients
of the primal describe the answer. Where f_m = 0 any weight does, and 0 is reported. The source has t_m > 0, which needs
positive definite kernels; with them all weights exist. With one kernel li(C) = 2·svm(C/2).

Reference: Govindaraj 2009, Eqs (1) to (9).
"""

from __future__ import annotations

import numpy as np

from ._cvxpy import cp
from .families.single_task import Array, Between, Functions, Multipliers, SingleTask


class LiMKL(SingleTask):
    between = Between(0.25, groups=lambda count: np.arange(count))
    losses = ("c",)

    def primal(self, f: Functions) -> cp.Problem:
        return cp.Problem(cp.Minimize(cp.square(cp.max(cp.hstack(f.norms))) + f.risk), [f.margins])

    def dual(self, alpha: Multipliers) -> tuple[cp.Problem, list[cp.Constraint]]:
        d = cp.Variable(alpha.count)
        cuts = [root_q <= d[m] for m, root_q in enumerate(alpha.root_q)]
        return cp.Problem(cp.Maximize(alpha.gain - cp.square(cp.sum(d)) / 4), [*alpha.feasible, *cuts]), cuts

    def penalty(self, a: Array) -> float:
        return float(a.max() ** 2)

    def conjugate(self, d: Array) -> float:
        return float(d.sum() ** 2 / 4)

    def weights(self, a: Array, d: Array) -> Array:
        seen = d > 0
        return np.where(seen, d.sum() / (2 * np.where(seen, d, 1.0)), np.where(a > 0, np.nan, 0.0))

    def multipliers(self, a: Array, d: Array) -> dict[str, float | Array]:
        return {"lambda": d / d.sum() if d.any() else np.full(len(d), 1 / len(d))}


LI = LiMKL("li", "the block-∞ norm", "Govindaraj 2009", __doc__, ())

if __name__ == "__main__":
    LI.demonstrate()
