"""R, R* and their Fenchel gap from above, for weights that are exactly feasible and v = ½q known within an interval.

A regulariser R on weights (`formulations/_regulariser`) enters the bounds in three numbers:

    value(μ)            ≥ R(μ)
    conjugate(v)        ≥ R*(v); where R* is a minimum over τ, at the τ that `threshold` gives: any τ serves
    fenchel(μ, v₋, v₊)  ≥ R(μ) + R*(v) − μ'v for every v between v₋ and v₊ (with the same τ)

The last is a sum of terms none of which is negative, written so that constants such as R(μ), which may swamp all that
concerns the classifier, cancel before anything is computed: with Σμ = 1 every τ in R* meets a −τΣμ.
`feasible(μ)` puts weights into the domain: on the simplex they are multiples of 2⁻⁵² that sum to one exactly; in a ball
they are shortened by a few units of rounding, which is enough, R* being the same for all weights below feasible ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from ..formulations import block_elastic, elastic, lp, sm1, sm2, smp
from .record import NOTHING
from .rounding import POWER, TINY, Array, U, above, below, square_over, times_square, total_above, total_below

UNIT = 2.0**-52
WITHIN = 2.0**-46  # relative distance from a ball's boundary: more than rounding in norms of some thousand weights


class Looked(Protocol):
    """What the kernels make of α: q from above, at least."""

    @property
    def high(self) -> Array: ...


S = TypeVar("S", bound=Looked)


class RegulariserBounds(ABC):
    """What the bounds ask of R. `inexact`: the weights are doubles next to those that are meant."""

    inexact: bool = False

    def feasible(self, mu: Array) -> Array:
        return np.clip(np.nan_to_num(mu), 0.0, None)

    def held(self, mu: Array) -> Array:
        """Weights in the domain; those inside a ball stay inside."""
        return self.feasible(mu)

    def of_kernels(self, mu: Array) -> Array:
        """The weights of the kernels, where μ are shares of them."""
        return mu

    def admitted(self, alpha: Array, look: Callable[[Array], S], feasible: Callable[[Array], Array]) -> tuple[Array, S]:
        """A feasible α where R*(½q(α)) is finite, and what the kernels make of it when they `look` at it."""
        return alpha, look(alpha)

    def threshold(self, v: Array) -> float | None:
        return None

    def value(self, mu: Array) -> float:
        return 0.0

    @property
    def steps(self) -> int:
        """Units of roundoff that the terms of R(μ) are off by."""
        return 0

    @abstractmethod
    def conjugate(self, v: Array, tau: float | None) -> float: ...

    def fenchel(self, mu: Array, low: Array, high: Array, tau: float | None) -> float:
        """For R = 0."""
        return float(above(self.conjugate(high, tau) - total_below(mu * low)))

    def fenchel_parts(self, mu: Array, low: Array, high: Array, tau: float | None) -> tuple[float, float]:
        """The Fenchel gap at v = ½q, q between low and high, and what the width of that interval adds to it."""
        gap, middle = float(self.fenchel(mu, low / 2, high / 2, tau)), (low + high) / 4
        return gap, max(gap - float(self.fenchel(mu, middle, middle, tau)), 0.0)


@dataclass(frozen=True)
class FixedBounds(RegulariserBounds):
    """Weights that are given, as in `sum`: R*(v) = μ'v. `inexact`: the doubles stand for 1/M, and are off by u."""

    weights: Array
    inexact: bool = False

    def feasible(self, mu: Array) -> Array:
        return self.weights

    def conjugate(self, v: Array, tau: float | None) -> float:
        return total_above(self.weights * v)

    def fenchel(self, mu: Array, low: Array, high: Array, tau: float | None) -> float:
        return 0.0


