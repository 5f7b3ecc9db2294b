"""The sample side in exact numbers: signs, losses and bias, and everything about α that needs no kernel.

Prices are what NumPy makes of the parameter times the weights of the samples, C or the double 1/(νn): those doubles
define the problem. Rounding may put a ν at its limit beyond it: where the multiples of g = 2⁻⁵² inside the box do not
reach the total that α must have, every box is the next multiple of g above it. Where the tube ε is an unknown, N is the
double ν times the sum of the prices, correctly rounded, and part of the problem as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, fmpq

from ...problem.instance import Instance
from .balls import ONE, ZERO, Array, added, exact, exacts, filled, middle, total
from .losses import COUNTED, FREE_MARGIN, FREE_TUBE, LABELLED, LOSSES, Bend, Quadratic, clipped, counts_end, flat_bottom

GRID = fmpq(1, 2**52)


@dataclass(frozen=True)
class Samples:
    """low ≤ α ≤ high, s'α = 0 with a bias; where the margin ρ is free, 1'α = 1; where the tube ε is, ‖α‖₁ ≤ N = `most`.
    ρ or ε is the level."""

    signs: tuple[int, ...]
    losses: tuple[Any, ...]  # of every sample
    free_margin: bool = False
    bias: bool = True
    most: fmpq | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, instance: Instance, targets: Array, parameters: Mapping[str, Any], bias: bool) -> Samples:
        """Labels ±1 are targets, or a response; what they are does not matter where the loss takes none."""
        price, nu = parameters.get("C"), parameters.get("nu", 1.0)
        loss = parameters.get("loss", "nu" if price is None else "hinge")
        prices = (1.0 / (nu * instance.samples) if price is None else price) * instance.sample_weight
        given = {**parameters, "low": counts_end(targets, prices)} if loss in COUNTED else parameters
        losses = (LOSSES[loss](exact(y), float(c), given) for y, c in zip(targets, prices, strict=True))
        signs = tuple(int(y) if loss in LABELLED else 1 for y in targets)
        most = exact(nu * math.fsum(prices)) if loss in FREE_TUBE else None
        made = cls(signs, tuple(losses), loss in FREE_MARGIN, bias, most=most)
        return made._roomy() if made.free_margin else made

    @classmethod
    def hinges(cls, y: Sequence[int], box: Sequence[fmpq], free_margin: bool = False, bias: bool = True) -> Samples:
        """Support vector machines: 0 ≤ α ≤ box."""
        a = ZERO if free_margin else ONE
        return cls(tuple(y), tuple(Quadratic(a, ZERO, ZERO, ZERO, cap) for cap in box), free_margin, bias)

    def _roomy(self) -> Samples:
        steps = [int(one.high.p * 2**52) // int(one.high.q) for one in self.losses]
        if self._room([step * GRID for step in steps]) >= 1:
            return self
        raised = [(step + 1) * GRID for step in steps]
        room = min(self._room(raised), ONE)  # below 1 if ν exceeds its limit by more than rounding, and was accepted
        return self.hinges(self.signs, [cap / room for cap in raised], True, self.bias)

    def _room(self, box: list[fmpq]) -> fmpq:
        """The largest multiple of an α with 1'α = 1 that has room."""
        return min(len(self.sides) * total(box[i] for i in side) for side in self.sides)

    @cached_property
    def sides(self) -> list[list[int]]:
        """The samples whose α have a sum of their own where ρ is free: with a bias either class, else all."""
        classes = [[i for i, sign in enumerate(self.signs) if sign == side] for side in (1, -1)]
        return classes if self.bias else [list(range(len(self.signs)))]

    @property
    def hinged(self) -> bool:
        """Whether a larger f brings every margin nearer to where it costs nothing, and costs are linear."""
        return all(one.low == 0 and one.kappa == 0 for one in self.losses)

    # --------------------------------------------------------------------------------------------------- α
    def feasible(self, alpha: list[fmpq]) -> list[fmpq]:
        """α in the feasible set to the last digit. With a bias the two sides of Σ sα = 0 get the same sum, that of
        the lighter one."""
        alpha = [clipped(value, one.low, one.high) for value, one in zip(alpha, self.losses, strict=True)]
        length = total(abs(value) for value in alpha)
        if self.most is not None and length > self.most:
            alpha = [self.most / length * value for value in alpha]
        if not self.bias and not self.free_margin:
            return alpha
        size, sides = [abs(value) for value in alpha], self.sides
        if not self.free_margin:
            signed = self.signed(alpha)
            sides = [[i for i, value in enumerate(signed) if side * value > 0] for side in (1, -1)]
        target = fmpq(1, len(sides)) if self.free_margin else min(total(size[i] for i in side) for side in sides)
        for side in sides:
            caps = [2 * size[i] if self._end(i, alpha[i]) is None else self._end(i, alpha[i]) for i in side]
            for i, value in zip(side, filled([size[i] for i in side], caps, target), strict=True):
                alpha[i] = -value if alpha[i] < 0 else value
        return alpha

    def _end(self, i: int, value: fmpq) -> fmpq | None:
        """The largest |α_i| on the side of this value."""
        one = self.losses[i]
        return one.high if value >= 0 else None if one.low is None else -one.low

    def gain(self, alpha: list[fmpq]) -> arb:
        return arb(total(one.gain(value) for one, value in zip(self.losses, alpha, strict=True)))

    def signed(self, alpha: list[fmpq]) -> list[fmpq]:
        return [value if sign > 0 else -value for value, sign in zip(alpha, self.signs, strict=True)]

    @property
    def equalities(self) -> list[list[int]]:
        """Rows of coefficients: the signs with a bias, 1 where the margin is free."""
        return [list(self.signs)] * self.bias + [[1] * len(self.signs)] * self.free_margin

    # ---------------------------------------------------------------------------------------------- the risk
    def best_offsets(self, outputs: list[arb]) -> tuple[arb, arb]:
        """The bias and the level (0 where there is none) that make the risk of these outputs least, up to their
        radii."""
        f = [middle(value) for value in outputs]
        if self.most is not None:
            bias, tube = self._best_tube([one.a - value for one, value in zip(self.losses, f, strict=True)], self.most)
            return arb(bias), arb(tube)
        if not self.free_margin:
            bias = self.losses[0].least_bias(self.losses, self.signs, f) if self.bias else ZERO
            return arb(bias), arb(0)
        # In u = ρ − b and v = ρ + b the risk separates into the two classes; without a bias u = v.
        share, sides = fmpq(1, len(self.sides)), self.sides if self.bias else self.sides * 2
        boxes = [[self.losses[i].high for i in side] for side in sides]
        margins = [[self.signs[i] * f[i] for i in side] for side in sides]
        u, v = (flat_bottom(*rows, share) for rows in zip(margins, boxes, strict=True))
        return arb((v - u) / 2), arb((u + v) / 2)

    def _best_tube(self, r: list[fmpq], most: fmpq) -> tuple[fmpq, fmpq]:
        """The same for residuals r without a bias: in u = b + ε and l = b − ε the risk separates."""
        caps = [one.high for one in self.losses]
        if not self.bias:
            return ZERO, max(-flat_bottom([-abs(value) for value in r], caps, most), ZERO)
        u, low = -flat_bottom([-value for value in r], caps, most / 2), flat_bottom(r, caps, most / 2)
        return (u + low) / 2, max((u - low) / 2, ZERO)

    def residuals(self, outputs: list[arb], bias: arb, level: arb) -> list[arb]:
        """a + ρ − s(f + b)."""
        rows, rho = zip(self.losses, self.signs, outputs, strict=True), level if self.free_margin else arb(0)
        return [arb(one.a) + rho - sign * (value + bias) for one, sign, value in rows]

    def lack(self, outputs: list[arb], alpha: list[fmpq]) -> float:
        """How far the margins of free samples are from their level."""
        rows = zip(self.residuals(outputs, *self.best_offsets(outputs)), alpha, self.losses, strict=True)
        return max((float(abs(r)) for r, a, one in rows if 0 < a < one.high), default=0.0)

    def risk(self, outputs: list[arb], bends: Sequence[Bend]) -> arb:
        """What the residuals cost at the best bias and level, less ρ, or with Nε, and what ridges add to each."""
        if not all(value.is_finite() for value in outputs):
            return arb.pos_inf()
        bias, level = self.best_offsets(outputs)
        rows = zip(self.at(level), self.residuals(outputs, bias, level), bends, strict=True)
        return added(one.cost(r, bend) for one, r, bend in rows) + self.level_cost(level)

    def level_cost(self, level: arb) -> arb:
        """What the level itself adds: −ρ, or Nε."""
        return -level if self.most is None else arb(self.most) * level

    def at(self, level: arb) -> Sequence[Any]:
        """The losses at this tube, where it is an unknown."""
        return self.losses if self.most is None else [replace(one, epsilon=middle(level)) for one in self.losses]

    def reach(self, outputs: list[arb], rate: arb) -> arb:
        """The most that rate·‖α̂‖ can add to the risk: rate times the longest α̂. As the risk falls by at least
        ½κ‖α̂ − α*‖² away from the maximiser α*, it is at most rate·‖α*‖ + rate²/(2κ), too."""
        if rate == 0:
            return arb(0)
        found, least = [arb.pos_inf()], min(one.kappa for one in self.losses)
        if all(one.low is not None and one.high is not None for one in self.losses):
            found.append(rate * arb(total(max(one.high, -one.low) ** 2 for one in self.losses)).sqrt())
        if least > 0 and all(value.is_finite() for value in outputs):
            residuals = self.residuals(outputs, *self.best_offsets(outputs))
            best = added(one.called_for(r) ** 2 for one, r in zip(self.losses, residuals, strict=True)).sqrt()
            found.append(rate * best + rate**2 / (2 * arb(least)))
        return min(found, key=lambda ball: ball.upper())


def as_exact(alpha: Any) -> list[fmpq]:
    return exacts(np.asarray(alpha, dtype=float).ravel())


def nothing(count: int) -> list[arb]:
    return [arb(0)] * count
