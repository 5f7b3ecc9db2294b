"""Newton's equations for all classes and the shared weights together, at one interior point.

    H_k(p) = max over 0 ≤ α^k ≤ C of h_k,      h_k = 1'α^k − ½ Σ_a p_a q_a^k(α^k),      Q_k(p) = y^k y^k' ∘ K(p)

`ml_minimax` seeks min over p of max over γ of Σ_k γ_k h_k, both on the simplex; in `ml_sum` the γ_k are given. With
products that all tend to the same τ → 0, optimal are

    α^k:  Q_k(p)α^k − 1 − z^k + w^k = 0                    z·α = w·(C − α) = τ       every class, whatever its γ_k
    p:    κ − ½ Σ_k γ_k q^k(α^k) − φ = 0       Σp = 1      φ·p = τ
    γ:    s − h_k − σ_k = 0                    Σγ = 1      σ·γ = τ                   (`ml_minimax` only)

Class k's own equation is not multiplied by γ_k. So a class whose γ_k vanishes is solved as well as any other, and the
matrices do not degenerate with it; the barrier of the jointly concave form in β = γα has z·α = τ/γ_k instead, which
leaves such a class anywhere below s, and it takes more steps.

Linearised, with multipliers of bounds eliminated, g_k = Q_k(p)α^k − 1 and columns G_k = [Q_a^k α^k],

    H_k dα^k + G_k dp = f_k,                              H_k = Q_k(p) + z/α + w/(C − α)
    φ/p·dp − Σ_k γ_k G_k'dα^k − ½ Σ_k q^k dγ_k + dκ = f_p
    g_k'dα^k + ½ q^k'dp + σ_k/γ_k·dγ_k + ds = f_γ

Every dα^k = H_k⁻¹(f_k − G_k dp) goes first, by one Cholesky factorisation of n×n per class. What is left has M + k + 2
unknowns, with A = φ/p + Σ_k γ_k G_k'H_k⁻¹G_k and rows B_k = ½ q^k − g_k'H_k⁻¹G_k:

    A dp − ½ Σ_k q^k dγ_k + dκ = f_p + Σ_k γ_k G_k'H_k⁻¹f_k          1'dp = 1 − 1'p
    B dp + σ/γ·dγ + ds = f_γ − g_k'H_k⁻¹f_k                          1'dγ = 1 − 1'γ

Memory: the k factors, n×n each, and the columns, k×n×M.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...formulations.families.multi_label import LabelTask
from .qp import factored

Array = NDArray[np.float64]

REFINEMENTS = 1


class Images(NamedTuple):
    """What one pass over the kernels gives: K(p), and the columns Q_a^k α^k, (k, n, M)."""

    combined: Array
    columns: Array


def passed(task: LabelTask, alpha: Array, p: Array) -> Images:
    """One product of each kernel with all classes at once."""
    combined, columns = np.zeros((task.samples, task.samples)), np.empty((*alpha.shape, task.count))
    signed = alpha * task.signs
    for a, kernel in enumerate(task.each_kernel()):
        combined += p[a] * kernel
        columns[:, :, a] = signed @ kernel
    columns *= task.signs[:, :, None]
    return Images(combined, columns)


@dataclass(frozen=True)
class LabelPoint:
    """A point: every pair (variable, its multiplier) is positive; `slack` is empty where γ is given."""

    alpha: Array
    room: Array
    lower: Array
    upper: Array
    p: Array
    floor: Array
    gamma: Array
    slack: Array
    kappa: float
    worst: float

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        pairs = [(self.alpha, self.lower), (self.room, self.upper), (self.p, self.floor)]
        return [*pairs, (self.gamma, self.slack)] if len(self.slack) else pairs

    @property
    def level(self) -> float:
        """The mean product of the pairs: τ."""
        return float(sum(np.vdot(a, b) for a, b in self.pairs)) / sum(a.size for a, _ in self.pairs)

    def moved(self, length: float, step: LabelPoint) -> LabelPoint:
        names = self.__dataclass_fields__
        return LabelPoint(**{name: getattr(self, name) + length * getattr(step, name) for name in names})

    def longest(self, step: LabelPoint) -> float:
        """At most 1, and as far as all pairs stay positive."""
        now = np.concatenate([part.ravel() for pair in self.pairs for part in pair])
        change = np.concatenate([part.ravel() for pair in step.pairs for part in pair])
        shrinking = change < 0
        return float(min(1.0, np.min(-now[shrinking] / change[shrinking], initial=np.inf)))


class Equations(NamedTuple):
    """One entry for each unknown: α of every class, p, γ, and the totals of p and of γ."""

    alpha: Array
    p: Array
    gamma: Array
    totals: Array


def residuals(at: LabelPoint, columns: Array) -> Equations:
    """What the equations lack at a point."""
    halves = np.einsum("ki,kia->ka", at.alpha, columns) / 2
    alpha = columns @ at.p - 1 - at.lower + at.upper
    p = at.kappa - at.gamma @ halves - at.floor
    if not len(at.slack):
        return Equations(alpha, p, at.slack, np.array([at.p.sum() - 1]))
    gamma = at.worst - at.alpha.sum(axis=1) + halves @ at.p - at.slack
    return Equations(alpha, p, gamma, np.array([at.p.sum() - 1, at.gamma.sum() - 1]))


class LabelNewton:
    """The factored system; `direction(τ)` solves it for one target after another."""

    def __init__(self, task: LabelTask, at: LabelPoint, images: Images) -> None:
        self.at, self.columns, self.combined, self.signs = at, images.columns, images.combined, task.signs
        self.off = residuals(at, images.columns)
        self.gradient = images.columns @ at.p - 1
        self.halves = np.einsum("ki,kia->ka", at.alpha, images.columns) / 2
        self.bend = at.lower / at.alpha + at.upper / at.room
        self.inverses = [factored(self._hessian(k)) for k in range(len(at.alpha))]
        self.solved = np.stack(
            [inverse(columns) for inverse, columns in zip(self.inverses, images.columns, strict=True)]
        )
        self._factor_small()

    def _hessian(self, k: int) -> Array:
        hessian = self.signs[k][:, None] * self.combined * self.signs[k]
        hessian[np.diag_indices(len(hessian))] += self.bend[k]
        return hessian

    def _factor_small(self) -> None:
        """The system in (p, γ, κ, s), scaled to a diagonal of ones."""
        from scipy.linalg.lapack import dgetrf

        at, count, free = self.at, len(self.at.p), len(self.at.slack)
        size, borders = count + free, 2 if free else 1
        small = np.zeros((size + borders, size + borders))
        weighted = np.einsum("k,kia,kib->ab", at.gamma, self.columns, self.solved, optimize=True)
        small[:count, :count] = (weighted + weighted.T) / 2 + np.diag(at.floor / at.p)
        small[:count, size] = small[size, :count] = 1
        if free:
            small[:count, count:size] = -self.halves.T
            small[count:size, :count] = self.halves - np.einsum("ki,kia->ka", self.gradient, self.solved)
            small[count:size, count:size] = np.diag(at.slack / at.gamma)
            small[count:size, -1] = small[-1, count:size] = 1
        scale = np.ones(size + borders)
        scale[:size] = 1 / np.sqrt(np.diag(small)[:size])
        scale[size] = 1 / scale[:count].max()
        if free:
            scale[-1] = 1 / scale[count:size].max()
        factors, pivots, singular = dgetrf(scale[:, None] * small * scale)
        if singular:
            raise FloatingPointError("a matrix of Newton's equations")
        self.scale, self.small = scale, (factors, pivots)

    def _solve(self, right: Equations) -> Equations:
        """The unknowns dα, dp, dγ and (dκ, ds)."""
        from scipy.linalg import lu_solve

        count, free = len(self.at.p), len(self.at.slack)
        own = np.stack([inverse(f) for inverse, f in zip(self.inverses, right.alpha, strict=True)])
        p = right.p + np.einsum("k,kia,ki->a", self.at.gamma, self.columns, own, optimize=True)
        gamma = right.gamma - np.einsum("ki,ki->k", self.gradient, own)[:free]
        wanted = np.concatenate([p, gamma, right.totals])
        found = self.scale * lu_solve(self.small, self.scale * wanted, check_finite=False)
        p, gamma, multipliers = np.split(found, [count, count + free])
        return Equations(own - self.solved @ p, p, gamma, multipliers)

    def applied(self, step: Equations) -> Equations:
        """The left sides of the linearised equations."""
        at, free = self.at, len(self.at.slack)
        alpha = (step.alpha * self.signs) @ self.combined * self.signs + self.bend * step.alpha + self.columns @ step.p
        pulled = np.einsum("k,kia,ki->a", at.gamma, self.columns, step.alpha, optimize=True)
        p = at.floor / at.p * step.p - pulled + step.totals[0]
        if not free:
            return Equations(alpha, p, step.gamma, np.array([step.p.sum()]))
        risen = np.einsum("ki,ki->k", self.gradient, step.alpha) + self.halves @ step.p
        gamma = risen + at.slack / at.gamma * step.gamma + step.totals[1]
        return Equations(alpha, p - step.gamma @ self.halves, gamma, np.array([step.p.sum(), step.gamma.sum()]))

    def direction(self, target: float, predicted: LabelPoint | None = None) -> LabelPoint:
        """The step towards pairs with product `target`, corrected by what the predictor neglects."""
        at, off, free = self.at, self.off, len(self.at.slack)
        goals = [target - a * b for a, b in at.pairs]
        if predicted is not None:
            goals = [goal - da * db for goal, (da, db) in zip(goals, predicted.pairs, strict=True)]
        right = Equations(
            goals[0] / at.alpha - goals[1] / at.room - off.alpha,
            goals[2] / at.p - off.p,
            goals[3] / at.gamma - off.gamma if free else off.gamma,
            -off.totals,
        )
        step = self._solve(right)
        for _ in range(REFINEMENTS):
            left = Equations(*(wanted - had for wanted, had in zip(right, self.applied(step), strict=True)))
            step = Equations(*(one + more for one, more in zip(step, self._solve(left), strict=True)))
        return LabelPoint(
            alpha=step.alpha,
            room=-step.alpha,
            lower=(goals[0] - at.lower * step.alpha) / at.alpha,
            upper=(goals[1] + at.upper * step.alpha) / at.room,
            p=step.p,
            floor=(goals[2] - at.floor * step.p) / at.p,
            gamma=step.gamma if free else np.zeros(len(at.gamma)),
            slack=(goals[3] - at.slack * step.gamma) / at.gamma if free else at.slack,
            kappa=float(step.totals[0]),
            worst=float(step.totals[1]) if free else 0.0,
        )
