"""The function that is certified, stated once, and its values at new samples.

    f(x) = t (Σ_m Σ_i c_mi k_m(x_i, x) + b + b̃),      c_m = μ_m(β + β̃), or coefficients of their own

β = α∘y; β̃ (`alpha_low`) and b̃ (`bias_low`) hold what is below the last bits of β and b, t ≥ 1 is the stretch of the
certificate, or of the machine in a second stage. Bounds, predictions, margins in reports and the checker are about this
f. Without targets the decision is f − ρ.

`li`, `ckl` and `vskl` are certified with kernels K_m + δ_mI, which are k_m(x_i, x) + δ_m where x is sample i itself. At
a new sample f is as above; at training sample i it is larger by tΣ_m δ_mc_mi.

**Values.** One product for each kernel. Where the coefficients of a kernel sum to zero exactly, as they do with a bias,
a constant in a row of it plays no part: a large one is subtracted first, which is exact. With a low part products are
in slices (`passes`), since plain ones would lose more than β̃ says. Kernels are added up in two doubles. So a value is
off by no more than its products are; `error` bounds that, with the δ_m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..problem.cross_kernels import CrossKernel, CrossKernels, Product, mostly_constant, of_training
from ..problem.stack import Array
from .passes import added, sliced_product
from .rounding import U, above, exact_product

Sum = tuple[Array, Array]  # a sum in two doubles, the second below the last bit of the first


class DecisionTerms(NamedTuple):
    """What a kernel adds: terms, and how far their sum is from it."""

    terms: list[Array]
    error: Callable[[], Array]


@dataclass(frozen=True)
class CertifiedFunction:
    """f with k outputs; β and β̃ (k, n), coefficients (k, M, n), biases (k,)."""

    weights: Array
    beta: Array
    low: Array | None
    coefficients: Array | None
    bias: Array
    bias_low: Array
    stretch: Array  # (1,) or (k,)
    lift: float = 0.0  # the largest t|Σ_m δ_mc_mi|

    def lifted(self, delta: Array) -> CertifiedFunction:
        """f of the kernels K_m + δ_mI."""
        sizes = [rate * np.abs(self.coefficients_of(m)) for m, rate in enumerate(delta)]
        return replace(self, lift=float(above(np.max(self.stretch) * np.max(np.sum(sizes, axis=0)), len(delta))))

    def coefficients_of(self, m: int) -> Array:
        """c_m (k, n) as doubles, without t."""
        if self.coefficients is not None:
            return np.ascontiguousarray(self.coefficients[:, m])
        return np.asarray(self.weights[m] * (self.beta if self.low is None else self.beta + self.low))

    @property
    def used(self) -> NDArray[np.bool_]:
        """The kernels that f needs."""
        if self.coefficients is not None:
            return np.asarray(self.coefficients.any(axis=(0, 2)))
        return np.asarray((self.weights != 0) & self.beta.any())

    @cached_property
    def _balanced(self) -> bool:
        """Whether β, and β̃, sum to zero exactly, for every output."""
        return sums_to_zero(self.beta) and (self.low is None or sums_to_zero(self.low))

    def start(self, rows: int) -> Sum:
        """The biases, (t, k)."""
        shape = rows, len(self.bias)
        return np.broadcast_to(self.bias, shape), np.broadcast_to(self.bias_low, shape)

    def part(self, kernel: CrossKernel, m: int) -> DecisionTerms:
        """What kernel m adds to f at its rows, without t: every term (t, k)."""
        if self.coefficients is not None:
            own = self.coefficients_of(m)
            return _product(_centred(kernel) if sums_to_zero(own) else kernel, own)
        centred, weight = _centred(kernel) if self._balanced else kernel, float(self.weights[m])
        coarse = _product(centred, self.beta) if self.low is None else _sliced(centred, self.beta)
        if self.low is None:
            return _weighted(weight, coarse)
        fine = _weighted(weight, _product(centred, self.low))
        largest = exact_product(np.full(coarse.terms[0].shape, weight), coarse.terms[0])
        rest = _weighted(weight, DecisionTerms(coarse.terms[1:], coarse.error))
        return DecisionTerms([*largest, *rest.terms, *fine.terms], lambda: rest.error() + fine.error())

    def values(self, total: Sum) -> Array:
        """f, (t, k), from the biases and the parts of all kernels."""
        return np.asarray(self.stretch * (total[0] + total[1]))

    def error(self, total: Sum, parts: Array) -> Array:
        """How far `values` may be from f, (t, k), where the parts may be off by as much."""
        sizes = np.abs(total[0]) + np.abs(total[1])
        return np.asarray(above(self.stretch * (parts + 4 * U * sizes) + self.lift))


def sums_to_zero(rows: Array) -> bool:
    """Whether every row does, exactly."""
    return all(math.fsum(row) == 0 for row in rows)


def _centred(kernel: CrossKernel) -> CrossKernel:
    """The kernel without large constants of its rows, or of the columns of its training samples' factor."""
    if isinstance(kernel, Product):
        return kernel.without_constants()
    flat = mostly_constant(kernel)
    return kernel - np.where(flat, kernel[:, 0], 0.0)[:, None] if flat.any() else kernel


