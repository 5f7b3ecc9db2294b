"""Newton's equations for weights and pairs together, at one interior point of `_pair_point`.

    μ:      R'(μ) − Σ β t z − s = 0                 s·μ = τ
    pairs:  t μ'z − 1 − σ + ξ = 0                   β·σ = (w − β)·ξ = τ

Pairs are eliminated first. With D = σ/β + ξ/(w − β) and f what the margin lacks of 1 and the products ask for,

    dβ = (f − t z'dμ)/D,      (R'' + s/μ + Σ z z'/D) dμ = −(R' − Σ β t z − s) + (τ − s·μ)/μ + Σ (f/D) t z

so that the matrix is M×M whatever the number of pairs. A step reads the K-examples three times: for matrix, margins and
the predictor's right-hand side; for the predictor's margins with the corrector's right-hand side, which is linear in
its target and in its share of what the predictor neglects; and for the corrector's margins. Beside its sides a pair
needs three numbers: its margin, and how predictor and corrector change it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...formulations.families.pairs import weighted_gram
from ...formulations.families.two_stage import PairTask
from .pair_point import Array, PairInterior, Reach, Sides
from .qp import factored

REFINEMENTS = 2
RIDGE = 1e-16  # of the diagonal: kernels that are nearly alike differ in little else
CHUNK = 2**15  # pairs at a time where no kernel is read


class Predicted(NamedTuple):
    """The step towards products of zero, how far it can go, and two parts of the corrector's right-hand side: what the
    predictor neglects, and a target of one."""

    mu: Array
    floor: Array
    change: Array
    reach: Reach
    neglected: Array
    centring: Array


class Corrected(NamedTuple):
    """The step towards products of `target`, corrected by a share `trust` of what the predictor neglects."""

    mu: Array
    floor: Array
    change: Array
    reach: Reach
    predicted: Predicted
    target: float
    trust: float


class PairNewton:
    """The factored system; `curved` tells the two regularisers apart: (λ/2)‖μ‖² and λ Σμ."""

    def __init__(self, task: PairTask, at: PairInterior, curved: bool) -> None:
        self.task, self.at, self.curved = task, at, curved
        self.lack = np.empty(len(task.labels))
        self.push, pull, matrix = np.zeros(task.count), np.zeros(task.count), np.zeros((task.count, task.count))
        for rows, z in task.pairs.blocks():
            labels, sides, lack = task.labels[rows], at.sides.part(rows), self.lack[rows]
            softness = sides.softness
            np.subtract(1.0, labels * (at.mu @ z), out=lack)
            matrix += weighted_gram(z, softness)
            pull += z @ (labels * sides.beta)
            self.push += z @ (labels * softness * lack)
        self.off = slope(task.lam, at.mu, curved) - pull - at.floor
        matrix[np.diag_indices(task.count)] += at.floor / at.mu + task.lam * curved
        self.scale = 1 / np.sqrt(np.diag(matrix))
        self.matrix = self.scale[:, None] * matrix * self.scale
        self.inverse = factored(self.matrix, RIDGE)

    def solve(self, right: Array) -> Array:
        """With a diagonal of ones, whatever the kernels' sizes."""
        scaled = self.scale * right
        found = self.inverse(scaled)
        for _ in range(REFINEMENTS):
            found = found + self.inverse(scaled - self.matrix @ found)
        return self.scale * found

    def _weights(self, push: Array, goal: Array | float) -> tuple[Array, Array]:
        """dμ and ds, towards products s·μ of `goal`."""
        at = self.at
        mu = self.solve(push - self.off + goal / at.mu - at.floor)
        return mu, (goal - at.floor * mu) / at.mu - at.floor

    def predict(self) -> Predicted:
        task, at = self.task, self.at
        mu, floor = self._weights(self.push, 0.0)
        change, reach = np.empty(len(self.lack)), Reach(self.curved)
        reach.see(at.floor, at.mu, floor, mu)
        neglected, centring = np.zeros(task.count), np.zeros(task.count)
        for rows, z in task.pairs.blocks():
            labels, sides = task.labels[rows], at.sides.part(rows)
            np.multiply(labels, mu @ z, out=change[rows])
            step, softness = sides.step(self.lack[rows], change[rows], 0.0, 0.0), sides.softness
            reach.see_sides(sides, step)
            over, under = step.products
            neglected -= z @ (labels * softness * sides.push(over, under))
            centring += z @ (labels * softness * sides.push(1.0, 1.0))
        return Predicted(mu, floor, change, reach, neglected, centring)

    def correct(self, predicted: Predicted, target: float, trust: float, grain: Array | float = 0.0) -> Corrected:
        """No s is sent below its `grain`."""
        at, reach = self.at, Reach(self.curved)
        push = self.push + trust * predicted.neglected + target * predicted.centring
        goal = np.maximum(target, grain * at.mu) - trust * predicted.mu * predicted.floor
        mu, floor = self._weights(push, goal)
        reach.see(at.floor, at.mu, floor, mu)
        corrected = Corrected(mu, floor, self.task.margins(mu), reach, predicted, target, trust)
        for sides, step, _ in self._in_chunks(corrected):
            reach.see_sides(sides, step)
        return corrected

    def moved(self, corrected: Corrected, dual: float, primal: float) -> PairInterior:
        """The point after a step, with one length for multipliers and one for the rest."""
        after = Sides.empty(len(self.lack))
        for sides, step, rows in self._in_chunks(corrected):
            for new, old, change, length in zip(after, sides, step, (dual, dual, primal, primal), strict=True):
                np.add(old, length * change, out=new[rows])
        return PairInterior(self.at.mu + primal * corrected.mu, self.at.floor + dual * corrected.floor, after)

    def _in_chunks(self, corrected: Corrected) -> Iterator[tuple[Sides, Sides, slice]]:
        """Sides and their corrected steps."""
        predicted, target, trust = corrected.predicted, corrected.target, corrected.trust
        for rows in chunks(len(self.lack)):
            sides, lack = self.at.sides.part(rows), self.lack[rows]
            over, under = sides.step(lack, predicted.change[rows], 0.0, 0.0).products
            goals = target - trust * over, target - trust * under
            yield sides, sides.step(lack, corrected.change[rows], *goals), rows


def chunks(count: int) -> Iterator[slice]:
    return (slice(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK))


def slope(lam: float, mu: Array, curved: bool) -> Array:
    """R'(μ)."""
    return lam * mu if curved else np.full(len(mu), lam)
