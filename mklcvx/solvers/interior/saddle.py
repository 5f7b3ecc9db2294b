"""Newton's equations for α and the weights' side together, at one interior point.

    α:   K(μ)β − y∘c + A'ν − y∘(z − w) = 0,   β = y∘α        Aβ = t           z·α = w·(box − α) = τ
    x:   ∂L/∂x + (∂e/∂x)'κ − sign·s + u = 0                  e(x) = 0         s·x = u·(cap − x) = τ

(`_weights_side` has L, x and e; working with β leaves the kernels as they are.) The multipliers of bounds are
eliminated first: they add z/α + w/(box − α) to the diagonal of K(μ), which makes the positive definite H, and s/x
and u/(cap − x) to that of ∂²L/∂x². Then β: with rows P = Σ_m K_mβ ∂μ_m/∂x, a system as small as the number of kernels
is left,

    [ N + P H⁻¹P'    P H⁻¹A'    E' ] [dx]
    [   A H⁻¹P'      A H⁻¹A'       ] [dν]        E = ∂e/∂x
    [   E                          ] [dκ]

so that a step costs one Cholesky factorisation, whatever the number of kernels. H may be solved roughly: refinement
of the whole system makes up for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...formulations import Task
from ..polish import equalities, gain_slope
from .iterate import Array, Interior
from .reduced_hessian import Curved
from .weights_side import Side

SWEEPS = 8
ROUGHLY, ENOUGH = 1e-3, 1e-8  # of the right-hand side: predictor and corrector are refined no further


@dataclass(frozen=True)
class Residuals:
    """What the equations above lack at a point."""

    beta: Array
    totals: Array
    x: Array
    equal: Array

    def amount(self, at: Interior) -> float:
        """What they may hide of the gap."""
        n = len(self.beta)
        return float(np.abs(self.beta) @ at.values[:n] + np.abs(self.x) @ at.values[2 * n :][: len(self.x)])


def balance(task: Task, side: Side) -> tuple[Array, Array]:
    """A and t of Aβ = t: Σβ = 0 with a bias, y'β = 1 for loss nu, and what kernels that vanish ask for."""
    rows, totals = equalities(task)
    return np.vstack([rows * task.y, side.flat]), np.append(totals, np.zeros(len(side.flat)))


def residuals(task: Task, side: Side, at: Interior, images: Array) -> Residuals:
    n, p = task.samples, len(side.sign)
    alpha, x = at.values[:n], at.values[2 * n : 2 * n + p]
    lower, upper, floor, ceiling = np.split(at.prices, [n, 2 * n, 2 * n + p])
    rows, totals = balance(task, side)
    beta = alpha * task.y
    off = side.weights(x) @ images + at.nu @ rows - task.y * (gain_slope(task) + lower - upper)
    off_x = side.slope(x, images @ beta / 2) + at.kappa @ side.rows(x) - side.sign * floor
    off_x[: len(ceiling)] += ceiling
    return Residuals(off, rows @ beta - totals, off_x, side.equalities(x))


