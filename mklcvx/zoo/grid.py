"""Numbers that are the same everywhere: drawn from raw bits, kernels on a grid, and a checksum of an instance.

**Drawing.** NumPy promises the stream of its bit generators, not what its distributions make of it; so numbers are made
here from raw bits. All are whole multiples of a power of two and small, so that sums and products of them are exact.

**Quantising.** The grid of a kernel K has the step δ = 2^(e−b), where 2^(e−1) ≤ max |K_ij| < 2^e and b is the number of
bits. Entries are rounded to the nearest multiple of δ. What rounding changes is a symmetric matrix with entries of at
most δ/2, hence of spectral norm at most nδ/2; so if an entry was changed at all, ⌈n/2⌉ + 1 steps are added to the
diagonal, and a positive semidefinite kernel stays one. Kernels that lie on the grid, such as those of low rank with
whole features, are left as they are, rank and all.

**The same everywhere.** Two machines may compute an entry with different last bits, and agree on the rounded one unless
it lies in the middle between two multiples. That no entry lies within SAFETY steps of a middle, nor the largest one
within that of a power of two, is checked: then errors up to SAFETY·δ, a few hundred times those of double precision,
change nothing.

**The checksum** is SHA-256 of the whole numbers K_m/δ_m, δ_m now the largest power of two that divides the entries of
kernel m, with these powers, the targets, groups and sample weights. It needs nothing but the instance, so that it can
be recomputed from a file that came from anywhere.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InternalError
from ..problem.checks import check_type
from ..problem.instance import Instance
from ..problem.memory import check_stack
from ..problem.numbers import Array, as_real_array, check_whole
from ..problem.targets import as_words

BITS = 23  # with the lift no more than 24, so that kernels are exact in single precision too
DIGITS = 52
SAFETY = 2.0**-21
MANTISSA = 53
BYTES = 12  # the sum of so many uniform bytes has a variance of nearly 256²


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


def quantised(kernels: Array, bits: int = BITS) -> Array:
    """Round kernels to their grids; positive semidefinite kernels stay positive semidefinite."""
    stack = as_real_array(kernels, "kernels", "square kernels, (M, n, n)")
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2] or not stack.size:
        raise InputError(f"kernels has shape {stack.shape}: give square kernels, (M, n, n)")
    check_whole(1, DIGITS, bits=bits)
    check_stack(*stack.shape)
    return np.stack([_on_grid(kernel.astype(float), bits) for kernel in stack])


def _on_grid(kernel: Array, bits: int) -> Array:
    largest = float(np.abs(kernel).max())
    if largest == 0:
        return kernel
    mantissa, exponent = np.frexp(largest)
    if 0 < min(mantissa - 0.5, 1 - mantissa) * 2**bits < SAFETY:
        raise InternalError(f"the largest entry {largest!r} is too near to a power of two to be the same everywhere")
    steps = np.ldexp((kernel + kernel.T) / 2, bits - int(exponent))
    whole = rounded(steps)
    if (whole != steps).any():
        whole[np.diag_indices_from(whole)] += np.ceil(len(kernel) / 2) + 1
    return np.ldexp(whole, int(exponent) - bits)


def rounded(steps: Array) -> Array:
    """Round to whole numbers; an entry that its last bits would decide is an error."""
    nearest = np.rint(steps)
    nearness = 0.5 - np.abs(steps - nearest)
    if (nearness < SAFETY).any():
        raise InternalError(f"an entry is {nearness.min():.1e} steps from the middle: another seed is needed")
    return nearest


def checksum(instance: Instance) -> str:
    """SHA-256 of the problem in whole numbers, 64 hexadecimal digits; names are ignored."""
    check_type(Instance, "an Instance", instance=instance)
    digest = hashlib.sha256()
    for kernel in instance.kernels:
        _add_whole(digest, np.asarray(kernel, dtype=float), "the kernels")
    targets = instance.targets
    values = "\n".join(as_words(targets.values)) if targets.values.ndim == 1 else None
    digest.update(f"{targets.kind}\n{values}\n".encode())
    if values is None:
        _add_whole(digest, targets.values, "the labels")
    _add_whole(digest, np.zeros(0) if instance.groups is None else instance.groups.astype(float), "the groups")
    _add_whole(digest, instance.sample_weight, "the sample weights")
    return digest.hexdigest()


def _add_whole(digest: Any, values: Array, what: str) -> None:
    """Hash the shape, the step of the coarsest grid that contains the values, and their multiples of the step."""
    mantissas, exponents = np.frexp(np.ascontiguousarray(values, dtype=float))
    whole = np.ldexp(mantissas, MANTISSA).astype(np.int64)
    ends = np.where(whole == 0, np.iinfo(np.int32).max, exponents - MANTISSA + _trailing_zeros(whole))
    step = int(ends.min(initial=np.iinfo(np.int32).max)) if whole.any() else 0
    if whole.any() and int(exponents[whole != 0].max()) - step > 62:
        raise InputError(f"{what} lie on no common grid of 62 bits: a checksum is for quantised instances")
    digest.update(f"{values.shape} {step}\n".encode())
    digest.update(np.ldexp(values, -step).astype("<i8").tobytes())


def _trailing_zeros(whole: NDArray[np.int64]) -> NDArray[np.int64]:
    lowest = (whole & -whole).astype(float)
    return np.frexp(np.where(lowest > 0, lowest, 1.0))[1].astype(np.int64) - 1
