"""The step rule of every family: how far the boundary allows to go, how much of that is gone, and what is aimed at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .settings import SETTINGS

Array = NDArray[np.float64]


def max_step(now: Array, change: Array) -> float:
    """At most 1, and as far as all of `now`, which is positive, stays so."""
    shrinking = change < 0
    return float(min(1.0, np.min(-now[shrinking] / change[shrinking], initial=np.inf)))


def boundary_fraction(relative_complementarity: float) -> float:
    """How much of the way to the boundary to go: more of it near the optimum."""
    least, most = 1 - SETTINGS.final_boundary_fraction, 1 - SETTINGS.boundary_fraction
    return 1 - float(np.clip(relative_complementarity, least, most))


def centring(share: float, exponent: int, least: float) -> float:
    """Mehrotra's parameter, where the predictor alone would leave this share of the complementarity."""
    return float(max(max(share, 0.0) ** exponent, least))