def _product(kernel: CrossKernel, vectors: Array) -> DecisionTerms:
    """Kv for every row v."""
    alone = len(vectors) == 1  # a product with a vector is faster than with one column
    values = kernel @ np.ascontiguousarray(vectors[0] if alone else vectors.T)
    return DecisionTerms([values[:, None] if alone else values], lambda: _lost(kernel, np.abs(vectors.T)))


def _lost(kernel: CrossKernel, sizes: Array) -> Array:
    """The error of plain products with vectors of these sizes: (terms + 1)u Σ|kv|, for factors twice."""
    if isinstance(kernel, Product):
        inner = np.abs(kernel.train.T) @ sizes
        return np.asarray(above((sum(kernel.train.shape) + 8) * U * (np.abs(kernel.new) @ inner), len(sizes)))
    return np.asarray(above((len(sizes) + 2) * U * (np.abs(kernel) @ sizes), len(sizes)))


def _sliced(kernel: CrossKernel, vectors: Array) -> DecisionTerms:
    """Kv for every row v in two terms, from products in slices; for factors with Z the new samples', ZF'v."""
    if isinstance(kernel, Product):
        inner = [sliced_product(kernel.train.T, vector) for vector in vectors]
        high, low, off = (np.stack(part) for part in zip(*inner, strict=True))
        outer, rest = _sliced(kernel.new, high), _product(kernel.new, low)
        beyond = np.abs(kernel.new) @ off.T
        return DecisionTerms(
            [*outer.terms, *rest.terms], lambda: outer.error() + rest.error() + above(beyond, len(off.T))
        )
    products = [sliced_product(kernel, vector) for vector in vectors]
    high, low, off = (np.stack(part, axis=1) for part in zip(*products, strict=True))
    return DecisionTerms([high, low], lambda: off)


def _weighted(weight: float, part: DecisionTerms) -> DecisionTerms:
    """A part times a weight."""
    terms = [weight * term for term in part.terms]
    return DecisionTerms(terms, lambda: above(weight * part.error() + 2 * U * np.sum(np.abs(terms), axis=0)))


Members = Sequence[NDArray[np.intp]] | None


def evaluated(functions: Sequence[CertifiedFunction], kernels: CrossKernels, members: Members = None) -> list[Array]:
    """f of every function at new samples, (t, k); `members` are the training samples of each, None stands for all.
    Every kernel is made once, and one that no function uses is not made."""
    totals, _ = _summed(functions, kernels, members, measured=False)
    return [function.values(total) for function, total in zip(functions, totals, strict=True)]


def errors(functions: Sequence[CertifiedFunction], kernels: CrossKernels, members: Members = None) -> list[Array]:
    """How far what `evaluated` returns may be from f."""
    totals, lost = _summed(functions, kernels, members, measured=True)
    return [function.error(total, off) for function, total, off in zip(functions, totals, lost, strict=True)]


def _summed(
    functions: Sequence[CertifiedFunction], kernels: CrossKernels, members: Members, measured: bool
) -> tuple[list[Sum], list[Array]]:
    _, rows, width = kernels.shape
    totals = [function.start(rows) for function in functions]
    lost = [np.zeros((rows, len(function.bias))) for function in functions]
    own = [None] * len(totals) if members is None else [None if len(part) == width else part for part in members]
    used = np.stack([function.used for function in functions])
    for m, kernel in kernels.each(np.asarray(used.any(axis=0))):
        for i in map(int, np.flatnonzero(used[:, m])):
            part = functions[i].part(of_training(kernel, own[i]), m)
            for term in part.terms:
                high, off = added(totals[i][0], term)
                totals[i] = high, totals[i][1] + off
            if measured:
                lost[i] += part.error() + 4 * U * np.abs(totals[i][1])
    return totals, lost
