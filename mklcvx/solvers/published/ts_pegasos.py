"""ts_pegasos — projected Pegasos in K-space for TS-MKL (Kumar et al. 2012, section 4.1; Shalev-Shwartz et al. 2007).

    in step l = 1, 2, …   draw a batch of K-examples (z, t) by their weights
                          μ ← (1 − 1/l) μ + (1/(λ l |batch|)) Σ t z over the batch's examples with margin t μ'z < 1
                          μ ← μ₊,   then scaled into the ball ‖μ‖ ≤ 1/√λ

Drawing by the formulation's weights makes the subgradient unbiased for its objective; with `balanced` that is half
positive and half negative pairs, the paper's subsampling. The paper's settings: batches of 100, 10³ steps for small
data sets and 10⁵ for large ones, λ by held-out examples. A certificate costs a pass over all pairs, and is taken when
the number of steps has grown by a tenth. The dual's β is at its bound below margin 1 and zero above; it passes from one
to the other over one of a few widths, of which the best counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...formulations import Points
from ..driver import Algorithm, Array, Problem, State, every_tenth_part

LARGEST_BATCH = 1_000_000
WIDTHS = (1e-9, 0.003, 0.01, 0.03, 0.1, 0.3)


@dataclass(frozen=True)
class Walk(State):
    random: np.random.Generator
    ladder: Array  # cumulative weights of the examples
    tail: Array  # the sum of μ since the count was last doubled
    count: int = 0
    since: int = 0


@dataclass(frozen=True)
class TSPegasos(Algorithm[Walk]):
    name = "ts_pegasos"
    summary = "projected Pegasos over batches of pairs"
    reference = "Kumar et al. 2012, section 4.1"
    serves = ("ts",)
    tolerance = 1e-2
    max_iter = 100_000

    batch: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise InputError("option batch = 0 draws nothing: the paper has 100")
        if self.batch > LARGEST_BATCH:
            raise InputError(f"option batch = {self.batch} is more than {LARGEST_BATCH}: the paper has 100")

    def start(self, problem: Problem) -> Walk:
        ladder, zero = np.cumsum(problem.task.weight), np.zeros(problem.task.count)
        return Walk(zero, np.random.default_rng(self.seed), ladder / ladder[-1], zero)

    def step(self, problem: Problem, state: Walk) -> Walk:
        task, count = problem.task, state.count + 1
        drawn = np.searchsorted(state.ladder, state.random.random(self.batch), side="right")
        mu = pegasos_step(state.weights, task.pairs.at(drawn), task.labels[drawn], task.lam, count)
        tail, since = (mu, count) if count >= 2 * state.since else (state.tail + mu, state.since)
        return replace(state, weights=mu, count=count, tail=tail, since=since)

    def points(self, problem: Problem, state: Walk) -> Points:
        """The last μ and the mean of its recent course, each with the β that its margins imply."""
        task, candidates = problem.task, [state.weights, state.tail / (state.count - state.since + 1)]
        violations = [1 - task.margins(mu) for mu in candidates]
        duals = [
            task.weight * np.clip(violation / width + 0.5, 0.0, 1.0) for violation in violations for width in WIDTHS
        ]
        return Points([max(duals, key=lambda beta: problem.formulation.lower(problem.task, beta).value)], candidates)

    def due(self, iteration: int) -> bool:
        return every_tenth_part(iteration)


def pegasos_step(mu: Array, examples: Array, labels: NDArray[np.int8], lam: float, t: int) -> Array:
    """One projected subgradient step of length 1/(λt), in step t."""
    violating = labels * (examples @ mu) < 1
    pull = (labels[violating] @ examples[violating]) / len(labels)
    mu = np.maximum((1 - 1 / t) * mu + pull / (lam * t), 0.0)
    return np.asarray(mu / max(1.0, np.sqrt(lam) * float(np.linalg.norm(mu))))
