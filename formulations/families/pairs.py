"""The K-examples of a stack of kernels, read in blocks.

A pair (i, j), i ≤ j, has the K-example z_ij = (K_1(i, j), …, K_M(i, j)): the upper triangles of the kernels, row by
row, N = n(n+1)/2 of them. Together they are half a stack, so they are never held: a block of rows of the triangle is
copied out of the stack in double precision, used and forgotten. All that is ever needed of them is

    outputs   z'μ for every pair           pull   Σ_ij c_ij z_ij           gram   Σ_ij c_ij z_ij z_ij'  (c ≥ 0)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...problem.numbers import AnyArray
from ...problem.stack import Array, KernelStack

BLOCK = 2**18  # numbers in a block, unless a single row has more: what a processor's cache can hold


@dataclass(frozen=True)
class Pairs:
    """The pairs of a stack's samples, in the order of the upper triangle, row by row."""

    stack: KernelStack
    block: int = BLOCK

    @property
    def kernels(self) -> int:
        return self.stack.count

    @property
    def count(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where each row of the triangle starts, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(np.arange(self.stack.samples, 0, -1))])

    @property
    def diagonal(self) -> NDArray[np.intp]:
        """Where the pairs (i, i) are."""
        return self.starts[:-1]

    def blocks(self) -> Iterator[tuple[slice[int, int, int], Array]]:
        """Which pairs, and their K-examples as columns (M, pairs)."""
        starts, first = self.starts, 0
        while first < self.stack.samples:
            allowed = starts[first] + max(self.block // self.kernels, 1)
            last = max(int(np.searchsorted(starts, allowed, side="right")) - 1, first + 1)
            yield slice(int(starts[first]), int(starts[last])), self._columns(first, last)
            first = last

    def _columns(self, first: int, last: int) -> Array:
        origin, kernels = self.starts[first], self.stack.kernels
        columns = np.empty((self.kernels, self.starts[last] - origin))
        for row in range(first, last):
            place = columns[:, self.starts[row] - origin : self.starts[row + 1] - origin]
            place[:] = kernels[:, row, row:] if self.stack.symmetric else kernels[:, row:, row]
        return columns

    def at(self, chosen: NDArray[np.intp]) -> Array:
        """The K-examples of some pairs, one row for each."""
        rows = np.searchsorted(self.starts, chosen, side="right") - 1
        columns, kernels = chosen - self.starts[rows] + rows, self.stack.kernels
        return np.asarray(kernels[:, columns, rows], dtype=np.float64).T  # the lower triangle

    def examples(self) -> Array:
        """All K-examples at once, (N, M)."""
        whole = np.empty((self.count, self.kernels))
        for rows, columns in self.blocks():
            whole[rows] = columns.T
        return whole

    def outputs(self, mu: Array) -> Array:
        outputs = np.empty(self.count)
        for rows, columns in self.blocks():
            np.matmul(mu, columns, out=outputs[rows])
        return outputs

    def pull(self, coefficients: Array) -> Array:
        return sum((columns @ coefficients[rows] for rows, columns in self.blocks()), np.zeros(self.kernels))

    def gram(self, coefficients: Array) -> Array:
        return sum((weighted_gram(z, coefficients[rows]) for rows, z in self.blocks()), np.zeros((self.kernels,) * 2))

    def triangle(self, matrix: AnyArray) -> AnyArray:
        """The entries of a symmetric matrix, one for each pair."""
        return np.concatenate([row[i:] for i, row in enumerate(matrix)])


def weighted_gram(columns: Array, coefficients: Array) -> Array:
    """Σ c z z' over the columns z, c ≥ 0; the product of a matrix with its own transpose costs half."""
    scaled = columns * np.sqrt(coefficients)
    return np.asarray(scaled @ scaled.T)
