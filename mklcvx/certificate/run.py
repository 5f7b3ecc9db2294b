"""The record of a solver's run: its trace, its cost, and why it stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .record import CertifiedPoint


class Row(NamedTuple):
    """One row of the trace. Bounds are those of the best point so far, `gap` is their relative gap; `weights` are this
    iteration's.

    Bounds are in plain double precision, and may be those of two iterations. The solution's certificate is about one α
    with one set of weights, if these prove the tolerance: its gap can be larger than that of the last row.
    """

    iteration: int
    lower: float
    upper: float
    gap: float
    weights: NDArray[np.float64]
    svm_solves: int
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """Convert the row to plain numbers; a gap that is not finite is None."""
        gap = self.gap if math.isfinite(self.gap) else None
        return {**self._asdict(), "gap": gap, "weights": [float(weight) for weight in self.weights]}


class Ending(StrEnum):
    """Why an iterative solver stopped. The value is the message, with places for the run's numbers."""

    NONE = ""
    CERTIFIED = "certified"
    ROUNDING = "rounding allows no more"
    NO_PROGRESS = "no progress any more: rounding, or a degenerate optimum"
    DEAD_END = "{why}"
    CALLBACK = "the callback ended it after {iterations} iterations"
    ITERATION_LIMIT = "its limit of {limit} iterations was reached"
    TIME_LIMIT = "its time limit of {limit:g} s was reached after {iterations} iterations"
    INTERRUPTED = "it was interrupted after {iterations} iterations"
    OUT_OF_RANGE = "numbers left the range of double precision after {iterations} iterations ({why})"


@dataclass
class Run:
    """What was tried, and what it cost. `status` says why an iterative solver stopped, `ending` is the message."""

    iterations: int = 0
    seconds_building: float = 0.0
    seconds_solving: float = 0.0
    statuses: list[str] = field(default_factory=list)
    svm_solves: int = 0
    trace: list[Row] = field(default_factory=list)
    status: Ending = Ending.NONE
    ending: str = ""
    solver: str = ""  # the one that found the point, where several were tried
    last: object = None  # last state of an iterative solver
    alone: CertifiedPoint | None = None  # what the last of several solvers found by itself
    points: list[CertifiedPoint] = field(default_factory=list)  # that were the best, one after the other

    def end(self, status: Ending, **numbers: object) -> None:
        """Record the status and its message."""
        self.status = status
        self.ending = status.value.format(iterations=self.iterations, **numbers)
