"""An interior point of the two-stage problems: weights, and four numbers for every pair.

    s·μ,    β·σ,    (w − β)·ξ        three kinds of products, all positive, all zero at the optimum

σ is what a pair's margin t μ'z has over 1 and ξ what it lacks of it: t μ'z = 1 + σ − ξ. At given margins the point with
all products of pairs equal to τ is known in closed form: with e = t μ'z − 1 and h = τ/w,

    σ = h + (√(e² + 4h²) + e)/2,        ξ = h + (√(e² + 4h²) − e)/2,        β = τ/σ,        w − β = τ/ξ
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Sides(NamedTuple):
    """For every pair β, its room w − β, and what goes with them: σ over the margin, ξ under it."""

    beta: Array
    room: Array
    over: Array
    under: Array

    @classmethod
    def centred(cls, lack: Array, weight: Array, product: float) -> Sides:
        """All products alike, for pairs whose margins lack `lack` of 1."""
        share = product / weight
        larger = (np.sqrt(lack * lack + 4 * share * share) + np.abs(lack)) / 2
        smaller = share * share / larger
        over, under = np.where(lack < 0, larger, smaller) + share, np.where(lack < 0, smaller, larger) + share
        return cls(product / over, product / under, over, under)

    @classmethod
    def empty(cls, count: int) -> Sides:
        return cls(*(np.empty(count) for _ in range(4)))

    def part(self, rows: slice) -> Sides:
        return Sides(*(values[rows] for values in self))

    @property
    def softness(self) -> Array:
        """How much β gives way when the margin changes: 1/D with D = σ/β + ξ/(w − β)."""
        return 1 / (self.over / self.beta + self.under / self.room)

    @property
    def products(self) -> tuple[Array, Array]:
        return self.beta * self.over, self.room * self.under

    @property
    def total(self) -> float:
        return float(self.beta @ self.over + self.room @ self.under)

    def push(self, for_over: Array | float, for_under: Array | float) -> Array:
        """What goals for the two products ask of β, before it gives way."""
        return for_over / self.beta - for_under / self.room

    def step(self, lack: Array, change: Array, for_over: Array | float, for_under: Array | float) -> Sides:
        """Newton's step of pairs whose margins lack `lack` of 1 and change by `change`, to these products."""
        beta = (lack + self.push(for_over, for_under) - change) * self.softness
        over = (for_over - self.over * beta) / self.beta - self.over
        under = (for_under + self.under * beta) / self.room - self.under
        return Sides(beta, -beta, over, under)


@dataclass(frozen=True)
class PairInterior:
    """Weights μ, the multipliers s of μ ≥ 0, and the pairs; all positive."""

    mu: Array
    floor: Array
    sides: Sides

    @property
    def size(self) -> int:
        return 2 * len(self.sides.beta) + len(self.mu)

    @property
    def total(self) -> float:
        """The complementarity: what is left of the duality gap once the equations hold."""
        return float(self.mu @ self.floor) + self.sides.total


class Reach:
    """How far a step may go until something turns negative, and what the sum of products is then. Multipliers (β, its
    room, s) and what they multiply (σ, ξ, μ) go separate ways unless `tied`."""

    def __init__(self, tied: bool) -> None:
        self.tied, self.steepest, self.sums = tied, np.ones(2), np.zeros(4)

    def see(self, dual: Array, primal: Array, dual_step: Array, primal_step: Array) -> None:
        self.steepest = np.maximum(self.steepest, [np.max(-dual_step / dual), np.max(-primal_step / primal)])
        self.sums += [dual @ primal, dual_step @ primal, dual @ primal_step, dual_step @ primal_step]

    def see_sides(self, at: Sides, step: Sides) -> None:
        self.see(at.beta, at.over, step.beta, step.over)
        self.see(at.room, at.under, step.room, step.under)

    @property
    def longest(self) -> tuple[float, float]:
        """Lengths for the multipliers and for the rest, at most 1."""
        dual, primal = 1 / self.steepest
        return (float(min(dual, primal)),) * 2 if self.tied else (float(dual), float(primal))

    def total(self, dual: float, primal: float) -> float:
        return float(self.sums @ [1, dual, primal, dual * primal])
