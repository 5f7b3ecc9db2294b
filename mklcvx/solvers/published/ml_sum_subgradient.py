"""ml_sum_subgradient — projected subgradient descent for ML-MKL-Sum (Bucak et al. 2010, below Eq. (2)).

    A(p) = Σ_k H_k(p),     ∂A/∂p_a = −½ Σ_k (α^k∘y^k)'K_a(α^k∘y^k)
    repeat   α^k ← SVM of class k with kernel Σ_a p_a K_a, for every class
             p ← Π(p − η_t ∂A/∂p),   η_t = η/(‖∂A/∂p‖ √t),   Π the projection onto the simplex

k SVMs per step: what the paper's stochastic algorithm is to avoid. The averages of α and of the functions converge as
1/√t. `eta` is the length of the first step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...formulations import Points
from ...formulations.families.multi_label import ClassDual, ClassPrimal
from ..driver import Algorithm, Problem, State
from ._classes import Array, ClassFits, fit_classes
from .sm2_projection import onto_simplex


@dataclass(frozen=True)
class Averages(State):
    """The SVMs at p, and the sums of α and of the functions' coefficients, weighted by the steps."""

    fits: ClassFits
    alphas: Array
    functions: Array
    total: float
    count: int


@dataclass(frozen=True)
class MLSumSubgradient(Algorithm[Averages]):
    name = "ml_sum_subgradient"
    summary = "projected subgradient, an SVM for every class in each step"
    reference = "Bucak et al. 2010"
    serves = ("ml_sum",)
    tolerance = 1e-2
    max_iter = 2000

    eta: float = 0.5

    def start(self, problem: Problem) -> Averages:
        return self._visited(problem, problem.even, None)

    def step(self, problem: Problem, state: Averages) -> Averages:
        gradient = -state.fits.halves.sum(axis=0)
        steepness = max(float(np.linalg.norm(gradient)), np.finfo(float).tiny)
        length = self.eta / (steepness * np.sqrt(state.count))
        return self._visited(problem, onto_simplex(state.weights - length * gradient), state)

    def points(self, problem: Problem, state: Averages) -> Points:
        ones = np.ones(problem.task.classes)
        last = state.fits.points(problem.task, ones)
        mean = ClassPrimal(state.functions / state.total, state.weights)
        return Points([*last.duals, ClassDual(state.alphas / state.total, ones)], [*last.primals, mean])

    def _visited(self, problem: Problem, weights: Array, before: Averages | None) -> Averages:
        fits = fit_classes(problem, weights)
        count = 1 if before is None else before.count + 1
        share = 1 / np.sqrt(count)
        alphas, functions, total = share * fits.alpha, share * fits.coefficients(problem.task), share
        if before is not None:
            alphas, functions, total = alphas + before.alphas, functions + before.functions, total + before.total
        return Averages(weights, fits, alphas, functions, total, count)
