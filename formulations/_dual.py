"""The variable of every dual in CVXPY: α in its feasible set, with q_m(α) for each kernel."""

from __future__ import annotations

from dataclasses import dataclass

from ._cvxpy import cp
from .families.task import Task


@dataclass(frozen=True)
class DualProgram:
    """A declared dual. `cuts` are the kernel constraints, one per kernel; the theorem names their multipliers."""

    problem: cp.Problem
    alpha: cp.Variable
    cuts: list[cp.Constraint]


class Multipliers:
    """α with its `gain` and its `feasible` set S (or A), and q_m(α) = ‖F_m'(s∘α)‖²."""

    def __init__(self, task: Task) -> None:
        loss, signs = task.loss_function, task.signs
        self.count, self.alpha = task.count, cp.Variable(task.samples, nonneg=bool((task.low >= 0).all()))
        self.gain, self.feasible = loss.declare_gain(self.alpha, task.y, task.box)
        if task.bias:
            self.feasible = [*self.feasible, signs @ self.alpha == 0]
        self.seen = [(signs[:, None] * factor.columns).T @ self.alpha for factor in task.factors]

    @property
    def half_q(self) -> list[cp.Expression]:
        """½ q_m(α) for every kernel."""
        return [cp.sum_squares(z) / 2 for z in self.seen]

    @property
    def root_q(self) -> list[cp.Expression]:
        """√q_m(α) for every kernel."""
        return [cp.norm(z) for z in self.seen]
