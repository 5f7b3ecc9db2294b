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

from ...formulations.families.multi_label import LabelTask
from .loop import Array, Iterate, KKTSystem
from .qp import factored
from .settings import SETTINGS


class Images(NamedTuple):
    """What one pass over the kernels gives: K(p), and the columns Q_a^k α^k, (k, n, M)."""

    combined: Array
    columns: Array


def kernel_pass(task: LabelTask, alpha: Array, p: Array) -> Images:
    """One product of each kernel with all classes at once."""
    combined, columns = np.zeros((task.samples, task.samples)), np.empty((*alpha.shape, task.count))
    signed = alpha * task.signs
    for a, kernel in enumerate(task.each_kernel()):
        combined += p[a] * kernel
        columns[:, :, a] = signed @ kernel
    columns *= task.signs[:, :, None]
    return Images(combined, columns)


@dataclass(frozen=True)
class LabelIterate(Iterate):
    """The unknowns of the equations above, under their letters; σ is empty where γ is given."""

    alpha: Array
    box_slack: Array
    z: Array
    w: Array
    p: Array
    phi: Array
    gamma: Array
    sigma: Array
    kappa: float
    s: float

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        pairs = [(self.alpha, self.z), (self.box_slack, self.w), (self.p, self.phi)]
        return [*pairs, (self.gamma, self.sigma)] if len(self.sigma) else pairs


class Equations(NamedTuple):
    """One entry for each equation, or for each unknown: α of every class, p, γ, and the totals of p and of γ."""

    alpha: Array
    p: Array
    gamma: Array
    totals: Array


def half_squares(alpha: Array, columns: Array) -> Array:
    """½ q^k, (k, M)."""
    return np.asarray(np.einsum("ki,kia->ka", alpha, columns) / 2)


def residuals(at: LabelIterate, columns: Array) -> Equations:
    """What the equations lack at a point."""
    halves, free = half_squares(at.alpha, columns), len(at.sigma)
    alpha = columns @ at.p - 1 - at.z + at.w
    p = at.kappa - at.gamma @ halves - at.phi
    gamma = (at.s - at.alpha.sum(axis=1) + halves @ at.p)[:free] - at.sigma
    return Equations(alpha, p, gamma, np.array([at.p.sum() - 1, at.gamma.sum() - 1])[: 1 + bool(free)])


class LabelSystem(KKTSystem[LabelIterate]):
    centring_exponent = SETTINGS.label_centring_exponent

    def __init__(self, task: LabelTask, at: LabelIterate, images: Images) -> None:
        self.at, self.columns, self.combined, self.signs = at, images.columns, images.combined, task.signs
        self.residuals = residuals(at, images.columns)
        self.gradient = images.columns @ at.p - 1
        self.halves = half_squares(at.alpha, images.columns)
        self.barrier_diag = at.z / at.alpha + at.w / at.box_slack
        own = zip(task.signs, self.barrier_diag, strict=True)
        self.inverses = [factored(y[:, None] * self.combined * y + np.diag(diagonal)) for y, diagonal in own]
        pairs = zip(self.inverses, images.columns, strict=True)
        self.solved = np.stack([inverse(columns) for inverse, columns in pairs])
        self._factor_small()

    def _factor_small(self) -> None:
        """The system in (p, γ, κ, s), scaled to a diagonal of ones."""
        from scipy.linalg.lapack import dgetrf

        at, count, free = self.at, len(self.at.p), len(self.at.sigma)
        size, borders = count + free, 2 if free else 1
        small = np.zeros((size + borders, size + borders))
        weighted = np.einsum("k,kia,kib->ab", at.gamma, self.columns, self.solved, optimize=True)
        small[:count, :count] = (weighted + weighted.T) / 2 + np.diag(at.phi / at.p)
        small[:count, size] = small[size, :count] = 1
        if free:
            small[:count, count:size] = -self.halves.T
            small[count:size, :count] = self.halves - np.einsum("ki,kia->ka", self.gradient, self.solved)
            small[count:size, count:size] = np.diag(at.sigma / at.gamma)
            small[count:size, -1] = small[-1, count:size] = 1
        scale = 1 / np.sqrt(np.diag(small)[:size])
        scale = np.append(scale, [1 / part.max() for part in (scale[:count], scale[count:]) if len(part)])
        factors, pivots, singular = dgetrf(scale[:, None] * small * scale)
        if singular:
            raise FloatingPointError("a matrix of Newton's equations")
        self.scale, self.small = scale, (factors, pivots)

    def _solve(self, right: Equations) -> Equations:
        """The unknowns dα, dp, dγ and (dκ, ds)."""
        from scipy.linalg import lu_solve

        count, free = len(self.at.p), len(self.at.sigma)
        own = np.stack([inverse(f) for inverse, f in zip(self.inverses, right.alpha, strict=True)])
        p = right.p + np.einsum("k,kia,ki->a", self.at.gamma, self.columns, own, optimize=True)
        gamma = right.gamma - np.einsum("ki,ki->k", self.gradient, own)[:free]
        wanted = np.concatenate([p, gamma, right.totals])
        found = self.scale * lu_solve(self.small, self.scale * wanted, check_finite=False)
        p, gamma, multipliers = np.split(found, [count, count + free])
        return Equations(own - self.solved @ p, p, gamma, multipliers)

    def matvec(self, step: Equations) -> Equations:
        """The left sides of the linearised equations."""
        at, free = self.at, len(self.at.sigma)
        alpha = (step.alpha * self.signs) @ self.combined * self.signs
        alpha = alpha + self.barrier_diag * step.alpha + self.columns @ step.p
        pulled = np.einsum("k,kia,ki->a", at.gamma, self.columns, step.alpha, optimize=True)
        p = at.phi / at.p * step.p - pulled + step.totals[0] - step.gamma @ self.halves[:free]
        risen = np.einsum("ki,ki->k", self.gradient, step.alpha) + self.halves @ step.p
        gamma = risen[:free] + at.sigma / at.gamma[:free] * step.gamma + step.totals[-1]
        return Equations(alpha, p, gamma, np.array([step.p.sum(), step.gamma.sum()])[: len(step.totals)])

    def direction(self, target_mu: float, predicted: LabelIterate | None = None) -> LabelIterate:
        at, residual, free = self.at, self.residuals, len(self.at.sigma)
        goals = self.goals(target_mu, predicted)
        alpha = goals[0] / at.alpha - goals[1] / at.box_slack - residual.alpha
        gamma = goals[3] / at.gamma - residual.gamma if free else residual.gamma
        right = Equations(alpha, goals[2] / at.p - residual.p, gamma, -residual.totals)
        step = self._solve(right)
        for _ in range(SETTINGS.label_refinements):
            left = Equations(*(wanted - had for wanted, had in zip(right, self.matvec(step), strict=True)))
            step = Equations(*(one + more for one, more in zip(step, self._solve(left), strict=True)))
        kappa, worst = (float(total) for total in (*step.totals, 0.0)[:2])
        z, w = (goals[0] - at.z * step.alpha) / at.alpha, (goals[1] + at.w * step.alpha) / at.box_slack
        phi = (goals[2] - at.phi * step.p) / at.p
        gamma = step.gamma if free else np.zeros(len(at.gamma))
        sigma = (goals[3] - at.sigma * step.gamma) / at.gamma if free else at.sigma
        return LabelIterate(step.alpha, -step.alpha, z, w, step.p, phi, gamma, sigma, kappa, worst)
