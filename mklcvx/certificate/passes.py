"""Kβ for every kernel, with a bound on its error: plain, or in slices where that is not enough.

Let s be the number of nonzero β_i, and 2^E ≥ max |K_ij|.

**Plain.** Any order of summation, with or without fused operations, leaves |z_i − (Kβ)_i| ≤ (s+1)u max|K| ‖β‖₁
(Jeannerod & Rump 2013).

**Sliced** (Ozaki et al. 2012). K = K₁ + K₂ + K₃ in slices of p bits, and β = b₁ + b₂ + b₃ in slices of r bits, with
p + r + ⌈log₂ s⌉ ≤ 53. All sums in K₁b₁, K₁b₂ and K₂b₁ are whole multiples of a power of two, fewer than 2⁵³: exact in
any order. What is left, K₁b₃ + K₂(b₂ + b₃) + K₃β, is small, and so is its error,
(s+1)u(2^E‖b₃‖₁ + 2^(E−p)‖b₂ + b₃‖₁ + 2^(E−2p)‖β‖₁).

**Constants.** With a bias Σβ = 0 exactly, and a constant added to z belongs to b. So z is returned less `shift`, the
median of z (any number would do), subtracted before it is rounded.

**Streamed.** Entries are computed from features while they are needed, each with the error that `gaussians` states, e:
|z_i − (Kβ)_i| ≤ ((s+1)u(1 + e) + e)‖β‖₁. There is one way only, for no entry is there to be cut.

**Factors.** K = FF' is never formed: w = F'β, then Fw. With a bias F may lose a constant in each column.

**Underflow.** Every z_i and w_k is a sum of at most 2⁶⁰ products, and its error comes from `above`, with TINY in it:
whatever multiplies z later, weights or α, multiplies that as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from ..problem.low_rank import LowRank
from ..problem.stack import KernelStack
from ..problem.streamed import Streamed
from .gaussians import entry_error
from .record import Sliced
from .rounding import STEPS, TINY, Array, U, above, product_terms, total_above, total_below

ROWS = 1 << 15  # entries of a kernel that are sliced at a time: they stay in the cache


@dataclass(frozen=True)
class Seen:
    """What the kernels make of a vector β: K_mβ = z_m ± error_m + shift_m ± shift_error_m, (M, n), and β'K_mβ within
    [low_m, high_m]."""

    z: Array
    error: Array
    shift: Array
    shift_error: Array
    low: Array
    high: Array


class KernelProduct(NamedTuple):
    """The same of one kernel."""

    z: Array
    error: Array
    shift: float
    shift_error: float
    low: float
    high: float


def seen(stack: KernelStack, beta: Array, bias: bool, sliced: Sliced) -> Seen:
    """One vector, all kernels. With a bias Σβ = 0 must hold exactly."""
    chosen = np.broadcast_to(sliced, stack.count)
    if isinstance(stack.kernels, LowRank):
        return _stacked([_by_factor(stack.kernels.factor(m), beta, bias, bool(c)) for m, c in enumerate(chosen)])
    if isinstance(stack.kernels, Streamed):
        return _streamed(stack.kernels.matvecs(beta), stack.kernels, beta[None], bias)
    length, support, low = total_above(np.abs(beta)), int(np.count_nonzero(beta)), np.zeros((1, 1))
    error = above((support + 1) * U * stack.largest_entries * length)[:, None]
    high = np.empty((stack.count, len(beta))) if chosen.all() else stack.matvecs(beta)
    if chosen.any():
        high, low, error = high.copy(), np.zeros_like(high), np.repeat(error, len(beta), axis=1)
        fine = np.flatnonzero(chosen)
        parts = stack.each(partial(_sliced, cut=_cut(beta)), stack.largest_entries, of=fine)
        for m, part in zip(fine, parts, strict=True):
            high[m], low[m], error[m] = part
    return _measured(high, low, error, beta[None], bias)


def own_seen(stack: KernelStack, vectors: Array, bias: bool, sliced: Sliced) -> Seen:
    """Every kernel and a vector of its own, (M, n); with `bias` each must sum to zero exactly."""
    fine = np.broadcast_to(sliced, stack.count)
    if isinstance(stack.kernels, LowRank):
        return _stacked([_by_factor(stack.kernels.factor(m), v, bias, bool(fine[m])) for m, v in enumerate(vectors)])
    if isinstance(stack.kernels, Streamed):
        return _streamed(stack.kernels.matvecs_each(vectors), stack.kernels, vectors, bias)
    parts = stack.each(_own, stack.largest_entries, vectors, fine)
    high, low, error = (np.stack(column) for column in zip(*parts, strict=True))
    return _measured(high, low, error, vectors, bias)


def sum_to_zero(vectors: Array) -> bool:
    """Whether every row does, exactly."""
    return all(math.fsum(row) == 0 for row in vectors)


def _own(kernel: Array, size: float, vector: Array, fine: bool) -> tuple[Array, Array, Array]:
    if fine:
        return _sliced(kernel, size, _cut(vector))
    length, support = total_above(np.abs(vector)), int(np.count_nonzero(vector))
    error = np.full(len(vector), above((support + 1) * U * size * length))
    return kernel @ vector, np.zeros(len(vector)), error


def _streamed(images: Array, kernels: Streamed, vectors: Array, bias: bool) -> Seen:
    """Of kernels that are not stored: the products' rounding, and that of every entry."""
    off, lengths = entry_error(kernels.features), np.array([total_above(np.abs(vector)) for vector in vectors])
    terms = np.count_nonzero(vectors, axis=1) + 1
    errors = np.broadcast_to(above((terms * U * (1 + off) + off) * lengths), (len(images),))
    return _measured(images, np.zeros((1, 1)), errors[:, None], vectors, bias)


