"""What the alternating algorithms share: an SVM for the weights at hand, then new weights for the SVM's α."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...formulations import Points
from ..driver import Algorithm, Problem, State
from ..svm import Fit, fit

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted(State):
    """Weights, and the SVM that goes with them."""

    fit: Fit


class Alternating(Algorithm[Fitted]):
    """Algorithms whose step is: weights from α, then α from weights."""

    def start(self, problem: Problem) -> Fitted:
        weights = self.first_weights(problem)
        return Fitted(weights, fit(problem, weights))

    def step(self, problem: Problem, state: Fitted) -> Fitted:
        weights = self.new_weights(problem, state.fit)
        return Fitted(weights, fit(problem, weights))

    def points(self, problem: Problem, state: Fitted) -> Points:
        return state.fit.points(problem.task)

    @abstractmethod
    def first_weights(self, problem: Problem) -> Array: ...

    @abstractmethod
    def new_weights(self, problem: Problem, fitted: Fit) -> Array: ...


def norms(fitted: Fit) -> Array:
    """‖f_m‖ = μ_m √q_m(α), from h_m = ½ q_m(α)."""
    return np.asarray(fitted.weights * np.sqrt(2 * fitted.halves))


def floor(problem: Problem) -> float:
    """Far below what the tolerance can see, far above what the SVM cannot bear."""
    return max(1e-3 * problem.tolerance, 1e-9)
