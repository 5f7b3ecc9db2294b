"""analytic — the closed-form update of the weights in the ℓp ball (Kloft et al. 2011, Algorithm 1; Xu et al. 2010).

    repeat   α ← SVM with kernel Σ_m μ_m K_m
             ‖f_m‖ = μ_m √q_m(α)
             μ_m ← ‖f_m‖^{2/(p+1)} / (Σ_l ‖f_l‖^{2p/(p+1)})^{1/p}

The SVM is the machine of any convex loss, as in the paper. Both steps minimise the primal ½ Σ ‖f_m‖²/μ_m + risk over
one block of its variables, so it never rises. For p > 1 the weights stay away from zero and convergence is linear. For
p = 1 a weight that ought to vanish shrinks only by the factor √(q_m/max q) per step, and no rate is proved: expect a
hundred steps for each further digit.
"""

from __future__ import annotations

import numpy as np

from ..driver import Array, Problem
from ..svm import Alternating, SVMFit, norms


class Analytic(Alternating):
    name = "analytic"
    summary = "SVM and closed-form weights in turn"
    reference = "Kloft et al. 2011"
    serves = ("l1", "l2", "lp")
    max_iter = 5000

    def first_weights(self, problem: Problem) -> Array:
        return self._in_ball(problem, np.ones(problem.task.count))

    def new_weights(self, problem: Problem, fitted: SVMFit) -> Array:
        return self._in_ball(problem, norms(fitted))

    def _in_ball(self, problem: Problem, lengths: Array) -> Array:
        """The best weights for functions of these norms; an SVM that sees nothing changes nothing."""
        lengths = lengths if lengths.any() else np.ones(len(lengths))
        return np.asarray(problem.formulation.weights(lengths, lengths, **problem.task.own))