@dataclass(frozen=True)
class SimplexBounds(RegulariserBounds):
    """Σμ = 1: R*(v) = max v."""

    count: int
    theta: float = 1.0
    p: float = 2.0

    @property
    def cap(self) -> float:
        return 1.0

    def feasible(self, mu: Array) -> Array:
        """On the simplex, below the cap, in multiples of 2⁻⁵²."""
        mu = super().feasible(mu)
        mu = mu / mu.sum() if 0 < mu.sum() < math.inf else np.full(self.count, 1 / self.count)
        most = math.floor(self.cap / UNIT)
        steps = np.minimum(np.rint(mu / UNIT), most)
        missing = 1 / UNIT - float(steps.sum())
        for m in np.argsort(-np.minimum(steps, most - steps if self.cap < 1 else steps), kind="stable"):
            if missing == 0:
                break
            change = min(missing, float(most - steps[m])) if missing > 0 else max(missing, -float(steps[m]))
            steps[m] += change
            missing -= change
        return np.asarray(steps * UNIT)

    def conjugate(self, v: Array, tau: float | None) -> float:
        return float(v.max())

    def fenchel(self, mu: Array, low: Array, high: Array, tau: float | None) -> float:
        return total_above(mu * (high.max() - low))


class Capped(SimplexBounds):
    """Σμ = 1, μ ≤ cap: R*(v) ≤ τ + cap Σ(v − τ)₊. A θ below 1/M is replaced by 1/M on the grid."""

    @property
    def cap(self) -> float:
        return max(self.theta, math.ceil(1 / (UNIT * self.count)) * UNIT) if self.count > 1 else max(self.theta, 1.0)

    def threshold(self, v: Array) -> float:
        return sm1.SM1.regulariser.threshold(np.maximum(v, 0.0), self.theta)

    def conjugate(self, v: Array, tau: float | None) -> float:
        assert tau is not None
        return total_above(np.append(self.cap * np.maximum(v - tau, 0.0), tau))

    def fenchel(self, mu: Array, low: Array, high: Array, tau: float | None) -> float:
        assert tau is not None
        return total_above((self.cap - mu) * np.maximum(high - tau, 0.0) + mu * np.maximum(tau - low, 0.0))


class SquaredBounds(SimplexBounds):
    """Σμ = 1 with ‖μ‖²/(2θ): R*(v) ≤ τ + (θ/2) Σ(v − τ)₊²."""

    @property
    def steps(self) -> int:
        return 16

    def threshold(self, v: Array) -> float | None:
        return sm2.SM2.regulariser.threshold(np.maximum(v, 0.0), self.theta)

    def value(self, mu: Array) -> float:
        return total_above(square_over(mu, 2 * self.theta))

    def conjugate(self, v: Array, tau: float | None) -> float:
        level = tau or 0.0
        return total_above(np.append(times_square(self.theta, np.maximum(v - level, 0.0)) / 2, level))

    def fenchel(self, mu: Array, low: Array, high: Array, tau: float | None) -> float:
        """(μ − θ(v − τ)₊)²/(2θ) + μ(τ − v)₊ of every kernel: convex in v, so largest at an end of the interval."""
        return total_above(np.maximum(*(self._each(mu, v - (tau or 0.0)) for v in (low, high))), self.steps)

    def _each(self, mu: Array, slack: Array) -> Array:
        slope = self.theta * np.maximum(slack, 0.0)
        off = np.abs(mu - slope) + 4 * U * slope
        return np.asarray(square_over(off, 2 * self.theta) + mu * np.maximum(-slack, 0.0))


class Square(SquaredBounds):
    """‖μ‖²/(2θ) without a simplex: R*(v) = (θ/2) Σ v₊², and τ = 0."""

    feasible = RegulariserBounds.feasible
    threshold = RegulariserBounds.threshold


