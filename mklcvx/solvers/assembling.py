"""From a solver's point to its certificate and to the fields of a solution, with one adapter for each family."""

from __future__ import annotations

from itertools import chain

from ..certificate import Certificate
from ..certificate.families import certified
from ..certificate.record import best_of, limit_of
from ..formulations import Formulation
from .families.family import EMPTY, Family, Fields, Found
from .families.hypergraph import Hypergraphs
from .families.joint import JointFamily
from .families.multi_label import ManyLabels
from .families.single_task import SingleTasks
from .families.two_stage import TwoStages

FAMILIES: dict[str, Family] = {
    "single task": SingleTasks(),
    "joint outputs": JointFamily(),
    "many labels": ManyLabels(),
    "two stages": TwoStages(),
    "hypergraph": Hypergraphs(),
}


def family_of(formulation: Formulation) -> Family:
    return FAMILIES.get(formulation.family, Family())


def assemble(found: Found) -> tuple[Certificate, Fields, str, str]:
    """Certify the family's attempts until one proves the tolerance; else take the best.

    Returns the certificate, the fields of the solution, what keeps the certificate from being tighter ("rounding",
    "entries", or nothing), and what else is not proved, in words.
    """
    family, tried = family_of(found.formulation), []
    points = [found._replace(point=point) for point in (found.point, *found.others)]
    for attempt in chain.from_iterable(map(family.attempts, points)):
        tried.append(certified(found.formulation, found.task, found.tolerance, **attempt))
        if tried[-1].certificate.proves(found.tolerance):
            break
    best = tried[-1] if tried[-1].certificate.proves(found.tolerance) else best_of(tried)
    fields, failed = family.fields(found, best)
    value = best.certificate.lower if found.formulation.maximises else best.certificate.upper
    return (
        best.certificate,
        {**EMPTY, "objective": value, "slopes": best.slopes, **fields},
        limit_of(best.certificate, found.tolerance),
        failed,
    )
