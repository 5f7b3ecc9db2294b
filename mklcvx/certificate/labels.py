"""Many labels: classes that share weights μ on the simplex, each a single task without a bias.

q_m^k = β^k'K_mβ^k, β^k = α^k∘y^k, for the stored numbers read as exact reals. μ, and γ for `ml_minimax`, are multiples
of 2⁻⁵² that sum to one exactly, and α^k is in the box. With γ = 1 for `ml_sum`, the optimal value is

    v = max over α, and for `ml_minimax` over γ, of Σ_k γ_k 1'α^k − max_m ½ Σ_k γ_k q_m^k.

**Lower.** The objective at α and γ, with upper ends of all q.

**Upper.** With μ fixed every class is a single task (`single`): K(μ) + δI ⪰ 0, c = tβ^k, and margins
m_ki = t y_i^k (K(μ)β^k)_i give

    h_k = ½t²μ'q^k + Σ_i max(½δt²α_ki², C_i(1 − m_ki) + ½δ(C_i − tα_ki)²),

at least 1'α̂ − ½μ'q^k(α̂) for every α̂. The largest of Σ_k γ_k q_m^k over m is at least its mean with weights μ, so
v ≤ Σ_k h_k, and v ≤ max_k h_k for `ml_minimax`.

These are the bounds of joint outputs (`joint`), the classes counting by their shares γ; what γ adds is the largest h_k.

**Gap.** With the gap of class k at fixed weights, as in `single`,

    g_k = Σ_i max(α_ki(m_ki − 1) + ½δt²α_ki², (C_i − α_ki)(1 − m_ki) + ½δ(C_i − tα_ki)²) + ½(t − 1)²μ'q^k,

the bounds differ by

    Σ_k γ_k g_k + ½ Σ_m μ_m (max_l Q_l − Q_m),   Q_m = Σ_k γ_k q_m^k,      `ml_minimax`: + Σ_k γ_k (max_l h_l − h_k),

none of them negative. In differences of the h_k the C_i are added without rounding, so that the errors left are those
of the margins. The gap is compared with ½(1 + t²) Σ_k γ_k μ'q^k.

Underflow: γ_k ≥ 2⁻⁵² or 0, and C_i multiplies margins whose errors have TINY in them.

**Own coefficients** c_km, (k, M, n): every class as in `single`, each kernel with its own δ_m. For `ml_minimax` the gap
is then the difference of the bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np

from ..formulations.families.multi_label import LabelTask
from .joint import At, JointEvaluation, Terms, best_bounds, single_tasks
from .record import Certificate, ProvedPoint, refined_unless_settled
from .regularisers import FixedBounds, SimplexBounds
from .ridge import ridges
from .rounding import Array, U, above, no_wider, total_above, total_below
from .sample_terms import Ridge
from .single import Evaluation, OwnCoefficients

LEAST = 2.0**-48  # of the largest weight


@dataclass(frozen=True)
class ProvedLabels(ProvedPoint):
    """`class_values` are the h_k."""

    alpha: Array
    weights: Array
    gamma: Array
    coefficients: Array | None
    class_values: Array
    norms: Array


class ClassValue(NamedTuple):
    """h_k as a sum of terms, exact but for `off`."""

    terms: Array
    off: float

    @property
    def high(self) -> float:
        return float(above(math.fsum([*self.terms, self.off]), 0))

    def less(self, other: ClassValue) -> float:
        """This one less another from above."""
        return float(above(math.fsum([*self.terms, *(-other.terms), self.off, other.off]), 0))


def certified(
    name: str, task: LabelTask, alpha: Array, mu: Array, gamma: Array, tolerance: float,
    coefficients: Array | None = None,
) -> ProvedLabels:  # fmt: skip
    """The certificate of α and γ with weights μ, or with coefficients of their own: in plain passes, then in slices."""
    if coefficients is not None:  # a kernel that is used keeps a weight on the grid
        mu = np.where(coefficients.any(axis=(0, 2)), np.maximum(mu, LEAST * np.max(mu)), mu)
    alpha = np.clip(np.nan_to_num(alpha), 0.0, task.box)
    gamma = SimplexBounds(task.classes).feasible(gamma) if name == "ml_minimax" else np.ones(task.classes)
    cost = float(task.box.max()) * float(gamma @ alpha.sum(axis=1))

    def evaluation(sliced: bool) -> Classes:
        return Classes(name, task, alpha, mu, gamma, sliced)

    if coefficients is not None:
        return refined_unless_settled(lambda sliced: evaluation(sliced).own_bounds(coefficients), tolerance)
    return cast(ProvedLabels, best_bounds(evaluation, cost, tolerance))


class Classes(JointEvaluation):
    """α^k, γ and weights μ: outputs that count by γ. `worst` asks for the largest h_k, not for their sum."""

    def __init__(self, name: str, task: LabelTask, alpha: Array, mu: Array, gamma: Array, sliced: bool) -> None:
        super().__init__(SimplexBounds(task.count), task.outputs, alpha, mu, sliced, gamma)
        self.worst, self.sliced = name == "ml_minimax", sliced
        self.lower = total_below([self._gain_below(), -float(self.high.max()) / 2], 1)  # both terms are bounds
        self.squares = np.array(
            [(total_below(self.mu * own.low), total_above(self.mu * own.high)) for own in self.each]
        )

    def _gain_below(self) -> float:
        return total_below(self.shares[:, None] * self.alpha, 1)

    def terms(self, at: At) -> Terms:
        """The h_k, and the terms of the gap."""
        values, (_, gap) = self.values(at), super().terms(at)
        gap = (self.shares[:, None] * gap.reshape(at.alpha.shape)).ravel()
        return np.array([value.high for value in values]), np.append(gap, self._uneven(values))

    def upper(self, bound: Array, t: float) -> float:
        return float(bound.max()) if self.worst else total_above(bound)

    def values(self, at: At) -> list[ClassValue]:
        """h_k: C_i and −C_im_i stay apart, so that in differences of classes nothing but the margins is rounded."""
        box, ((rate, centres),) = at.task.box, at.ridges
        ridges = [Ridge(np.full((1, 1), rate), own[None]) for own in centres]
        zero, full = (np.stack([ridge.at(end) for ridge in ridges]) for end in (0.0, box))
        taken = box * (at.task.y * at.z)
        blur = at.blur * above(box * at.off + 5 * U * np.abs(taken) + 16 * U * (zero + full))
        apart = box - taken + full - zero
        close = np.maximum(blur + 4 * U * (box + np.abs(taken) + full + zero) - np.abs(apart), 0.0)
        paid = apart > 0
        terms = np.hstack([np.where(paid, box, 0.0), np.where(paid, -taken, 0.0), np.where(paid, full, zero)])
        errors = np.hstack([np.where(paid, blur, 16 * U * zero), close])
        middle, half = at.t**2 * self.squares.sum(axis=1) / 4, at.t**2 * np.diff(self.squares)[:, 0] / 4
        offs = [total_above(row) for row in np.column_stack([errors, half, 16 * U * np.abs(middle)])]
        return [ClassValue(*value) for value in zip(np.column_stack([terms, middle]), offs, strict=True)]

    def _uneven(self, values: list[ClassValue]) -> list[float]:
        """γ_k (max_l h_l − h_k), the classes' differences from the largest."""
        if not self.worst:
            return []
        top = max(values, key=lambda value: value.high)
        others = [(share, value) for share, value in zip(self.shares, values, strict=True) if value is not top]
        beyond = max([value.less(top) for _, value in others], default=0.0)
        return [*(share * max(top.less(value), 0.0) for share, value in others if share), max(beyond, 0.0)]

    def bounds(self, delta: float, bare: ProvedPoint | None = None) -> ProvedPoint:
        certificate = super().bounds(delta, bare).certificate
        values = [value.high for value in self.values(self.at(delta).stretched(certificate.stretch))]
        norms = self.mu * np.sqrt(np.sum([np.maximum(own.high, 0.0) for own in self.each], axis=0))
        return self._proved(replace(certificate, gain=None), None, np.array(values), norms)

    def _proved(self, certificate: Certificate, own: Array | None, values: Array, norms: Array) -> ProvedLabels:
        slopes = np.stack([self.low, self.high]) / 2
        return ProvedLabels(certificate, self.alpha, self.mu, self.shares, own, values, norms, slopes=slopes)

    def own_bounds(self, coefficients: Array) -> ProvedLabels:
        """Every class with coefficients of its own, beside α and γ."""
        used = coefficients.any(axis=(0, 2))
        functions = self._functions(coefficients, ridges(self.task, used | (self.mu > 0), bias=False))
        classes = [function.bounds() for function in functions]
        each, possible = [point.certificate for point in classes], bool((self.mu[used] > 0).all())
        highs = np.array([certificate.upper for certificate in each]) if possible else np.full(len(each), math.inf)
        upper = self.upper(highs, 1.0)
        parts = np.array([(part.gap, part.rounding, part.ridge_share) for part in each])
        gaps, roundings, costs = self.shares * parts.T
        width = math.inf if self.worst or not possible else total_above([*gaps, self.fenchel])
        width = no_wider(width, self.lower, upper)
        scale = max(total_below(self.shares * [function.scale for function in functions]), 0.0)
        rounding, share = float(roundings.sum() + self.fenchel_noise), float(costs.sum())
        ridge, known = max(certificate.ridge for certificate in each), each[0].ridges
        certificate = Certificate(self.lower, upper, scale, width, rounding, ridge, share, ridges=known)
        norms = np.sqrt(np.sum([point.norms**2 for point in classes], axis=0))
        return self._proved(certificate, coefficients, highs, norms)

    def _functions(self, coefficients: Array, delta: Array) -> list[OwnCoefficients]:
        side, rows = FixedBounds(self.mu), zip(single_tasks(self.task), self.alpha, self.each, strict=True)
        points = [Evaluation(side, task, alpha, self.mu, self.sliced, known=products) for task, alpha, products in rows]
        return [OwnCoefficients(at, own, delta) for at, own in zip(points, coefficients, strict=True)]
