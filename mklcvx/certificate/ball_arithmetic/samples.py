"""The sample side in exact numbers: labels, box, loss and bias, and everything about α that needs no kernel.

The box is what NumPy makes of the price times the weights of the samples, C or the double 1/(νn): those doubles define
the problem. Rounding may put a ν at its limit beyond it: where the multiples of g = 2⁻⁵² inside the box do not
reach the total that α must have, every box is the next multiple of g above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, fmpq

from ...problem.instance import Instance
from .balls import ONE, ZERO, Array, added, exacts, filled, middle, total

GRID = fmpq(1, 2**52)


@dataclass(frozen=True)
class Samples:
    """0 ≤ α ≤ box, y'α = 0 with a bias; loss nu: 1'α = 1, and no gain."""

    y: tuple[int, ...]
    box: tuple[fmpq, ...]
    free_margin: bool = False  # whether ρ is an unknown: then 1'α = 1, and there is no gain
    bias: bool = True

    @classmethod
    def of(cls, instance: Instance, labels: Array, parameters: Mapping[str, Any], bias: bool) -> Samples:
        nu = parameters.get("nu")
        price = parameters["C"] if nu is None else 1.0 / (nu * instance.samples)
        box = tuple(exacts(price * instance.sample_weight))
        made = cls(tuple(int(sign) for sign in labels), box, nu is not None, bias)
        return made._roomy() if made.free_margin else made

    def _roomy(self) -> Samples:
        steps = [int(cap.p * 2**52) // int(cap.q) for cap in self.box]
        if self._room([step * GRID for step in steps]) >= 1:
            return self
        raised = [(step + 1) * GRID for step in steps]
        room = min(self._room(raised), ONE)  # below 1 if ν exceeds its limit by more than rounding, and was accepted
        return replace(self, box=tuple(cap / room for cap in raised))

    def _room(self, box: list[fmpq]) -> fmpq:
        """The largest multiple of an α with 1'α = 1 that has room."""
        return min(len(self.sides) * total(box[i] for i in side) for side in self.sides)

    @cached_property
    def sides(self) -> list[list[int]]:
        """The samples whose α have a sum of their own: with a bias either class, else all."""
        classes = [[i for i, y in enumerate(self.y) if y == sign] for sign in (1, -1)]
        return classes if self.bias else [list(range(len(self.y)))]

    # --------------------------------------------------------------------------------------------------- α
    def feasible(self, alpha: list[fmpq]) -> list[fmpq]:
        """α in the feasible set to the last digit."""
        alpha = [min(max(value, ZERO), cap) for value, cap in zip(alpha, self.box, strict=True)]
        least = min(total(alpha[i] for i in side) for side in self.sides)
        target = fmpq(1, len(self.sides)) if self.free_margin else least
        for side in self.sides:
            moved = filled([alpha[i] for i in side], [self.box[i] for i in side], target)
            for i, value in zip(side, moved, strict=True):
                alpha[i] = value
        return alpha

    def gain(self, alpha: list[fmpq]) -> fmpq:
        return ZERO if self.free_margin else total(alpha)

    def signed(self, alpha: list[fmpq]) -> list[fmpq]:
        return [value if sign > 0 else -value for value, sign in zip(alpha, self.y, strict=True)]

    @property
    def equalities(self) -> list[list[int]]:
        """Rows of coefficients: y with a bias, 1 for loss nu."""
        return [list(self.y)] * self.bias + [[1] * len(self.y)] * self.free_margin

    # ---------------------------------------------------------------------------------------------- the risk
    def best_offsets(self, outputs: list[arb]) -> tuple[arb, arb]:
        """The bias and the level (1, or ρ) that make the hinge loss of these outputs least, up to their radii."""
        f, box = [middle(value) for value in outputs], self.box
        if not self.free_margin:
            if not self.bias:
                return arb(0), arb(1)
            breaks = [sign - value for sign, value in zip(self.y, f, strict=True)]
            return arb(flat_bottom(breaks, box, total(box[i] for i in self.sides[0]))), arb(1)
        # In u = ρ − b and v = ρ + b the risk separates into the two classes; without a bias u = v.
        share, sides = fmpq(1, len(self.sides)), self.sides if self.bias else self.sides * 2
        u, v = (flat_bottom([self.y[i] * f[i] for i in side], [box[i] for i in side], share) for side in sides)
        return arb((v - u) / 2), arb((u + v) / 2)

    def margins(self, outputs: list[arb], bias: arb) -> list[arb]:
        return [sign * (value + bias) for sign, value in zip(self.y, outputs, strict=True)]

    def risk(self, outputs: list[arb], at_zero: list[arb], at_box: list[arb]) -> arb:
        """Σ_i max(at_zero_i, box_i (level − m_i) + at_box_i), less ρ for loss nu, at the best bias (and ρ)."""
        if not all(value.is_finite() for value in outputs):
            return arb.pos_inf()
        bias, level = self.best_offsets(outputs)
        rows = zip(self.box, self.margins(outputs, bias), at_zero, at_box, strict=True)
        loss = added(zero.max(arb(cap) * (level - margin) + full) for cap, margin, zero, full in rows)
        return loss - level if self.free_margin else loss


def flat_bottom(breaks: Any, slopes: Any, target: fmpq) -> fmpq:
    """Where a convex piecewise linear function is least: its slope starts at −target and grows by slopes[i] at
    breaks[i]. The middle where it is least on an interval."""
    order, reached = sorted(range(len(breaks)), key=lambda i: breaks[i]), ZERO
    for place, i in enumerate(order):
        reached += slopes[i]
        if reached >= target:
            last = reached > target or place + 1 == len(order)
            return breaks[i] if last else (breaks[i] + breaks[order[place + 1]]) / 2
    return breaks[order[-1]]


def nothing(count: int) -> list[arb]:
    return [arb(0)] * count


def as_exact(alpha: Any) -> list[fmpq]:
    return exacts(np.asarray(alpha, dtype=float).ravel())
