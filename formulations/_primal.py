"""The variables of every primal in CVXPY: functions f_1..f_M, bias b, and the slacks of the loss."""

from __future__ import annotations

from dataclasses import dataclass

from ._cvxpy import cp
from .families.task import Task


@dataclass(frozen=True)
class PrimalProgram:
    """A declared primal. The multiplier of the constraint `margins` is α."""

    problem: cp.Problem
    coordinates: list[cp.Variable]
    margins: cp.Constraint


class Functions:
    """f_m = F_m w_m with F_m F_m' = K_m, so that ‖f_m‖ = ‖w_m‖; `margins` constrains the slacks in `risk`."""

    def __init__(self, task: Task) -> None:
        self.count = task.count
        self.w = [cp.Variable(factor.columns.shape[1]) for factor in task.factors]
        f = sum(factor.columns @ w for factor, w in zip(task.factors, self.w, strict=True))
        f = f + cp.Variable() if task.bias else f
        self.risk, self.margins = task.loss_function.declare_risk(cp.multiply(task.signs, f), task.y, task.box)

    @property
    def norms(self) -> list[cp.Expression]:
        """‖f_m‖ for every kernel."""
        return [cp.norm(w) for w in self.w]

    @property
    def squares(self) -> list[cp.Expression]:
        """‖f_m‖² for every kernel."""
        return [cp.sum_squares(w) for w in self.w]

    def over(self, mu: cp.Expression) -> tuple[cp.Variable, list[cp.Constraint]]:
        """Variable h and constraints h_m ≥ ‖f_m‖²/μ_m; the epigraph keeps 0/0 = 0 where μ_m = 0."""
        h = cp.Variable(self.count)
        return h, [cp.quad_over_lin(w, mu[m]) <= h[m] for m, w in enumerate(self.w)]
