"""An interior point of the two-stage problems: weights, and four numbers for every pair.

    s·μ,    β·ψ,    (w − β)·ξ        three kinds of products, all positive, all zero at the optimum

ψ is what a pair's margin t μ'z has over 1 and ξ what it has below: t μ'z = 1 + ψ − ξ. At given margins the point with
all products of pairs equal to τ is known in closed form: with e = t μ'z − 1 and h = τ/w,

    ψ = h + (√(e² + 4h²) + e)/2,        ξ = h + (√(e² + 4h²) − e)/2,        β = τ/ψ,        w − β = τ/ξ

Newton's equations for weights and pairs together, at one such point, are

    μ:      R'(μ) − Σ β t z − s = 0                 s·μ = τ
    pairs:  t μ'z − 1 − ψ + ξ = 0                   β·ψ = (w − β)·ξ = τ

Pairs are eliminated first. With D = ψ/β + ξ/(w − β) and f what the margin violations of 1 and the products ask for,

    dβ = (f − t z'dμ)/D,      (R'' + s/μ + Σ z z'/D) dμ = −(R' − Σ β t z − s) + (τ − s·μ)/μ + Σ (f/D) t z

so that the matrix is M×M whatever the number of pairs. A step reads the K-examples three times: for matrix, margins and
the predictor's right-hand side; for the predictor's margins with the corrector's right-hand side, which is linear in
its target and in its share of what the predictor neglects; and for the corrector's margins. Beside its blocks a pair
needs three numbers: its margin, and how predictor and corrector change it.

Kernels that differ from combinations of others by δ are told apart by entries of size δ² in the matrix, which are lost
among its roundings once δ < 1e-8, and by entries of size δ on the right-hand side. With a `basis` T the equations are
written for the K-examples Tz and for y, dμ = T'y: differences are taken before they are squared and summed up, and
matrix, right-hand side and margins speak of the same rounded Tz.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...formulations.families.pairs import weighted_gram
from ...formulations.families.two_stage import PairTask
from .loop import Array, Iterate, KKTSystem
from .qp import factored, refined
from .settings import SETTINGS


class PairBlocks(NamedTuple):
    """For every pair β and its room w − β, with their multipliers: ψ over the margin, ξ under it."""

    beta: Array
    room: Array
    psi: Array
    xi: Array

    @classmethod
    def centred(cls, violation: Array, weight: Array, product: float) -> PairBlocks:
        """Blocks with equal products, for pairs whose margins are 1 − `violation`."""
        share = product / weight
        larger = (np.sqrt(violation * violation + 4 * share * share) + np.abs(violation)) / 2
        smaller = share * share / larger
        psi, xi = np.where(violation < 0, larger, smaller) + share, np.where(violation < 0, smaller, larger) + share
        return cls(product / psi, product / xi, psi, xi)

    @classmethod
    def empty(cls, count: int) -> PairBlocks:
        return cls(*(np.empty(count) for _ in range(4)))

    def part(self, rows: slice) -> PairBlocks:
        return PairBlocks(*(values[rows] for values in self))

    @property
    def softness(self) -> Array:
        """How much β changes with the margin: 1/D with D = ψ/β + ξ/(w − β)."""
        return 1 / (self.psi / self.beta + self.xi / self.room)

    @property
    def products(self) -> tuple[Array, Array]:
        return self.beta * self.psi, self.room * self.xi

    @property
    def complementarity(self) -> float:
        return float(self.beta @ self.psi + self.room @ self.xi)

    def push(self, for_psi: Array | float, for_xi: Array | float) -> Array:
        """The right-hand side for β of goals for the two products."""
        return for_psi / self.beta - for_xi / self.room

    def step(self, violation: Array, change: Array, for_psi: Array | float, for_xi: Array | float) -> PairBlocks:
        """Newton's step towards these products, for pairs whose margins are 1 − `violation` and change by `change`."""
        beta = (violation + self.push(for_psi, for_xi) - change) * self.softness
        psi = (for_psi - self.psi * beta) / self.beta - self.psi
        xi = (for_xi + self.xi * beta) / self.room - self.xi
        return PairBlocks(beta, -beta, psi, xi)


