"""The problem that an answer is judged against, with its certified optimum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import formulations
from ..errors import InputError
from ..formulations import Formulation
from ..instance import Instance
from ..solution import Solution
from .parts import Enclosure

SHARP = 1e-10  # what is asked of the reference
FINER = 0.01  # of the tolerance: how much more exact the reference should be than what it judges


@dataclass(frozen=True)
class Case:
    """An instance, a formulation with all its parameters, and a solution that encloses the optimal value."""

    instance: Instance
    formulation: Formulation
    parameters: dict[str, Any]
    task: Any
    reference: Solution
    known: Enclosure


def pose(instance: Instance, name: str, given: Mapping[str, Any], tolerance: float) -> Case:
    """Solve the problem so finely that answers can be judged at the tolerance: by `interior`, and where it does not
    serve or does not get there by `exact`; the better certificate is kept."""
    formulation = formulations.get(name)
    task, parameters = formulation.task(instance, given)
    if parameters.get("approximate"):
        raise InputError("parameter approximate = true asks for a formula, not for an optimum: leave it out to verify")
    reference = _reference(instance, formulation, given, tolerance)
    certificate = reference.certificate
    scale = max(abs(certificate.lower), abs(certificate.upper), certificate.scale) or 1.0
    return Case(
        instance, formulation, parameters, task, reference, Enclosure(certificate.lower, certificate.upper, scale)
    )


def _reference(instance: Instance, formulation: Formulation, given: Mapping[str, Any], tolerance: float) -> Solution:
    from ..solving import SOLVERS, solve

    served = {solver.name: solver.serves for solver in SOLVERS}
    found: list[Solution] = []
    for solver in ("interior", "exact"):
        serves = served[solver]
        if serves is None or formulation.name in serves:
            found.append(solve(instance, formulation.name, solver=solver, tol=min(SHARP, FINER * tolerance), **given))
            if found[-1].certificate.relative_gap <= max(FINER * tolerance, 10 * SHARP):
                break
    return min(found, key=lambda solution: solution.certificate.gap)
