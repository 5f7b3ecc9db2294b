"""A stack of kernels in exact numbers: a dense kernel is its stored lower triangle, mirrored; factors F mean FF'.

Whether a kernel is positive semidefinite is settled exactly, in one of four ways.

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
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz_mat

from ...problem.distributed import Distributed
from ...problem.low_rank import LowRank
from ...problem.stack import mirrored
from .balls import ONE, Array, as_balls, exacts, inner, middles, rounded_up

WHOLE_BITS, WHOLE_SAMPLES = 400, 160  # the sizes up to which the polynomial takes seconds at most
LONG = 2048  # bits: sums of a few doubles are exact
SMALLEST = 2.0**-900  # no δ is sought below rounding of this
CHOLESKY, POLYNOMIAL, PERTURBED, NOT_NEEDED = "shifted Cholesky", "characteristic polynomial", "ridge", "not needed"
FACTORS = "its factors"


class Settled(NamedTuple):
    """How semidefiniteness was settled, and the δ that it cost."""

    method: str
    delta: float = 0.0


Ridges = dict[str, Settled]
COMBINED = "the combined kernel"


class KernelBalls:
    """Products are enclosed at the precision in force; every ridge is sought once."""

    def __init__(self, kernels: Any, names: Sequence[str] | None = None) -> None:
        self.names = tuple(names) if names is not None else tuple(f"K{m + 1}" for m in range(len(kernels)))
        if isinstance(kernels, Distributed):
            kernels.refuse("balls of all of them are asked for")
        self.factored, each = isinstance(kernels, LowRank), range(len(kernels))
        self.doubles = [kernels.factor(m) if self.factored else mirrored(np.asarray(kernels[m], float)) for m in each]
        self.balls = [as_balls(stored) for stored in self.doubles]
        self.samples = len(self.doubles[0])
        self.ridge = cache(self._ridge)
        self._combined_ridge = cache(self._settled_together)

    def __len__(self) -> int:
        return len(self.balls)

    @property
    def matrices(self) -> list[arb_mat]:
        return [ball * ball.transpose() if self.factored else ball for ball in self.balls]

    def applied(self, m: int, columns: arb_mat) -> tuple[arb_mat, list[arb]]:
        """K_m V, and v'K_m v for every column v."""
        if self.factored:
            inside = self.balls[m].transpose() * columns
            squares = [inner(column, column) for column in inside.transpose().tolist()]
            return self.balls[m] * inside, squares
        product = self.balls[m] * columns
        pairs = zip(columns.transpose().tolist(), product.transpose().tolist(), strict=True)
        return product, [inner(vector, image) for vector, image in pairs]

    def rational(self, weights: Sequence[fmpq]) -> fmpq_mat:
        """Σ_m weight_m K_m to the last digit."""
        terms = (self._rational(m) * weight for m, weight in enumerate(weights) if weight != 0)
        return sum(terms, fmpq_mat(self.samples, self.samples))

    def _rational(self, m: int) -> fmpq_mat:
        stored = fmpq_mat(*self.doubles[m].shape, exacts(self.doubles[m].ravel().tolist()))
        return stored * stored.transpose() if self.factored else stored

    # -------------------------------------------------------------------------------------- semidefiniteness
    def _ridge(self, m: int, complement: bool = False) -> Settled:
        """δ with K_m + δI ⪰ 0."""
        return Settled(FACTORS) if self.factored else settle(self.balls[m], complement)

    def combined_ridge(self, weights: Sequence[fmpq], complement: bool) -> tuple[float, Ridges]:
        """δ with Σ_m weight_m K_m + δI ⪰ 0, and how it was settled."""
        if not any(weight != 0 for weight in weights):
            return 0.0, {}
        if self.factored:
            return 0.0, {name: Settled(FACTORS) for name, w in zip(self.names, weights, strict=True) if w != 0}
        key = tuple((int(weight.p), int(weight.q)) for weight in weights)
        return self._combined_ridge(key, complement)

    def _settled_together(self, key: tuple[tuple[int, int], ...], complement: bool) -> tuple[float, Ridges]:
        weights, unit = even([fmpq(*pair) for pair in key])
        used = [m for m, weight in enumerate(weights) if weight != 0]
        if len(used) == 1:
            known = self.ridge(used[0], complement)
            return _above(known.delta, weights[used[0]] * unit), {self.names[used[0]]: known}
        with ctx.workprec(LONG):
            matrix = sum((self.balls[m] * arb(weights[m]) for m in used), arb_mat(self.samples, self.samples))
        tested = compressed(matrix) if complement else matrix
        kernel = middles(tested)
        found = definite(kernel, tested)
        if found is not None:
            return 0.0, {COMBINED: found}
        each = {self.names[m]: self.ridge(m, complement) for m in used}
        apart = sum(_above(self.ridge(m, complement).delta, weights[m] * unit) for m in used) * (1 + 1e-12)
        if apart == 0:
            return 0.0, each
        together = _above(lifted(kernel, tested, complement).delta, unit)
        return (together, {COMBINED: Settled(PERTURBED, together)}) if together <= apart else (apart, each)


def _above(delta: float, weight: fmpq) -> float:
    return rounded_up(arb(delta) * arb(weight)) if delta else 0.0


# ---------------------------------------------------------------------------------------------- semidefiniteness
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
    """How δ = 0 was proved to suffice; None where it was not."""
    step = np.finfo(float).eps * float(np.abs(kernel).max())
    if any(by_cholesky(kernel, matrix, -shift * step) for shift in (len(kernel), 2 * len(kernel) ** 2)):
        return Settled(CHOLESKY)
    return Settled(POLYNOMIAL) if by_polynomial(matrix) else None


def lifted(kernel: Array, matrix: arb_mat, complement: bool) -> Settled:
    """A δ that suffices. The search ends, since K + δI becomes diagonally dominant."""
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
    """Whether no coefficient of det(λI + K) is negative; False where the numbers would be too long."""
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
    """Weights and their common factor: equal weights become ones, which are exact in binary."""
    used = [weight for weight in weights if weight != 0]
    if used and all(weight == used[0] for weight in used):
        return [fmpq(int(weight != 0)) for weight in weights], used[0]
    return weights, ONE
