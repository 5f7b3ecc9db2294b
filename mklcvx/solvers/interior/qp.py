"""The quadratic program inside every SVM, dense and in double precision.

    min over 0 ≤ α ≤ box, Aα = t of   ½ α'Qα − c'α

A has a row for every equality: y' with a bias, 1' for loss nu, none at all without either. With multipliers ν, z of
α ≥ 0 and w of α ≤ box, and the reduced gradient g = Qα − c + A'ν,

    gap = Σ α g + Σ box (−g)₊  ≥ 0

bounds what α is off by once Aα = t, and both methods stop on it. The interior-point method costs one Cholesky
factorisation per step, scaled to a diagonal of ones so that vanishing α do no harm.

Without equalities, as for the SVM without bias, a projected Newton method (Bertsekas 1982) starts from the last answer
and is done in a few steps where Q is well conditioned on the free samples (`box_qp`). Where it is not, as with kernels
of low rank, the interior-point method takes over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .loop import Array, Iterate, KKTSystem, predictor_corrector
from .settings import SETTINGS, TINY

ACCURACY = 1e-10  # of the gap, relative to the objective's larger term
SUFFICIENT = 1e-4  # of the decrease that the gradient promises (Armijo)
NEWTON_STEPS = 25


class BoxQP(NamedTuple):
    q: Array
    c: Array
    box: Array
    rows: Array
    totals: Array

    def gap(self, alpha: Array, gradient: Array) -> float:
        return float(alpha @ gradient + self.box @ np.maximum(-gradient, 0.0))

    def size(self, alpha: Array) -> float:
        """The larger term of the objective: the scale of the relative gap."""
        return max(float(self.c @ alpha), float(alpha @ (self.q @ alpha)) / 2, TINY)


@dataclass(frozen=True)
class QPIterate(Iterate):
    """α and box − α with their multipliers z and w; ν of the equalities."""

    alpha: Array
    box_slack: Array
    z: Array
    w: Array
    nu: Array

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        return [(self.alpha, self.z), (self.box_slack, self.w)]


def interior_point(program: BoxQP, accuracy: float) -> Array:
    """α to a relative gap of `accuracy`, or as near to it as rounding allows."""
    half, n = program.box / 2, len(program.box)
    first = np.full(n, max(1.0, float(np.abs(program.q @ half - program.c).max())))
    at = QPIterate(half, half, first, first, np.zeros(len(program.rows)))
    best, least = half, np.inf
    for _ in range(SETTINGS.qp_max_steps):
        gradient = program.q @ at.alpha - program.c + program.rows.T @ at.nu
        missing = program.totals - program.rows @ at.alpha
        gap = program.gap(at.alpha, gradient) / program.size(at.alpha)
        error = gap + float(np.abs(missing).sum() / program.box.max())
        if error < least:
            best, least = at.alpha, error
        if error <= accuracy:
            break
        at, _ = predictor_corrector(QPSystem(program, at, gradient, missing))
    return np.clip(best, 0.0, program.box)


class QPSystem(KKTSystem[QPIterate]):
    """The bounds' multipliers are eliminated first, then α by the Cholesky factorisation."""

    def __init__(self, program: BoxQP, at: QPIterate, gradient: Array, missing: Array) -> None:
        self.at, self.rows, self.missing = at, program.rows, missing
        self.residual = gradient - at.z + at.w
        self.solve = factored(program.q + np.diag(at.z / at.alpha + at.w / at.box_slack))
        self.solved_rows = np.array([self.solve(row) for row in program.rows])

    def direction(self, target_mu: float, predicted: QPIterate | None = None) -> QPIterate:
        at = self.at
        for_z, for_w = self.goals(target_mu, predicted)
        alpha = self.solve(-self.residual + for_z / at.alpha - for_w / at.box_slack)
        nu = np.zeros(len(self.rows))
        if len(self.rows):
            corner = self.solved_rows @ self.rows.T
            nu = np.asarray(np.linalg.lstsq(corner, self.rows @ alpha - self.missing, rcond=None)[0], dtype=np.float64)
            alpha = alpha - nu @ self.solved_rows
        z, w = (for_z - at.z * alpha) / at.alpha, (for_w + at.w * alpha) / at.box_slack
        return QPIterate(alpha, -alpha, z, w, nu)


