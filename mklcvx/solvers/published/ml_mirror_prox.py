"""ml_mirror_prox — mirror-prox with full gradients for the minimax form (Bucak et al. 2010, Eqs (6) and (7)).

    L(μ, γ) = Σ_k γ_k H_k(μ),    ∂L/∂μ_m = −½ Σ_k γ_k (α^k∘y^k)'K_m(α^k∘y^k),    ∂L/∂γ_k = H_k(μ)
    half step   μ̂ ∝ μ exp(−η ∂L/∂μ),   γ̂ ∝ γ exp(+η ∂L/∂γ),   gradients at (μ, γ)
    step        μ ∝ μ exp(−η ∂L/∂μ),   γ ∝ γ exp(+η ∂L/∂γ),   gradients at (μ̂, γ̂)

Printed Eq. (7) descends in γ, where L must be raised; the sign here is that of Algorithm 1. Nemirovski's method, to
which the paper refers, has the half step, and its averages converge as 1/l after l steps; `extra=0` leaves it out, as
printed (1/√l, the step shrinking as 1/√l). The step η is halved until Nemirovski's condition for it holds:
η⟨F(ẑ) − F(z), ẑ − z⁺⟩ ≤ D(ẑ, z) + D(z⁺, ẑ) with z = (μ, γ) and the entropy's divergence D.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...formulations import Points
from ...formulations.families.multi_label import ClassDual, ClassPrimal
from ..driver import Algorithm, Array, Problem, State, check_switch
from ..svm import ClassFits, fit_classes

MAX_HALVINGS = 100


class Saddle(NamedTuple):
    """A point of the game: weights μ of the kernels, prices γ of the classes."""

    weights: Array
    gamma: Array

    def stepped(self, length: float, gradient: Saddle) -> Saddle:
        """Down in μ, up in γ, each normalised."""
        return Saddle(_moved(self.weights, -length * gradient.weights), _moved(self.gamma, length * gradient.gamma))

    def divergence(self, other: Saddle) -> float:
        """The entropy's Bregman divergence of this point from the other."""
        return _divergence(self.weights, other.weights) + _divergence(self.gamma, other.gamma)


def _moved(point: Array, exponent: Array) -> Array:
    logarithm = np.log(np.maximum(point, np.finfo(float).tiny)) + exponent
    grown = np.exp(logarithm - logarithm.max())
    return np.asarray(grown / grown.sum())


def _divergence(point: Array, other: Array) -> float:
    used = point > 0
    return float(np.sum(point[used] * np.log(point[used] / np.maximum(other[used], np.finfo(float).tiny))))


def gradients(fits: ClassFits, gamma: Array) -> Saddle:
    """Eq. (6)."""
    return Saddle(-gamma @ fits.halves, fits.values)


@dataclass(frozen=True)
class Game(State):
    """The point of the game, the SVMs at its μ; and the sums, weighted by η, of β, γ, functions, μ and 1."""

    at: Saddle
    fits: ClassFits
    eta: float
    sums: tuple[Any, ...] = (0.0, 0.0, 0.0, 0.0, 0.0)
    count: int = 0


@dataclass(frozen=True)
class MLMirrorProx(Algorithm[Game]):
    name = "ml_mirror_prox"
    summary = "mirror-prox in kernels and classes, full gradients"
    reference = "Bucak et al. 2010, Eq. (7)"
    serves = ("ml_minimax",)
    tolerance = 1e-2
    max_iter = 2000

    extra: int = 1

    def __post_init__(self) -> None:
        check_switch("extra", self.extra)

    def start(self, problem: Problem) -> Game:
        at = Saddle(problem.even, np.full(problem.task.classes, 1 / problem.task.classes))
        fits = fit_classes(problem, at.weights)
        steepest = max(float(np.abs(fits.halves).max()), float(np.abs(fits.values).max()), np.finfo(float).tiny)
        return Game(at.weights, at, fits, 1 / steepest)

    def step(self, problem: Problem, state: Game) -> Game:
        gradient = gradients(state.fits, state.at.gamma)
        if not self.extra:
            eta = state.eta / np.sqrt(state.count + 1)
            return self._advanced(problem, state, state.at, state.fits, state.at.stepped(eta, gradient), eta)
        eta = state.eta
        for _ in range(MAX_HALVINGS):
            half = state.at.stepped(eta, gradient)
            fits = fit_classes(problem, half.weights)
            other = gradients(fits, half.gamma)
            after = state.at.stepped(eta, other)
            # ⟨F(ẑ) − F(z), ẑ − z⁺⟩ with F = (∂L/∂μ, −∂L/∂γ).
            mismatch = (other.weights - gradient.weights) @ (half.weights - after.weights)
            mismatch -= (other.gamma - gradient.gamma) @ (half.gamma - after.gamma)
            if eta * mismatch <= half.divergence(state.at) + after.divergence(half):
                return replace(self._advanced(problem, state, half, fits, after, eta), eta=1.2 * eta)
            eta /= 2
        return replace(state, stop_reason="no step is short enough for its condition")

    def points(self, problem: Problem, state: Game) -> Points:
        """The last of both, and the averages."""
        last, (beta, gamma, functions, weights, total) = state.fits.points(problem.task, state.at.gamma), state.sums
        if not state.count:
            return last
        dual, primal = ClassDual(beta / total, gamma / total), ClassPrimal(functions / total, weights)
        return Points([*last.duals, dual], [*last.primals, primal])

    def _advanced(
        self, problem: Problem, state: Game, visited: Saddle, fits: ClassFits, after: Saddle, eta: float
    ) -> Game:
        """Add the point visited, with its SVMs, to the averages and go to the next."""
        weights, gamma = eta * visited.weights, eta * visited.gamma
        terms = gamma[:, None] * fits.alpha, gamma, eta * fits.coefficients(problem.task), weights, eta
        sums = tuple(total + term for total, term in zip(state.sums, terms, strict=True))
        return Game(after.weights, after, fit_classes(problem, after.weights), state.eta, sums, state.count + 1)
