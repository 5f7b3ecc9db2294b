"""The point that bounds are evaluated at: a solution's, or the trivial one where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..solution import Solution
from .balls import Array


@dataclass(frozen=True)
class Point:
    """α, weights, coefficients where weights do not say it all, multipliers; who found it, and with what gap."""

    alpha: Array | None
    weights: Array
    coefficients: Array | None
    multipliers: dict[str, Any]
    origin: str
    gap: float | None = None
    fault: str = ""

    @classmethod
    def of(cls, solution: Solution) -> Point:
        multipliers, gap = solution.multipliers, solution.certificate.relative_gap
        return cls(solution.alpha, solution.weights, solution.coefficients, multipliers, solution.solver, gap)
