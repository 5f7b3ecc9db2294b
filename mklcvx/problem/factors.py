"""Factors of dense kernels. Kernels of low rank may be indefinite after rounding; their factors are semidefinite."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .low_rank import LowRank


def in_factors(kernels: Iterable[NDArray[np.float64]]) -> LowRank:
    """Factor every kernel by its eigenvectors; eigenvalues of the size of rounding are left out."""
    factors = []
    for kernel in kernels:
        values, vectors = np.linalg.eigh(kernel)
        kept = values > len(kernel) * np.finfo(float).eps * values[-1]
        factors.append(vectors[:, kept] * np.sqrt(values[kept]) if kept.any() else np.zeros((len(kernel), 1)))
    return LowRank(factors)
