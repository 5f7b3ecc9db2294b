"""The certificate: a lower and an upper bound on the optimal value, computed without a solver."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .errors import InternalError
from .formulations import Formulation, LowerBound, Task, UpperBound

Array = NDArray[np.float64]

# Bounds are sums of n terms in double precision; a gap more negative than this contradicts weak duality.
ROUNDING = 1e-9


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
        return self.relative_gap <= tolerance

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
    """A dual point and a primal point with the certificate they make together."""

    lower: LowerBound
    upper: UpperBound

    @property
    def certificate(self) -> Certificate:
        scale = max(self.lower.largest_term, self.upper.largest_term)
        certificate = Certificate(self.lower.value, self.upper.value, scale)
        if not math.isfinite(certificate.gap) or certificate.relative_gap < -ROUNDING:
            raise InternalError(
                f"the bounds contradict weak duality: lower {self.lower.value!r}, upper {self.upper.value!r}"
            )
        return certificate


def certify(
    formulation: Formulation, task: Task, alphas: Iterable[Array], coefficients: Iterable[Array]
) -> CertifiedPoint:
    """The best lower bound that any of the α proves, and the best upper bound of any of the functions."""
    lower = max((formulation.lower(task, alpha) for alpha in alphas), key=lambda bound: bound.value)
    upper = min((formulation.upper(task, c) for c in coefficients), key=lambda bound: bound.value)
    return CertifiedPoint(lower, upper)
