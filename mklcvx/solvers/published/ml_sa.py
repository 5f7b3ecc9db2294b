"""ml_sa — ML-MKL-SA: stochastic approximation for the minimax form (Bucak et al. 2010, Algorithm 1, repaired).

    start    μ = 1/M,  γ = 1/n_c
    repeat   draw a class k from γ' = (1 − φ) γ + φ/n_c
             α^k ← SVM of class k with kernel Σ_m μ_m K_m
             ĝ_m = −½ (γ_k/γ'_k) (α^k∘y^k)'K_m(α^k∘y^k)                                              (8)
             ĥ_k = H_k(μ)/γ'_k, 0 for the other classes                                              (9)
             μ ∝ μ exp(−η_μ ĝ),   γ ∝ γ exp(+η_γ ĥ)
    answer   the averages of μ and of γ                                                              (10)

One SVM per step, however many classes. Both estimates are unbiased, as Proposition 1 demands, because both are divided
by γ', the distribution that was drawn from. The text divides by γ, and Algorithm 1 draws from γ itself without ever
using γ'; dividing (9) alone by γ' leaves (8) biased, and the averages tend to another point. The bound of Theorem 1
has n_c²/φ² with the wrong term and fails for these steps too, where λ_max(K_m) C is small; the documentation's page of
claims proves one of the same order in T.

`delta` is φ, 0.2 in the paper (its δ), and η = η_μ = η_γ is 0.001 or 0.0001 by data set: `eta` sets both. By default

    η_μ = 8 √(2 ln M/T)/H,    η_γ = 8 √(2 ln n_c/T)/(H √(n_c/φ)),    H = max_k H_k(1/M),  T = 10⁴,

steps that fall as 1/√T as in Theorem 1, each over the size that its estimate has in the mean (√(n_c/φ) H for γ). The
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
    """(μ, γ), and the sums of all that were visited: since the start, and since their number was last doubled."""

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
        zero = Saddle(0 * at.weights, 0 * at.gamma)
        return Sampled(at.weights, at, steps, np.random.default_rng(self.seed), zero, zero)

    def step(self, problem: Problem, state: Sampled) -> Sampled:
        classes, (weights, gamma) = problem.task.classes, state.at
        drawn_from = (1 - self.delta) * gamma + self.delta / classes
        drawn_from = drawn_from / drawn_from.sum()
        k = int(state.random.choice(classes, p=drawn_from))
        fits = fit_classes(problem, weights, np.array([k]))
        eta_weights, eta_gamma = state.steps
        gradient = Saddle(-eta_weights * (gamma[k] / drawn_from[k]) * fits.halves[0], np.zeros(classes))
        gradient.gamma[k] = eta_gamma * fits.values[0] / drawn_from[k]
        after = state.at.stepped(1.0, gradient)
        count, sums = state.count + 1, Saddle(state.sums.weights + weights, state.sums.gamma + gamma)
        recent, since = Saddle(state.recent.weights + weights, state.recent.gamma + gamma), state.since
        if count >= 2 * since:
            recent, since = state.at, count
        return replace(
            state, weights=sums.weights / count, at=after, sums=sums, recent=recent, count=count, since=since
        )

    def points(self, problem: Problem, state: Sampled) -> Points:
        """The averages of the paper, and those since the number of steps was last doubled."""
        if not state.count:
            return fit_classes(problem, state.weights, counted=False).points(problem.task, state.at.gamma)
        averages = (state.sums, state.count), (state.recent, state.count - state.since + 1)
        fits = [fit_classes(problem, sums.weights / length, counted=False) for sums, length in averages]
        gammas = [sums.gamma / length for sums, length in averages]
        first, second = (fitted.points(problem.task, gamma) for fitted, gamma in zip(fits, gammas, strict=True))
        return Points(first.duals + second.duals, first.primals + second.primals)

    def due(self, iteration: int) -> bool:
        return every_tenth_part(iteration)

    def _balanced(self, problem: Problem, at: Saddle) -> tuple[float, float]:
        """η_μ and η_γ of the module's docstring."""
        largest = max(float(fit_classes(problem, at.weights, counted=False).values.max()), np.finfo(float).tiny)
        classes, count = problem.task.classes, problem.task.count
        length = 8 * np.sqrt(2 * np.log([max(count, 2), max(classes, 2)]) / self.max_iter) / largest
        return float(length[0]), float(length[1] / np.sqrt(classes / max(self.delta, 1 / classes)))
