"""A textbook's interior-point method for `l1`, loss c: what the engine is measured against.

    max over α, min over μ of   1'α − ½ Σ_m μ_m q_m(α),     y'α = 0,  0 ≤ α ≤ C,     Σμ = 1,  μ ≥ 0

Newton's equations with Mehrotra's predictor and corrector. Eliminating μ first leaves H = Q(μ) + D + G W G' with the
columns Q_mα of G, W the inverse of μ's diagonal, D the one of α, and a border of two rows for y'α = 0 and Σμ = 1.
One Cholesky factorisation a step; no refinement, no warm start, no other formulation, and it breaks down where H loses
definiteness. It shares no code with the package, and so is another witness of its optima.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Array = NDArray[np.float64]
GAP, STEPS, SHORT = 1e-9, 60, 0.995


@dataclass
class Point:
    """α, its room below C, μ, their prices, and the multipliers of y'α = 0 and Σμ = 1."""

    values: list[Array]
    prices: list[Array]
    bias: float
    level: float

    def moved(self, length: float, step: Point) -> Point:
        values = [v + length * d for v, d in zip(self.values, step.values, strict=True)]
        prices = [p + length * d for p, d in zip(self.prices, step.prices, strict=True)]
        return Point(values, prices, self.bias + length * step.bias, self.level + length * step.level)

    def longest(self, step: Point) -> float:
        now = np.concatenate([*self.values, *self.prices])
        change = np.concatenate([*step.values, *step.prices])
        return float(min(1.0, np.min(now[change < 0] / -change[change < 0], initial=np.inf)))

    @property
    def products(self) -> list[Array]:
        return [v * p for v, p in zip(self.values, self.prices, strict=True)]


def l1(kernels: Array, y: Array, C: float = 1.0) -> dict[str, Array | float]:
    """α, weights and bias at a relative gap of 1e-9."""
    count, n = kernels.shape[:2]
    share = np.where(y > 0, np.mean(y < 0), np.mean(y > 0))
    alpha = C * share / 2 / share.max()
    ones = np.ones(n)
    at = Point([alpha, C - alpha, np.full(count, 1 / count)], [ones, ones, np.ones(count)], 0.0, 0.0)
    for _ in range(STEPS):
        alpha, _, mu = at.values
        images = (kernels.reshape(-1, n) @ (alpha * y)).reshape(count, n)
        squares = images @ (alpha * y)
        outputs = mu @ images
        lower = alpha.sum() - squares.max() / 2
        upper = mu @ squares / 2 + C * np.maximum(1 - y * (outputs + at.bias), 0).sum()
        if upper - lower <= GAP * abs(upper):
            break
        total = (mu @ kernels.reshape(count, -1)).reshape(n, n)
        at = _step(at, total, images * y, squares, y * outputs, y)
    return {"weights": at.values[2], "alpha": at.values[0], "bias": at.bias}


def _step(at: Point, kernel: Array, columns: Array, squares: Array, margins: Array, y: Array) -> Point:
    (alpha, room, mu), (low, high, floor) = at.values, at.prices
    inverse = mu / floor
    matrix = kernel * np.outer(y, y) + (columns.T * inverse) @ columns
    matrix[np.diag_indices(len(y))] += low / alpha + high / room
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    border = np.stack([y, columns.T @ inverse], axis=1)
    solved = cho_solve(factor, border, check_finite=False)
    small = border.T @ solved * [-1.0, 1.0]
    small[1, 1] -= inverse.sum()
    off_alpha = 1 + low - high - margins - y * at.bias
    off_mu = squares / 2 - at.level + floor

    def direction(goals: list[Array]) -> Point:
        for_alpha = off_alpha + goals[0] / alpha - goals[1] / room
        for_mu = off_mu + goals[2] / mu
        found = cho_solve(factor, for_alpha - columns.T @ (inverse * for_mu), check_finite=False)
        right = np.array([-y @ alpha, 1 - mu.sum() - inverse @ for_mu]) - border.T @ found
        bias, level = np.linalg.solve(small, right)
        change = found + solved @ [-bias, level]
        change_mu = inverse * (for_mu + columns @ change - level)
        values = [change, -change, change_mu]
        rows = zip(goals, at.prices, values, at.values, strict=True)
        return Point(values, [(g - p * d) / v for g, p, d, v in rows], bias, level)

    products = at.products
    affine = direction([-p for p in products])
    now, then = (float(np.concatenate(p.products).sum()) for p in (at, at.moved(at.longest(affine), affine)))
    target = now / sum(map(len, products)) * (then / now) ** 3
    step = direction([target - p - d for p, d in zip(products, affine.products, strict=True)])
    return at.moved(SHORT * at.longest(step), step)
