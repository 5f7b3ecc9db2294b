"""group_lasso_bcd — block coordinate descent for the group lasso, smooth losses (Yuan & Lin 2006; Tseng & Yun 2009).

    repeat   for every kernel m:   v ← w_m + F_m'β/L_m,   β = s∘α, α_i the slope of the loss of sample i in its residual
                                   w_m ← v (1 − λ/(L_m ‖v‖))₊
             b ← the least risk of the outputs

f_m = F_m w_m in coordinates with F_m F_m' = K_m, so that ‖f_m‖ = ‖w_m‖: linear kernels of groups of features have these
features for F_m, up to a rotation. L_m is the largest eigenvalue of F_m' diag(1/κ) F_m, 1/κ_i the largest curvature of
a sample's loss: along a block the risk lies below the parabola whose minimum, with the norm added, is the step. Losses
with corners, such as the hinge, have no such parabola, and block by block they stop short of the optimum.
The slopes of the losses are a dual point, shortened until √q_m ≤ λ: the usual gap of the group lasso.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ...formulations import Points, Task
from ...formulations.losses import (
    HUBER,
    SMOOTHED_HINGE,
    SQUARED,
    SQUARED_EPSILON_INSENSITIVE,
    SQUARED_HINGE,
    PiecewiseQuadratic,
)  # fmt: skip
from ..driver import Algorithm, Array, Problem, State, every_tenth_part


@dataclass(frozen=True)
class Blocks(State):
    """w_m of every kernel, the outputs Σ F_m w_m and the bias; `lipschitz` are the L_m."""

    coordinates: tuple[Array, ...]
    outputs: Array
    bias: float
    lipschitz: Array


class GroupLassoBCD(Algorithm[Blocks]):
    name = "group_lasso_bcd"
    summary = "proximal steps, one kernel after the other, for smooth losses"
    reference = "Yuan & Lin 2006; Tseng & Yun 2009"
    serves = ("group_lasso",)
    losses = tuple(loss.name for loss in (SQUARED, SQUARED_HINGE, SMOOTHED_HINGE, HUBER, SQUARED_EPSILON_INSENSITIVE))
    tolerance = 1e-6
    max_iter = 20000

    def start(self, problem: Problem) -> Blocks:
        task = problem.task
        kappa = task.loss_function.curvature(np.zeros(task.samples), task.y, task.box)
        scaled = [factor.columns / np.sqrt(kappa)[:, None] for factor in task.factors]
        lipschitz = np.array([float(np.linalg.norm(columns, 2)) ** 2 for columns in scaled])
        nothing, zeros = np.zeros(task.samples), tuple(np.zeros(factor.columns.shape[1]) for factor in task.factors)
        return Blocks(np.zeros(task.count), zeros, nothing, task.risk(nothing).bias, lipschitz)

    def step(self, problem: Problem, state: Blocks) -> Blocks:
        task, lam = problem.task, problem.task.own["lam"]
        coordinates, outputs = list(state.coordinates), state.outputs
        for m in np.flatnonzero(state.lipschitz):
            columns, length = task.factors[m].columns, state.lipschitz[m]
            aim = coordinates[m] + columns.T @ (task.signs * slopes(task, outputs + state.bias)) / length
            size = float(np.linalg.norm(aim))
            after = aim * max(0.0, 1 - lam / (length * size)) if size > 0 else aim
            outputs, coordinates[m] = outputs + columns @ (after - coordinates[m]), after
        weights = np.array([np.linalg.norm(w) for w in coordinates]) / lam
        return Blocks(weights, tuple(coordinates), outputs, task.risk(outputs).bias, state.lipschitz)

    def points(self, problem: Problem, state: Blocks) -> Points:
        task = problem.task
        functions = [f.to_coefficients @ w for f, w in zip(task.factors, state.coordinates, strict=True)]
        return Points([slopes(task, state.outputs + state.bias)], [np.stack(functions)])

    def due(self, iteration: int) -> bool:
        return every_tenth_part(iteration)


def slopes(task: Task, outputs: Array) -> Array:
    """α: what a unit of margin is worth to every sample."""
    loss = cast(PiecewiseQuadratic, task.loss_function)
    return loss.shape(task.y, task.box).maximiser(loss.residuals(outputs, task.y, task.box))
