"""ml_sum_subgradient — projected subgradient descent for ML-MKL-Sum (Bucak et al. 2010, below Eq. (2)).

    A(μ) = Σ_k H_k(μ),     ∂A/∂μ_m = −½ Σ_k (α^k∘y^k)'K_m(α^k∘y^k)
    repeat   α^k ← SVM of class k with kernel Σ_m μ_m K_m, for every class
             μ ← Π(μ − η_l ∂A/∂μ),   η_l = η/(‖∂A/∂μ‖ √l) in step l,   Π the projection onto the simplex

Every step costs one SVM per class, which the paper's stochastic algorithm avoids. The averages of α and of the
functions converge as 1/√l. `eta` is the length of the first step.
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
    """The SVMs at μ, and the sums of α, of the functions' coefficients and of 1, weighted by the steps."""

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
