"""A problem in balls, the point that its bounds are evaluated at, and the enclosure of its optimal value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from flint import arb

from ...problem.instance import Instance
from ..solution import Solution
from .balls import Array, rounded_up
from .kernels import KernelBalls, Settled
from .samples import Samples

WIDTH = 1e-8
ULP = 2.0**-52


@dataclass(frozen=True)
class Point:
    """α, weights, multipliers, and coefficients where weights and α do not imply them; who found it, and its gap."""

    alpha: Array | None
    weights: Array
    coefficients: Array | None
    multipliers: Mapping[str, float | Array]
    origin: str
    gap: float | None = None
    fault: str = ""

    @classmethod
    def of(cls, solution: Solution) -> Point:
        multipliers, gap = solution.multipliers, solution.certificate.relative_gap
        return cls(solution.alpha, solution.weights, solution.coefficients, multipliers, solution.solver, gap)


class Stated(NamedTuple):
    """A problem in balls, and the point that its bounds are evaluated at."""

    instance: Instance
    formulation: Any
    task: Any
    kernels: KernelBalls
    parameters: Mapping[str, Any]
    point: Point

    def classes(self, bias: bool) -> list[Samples]:
        signs = self.instance.targets.signs(self.formulation.name)
        return [Samples.of(self.instance, row, self.parameters, bias) for row in signs]


class Enclosure(NamedTuple):
    """A lower and an upper bound. `scale` is the part of the two objectives that the kernels have; `size` is a size of
    what cancels in the value, where that may vanish. An ulp of `size`, or of the value, is sharp whatever the scale."""

    lower: arb
    upper: arb
    scale: arb
    settled: dict[str, Settled]
    size: arb = arb(0)

    @property
    def relative_width(self) -> float:
        width = (self.upper - self.lower).upper()
        if not width.is_finite():
            return math.inf
        unit = max(self.scale.lower(), self.rounding / WIDTH)
        return rounded_up(width.max(arb(0)) / unit) if unit > 0 else 0.0 if width <= 0 else math.inf

    @property
    def rounding(self) -> arb:
        return ULP * max(abs(self.lower).lower(), abs(self.upper).lower(), self.size.lower())

    @property
    def sharp(self) -> bool:
        return self.relative_width <= WIDTH

    @property
    def blurred(self) -> bool:
        """Whether the radii of the balls contribute to the width."""
        radii = (self.lower.rad() + self.upper.rad()).upper()
        unit = max(self.scale.lower(), self.rounding)
        return not (radii.is_finite() and radii <= WIDTH / 1000 * unit)

    def joined(self, other: Enclosure) -> Enclosure:
        """The better lower and the better upper bound: all of them hold."""
        higher = other if not self.lower.is_finite() or self.lower.lower() < other.lower.lower() else self
        better = other if not self.upper.is_finite() or self.upper.upper() > other.upper.upper() else self
        return better._replace(lower=higher.lower)


Enclosed = tuple[Enclosure, dict[str, Enclosure]]  # of the optimal value, and of the machines of a second stage
