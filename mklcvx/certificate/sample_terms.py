"""The samples' side of a single task's bounds: what every sample costs, from above, with rounding and δ paid for.

Sample i enters the bounds with φ(α̂) = rα̂ − ε|α̂| − ½κα̂² on low ≤ α̂ ≤ high, its gain less α̂ times its output: the record
of a piecewise quadratic loss (`formulations/losses`) at the residual r = a − sz. δ adds a convex P(α̂) = ½ Σ_m d_m
(α̂ − c_m)² of curvature D = Σ_m d_m. Wanted are, for an r known up to `off`,

    bound  ≥  sup over α̂ of φ(α̂) + P(α̂)                   gap  ≥  sup over α̂ of φ(α̂) + P(α̂) − φ(α)

The first is the second at α = 0. Without P the second is the loss in Fenchel–Young's inequality, which is ≥ 0. Both are
convex in r, so that the ends r ± off pay for the error of r.

**Straight losses** (κ = 0). φ + P is convex on either side of 0: its supremum is at low, 0 or high. With α = up − down,
one of them 0, the way to high is (high − up)(r − ε) + down (r + ε), to 0 it is |α|(ε − σr) with the sign σ of α. Where
the tube ε is an unknown, ‖α̂‖₁ ≤ N: for any ε ≥ 0, ε(N − ‖α̂‖₁) ≥ 0 is added, which makes it this side and leaves Nε.
The gain has ε = 0, so that ε(N − ‖α‖₁) joins the gap.

**Curved losses** (κ > 0). Let x be any point of the box, and p ≥ 0 the slope of φ at x into the box, where it points
there. As φ is concave with modulus κ, and √(2D P(x)) bounds the slope of P at x,

    φ(α̂) + P(α̂) ≤ φ(x) + P(x) + (p + √(2D P(x)))|h| − ½(κ − D)h²,    h = α̂ − x,

    sup ≤ φ(x) + P(x) + (p + √(2D P(x)))²/(2(κ − D))  if κ > D,       sup ≤ φ(x) + p²/(2κ) + max P over the box,

the smaller of the two; neither may be finite. x is the maximiser of φ as it is computed. There p is nothing but
rounding, and its square is next to nothing. On one side of 0 φ(x) − φ(α) = (x − α) pull + ½κ(x − α)², pull = φ'(x);
from one side to the other the way leads through 0, and all terms are ≥ 0: nothing cancels.

**The logistic loss.** g is c times the entropy of u = α/c, and r = −sz. The loss is c log(1 + eʳ), the maximiser cp
with the chance p = 1/(1 + e⁻ʳ), the modulus κ = 4/c, and Fenchel–Young's gap c times the divergence of u from p,

    u log(u/p) + (1 − u) log((1 − u)/(1 − p))  ≤  ½(u − p)² (1/min(u, p) + 1/min(1 − u, 1 − p)),

since h(x) = (1 + x) log(1 + x) − x has h'' = 1/(1 + x), and u log(u/p) − u + p = p h(u/p − 1). The left side cancels
near the optimum, the right side is far from it far too large: the smaller one counts. All is computed in cu and cp, for
c may be as large as 10²⁰⁰, and a u be lost that αr is not. What p may lose is paid with c·TINY. Where u is smaller than
TINY its logarithm is replaced by that of TINY, which is above it.

**The Poisson loss.** Its α is h − x, h = cy and x = cu ≥ 0. The loss is the divergence D(h‖p) = h log(h/p) − h + p of
the counts from p = c eᶻ, the maximiser is h − p, and Fenchel–Young's gap D(x‖p). In the box x is at most h − low, so
that κ = 1/(h − low) is the modulus. The gain is α log(h/c) − D(x‖h). As above, D(x‖p) ≤ ½(x − p)²/min(x, p), and
underflow is paid for in the same way.

**What is exact.** a, ε, low, high, prices c and h = high are the doubles of the record. κ, a quotient by c, is off by
u: twice that is paid, so that the bounds hold for the quotient and for its double.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from ..formulations import Task
from ..formulations.losses import PiecewiseQuadratic, QuadraticShape
from ..formulations.losses.logistic import chance, log_share
from .passes import added
from .record import Certificate
from .rounding import POWER, STEPS, TINY, Array, U, above, below, product_terms, square_over, times_square, total_above

NEGLIGIBLE = 1e-2  # share of the tolerance, or of the gap without δ, that δ may cost without a sharper one being sought
MILD = 0.25  # share of κ up to which δ costs less than a third of what a sample lacks to be optimal


class Costs(NamedTuple):
    """Terms of the upper bound and of the gap."""

    bound: Array
    gap: Array


@dataclass(frozen=True)
class Ridge:
    """P(α̂) = ½ Σ_m d_m (α̂ − c_m)²: rates d (k, 1) and centres c (k, n), which are off by 2u."""

    rates: Array
    centres: Array

    @property
    def total(self) -> float:
        """D."""
        return total_above(self.rates) if self.rates.any() else 0.0

    def at(self, x: float | Array) -> Array:
        """P(x) from above, x exact."""
        far = np.abs(x - self.centres) + 3 * U * np.abs(self.centres) * np.not_equal(x, 0)
        terms = times_square(self.rates, np.where(self.rates > 0, far, 0.0)) / 2  # far may be ∞, and 0·∞ is no number
        count = len(self.rates)
        return np.asarray(above(terms[0]) if count == 1 else above(terms.sum(axis=0), STEPS + count))


NO_RIDGE = Ridge(np.zeros((1, 1)), np.zeros((1, 1)))


@dataclass(frozen=True)
class SampleTerms(ABC):
    """The samples' side of a task, paying for a δ: a is the level of the margins, or the targets."""

    a: Array
    kappa: Array
    low: Array
    high: Array
    ridge: Ridge

    def paying(self, ridge: Ridge) -> SampleTerms:
        """The same side, paying for this δ."""
        return replace(self, ridge=ridge)

    def at(self, level: float) -> SampleTerms:
        """The same side at this tube, where it is an unknown."""
        return self

    def level_terms(self, level: float) -> list[float]:
        """What the level itself adds to the upper bound, beside the samples."""
        return []

    def slack_terms(self, alpha: Array, level: float) -> list[float]:
        """What it adds to the gap."""
        return []

    @property
    def stretches(self) -> bool:
        """Whether bounds gain by lifting margins a little over the level."""
        return False

    @abstractmethod
    def gain(self, alpha: Array) -> float:
        """The gain from below, but for the rounding of one sum."""

    @property
    def mass(self) -> float:
        """What a gap is compared with, beside the gain, where f vanishes: terms of a loss that cancel in it."""
        return 0.0

    @abstractmethod
    def costs(self, alpha: Array, r: Array, off: Array) -> Costs:
        """What every sample costs, its residual being r ± off."""

    def ridge_costing(self, alpha: Array, allowed: float) -> float:
        """The δ that costs about as much, or next to nothing: no smaller one is needed."""
        mild, reach = MILD * float(self.kappa.min()), float((self.high - self.low).max())
        return max(mild, ridge_costing(reach * math.fsum(np.abs(alpha)), allowed)) if math.isfinite(reach) else mild

    def beyond(self, x: Array, inwards: Array) -> Array:
        """What sup φ + P may exceed φ(x) by, p being `inwards`, where κ > 0."""
        bent, total = above(square_over(inwards, self.kappa) / 2), self.ridge.total
        if total == 0:
            return np.asarray(bent)
        there, room = self.ridge.at(x), below(below(self.kappa) - total)  # κ itself is off by u
        slope = inwards + above(np.sqrt(2 * total) * np.sqrt(there))
        near = there + above(np.where(room > 0, square_over(slope, np.where(room > 0, room, 1.0)) / 2, np.inf))
        if not np.isfinite(self.high - self.low).all():
            return np.asarray(near)
        return np.minimum(near, np.maximum(self.ridge.at(self.low), self.ridge.at(self.high)) + bent)