class Powered(SquaredBounds):
    """Σμ = 1 with (c/p) Σμ^p = Σ g*(μ), ρ = 2(p−1)/(θp): R*(v) ≤ τ + Σ g((v − τ)₊), g(ζ) = (θ/2) ζ^{p/(p−1)}."""

    @property
    def steps(self) -> int:
        """ρ is off by 3u; a power multiplies relative errors by its exponent, whose own are `_moved`."""
        return POWER + math.ceil(8 * max(self.p, self.p / (self.p - 1))) + 16

    def threshold(self, v: Array) -> float:
        return smp.SMP.regulariser.threshold(np.maximum(v, 0.0), self.theta, self.p)

    def value(self, mu: Array) -> float:
        return total_above(self._spread(mu), self.steps)

    def _spread(self, mu: Array) -> Array:
        moved = _moved(smp.rise(self.theta, self.p) * mu, self.p - 1)
        return np.asarray(smp.SMP.regulariser.value(mu, self.theta, self.p) * (1 + moved))

    def conjugate(self, v: Array, tau: float | None) -> float:
        assert tau is not None
        zeta = np.maximum(v - tau, 0.0)
        exponent = self.p / (self.p - 1)
        prices = self.theta / 2 * (zeta**exponent * (1 + _moved(zeta, exponent)) + TINY * (zeta > 0))
        return total_above(np.append(prices, tau), self.steps)

    def _each(self, mu: Array, slack: Array) -> Array:
        """g*(μ) + g(ζ) − μζ ≤ (g*'(μ) − ζ)(μ − g'(ζ)) by convexity; below τ, where ζ = 0, g*(μ) + μ(τ − v)."""
        zeta = np.maximum(slack, 0.0)
        rise = smp.rise(self.theta, self.p)
        slope, weight = (rise * mu) ** (self.p - 1), zeta ** (1 / (self.p - 1)) / rise
        blur, inverse = self.steps * U, 1 / (self.p - 1)
        off = (blur + _moved(rise * mu, self.p - 1)) * (slope + zeta) + TINY
        apart = (blur + _moved(zeta, inverse)) * (mu + weight) + TINY / rise
        both = (np.abs(slope - zeta) + off) * (np.abs(mu - weight) + apart)
        return np.asarray(np.where(slack > 0, both, self._spread(mu) + mu * np.maximum(-slack, 0.0)))


def _moved(base: Array, exponent: float) -> Array:
    """How far a power may be off, relatively, because its exponent is off by 2u: 2u e |ln base|, and as much again."""
    return np.asarray(4 * U * exponent * np.abs(_logs(base)))


@dataclass(frozen=True)
class Entropy(SimplexBounds):
    """Σμ = 1 with σ Σμ log μ: R*(v) = σ log Σ exp(v/σ), which grows with every v."""

    smoothing: float = 1.0

    @property
    def steps(self) -> int:
        return POWER + 4

    def value(self, mu: Array) -> float:
        return total_above(self.smoothing * mu * _logs(mu), self.steps)

    def conjugate(self, v: Array, tau: float | None) -> float:
        top, log_total, _ = self._shares(v)
        return total_above([top, log_total, 2 * POWER * U * (log_total + self.smoothing * len(v))])

    def _shares(self, v: Array) -> tuple[float, float, Array]:
        """max v, σ log Σ exp((v − max v)/σ) and t ∝ exp(v/σ)."""
        top = float(v.max())
        raised = np.exp((v - top) / self.smoothing)
        return top, self.smoothing * math.log(raised.sum()), raised / raised.sum()

    def fenchel(self, mu: Array, low: Array, high: Array, tau: float | None) -> float:
        """At the middle of the interval it is σ Σ [μ log(μ/t) − μ + t], t ∝ exp(v/σ): no term is negative, or above
        σ(μ − t)²/t, which is used where it is less. Errors e of v move it by no more than max e + μ'e, nor by more than
        Σ|t − μ|e + (max e)²/(2σ): its gradient is t − μ, and its second derivative along e a variance over σ."""
        sigma, middle, errors = self.smoothing, (low + high) / 2, above((high - low) / 2)
        top, log_total, t = self._shares(middle)
        depth = np.minimum((top - middle) / sigma, 1e3)
        blur = (2 * POWER + 16 + 4 * len(mu) + 4 * depth) * U  # of t, relative
        off, logs = np.abs(mu - t) + blur * t, _logs(mu)
        counts = t > NOTHING
        near = np.where(counts, sigma * (square_over(off, np.where(counts, t * (1 - 2 * blur), 1.0)) + TINY), math.inf)
        far = np.where(mu > 0, mu * (sigma * logs + (top - middle) + log_total), 0.0) + sigma * (t - mu)
        size = mu * (sigma * np.abs(logs) + (top - middle) + 2 * log_total) + sigma * (t + mu)
        far = np.maximum(far, 0.0) + (2 * POWER + 4 * len(mu) + 8) * U * size + sigma * (blur * t + TINY) + TINY
        apart = total_above(np.minimum(near, far), 16)
        first = float(errors.max()) + float(mu @ errors)
        second = float((off + blur * t) @ errors) + float(square_over(errors.max(), sigma)) / 2
        return float(above(apart + min(first, second), len(mu)))


