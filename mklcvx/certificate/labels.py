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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar, cast

import numpy as np

from ..formulations import Task
from ..formulations.families.multi_label import LabelTask
from .record import Certificate, ProvedPoint, refined_unless_settled, settled
from .regularisers import FixedBounds, SimplexBounds
from .ridge import combined_ridge, ridges
from .rounding import Array, U, above, no_wider, total_above, total_below
from .sample_terms import LinearTerms, negligible, ridge_costing
from .single import MARGIN, Evaluation, OwnCoefficients, SampleCosts

Item = TypeVar("Item")
NO_BIAS = (0.0, 0.0)
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
    mu, alpha = SimplexBounds(task.count).feasible(mu), np.clip(np.nan_to_num(alpha), 0.0, task.box)
    gamma = SimplexBounds(task.classes).feasible(gamma) if name == "ml_minimax" else np.ones(task.classes)
    cost = float(task.box.max()) * float(gamma @ alpha.sum(axis=1))

    def evaluate(sliced: bool) -> ProvedLabels:
        at = Classes(name, task, alpha, mu, gamma, sliced)
        if coefficients is not None:
            return at.own_bounds(coefficients)
        bare = at.bounds(0.0)
        if not sliced and not settled(bare.certificate, tolerance):
            return bare
        return at.bounds(combined_ridge(task, mu, False, ridge_costing(cost, negligible(bare.certificate, tolerance))))

    return refined_unless_settled(evaluate, tolerance)


