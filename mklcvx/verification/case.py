"""The problem that an answer is judged against, with its certified optimum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import formulations
from ..certificate.solution import Solution
from ..errors import InputError
from ..problem.instance import Instance
from .parts import Enclosure, enclosure_of

FITS = 1e-6  # a hypothesis may leave this much, since the answer is as exact as its author made it
SHARP = 1e-10  # what is asked of the reference
FINER = 0.01  # of the tolerance: how much more exact the reference should be than what it judges


@dataclass(frozen=True)
class Case:
    """An instance and a formulation with all its parameters; solved when the optimum is first asked for. Formulation
    and task are those of one family, whose functions take them as such."""

    instance: Instance
    formulation: Any
    parameters: dict[str, Any]
    task: Any
    tolerance: float

    @cached_property
    def reference(self) -> Solution:
        """Finer than the tolerance: by `interior`, and where that does not serve or does not get there by `clarabel`;
        the better certificate is kept."""
        from ..solvers.solving import SOLVERS, solve

        served = {solver.name: solver.serves for solver in SOLVERS}
        name, finer, found = self.formulation.name, FINER * self.tolerance, []
        for solver in ("interior", "clarabel"):
            serves = served[solver]
            if serves is None or name in serves:
                found.append(solve(self.instance, name, solver=solver, tol=min(SHARP, finer), **self.parameters))
                if found[-1].certificate.relative_gap <= max(finer, 10 * SHARP):
                    break
        return min(found, key=lambda solution: solution.certificate.gap)

    @cached_property
    def known(self) -> Enclosure:
        return enclosure_of(self.reference.certificate)


@dataclass(frozen=True)
class Altered(Case):
    """A case with another task than its instance makes: its optimal value is what is known of it."""

    @cached_property
    def point(self) -> Any:
        from ..solvers.solving import solver_named

        given: dict[str, Any] = {"time_limit": None, "max_iter": None, "options": {}}
        method = solver_named("auto", self.formulation)
        return method.run(self.formulation, self.task, max(FINER * self.tolerance, SHARP), **given)[0]

    @cached_property
    def known(self) -> Enclosure:
        return enclosure_of(self.point.certificate)


def pose(instance: Instance, name: str, given: Mapping[str, Any], tolerance: float) -> Case:
    """A problem to judge answers at the tolerance."""
    formulation = formulations.get(name)
    task, parameters = formulation.task(instance, given)
    if parameters.get("approximate"):
        raise InputError("parameter approximate = true asks for a formula, not for an optimum: leave it out to verify")
    return Case(instance, formulation, parameters, task, tolerance)