@dataclass(frozen=True)
class Divided(RegulariserBounds):
    """R of shares of the simplex, kernels weighing a share divided by `size`, a double, so that shares meet v/size."""

    shares: SimplexBounds
    size: float
    inexact: bool = True

    def feasible(self, mu: Array) -> Array:
        return self.shares.feasible(mu)

    def of_kernels(self, mu: Array) -> Array:
        return mu / self.size

    def ends(self, low: Array, high: Array) -> tuple[Array, Array]:
        """v/size from below and above."""
        return below(low / self.size, 1), above(high / self.size, 1)

    def value(self, mu: Array) -> float:
        return self.shares.value(mu)

    def conjugate(self, v: Array, tau: float | None) -> float:
        return self.shares.conjugate(self.ends(v, v)[1], tau)

    def fenchel(self, mu: Array, low: Array, high: Array, tau: float | None) -> float:
        return self.shares.fenchel(mu, *self.ends(low, high), tau)


def _logs(mu: Array) -> Array:
    return np.log(mu, out=np.zeros_like(mu), where=mu > 0)


@dataclass(frozen=True)
class BallBounds(RegulariserBounds):
    """‖μ‖_p ≤ 1: R*(v) = ‖v₊‖_{p/(p−1)}."""

    count: int
    p: float = 2.0

    def feasible(self, mu: Array) -> Array:
        mu = super().feasible(mu)
        size = lp.norm(mu, self.p) if mu.any() else 0.0
        mu = mu / size if 0 < size < math.inf else np.full(self.count, self.count ** (-1 / self.p))
        return np.asarray(mu * (1 - WITHIN))

    def held(self, mu: Array) -> Array:
        return np.minimum(self.feasible(mu), mu)

    def conjugate(self, v: Array, tau: float | None) -> float:
        v = np.maximum(v, 0.0)
        if self.p == 1:
            return float(v.max())
        exponent = self.p / (self.p - 1)  # off by 2u, which moves (v/max v)^exponent by less than 2u/e of the largest
        largest = float(v.max())
        if largest == 0:
            return 0.0
        powers = (v / largest) ** exponent
        total = total_above(powers, POWER + math.ceil(exponent) + 16) + len(v) * 4 * U
        return float(above(largest * total ** (1 / exponent), POWER + 24))


@dataclass(frozen=True)
class NetBounds(BallBounds):
    """rΣμ + (1−r)Σμ² ≤ 1: R*(v) ≤ τ + Σ(v − rτ)₊²/(4(1−r)τ)."""

    l1_ratio: float = 1.0

    def feasible(self, mu: Array) -> Array:
        mu = RegulariserBounds.feasible(self, mu)
        mu = mu if 0 < mu.sum() < math.inf else np.ones(self.count)
        return np.asarray(elastic.tight(mu / mu.max(), self.l1_ratio) * (1 - WITHIN))

    def threshold(self, v: Array) -> float:
        return elastic.threshold(np.maximum(v, 0.0), self.l1_ratio)

    def conjugate(self, v: Array, tau: float | None) -> float:
        v = np.maximum(v, 0.0)
        if self.l1_ratio == 1:
            return float(v.max())
        if not tau or tau <= TINY:  # μ ≤ 1 in the set
            return total_above(v)
        excess = np.maximum(v - self.l1_ratio * tau + 4 * U * (v + self.l1_ratio * tau), 0.0)
        return total_above(np.append(square_over(excess, 4 * (1 - self.l1_ratio) * tau), tau))