class Classes:
    """α^k, γ and weights μ: every class as a single task, in plain passes or in slices."""

    def __init__(self, name: str, task: LabelTask, alpha: Array, mu: Array, gamma: Array, sliced: bool) -> None:
        self.task, self.alpha, self.mu, self.gamma = task, alpha, mu, gamma
        self.worst = name == "ml_minimax"
        sym, sizes = task.symmetric, task.largest_entries
        tasks = [Task(task.kernels, signs, task.box, bias=False, symmetric=sym, sizes=sizes) for signs in task.signs]
        self.each = [Evaluation(FixedBounds(mu), one, a, mu, sliced) for one, a in zip(tasks, alpha, strict=True)]
        self.squares = [one.square for one in self.each]
        self.low, self.high = (
            np.array([total(gamma * ends) for ends in np.array([getattr(one.found, end) for one in self.each]).T])
            for total, end in ((total_below, "low"), (total_above, "high"))
        )
        self.fenchel, self.fenchel_noise = SimplexBounds(task.count).fenchel_parts(mu, self.low, self.high, None)
        gains = [float(total_below(share * a, 1)) for share, a in zip(gamma, alpha, strict=True)]
        self.lower = total_below([*gains, -float(self.high.max()) / 2], 2)

    def proved(self, certificate: Certificate, coefficients: Array | None, values: Array, norms: Array) -> ProvedLabels:
        slopes = np.stack([self.low, self.high]) / 2
        return ProvedLabels(certificate, self.alpha, self.mu, self.gamma, coefficients, values, norms, slopes=slopes)

    def bounds(self, delta: float) -> ProvedLabels:
        """The best certificate over the stretches that are worth a try."""
        half = delta * float(self.task.box.max()) / 2
        lack = max(one.samples.lack(NO_BIAS, 0.0) for one in self.each) + half
        tries = [1.0, *(1 + MARGIN * size for size in {lack, half} if 0 < size < 0.1)]
        found = [self._at(t, delta) for t in tries]
        certificate, values = min(found, key=lambda one: (one[0].gap, one[0].upper))
        norms = self.mu * np.sqrt(np.sum([np.maximum(one.found.high, 0.0) for one in self.each], axis=0))
        return self.proved(certificate, None, values, norms)

    def _at(self, t: float, delta: float) -> tuple[Certificate, Array]:
        samples, without = ([one.samples.stretched(t, ridge, None) for one in self.each] for ridge in (delta, 0.0))
        values = [self._value(one, t, square) for one, square in zip(samples, self.squares, strict=True)]
        highs = np.array([one.high for one in values])
        others = [self.fenchel, *self._uneven(values)]
        others += [share * (t - 1) ** 2 * max(square[1], 0.0) / 2 for share, square in self._shared(self.squares)]
        width, plain, bare = (
            total_above([*np.concatenate([share * one.terms(t, NO_BIAS, 0.0, blur)[1]
                                          for share, one in self._shared(each)]), *others])
            for each, blur in ((samples, 1.0), (samples, 0.0), (without, 1.0))
        )  # fmt: skip
        noise = total_above([share * (one[1] - one[0]) for share, one in self._shared(self.squares)])
        off = 2 * max(one.off for one in values) if self.worst else 0.0
        scale = total_below([share * (1 + t**2) / 2 * one[0] for share, one in self._shared(self.squares)])
        upper = float(highs.max()) if self.worst else total_above(highs)
        rounding, share = max(width - plain + self.fenchel_noise + noise + off, 0.0), max(width - bare, 0.0)
        width = no_wider(width, self.lower, upper)
        rounding = min(rounding, max(width, 0.0))
        certificate = Certificate(self.lower, upper, max(scale, 0.0), width, rounding, delta, share, stretch=t)
        return certificate, highs

    def _shared(self, items: list[Item]) -> Iterator[tuple[float, Item]]:
        return zip(self.gamma.tolist(), items, strict=True)

    def _uneven(self, values: list[ClassValue]) -> list[float]:
        """γ_k (max_l h_l − h_k), the classes' differences from the largest."""
        if not self.worst:
            return []
        top = max(values, key=lambda one: one.high)
        beyond = max([one.less(top) for one in values if one is not top], default=0.0)
        apart = [share * max(top.less(one), 0.0) for share, one in self._shared(values) if share and one is not top]
        return [*apart, max(beyond, 0.0)]

    def _value(self, samples: SampleCosts, t: float, square: tuple[float, float]) -> ClassValue:
        """h_k: C_i and −C_im_i stay apart, so that in differences of classes nothing but the margins is rounded."""
        side = cast(LinearTerms, samples.side)
        box, zero, full = self.task.box, side.at_zero, side.at_high
        margins, off = samples.outputs.margins(samples.task.y, NO_BIAS)
        taken = box * (t * margins)
        blur = above(box * (t * off) + 5 * U * np.abs(taken) + 16 * U * (zero + full))
        apart = box - taken + full - zero
        close = np.maximum(blur + 4 * U * (box + np.abs(taken) + full + zero) - np.abs(apart), 0.0)
        paid = apart > 0
        terms = np.concatenate([np.where(paid, box, 0.0), np.where(paid, -taken, 0.0), np.where(paid, full, zero)])
        middle, half = t**2 * (square[0] + square[1]) / 4, t**2 * (square[1] - square[0]) / 4
        error = total_above([*np.where(paid, blur, 16 * U * zero), *close, half, 16 * U * abs(middle)])
        return ClassValue(np.append(terms, middle), error)

    def own_bounds(self, coefficients: Array) -> ProvedLabels:
        """Every class with coefficients of its own, beside α and γ."""
        used = coefficients.any(axis=(0, 2))
        delta = ridges(self.task, used | (self.mu > 0), bias=False)
        rows = zip(self.each, coefficients, strict=True)
        functions = [OwnCoefficients(one, own, delta) for one, own in rows]
        classes = [one.bounds() for one in functions]
        each, possible = [one.certificate for one in classes], bool((self.mu[used] > 0).all())
        highs = np.array([one.upper for one in each]) if possible else np.full(len(each), math.inf)
        upper = float(highs.max()) if self.worst else total_above(highs)
        gaps, roundings, shares = (
            [share * getattr(one, part) for share, one in zip(self.gamma, each, strict=True)]
            for part in ("gap", "rounding", "ridge_share")
        )
        scales = [share * one.scale for share, one in zip(self.gamma, functions, strict=True)]
        width = math.inf if self.worst or not possible else total_above([*gaps, self.fenchel])
        width = no_wider(width, self.lower, upper)
        scale, rounding = max(total_below(scales), 0.0), float(sum(roundings) + self.fenchel_noise)
        ridge, share, known = max(one.ridge for one in each), float(sum(shares)), each[0].ridges
        certificate = Certificate(self.lower, upper, scale, width, rounding, ridge, share, ridges=known)
        norms = np.sqrt(np.sum([one.norms**2 for one in classes], axis=0))
        return self.proved(certificate, coefficients, highs, norms)
