"""From a solver's point to its certificate and to the fields of a solution; what differs, the families say."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..certificate import Certificate
from ..certificate.families import certified
from ..formulations import Formulation
from .families.family import EMPTY, Family, Found
from .families.hypergraph import Hypergraphs
from .families.multi_label import ManyLabels
from .families.single_task import SingleTasks
from .families.two_stage import TwoStages

FAMILIES: dict[str, Family] = {
    "single task": SingleTasks(),
    "many labels": ManyLabels(),
    "two stages": TwoStages(),
    "hypergraph": Hypergraphs(),
}


class Assembled(NamedTuple):
    """The certificate, the fields of the solution, what keeps the certificate from being tighter ("rounding",
    "entries", or nothing), and what else is not proved, in words."""

    certificate: Certificate
    fields: dict[str, Any]
    limit: str = ""
    failed: str = ""


def family_of(formulation: Formulation) -> Family:
    return FAMILIES.get(formulation.family, Family())


def assemble(found: Found) -> Assembled:
    """The first of the family's attempts that proves the tolerance, else the one with the least gap."""
    family, tried = family_of(found.formulation), []
    for attempt in family.attempts(found):
        tried.append(certified(found.formulation, found.task, found.tolerance, **attempt))
        if tried[-1].certificate.proves(found.tolerance):
            break

    def rank(one: Any) -> tuple[bool, float]:
        certificate = one.certificate
        return not certificate.proves(found.tolerance), math.inf if math.isnan(certificate.gap) else certificate.gap

    best = min(tried, key=rank)
    fields, failed = family.fields(found, best)
    value = best.certificate.lower if found.formulation.maximises else best.certificate.upper
    return Assembled(best.certificate, {**EMPTY, "objective": value, **fields}, best.limit, failed)