def ridge_costing(cost: float, allowed: float) -> float:
    """The δ that costs as much as is allowed. `cost` is what one unit of δ costs."""
    return allowed / cost if cost > 0 else math.inf


def negligible(bare: Certificate, tolerance: float) -> float:
    """What δ may always cost: a hundredth of the tolerance, or of the gap without δ."""
    return NEGLIGIBLE * max(tolerance * bare.scale, bare.gap)


# ------------------------------------------------------------------------------------------- piecewise quadratic losses
@dataclass(frozen=True)
class OfRecord(SampleTerms):
    """The side of a loss that its record states."""

    shape: QuadraticShape

    def gain(self, alpha: Array) -> float:
        """aα and ε|α| as exact sums of two doubles, ½κα² as it is rounded, by less than 8u."""
        terms = [product_terms(self.a, alpha)]
        if self.shape.epsilon.any():
            terms.append(-product_terms(self.shape.epsilon, np.abs(alpha)))
        if self.kappa.any():
            bent = times_square(self.kappa, alpha) / 2
            terms += [-bent, -8 * U * bent]
        return math.fsum(np.concatenate(terms))


class LinearTerms(OfRecord):
    """κ = 0. Prefix sums of r − ε and off are rounded relatively; with ε > 0 the first is rounded before."""

    @cached_property
    def two_sided(self) -> bool:
        return bool(self.low.any())

    @cached_property
    def kinked(self) -> bool:
        return bool(self.shape.epsilon.any())

    @property
    def stretches(self) -> bool:
        """A level that all samples share can be exceeded by all of them."""
        return not self.two_sided

    @cached_property
    def at_zero(self) -> Array:
        return self.ridge.at(0.0)

    @cached_property
    def at_high(self) -> Array:
        return self.ridge.at(self.high)

    @cached_property
    def at_low(self) -> Array:
        return self.ridge.at(self.low)

    def costs(self, alpha: Array, r: Array, off: Array) -> Costs:
        bound, gap = self._towards(self.high, self.at_high, alpha, r, off)
        to_zero = above(np.abs(alpha) * self._more(-np.sign(alpha) * r, off, 1)) + self.at_zero
        costs = Costs(np.maximum(self.at_zero, bound), np.maximum(to_zero, gap))
        if not self.two_sided:
            return costs
        other = self._towards(-self.low, self.at_low, -alpha, -r, off)
        return Costs(*(np.maximum(cost, opposite) for cost, opposite in zip(costs, other, strict=True)))

    def _more(self, r: Array, off: Array, sign: int) -> Array:
        """r ± ε + off from above, but for the rounding of the last sum."""
        if not self.kinked:
            return off + r
        less = r + sign * self.shape.epsilon
        return above(off + 2 * U * np.abs(less)) + less

    def _towards(self, end: Array, paid: Array, alpha: Array, r: Array, off: Array) -> Costs:
        """The terms of α̂ = end ≥ 0."""
        beyond = self._more(r, off, -1)
        gap = above((end - np.maximum(alpha, 0.0)) * beyond) + paid
        if self.two_sided:
            gap = gap + above(np.maximum(-alpha, 0.0) * self._more(r, off, 1))
        return Costs(above(end * beyond) + paid, gap)