@dataclass(frozen=True)
class PairIterate(Iterate):
    """Weights μ, the multipliers s of μ ≥ 0, and the pairs. Its directions are not iterates: those of all pairs would
    need as much memory again, so they are made chunk by chunk."""

    weights: Array
    s: Array
    blocks: PairBlocks

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        beta, room, psi, xi = self.blocks
        return [(self.weights, self.s), (beta, psi), (room, xi)]


class Reach:
    """How far a step may go until something turns negative, and the complementarity there. Multipliers (β, its room, s)
    and what they multiply (ψ, ξ, μ) have step lengths of their own unless `tied`."""

    def __init__(self, tied: bool) -> None:
        self.tied, self.steepest, self.sums = tied, np.ones(2), np.zeros(4)

    def add(self, dual: Array, primal: Array, dual_step: Array, primal_step: Array) -> None:
        self.steepest = np.maximum(self.steepest, [np.max(-dual_step / dual), np.max(-primal_step / primal)])
        self.sums += [dual @ primal, dual_step @ primal, dual @ primal_step, dual_step @ primal_step]

    def add_blocks(self, at: PairBlocks, step: PairBlocks) -> None:
        self.add(at.beta, at.psi, step.beta, step.psi)
        self.add(at.room, at.xi, step.room, step.xi)

    @property
    def max_step(self) -> Array:
        """Lengths for the multipliers and for the rest, at most 1."""
        lengths = 1 / self.steepest
        return np.full(2, lengths.min()) if self.tied else lengths

    def complementarity(self, length: Array) -> float:
        dual, primal = length
        return float(self.sums @ [1, dual, primal, dual * primal])


@dataclass(frozen=True)
class PairDirection:
    """dμ, ds, the change of all margins, and how far all of it can go; the pairs' own step follows from these. A
    corrector leads to products of `target`, less the share `correction` of the second-order terms of `predictor`."""

    weights: Array
    s: Array
    change: Array
    reach: Reach
    predictor: Any = None
    target: float = 0.0
    correction: float = 0.0


