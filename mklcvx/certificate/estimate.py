"""Bounds in plain double precision: what an algorithm is steered by, on its way to a certificate.

They are the two objectives at feasible points, without an account of rounding. `certified` has that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..formulations import Formulation, Points
from ..formulations._formulation import Bound
from .record import Certificate

NOISE = 2.0**-50  # of the largest term: what a difference of two bounds is worth


@dataclass(frozen=True)
class CertifiedPoint:
    """The bounds of a dual point and of a primal point; `scale` is what their gap is compared with."""

    lower: Any
    upper: Any
    scale: float

    @property
    def certificate(self) -> Certificate:
        """Of the two bounds as they are: an estimate. What they cross by is rounding, and counts as a gap."""
        lower, upper = self.lower.value, self.upper.value
        noise = NOISE * max(abs(lower), abs(upper), self.lower.largest_term, self.upper.largest_term)
        return Certificate(lower, upper, self.scale, width=abs(upper - lower), rounding=noise)


def certify(
    formulation: Formulation, task: Any, points: Points, so_far: CertifiedPoint | None = None
) -> CertifiedPoint:
    """The best lower bound that any of the dual points gives, and the best upper bound of any primal point."""
    lowers = [formulation.lower(task, dual) for dual in points.duals]
    uppers = [formulation.upper(task, primal) for primal in points.primals]
    if so_far is not None:
        lowers, uppers = [so_far.lower, *lowers], [so_far.upper, *uppers]
    return joined(formulation, max(lowers, key=_value), min(uppers, key=_value))


def joined(formulation: Formulation, lower: Any, upper: Any) -> CertifiedPoint:
    return CertifiedPoint(lower, upper, formulation.scale(lower, upper))


def _value(bound: Bound) -> float:
    return bound.value
