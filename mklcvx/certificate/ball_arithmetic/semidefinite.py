"""How far is a stored kernel from being positive semidefinite? Settled exactly, in one of four ways.

The upper bounds need a δ with K + δI ⪰ 0: everywhere, or on the complement of 1 = (1, …, 1) where the coefficients of
every function in question sum to zero, as a bias demands. The problem itself is that of the stored entries; δ widens
the upper bound and moves nothing. K is an exact symmetric matrix of dyadic numbers. A vector on the complement is
z = Bw, B with the columns e_i − e_n, so that z'Kz = w'(B'KB)w and ‖z‖² = w'(I + 11')w: with B'KB in place of K and
I + 11' in place of I the tests below are the same.

**Factors.** K = FF' is semidefinite, whatever F: δ = 0.

**Shifted Cholesky.** Let L be any lower triangular matrix, such as the floating-point Cholesky factor of K − sI. If
K − LL', evaluated in balls, is diagonally dominant with a non-negative diagonal, it is positive semidefinite by
Gershgorin, and so is K = LL' + (K − LL'). No property of the floating-point factorisation is used.

**Characteristic polynomial.** Multiplied by a power of two, K has whole entries, and det(λI + K) = Σ_k c_k λ^k is
computed in whole numbers. K ⪰ 0 if and only if no c_k is negative: for λ > 0 the polynomial is then positive, its
leading coefficient being 1, so that −K has no positive eigenvalue; and the c_k are elementary symmetric functions of
the eigenvalues. This decides for singular kernels, where no Cholesky test can.

**Ridge.** Otherwise δ is the least power of two, from rounding upwards, for which the second test proves K + δI ⪰ 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpz_mat
from numpy.typing import NDArray

from .balls import Array, added, exact

WHOLE_BITS, WHOLE_SAMPLES = 400, 160  # the sizes up to which the polynomial takes seconds at most
LONG = 2048  # bits: sums of a few doubles are exact
SMALLEST = 2.0**-900  # no δ is sought below rounding of this
CHOLESKY, POLYNOMIAL, PERTURBED, NOT_NEEDED = "shifted Cholesky", "characteristic polynomial", "ridge", "not needed"
FACTORS = "its factors"


class Settled(NamedTuple):
    """How semidefiniteness was settled, and the δ that it cost."""

    method: str
    delta: float = 0.0


def inner(left: list[arb], right: list[arb]) -> arb:
    return added(a * b for a, b in zip(left, right, strict=True))


def as_balls(matrix: NDArray[Any]) -> arb_mat:
    """Doubles as balls without radius."""
    return arb_mat(*matrix.shape, np.asarray(matrix, dtype=float).ravel().tolist())


def middles(matrix: arb_mat) -> Array:
    return np.array([float(entry) for entry in matrix.entries()]).reshape(matrix.nrows(), matrix.ncols())


def compressed(matrix: arb_mat) -> arb_mat:
    """B'KB."""
    rows = matrix.tolist()
    last, corner = rows[-1][:-1], rows[-1][-1]
    with ctx.workprec(LONG):
        return arb_mat([
            [entry - row[-1] - under + corner for entry, under in zip(row[:-1], last, strict=True)] for row in rows[:-1]
        ])  # fmt: skip


def settle(matrix: arb_mat, complement: bool = False) -> Settled:
    """The least δ that is found, for K + δI ⪰ 0 everywhere or on the complement of 1."""
    if complement and matrix.nrows() == 1:
        return Settled(CHOLESKY)
    tested = compressed(matrix) if complement else matrix
    kernel = middles(tested)
    if not any(entry != 0 for entry in tested.entries()):
        return Settled(CHOLESKY)
    known = definite(kernel, tested)
    return known if known is not None else lifted(kernel, tested, complement)


def definite(kernel: Array, matrix: arb_mat) -> Settled | None:
    """Whether δ = 0 will do; None where that is not so, or not found out."""
    step = np.finfo(float).eps * float(np.abs(kernel).max())
    if any(by_cholesky(kernel, matrix, -shift * step) for shift in (len(kernel), 2 * len(kernel) ** 2)):
        return Settled(CHOLESKY)
    return Settled(POLYNOMIAL) if by_polynomial(matrix) else None


def lifted(kernel: Array, matrix: arb_mat, complement: bool) -> Settled:
    """Sooner or later K + δI is diagonally dominant, so that the search ends."""
    size = len(kernel)
    metric, largest = np.eye(size) + complement, max(float(np.abs(kernel).max()), SMALLEST)
    delta = 2.0 ** math.ceil(math.log2(largest) - 53)
    while True:
        moved, lifts = kernel + delta * (metric - np.eye(size)), (delta - 8 * size * 2.0**-52 * largest, delta / 2)
        if any(lift > 0 and by_cholesky(moved, matrix + as_balls(delta * metric), lift) for lift in lifts):
            return Settled(PERTURBED, delta)
        delta *= 2


def by_cholesky(kernel: Array, matrix: arb_mat, lift: float) -> bool:
    """Whether matrix − LL' is diagonally dominant for the factor L of the kernel, its diagonal lifted."""
    try:
        factor = np.linalg.cholesky(kernel + lift * np.eye(len(kernel)))
    except np.linalg.LinAlgError:
        return False
    balls = as_balls(factor)
    rest = (matrix - balls * balls.transpose()).tolist()
    return all(row[i] - sum((abs(x) for j, x in enumerate(row) if j != i), arb(0)) >= 0 for i, row in enumerate(rest))


def by_polynomial(matrix: arb_mat) -> bool:
    """Whether no coefficient of det(λI + K) is negative; not asked where the numbers would be too long."""
    size, entries = matrix.nrows(), matrix.entries()
    if size > WHOLE_SAMPLES or not all(entry.is_exact() for entry in entries):
        return False
    pairs = [entry.man_exp() for entry in entries]
    step = min((int(exponent) for mantissa, exponent in pairs if mantissa != 0), default=0)
    lengths = [int(mantissa).bit_length() + int(exponent) - step for mantissa, exponent in pairs if mantissa != 0]
    if max(lengths, default=0) > WHOLE_BITS:
        return False
    whole = [-int(mantissa) << (int(exponent) - step) if mantissa != 0 else 0 for mantissa, exponent in pairs]
    return all(coefficient >= 0 for coefficient in fmpz_mat(size, size, whole).charpoly().coeffs())


def even(weights: list[fmpq]) -> tuple[list[fmpq], fmpq]:
    """Weights and what they are to be multiplied by: equal ones become ones, which have no endless fractions."""
    used = [weight for weight in weights if weight != 0]
    if used and all(weight == used[0] for weight in used):
        return [fmpq(int(weight != 0)) for weight in weights], used[0]
    return weights, exact(1.0)
