"""From a solver's point to its certificate and to the fields of a solution, with one adapter for each family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..certificate import Certificate
from ..certificate.families import certified
from ..certificate.record import ProvedPoint, best_of, limit_of, rank
from ..formulations import Formulation
from .families.family import EMPTY, FamilyAssembler, Fields, Found
from .families.hypergraph import HypergraphAssembler
from .families.joint import JointAssembler
from .families.multi_label import MultiLabelAssembler
from .families.single_task import SingleTaskAssembler
from .families.two_stage import TwoStageAssembler

FAMILIES: dict[str, FamilyAssembler] = {
    "single task": SingleTaskAssembler(),
    "joint outputs": JointAssembler(),
    "many labels": MultiLabelAssembler(),
    "two stages": TwoStageAssembler(),
    "hypergraph": HypergraphAssembler(),
}


DOUBT = 10.0  # times: the estimate of a point near the optimum may be so much larger than its certified gap
RECENT = 6  # points that are near the best one, of which estimates may say little


def family_of(formulation: Formulation) -> FamilyAssembler:
    return FAMILIES.get(formulation.family, FamilyAssembler())


def assemble(result: Found) -> tuple[Certificate, Fields, str, str]:
    """Certify the family's attempts until one proves the tolerance; else take the best.

    Returns the certificate, the fields of the solution, what keeps the certificate from being tighter ("rounding",
    "entries", or nothing), and what else is not proved, in words.
    """
    tried = list[ProvedPoint]()
    for attempt in _attempts(result, tried):
        tried.append(certified(result.formulation, result.task, result.tolerance, **attempt))
        if tried[-1].certificate.proves(result.tolerance):
            break
    best = tried[-1] if tried[-1].certificate.proves(result.tolerance) else best_of(tried)
    fields, failed = family_of(result.formulation).fields(result, best)
    value = best.certificate.lower if result.formulation.maximises else best.certificate.upper
    return (
        best.certificate,
        {**EMPTY, "objective": value, "slopes": best.slopes, **fields},
        limit_of(best.certificate, result.tolerance),
        failed,
    )


def _attempts(result: Found, tried: Sequence[ProvedPoint]) -> Iterator[Mapping[str, object]]:
    """Those of the point found, then those of the others, the last ones first: of all whose estimate is below the best
    certified gap by then, which may have paid for δ. Estimates are less sure near the optimum, and where the scale
    vanishes they say nothing: f = 0 bounds from above, and the α beside it may be worth more."""
    family = family_of(result.formulation)
    yield from family.attempts(result)
    for age, point in enumerate(reversed(result.others)):
        best = min(rank(proved.certificate) for proved in tried)
        recent, estimate = age < RECENT, point.certificate
        unsure = not result.refine and (recent or estimate.vanishing)
        if unsure or rank(estimate) <= (DOUBT if recent else 1.0) * best:
            yield from family.attempts(result._replace(point=point, polish=False, refine=False))
