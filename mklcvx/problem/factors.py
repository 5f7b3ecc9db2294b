"""A single kernel as a product FF': by eigenvalues, or by Cholesky's method with pivots where the rank is low.

Kernels of low rank may be indefinite after rounding; their factors are semidefinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .low_rank import LowRank
from .numbers import Array

LOW = 48  # largest rank of a kernel without its constant that is worked with as a factor
MORE = 4  # columns that are tried when no more than rounding of the stored entries is left
NOISE = 1e-7  # of the largest diagonal entry: rounding of stored entries above it is not left out
EPSILON = float(np.finfo(np.float64).eps)


class Factor(NamedTuple):
    """K = F F' with orthogonal columns: F = V √λ. A function with coordinates w has coefficients V w/√λ."""

    columns: Array
    to_coefficients: Array


class NumericalFactor(NamedTuple):
    """F with K = FF' up to rounding in the last place, or, if not `accurate`, up to that of large entries before a
    constant was taken away."""

    factor: Array
    accurate: bool


def in_factors(kernels: Iterable[Array]) -> LowRank:
    """Every kernel by its factor."""
    return LowRank([factored(kernel).columns for kernel in kernels])


def factored(kernel: Array) -> Factor:
    """By eigenvectors; eigenvalues of the size of rounding are left out."""
    values, vectors = np.linalg.eigh(kernel)
    keep = values > len(values) * np.finfo(float).eps * max(values[-1], 0.0)
    if not keep.any():  # the zero kernel: one coordinate that does nothing
        return Factor(np.zeros((len(values), 1)), np.zeros((len(values), 1)))
    roots, vectors = np.sqrt(values[keep]), vectors[:, keep]
    return Factor(vectors * roots, vectors / roots)


def orthogonal(factor: Array) -> Factor:
    """The same from a factor that is known."""
    vectors, roots, _ = np.linalg.svd(factor, full_matrices=False)
    keep = roots > len(factor) * np.finfo(float).eps * (roots[0] if len(roots) else 0.0)
    if not keep.any():
        return Factor(np.zeros((len(factor), 1)), np.zeros((len(factor), 1)))
    return Factor(vectors[:, keep] * roots[keep], vectors[:, keep] / roots[keep])


def pivoted(kernel: Array, reference: int | None) -> NumericalFactor | None:
    """Cholesky with pivots of K − g1' − 1g', where g are the offsets of a reference, or nothing. It reads no more than
    the pivots' rows. What is left is semidefinite, so that its diagonal bounds it. If nothing is left, the factor is
    accurate; if no more than rounding of the stored entries is, and some more columns do not help, it ends where that
    began."""
    offsets = np.zeros(len(kernel)) if reference is None else offsets_of(kernel, reference)
    n, epsilon = len(kernel), EPSILON
    diagonal = np.diagonal(kernel)
    left = (diagonal - offsets) - offsets
    size = float(np.max(left, initial=0.0))
    enough, noise = n * epsilon * size, 4 * epsilon * float(np.max(diagonal))
    factor, last = np.zeros((n, min(LOW, n // 4) + 1)), None
    for r in range(factor.shape[1]):
        k = int(np.argmax(left))
        if left[k] <= enough:
            return NumericalFactor(factor[:, : max(r, 1)].copy(), True)
        if last is None and left[k] <= noise:
            last = r
        if last is not None and r == last + MORE:
            break
        row = (kernel[k] - offsets) - offsets[k]
        factor[:, r] = (row - factor[:, :r] @ factor[k, :r]) / math.sqrt(left[k])
        left -= factor[:, r] ** 2
    if last is None or noise > NOISE * size:
        return None
    return NumericalFactor(factor[:, : max(last, 1)].copy(), False)


def pivoted_cholesky(matrix: Array, tolerance: float) -> tuple[int, Array | None]:
    """The rank, up to `tolerance` times the largest diagonal entry, and F with A = FF' up to that; None in its place if
    the rank is above half of the rows."""
    from scipy.linalg.lapack import dpstrf

    lower, pivots, rank, _ = dpstrf(matrix, tol=tolerance * float(matrix.diagonal().max()), lower=1)
    if 2 * rank > len(matrix):
        return int(rank), None
    factor = np.zeros((len(matrix), max(rank, 1)))
    factor[pivots - 1, :rank] = np.tril(lower)[:, :rank]
    return int(rank), factor


def offsets_of(kernel: Array, reference: int) -> Array:
    """g with which K − g1' − 1g' is K_ij − K_ir − K_rj + K_rr, up to rounding: exactly where entries have one size."""
    return np.asarray(kernel[:, reference] - kernel[reference, reference] / 2)
