"""The linear system of single tasks once the multipliers of bounds are eliminated; `saddle` derives it.

    [ N + P H⁻¹P'    P H⁻¹A'    E' ] [dx]
    [   A H⁻¹P'      A H⁻¹A'       ] [dν]        E = ∂e/∂x
    [   E                          ] [dκ]

H may be solved roughly: refinement of the whole system makes up for it. The interior-point steps and the active-set
finish share it; they differ in what they put on the diagonals.
"""

from __future__ import annotations

import numpy as np

from .iterate import Array
from .reduced_hessian import ReducedHessian
from .settings import NEARLY_ZERO, SETTINGS, TINY
from .weights_side import Side


class ReducedSystem:
    """Newton's equations for β, x, ν and κ once the multipliers of bounds are eliminated: `diagonal` and
    `diagonal_x` are what they leave on the diagonals."""

    def __init__(
        self, hessian: ReducedHessian, side: Side, images: Array, at: tuple[Array, Array, Array], rows: Array,
        diagonal: Array, diagonal_x: Array,
    ) -> None:  # fmt: skip
        beta, x, kappa = at
        self.hessian, p = hessian, len(x)
        hessian.factor(diagonal)
        self.hessian_x = side.hessian(x, images @ beta / 2, kappa)
        self.hessian_x[np.diag_indices(p)] += diagonal_x
        self.rows = np.vstack([side.jacobian_product(x, images), rows])
        self.equality_jacobian = side.equality_jacobian(x)
        self.solved_rows = hessian.solve_roughly(self.rows)
        self.small = self._small(p)
        self.size = np.sqrt(np.maximum(np.abs(np.diag(self.small)), TINY))
        largest = np.abs(self.equality_jacobian / self.size[:p]).max(axis=1, initial=0.0)
        self.size[len(self.rows) :] = np.maximum(largest, NEARLY_ZERO)
        self.inverse = _inverse(self.small / np.outer(self.size, self.size))

    def _small(self, p: int) -> Array:
        reduced, k = self.rows @ self.solved_rows.T, len(self.equality_jacobian)
        small = np.zeros((len(reduced) + k, len(reduced) + k))
        small[: len(reduced), : len(reduced)] = reduced
        small[:p, :p] += self.hessian_x
        small[len(reduced) :, :p], small[:p, len(reduced) :] = self.equality_jacobian, self.equality_jacobian.T
        return small

    def solve(self, beta: Array, others: Array, accuracy: float) -> tuple[Array, Array]:
        """H dβ + rows'(dx, dν) = beta, and for the others N dx − P dβ + E'dκ, −A dβ and E dx."""
        found = best = self._roughly(beta, others)
        least = accuracy * self._size(beta, others)
        least_error = np.inf
        for _ in range(SETTINGS.max_refinements):
            image = self._matvec(*found)
            left = beta - image[0], others - image[1]
            error = self._size(*left)
            if error >= least_error:
                break
            stalls = error >= SETTINGS.refinement_stall * least_error
            best, least_error = found, error
            if error <= least or stalls:
                break
            step = self._roughly(*left)
            found = found[0] + step[0], found[1] + step[1]
        return best

    def _size(self, beta: Array, others: Array) -> float:
        return float(np.linalg.norm(beta / self.hessian.scale) + np.linalg.norm(others / self.size))

    def _roughly(self, beta: Array, others: Array) -> tuple[Array, Array]:
        k = len(self.rows)
        image = self.hessian.solve_roughly(beta)
        right = others.copy()
        right[:k] += self.rows @ image
        small = self.inverse @ (right / self.size) / self.size
        return image - small[:k] @ self.solved_rows, small

    def _matvec(self, beta: Array, others: Array) -> tuple[Array, Array]:
        k, p = len(self.rows), len(self.hessian_x)
        image = np.empty_like(others)
        image[:k] = -(self.rows @ beta)
        image[:p] += self.hessian_x @ others[:p] + others[k:] @ self.equality_jacobian
        image[k:] = self.equality_jacobian @ others[:p]
        return self.hessian.matvec(beta) + others[:k] @ self.rows, image


def _inverse(matrix: Array) -> Array:
    """Kernels that do the same leave the matrix singular: then the least solution serves."""
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix, rcond=SETTINGS.singular_cutoff, hermitian=True))