def factored(matrix: Array, ridge: float = SETTINGS.cholesky_ridge) -> Callable[[Array], Array]:
    """The inverse of a positive semidefinite matrix, for a vector or for columns, with as small a ridge as the
    factorisation needs."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    diagonal = np.diag(matrix)
    scale = 1 / np.sqrt(np.maximum(diagonal, np.finfo(float).eps * (diagonal.max() or 1.0)))
    scaled = scale[:, None] * matrix * scale
    if not np.isfinite(scaled).all():
        raise FloatingPointError("a matrix of Newton's equations")
    upper, failed = dpotrf((scaled + ridge * np.eye(len(matrix))).T, lower=0, clean=0, overwrite_a=1)
    while failed:
        ridge = max(SETTINGS.ridge_growth * ridge, SETTINGS.cholesky_ridge)
        upper, failed = dpotrf((scaled + ridge * np.eye(len(matrix))).T, lower=0, clean=0, overwrite_a=1)
    return lambda right: np.asarray((scale * dpotrs(upper, (scale * right.T).T, lower=0)[0].T).T)


def refined(matrix: Array, rough: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """An inverse made sharper by the residuals that it leaves."""

    def solve(right: Array) -> Array:
        solution = rough(right)
        for _ in range(SETTINGS.refinements):
            solution = solution + rough(right - matrix @ solution)
        return solution

    return solve


def box_qp(q: Array, box: Array, start: Array | None = None, accuracy: float = ACCURACY) -> Array:
    """α, to a relative gap of `accuracy` or as near to it as rounding allows."""
    program = BoxQP(q, np.ones(len(box)), box, np.zeros((0, len(box))), np.zeros(0))
    alpha = projected_newton(program, np.zeros(len(box)) if start is None else np.clip(start, 0.0, box), accuracy)
    if relative_gap(program, alpha) <= accuracy:
        return alpha
    inner = interior_point(program, accuracy)
    candidates = (alpha, inner, projected_newton(program, inner, accuracy))
    return min(candidates, key=lambda candidate: relative_gap(program, candidate))


def relative_gap(program: BoxQP, alpha: Array) -> float:
    gap = program.gap(alpha, program.q @ alpha - program.c)
    return gap / max(program.size(alpha), gap)


def projected_newton(program: BoxQP, alpha: Array, accuracy: float) -> Array:
    """Newton's step on the samples that no bound holds, projected onto the box, shortened until it descends."""
    gradient = program.q @ alpha - program.c
    for _ in range(NEWTON_STEPS):
        if program.gap(alpha, gradient) <= accuracy * program.size(alpha):
            break
        free = ~((alpha <= 0) & (gradient >= 0) | (alpha >= program.box) & (gradient <= 0))
        if not free.any():
            break
        step = np.zeros(len(alpha))
        step[free] = -factored(program.q[np.ix_(free, free)])(gradient[free])
        moved = _descend(program, alpha, gradient, step)
        if moved is None:
            break
        alpha, gradient = moved, program.q @ moved - program.c
    return alpha


def _descend(program: BoxQP, alpha: Array, gradient: Array, step: Array) -> Array | None:
    """The first of the shortened, projected steps that descends enough; None where rounding lets none."""
    for length in 0.5 ** np.arange(40):
        target = np.clip(alpha + length * step, 0.0, program.box)
        change = target - alpha
        promised = float(gradient @ change)
        if promised < 0 and promised + float(change @ (program.q @ change)) / 2 <= SUFFICIENT * promised:
            return target
    return None
