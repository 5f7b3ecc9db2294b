"""Who certifies the points of which family: one function each, with one signature.

A function takes the formulation, the task, the tolerance, and as keywords the parts of the point, whatever the family
has. It returns the certificate together with the very point that it was evaluated at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..errors import InputError
from ..formulations import Formulation, SingleTask
from ..formulations.families.hypergraph import Hypergraph
from ..formulations.families.multi_label import MultiLabel
from ..formulations.families.two_stage import TwoStage
from . import alignment, hypergraphs, labels, pairs, proving
from .record import Certificate


class Proved(Protocol):
    """A certified point; `limit` says what keeps its certificate from being tighter."""

    @property
    def certificate(self) -> Certificate: ...

    @property
    def limit(self) -> str: ...


def two_stages(formulation: Formulation, task: Any, **point: Any) -> Proved:
    if formulation.maximises:
        return alignment.certified(**point)
    return pairs.certified(formulation.name, task, **point)


CERTIFIED: dict[str, Callable[..., Proved]] = {
    SingleTask.family: proving.certified,
    MultiLabel.family: lambda formulation, task, **point: labels.certified(formulation.name, task, **point),
    TwoStage.family: two_stages,
    Hypergraph.family: lambda formulation, task, **point: hypergraphs.certified(task, **point),
}


def certified(formulation: Formulation, task: Any, tolerance: float, **point: Any) -> Proved:
    """The certificate of a point, by the function of its family."""
    if formulation.family not in CERTIFIED:
        raise InputError(f"solve does not cover {formulation.family}: its points have no certificate")
    return CERTIFIED[formulation.family](formulation, task, tolerance=tolerance, **point)
