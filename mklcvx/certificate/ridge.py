"""δ: what makes a kernel semidefinite, A + δI ⪰ 0, proved in floating point.

With a bias only vectors that sum to zero count, and A may be replaced by A − g1' − 1g', whatever g is.

**Cholesky** (Rump 2006). If the factorisation of A + sI in double precision succeeds, A + sI + cI ⪰ 0 with
c = (n+3)u·tr(A + sI). So δ = max(s + c, 0): a negative s that succeeds proves that A is definite. (n+1 would do where
triangular systems are solved by substitution; two more pay for products with reciprocals of the pivots.)

**Block by block.** n counts the roundings that a product l_ik l_jk may meet. Let columns be eliminated b at a time, and
what is left of A be updated after each block. With W the new rows of the factor and U their square part, a block's
columns S leave E = S − W'U, and the rest of W'W is the update. However U and W were found, E is evaluated. A product
meets at most b roundings in W'U or in the update, and one for each of the n/b updates: twice the time of the first way,
and c = (b + n/b + 8)u·tr(A + sI) + 2‖E‖.

**Residual.** For any F at all, A + sI = FF' + R gives A + (s + ‖R‖)I ⪰ 0. R is evaluated with F in two slices, the
first of so few bits that its product is exact: what is lost is u|R| and n·u·2^(-bits) of the diagonal. F is Cholesky's
factor, which is sharper by about n than what is known of it beforehand, or one with pivots and few columns.

**By factors.** With a pivoted factor F_m of every kernel, Σ w_mK_m = Σ w_mF_mF_m' + R, and R is the sum of what factors
leave, which is small although the kernels are not: rounding of the sum costs next to nothing.

**Exactly.** Kernels of whole numbers and low rank, such as those of linear features, are semidefinite without any δ.
Entries are dyadic: in whole numbers, elimination with symmetric pivots ends after as many steps as the rank, with
positive pivots and nothing left if and only if the kernel is semidefinite. With a bias the kernel is that of the
differences to one sample, K_ij − K_i0 − K_0j + K_00.

‖·‖₂ is bounded by the largest row sum. A itself is known up to an error matrix of norm `off`, which is added.

**Underflow** of sums and products adds n²·2⁻¹⁰⁷⁴ at most, less than the TINY in `off`, in `lost` and in δ itself. That
of a quotient by a pivot l_jj is multiplied by it: more than TINY only where u·l_jj², a part of c, is far larger.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..problem.factors import pivoted_cholesky
from ..problem.low_rank import LowRank
from ..problem.numbers import AnyArray
from ..problem.stack import KernelStack, mirrored
from ..problem.streamed import Streamed
from ..problem.validation import largest_entry
from .passes import ROWS
from .rounding import TINY, Array, U, above

SMALLEST = 2.0**-500  # entries whose squares may be no numbers
TRIES = (1.0, 8.0, 64.0, 4096.0)  # times n·u·(largest diagonal entry): shifts of the factorisation

BLOCK = 64  # columns that are eliminated at a time
STRIP = 128  # columns that are updated at a time

LOW, LONGEST, BITS = 16, 4e5, 200  # ranks, numbers and their lengths up to which whole numbers are asked
PRIME = 2**31 - 1  # products of two residues are whole numbers of 64 bits


class Successive:
    """Bounds, each the result of more work than the one before, computed when they are asked for."""

    def __init__(self, bounds: Iterator[float]) -> None:
        self.bounds, self.least, self.lock = bounds, [math.inf], threading.Lock()

    def until(self, enough: float) -> float:
        """The first that is small enough, or else the least of all. One thread at a time: an instance that remembers
        has these bounds for several."""
        with self.lock:
            for k in itertools.count():
                if k == len(self.least):
                    more = next(self.bounds, None)
                    if more is None:
                        break
                    self.least.append(min(more, self.least[-1]))
                if self.least[k] <= enough and math.isfinite(self.least[k]):
                    return self.least[k]
            return self.least[-1]


def combined_ridge(stack: KernelStack, weights: Array, bias: bool, enough: float = 0.0) -> float:
    """δ of Σ weight_m K_m, weights ≥ 0. No sharper way is tried once δ ≤ enough."""
    return successive_ridges(stack, weights, bias).until(enough)


def successive_ridges(stack: KernelStack, weights: Array, bias: bool) -> Successive:
    """The same by one way after the other, as far as they are asked for."""
    if isinstance(stack.kernels, LowRank | Streamed) or not weights.any():
        return Successive(iter([0.0]))
    name = "ridges with a bias" if bias else "ridges"
    return stack.once(name, weights, lambda: Successive(_combined_ridges(stack, weights, bias)))


def _combined_ridges(stack: KernelStack, weights: Array, bias: bool) -> Iterator[float]:
    """δ by one way after the other."""
    used = np.flatnonzero(weights)
    centred = bias and any(stack.mostly_constant(int(m)) for m in used)
    for way in (_by_factors, _as_one) if centred else (_as_one, _by_factors):
        yield from way(stack, weights, centred)
    if all(exactly_semidefinite(stack, int(m), bias) for m in used):
        yield 0.0


def _as_one(stack: KernelStack, weights: Array, centred: bool) -> Iterator[float]:
    """From a factorisation of the sum."""
    if centred:
        return ridge_bounds(*_centred_sum(stack, weights))
    terms = int(np.count_nonzero(weights)) + 1
    entry = above(terms * U * float(weights @ stack.largest_entries), terms + 8)
    return ridge_bounds(stack.combined(weights), float(above(stack.samples * entry)))


def _by_factors(stack: KernelStack, weights: Array, centred: bool) -> Iterator[float]:
    """From a factor of every kernel, if all have low rank: what they leave is summed up, not the kernels themselves."""
    n, r = stack.samples, stack.reference if centred else None
    rest, off, size = np.zeros((n, n)), 0.0, 0.0
    for m in np.flatnonzero(weights).tolist():
        columns = stack.low_rank_factor(m, centred)
        if columns is None or not columns.accurate:
            return
        norm, lost = _add_rest(rest, float(weights[m]), stack.kernel(m), r, columns.factor)
        size += float(above(weights[m] * norm))
        off += float(above(weights[m] * lost))
    terms = int(np.count_nonzero(weights)) + 2
    yield float(above(_row_sums(rest) + off + terms * U * size, terms))


def ridges(stack: KernelStack, used: Array | NDArray[np.bool_], bias: bool) -> Array:
    """δ_m of every kernel that is used, on its own. It is a number of the kernel, and computed once."""
    name = "ridge with a bias" if bias else "ridge"
    ways = [partial(combined_ridge, stack, unit, bias) for unit in np.eye(stack.count)]
    return np.array([stack.number_of(name, m, way) if used[m] else 0.0 for m, way in enumerate(ways)])


def exactly_semidefinite(stack: KernelStack, m: int, bias: bool) -> bool:
    """Whether whole numbers prove it; not asked where the rank is not low, or the numbers would be too long."""
    if stack.samples**2 * LOW > LONGEST or stack.rank(m) > LOW:
        return False
    mantissas, exponents = np.frexp(mirrored(np.asarray(stack.kernels[m], dtype=np.float64)))
    wholes, exponents = np.asarray(mantissas * 2.0**53, dtype=np.int64), exponents.astype(int) - 53
    used = wholes != 0
    if not used.any():
        return True
    while not (wholes[used] % 2).any():
        wholes, exponents = wholes // 2, exponents + 1
    least = int(exponents[used].min())
    if int(exponents[used].max()) - least > BITS:
        return False
    shifts = np.maximum(exponents - least, 0)
    powers = np.array([pow(2, k, PRIME) for k in range(int(shifts.max()) + 1)])
    if not _has_low_rank(_differences(wholes % PRIME * powers[shifts] % PRIME, bias) % PRIME):
        return False
    entries = [int(w) << int(k) for w, k in zip(wholes.ravel(), shifts.ravel(), strict=True)]
    return _eliminated(_differences(np.array(entries, dtype=object).reshape(wholes.shape), bias))


def _differences(matrix: AnyArray, bias: bool) -> AnyArray:
    """The kernel of the differences to the first sample, if there is a bias."""
    return matrix[1:, 1:] - matrix[1:, :1] - matrix[:1, 1:] + matrix[0, 0] if bias else matrix


def _has_low_rank(matrix: NDArray[np.int64]) -> bool:
    """Whether the rank modulo a prime is low. It is no larger than that of the whole numbers themselves, which takes a
    hundred times longer to find."""
    for _ in range(LOW + 1):
        if not matrix.any():
            return True
        i, j = np.unravel_index(int(np.argmax(matrix)), matrix.shape)
        scaled = matrix[:, j] * pow(int(matrix[i, j]), -1, PRIME) % PRIME
        matrix = (matrix - scaled[:, None] * matrix[i]) % PRIME
    return False


def _eliminated(matrix: Array) -> bool:
    """Whether elimination without fractions (Bareiss 1968) meets positive pivots only, and leaves nothing."""
    last = 1
    for _ in range(LOW + 1):
        if not len(matrix):
            return True
        diagonal = np.diagonal(matrix)
        k = int(np.argmax(diagonal))
        if diagonal[k] <= 0:
            return not matrix.any()
        pivot, row = matrix[k, k], matrix[k]
        matrix = (matrix * pivot - np.outer(row, row)) // last
        matrix, last = np.delete(np.delete(matrix, k, 0), k, 1), pivot
    return False


def _centred_sum(stack: KernelStack, weights: Array) -> tuple[Array, float]:
    """Σ weight_m K_m for features counted from the reference, without its row, and the norm of what it is off by.

    For v with Σv = 0 the form is the same without the reference's entry, and ‖v‖ is no smaller with it."""
    n, r = stack.samples, stack.reference
    total, off, size = np.zeros((n, n)), 0.0, 0.0
    for m in np.flatnonzero(weights).tolist():
        weight, kernel, largest = float(weights[m]), stack.kernel(m), 0.0
        for rows, before, strip in _strips(kernel, r):
            largest = max(largest, largest_entry(strip))
            strip *= weight
            total[rows, before] += strip
        size += float(above(weight * largest))
        off += float(above(weight * _centring_error(kernel, r, largest)))
    terms = int(np.count_nonzero(weights)) + 2
    rest = np.delete(np.delete(mirrored(total), r, 0), r, 1)
    return rest, float(above(n * (off + terms * U * size), terms))


