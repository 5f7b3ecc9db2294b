"""The declared programs of a baseline, solved and certified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...certificate import CertifiedPoint, joined
from ...formulations import Formulation
from ...problem.instance import Instance
from ...problem.numbers import check_tolerance
from ...solvers.conic import CLARABEL, solve_declared


def solved(
    formulation: Formulation,
    instance: Instance,
    given: Mapping[str, Any],
    tolerance: float,
    options: Mapping[str, Any] = CLARABEL,
) -> tuple[CertifiedPoint, dict[str, Any], str]:
    """The best certified point, the parameters with their values, and words where the tolerance was missed."""
    check_tolerance(tolerance)
    task, parameters = formulation.task(instance, given)
    point, _ = solve_declared(formulation, task, tolerance, options=dict(options))
    return point, parameters, shortfall(point, tolerance)


def shortfall(point: CertifiedPoint, tolerance: float) -> str:
    certificate = point.certificate
    if certificate.proves(tolerance):
        return ""
    return f"not certified: relative gap {certificate.relative_gap:.2e}, asked for {tolerance:.0e}"


def better(formulation: Formulation, one: CertifiedPoint, other: CertifiedPoint) -> CertifiedPoint:
    """The best of two points' bounds."""
    lower = max(one.lower, other.lower, key=lambda bound: bound.value)
    return joined(formulation, lower, min(one.upper, other.upper, key=lambda bound: bound.value))