def _stacked(parts: list[KernelProduct]) -> Seen:
    return Seen(*(np.array(column) for column in zip(*parts, strict=True)))


def _measured(high: Array, low: Array, error: Array, vectors: Array, bias: bool) -> Seen:
    """z = high + low less a shift, with its error, and v'Kv from below and above; a row for every kernel."""
    count, n = high.shape
    shift = np.median(high, axis=1) if bias else np.zeros(count)
    near = high - shift[:, None]  # off by u|near|
    z = near + low
    errors = above(error + 2 * U * np.abs(near) + 2 * U * np.abs(z))
    terms = vectors * z
    squares = np.array([math.fsum(row) for row in terms])
    off = above((np.abs(vectors) * (errors + 2 * U * np.abs(z))).sum(axis=1), n) + above(2 * U * np.abs(squares))
    return Seen(z, errors, shift, np.zeros(count), squares - above(off), squares + above(off))


def sliced_product(matrix: Array, vector: Array) -> tuple[Array, Array, Array]:
    """A product as a sum high + low, with its error: the matrix need not be square."""
    return _sliced(matrix, float(np.abs(matrix).max(initial=0.0)), _cut(vector))


class SlicedVector(NamedTuple):
    """A vector in slices, as a kernel in slices of `bits` needs them: all three, the first and the others together,
    and the lengths of the last, of the last two and of the whole."""

    beta: Array
    support: int
    bits: int
    whole: Array
    part: Array
    lengths: tuple[float, float, float]


def _cut(beta: Array) -> SlicedVector:
    support = int(np.count_nonzero(beta))
    sums = max(support - 1, 0).bit_length()
    bits = (53 - sums) // 2
    (first, second), third = _slices(beta, 53 - sums - bits)
    rests = (third, second + third, beta)
    whole, part = np.stack([first, second, third], axis=1), np.stack([first, rests[1]], axis=1)
    low, middle, high = (total_above(np.abs(vector)) for vector in rests)
    return SlicedVector(beta, support, bits, whole, part, (low, middle, high))


def _sliced(kernel: Array, size: float, cut: SlicedVector) -> tuple[Array, Array, Array]:
    """Kβ as a sum high + low, with its error."""
    n, bits = len(kernel), cut.bits
    if cut.support == 0 or size == 0:
        return np.zeros(n), np.zeros(n), np.full(n, TINY)
    exponent = math.frexp(size)[1]
    raise_by = [1.5 * 2.0 ** (exponent - k * bits + 52) for k in (1, 2)]
    high, low, sizes = np.empty(n), np.empty(n), np.empty(n)
    step = max(1, ROWS // kernel.shape[1])
    for start in range(0, n, step):
        rows = kernel[start : start + step]
        coarse = (rows + raise_by[0]) - raise_by[0]
        rest = rows - coarse
        middle = (rest + raise_by[1]) - raise_by[1]
        rest -= middle
        large, small, least = coarse @ cut.whole, middle @ cut.part, rest @ cut.beta
        total, lost = added(large[:, 0], large[:, 1])
        total, more = added(total, small[:, 0])
        here = slice(start, start + len(rows))
        rests = np.stack([lost, more, large[:, 2], small[:, 1], least])
        high[here], low[here], sizes[here] = total, rests.sum(axis=0), np.abs(rests).sum(axis=0)
    left = sum(2.0 ** (exponent - k * bits) * length for k, length in enumerate(cut.lengths))
    return high, low, above((cut.support + 1) * U * left + 8 * U * sizes)


def added(a: Array, b: Array | float) -> tuple[Array, Array]:
    """a + b as a double, and what was lost (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _slices(vector: Array, bits: int) -> tuple[list[Array], Array]:
    """Two slices of so many bits, and the rest: exact."""
    exponent, rest, slices = math.frexp(float(np.abs(vector).max()))[1], vector, []
    for k in (1, 2):
        raise_by = 1.5 * 2.0 ** (exponent - k * bits + 52)
        slices.append((rest + raise_by) - raise_by)
        rest = rest - slices[-1]
    return slices, rest


def _by_factor(factor: Array, beta: Array, bias: bool, sliced: bool) -> KernelProduct:
    """The same from K = FF', less a constant in every column where a bias allows it: Fw = (F − 1c')w + 1c'w."""
    taken = np.median(factor, axis=0) if bias else np.zeros(factor.shape[1])
    columns = factor - taken  # off by u|columns|
    rank, support, sizes = factor.shape[1], int(np.count_nonzero(beta)), np.abs(columns)
    if sliced:
        w, off = _exact_products(factor, taken, columns, beta)
    else:
        w = beta @ columns
        off = above((support + 3) * U * (np.abs(beta) @ sizes), support + STEPS)
    errors = above((rank + 3) * U * (sizes @ np.abs(w)) + sizes @ off, rank + STEPS)
    shift = math.fsum(product_terms(taken, w))
    shift_error = total_above(np.abs(taken) * off) + above(2 * U * abs(shift))
    high = total_above((np.abs(w) + off) ** 2)
    low = total_below(np.maximum(np.abs(w) - off, 0.0) ** 2)
    return KernelProduct(columns @ w, errors, shift, float(shift_error), max(low, 0.0), high)


def _exact_products(factor: Array, taken: Array, columns: Array, beta: Array) -> tuple[Array, Array]:
    """(F − 1c')'β to the last bit: of the products nothing is lost, nor what the subtraction rounds."""
    back = columns - factor
    lost = (factor - (columns - back)) - (taken + back)  # F − 1c' less `columns`, exactly (Knuth)
    twice, both = np.tile(beta, 2), np.vstack([columns, lost])
    w = np.array([math.fsum(product_terms(column, twice)) for column in both.T])
    return w, above(2 * U * np.abs(w))
