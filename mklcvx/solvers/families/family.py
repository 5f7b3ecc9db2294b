"""What solving asks of a family. The defaults serve a family without an adapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ...certificate import CertifiedPoint
from ...certificate.record import ProvedPoint
from ...certificate.run import Run
from ...certificate.solution import Solution
from ...formulations._formulation import FormulationT, Own, Parameters, TaskT
from ...problem.instance import Instance

Fields: TypeAlias = dict[str, Own]  # of a solution: those that a family fills in
PointT = TypeVar("PointT", bound=CertifiedPoint)
ProvedT = TypeVar("ProvedT", bound=ProvedPoint)
AIM = 0.5  # of the tolerance: the gap that solvers aim at, which leaves room for rounding


class Found(NamedTuple, Generic[FormulationT, TaskT, PointT]):
    """A solver's point, and the problem it was found for. `working` is the task in the solver's coordinates. With
    `polish` the point may be improved, and with `refine` its last bits, too; without them, as for a published
    algorithm, it is reported as it was found, its equalities made exact. `others` are points that may be worth more
    once they are certified."""

    formulation: FormulationT
    task: TaskT
    working: TaskT
    point: PointT
    tolerance: float
    instance: Instance
    parameters: Parameters
    polish: bool = True
    refine: bool = True
    others: tuple[PointT, ...] = ()


FoundT = TypeVar("FoundT", bound=Found)


class FamilyAssembler(Generic[TaskT, FoundT, ProvedT]):
    """The defaults, which a family may override."""

    def working(self, task: TaskT) -> tuple[TaskT, float]:
        """The task in the solvers' coordinates, and the share of the tolerance that solvers aim at."""
        return task, AIM

    def quickly(
        self, formulation: Own, task: TaskT, tolerance: float, **given: Own
    ) -> tuple[CertifiedPoint, Run] | None:
        """The optimum by a way that is shorter than that of `auto`, where there is one and it arrives; else None."""
        return None

    def attempts(self, result: FoundT) -> Iterator[Mapping[str, object]]:
        """Points to certify, in this order, until one proves the tolerance. Keys are the keyword arguments of the
        family's function in `certificate.families`."""
        yield {"dual": result.point.lower.point, "primal": result.point.upper.point}

    def fields(self, result: FoundT, proved: ProvedT) -> tuple[Fields, str]:
        """The fields of the solution that differ from EMPTY, and a message if anything else is not proved."""
        signs = result.instance.targets.signs(result.formulation.name)
        y = signs[0] if result.instance.targets.kind == "y" else signs
        weights, multipliers = attrgetter("weights", "multipliers")(proved)
        return {"weights": weights, "y": y, "multipliers": dict(multipliers)}, ""

    def why_not(self, task: TaskT, solution: Solution) -> str:
        """A more specific message why a solution is not certified, or an empty string."""
        return ""


EMPTY: Fields = {
    "alpha": None, "bias": 0.0, "bias_interval": None, "coefficients": None, "norms": None, "multipliers": {},
}  # fmt: skip


def unweighted(instance: Instance, what: str) -> list[str]:
    even = np.ptp(instance.sample_weight) == 0
    return [] if even else [f"the sample weights play no part in {what}"]
