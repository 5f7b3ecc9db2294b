"""ml_sa — ML-MKL-SA: stochastic approximation for the minimax form (Bucak et al. 2010, Algorithm 1, repaired).

    start    p = 1/s,  γ = 1/m
    repeat   draw a class j from γ' = (1 − δ) γ + δ/m
             α^j ← SVM of class j with kernel Σ_a p_a K_a
             ĝ_a = −½ (γ_j/γ'_j) (α^j∘y^j)'K_a(α^j∘y^j)                                              (8)
             ĥ_j = H_j(p)/γ'_j, 0 for the other classes                                              (9)
             p ∝ p exp(−η_p ĝ),   γ ∝ γ exp(+η_γ ĥ)
    answer   the averages of p and of γ                                                              (10)

One SVM per step, however many classes. Both estimates are unbiased, as Proposition 1 demands, because both are divided
by γ', the distribution that was drawn from. The text divides by γ, and Algorithm 1 draws from γ itself without ever
using γ'; dividing (9) alone by γ' leaves (8) biased, and the averages tend to another point. The bound of Theorem 1
has m²/δ² with the wrong term and fails for these steps too, where λ_max(K_a) C is small; the documentation's page of
claims proves one of the same order in T.

`delta` is 0.2 in the paper, and η = η_p = η_γ 0.001 or 0.0001 by data set: `eta` sets both. Unless it is given,

    η_p = 8 √(2 ln s/T)/H,    η_γ = 8 √(2 ln m/T)/(H √(m/δ)),    H = max_k H_k(1/s),  T = 10⁴,

steps that fall as 1/√T as in Theorem 1, each over the size that its estimate has in the mean (√(m/δ) H for γ). The
certificate needs the SVMs of all classes at the averages; these are not counted, and it is taken only when the number
of steps has grown by a tenth. It is offered the averages (10), and those since the number of steps was last doubled,
which forget the start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InputError
from ...formulations import Points
from ..driver import Algorithm, Problem, State, every_tenth_part
from ..svm import fit_classes
from .ml_mirror_prox import Saddle


@dataclass(frozen=True)
class Sampled(State):
    """(p, γ), and the sums of all that were visited: since the start, and since their number was last doubled."""

    at: Saddle
    steps: tuple[float, float]
    random: np.random.Generator
    sums: Saddle
    recent: Saddle
    count: int = 0
    since: int = 0


@dataclass(frozen=True)
class MLSA(Algorithm[Sampled]):
    name = "ml_sa"
    summary = "stochastic approximation: the SVM of one sampled class in each step"
    reference = "Bucak et al. 2010, Algorithm 1"
    serves = ("ml_minimax",)
    tolerance = 1e-2
    max_iter = 10_000

    delta: float = 0.2
    eta: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.delta <= 1:
            raise InputError(f"option delta = {self.delta:g} is not a probability: the paper has 0.2")

    def start(self, problem: Problem) -> Sampled:
        at = Saddle(problem.even, np.full(problem.task.classes, 1 / problem.task.classes))
        steps = self._balanced(problem, at) if self.eta is None else (self.eta, self.eta)
        zero = Saddle(0 * at.p, 0 * at.gamma)
        return Sampled(at.p, at, steps, np.random.default_rng(self.seed), zero, zero)

    def step(self, problem: Problem, state: Sampled) -> Sampled:
        classes, (p, gamma) = problem.task.classes, state.at
        drawn_from = (1 - self.delta) * gamma + self.delta / classes
        drawn_from = drawn_from / drawn_from.sum()
        j = int(state.random.choice(classes, p=drawn_from))
        fits = fit_classes(problem, p, np.array([j]))
        eta_p, eta_gamma = state.steps
        slope = Saddle(-eta_p * (gamma[j] / drawn_from[j]) * fits.halves[0], np.zeros(classes))
        slope.gamma[j] = eta_gamma * fits.values[0] / drawn_from[j]
        after = state.at.towards(1.0, slope)
        count, sums = state.count + 1, Saddle(state.sums.p + p, state.sums.gamma + gamma)
        recent, since = Saddle(state.recent.p + p, state.recent.gamma + gamma), state.since
        if count >= 2 * since:
            recent, since = state.at, count
        return replace(state, weights=sums.p / count, at=after, sums=sums, recent=recent, count=count, since=since)

    def points(self, problem: Problem, state: Sampled) -> Points:
        """The averages of the paper, and those since the number of steps was last doubled."""
        if not state.count:
            return fit_classes(problem, state.weights, counted=False).points(problem.task, state.at.gamma)
        averages = (state.sums, state.count), (state.recent, state.count - state.since + 1)
        fits = [fit_classes(problem, sums.p / length, counted=False) for sums, length in averages]
        gammas = [sums.gamma / length for sums, length in averages]
        first, second = (one.points(problem.task, gamma) for one, gamma in zip(fits, gammas, strict=True))
        return Points(first.duals + second.duals, first.primals + second.primals)

    def due(self, iteration: int) -> bool:
        return every_tenth_part(iteration)

    def _balanced(self, problem: Problem, at: Saddle) -> tuple[float, float]:
        """η_p and η_γ of the docstring."""
        largest = max(float(fit_classes(problem, at.p, counted=False).values.max()), np.finfo(float).tiny)
        classes, count = problem.task.classes, problem.task.count
        length = 8 * np.sqrt(2 * np.log([max(count, 2), max(classes, 2)]) / self.max_iter) / largest
        return float(length[0]), float(length[1] / np.sqrt(classes / max(self.delta, 1 / classes)))
