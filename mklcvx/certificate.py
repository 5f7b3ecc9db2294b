"""The certificate: a lower and an upper bound on the optimal value, computed without a solver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .errors import InternalError
from .formulations import Formulation, Points
from .formulations._formulation import Bound

# Bounds are sums of n terms in double precision. Bounds that cross by more than ROUNDING prove nothing; by more than
# DEFECT, they contradict weak duality.
ROUNDING, DEFECT = 1e-9, 1e-6


@dataclass(frozen=True)
class Certificate:
    """lower ≤ optimal value ≤ upper. `scale` is the largest absolute term of the two objectives at the point."""

    lower: float
    upper: float
    scale: float

    @property
    def gap(self) -> float:
        return self.upper - self.lower

    @property
    def relative_gap(self) -> float:
        size = max(abs(self.lower), abs(self.upper), self.scale)
        return self.gap / size if size > 0 else self.gap

    def proves(self, tolerance: float) -> bool:
        return -ROUNDING <= self.relative_gap <= tolerance

    def as_dict(self) -> dict[str, float]:
        return {
            "lower": self.lower,
            "upper": self.upper,
            "gap": self.gap,
            "relative_gap": self.relative_gap,
            "scale": self.scale,
        }


@dataclass(frozen=True)
class CertifiedPoint:
    """The bounds of a dual point and of a primal point, with the certificate they make together."""

    lower: Any
    upper: Any

    @property
    def certificate(self) -> Certificate:
        scale = max(self.lower.largest_term, self.upper.largest_term)
        certificate = Certificate(self.lower.value, self.upper.value, scale)
        if not math.isfinite(certificate.gap) or certificate.relative_gap < -DEFECT:
            raise InternalError(
                f"the bounds contradict weak duality: lower {self.lower.value!r}, upper {self.upper.value!r}"
            )
        return certificate


def certify(
    formulation: Formulation, task: Any, points: Points, so_far: CertifiedPoint | None = None
) -> CertifiedPoint:
    """The best lower bound that any of the dual points proves, and the best upper bound of any primal point."""
    lowers = [formulation.lower(task, dual) for dual in points.duals]
    uppers = [formulation.upper(task, primal) for primal in points.primals]
    if so_far is not None:
        lowers, uppers = [so_far.lower, *lowers], [so_far.upper, *uppers]
    return CertifiedPoint(max(lowers, key=_value), min(uppers, key=_value))


def _value(bound: Bound) -> float:
    return bound.value
