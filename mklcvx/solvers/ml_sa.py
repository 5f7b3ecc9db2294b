"""ml_sa — ML-MKL-SA: stochastic approximation for the minimax form (Bucak et al. 2010, Algorithm 1, repaired).

    start    p = 1/s,  γ = 1/m
    repeat   draw a class j from γ' = (1 − δ) γ + δ/m
             α^j ← SVM of class j with kernel Σ_a p_a K_a
             ĝ_a = −½ (γ_j/γ'_j) (α^j∘y^j)'K_a(α^j∘y^j)                                              (8)
             ĥ_j = H_j(p)/γ'_j, 0 for the other classes                                              (9)
             p ∝ p exp(−η ĝ),   γ ∝ γ exp(+η ĥ)
    answer   the averages of p and of γ                                                              (10)

One SVM per step, however many classes. Both estimates are unbiased, as Proposition 1 demands, because both are divided
by γ', the distribution that was drawn from. The text divides by γ, and Algorithm 1 draws from γ itself without ever
using γ'; dividing (9) alone by γ' leaves (8) biased, and the averages tend to another point.

`delta` is 0.2 in the paper, η 0.001 or 0.0001 by data set. Unless it is given, `eta` is
2 √((ln m + ln s)/T) / max_k H_k(1/s) with T = 10⁴: the order that balances the two terms of Theorem 1. The
certificate needs the SVMs of all classes at the average p; these are not counted, and it is taken only when the number
of steps has grown by a tenth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..errors import InputError
from ..formulations import Points
from ._classes import Array, fit_classes
from ._driver import Algorithm, Problem, State, every_tenth_part
from .ml_mirror_prox import Saddle


@dataclass(frozen=True)
class Sampled(State):
    """(p, γ), and the sums of all that were visited."""

    at: Saddle
    eta: float
    random: np.random.Generator
    p: Array
    gamma: Array
    count: int = 0


@dataclass(frozen=True)
class MLSA(Algorithm[Sampled]):
    name: ClassVar[str] = "ml_sa"
    summary: ClassVar[str] = "stochastic approximation: the SVM of one sampled class in each step"
    reference: ClassVar[str] = "Bucak et al. 2010, Algorithm 1"
    serves: ClassVar[tuple[str, ...]] = ("ml_minimax",)
    tolerance: ClassVar[float] = 1e-2
    max_iter: ClassVar[int] = 10_000

    delta: float = 0.2
    eta: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.delta <= 1:
            raise InputError(f"option delta = {self.delta:g} is not a probability: the paper has 0.2")

    def start(self, problem: Problem) -> Sampled:
        at = Saddle(problem.even, np.full(problem.task.classes, 1 / problem.task.classes))
        eta = self.eta if self.eta is not None else self._balanced(problem, at)
        return Sampled(at.p, at, eta, np.random.default_rng(self.seed), 0 * at.p, 0 * at.gamma)

    def step(self, problem: Problem, state: Sampled) -> Sampled:
        classes, (p, gamma) = problem.task.classes, state.at
        drawn_from = (1 - self.delta) * gamma + self.delta / classes
        drawn_from = drawn_from / drawn_from.sum()
        j = int(state.random.choice(classes, p=drawn_from))
        fits = fit_classes(problem, p, np.array([j]))
        slope = Saddle(-(gamma[j] / drawn_from[j]) * fits.halves[0], np.zeros(classes))
        slope.gamma[j] = fits.values[0] / drawn_from[j]
        after = state.at.towards(state.eta, slope)
        sums = {"p": state.p + p, "gamma": state.gamma + gamma, "count": state.count + 1}
        return replace(state, weights=sums["p"] / sums["count"], at=after, **sums)

    def points(self, problem: Problem, state: Sampled) -> Points:
        gamma = state.gamma / state.count if state.count else state.at.gamma
        return fit_classes(problem, state.weights, counted=False).points(problem.task, gamma)

    def due(self, iteration: int) -> bool:
        return every_tenth_part(iteration)

    def _balanced(self, problem: Problem, at: Saddle) -> float:
        largest = max(float(fit_classes(problem, at.p, counted=False).values.max()), np.finfo(float).tiny)
        spread = np.log(max(problem.task.classes * problem.task.count, 2))
        return float(2 * np.sqrt(spread / self.max_iter) / largest)
