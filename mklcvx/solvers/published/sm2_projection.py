"""sm2_projection — projected gradient for the square hinge loss soft margin (Xu et al. 2013, Algorithm 2).

    repeat   α ← SVM with kernel Σ_m μ_m K_m
             g_m = −½ q_m(α) + R'(μ_m)                                                            (26)
             μ ← Π(μ − η g), η by line search                                                     (27)

For `sm2` R(μ) = ‖μ‖²/(2θ) and Π projects onto the simplex. `smp` has R(μ) = (c/p) Σ μ^p on the same simplex. `square`
has R of `sm2` without the simplex, so Π only cuts off negative weights. The line search starts from the spectral step
of Barzilai and Borwein and halves it until the objective SVM(μ) + R(μ) falls as much as the gradient promises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...formulations import Points
from ...formulations.smp import rise
from ..driver import Algorithm, Array, Problem, State
from ..svm import SVMFit, fit

ARMIJO = 1e-4
MAX_HALVINGS = 40


@dataclass(frozen=True)
class Projected(State):
    fit: SVMFit
    step: float


class SM2Projection(Algorithm[Projected]):
    name = "sm2_projection"
    summary = "projected gradient with line search"
    reference = "Xu et al. 2013, Algorithm 2"
    serves = ("sm2", "smp", "square")

    def start(self, problem: Problem) -> Projected:
        first = fit(problem, problem.even)
        steepest = float(np.abs(self.gradient(problem, first)).max())
        return Projected(problem.even, first, 1 / steepest if steepest > 0 else 1.0)

    def step(self, problem: Problem, state: Projected) -> Projected:
        here, gradient, length = state.fit, self.gradient(problem, state.fit), state.step
        objective = self.objective(problem, here)
        objective += 1e-2 * problem.tolerance * abs(objective)  # which the SVM inside does not resolve
        for _ in range(MAX_HALVINGS):
            trial = fit(problem, self.project(problem, here.weights - length * gradient))
            change = trial.weights - here.weights
            if self.objective(problem, trial) <= objective + ARMIJO * float(gradient @ change):
                # The step that a quadratic with this change of gradient would want.
                curvature, length = float(change @ (self.gradient(problem, trial) - gradient)), 1.0
                if curvature > 0:
                    length = float(np.clip(float(change @ change) / curvature, 1e-12, 1e12))
                return Projected(trial.weights, trial, length)
            length /= 2
        return Projected(here.weights, here, length, stop_reason="its line search found no descent")

    def points(self, problem: Problem, state: Projected) -> Points:
        return state.fit.points(problem.task)

    def objective(self, problem: Problem, at: SVMFit) -> float:
        kappa, p = _regulariser(problem)
        return at.value + float(np.sum((kappa * at.weights) ** p)) / (kappa * p)

    def gradient(self, problem: Problem, at: SVMFit) -> Array:
        kappa, p = _regulariser(problem)
        return np.asarray((kappa * at.weights) ** (p - 1) - at.halves)

    def project(self, problem: Problem, weights: Array) -> Array:
        bounded = problem.formulation.regulariser.constraint is not None
        return onto_simplex(weights) if bounded else np.maximum(weights, 0.0)


def _regulariser(problem: Problem) -> tuple[float, float]:
    """κ and p of R(μ) = Σ (κμ)^p/(κp); `sm2` and `square` have p = 2."""
    p = problem.task.own.get("p", 2.0)
    return rise(problem.task.own["theta"], p), p


def onto_simplex(point: Array) -> Array:
    """The nearest point with non-negative entries that sum to one (Duchi et al. 2008)."""
    point = point - point.max()  # the projection stays, and 1 is not lost beside large entries
    ordered = np.sort(point)[::-1]
    levels = (np.cumsum(ordered) - 1) / np.arange(1, len(point) + 1)
    return np.maximum(point - levels[np.flatnonzero(ordered > levels)[-1]], 0.0)
