"""Kernels between new and training samples, made one at a time where they are wanted: (M, t, n) is never formed.

A kernel (t, n) is an array, or a product of the new samples' factor Z (t, r) and the training samples' F (n, r), which
is not formed either: Z(F'c) costs (t + n) r.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .low_rank import LowRank, Stored
from .memory import check_stack
from .numbers import RealArray
from .stack import MOSTLY, Array

Wanted: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Product:
    """A kernel ZF' (t, n) as its factors Z (t, r) and F (n, r)."""

    new: Array
    train: Array

    def __matmul__(self, columns: Array) -> Array:
        return np.asarray(self.new @ (self.train.T @ columns))

    def of_training(self, members: NDArray[np.intp]) -> Product:
        """The columns of some of the training samples."""
        return Product(self.new, self.train[members])

    def without_constants(self) -> Product:
        """The product for coefficients that sum to zero: a column of F that is mostly constant is taken from its first
        entry, since the constant plays no part and would leave no digits for the rest."""
        flat = mostly_constant(self.train.T)
        return Product(self.new, self.train - np.where(flat, self.train[0], 0.0)) if flat.any() else self

    def formed(self) -> Array:
        """The kernel as an array."""
        return np.asarray(self.new @ self.train.T)


CrossKernel: TypeAlias = Array | Product


def mostly_constant(kernel: Array) -> Wanted:
    """Rows whose entries differ little compared with their size, each row on its own."""
    return np.asarray(np.ptp(kernel, axis=1) < MOSTLY * np.abs(kernel).max(axis=1))


def of_training(kernel: CrossKernel, members: NDArray[np.intp] | None) -> CrossKernel:
    """The columns of some of the training samples, all of them if `members` is None."""
    if members is None:
        return kernel
    return kernel.of_training(members) if isinstance(kernel, Product) else kernel[:, members]


def as_array(kernel: CrossKernel) -> Array:
    """The kernel (t, n) as an array of doubles."""
    return kernel.formed() if isinstance(kernel, Product) else np.asarray(kernel, dtype=np.float64)


@dataclass(frozen=True)
class CrossKernels:
    """M kernels between t new and n training samples; `each` makes those that are wanted, in their order."""

    shape: tuple[int, int, int]
    each: Callable[[Wanted], Iterator[tuple[int, CrossKernel]]]

    @classmethod
    def of_stack(cls, stack: RealArray) -> CrossKernels:
        """Kernels (M, t, n) that are there already."""
        count, rows, columns = stack.shape

        def each(wanted: Wanted) -> Iterator[tuple[int, CrossKernel]]:
            return ((int(m), np.asarray(stack[m], dtype=np.float64)) for m in np.flatnonzero(wanted))

        return cls((count, rows, columns), each)

    @classmethod
    def among(cls, kernels: Stored, rows: NDArray[np.intp], columns: NDArray[np.intp] | None = None) -> CrossKernels:
        """Some rows of training kernels, of some columns if these are given."""
        width = kernels.shape[1] if columns is None else len(columns)

        def each(wanted: Wanted) -> Iterator[tuple[int, CrossKernel]]:
            for m in map(int, np.flatnonzero(wanted)):
                if isinstance(kernels, LowRank):
                    factor = kernels.factor(m)
                    yield m, Product(factor[rows], factor if columns is None else factor[columns])
                else:
                    part = kernels[m][rows] if columns is None else kernels[m][np.ix_(rows, columns)]
                    yield m, np.asarray(part, dtype=np.float64)

        return cls((len(kernels), len(rows), width), each)

    def arrays(self) -> CrossKernels:
        """The same, with products formed."""
        return CrossKernels(self.shape, lambda wanted: ((m, as_array(kernel)) for m, kernel in self.each(wanted)))

    def formed(self) -> Array:
        """All kernels (M, t, n) at once."""
        check_stack(*self.shape)
        stack = np.empty(self.shape)
        for m, kernel in self.each(np.ones(len(stack), dtype=bool)):
            stack[m] = as_array(kernel)
        return stack

    def combined(self, weights: Array) -> Array:
        """Σ_m weight_m K_m, (t, n)."""
        total = np.zeros(self.shape[1:])
        for m, kernel in self.each(weights != 0):
            total += weights[m] * as_array(kernel)
        return total


def side_by_side(parts: Sequence[CrossKernels]) -> CrossKernels:
    """The kernels of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([part.shape[0] for part in parts])

    def each(wanted: Wanted) -> Iterator[tuple[int, CrossKernel]]:
        for part, end in zip(parts, map(int, ends), strict=True):
            start = end - part.shape[0]
            if wanted[start:end].any():
                yield from ((start + m, kernel) for m, kernel in part.each(wanted[start:end]))

    return CrossKernels((int(ends[-1]), *parts[0].shape[1:]), each)


NewKernels: TypeAlias = ArrayLike | CrossKernels  # test kernels as an array (M, t, n), or made one at a time
