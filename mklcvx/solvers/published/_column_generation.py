"""Column generation: alternate between a master program over the cuts found so far and an oracle for the next cut.

There are infinitely many constraints, one for each α (or Z). The master's weights solve the problem with the cuts found
so far; the oracle finds the constraint that they violate most. The master's multipliers mix the cuts into a point that
proves its value, see `formulations._silp`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from ..driver import Algorithm, Array, Problem, State


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
            return replace(state, stop_reason="the master could not be solved")
        return self._extended(problem, state, answer[0], np.append(answer[1], 0.0))

    def _extended(self, problem: Problem, state: Columns, weights: Array, mix: Array) -> Columns:
        cut = self.separate(problem, weights)
        if cut is None:
            return replace(state, stop_reason="the oracle could not be solved")
        return Columns(weights, [*state.cuts, cut], [*state.rows, self.scores(problem, cut)], mix)
