"""What solving asks of a family. The defaults serve a family without an adapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...certificate import CertifiedPoint
from ...certificate.solution import Solution
from ...formulations import Formulation
from ...problem.instance import Instance

AIM = 0.5  # of the tolerance: the gap that solvers aim at, which leaves room for rounding


class Found(NamedTuple):
    """A solver's point, and the problem it was found for. `working` is the task in the solver's coordinates. With
    `polish` the point may be improved, and with `refine` its last bits, too; without them, as for a published
    algorithm, it is reported as it was found, its equalities made exact."""

    formulation: Formulation
    task: Any
    working: Any
    point: CertifiedPoint
    tolerance: float
    instance: Instance
    parameters: Mapping[str, Any]
    polish: bool = True
    refine: bool = True


class Family:
    """The defaults, which a family may override."""

    def working(self, task: Any) -> tuple[Any, float]:
        """The task in the solvers' coordinates, and the share of the tolerance that solvers aim at."""
        return task, AIM

    def attempts(self, found: Found) -> Iterator[dict[str, Any]]:
        """Points to certify, in this order, until one proves the tolerance. Keys are the keyword arguments of the
        family's function in `certificate.families`."""
        yield {"dual": found.point.lower.point, "primal": found.point.upper.point}

    def fields(self, found: Found, proved: Any) -> tuple[dict[str, Any], str]:
        """The fields of the solution that differ from EMPTY, and a message if anything else is not proved."""
        signs = found.instance.targets.signs(found.formulation.name)
        y = signs[0] if found.instance.targets.kind == "y" else signs
        return {"weights": proved.weights, "y": y, "multipliers": dict(proved.multipliers)}, ""

    def why_not(self, task: Any, solution: Solution) -> str:
        """A more specific message why a solution is not certified, or an empty string."""
        return ""


EMPTY: dict[str, Any] = {
    "alpha": None, "bias": 0.0, "bias_interval": None, "coefficients": None, "norms": None, "multipliers": {},
}  # fmt: skip


def unweighted(instance: Instance, what: str) -> list[str]:
    even = np.ptp(instance.sample_weight) == 0
    return [] if even else [f"the sample weights play no part in {what}"]
