"""An interior-point method for the quadratic program inside every SVM, dense and in double precision.

    min over 0 ≤ α ≤ box, Aα = t of   ½ α'Qα − c'α

A has a row for every equality: y' with a bias, 1' for loss nu, none at all without either. With multipliers ν and the
reduced gradient g = Qα − c + A'ν,

    gap = Σ α g + Σ box (−g)₊  ≥ 0

bounds what α is off by once Aα = t, and the method stops on it. Mehrotra's predictor and corrector; one Cholesky
factorisation per step, scaled to a diagonal of ones so that vanishing α do no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RIDGE = 1e-13  # of the diagonal: what keeps a singular matrix from stopping the factorisation
MAX_STEPS = 60
SHORT = 0.995  # of the way to the boundary


class Quadratic(NamedTuple):
    q: Array
    c: Array
    box: Array
    rows: Array
    totals: Array

    def gap(self, alpha: Array, gradient: Array) -> float:
        return float(alpha @ gradient + self.box @ np.maximum(-gradient, 0.0))

    def size(self, alpha: Array) -> float:
        """The larger term of the objective: what a gap is compared with."""
        return max(float(self.c @ alpha), float(alpha @ (self.q @ alpha)) / 2, np.finfo(float).tiny)


class Step(NamedTuple):
    alpha: Array
    lower: Array
    upper: Array
    nu: Array


def interior_point(program: Quadratic, accuracy: float) -> Array:
    """α to a relative gap of `accuracy`, or as near to it as rounding allows."""
    q, box = program.q, program.box
    alpha, room, nu = box / 2, box / 2, np.zeros(len(program.rows))
    lower = upper = np.full(len(box), max(1.0, float(np.abs(q @ alpha - program.c).max())))
    best, least = alpha, np.inf
    for _ in range(MAX_STEPS):
        gradient = q @ alpha - program.c + program.rows.T @ nu
        missing = program.totals - program.rows @ alpha
        off = program.gap(alpha, gradient) / program.size(alpha) + float(np.abs(missing).sum() / box.max())
        if off < least:
            best, least = alpha, off
        if off <= accuracy:
            break
        system = System(program, alpha, room, lower, upper, gradient - lower + upper, missing)
        affine = system.direction(0.0)
        level = system.level(0.0, affine)
        reached = system.level(system.longest(affine), affine)
        step = system.direction(level * (reached / level) ** 3, affine)
        length = SHORT * system.longest(step)
        alpha, room, nu = alpha + length * step.alpha, room - length * step.alpha, nu + length * step.nu
        lower, upper = lower + length * step.lower, upper + length * step.upper
    return np.clip(best, 0.0, box)


class System:
    """Newton's equations at one interior point, factored once for predictor and corrector."""

    def __init__(
        self, program: Quadratic, alpha: Array, room: Array, lower: Array, upper: Array, residual: Array, missing: Array
    ) -> None:
        self.alpha, self.room, self.lower, self.upper = alpha, room, lower, upper
        self.rows, self.residual, self.missing = program.rows, residual, missing
        self.solve = factored(program.q + np.diag(lower / alpha + upper / room))
        self.images = [self.solve(row) for row in program.rows]

    def direction(self, target: float, predicted: Step | None = None) -> Step:
        """The step towards α·lower = room·upper = target, corrected by what the predictor neglects."""
        for_lower, for_upper = target - self.alpha * self.lower, target - self.room * self.upper
        if predicted is not None:
            for_lower = for_lower - predicted.alpha * predicted.lower
            for_upper = for_upper + predicted.alpha * predicted.upper
        alpha = self.solve(-self.residual + for_lower / self.alpha - for_upper / self.room)
        nu = np.zeros(len(self.rows))
        if len(self.rows):
            corner = np.array([self.rows @ image for image in self.images])
            nu = np.linalg.lstsq(corner, self.rows @ alpha - self.missing, rcond=None)[0]
            alpha = alpha - nu @ np.array(self.images)
        up, down = (for_lower - self.lower * alpha) / self.alpha, (for_upper + self.upper * alpha) / self.room
        return Step(alpha, up, down, nu)

    def longest(self, step: Step) -> float:
        """At most 1, and as far as all four stay positive."""
        now = np.concatenate([self.alpha, self.room, self.lower, self.upper])
        change = np.concatenate([step.alpha, -step.alpha, step.lower, step.upper])
        shrinking = change < 0
        return float(min(1.0, np.min(-now[shrinking] / change[shrinking], initial=np.inf)))

    def level(self, length: float, step: Step) -> float:
        """The mean of all products after a step."""
        lower, upper = self.lower + length * step.lower, self.upper + length * step.upper
        change = length * step.alpha
        return float((self.alpha + change) @ lower + (self.room - change) @ upper) / (2 * len(change))


def factored(matrix: Array, ridge: float = RIDGE) -> Callable[[Array], Array]:
    """The inverse of a positive semidefinite matrix, for a vector or for columns, with as small a ridge as the
    factorisation needs."""
    from scipy.linalg import cho_factor, cho_solve

    diagonal = np.diag(matrix)
    scale = 1 / np.sqrt(np.maximum(diagonal, np.finfo(float).eps * (diagonal.max() or 1.0)))
    scaled = scale[:, None] * matrix * scale
    if not np.isfinite(scaled).all():
        raise FloatingPointError("a matrix of Newton's equations")
    while True:
        try:
            factor = cho_factor(scaled + ridge * np.eye(len(matrix)), lower=True, check_finite=False)
            return lambda right: np.asarray((scale * cho_solve(factor, (scale * right.T).T, check_finite=False).T).T)
        except np.linalg.LinAlgError:
            ridge = max(100 * ridge, RIDGE)
