"""Is a stored kernel positive semidefinite? Settled exactly, in one of three ways.

Weak duality needs K ⪰ 0, and stored kernels are so up to rounding only. K is an exact symmetric matrix of dyadic
numbers (the symmetric part of what is stored, if need be).

**Shifted Cholesky.** Let L be any lower triangular matrix, such as the floating-point Cholesky factor of K − sI. If
K − LL', evaluated in balls, is diagonally dominant with a non-negative diagonal, it is positive semidefinite by
Gershgorin, and so is K = LL' + (K − LL'). No property of the floating-point factorisation is used.

**Characteristic polynomial.** Multiplied by a power of two, K has whole entries, and det(λI + K) = Σ_k c_k λ^k is
computed in whole numbers. K ⪰ 0 if and only if no c_k is negative: for λ > 0 the polynomial is then positive, its
leading coefficient being 1, so that −K has no positive eigenvalue; and the c_k are elementary symmetric functions of
the eigenvalues. This decides for singular kernels, where no Cholesky test can.

**Perturbation.** Otherwise δ is the least power of two, from rounding upwards, for which the first test proves
K + δI ⪰ 0. What is proved then holds for every positive semidefinite kernel K̃ with ‖K̃ − K‖₂ ≤ δ, of which there is
one. K̃v differs from Kv by at most δ‖v‖₂ in every entry, and v'K̃v from v'Kv by at most δ‖v‖²: `KernelBalls` accounts
for that, and nothing else has to know.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat, fmpz_mat
from numpy.typing import NDArray

from ..errors import InputError
from ..formulations._stack import KernelStack
from .balls import Array, added, top

WHOLE_BITS, WHOLE_SAMPLES = 400, 160  # the sizes up to which the polynomial takes seconds at most
CHOLESKY, POLYNOMIAL, PERTURBED, NOT_NEEDED = "shifted Cholesky", "characteristic polynomial", "perturbed", "not needed"


class Settled(NamedTuple):
    """How semidefiniteness was settled, and the δ that it cost."""

    method: str
    delta: float = 0.0


class KernelBalls:
    """A stack of kernels as exact matrices, each with the perturbation δ that makes it semidefinite."""

    def __init__(self, stack: KernelStack, semidefinite: bool = True) -> None:
        self.matrices, self.settled = [], []
        for kernel in stack.kernels:
            doubles = np.asarray(kernel, dtype=np.float64)
            matrix = as_balls(doubles)
            matrix = matrix if stack.symmetric else (matrix + matrix.transpose()) / 2
            self.matrices.append(matrix)
            known = settle((doubles + doubles.T) / 2, matrix) if semidefinite else Settled(NOT_NEEDED)
            self.settled.append(known)

    def __len__(self) -> int:
        return len(self.matrices)

    def images(self, m: int, columns: arb_mat) -> arb_mat:
        """K̃_m V for every K̃_m that the perturbation allows."""
        return self.applied(m, columns)[0]

    def applied(self, m: int, columns: arb_mat) -> tuple[arb_mat, list[arb]]:
        """K̃_m V, and v'K̃_m v from above for every column v."""
        product, delta = self.matrices[m] * columns, arb(self.settled[m].delta)
        vectors = columns.transpose().tolist()
        pairs = zip(vectors, product.transpose().tolist(), strict=True)
        squares = [top(inner(v, image) + delta * inner(v, v)) for v, image in pairs]
        if delta != 0:
            blurs = [arb(0, (delta * inner(v, v).sqrt()).upper()) for v in vectors]
            rows = product.tolist()
            product = arb_mat([[entry + blur for entry, blur in zip(row, blurs, strict=True)] for row in rows])
        return product, squares


def inner(left: list[arb], right: list[arb]) -> arb:
    return added(a * b for a, b in zip(left, right, strict=True))


def as_balls(matrix: NDArray[Any]) -> arb_mat:
    """Doubles as balls without radius."""
    return arb_mat(*matrix.shape, np.asarray(matrix, dtype=float).ravel().tolist())


def settle(kernel: Array, matrix: arb_mat) -> Settled:
    if not kernel.any():
        return Settled(CHOLESKY)
    rounding = len(kernel) * np.finfo(float).eps * float(np.abs(kernel).max())
    if any(by_cholesky(kernel, matrix, -shift) for shift in (rounding, 2 * len(kernel) * rounding)):
        return Settled(CHOLESKY)
    if by_polynomial(matrix):
        return Settled(POLYNOMIAL)
    delta = 2.0 ** math.ceil(math.log2(rounding))
    for _ in range(40):  # up to what rounding to single precision can do
        if by_cholesky(kernel, matrix + as_balls(delta * np.eye(len(kernel))), delta / 2):
            return Settled(PERTURBED, delta)
        delta *= 2
    raise InputError("a kernel is far from positive semidefinite: mend it with repair='clip' or repair='shift'")


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
    bits = max(int(mantissa).bit_length() + int(exponent) - step for mantissa, exponent in pairs if mantissa != 0)
    if bits > WHOLE_BITS:
        return False
    whole = [-int(mantissa) << (int(exponent) - step) if mantissa != 0 else 0 for mantissa, exponent in pairs]
    return all(coefficient >= 0 for coefficient in fmpz_mat(size, size, whole).charpoly().coeffs())
