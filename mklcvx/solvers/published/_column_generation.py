"""Column generation: a master over the cuts found so far, an oracle for the most violated one, again.

Infinitely many constraints, one for each α (or Z). The master's weights solve the problem with the cuts at hand; the
oracle finds the constraint that they violate most. The master's multipliers mix the cuts into a point that
proves its value, see `formulations._silp`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..driver import Algorithm, Problem, State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Columns(State):
    """The last cut is the oracle's answer to `weights`; `rows` are the cuts' scores; `mix` sums to one."""

    cuts: list[Array]
    rows: list[Array]
    mix: Array

    @property
    def mixed(self) -> Array:
        return np.asarray(np.tensordot(self.mix, np.stack(self.cuts), axes=1))


class ColumnGeneration(Algorithm[Columns]):
    @abstractmethod
    def separate(self, problem: Problem, weights: Array) -> Array | None:
        """The most violated constraint; None where it could not be found."""

    @abstractmethod
    def scores(self, problem: Problem, cut: Array) -> Array:
        """The row that a cut adds to the master."""

    @abstractmethod
    def master(self, problem: Problem, rows: Array) -> tuple[Array, Array] | None:
        """The best weights for these rows, and the multipliers that mix them."""

    def start(self, problem: Problem) -> Columns:
        return self._extended(problem, Columns(problem.even, [], [], np.zeros(0)), problem.even, np.ones(1))

    def step(self, problem: Problem, state: Columns) -> Columns:
        answer = self.master(problem, np.stack(state.rows))
        if answer is None:
            return _ended(state, "the master could not be solved")
        weights, mix = answer
        return self._extended(problem, state, weights, np.append(mix, 0.0))

    def _extended(self, problem: Problem, state: Columns, weights: Array, mix: Array) -> Columns:
        cut = self.separate(problem, weights)
        if cut is None:
            return _ended(state, "the oracle could not be solved")
        return Columns(weights, [*state.cuts, cut], [*state.rows, self.scores(problem, cut)], mix)


def _ended(state: Columns, why: str) -> Columns:
    return Columns(state.weights, state.cuts, state.rows, state.mix, dead_end=why)
