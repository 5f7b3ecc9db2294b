"""H = K(μ) + diagonal, factored where it matters.

A sample that is settled at a bound has a diagonal entry far beyond the kernel's own size. There H is as good as its
diagonal, and only the others are factored: towards the end that is the support vectors between the bounds.
K(μ) is kept from step to step, and a kernel is added again only when its weight has changed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..formulations import Task

Array = NDArray[np.float64]

RIDGE = 1e-14  # of the diagonal: what keeps a singular matrix from stopping the factorisation
SETTLED = 30.0  # times the trace
STALE = 1e-3  # of a weight: a smaller change waits


class Curved:
    """K(μ) for the weights last given, and H for the diagonal last given."""

    def __init__(self, task: Task) -> None:
        self.task, self.kernel = task, np.zeros((task.samples, task.samples))
        self.weights = np.zeros(task.count)
        self.diagonal = self.scale = np.ones(task.samples)
        self.free = np.arange(task.samples)

    def towards(self, weights: Array) -> None:
        if not np.isfinite(weights).all():
            raise FloatingPointError("the weights")
        change = weights - self.weights
        change[np.abs(change) <= STALE * weights] = 0.0
        self.task.add_combined(self.kernel, change)
        self.weights = self.weights + change

    def times(self, vector: Array) -> Array:
        return self.kernel @ vector + self.diagonal * vector

    def factor(self, diagonal: Array) -> None:
        from scipy.linalg.lapack import dpotrf

        self.diagonal, own = diagonal, np.diagonal(self.kernel)
        full = own + diagonal
        if not (np.isfinite(full).all() and (full > 0).all()):
            raise FloatingPointError("a matrix of Newton's equations")
        self.scale = np.sqrt(full)
        self.free = np.flatnonzero(diagonal < SETTLED * own.sum())
        ridge, failed = RIDGE, 1
        while failed:
            block = self.kernel.copy() if len(self.free) == len(full) else self.kernel[np.ix_(self.free, self.free)]
            block[np.diag_indices(len(block))] = full[self.free] * (1 + ridge)
            if not len(block):
                break
            self.lower, failed = dpotrf(block.T, lower=1, clean=0, overwrite_a=1)
            ridge *= 100
            if failed and ridge > 1:
                raise FloatingPointError("a matrix of Newton's equations")

    def inverse(self, right: Array) -> Array:
        """Roughly H⁻¹ times one vector or several, row by row."""
        from scipy.linalg.lapack import dpotrs

        found = right / self.scale**2
        if len(self.free) and right.size:
            found[..., self.free] = dpotrs(self.lower, right[..., self.free].T, lower=1)[0].T
        return found