def _add_rest(rest: Array, weight: float, kernel: Array, r: int | None, factor: Array) -> tuple[float, float]:
    """Add weight times K − FF' to the lower triangle; its norm (Frobenius'), and that of what it is off by.

    F = c + f with so few bits in c that cc' is exact, and FF' = cc' + hf' + fh' with h = F − f/2: only the second part
    is rounded, and it is small. A square F is lower triangular."""
    n, columns = factor.shape
    bits = (53 - (columns - 1).bit_length()) // 2
    exponent = math.frexp(float(np.abs(factor).max()))[1]
    raise_by = 1.5 * 2.0 ** (exponent - bits + 52)
    coarse = (factor + raise_by) - raise_by
    fine = factor - coarse
    half = factor - fine / 2
    squares, product = 0.0, np.empty(max(ROWS, n))
    for rows, before, strip in _strips(kernel, r):
        room = product[: strip.size].reshape(strip.shape)
        filled = before if columns == n else slice(None)  # of a triangular factor
        for left, right in ((coarse, coarse), (half, fine), (fine, half)):
            strip -= np.matmul(left[rows, filled], right[before, filled].T, out=room)
        squares += float(np.vdot(strip, strip))
        strip *= weight
        rest[rows, before] += strip
    # Rows of F have the length of a root of the diagonal; those of f, 2^(exponent − bits) in each entry.
    length = math.sqrt(float(np.einsum("ij,ij->i", factor, factor).max())) * (1 + n * U)
    small = 2.0 ** (exponent - bits) * math.sqrt(columns)
    mixed = 2 * small * (length + small)
    norm = math.sqrt(2 * squares) * (1 + n * U) + n * SMALLEST
    entry = (2 * columns + 8) * U * mixed + _centring_error(kernel, r, length**2 + 2 * (norm + mixed))
    return norm, float(above(n * entry + 4 * U * norm))  # each of the three subtractions loses u of its result


