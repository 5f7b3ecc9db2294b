"""δ: what makes a kernel semidefinite, A + δI ⪰ 0, proved in floating point.

With a bias only vectors that sum to zero count, and A may be replaced by A − g1' − 1g', whatever g is.

**Cholesky** (Rump 2006). If the factorisation of A + sI in double precision succeeds, A + sI + cI ⪰ 0 with
c = (n+3)u·tr(A + sI). So δ = max(s + c, 0): a negative s that succeeds proves that A is definite.

**Residual.** For any L at all, A + sI = LL' + R gives A + (s + ‖R‖)I ⪰ 0. R is evaluated with L in two slices, L₁ of
so few bits that L₁L₁' is exact: what is lost is u|R| and n·u·2^(-bits) of the diagonal. This is sharper by about n, and
costs three products of matrices.

**Low rank.** With a pivoted factor F of r columns R = A − FF' is small although A is singular, and its evaluation loses
(r+2)u|F||F|' only.

**Exactly.** Kernels of whole numbers and low rank, such as those of linear features, are semidefinite without any δ.
Entries are dyadic: in whole numbers, elimination with symmetric pivots ends after as many steps as the rank, with
positive pivots and nothing left if and only if the kernel is semidefinite. With a bias the kernel is that of the
differences to one sample, K_ij − K_i0 − K_0j + K_00.

‖·‖₂ is bounded by the largest row sum. A itself is known up to an error matrix of norm `off`, which is added.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formulations._low_rank import LowRank
from ..formulations._stack import KernelStack, mirrored, offsets_of
from .rounding import TINY, Array, U, above

TRIES = (1.0, 8.0, 64.0, 4096.0)  # times n·u·(largest diagonal entry): shifts of the factorisation

LOW, LONGEST, BITS = 16, 4e5, 200  # ranks, numbers and their lengths up to which whole numbers are asked


def combined_ridge(stack: KernelStack, weights: Array, bias: bool, enough: float = 0.0) -> float:
    """δ of Σ weight_m K_m, weights ≥ 0. No sharper way is tried once δ ≤ enough."""
    if isinstance(stack.kernels, LowRank) or not weights.any():
        return 0.0
    used = np.flatnonzero(weights)
    if bias and any(stack.mostly_constant(int(m)) for m in used):
        matrix, off = _centred_sum(stack, weights)
    else:
        matrix = stack.combined(weights)
        entry = above((len(used) + 1) * U * float(weights @ stack.largest_entries), len(used) + 8)
        off = float(above(stack.samples * entry))
    quick = ridge(matrix, off, math.inf)
    sharp = quick if quick <= enough else ridge(matrix, off, enough)
    if sharp <= enough:
        return sharp
    return 0.0 if all(exactly_semidefinite(stack, int(m), bias) for m in used) else sharp


def ridges(stack: KernelStack, used: NDArray[Any], bias: bool) -> Array:
    """δ_m of every kernel that is used, on its own."""
    return np.array([combined_ridge(stack, one, bias) if used[m] else 0.0 for m, one in enumerate(np.eye(stack.count))])


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
    entries = [int(w) << max(int(e) - least, 0) for w, e in zip(wholes.ravel(), exponents.ravel(), strict=True)]
    matrix = np.array(entries, dtype=object).reshape(wholes.shape)
    if bias:
        matrix = matrix[1:, 1:] - matrix[1:, :1] - matrix[:1, 1:] + matrix[0, 0]
    return _eliminated(matrix)


def _eliminated(matrix: Array) -> bool:
    """Whether elimination without fractions (Bareiss 1968) meets positive pivots only, and leaves nothing."""
    last = 1
    for _ in range(LOW + 1):
        if not len(matrix):
            return True
        diagonal = np.diagonal(matrix)
        if diagonal.size == 0:
            return True
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
    total, sizes, off = np.zeros((n, n)), np.zeros((n, n)), 0.0
    for m, kernel in enumerate(stack.each_kernel()):
        if weights[m]:
            g = offsets_of(kernel, r)
            once = kernel - g[:, None]
            twice = once - g
            lost = _lost(kernel, g[:, None], once) + _lost(once, g, twice)
            centred = twice + lost
            off += float(weights[m]) * float(above(np.abs(centred).max() * U + 4 * U * np.abs(lost).max()))
            centred *= weights[m]
            total += centred
            sizes += np.abs(centred)
    entry = above(off + (np.count_nonzero(weights) + 2) * U * float(sizes.max(initial=0.0)))
    rest = np.delete(np.delete(mirrored(total), r, 0), r, 1)
    return rest, float(above(n * entry))


def _lost(whole: Array, part: Array, rest: Array) -> Array:
    """whole − part − rest, exactly (Knuth)."""
    back = rest - whole
    return np.asarray((whole - (rest - back)) - (part + back))


def ridge(matrix: Array, off: float, enough: float) -> float:
    """δ with A + δI ⪰ 0 for every A within `off` of the matrix, which is symmetric."""
    n, diagonal = len(matrix), np.diagonal(matrix).copy()
    size = float(np.abs(diagonal).max())
    if size == 0:
        return float(above(off + _row_sums(np.abs(matrix))))
    best = math.inf
    unit = n * U * size
    definite = -2 * (float(above((n + 3) * U * np.abs(diagonal).sum(), n)) + off) - unit
    for shift in (definite, *(factor * unit for factor in TRIES)):
        lower = _factor(matrix, shift)
        if lower is None:
            continue
        plain = shift + float(above((n + 3) * U * (np.abs(diagonal).sum() + n * abs(shift)), n + 8)) + off
        plain += float(above(2 * U * (size + abs(shift)))) + n * TINY
        best = max(plain, 0.0)
        if best > enough:
            best = min(best, max(shift + _residual(matrix, lower, shift) + off, 0.0))
        break
    if best > enough:
        best = min(best, _low_rank(matrix, size) + off)
    if math.isinf(best):  # far from semidefinite: what the smallest eigenvalue says, by the same test
        lowest = float(np.linalg.eigvalsh(matrix)[0])
        shift = 1.01 * max(-lowest, 0.0) + TRIES[-1] * unit
        lower = _factor(matrix, shift)
        best = math.inf if lower is None else shift + _residual(matrix, lower, shift) + off
    return float(above(best)) if best > 0 else 0.0


def _factor(matrix: Array, shift: float) -> Array | None:
    from scipy.linalg.lapack import dpotrf

    lifted = matrix.copy()
    lifted[np.diag_indices(len(lifted))] += shift
    lower, failed = dpotrf(lifted.T, lower=1, clean=1, overwrite_a=1)
    return None if failed else lower


def _residual(matrix: Array, lower: Array, shift: float) -> float:
    """‖A + sI − LL'‖₂ from above."""
    n = len(matrix)
    bits = (53 - (n - 1).bit_length()) // 2
    largest = math.frexp(float(np.abs(lower).max()))[1]
    raise_by = 1.5 * 2.0 ** (largest - bits + 52)
    coarse = (lower + raise_by) - raise_by
    fine = lower - coarse
    rest = matrix - coarse @ coarse.T
    lost = U * np.abs(rest)
    mixed = coarse @ fine.T
    rest -= mixed
    rest -= mixed.T
    rest -= fine @ fine.T
    rest[np.diag_indices(n)] += shift
    lost += 4 * U * np.abs(rest)
    # Rows of L have the length of a root of the diagonal; those of the fine part, 2^(largest − bits) in each entry.
    lengths = np.sqrt(np.einsum("ij,ij->i", lower, lower)) * (1 + n * U)
    small = 2.0 ** (largest - bits) * math.sqrt(n)
    entry = (2 * n + 8) * U * small * (2 * float(lengths.max()) + small) + 4 * U * abs(shift)
    return float(above(_row_sums(np.abs(rest) + lost) + n * entry))


def _low_rank(matrix: Array, size: float) -> float:
    """‖A − FF'‖₂ from above for a pivoted factor F; infinite if A has full rank."""
    from scipy.linalg.lapack import dpstrf

    n = len(matrix)
    lower, pivots, rank, _ = dpstrf(matrix, tol=4 * n * U * size, lower=1)
    if 2 * rank > n:
        return math.inf
    factor = np.zeros((n, rank))
    factor[pivots - 1] = np.tril(lower)[:, :rank]
    lengths = np.abs(factor)
    rest = np.abs(matrix - factor @ factor.T) * (1 + 4 * U) + (rank + 2) * U * (lengths @ lengths.T) * (1 + rank * U)
    return float(above(_row_sums(rest), n))


def _row_sums(sizes: Array) -> float:
    """The largest sum of a row from above: no less than the spectral norm."""
    return float(above(sizes.sum(axis=1).max(), len(sizes)))
