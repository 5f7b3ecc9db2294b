"""ml_sum_subgradient — projected subgradient descent for ML-MKL-Sum (Bucak et al. 2010, below Eq. (2)).

    A(p) = Σ_k H_k(p),     ∂A/∂p_a = −½ Σ_k (α^k∘y^k)'K_a(α^k∘y^k)
    repeat   α^k ← SVM of class k with kernel Σ_a p_a K_a, for every class
             p ← Π(p − η_t ∂A/∂p),   η_t = η/(‖∂A/∂p‖ √t),   Π the projection onto the simplex

k SVMs per step: what the paper's stochastic algorithm is to avoid. The averages of α and of the functions converge as
1/√t. `eta` is the length of the first step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...formulations import Points
from ...formulations.families.multi_label import ClassDual, ClassPrimal
from ..driver import Algorithm, Array, Problem, State
from ..svm import ClassFits, fit_classes
from .sm2_projection import onto_simplex


@dataclass(frozen=True)
class Averages(State):
    """The SVMs at p, and the sums of α, of the functions' coefficients and of 1, weighted by the steps."""

    fits: ClassFits
    sums: tuple[Any, ...]
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
        return self._visited(problem, problem.even, (0.0, 0.0, 0.0), 1)

    def step(self, problem: Problem, state: Averages) -> Averages:
        gradient = -state.fits.halves.sum(axis=0)
        steepness = max(float(np.linalg.norm(gradient)), np.finfo(float).tiny)
        length = self.eta / (steepness * np.sqrt(state.count))
        return self._visited(problem, onto_simplex(state.weights - length * gradient), state.sums, state.count + 1)

    def points(self, problem: Problem, state: Averages) -> Points:
        ones, (alphas, functions, total) = np.ones(problem.task.classes), state.sums
        last, mean = state.fits.points(problem.task, ones), ClassPrimal(functions / total, state.weights)
        return Points([*last.duals, ClassDual(alphas / total, ones)], [*last.primals, mean])

    def _visited(self, problem: Problem, weights: Array, sums: tuple[Any, ...], count: int) -> Averages:
        fits = fit_classes(problem, weights)
        terms = fits.alpha, fits.coefficients(problem.task), 1.0
        sums = tuple(total + 1 / np.sqrt(count) * term for total, term in zip(sums, terms, strict=True))
        return Averages(weights, fits, sums, count)
