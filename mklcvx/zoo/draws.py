"""Chance that is the same on every machine and in every version of NumPy.

NumPy promises the stream of its bit generators, not what its distributions make of it; so numbers are made here from
raw bits. All are whole multiples of a power of two and small, so that sums and products of them are exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BYTES = 12  # as many uniform bytes have a sum of variance 256², all but exactly


class Draws:
    """A stream of numbers from a seed."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def whole(self, low: int, high: int, *shape: int) -> NDArray[np.int64]:
        """Whole numbers from `low` to `high`, both included."""
        raw = self._raw(int(np.prod(shape, dtype=int))) % np.uint64(high - low + 1)
        return (raw.astype(np.int64) + low).reshape(shape)

    def bell(self, *shape: int, step: float = 1 / 16) -> Array:
        """Nearly normal numbers of variance one, multiples of `step`: sums of twelve bytes, centred."""
        total = self.whole(0, 255, *shape, BYTES).sum(axis=-1) - BYTES * 255 // 2
        return np.floor(total / (256 * step)) * step

    def order(self, count: int) -> NDArray[np.intp]:
        """The numbers below `count` in an arbitrary order."""
        return np.argsort(self._raw(count), kind="stable")

    def _raw(self, count: int) -> NDArray[np.uint64]:
        return np.atleast_1d(np.asarray(self._bits.random_raw(count), dtype=np.uint64))