class OfMargin(LinearTerms):
    """Of a loss whose margin ρ is an unknown: the residuals have it, and −ρ is left."""

    def level_terms(self, level: float) -> list[float]:
        return [-level]


@dataclass(frozen=True)
class OfTube(LinearTerms):
    """Of a loss whose tube ε is an unknown. The gain is that of ε = 0, Nε is exact."""

    most: float

    def at(self, level: float) -> OfTube:
        return replace(self, shape=self.shape._replace(epsilon=np.full_like(self.a, level)))

    def level_terms(self, level: float) -> list[float]:
        return product_terms(np.array(self.most), np.array(level)).tolist()

    def slack_terms(self, alpha: Array, level: float) -> list[float]:
        """ε(N − ‖α‖₁)."""
        return [float(above(level * max(math.fsum([self.most, *(-np.abs(alpha))]), 0.0)))]


class CurvedTerms(OfRecord):
    """κ > 0."""

    def costs(self, alpha: Array, r: Array, off: Array) -> Costs:
        both = np.stack([np.zeros_like(alpha), alpha])
        ends = [added(r, -off), added(r, off)] if off.any() else [(r, off)]
        return Costs(*np.max([self._young(both, *end) for end in ends], axis=0))

    def _young(self, alpha: Array, r: Array, lost: Array) -> Array:
        """sup of φ + P, less φ(α) for every row of α, at r + lost: what is lost is an error of the slopes."""
        _, epsilon, kappa, low, high = self.shape
        x = self.shape.maximiser(r)
        turned = kappa * x
        lost = above(np.abs(lost))
        blur = 4 * U * (np.abs(r) + epsilon + np.abs(turned))  # r ∓ ε is off by u, κx by 2u, their difference by u
        right, left = (r - np.where(side, epsilon, -epsilon) - turned for side in (x >= 0, x > 0))
        inwards = np.maximum(np.where(x < high, right, -np.inf), np.where(x > low, -left, -np.inf))
        inwards = inwards + lost + np.where(self.shape.excess(r) == 0, 0.0, blur)  # for |r| ≤ ε the signs are exact
        crossing = np.sign(alpha) * np.sign(x) < 0
        start = np.where(crossing, 0.0, alpha)
        way, pull = x - start, r - np.sign(x + start) * epsilon - turned
        to_zero = np.where(crossing, np.abs(alpha) * (epsilon + np.abs(r) + lost + kappa * np.abs(alpha) / 2), 0.0)
        along = np.maximum(way * pull, 0.0) + np.abs(way) * (blur + lost) + times_square(kappa, way) / 2
        return np.asarray(above(to_zero + along, 2 * STEPS) + self.beyond(x, above(np.maximum(inwards, 0.0))))