class PairSystem(KKTSystem[PairIterate]):
    """`quadratic` tells the two regularisers apart: (λ/2)‖μ‖² and λ Σμ. No multiplier s is sent below `min_s`."""

    def __init__(
        self,
        task: PairTask,
        at: PairIterate,
        quadratic: bool,
        min_s: Array | float = 0.0,
        basis: Array | None = None,
    ) -> None:
        self.task, self.at, self.quadratic, self.min_s, self.basis = task, at, quadratic, min_s, basis
        self.violation = np.empty(len(task.labels))
        self.push, pull, matrix = np.zeros(task.count), np.zeros(task.count), np.zeros((task.count, task.count))
        for rows, z in task.pairs.blocks():
            labels, blocks = task.labels[rows], at.blocks.part(rows)
            softness = blocks.softness
            self.violation[rows] = 1.0 - labels * (at.weights @ z)
            pull += z @ (labels * blocks.beta)
            mixed = self.mixed(z)
            matrix += weighted_gram(mixed, softness)
            self.push += mixed @ (labels * softness * self.violation[rows])
        self.residual = regulariser_gradient(task.lam, at.weights, quadratic) - pull - at.s
        matrix += self.mixed(self.mixed(np.diag(at.s / at.weights + task.lam * quadratic)).T)
        self.scale = 1 / np.sqrt(np.diag(matrix))
        scaled = self.scale[:, None] * matrix * self.scale
        self.solve_scaled = refined(scaled, factored(scaled, SETTINGS.pair_ridge))

    def mixed(self, columns: Array) -> Array:
        """T times columns, or a vector."""
        return columns if self.basis is None else self.basis @ columns

    def solve(self, right: Array) -> Array:
        """dμ for a right-hand side Tr."""
        return self._unmixed(self._solve(self.mixed(right)))

    def _solve(self, right: Array) -> Array:
        """y, with the matrix scaled to a diagonal of ones, so that the kernels' sizes do not matter."""
        return self.scale * self.solve_scaled(self.scale * right)

    def _unmixed(self, y: Array) -> Array:
        return y if self.basis is None else y @ self.basis

    def _weights(self, push: Array, goal: Array | float) -> tuple[Array, Array, Array]:
        """y, dμ and ds, towards products s·μ of `goal`."""
        at = self.at
        y = self._solve(push + self.mixed(goal / at.weights - at.s - self.residual))
        weights = self._unmixed(y)
        return y, weights, (goal - at.s * weights) / at.weights - at.s

    def predictor(self) -> PairDirection:
        """The affine direction. It leaves two parts of the corrector's right-hand side: the second-order terms, and a
        target of one."""
        task, at = self.task, self.at
        y, weights, s = self._weights(self.push, 0.0)
        change, reach = np.empty(len(self.violation)), Reach(self.quadratic)
        reach.add(at.s, at.weights, s, weights)
        self.second_order, self.centring = np.zeros(task.count), np.zeros(task.count)
        for rows, z in task.pairs.blocks():
            labels, blocks, mixed = task.labels[rows], at.blocks.part(rows), self.mixed(z)
            change[rows] = labels * (y @ mixed)
            step, softness = blocks.step(self.violation[rows], change[rows], 0.0, 0.0), blocks.softness
            reach.add_blocks(blocks, step)
            self.second_order -= mixed @ (labels * softness * blocks.push(*step.products))
            self.centring += mixed @ (labels * softness * blocks.push(1.0, 1.0))
        return PairDirection(weights, s, change, reach)

    def direction(
        self, target_mu: float, predicted: PairDirection | None = None, correction: float | None = None
    ) -> PairDirection:
        """The second-order terms count in proportion to the predictor's step lengths, unless `correction` is given."""
        at, reach, predicted = self.at, Reach(self.quadratic), predicted or self.predictor()
        share = float(np.prod(predicted.reach.max_step)) if correction is None else correction
        push = self.push + share * self.second_order + target_mu * self.centring
        goal = np.maximum(target_mu, self.min_s * at.weights) - share * predicted.weights * predicted.s
        y, weights, s = self._weights(push, goal)
        reach.add(at.s, at.weights, s, weights)
        change = np.empty(len(self.violation))
        for rows, z in self.task.pairs.blocks():
            change[rows] = self.task.labels[rows] * (y @ self.mixed(z))
        direction = PairDirection(weights, s, change, reach, predicted, target_mu, share)
        for blocks, step, _ in self.steps_in_chunks(direction):
            reach.add_blocks(blocks, step)
        return direction

    def max_step(self, direction: PairDirection) -> Array:
        return direction.reach.max_step

    def mu_after(self, length: Array, direction: PairDirection) -> float:
        return direction.reach.complementarity(length) / self.at.complementarity * self.at.mu

    def advance(self, length: Array, direction: PairDirection) -> PairIterate:
        """One length for multipliers and one for the rest."""
        after, (dual, primal) = PairBlocks.empty(len(self.violation)), length
        for blocks, step, rows in self.steps_in_chunks(direction):
            for new, old, change, own in zip(after, blocks, step, (dual, dual, primal, primal), strict=True):
                np.add(old, own * change, out=new[rows])
        return PairIterate(self.at.weights + primal * direction.weights, self.at.s + dual * direction.s, after)

    def steps_in_chunks(self, corrector: PairDirection) -> Iterator[tuple[PairBlocks, PairBlocks, slice]]:
        """The blocks of some pairs at a time, and their steps."""
        for rows in chunks(len(self.violation)):
            blocks, violation = self.at.blocks.part(rows), self.violation[rows]
            neglected = blocks.step(violation, corrector.predictor.change[rows], 0.0, 0.0).products
            goals = (corrector.target - corrector.correction * product for product in neglected)
            yield blocks, blocks.step(violation, corrector.change[rows], *goals), rows


def basis_of(gram: Array, sizes: Array) -> Array | None:
    """T such that the K-examples Tz are nearly orthogonal; None where no kernel is nearly a combination of others."""
    scaled = gram / np.outer(sizes, sizes)
    np.fill_diagonal(scaled, 1.0)
    for ridge in SETTINGS.pair_ridge * 10.0 ** np.arange(15):
        try:
            factor = np.linalg.cholesky(scaled + ridge * np.eye(len(scaled)))
        except np.linalg.LinAlgError:
            continue
        alike = np.diag(factor).min() < SETTINGS.pair_distance
        return np.asarray(np.linalg.inv(factor) / sizes) if alike else None
    return None


def chunks(count: int) -> Iterator[slice]:
    size = SETTINGS.pair_chunk
    return (slice(first, min(first + size, count)) for first in range(0, count, size))


def regulariser_gradient(lam: float, weights: Array, quadratic: bool) -> Array:
    """R'(μ)."""
    return lam * weights if quadratic else np.full(len(weights), lam)
