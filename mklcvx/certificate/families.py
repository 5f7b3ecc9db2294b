"""The table of families: the function that certifies the points of each.

A function takes the formulation, the task, the tolerance, and as keywords the parts of the point, whatever the family
has. It returns a record of the very point that was evaluated, with its `certificate`.
"""

from __future__ import annotations

from ..errors import InputError
from ..formulations import Formulation
from ..formulations._formulation import OfOwn, Own, Posed
from . import hypergraphs, joint, labels, pairs, proving
from .record import ProvedPoint

CERTIFIED: dict[str, OfOwn[ProvedPoint]] = {
    "single task": proving.certified,
    "joint outputs": joint.certified,
    "many labels": lambda formulation, task, **point: labels.certified(formulation.name, task, **point),
    "two stages": pairs.certified,
    "hypergraph": lambda formulation, task, **point: hypergraphs.certified(task, **point),
}


def certified(formulation: Formulation, task: Posed, tolerance: float, **point: Own) -> ProvedPoint:
    """The certificate of a point, by the function of its family."""
    if formulation.family not in CERTIFIED:
        raise InputError(f"solve does not cover {formulation.family}: its points have no certificate")
    return CERTIFIED[formulation.family](formulation, task, tolerance=tolerance, **point)
