"""li_alternating — alternating minimisation for Li-MKL (Govindaraj 2009, section 4.2).

    start    t_m = 1/M                                                                    (λ_k in the thesis)
    repeat   α ← SVM with kernel Σ_m K_m/(2t_m)
             t_m ← √q_m(α) / Σ_l √q_l(α)                                                          (9)

Both steps minimise ¼ Σ_m q_m(α)/t_m − 1'α, which is jointly convex. The thesis takes t_m > 0 for granted, which needs
positive definite kernels: where K_m(α∘y) = 0 at the optimum, ordinary with kernels of low rank, t_m tends to zero. A
floor under t keeps the SVM solvable; it is so low that it costs less than the tolerance.
"""

from __future__ import annotations

import numpy as np

from ..driver import Array, Problem
from ..svm import Alternating, SVMFit, floor


class LiAlternating(Alternating):
    name = "li_alternating"
    summary = "SVM and shares t = √q/Σ√q in turn"
    reference = "Govindaraj 2009, section 4.2"
    serves = ("li",)

    def first_weights(self, problem: Problem) -> Array:
        return 1 / (2 * problem.even)

    def new_weights(self, problem: Problem, fitted: SVMFit) -> Array:
        roots = np.sqrt(2 * fitted.halves)
        shares = roots / roots.sum() if roots.any() else problem.even
        return 1 / (2 * np.maximum(shares, floor(problem)))
