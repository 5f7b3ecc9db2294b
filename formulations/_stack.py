"""A stack of kernels as the formulations see it: one kernel at a time, in double precision, factored once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Factor(NamedTuple):
    """K = F F' with orthogonal columns: F = V √λ. A function with coordinates w has coefficients V w/√λ."""

    columns: Array
    to_coefficients: Array


@dataclass(frozen=True)
class KernelStack:
    """Kernels (M, n, n) of any real dtype. `symmetric`: to the last bit; otherwise the symmetric part is used."""

    kernels: NDArray[Any]
    symmetric: bool = field(default=True, kw_only=True)

    @property
    def count(self) -> int:
        return len(self.kernels)

    @property
    def samples(self) -> int:
        return self.kernels.shape[1]

    def each_kernel(self) -> Iterator[Array]:
        """One kernel at a time in double precision, so that a float32 or memory-mapped stack is never copied."""
        for stored in self.kernels:
            kernel = np.asarray(stored, dtype=np.float64)
            yield kernel if self.symmetric else (kernel + kernel.T) / 2

    def combined(self, weights: Array) -> Array:
        """Σ_m weight_m K_m."""
        kernel = np.zeros((self.samples, self.samples))
        for weight, base in zip(weights, self.each_kernel(), strict=True):
            if weight != 0:
                kernel += weight * base
        return kernel

    @cached_property
    def factors(self) -> list[Factor]:
        return [_factor(kernel) for kernel in self.each_kernel()]

    def share_factors(self, scaled: KernelStack, size: float) -> None:
        """Give a stack whose kernels count as divided by `size` this one's factors, rescaled: made once for all units.

        Set beside the frozen fields. The kernels themselves stay as they are, so a task in other units serves
        declarations, never bounds.
        """
        root = math.sqrt(size)
        scaled.__dict__["factors"] = [Factor(f.columns / root, f.to_coefficients * root) for f in self.factors]

    def typical_kernel_size(self) -> float:
        """Geometric mean over the kernels of the mean diagonal entry."""
        sizes = np.array([np.trace(kernel) / self.samples for kernel in self.kernels], dtype=float)
        return float(np.exp(np.mean(np.log(sizes[sizes > 0])))) if (sizes > 0).any() else 1.0


def _factor(kernel: Array) -> Factor:
    values, vectors = np.linalg.eigh(kernel)
    keep = values > len(values) * np.finfo(float).eps * max(values[-1], 0.0)
    if not keep.any():  # the zero kernel: one coordinate that does nothing
        return Factor(np.zeros((len(values), 1)), np.zeros((len(values), 1)))
    roots, vectors = np.sqrt(values[keep]), vectors[:, keep]
    return Factor(vectors * roots, vectors / roots)
