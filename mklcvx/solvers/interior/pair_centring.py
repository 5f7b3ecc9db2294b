"""A well-centred point to start from, whatever the kernels' sizes and the price of weights.

At margins of given weights all products of pairs can be made equal to τ (`pair_point`), and s = τ/μ does so for the
weights. One equation is left, in M unknowns: R'(μ) − τ/μ = Σ β t z. It says that μ minimises

    R(μ) − τ Σ log μ + Σ_ij φ_τ(t μ'z),         φ_τ' = −β,

a smooth convex function, so that Newton's method with a line search finds it from anywhere. Along the line only the
margins are needed: no kernel is read. These are not steps of the predictor–corrector loop, since τ stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...formulations.families.two_stage import PairTask
from .iterate import Array
from .pair_newton import PairSystem, chunks, regulariser_gradient
from .pair_point import PairBlocks, PairIterate
from .settings import SETTINGS


def first_weights(task: PairTask, sizes: Array, quadratic: bool) -> Array:
    """Every kernel contributes alike to margins of one, unless its share of R would exceed that of the loss."""
    dearest = np.sqrt(2 / (task.lam * task.count)) if quadratic else 1 / (task.lam * task.count)
    return np.minimum(1 / (task.count * sizes), dearest)


def centred_point(task: PairTask, weights: Array, lack: Array, product: float) -> PairIterate:
    blocks = PairBlocks.empty(len(lack))
    for rows in chunks(len(lack)):
        for whole, part in zip(blocks, PairBlocks.centred(lack[rows], task.weight[rows], product), strict=True):
            whole[rows] = part
    return PairIterate(weights, product / weights, blocks)


def decrement(system: PairSystem, product: float) -> float:
    """Newton's decrement, per pair: how far from the centre the point is."""
    step = system.solve(system.residual)
    return float(np.sqrt(max(float(step @ system.residual), 0.0) / (product * len(system.lack))))


def centring_step(system: PairSystem, product: float) -> PairIterate:
    line = Line(system, -system.solve(system.residual), product)
    length = line.search()
    weights, lack = system.at.weights + length * line.step, system.lack - length * line.change
    return centred_point(system.task, weights, lack, product)


@dataclass
class Line:
    system: PairSystem
    step: Array
    product: float

    def __post_init__(self) -> None:
        self.change = self.system.task.margins(self.step)

    def derivative(self, length: float) -> float:
        """The function's derivative along the line."""
        system, task = self.system, self.system.task
        weights = system.at.weights + length * self.step
        gradient = regulariser_gradient(task.lam, weights, system.quadratic) - self.product / weights
        total = float(gradient @ self.step)
        for rows in chunks(len(self.change)):
            lack, change = system.lack[rows] - length * self.change[rows], self.change[rows]
            total -= float(PairBlocks.centred(lack, task.weight[rows], self.product).beta @ change)
        return total

    def search(self) -> float:
        """A length at which the function has nearly ceased to fall: Newton's own if possible."""
        steepest, longest = float(np.max(-self.step / self.system.at.weights)), SETTINGS.line_search_max
        low, high = 0.0, min(longest, SETTINGS.line_search_boundary / steepest) if steepest > 0 else longest
        trial, enough = min(1.0, high), SETTINGS.line_search_slope * abs(self.derivative(0.0))
        for _ in range(SETTINGS.line_search_trials):
            here = self.derivative(trial)
            if abs(here) <= enough or (here < 0 and trial == high):
                break
            low, high = (trial, high) if here < 0 else (low, trial)
            trial = min(4 * trial, high) if low == trial and high > 4 * trial else (low + high) / 2
        return trial
