"""H = K(μ) + diagonal, factored on the samples that are not at a bound.

Kernels of low rank are never formed: with K(μ) = A A', A = F√μ of R columns, and the diagonal D,

    H⁻¹ = D⁻¹ − D⁻¹A (I + A'D⁻¹A)⁻¹ A'D⁻¹,

which costs n R² as long as R < n. For dense kernels:

A sample that is settled at a bound has a diagonal entry far beyond the kernel's own size. There H is as good as its
diagonal, and only the others are factored: towards the end that is the support vectors between the bounds.
K(μ) is kept from step to step, and a kernel is added again only when its weight has changed.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ...formulations import Task
from ...problem.low_rank import LowRank
from ...problem.scales import diagonals
from .loop import Array
from .qp import factored
from .settings import SETTINGS

ROWS = 1 << 10  # of factors that are scaled at a time: enough for fast products


def reduced_hessian_of(task: Task) -> ReducedHessian:
    low = isinstance(task.kernels, LowRank) and task.kernels.rank < task.samples
    return LowRankReducedHessian(task) if low else ReducedHessian(task)


class ReducedHessian:
    """K(μ) for the weights last given, and H for the diagonal last given."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.kernel = self._no_kernel()
        self.weights = self.asked = np.zeros(task.count)  # those of K(μ), and those that it was asked to have
        self.diagonal = self.scale = np.ones(task.samples)
        self.free = np.arange(task.samples)

    def _no_kernel(self) -> Array:
        return np.zeros((self.task.samples, self.task.samples))

    @property
    def trace(self) -> float:
        return float(np.trace(self.kernel))

    def set_weights(self, weights: Array) -> None:
        if not np.array_equal(weights, self.asked):
            self.task.add_combined(self.kernel, self._change(weights))

    def update_and_matvec(self, weights: Array, vector: Array) -> Array:
        """Set these weights and return the products K_m v, in one pass over the kernels."""
        return self.task.update_and_matvec(self.kernel, self._change(weights), vector)

    def _change(self, weights: Array) -> Array:
        if not np.isfinite(weights).all():
            raise FloatingPointError("the weights")
        change = weights - self.weights
        sizes, moved = self.task.traces, np.abs(change) * self.task.traces
        least = np.maximum(SETTINGS.weight_change * weights * sizes, SETTINGS.kernel_change * float(weights @ sizes))
        change[moved <= least] = 0.0
        self.weights, self.asked = self.weights + change, weights
        return change

    def matvec(self, vector: Array) -> Array:
        return self.kernel @ vector + self.diagonal * vector

    def factor(self, diagonal: Array) -> None:
        from scipy.linalg.lapack import dpotrf

        self.diagonal, own = diagonal, np.diagonal(self.kernel)
        full = own + diagonal
        if not (np.isfinite(full).all() and (full > 0).all()):
            raise FloatingPointError("a matrix of Newton's equations")
        self.scale = np.sqrt(full)
        self.free = np.flatnonzero(diagonal < SETTINGS.settled_diagonal * own.sum())
        ridge, failed = SETTINGS.hessian_ridge, len(self.free)
        while failed:
            whole = len(self.free) == len(full)
            block = self.kernel.copy() if whole else self.kernel[self.free[:, None], self.free]
            block.ravel()[:: len(block) + 1] = full[self.free] * (1 + ridge)
            self.lower, failed = dpotrf(block.T, lower=1, clean=0, overwrite_a=1)
            ridge *= SETTINGS.ridge_growth
            if failed and ridge > 1:
                raise FloatingPointError("a matrix of Newton's equations")

    def solve_roughly(self, right: Array) -> Array:
        """Roughly H⁻¹ times one vector or several, row by row."""
        from scipy.linalg.lapack import dpotrs

        if len(self.free) == right.shape[-1] and right.size:
            return np.asarray(dpotrs(self.lower, right.T, lower=1)[0].T)
        solution = right / self.scale**2
        if len(self.free) and right.size:
            solution[..., self.free] = dpotrs(self.lower, right[..., self.free].T, lower=1)[0].T
        return solution


class LowRankReducedHessian(ReducedHessian):
    """The same from factors, of which there is no copy: `roots` are √μ of every column, A is F times them."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.factors = cast(LowRank, task.kernels)
        self.roots = np.zeros(self.factors.rank)
        self.diagonals = diagonals(self.factors)

    def _no_kernel(self) -> Array:
        return np.zeros((0, 0))

    @property
    def trace(self) -> float:
        return float(self.weights @ self.diagonals.sum(axis=1))

    def set_weights(self, weights: Array) -> None:
        if not np.isfinite(weights).all():
            raise FloatingPointError("the weights")
        self.weights = np.maximum(weights, 0.0)
        self.roots = np.sqrt(self.factors.spread(self.weights))

    def update_and_matvec(self, weights: Array, vector: Array) -> Array:
        self.set_weights(weights)
        return self.task.matvecs(vector)

    def matvec(self, vector: Array) -> Array:
        columns = self.factors.columns
        return np.asarray(columns @ (self.roots**2 * (vector @ columns)) + self.diagonal * vector)

    def factor(self, diagonal: Array) -> None:
        if not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
            raise FloatingPointError("a matrix of Newton's equations")
        self.diagonal, columns = diagonal, self.factors.columns
        self.scale = np.sqrt(diagonal + self.weights @ self.diagonals)
        inner, over = np.zeros((len(self.roots), len(self.roots))), 1 / np.sqrt(diagonal)
        for start in range(0, len(columns), ROWS):
            part = columns[start : start + ROWS] * over[start : start + ROWS, None]
            part *= self.roots
            inner += part.T @ part  # half the cost of other products: NumPy sees that it is symmetric
        inner[np.diag_indices(len(inner))] += 1.0
        self.inner_solve = factored(inner, ridge=0.0)

    def solve_roughly(self, right: Array) -> Array:
        columns, scaled = self.factors.columns, right / self.diagonal
        inside = self.roots * self.inner_solve((self.roots * (scaled @ columns)).T).T
        return np.asarray(scaled - inside @ columns.T / self.diagonal)
