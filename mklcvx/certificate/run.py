"""What a solver did on its way: its trace, its cost, and what ended it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Row(NamedTuple):
    """One row of the trace. Bounds are the best so far, `gap` is their relative gap; `weights` are this iteration's."""

    iteration: int
    lower: float
    upper: float
    gap: float
    weights: NDArray[np.float64]
    svm_solves: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers; a gap that there is nothing to compare with is None."""
        gap = self.gap if math.isfinite(self.gap) else None
        return {**self._asdict(), "gap": gap, "weights": [float(weight) for weight in self.weights]}


class Ending(StrEnum):
    """What ended an iterative solver. The value is the words of the message, with places for the run's numbers."""

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
    """What was tried, and what it cost. `status` is what ended an iterative solver, `ending` says it in words."""

    iterations: int = 0
    seconds_building: float = 0.0
    seconds_solving: float = 0.0
    statuses: list[str] = field(default_factory=list)
    svm_solves: int = 0
    trace: list[Row] = field(default_factory=list)
    status: Ending = Ending.NONE
    ending: str = ""
    solver: str = ""  # who found it, where several were tried
    last: Any = None  # where an iterative solver stood in the end

    def end(self, status: Ending, **numbers: Any) -> None:
        """Record the status, and the words for it."""
        self.status = status
        self.ending = status.value.format(iterations=self.iterations, **numbers)