# ------------------------------------------------------------------------------------------------------- logistic loss
LOG = 3 * POWER  # units of roundoff that an expression with an exponential and a logarithm is trusted to
LEAST_LOG = math.log(TINY)


def quadratically(apart: Array, least: Array, unit: Array) -> Array:
    """apart²/(2 least), where that is a bound of use and no number in it can have lost digits, in multiples of a unit
    or by themselves; else ∞."""
    useful = (apart <= least) & (least > TINY * np.maximum(unit, 1.0))
    return np.where(useful, square_over(np.where(useful, apart, 0.0), np.where(useful, least, 1.0)) / 2, np.inf)


def informed(part: Array, rest: Array) -> Array:
    """part log(part/(part + rest)), from above but for relative errors."""
    return np.multiply(part, np.maximum(log_share(part, rest), LEAST_LOG), out=np.zeros_like(part), where=part > 0)


class LogisticTerms(SampleTerms):
    """Of the logistic loss. Exponentials and logarithms are trusted to 16u each: an expression of both, to 48u."""

    def gain(self, alpha: Array) -> float:
        entropy = -np.concatenate([informed(alpha, self.high - alpha), informed(self.high - alpha, alpha)])
        return math.fsum(np.concatenate([entropy, -2 * LOG * U * entropy]))

    def costs(self, alpha: Array, r: Array, off: Array) -> Costs:
        low, high = np.nextafter(r - off, -np.inf), np.nextafter(r + off, np.inf)
        beyond = np.maximum(self._past(low), self._past(high))
        loss = above(self.high * (np.logaddexp(0.0, high) + TINY), LOG)
        return Costs(loss + beyond, np.maximum(self._young(alpha, low), self._young(alpha, high)) + beyond)

    def _young(self, alpha: Array, r: Array) -> Array:
        price, rest = self.high, self.high - alpha
        p, q = price * chance(r), price * chance(-r)
        with np.errstate(invalid="ignore", over="ignore"):
            parts = np.stack([informed(alpha, rest), alpha * np.logaddexp(0.0, -r),
                              informed(rest, alpha), rest * np.logaddexp(0.0, r)])  # fmt: skip
            direct = parts.sum(axis=0) + 2 * LOG * U * np.abs(parts).sum(axis=0)
        from_p, from_q = (np.abs(x - y) + LOG * U * (x + y) for x, y in ((alpha, p), (rest, q)))
        apart = np.where(alpha < rest, from_p, from_q)
        near = sum(quadratically(apart, np.minimum(x, y), price) for x, y in ((alpha, p), (rest, q)))
        return np.asarray(above(np.fmin(np.maximum(direct, 0.0), above(near, 4 * LOG)) + TINY * price))

    def _past(self, r: Array) -> Array:
        """What δ adds, at the maximiser as it is computed, give or take its error."""
        x, nothing = self.high * chance(r), np.zeros_like(r)
        return np.maximum(*(self.beyond(x * (1 + side * LOG * U), nothing) for side in (-1, 1)))


