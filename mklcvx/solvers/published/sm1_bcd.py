"""sm1_bcd — block-wise coordinate descent for the hinge loss soft margin (Xu et al. 2013, Algorithm 1).

    repeat   α ← SVM with kernel Σ_m μ_m K_m                                                      (20)
             a_m = ‖f_m‖ = μ_m √q_m(α)
             μ ← argmin of ½ Σ_m a_m²/μ_m over Σμ = 1, 0 ≤ μ ≤ θ                                   (21)

The second step is Lemma 8: the kernels of largest a_m, ω of them, get θ, and the others share 1 − ωθ in proportion to
a_m. As printed, with a strict inequality, the lemma's set is empty at θ = 1/M and where a tie meets the bound; with
"≤", and all weights at θ where nothing else is left, it holds throughout.

Within the kernels that stay below θ the step is that of `analytic` with p = 1, and as slow.
"""

from __future__ import annotations

from ...formulations.sm1 import best_weights
from ..driver import Array, Problem
from ..svm import Alternating, SVMFit, norms


class SM1BCD(Alternating):
    name = "sm1_bcd"
    summary = "SVM and capped weights in turn"
    reference = "Xu et al. 2013, Algorithm 1"
    serves = ("sm1",)

    def new_weights(self, problem: Problem, fitted: SVMFit) -> Array:
        lengths = norms(fitted)
        return best_weights(lengths, problem.task.own["theta"]) if lengths.any() else fitted.weights
