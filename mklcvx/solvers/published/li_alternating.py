"""li_alternating — alternating minimisation for Li-MKL (Govindaraj 2009, section 4.2).

    start    λ_k = 1/M
    repeat   α ← SVM with kernel Σ_k K_k/(2λ_k)
             D_k = α'Q_kα
             λ_k ← √D_k / Σ_l √D_l                                                                (9)

Both steps minimise ¼ Σ_k α'Q_kα/λ_k − 1'α, which is jointly convex. The thesis takes λ_k > 0 for granted, which needs
positive definite kernels: where K_k(α∘y) = 0 at the optimum, ordinary with kernels of low rank, λ_k tends to zero. A
floor under λ keeps the SVM solvable; it is so low that it costs less than the tolerance.
"""

from __future__ import annotations

import numpy as np

from ..driver import Array, Problem
from ..svm import Fit
from ._alternating import Alternating, floor


class LiAlternating(Alternating):
    name = "li_alternating"
    summary = "SVM and λ = √D/Σ√D in turn"
    reference = "Govindaraj 2009, section 4.2"
    serves = ("li",)

    def first_weights(self, problem: Problem) -> Array:
        return 1 / (2 * problem.even)

    def new_weights(self, problem: Problem, fitted: Fit) -> Array:
        roots = np.sqrt(2 * fitted.halves)
        shares = roots / roots.sum() if roots.any() else problem.even
        return 1 / (2 * np.maximum(shares, floor(problem)))
