"""A well-centred point to start from, whatever the kernels' sizes and the price of weights.

At margins of given weights all products of pairs can be made equal to τ (`_pair_point`), and s = τ/μ does so for the
weights. One equation is left, in M unknowns: R'(μ) − τ/μ = Σ β t z. It says that μ minimises

    R(μ) − τ Σ log μ + Σ_ij φ_τ(t μ'z),         φ_τ' = −β,

a smooth convex function, so that Newton's method with a line search finds it from anywhere. Along the line only the
margins are needed: no kernel is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...formulations.families.two_stage import PairTask
from .pair_newton import PairNewton, chunks, slope
from .pair_point import Array, PairInterior, Sides

FLATTER = 0.3  # of the slope at its start: where a line search ends
TRIALS = 12
LONGEST = 16.0  # times Newton's step


def first_weights(task: PairTask, sizes: Array, curved: bool) -> Array:
    """Every kernel contributes alike to margins of one, unless its share of R would exceed that of the loss."""
    dearest = np.sqrt(2 / (task.lam * task.count)) if curved else 1 / (task.lam * task.count)
    return np.minimum(1 / (task.count * sizes), dearest)


def centred_point(task: PairTask, mu: Array, lack: Array, product: float) -> PairInterior:
    sides = Sides.empty(len(lack))
    for rows in chunks(len(lack)):
        for whole, part in zip(sides, Sides.centred(lack[rows], task.weight[rows], product), strict=True):
            whole[rows] = part
    return PairInterior(mu, product / mu, sides)


def decrement(newton: PairNewton, product: float) -> float:
    """Newton's decrement, per pair: how far from the centre the point is."""
    step = newton.solve(newton.off)
    return float(np.sqrt(max(float(step @ newton.off), 0.0) / (product * len(newton.lack))))


def centring_step(newton: PairNewton, product: float) -> PairInterior:
    line = Line(newton, -newton.solve(newton.off), product)
    length = line.search()
    return centred_point(newton.task, newton.at.mu + length * line.step, newton.lack - length * line.change, product)


@dataclass
class Line:
    newton: PairNewton
    step: Array
    product: float

    def __post_init__(self) -> None:
        self.change = self.newton.task.margins(self.step)

    def slope(self, length: float) -> float:
        """The function's derivative along the line."""
        newton, task = self.newton, self.newton.task
        mu = newton.at.mu + length * self.step
        total = float((slope(task.lam, mu, newton.curved) - self.product / mu) @ self.step)
        for rows in chunks(len(self.change)):
            lack, change = newton.lack[rows] - length * self.change[rows], self.change[rows]
            total -= float(Sides.centred(lack, task.weight[rows], self.product).beta @ change)
        return total

    def search(self) -> float:
        """A length at which the function has nearly ceased to fall: Newton's own if possible."""
        steepest = float(np.max(-self.step / self.newton.at.mu))
        low, high = 0.0, min(LONGEST, 0.99 / steepest) if steepest > 0 else LONGEST
        trial, enough = min(1.0, high), FLATTER * abs(self.slope(0.0))
        for _ in range(TRIALS):
            here = self.slope(trial)
            if abs(here) <= enough or (here < 0 and trial == high):
                break
            low, high = (trial, high) if here < 0 else (low, trial)
            trial = min(4 * trial, high) if low == trial and high > 4 * trial else (low + high) / 2
        return trial
