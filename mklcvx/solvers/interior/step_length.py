"""The step rule of every family: the largest step, the fraction of it that is taken, and the centring parameter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .settings import SETTINGS

Array = NDArray[np.float64]


def max_step(now: Array, change: Array) -> float:
    """The largest step length, at most 1, that keeps all of `now` nonnegative."""
    with np.errstate(all="ignore"):
        lengths = now / np.maximum(0.0 - change, 0.0)  # infinite where nothing shrinks, and no number for 0/0
        return float(np.fmin.reduce(lengths, initial=1.0))


def boundary_fraction(relative_complementarity: float) -> float:
    """The fraction of the way to the boundary that a step takes: larger near the optimum."""
    least, most = 1 - SETTINGS.final_boundary_fraction, 1 - SETTINGS.boundary_fraction
    return 1 - min(max(relative_complementarity, least), most)


def centring(share: float, exponent: int, least: float) -> float:
    """Mehrotra's centring parameter, if the predictor alone would leave this share of the complementarity."""
    return float(max(max(share, 0.0) ** exponent, least))
