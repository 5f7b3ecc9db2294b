"""Dense kernels in factors: semidefinite without a doubt, which those of low rank are not, once rounded."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .low_rank import LowRank


def in_factors(kernels: Iterable[NDArray[np.float64]]) -> LowRank:
    """Every kernel by its eigenvectors; eigenvalues that are rounding are left out."""
    factors = []
    for kernel in kernels:
        values, vectors = np.linalg.eigh(kernel)
        kept = values > len(kernel) * np.finfo(float).eps * values[-1]
        factors.append(vectors[:, kept] * np.sqrt(values[kept]) if kept.any() else np.zeros((len(kernel), 1)))
    return LowRank(factors)
