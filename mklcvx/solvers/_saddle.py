"""Newton's equations for weights and α together, at one interior point.

    α:  Q(μ)α − c + A'ν − z + w = 0                 Aα = t                         z·α = w·(box − α) = τ
    μ:  −½ q(α) + r'(μ) + κ ψ'(μ) − s + u = 0       ψ(μ) + σ = 0                   s·μ = u·(cap − μ) = κ·σ = τ

(σ = 0 and κ free where ψ is an equality.) The multipliers of bounds are eliminated first, then μ: with the columns
G_m = Q_mα and the diagonal W⁻¹ = r'' + κψ'' + s/μ + u/(cap − μ),

    dμ = W (f_μ + G'dα − ψ' dκ),        H = Q(μ) + z/α + w/(box − α) + G W G'

H is positive definite, n×n, factored once; A and the column −G W ψ' of κ make a border of at most three rows. So the
simplex costs a border row: W alone would leave Σμ = 1 out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._interior_qp import factored

Array = NDArray[np.float64]

REFINEMENTS = 2


@dataclass(frozen=True)
class Interior:
    """A point: every pair (variable, its multiplier) is positive; `head` and `ceiling` are empty without a cap."""

    alpha: Array
    room: Array
    lower: Array
    upper: Array
    mu: Array
    floor: Array
    head: Array
    ceiling: Array
    nu: Array
    kappa: float
    slack: float

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        """What must stay positive; a curved constraint's slack and multiplier are one more pair."""
        pairs = [(self.alpha, self.lower), (self.room, self.upper), (self.mu, self.floor), (self.head, self.ceiling)]
        return [*pairs, (np.array([self.slack]), np.array([self.kappa]))] if self.slack > 0 else pairs

    @property
    def total(self) -> float:
        """The complementarity: what is left of the duality gap once the equations hold."""
        return float(sum(a @ b for a, b in self.pairs))

    @property
    def level(self) -> float:
        """The mean product of the pairs: τ."""
        return self.total / sum(len(a) for a, _ in self.pairs)

    def moved(self, length: float, step: Interior) -> Interior:
        names = self.__dataclass_fields__
        return Interior(**{name: getattr(self, name) + length * getattr(step, name) for name in names})

    def longest(self, step: Interior) -> float:
        """At most 1, and as far as all pairs stay positive."""
        now = np.concatenate([part for pair in self.pairs for part in pair])
        change = np.concatenate([part for pair in _pair_steps(self, step) for part in pair])
        shrinking = change < 0
        return float(min(1.0, np.min(-now[shrinking] / change[shrinking], initial=np.inf)))


@dataclass(frozen=True)
class Residuals:
    """What the equations above lack at a point; `psi` has no entry where there is no constraint."""

    alpha: Array
    mu: Array
    totals: Array
    psi: Array


class Newton:
    """The factored system; `direction(τ)` solves it for one target after another."""

    def __init__(
        self, at: Interior, q: Array, columns: Array, curvature: Array, slope: Array | None, rows: Array, off: Residuals
    ) -> None:
        self.at, self.columns, self.rows, self.off, self.slope = at, columns, rows, off, slope
        bend = curvature + at.floor / at.mu
        self.w = 1 / (bend + at.ceiling / at.head if len(at.head) else bend)
        self.matrix = q + (columns * self.w) @ columns.T
        self.matrix[np.diag_indices(len(q))] += at.lower / at.alpha + at.upper / at.room
        self.inverse = factored(self.matrix)
        border = [*rows] if slope is None else [*rows, -columns @ (self.w * slope)]
        self.border = np.array(border).reshape(len(border), len(q))
        self.images = np.array([self._solve(row) for row in self.border]).reshape(self.border.shape)
        self.corner = self.border @ self.images.T
        if slope is not None:
            self.corner[-1, -1] -= slope @ (self.w * slope) + (at.slack / at.kappa if at.slack > 0 else 0.0)

    def _solve(self, right: Array) -> Array:
        found = self.inverse(right)
        for _ in range(REFINEMENTS):
            found = found + self.inverse(right - self.matrix @ found)
        return found

    def direction(self, target: float, predicted: Interior | None = None) -> Interior:
        """The step towards pairs with product `target`, corrected by what the predictor neglects."""
        at, off = self.at, self.off
        goals = [target - a * b for a, b in at.pairs]
        if predicted is not None:
            goals = [goal - da * db for goal, (da, db) in zip(goals, _pair_steps(at, predicted), strict=True)]
        f_alpha = -off.alpha + goals[0] / at.alpha - goals[1] / at.room
        f_mu = -off.mu + goals[2] / at.mu
        if len(at.head):
            f_mu = f_mu - goals[3] / at.head
        alpha = self._solve(f_alpha - self.columns @ (self.w * f_mu))
        wanted = -off.totals
        if self.slope is not None:
            short = off.psi[0] + (goals[-1][0] / at.kappa if at.slack > 0 else 0.0)
            wanted = np.append(wanted, short + self.slope @ (self.w * f_mu))
        multipliers = np.zeros(len(self.border))
        if len(self.border):
            multipliers = np.linalg.lstsq(self.corner, self.border @ alpha - wanted, rcond=None)[0]
            alpha = alpha - multipliers @ self.images
        kappa = float(multipliers[-1]) if self.slope is not None else 0.0
        push = f_mu + self.columns.T @ alpha
        mu = self.w * (push if self.slope is None else push - self.slope * kappa)
        slack = float((goals[-1][0] - at.slack * kappa) / at.kappa) if at.slack > 0 else 0.0
        lower, upper = (goals[0] - at.lower * alpha) / at.alpha, (goals[1] + at.upper * alpha) / at.room
        floor = (goals[2] - at.floor * mu) / at.mu
        ceiling = (goals[3] + at.ceiling * mu) / at.head if len(at.head) else at.head
        head = -mu if len(at.head) else at.head
        return Interior(
            alpha, -alpha, lower, upper, mu, floor, head, ceiling, multipliers[: len(self.rows)], kappa, slack
        )


def _pair_steps(at: Interior, step: Interior) -> list[tuple[Array, Array]]:
    steps = [(step.alpha, step.lower), (step.room, step.upper), (step.mu, step.floor), (step.head, step.ceiling)]
    return [*steps, (np.array([step.slack]), np.array([step.kappa]))] if at.slack > 0 else steps