class System:
    """Newton's equations for β, x, ν and κ once the multipliers of bounds are eliminated: `diagonal` and
    `diagonal_x` are what they leave on the diagonals."""

    def __init__(
        self, curved: Curved, side: Side, images: Array, at: tuple[Array, Array, Array], rows: Array, diagonal: Array,
        diagonal_x: Array,
    ) -> None:  # fmt: skip
        beta, x, kappa = at
        self.curved, p = curved, len(x)
        curved.factor(diagonal)
        self.bend = side.curvature(x, images @ beta / 2, kappa)
        self.bend[np.diag_indices(p)] += diagonal_x
        self.rows = np.vstack([side.along(x, images), rows])
        self.equal = side.rows(x)
        self.answers = curved.inverse(self.rows)
        self.small = self._small(p)
        self.size = np.sqrt(np.maximum(np.abs(np.diag(self.small)), np.finfo(float).tiny))
        self.size[len(self.rows) :] = np.maximum(np.abs(self.equal / self.size[:p]).max(axis=1, initial=0.0), 1e-300)
        self.inverse = _inverse(self.small / np.outer(self.size, self.size))

    def _small(self, p: int) -> Array:
        reduced, k = self.rows @ self.answers.T, len(self.equal)
        small = np.zeros((len(reduced) + k, len(reduced) + k))
        small[: len(reduced), : len(reduced)] = reduced
        small[:p, :p] += self.bend
        small[len(reduced) :, :p], small[:p, len(reduced) :] = self.equal, self.equal.T
        return small

    def solve(self, beta: Array, others: Array, accuracy: float) -> tuple[Array, Array]:
        """H dβ + rows'(dx, dν) = beta, and for the others N dx − P dβ + E'dκ, −A dβ and E dx."""
        found = best = self._roughly(beta, others)
        least = accuracy * self._size(beta, others)
        best_off = np.inf
        for _ in range(SWEEPS):
            image = self._applied(*found)
            left = beta - image[0], others - image[1]
            off = self._size(*left)
            if off >= best_off:
                break
            stalls = off >= 0.5 * best_off
            best, best_off = found, off
            if off <= least or stalls:
                break
            step = self._roughly(*left)
            found = found[0] + step[0], found[1] + step[1]
        return best

    def _size(self, beta: Array, others: Array) -> float:
        return float(np.linalg.norm(beta / self.curved.scale) + np.linalg.norm(others / self.size))

    def _roughly(self, beta: Array, others: Array) -> tuple[Array, Array]:
        k = len(self.rows)
        image = self.curved.inverse(beta)
        right = others.copy()
        right[:k] += self.rows @ image
        small = self.inverse @ (right / self.size) / self.size
        return image - small[:k] @ self.answers, small

    def _applied(self, beta: Array, others: Array) -> tuple[Array, Array]:
        k, p = len(self.rows), len(self.bend)
        image = np.empty_like(others)
        image[:k] = -(self.rows @ beta)
        image[:p] += self.bend @ others[:p] + others[k:] @ self.equal
        image[k:] = self.equal @ others[:p]
        return self.curved.times(beta) + others[:k] @ self.rows, image


class Newton:
    """The factored system at an interior point; `direction(τ)` solves it for one target after another."""

    def __init__(
        self, at: Interior, curved: Curved, y: Array, rows: Array, side: Side, images: Array, off: Residuals
    ) -> None:
        n, p = len(y), len(side.sign)
        self.at, self.y, self.side, self.off = at, y, side, off
        self.parts = np.cumsum([n, n, p])
        self.ratios = at.prices / at.values
        lower, upper, floor, ceiling = self.split(self.ratios)
        diagonal_x = side.sign * floor
        diagonal_x[: len(ceiling)] += ceiling
        where = y * at.values[:n], at.values[2 * n : 2 * n + p], at.kappa
        self.system = System(curved, side, images, where, rows, lower + upper, diagonal_x)

    def split(self, values: Array) -> list[Array]:
        return np.split(values, self.parts)

    def direction(self, target: float, predicted: Interior | None = None, accuracy: float = ENOUGH) -> Interior:
        """The step towards products of `target`, corrected by what the predictor neglects."""
        at, p, rows = self.at, len(self.side.sign), len(self.system.rows)
        goals = target - at.values * at.prices
        if predicted is not None:
            goals -= predicted.values * predicted.prices
        goals /= at.values
        first, second, third, fourth = self.split(goals)
        for_x = self.side.sign * third - self.off.x
        for_x[: len(fourth)] -= fourth
        beta, others = self.system.solve(
            self.y * (first - second) - self.off.beta,
            np.concatenate([for_x, self.off.totals, -self.off.equal]),
            accuracy,
        )
        alpha, x, nu, kappa = self.y * beta, others[:p], others[p:rows], others[rows:]
        values = np.concatenate([alpha, -alpha, x, -x[: len(fourth)]])
        return Interior(values, goals - self.ratios * values, nu, kappa)


def _inverse(matrix: Array) -> Array:
    """Kernels that do the same leave the matrix singular: then the least solution serves."""
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix, rcond=1e-15, hermitian=True))