class BlockNet(NetBounds):
    """Σ rμ/(1 − (1−r)μ) ≤ 1, r > 0: R*(½d²) ≤ τ²/(2r) + Σ(d − τ)₊²/(2(1−r))."""

    def feasible(self, mu: Array) -> Array:
        """By the shares: rounding in them, and in the way back, moves every weight by a few u of itself, and the
        constraint grows with every weight."""
        mu = np.minimum(RegulariserBounds.feasible(self, mu), 1.0)
        shares = block_elastic.SHARES.value(mu, self.l1_ratio)
        shares = shares / shares.sum() if shares.any() else np.full(self.count, 1 / self.count)
        return np.asarray(block_elastic.OF_SHARES.value(shares, self.l1_ratio) * (1 - WITHIN))

    def threshold(self, v: Array) -> float:
        return block_elastic.threshold(np.sqrt(2 * np.maximum(v, 0.0)), self.l1_ratio)

    def conjugate(self, v: Array, tau: float | None) -> float:
        v, r = np.maximum(v, 0.0), self.l1_ratio
        if r == 1:
            return float(v.max())
        level, d = max(tau or 0.0, 0.0), np.sqrt(2 * v)
        excess = np.maximum(d - level + 4 * U * (d + level), 0.0)
        return total_above(np.append(square_over(excess, 2 * (1 - r)), square_over(level, 2 * r)))


@dataclass(frozen=True)
class PricedBounds(RegulariserBounds):
    """(λ²/2) Σμ: R*(v) = 0 where v ≤ λ²/2, and +∞ elsewhere. With 0 every multiple tα, t ≤ 1, is feasible, so an α that
    sees too much is shortened, until the largest q_m that rounding allows is at most λ²."""

    count: int
    lam: float

    def admitted(self, alpha: Array, look: Callable[[Array], S], feasible: Callable[[Array], Array]) -> tuple[Array, S]:
        spare = WITHIN
        while True:
            quad_forms = look(alpha)
            if self.conjugate(quad_forms.high / 2, None) == 0 or spare > 1:  # λ² underflows, nothing is admitted
                return alpha, quad_forms
            alpha = feasible(alpha * (self.lam / math.sqrt(float(quad_forms.high.max())) * (1 - min(spare, 1.0))))
            spare *= 4

    def value(self, mu: Array) -> float:
        return total_above(self.lam * (self.lam * mu) / 2)

    def conjugate(self, v: Array, tau: float | None) -> float:
        return 0.0 if (v <= below(self.lam**2 / 2)).all() else math.inf

    def fenchel(self, mu: Array, low: Array, high: Array, tau: float | None) -> float:
        return total_above(mu * (above(self.lam**2 / 2) - low)) if self.conjugate(high, tau) == 0 else math.inf


def regulariser_of(name: str, count: int, own: Mapping[str, Any]) -> Any:
    """The regulariser of a formulation with weights; None for those between groups."""
    kinds: dict[str, Any] = {
        "svm": lambda count: FixedBounds(np.ones(count)),
        "sum": lambda count: FixedBounds(np.ones(count)),
        "average": lambda count: FixedBounds(np.full(count, 1 / count), inexact=True),
        "l1": SimplexBounds,
        "sm1": Capped,
        "sm2": SquaredBounds,
        "smp": Powered,
        "entropy": Entropy,
        "square": Square,
        "l2": BallBounds,
        "lp": BallBounds,
        "elastic": NetBounds,
        "block_elastic": lambda count, l1_ratio: (
            BlockNet(count, 2.0, l1_ratio) if l1_ratio else FixedBounds(np.ones(count))
        ),
        "group_lasso": PricedBounds,
    }
    return kinds[name](count, **own) if name in kinds else None
