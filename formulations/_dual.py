"""The unknown of every dual, in CVXPY: α in its feasible set, seen by each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._cvxpy import cp
from .families.task import Task


@dataclass(frozen=True)
class DualProgram:
    """A declared dual; `cuts` are the constraints, one per kernel, whose multipliers the theorem names."""

    problem: cp.Problem
    alpha: cp.Variable
    cuts: list[cp.Constraint]


class Multipliers:
    """α ∈ S (loss c) or A (loss nu), and q_m(α) = ‖F_m'(α∘y)‖²."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.alpha = cp.Variable(task.samples, nonneg=True)
        self.seen = [(task.y[:, None] * factor.columns).T @ self.alpha for factor in task.factors]

    @property
    def half_q(self) -> list[Any]:
        """½ q_m(α) for every kernel."""
        return [cp.sum_squares(z) / 2 for z in self.seen]

    @property
    def root_q(self) -> list[Any]:
        """√q_m(α) for every kernel."""
        return [cp.norm(z) for z in self.seen]

    def program(self, cost: Any, cuts: Sequence[Any] = (), constraints: Sequence[Any] = ()) -> DualProgram:
        """max gain(α) − cost over α in the feasible set."""
        task, alpha = self.task, self.alpha
        gain, feasible = task.loss_function.declare_gain(alpha, task.box)
        if task.bias:
            feasible = [*feasible, task.y @ alpha == 0]
        problem = cp.Problem(cp.Maximize(gain - cost), [*feasible, *cuts, *constraints])
        return DualProgram(problem, alpha, list(cuts))
