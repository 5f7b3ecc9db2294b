"""Newton's equations for weights and pairs together, at one interior point of `pair_point`.

    μ:      R'(μ) − Σ β t z − s = 0                 s·μ = τ
    pairs:  t μ'z − 1 − σ + ξ = 0                   β·σ = (w − β)·ξ = τ

Pairs are eliminated first. With D = σ/β + ξ/(w − β) and f what the margin lacks of 1 and the products ask for,

    dβ = (f − t z'dμ)/D,      (R'' + s/μ + Σ z z'/D) dμ = −(R' − Σ β t z − s) + (τ − s·μ)/μ + Σ (f/D) t z

so that the matrix is M×M whatever the number of pairs. A step reads the K-examples three times: for matrix, margins and
the predictor's right-hand side; for the predictor's margins with the corrector's right-hand side, which is linear in
its target and in its share of what the predictor neglects; and for the corrector's margins. Beside its blocks a pair
needs three numbers: its margin, and how predictor and corrector change it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...formulations.families.pairs import weighted_gram
from ...formulations.families.two_stage import PairTask
from .iterate import Array
from .loop import KKTSystem
from .pair_point import PairBlocks, PairIterate, Reach
from .qp import factored, refined
from .settings import SETTINGS


@dataclass(frozen=True)
class PairDirection:
    """dμ, ds, the change of all margins, and how far all of it can go; the pairs' own step follows from these."""

    weights: Array
    s: Array
    change: Array
    reach: Reach


@dataclass(frozen=True)
class Predicted(PairDirection):
    """With two parts of the corrector's right-hand side: the second-order terms, and a target of one."""

    second_order: Array
    centring: Array


@dataclass(frozen=True)
class Corrected(PairDirection):
    """Towards products of `target`, less the share `correction` of the predictor's second-order terms."""

    predicted: Predicted
    target: float
    correction: float


class PairSystem(KKTSystem[PairIterate]):
    """`quadratic` tells the two regularisers apart: (λ/2)‖μ‖² and λ Σμ. No multiplier s is sent below `min_s`."""

    def __init__(self, task: PairTask, at: PairIterate, quadratic: bool, min_s: Array | float = 0.0) -> None:
        self.task, self.at, self.quadratic, self.min_s = task, at, quadratic, min_s
        self.lack = np.empty(len(task.labels))
        self.push, pull, matrix = np.zeros(task.count), np.zeros(task.count), np.zeros((task.count, task.count))
        for rows, z in task.pairs.blocks():
            labels, blocks, lack = task.labels[rows], at.blocks.part(rows), self.lack[rows]
            softness = blocks.softness
            np.subtract(1.0, labels * (at.weights @ z), out=lack)
            matrix += weighted_gram(z, softness)
            pull += z @ (labels * blocks.beta)
            self.push += z @ (labels * softness * lack)
        self.residual = regulariser_gradient(task.lam, at.weights, quadratic) - pull - at.s
        matrix[np.diag_indices(task.count)] += at.s / at.weights + task.lam * quadratic
        self.scale = 1 / np.sqrt(np.diag(matrix))
        scaled = self.scale[:, None] * matrix * self.scale
        self.solve_scaled = refined(scaled, factored(scaled, SETTINGS.pair_ridge))

    def solve(self, right: Array) -> Array:
        """With a diagonal of ones, whatever the kernels' sizes."""
        return self.scale * self.solve_scaled(self.scale * right)

    def _weights(self, push: Array, goal: Array | float) -> tuple[Array, Array]:
        """dμ and ds, towards products s·μ of `goal`."""
        at = self.at
        weights = self.solve(push - self.residual + goal / at.weights - at.s)
        return weights, (goal - at.s * weights) / at.weights - at.s

    def predictor(self) -> Predicted:
        task, at = self.task, self.at
        weights, s = self._weights(self.push, 0.0)
        change, reach = np.empty(len(self.lack)), Reach(self.quadratic)
        reach.add(at.s, at.weights, s, weights)
        second_order, centring = np.zeros(task.count), np.zeros(task.count)
        for rows, z in task.pairs.blocks():
            labels, blocks = task.labels[rows], at.blocks.part(rows)
            np.multiply(labels, weights @ z, out=change[rows])
            step, softness = blocks.step(self.lack[rows], change[rows], 0.0, 0.0), blocks.softness
            reach.add_blocks(blocks, step)
            second_order -= z @ (labels * softness * blocks.push(*step.products))
            centring += z @ (labels * softness * blocks.push(1.0, 1.0))
        return Predicted(weights, s, change, reach, second_order, centring)

    def direction(
        self, target_mu: float, predicted: Predicted | None = None, correction: float | None = None
    ) -> Corrected:
        """The second-order terms count as far as the predictor itself can go, unless `correction` is given."""
        at, reach, predicted = self.at, Reach(self.quadratic), predicted or self.predictor()
        share = float(np.prod(predicted.reach.max_step)) if correction is None else correction
        push = self.push + share * predicted.second_order + target_mu * predicted.centring
        goal = np.maximum(target_mu, self.min_s * at.weights) - share * predicted.weights * predicted.s
        weights, s = self._weights(push, goal)
        reach.add(at.s, at.weights, s, weights)
        found = Corrected(weights, s, self.task.margins(weights), reach, predicted, target_mu, share)
        for blocks, step, _ in self.steps_in_chunks(found):
            reach.add_blocks(blocks, step)
        return found

    def max_step(self, direction: PairDirection) -> Array:
        return direction.reach.max_step

    def mu_after(self, length: Array, direction: PairDirection) -> float:
        return direction.reach.complementarity(length) / self.at.complementarity * self.at.mu

    def advance(self, length: Array, direction: Corrected) -> PairIterate:
        """One length for multipliers and one for the rest."""
        after, (dual, primal) = PairBlocks.empty(len(self.lack)), length
        for blocks, step, rows in self.steps_in_chunks(direction):
            for new, old, change, own in zip(after, blocks, step, (dual, dual, primal, primal), strict=True):
                np.add(old, own * change, out=new[rows])
        return PairIterate(self.at.weights + primal * direction.weights, self.at.s + dual * direction.s, after)

    def steps_in_chunks(self, direction: Corrected) -> Iterator[tuple[PairBlocks, PairBlocks, slice]]:
        """The blocks of some pairs at a time, and their steps."""
        target, correction = direction.target, direction.correction
        for rows in chunks(len(self.lack)):
            blocks, lack = self.at.blocks.part(rows), self.lack[rows]
            first, second = blocks.step(lack, direction.predicted.change[rows], 0.0, 0.0).products
            goals = target - correction * first, target - correction * second
            yield blocks, blocks.step(lack, direction.change[rows], *goals), rows


def chunks(count: int) -> Iterator[slice]:
    size = SETTINGS.pair_chunk
    return (slice(first, min(first + size, count)) for first in range(0, count, size))


def regulariser_gradient(lam: float, weights: Array, quadratic: bool) -> Array:
    """R'(μ)."""
    return lam * weights if quadratic else np.full(len(weights), lam)