# -------------------------------------------------------------------------------------------------------- Poisson loss
@dataclass(frozen=True)
class PoissonTerms(SampleTerms):
    """Of the Poisson loss; a = 0, so that r is minus the output."""

    price: Array

    @property
    def mass(self) -> float:
        """Σ cy: where all counts are the same, f = 0 and the value 0, which exponentials miss by their last digits."""
        return float(below(math.fsum(self.high)))

    def gain(self, alpha: Array) -> float:
        """With y = 0, α log(−α/c) − α."""
        counted, part = self.high > 0, self.high - alpha
        whole = np.where(counted, self.high, np.where(part > 0, part, self.price))
        mean = whole / self.price  # a logarithm below that of TINY is the difference of two, without cancellation
        along = alpha * np.where(mean > TINY, np.log(np.maximum(mean, TINY)), np.log(whole) - np.log(self.price))
        other = np.where(counted, -self._divergence(part, self.high, np.zeros_like(alpha), self.high), -alpha)
        off = 2 * LOG * U * (np.abs(along) + np.abs(alpha))
        return math.fsum(np.concatenate([along, other, -off]))

    def costs(self, alpha: Array, r: Array, off: Array) -> Costs:
        ends = np.nextafter(-r - off, -np.inf), np.nextafter(-r + off, np.inf)
        with np.errstate(over="ignore", invalid="ignore"):  # of outputs that are far too large
            means = [self.price * np.exp(z) for z in ends]
            beyond = np.maximum(*(self._past(p, side) for p, side in zip(means, (-1, 1), strict=True)))
            bound, gap = (
                np.maximum(*(self._divergence(x, p, z, self.price) for p, z in zip(means, ends, strict=True))) + beyond
                for x in (self.high, self.high - alpha)
            )
        return Costs(np.nan_to_num(bound, nan=np.inf, posinf=np.inf), np.nan_to_num(gap, nan=np.inf, posinf=np.inf))

    def _divergence(self, x: Array, p: Array, z: Array, unit: Array) -> Array:
        """D(x‖p) from above, p = unit·eᶻ."""
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.stack([x * np.log(np.maximum(x / unit, TINY)), -x * z, p, -x])
            parts = np.where(np.stack([x, x, p, x]) > 0, parts, 0.0)
            direct = parts.sum(axis=0) + 2 * LOG * U * np.abs(parts).sum(axis=0)
            near = quadratically(np.abs(x - p) + LOG * U * (x + p), np.minimum(x, p), unit)
        return np.asarray(above(np.fmin(np.maximum(direct, 0.0), above(near, 4 * LOG)) + TINY * unit))

    def _past(self, p: Array, side: int) -> Array:
        """What δ adds, at the maximiser as it is computed, give or take its error, which is that of p and of h − p."""
        x = self.high - p - side * (LOG * U * p + 2 * U * self.high)
        return self.beyond(np.clip(x, self.low, self.high), np.zeros_like(x))


def of_record(task: Task) -> OfRecord:
    loss = cast(PiecewiseQuadratic, task.loss_function)
    shape = loss.shape(task.y, task.box)
    kind = CurvedTerms if shape.kappa.any() else OfMargin if loss.free_margin else LinearTerms
    return kind(shape.a, shape.kappa, shape.low, shape.high, NO_RIDGE, shape)


def of_tube(task: Task) -> OfTube:
    bare = of_record(task)
    return OfTube(bare.a, bare.kappa, bare.low, bare.high, NO_RIDGE, bare.shape, task.loss_function.most(task.box))


def entropic(task: Task) -> LogisticTerms:
    return LogisticTerms(np.zeros_like(task.box), 4 / task.box, task.low, task.limit, NO_RIDGE)


def counted(task: Task) -> PoissonTerms:
    low, high = task.low, task.limit
    return PoissonTerms(np.zeros_like(task.box), below(1 / (high - low)), low, high, NO_RIDGE, task.box)


KINDS: dict[str, Callable[[Task], SampleTerms]] = {
    "quadratic": of_record,
    "tube": of_tube,
    "logistic": entropic,
    "poisson": counted,
}


def sample_terms(task: Task) -> SampleTerms:
    """The samples' side of a task, without a δ."""
    return KINDS[task.loss_function.kind](task)
