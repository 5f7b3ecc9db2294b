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

from .iterate import Array, Iterate


class PairBlocks(NamedTuple):
    """For every pair β and its room w − β, with their multipliers: σ over the margin, ξ under it."""

    beta: Array
    room: Array
    sigma: Array
    xi: Array

    @classmethod
    def centred(cls, lack: Array, weight: Array, product: float) -> PairBlocks:
        """All products alike, for pairs whose margins lack `lack` of 1."""
        share = product / weight
        larger = (np.sqrt(lack * lack + 4 * share * share) + np.abs(lack)) / 2
        smaller = share * share / larger
        sigma, xi = np.where(lack < 0, larger, smaller) + share, np.where(lack < 0, smaller, larger) + share
        return cls(product / sigma, product / xi, sigma, xi)

    @classmethod
    def empty(cls, count: int) -> PairBlocks:
        return cls(*(np.empty(count) for _ in range(4)))

    def part(self, rows: slice) -> PairBlocks:
        return PairBlocks(*(values[rows] for values in self))

    @property
    def softness(self) -> Array:
        """How much β gives way when the margin changes: 1/D with D = σ/β + ξ/(w − β)."""
        return 1 / (self.sigma / self.beta + self.xi / self.room)

    @property
    def products(self) -> tuple[Array, Array]:
        return self.beta * self.sigma, self.room * self.xi

    @property
    def complementarity(self) -> float:
        return float(self.beta @ self.sigma + self.room @ self.xi)

    def push(self, for_sigma: Array | float, for_xi: Array | float) -> Array:
        """What goals for the two products ask of β, before it gives way."""
        return for_sigma / self.beta - for_xi / self.room

    def step(self, lack: Array, change: Array, for_sigma: Array | float, for_xi: Array | float) -> PairBlocks:
        """Newton's step of pairs whose margins lack `lack` of 1 and change by `change`, to these products."""
        beta = (lack + self.push(for_sigma, for_xi) - change) * self.softness
        sigma = (for_sigma - self.sigma * beta) / self.beta - self.sigma
        xi = (for_xi + self.xi * beta) / self.room - self.xi
        return PairBlocks(beta, -beta, sigma, xi)


@dataclass(frozen=True)
class PairIterate(Iterate):
    """Weights μ, the multipliers s of μ ≥ 0, and the pairs. Its directions are no iterates: those of all pairs would
    fill as much memory again, so they are made chunk by chunk."""

    weights: Array
    s: Array
    blocks: PairBlocks

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        blocks = self.blocks
        return [(self.weights, self.s), (blocks.beta, blocks.sigma), (blocks.room, blocks.xi)]


class Reach:
    """How far a step may go until something turns negative, and what the complementarity is then. Multipliers (β, its
    room, s) and what they multiply (σ, ξ, μ) go separate ways unless `tied`."""

    def __init__(self, tied: bool) -> None:
        self.tied, self.steepest, self.sums = tied, np.ones(2), np.zeros(4)

    def add(self, dual: Array, primal: Array, dual_step: Array, primal_step: Array) -> None:
        self.steepest = np.maximum(self.steepest, [np.max(-dual_step / dual), np.max(-primal_step / primal)])
        self.sums += [dual @ primal, dual_step @ primal, dual @ primal_step, dual_step @ primal_step]

    def add_blocks(self, at: PairBlocks, step: PairBlocks) -> None:
        self.add(at.beta, at.sigma, step.beta, step.sigma)
        self.add(at.room, at.xi, step.room, step.xi)

    @property
    def max_step(self) -> Array:
        """Lengths for the multipliers and for the rest, at most 1."""
        lengths = 1 / self.steepest
        return np.full(2, lengths.min()) if self.tied else lengths

    def complementarity(self, length: Array) -> float:
        dual, primal = length
        return float(self.sums @ [1, dual, primal, dual * primal])
