"""What the algorithms share that go from weights to weights, with an SVM for each."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from ...formulations import Points
from ..driver import Algorithm, Array, Problem, State
from ..svm import Fit, fit


@dataclass(frozen=True)
class Fitted(State):
    """Weights, and the SVM that goes with them."""

    fit: Fit


class OverWeights(Algorithm[Fitted]):
    """Start from even weights, and offer the SVM's α with the classifier of the weights."""

    def start(self, problem: Problem) -> Fitted:
        weights = self.first_weights(problem)
        return Fitted(weights, fit(problem, weights))

    def points(self, problem: Problem, state: Fitted) -> Points:
        return state.fit.points(problem.task)

    def first_weights(self, problem: Problem) -> Array:
        return problem.even


class Alternating(OverWeights):
    """Algorithms that alternate: weights from α, then α from weights."""

    def step(self, problem: Problem, state: Fitted) -> Fitted:
        weights = self.new_weights(problem, state.fit)
        return Fitted(weights, fit(problem, weights))

    @abstractmethod
    def new_weights(self, problem: Problem, fitted: Fit) -> Array: ...


def norms(fitted: Fit) -> Array:
    """‖f_m‖ = μ_m √q_m(α), from h_m = ½ q_m(α)."""
    return np.asarray(fitted.weights * np.sqrt(2 * fitted.halves))


def floor(problem: Problem) -> float:
    """The least share: too small to matter for the tolerance, large enough for the SVM to be solved."""
    return max(1e-3 * problem.tolerance, 1e-9)
