"""What a benchmark found: how each contestant did, in seconds and in LIBSVM fits, and what its answers prove."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..certificate import Certificate
from ..errors import InputError
from ..formulations import Formulation
from ..verification.answers import judge
from .process import Attempt

SCHEMA = "mklcvx.bench/1"


@dataclass
class Standing:
    """How a contestant did."""

    name: str
    note: str
    asked: float
    seconds: list[float] = field(default_factory=list)
    elapsed: float = 0.0
    certificates: list[Certificate] = field(default_factory=list)
    iterations: int | None = None
    peak: int | None = None
    message: str = ""
    fault: str = ""
    cut: bool = False

    @property
    def median(self) -> float | None:
        return float(np.median(self.seconds)) if self.seconds else None

    @property
    def certificate(self) -> Certificate | None:
        """That of the worst round."""
        return max(self.certificates, key=lambda c: c.relative_gap, default=None)

    @property
    def gap(self) -> float | None:
        """None without an answer, or where there is nothing to compare its gap with."""
        gap = math.inf if self.certificate is None else self.certificate.relative_gap
        return gap if math.isfinite(gap) else None

    @property
    def status(self) -> str:
        """certified, not_certified, cut_off (at the time limit, before what was asked was proved), or failed."""
        if self.fault:
            return "failed"
        if self.certificates and all(certificate.proves(self.asked) for certificate in self.certificates):
            return "certified"
        return "cut_off" if self.cut else "not_certified"

    def add(self, attempt: Attempt, formulation: Formulation, task: Any) -> None:
        self.cut |= attempt.cut
        self.elapsed += attempt.elapsed
        self.iterations, self.message, self.fault = attempt.iterations, attempt.message, attempt.fault
        self.peak = max(self.peak or 0, attempt.peak) if attempt.peak is not None else self.peak
        if attempt.answer is not None:
            try:
                self.certificates.append(judge(formulation, task, attempt.answer, self.asked))
            except InputError as fault:
                self.fault = str(fault)
        if attempt.seconds is not None and not self.fault:
            self.seconds.append(attempt.seconds)

    def goes_on(self, time_limit: float) -> bool:
        return not (self.fault or self.cut) and self.elapsed < time_limit


@dataclass(frozen=True)
class Benchmark:
    """The standings, in the contestants' order, with what they are measured in."""

    formulation: str
    parameters: dict[str, Any]
    samples: int
    count: int
    rounds: int
    time_limit: float
    reference: list[float]
    validation: list[float]
    standings: list[Standing]

    @property
    def fit(self) -> float:
        """Seconds of one LIBSVM fit on the average kernel."""
        return float(np.median(self.reference))

    @property
    def validating(self) -> float:
        return float(np.median(self.validation))

    def fits(self, standing: Standing, validated: bool = False) -> float | None:
        """The median in LIBSVM fits; with `validated` the validation of the instance is counted too."""
        if standing.median is None:
            return None
        return (standing.median + (self.validating if validated else 0.0)) / self.fit

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": self.parameters,
            "samples": self.samples,
            "kernels": self.count,
            "rounds": self.rounds,
            "time_limit": self.time_limit,
            "libsvm_seconds": self.fit,
            "validation_seconds": self.validating,
            "contestants": [self._row(standing) for standing in self.standings],
        }

    def _row(self, standing: Standing) -> dict[str, Any]:
        certificate = standing.certificate
        return {
            "name": standing.name,
            "status": standing.status,
            "seconds": standing.median,
            "runs": len(standing.seconds),
            "all_seconds": standing.seconds,
            "fits": self.fits(standing),
            "fits_with_validation": self.fits(standing, validated=True),
            "asked": standing.asked,
            "certificate": None if certificate is None else certificate.as_dict(),
            "iterations": standing.iterations,
            "peak_bytes": standing.peak,
            "note": standing.note,
            "message": standing.fault or standing.message,
        }
