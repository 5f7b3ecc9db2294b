"""The point that bounds are evaluated at: a solution's, or the trivial one where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...formulations import Formulation
from ...problem.instance import Instance
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

    @classmethod
    def trivial(cls, formulation: Formulation, instance: Instance, fault: str) -> Point:
        """α = 0, even weights, Z = 0 and the like; of two stages no weights at all."""
        classes = len(instance.targets.signs(formulation.name))
        shape = (instance.samples,) if formulation.family == "single task" else (classes, instance.samples)
        multipliers = {
            "gamma": np.full(classes, 1 / classes),
            "Z": np.zeros((instance.samples, 1)),
            "beta": np.zeros(instance.samples * (instance.samples + 1) // 2),
        }
        staged = formulation.family == "two stages"
        weights = np.zeros(instance.count) if staged else np.full(instance.count, 1 / instance.count)
        return cls(np.zeros(shape), weights, None, multipliers, "the trivial point", fault=fault)
