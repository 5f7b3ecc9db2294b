"""ckl_alternating — the alternating algorithm for composite kernel learning, as printed (Govindaraj 2009, section 5).

    start    t_j = 1/J,  t_m = 1/n_j                                           (γ_j and λ_jk in the thesis)
    repeat   α ← SVM with kernel Σ_j Σ_{m∈j} t_m K_m/t_j
             d_j² = max over m ∈ j of q_m(α),   t_m ← 1 for the kernel that attains it, 0 for the others
             t_j ← d_j / Σ_l d_l                                                          (solution of (13))

**It does not converge.** α maximises and t_m minimises: picking the best kernel of a group is a best response in a
saddle game, and best responses chase each other. The loop ends when the chosen kernels repeat with a period; `mirror`
solves the same problem. The printed kernel also lacks the ½ of its own dual (12), so that even with one kernel per
group it tends to another point than the optimum; `halved=1` puts the ½ in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...formulations import Points, RankOneCoefficients
from ...formulations._groups import group_largest, group_shares
from ..driver import Algorithm, Array, Problem, State, check_switch
from ..svm import SVMFit, fit, floor

LONGEST_PERIOD = 12
SHOWN = 3  # of a cycle's choices, in a message
REPEATS = 4
SAME = 1e-4  # two t_j of a cycle: the SVM is not solved more exactly
STILL = 1e-8  # two t_j of a fixed point: slow progress must not be taken for none


@dataclass(frozen=True)
class BestResponse(State):
    """`history` has, for every iteration, the kernels chosen and the groups' shares t_j."""

    fit: SVMFit
    history: list[tuple[tuple[int, ...], Array]] = field(default_factory=list)


@dataclass(frozen=True)
class CKLAlternating(Algorithm[BestResponse]):
    name = "ckl_alternating"
    summary = "SVM and the best kernel of each group in turn; cycles, as printed"
    reference = "Govindaraj 2009, section 5"
    serves = ("ckl",)

    halved: int = 0

    def __post_init__(self) -> None:
        check_switch("halved", self.halved)

    def start(self, problem: Problem) -> BestResponse:
        groups = problem.task.own["groups"]
        count = groups.max() + 1
        weights = self._weights(group_shares(np.zeros(len(groups)), groups), np.full(count, 1 / count), groups)
        return BestResponse(weights, fit(problem, weights))

    def step(self, problem: Problem, state: BestResponse) -> BestResponse:
        groups, roots = problem.task.own["groups"], np.sqrt(2 * state.fit.halves)
        largest = group_largest(roots, groups)
        chosen = tuple(int(np.argmax(np.where(groups == j, roots, -1.0))) for j in range(len(largest)))
        group_share = largest / largest.sum() if largest.any() else np.full(len(largest), 1 / len(largest))
        picked = np.zeros(len(groups))
        picked[list(chosen)] = 1.0
        weights = self._weights(picked, np.maximum(group_share, floor(problem)), groups)
        history = [*state.history, (chosen, group_share)]
        return BestResponse(weights, fit(problem, weights), history, stop_reason=_repetition(history))

    def points(self, problem: Problem, state: BestResponse) -> Points:
        """The classifier of the SVM, and that of the dual's own weights."""
        implied, dual_weights = state.fit.points(problem.task), state.weights * (1.0 if self.halved else 0.5)
        return Points(
            implied.duals, [*implied.primals, RankOneCoefficients(dual_weights, state.fit.alpha * problem.task.signs)]
        )

    def _weights(self, shares: Array, group_share: Array, groups: NDArray[np.intp]) -> Array:
        return shares / ((2 if self.halved else 1) * group_share[groups])


def _repetition(history: list[tuple[tuple[int, ...], Array]]) -> str:
    """The message for a cycle or a standstill that has been seen often enough; empty if there is none."""
    for period in range(1, LONGEST_PERIOD + 1):
        if len(history) < REPEATS * period:
            return ""
        recent, before = history[-period:], history[-2 * period : -period]
        chosen = [kernels for kernels, _ in history[-REPEATS * period :]]
        if chosen != REPEATS * chosen[:period]:
            continue
        moved = max(np.abs(a[1] - b[1]).max() for a, b in zip(recent, before, strict=True))
        shown = " and ".join(f"({', '.join(f'K{m + 1}' for m in kernels)})" for kernels, _ in recent[:SHOWN])
        if period == 1:  # the same kernels again and again: at rest, or still on the way
            return f"it stands still at kernels {shown}, short of the optimum" if moved < STILL else ""
        if moved < SAME:
            return f"it cycles with period {period} between kernels {shown}{' and …' if period > SHOWN else ''}"
    return ""
