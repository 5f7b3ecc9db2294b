"""A stack of kernels as the formulations see it: one kernel at a time, in double precision, factored once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._low_rank import LowRank

Array = NDArray[np.float64]

BLURRED = 1e-6  # of trace times ‖v‖²: below, the root of v'Kv is not known to ten digits


class Factor(NamedTuple):
    """K = F F' with orthogonal columns: F = V √λ. A function with coordinates w has coefficients V w/√λ."""

    columns: Array
    to_coefficients: Array


@dataclass(frozen=True)
class KernelStack:
    """Kernels (M, n, n) of any real dtype, or `LowRank`. `symmetric`: to the last bit; otherwise the symmetric part is
    used."""

    kernels: Any
    symmetric: bool = field(default=True, kw_only=True)
    _last: dict[str, Array] = field(default_factory=dict, init=False, repr=False, compare=False)
    _pivoted: dict[int, tuple[int, Array | None]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def count(self) -> int:
        return len(self.kernels)

    @property
    def samples(self) -> int:
        return int(self.kernels.shape[1])

    def each_kernel(self) -> Iterator[Array]:
        """One kernel at a time in double precision, so that a float32 or memory-mapped stack is never copied."""
        return (self._doubles(stored) for stored in self.kernels)

    def combined(self, weights: Array) -> Array:
        """Σ_m weight_m K_m."""
        kernel = np.zeros((self.samples, self.samples))
        self.add_combined(kernel, weights)
        return kernel

    def add_combined(self, kernel: Array, weights: Array) -> None:
        """Add Σ_m weight_m K_m in place; kernels without weight are not read."""
        from scipy.linalg.blas import daxpy

        if isinstance(self.kernels, LowRank):
            columns = self.kernels.columns
            kernel += (columns * self.kernels.spread(weights)) @ columns.T
            return
        total = self._unsymmetrised(kernel)
        for weight, stored in zip(weights, self.kernels, strict=True):
            if weight != 0:
                daxpy(_flat(np.asarray(stored, dtype=np.float64)), total.ravel(), a=weight)
        self._symmetrise(kernel, total)

    def swept(self, kernel: Array, weights: Array, vector: Array) -> Array:
        """Both in one pass: Σ_m weight_m K_m added in place, and K_m v for every kernel, each read while it is near."""
        from scipy.linalg.blas import daxpy

        if isinstance(self.kernels, LowRank):
            self.add_combined(kernel, weights)
            return self.images(vector)
        images, total = np.empty((self.count, self.samples)), self._unsymmetrised(kernel)
        for m, stored in enumerate(self.kernels):
            base = np.asarray(stored, dtype=np.float64)
            images[m] = self._image(base, vector)
            if weights[m] != 0:
                daxpy(_flat(base), total.ravel(), a=weights[m])
        self._symmetrise(kernel, total)
        return images

    def _unsymmetrised(self, kernel: Array) -> Array:
        """Where kernels are summed up: to take the symmetric part once costs less than to take it of every kernel."""
        return kernel if self.symmetric else np.zeros_like(kernel)

    def _symmetrise(self, kernel: Array, total: Array) -> None:
        if total is not kernel:
            kernel += (total + total.T) / 2

    def _image(self, kernel: Array, vector: Array) -> Array:
        from scipy.linalg.blas import dsymv  # reads half of a kernel

        if not self.symmetric:
            return (kernel @ vector + vector @ kernel) / 2
        return dsymv(1.0, kernel if kernel.flags.f_contiguous else kernel.T, vector)

    def _doubles(self, stored: Any) -> Array:
        kernel = np.asarray(stored, dtype=np.float64)
        return kernel if self.symmetric else (kernel + kernel.T) / 2

    def images(self, vector: Array) -> Array:
        """K_m v for every kernel, (M, n), read-only. Asked again for the same vector, no kernel is read again: the two
        bounds of a point that weights and α describe cost one pass together."""
        if not (self._last and np.array_equal(self._last["vector"], vector)):
            images = self._images(vector)
            images.setflags(write=False)
            self._last.update(vector=vector.copy(), images=images)
        return self._last["images"]

    def _images(self, vector: Array) -> Array:
        if not vector.any():
            return np.zeros((self.count, self.samples))
        if isinstance(self.kernels, LowRank):
            return self.kernels.images(vector)
        return np.stack([self._image(np.asarray(kernel, dtype=np.float64), vector) for kernel in self.kernels])

    def own_images(self, vectors: Array) -> Array:
        """K_m v_m for every kernel and its own vector, (M, n)."""
        if isinstance(self.kernels, LowRank):
            factors = [self.kernels.factor(m) for m in range(self.count)]
            return np.stack([factor @ (vector @ factor) for factor, vector in zip(factors, vectors, strict=True)])
        return np.stack([kernel @ vector for kernel, vector in zip(self.each_kernel(), vectors, strict=True)])

    def squares(self, vector: Array) -> Array:
        """v'K_m v for every kernel."""
        if isinstance(self.kernels, LowRank):
            return self.kernels.squares(vector)
        return np.maximum(self.images(vector) @ vector, 0.0)

    def sharp_squares(self, vector: Array) -> Array:
        """The same where roots are to be taken: of a square that is nearly nothing rounding is all that is left, and
        its root has half the digits. A kernel of low rank is then taken as what its factor makes: K up to rounding."""
        squares = self.squares(vector)
        if not isinstance(self.kernels, LowRank):
            for m in np.flatnonzero(squares < BLURRED * self.traces * float(vector @ vector)):
                factor = self._low_factor(int(m))
                if factor is not None:
                    squares[m] = float(np.sum((vector @ factor) ** 2))
        return squares

    def rank(self, m: int) -> int:
        """How many directions kernel m has, up to rounding; of a factor, its columns."""
        return int(self.kernels.factor(m).shape[1]) if isinstance(self.kernels, LowRank) else self._pivot(m)[0]

    def _low_factor(self, m: int) -> Array | None:
        """F with K = F F' up to rounding; None if its rank is not low."""
        return self._pivot(m)[1]

    def _pivot(self, m: int) -> tuple[int, Array | None]:
        """A pivoted Cholesky factorisation, once for each kernel: its rank, and the factor if that is low."""
        from scipy.linalg.lapack import dpstrf

        if m not in self._pivoted:
            kernel = self._doubles(self.kernels[m])
            tolerance = self.samples * np.finfo(float).eps * float(kernel.diagonal().max())
            lower, pivots, rank, _ = dpstrf(kernel, tol=tolerance, lower=1)
            factor = None
            if 2 * rank <= self.samples:
                factor = np.empty((self.samples, rank))
                factor[pivots - 1] = np.tril(lower)[:, :rank]
            self._pivoted[m] = int(rank), factor
        return self._pivoted[m]

    @cached_property
    def traces(self) -> Array:
        if isinstance(self.kernels, LowRank):
            return self.kernels.sums(np.sum(self.kernels.columns**2, axis=0))
        return np.array([float(np.trace(kernel)) for kernel in self.kernels])

    @cached_property
    def factors(self) -> list[Factor]:
        return [self.factor(m) for m in range(self.count)]

    def factor(self, m: int) -> Factor:
        if isinstance(self.kernels, LowRank):
            return _of_factor(self.kernels.factor(m))
        return _factor(self._doubles(self.kernels[m]))

    def share_factors(self, scaled: KernelStack, size: float) -> None:
        """Give a stack whose kernels count as divided by `size` this one's factors, rescaled: made once for all units.

        Set beside the frozen fields. The kernels themselves stay as they are, so a task in other units serves
        declarations, never bounds.
        """
        root = math.sqrt(size)
        scaled.__dict__["factors"] = [Factor(f.columns / root, f.to_coefficients * root) for f in self.factors]

    def typical_kernel_size(self) -> float:
        """Geometric mean over the kernels of the mean diagonal entry."""
        sizes = self.traces / self.samples
        return float(np.exp(np.mean(np.log(sizes[sizes > 0])))) if (sizes > 0).any() else 1.0


def _flat(kernel: Array) -> Array:
    """The entries as they lie in memory: the transposed kernel is as good, and nothing is copied."""
    return kernel.ravel(order="K") if kernel.flags.forc else kernel.ravel()


def _factor(kernel: Array) -> Factor:
    values, vectors = np.linalg.eigh(kernel)
    keep = values > len(values) * np.finfo(float).eps * max(values[-1], 0.0)
    if not keep.any():  # the zero kernel: one coordinate that does nothing
        return Factor(np.zeros((len(values), 1)), np.zeros((len(values), 1)))
    roots, vectors = np.sqrt(values[keep]), vectors[:, keep]
    return Factor(vectors * roots, vectors / roots)


def _of_factor(factor: Array) -> Factor:
    """The same from a factor that is known."""
    vectors, roots, _ = np.linalg.svd(factor, full_matrices=False)
    keep = roots > len(factor) * np.finfo(float).eps * (roots[0] if len(roots) else 0.0)
    if not keep.any():
        return Factor(np.zeros((len(factor), 1)), np.zeros((len(factor), 1)))
    return Factor(vectors[:, keep] * roots[keep], vectors[:, keep] / roots[keep])
