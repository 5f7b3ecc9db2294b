"""What a solver did on its way: its trace, its cost, and what ended it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
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


@dataclass
class Run:
    """What was tried, and what it cost; `ending` is what ended an iterative solver, in words."""

    iterations: int = 0
    seconds_building: float = 0.0
    seconds_solving: float = 0.0
    statuses: list[str] = field(default_factory=list)
    svm_solves: int = 0
    trace: list[Row] = field(default_factory=list)
    ending: str = ""
    solver: str = ""  # who found it, where several were tried
    last: Any = None  # where an iterative solver stood in the end