def _strips(kernel: Array, r: int | None) -> Iterator[tuple[slice[int, int, int], slice[int, int, int], Array]]:
    """The lower triangle of K_ij, or of (K_ij − K_ir) − (K_rj − K_rr), some rows at a time, which may be
    written to."""
    n, room = len(kernel), np.empty(max(ROWS, len(kernel)))
    side = None if r is None else kernel[r] - kernel[r, r]
    for start in range(0, n, height := max(1, ROWS // n)):
        rows, before = slice(start, start + height), slice(0, min(start + height, n))
        part = kernel[rows, before]
        strip = room[: part.size].reshape(part.shape)  # the same memory again: it stays in the cache
        if side is None:
            strip[:] = part
        else:
            np.subtract(part, kernel[rows, r, None], out=strip)
            strip -= side[before]
        yield rows, before, strip


def _centring_error(kernel: Array, r: int | None, largest: float) -> float:
    """A bound on the error of a strip's entries. If all K_ij lie in [a, 2a], their differences are exact (Sterbenz) and
    multiples of the unit in the last place of a. A difference of two such numbers is a multiple too, and a double holds
    every multiple up to a: then the error is zero."""
    if r is None:
        return 0.0
    high, low = float(kernel.max()), float(kernel.min())
    exact = 0 < high <= 2 * low and largest <= low
    return 0.0 if exact else U * (largest + 4.0 * max(high, -low))


def ridge_bounds(matrix: Array, off: float) -> Iterator[float]:
    """δ with A + δI ⪰ 0 for every A within `off` of the matrix, which is symmetric, by one way after the other."""
    n, diagonal = len(matrix), np.diagonal(matrix).copy()
    size = float(np.abs(diagonal).max())
    if size == 0:
        yield float(above(off + _row_sums(matrix)))
        return
    unit, proved = n * U * size, False
    definite = -2 * (float(above((n + 3) * U * np.abs(diagonal).sum(), n)) + off) - unit
    for shift in (definite, *(factor * unit for factor in TRIES)):
        lower = _factor(matrix, shift)
        if lower is None:
            continue
        rest = float(above(2 * U * (size + abs(shift)))) + n * TINY + off
        yield _positive(shift + _lost(diagonal, shift, n + 3) + rest)
        if n >= 4 * BLOCK and (apart := _apart_by_blocks(matrix, shift)) is not None:
            yield _positive(shift + _lost(diagonal, shift, BLOCK + -(-n // BLOCK) + 8) + apart + rest)
        yield _positive(shift + _residual(matrix, lower, shift) + off)
        proved = True
        break
    if (factor := pivoted_cholesky(matrix, 4 * n * U)[1]) is not None:
        yield _positive(_residual(matrix, factor) + off)
        proved = True
    if not proved:  # far from semidefinite: what the smallest eigenvalue says, by the same test
        lowest = float(np.linalg.eigvalsh(matrix)[0])
        shift = 1.01 * max(-lowest, 0.0) + TRIES[-1] * unit
        lower = _factor(matrix, shift)
        yield math.inf if lower is None else _positive(shift + _residual(matrix, lower, shift) + off)


def _positive(delta: float) -> float:
    return 0.0 if delta <= 0 else float(above(delta))  # NaN proves nothing


def _lost(diagonal: Array, shift: float, roundings: int) -> float:
    """c: what a factorisation of A + sI may be off by, no product meeting more roundings."""
    n = len(diagonal)
    return float(above(roundings * U * (np.abs(diagonal).sum() + n * abs(shift)), n + 8))


def _lifted(matrix: Array, shift: float) -> Array:
    lifted = matrix.copy()
    lifted[np.diag_indices(len(lifted))] += shift
    return lifted


def _apart_by_blocks(matrix: Array, shift: float) -> float | None:
    """2‖E‖ of the factorisation of A + sI by blocks, if it succeeds; of A the lower triangle is read."""
    from scipy.linalg.blas import dtrsm
    from scipy.linalg.lapack import dpotrf

    left, n, squares = _lifted(matrix, shift), len(matrix), 0.0
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        upper, failed = dpotrf(left[start:end, start:end].T, lower=0, clean=1)
        if failed:
            return None
        panel = dtrsm(1.0, upper, left[end:, start:end].T, lower=0, trans_a=1)
        for first, rows in ((start, upper), (end, panel)):
            apart = left[first : first + rows.shape[1], start:end] - rows.T @ upper
            apart = np.tril(apart) if first == start else apart
            squares += float(np.vdot(apart, apart))
        for first in range(end, n, STRIP):
            last = min(first + STRIP, n)
            left[first:, first:last] -= panel.T[first - end :] @ panel[:, first - end : last - end]
    return 2 * (math.sqrt(2 * squares) + n * SMALLEST)


def _factor(matrix: Array, shift: float) -> Array | None:
    from scipy.linalg.lapack import dpotrf

    lifted = _lifted(matrix, shift)
    lower, failed = dpotrf(lifted.T, lower=1, clean=1, overwrite_a=1)
    return None if failed else lower


def _residual(matrix: Array, factor: Array, shift: float = 0.0) -> float:
    """‖A + sI − FF'‖₂ from above."""
    rest = np.zeros_like(matrix)
    _, lost = _add_rest(rest, 1.0, matrix, None, factor)
    rest[np.diag_indices(len(rest))] += shift
    return float(above(_row_sums(rest) * (1 + 2 * U) + lost + 2 * U * abs(shift)))


def _row_sums(entries: Array) -> float:
    """The largest sum of |entries| in a row, from above, of the symmetric matrix with this lower triangle: no less
    than its spectral norm."""
    lower = np.tril(entries)
    np.abs(lower, out=lower)
    sums = lower.sum(axis=1)
    lower.ravel()[:: len(lower) + 1] = 0.0  # the diagonal counts once
    sums += lower.sum(axis=0)
    return float(above(sums.max(), len(entries)))
