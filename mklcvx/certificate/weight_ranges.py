"""Outer ranges of weights: intervals that contain every kernel's weight in every answer that is good enough.

J(μ) = R(μ) + sup over α ∈ S of [gain(α) − ½μ'q(α)] is what weights are worth. No answer with these weights costs less,
whatever its functions are. Let α ∈ S be the point of the certificate, v = ½q(α), and D = gain(α) − R*(v) ≤ J(μ) exactly.

**Theorem.** Every μ with J(μ) ≤ D + ε has  F(μ) = R(μ) + R*(v) − μ'v ≤ ε.

*Proof.* J(μ) ≥ R(μ) + gain(α) − μ'v = D + F(μ). ∎  With ε at least the certificate's gap, the answer found is among
these μ, and every optimum.

F is known, and convex. Wherever R is a sum of r(μ_m), on weights with Σ s(μ_m) = 1 or ≤ 1, it is separable, up to what
the constraint leaves over: for every κ (κ ≥ 0 where it is ≤)

    F_κ(μ) = Σ_m φ_m(μ_m) + κ(1 − Σ s(μ_m)),    φ_m(x) = r(x) + κ s(x) − x v_m + sup over x' of [x'v_m − r(x') − κ s(x')],

no term of which is negative, is F(μ) plus a constant: the price of κ, F_κ at the μ̂ where F is 0, and at most F_κ(μ̂) for
any μ̂. So φ_m(μ_m) ≤ ε + F_κ(μ̂) for every m and κ, and where φ_m exceeds that right of its minimum, no weight lies
beyond. Several κ are tried, and their intervals intersected: the best one is exact, by duality of min and max μ_m over
{F ≤ ε}. At last Σ s(μ_m) = 1, or ≥ 1 − (ε + F_κ(μ̂))/κ, bounds every weight by the ends of the others.

**Rounding.** v is known within an interval. Right of its minimum φ_m falls with v_m, left of it it grows: the upper end is
put in for the right end of a weight, and the lower end for the left one. φ_m is evaluated from below, F_κ(μ̂) from above,
and an end is a double at which φ_m was seen to be too large, found by bisection, whose accuracy proves nothing.

The shapes. *Linear*, s(x) = x up to a cap: φ = (cap − x)(v − κ)₊ + x(κ − v)₊; for `l1` it gives μ_m ≤ ε/(max v − v_m).
*Powers*, r + κs = cx^p/p + ρx with h = cx^p/p, ζ = v − ρ and x* where h'(x*) = ζ: φ is the integral of h' − ζ from x* to
x, which the rule of midpoints bounds from below where h' − ζ is convex there, that of trapezoids where it is concave;
any x* serves, since φ(x*) ≥ 0. Where ζ ≤ 0, φ = h(x) − xζ. *Block nets*, s = rx/(1 − (1−r)x): with τ = √(2rκ), d = √(2v)
and w = 1 − (1−r)x, φ = (τ − dw)²/(2(1−r)w) where d > τ, else ½x(τ²/w − d²).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formulations import block_elastic, elastic, lp, smp
from .record import Certificate
from .regularisers import Ball, BlockNet, Capped, Net, Powered, Regulariser, Simplex, Squared
from .rounding import POWER, STEPS, Array, U, above, below, total_above, total_below

Ends = tuple[Array, Array]
HALVINGS = 80
DEAREST = 8.0  # times ε: the price of a κ that is worth a try
MOST = 16  # κ that are tried
NEAR = 4  # values v on either side of κ that are tried as well


class Shape(ABC):
    """φ of a regulariser. `total` says that Σ s = 1, `within` that Σ s ≤ 1; without either R is separable by itself.
    Weights lie between 0 and the cap."""

    total: bool = False
    within: bool = False
    cap: float = math.inf
    steps: int = STEPS

    @abstractmethod
    def best(self, v: Array, kappa: Array) -> Array:
        """Where φ is least, up to rounding."""

    @abstractmethod
    def beyond(self, x: Array, v: Array, kappa: Array, right: bool) -> Array:
        """φ(x) from below, for x right or left of its minimum."""

    @abstractmethod
    def cost(self, x: Array, v: Array, kappa: Array) -> Array:
        """φ(x) from above, anywhere."""

    @abstractmethod
    def start(self, v: Array) -> tuple[float, Array]:
        """κ and μ̂ next to those where F is 0; μ̂ satisfies the constraint exactly."""

    def share(self, x: Array) -> Array:
        return x

    def of_share(self, share: Array) -> Array:
        return share

    def reach(self, v: Array, kappa: Array, excess: Array) -> Array:
        """A weight that is surely too large if any is, where there is no cap."""
        return np.full(np.broadcast_shapes(v.shape, kappa.shape, excess.shape), self.cap)


@dataclass(frozen=True)
class Straight(Shape):
    """R = 0 for weights up to a cap, or a price on their sum, which is κ. `side` makes weights feasible."""

    cap: float = 1.0
    side: Regulariser | None = None
    fixed: float | None = None

    @property
    def total(self) -> bool:  # type: ignore[override]
        return self.side is not None

    @property
    def within(self) -> bool:  # type: ignore[override]
        return self.side is None and self.fixed is None

    def best(self, v: Array, kappa: Array) -> Array:
        return np.where((v > kappa) & np.isfinite(self.cap), self.cap, 0.0)

    def beyond(self, x: Array, v: Array, kappa: Array, right: bool) -> Array:
        away = (kappa - v if right else v - kappa) - 4 * U * (np.abs(v) + np.abs(kappa))
        return np.asarray(below((x if right else self.cap - x) * np.maximum(away, 0.0)))

    def cost(self, x: Array, v: Array, kappa: Array) -> Array:
        return np.asarray(above((self.cap - x) * np.maximum(v - kappa, 0.0) + x * np.maximum(kappa - v, 0.0)))

    def start(self, v: Array) -> tuple[float, Array]:
        """The kernels with the largest v, up to the cap."""
        if self.fixed is not None:
            return self.fixed, np.zeros(len(v))
        order, left, mu, kappa = np.argsort(-v, kind="stable"), 1.0, np.zeros(len(v)), float(v.max())
        for m in order:
            if left <= 0:
                break
            mu[m], kappa = min(self.cap, left), float(v[m])
            left -= mu[m]
        return kappa, mu if self.side is None else self.side.feasible(mu)

    def reach(self, v: Array, kappa: Array, excess: Array) -> Array:
        if math.isfinite(self.cap):
            return super().reach(v, kappa, excess)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(kappa > v, 2 * excess / (kappa - v), math.inf))


@dataclass(frozen=True)
class Curved(Shape):
    """r + κs = cx^p/p + ρx, p > 1: `bend` gives c and ρ at κ, `side` the feasible weights, `first` the κ to start at."""

    p: float
    bend: Callable[[Array], tuple[Array, Array]]
    side: Regulariser | None = None
    first: Callable[[Array], float] | None = None
    to_share: Callable[[Array], Array] | None = None
    from_share: Callable[[Array], Array] | None = None

    @property
    def cap(self) -> float:  # type: ignore[override]
        return math.inf if self.side is None else 1.0

    @property
    def total(self) -> bool:  # type: ignore[override]
        return self.side is not None and self.to_share is None

    @property
    def within(self) -> bool:  # type: ignore[override]
        return self.to_share is not None

    @property
    def steps(self) -> int:  # type: ignore[override]
        """Of c, of powers of x, and of the root that x* is."""
        return POWER + math.ceil(8 * max(self.p, self.p / (self.p - 1))) + 16

    def share(self, x: Array) -> Array:
        return x if self.to_share is None else self.to_share(x)

    def of_share(self, share: Array) -> Array:
        return share if self.from_share is None else self.from_share(share)

    def best(self, v: Array, kappa: Array) -> Array:
        c, rho = self.bend(kappa)
        return np.asarray(np.minimum((np.maximum(v - rho, 0.0) / c) ** (1 / (self.p - 1)), self.cap))

    def beyond(self, x: Array, v: Array, kappa: Array, right: bool) -> Array:
        (c, rho), p, blur = self.bend(kappa), self.p, self.steps * U
        off = 4 * U * (np.abs(v) + np.abs(rho))
        zeta, least, sign = v - rho, self.best(v, kappa), 1 if right else -1

        def ahead(t: Array) -> Array:
            """±(h'(t) − ζ) from below."""
            slope = c * t ** (p - 1)
            return np.asarray(sign * (slope - zeta) - off - blur * (slope + np.abs(zeta)))

        middle = (p >= 2) == right
        rule = ahead((x + least) / 2) if middle else (ahead(x) + ahead(least)) / 2
        found = np.abs(x - least) * (1 - 4 * U) * rule
        alone = (1 - blur) * c * x**p / p - x * (zeta + off)  # where ζ ≤ 0
        return np.asarray(below(np.maximum(np.where(zeta > 0, found, alone if right else 0.0), 0.0)))

    def cost(self, x: Array, v: Array, kappa: Array) -> Array:
        """By convexity (h'(x) − ζ)(x − x*), of which quadratics are one half."""
        (c, rho), p, blur = self.bend(kappa), self.p, self.steps * U
        off = 4 * U * (np.abs(v) + np.abs(rho))
        zeta, slope = v - rho, c * x ** (p - 1)
        ends = [(np.maximum(zeta + side * off, 0.0) / c) ** (1 / (p - 1)) for side in (-1, 1)]
        apart = np.maximum(*(np.abs(x - end) + blur * (x + end) for end in ends))
        bowl = (np.abs(slope - zeta) + off + blur * (slope + np.abs(zeta))) * apart * (0.5 if p == 2 else 1.0)
        alone = (1 + blur) * c * x**p / p + x * (np.maximum(-zeta, 0.0) + off)
        return np.asarray(above(np.where(zeta > off, bowl, np.maximum(alone, bowl))))

    def start(self, v: Array) -> tuple[float, Array]:
        kappa = 0.0 if self.first is None else self.first(np.maximum(v, 0.0))
        mu = self.best(v, np.float64(kappa))
        return kappa, mu if self.side is None else self.side.feasible(mu)

    def reach(self, v: Array, kappa: Array, excess: Array) -> Array:
        if math.isfinite(self.cap):
            return super().reach(v, kappa, excess)
        return np.asarray(2 * (self.best(v, kappa) + np.sqrt(2 * excess / self.bend(kappa)[0])))


@dataclass(frozen=True)
class Block(Shape):
    """s(x) = rx/(1 − (1−r)x), 0 < r < 1."""

    side: Regulariser
    r: float
    cap: float = 1.0
    within: bool = True

    @property
    def steps(self) -> int:  # type: ignore[override]
        """w lies between r and 1, and is off by 3u."""
        return 24 + math.ceil(16 / self.r)

    def share(self, x: Array) -> Array:
        return np.asarray(self.r * x / (1 - (1 - self.r) * x))

    def of_share(self, share: Array) -> Array:
        return np.asarray(share / (self.r + (1 - self.r) * share))

    def _levels(self, v: Array, kappa: Array) -> Ends:
        return np.sqrt(2 * self.r * kappa), np.sqrt(2 * np.maximum(v, 0.0))

    def best(self, v: Array, kappa: Array) -> Array:
        tau, d = self._levels(v, kappa)
        least = 1 - np.divide(tau, d, out=np.ones(np.broadcast_shapes(tau.shape, d.shape)), where=d > tau)
        return np.asarray(np.minimum(least / (1 - self.r), 1.0))

    def beyond(self, x: Array, v: Array, kappa: Array, right: bool) -> Array:
        return self._at(x, v, kappa, -1)

    def cost(self, x: Array, v: Array, kappa: Array) -> Array:
        return self._at(x, v, kappa, 1)

    def _at(self, x: Array, v: Array, kappa: Array, sign: int) -> Array:
        """φ from above or below, by the sign."""
        (tau, d), blur = self._levels(v, kappa), self.steps * U
        w = 1 - (1 - self.r) * x
        apart = np.maximum(np.abs(tau - d * w) + sign * blur * (tau + d * w), 0.0)
        bowl = apart**2 / (2 * (1 - self.r) * w) * (1 + sign * blur) + sign * (blur * d) ** 2 / (1 - self.r)
        alone = x * np.maximum(tau**2 / w - d**2 + sign * blur * (tau**2 / w + d**2), 0.0) / 2
        both = above if sign > 0 else below
        return np.asarray(np.maximum(both(np.where(d > tau, bowl, alone)), 0.0))

    def start(self, v: Array) -> tuple[float, Array]:
        tau = block_elastic.threshold(np.sqrt(2 * np.maximum(v, 0.0)), self.r)
        kappa = tau**2 / (2 * self.r)
        return kappa, self.side.feasible(self.best(v, np.float64(kappa)))


# ------------------------------------------------------------------------------------------------------- the ranges
def weights_interval(
    name: str, parameters: Mapping[str, Any], weights: Array, slopes: Array | None, certificate: Certificate,
    tolerance: float | None = None,
) -> Array | None:  # fmt: skip
    """As `Solution.weights_interval`, which has the words."""
    if name not in SHAPES:
        return None
    shape = shape_of(name, parameters, len(weights))
    if shape is None:
        return np.stack([weights, weights], axis=1)
    if slopes is None:
        return None
    wanted = 0.0 if tolerance is None else float(above(tolerance * certificate.base))
    return np.stack(outer(shape, *slopes, max(certificate.gap, wanted)), axis=1)


def shape_of(name: str, parameters: Mapping[str, Any], count: int) -> Shape | None:
    """The shape of a formulation's weights; None where they are given, or it has none."""
    own = {key: float(parameters[key]) for key in OWN if key in parameters}
    return SHAPES[name](count, **own) if name in SHAPES else None


@np.errstate(all="ignore")
def outer(shape: Shape, low: Array, high: Array, excess: float) -> Ends:
    """Ends of every weight over {μ: F(μ) ≤ excess}, v between `low` and `high`."""
    nothing, numbers = (np.zeros(len(low)), np.full(len(low), shape.cap)), np.array([*low, *high, excess])
    if not np.isfinite(numbers).all() or not excess >= 0:
        return nothing
    kappa, mu = shape.start((low + high) / 2)
    if shape.within and not kappa > 0:
        return nothing
    kappas, prices = np.array([[kappa]]), np.zeros(1)
    if shape.total or shape.within:
        kappas = _candidates(shape, (low + high) / 2, kappa)[:, None]
        prices = _prices(shape, low, high, mu, kappas)
        tried = _worth_trying(kappas[:, 0], prices, DEAREST * excess)
        kappas, prices = kappas[tried], prices[tried]
    budgets = above(excess + prices)[:, None]
    left, right = _left(shape, low, kappas, budgets), _right(shape, high, kappas, budgets)
    ends = np.max(left, axis=0), np.min(right, axis=0)
    return _shared(shape, *ends, 1.0 if shape.total else _least_total(kappa, float(budgets[0, 0])))


def _candidates(shape: Shape, v: Array, kappa: float) -> Array:
    """κ itself first, then others on both sides of it, and the nearest v."""
    size = max(abs(kappa), float(np.ptp(v)), float(np.abs(v).max()) * 2.0**-20)
    steps, order = size * 2.0 ** -np.arange(0.0, 50.0), np.sort(v)
    at = int(np.searchsorted(order, kappa))
    found = np.concatenate([[kappa], kappa - steps, kappa + steps, order[max(at - NEAR, 0) : at + NEAR]])
    return found[found > 0] if shape.within else found


def _worth_trying(kappas: Array, prices: Array, dearest: float) -> list[int]:
    """The first one, and on either side of it the farthest that are not too dear."""
    found = [0]
    for side in (-1, 1):
        there = np.flatnonzero((prices <= dearest) & (side * (kappas - kappas[0]) > 0))
        found += there[np.argsort(-np.abs(kappas[there] - kappas[0]))][: MOST // 2].tolist()
    return found


def _prices(shape: Shape, low: Array, high: Array, mu: Array, kappas: Array) -> Array:
    """F_κ(μ̂) from above, for every κ: convex in v, so largest at an end."""
    terms = np.maximum(*(shape.cost(mu[None], v[None], kappas) for v in (low, high)))
    left = 0.0 if shape.total else max(1 - total_below(shape.share(mu), shape.steps), 0.0)
    found = [total_above([*row, float(above(kappa * left))]) for row, kappa in zip(terms, kappas[:, 0], strict=True)]
    return np.nan_to_num(np.array(found), nan=math.inf)


def _right(shape: Shape, v: Array, kappas: Array, budgets: Array) -> Array:
    """Weights at which φ is seen to be too large, right of its minimum; the cap where none is."""
    inner = shape.best(v[None], kappas)
    outside = np.maximum(shape.reach(v[None], kappas, budgets), inner)
    finite = np.where(np.isfinite(outside), outside, 0.0)
    too_large = (shape.beyond(finite, v[None], kappas, right=True) > budgets) & np.isfinite(outside)
    inner, outer_end = np.where(too_large, inner, 0.0), np.where(too_large, outside, 0.0)
    for _ in range(HALVINGS):
        middle = (inner + outer_end) / 2
        far = shape.beyond(middle, v[None], kappas, right=True) > budgets
        inner, outer_end = np.where(far, inner, middle), np.where(far, middle, outer_end)
    return np.where(too_large, outer_end, shape.cap)


def _left(shape: Shape, v: Array, kappas: Array, budgets: Array) -> Array:
    """Weights at which φ is seen to be too large, left of its minimum; 0 where none is."""
    inner = np.broadcast_to(shape.best(v[None], kappas), np.broadcast_shapes(kappas.shape, v[None].shape))
    outer_end = np.zeros(inner.shape)
    too_large = (shape.beyond(outer_end, v[None], kappas, right=False) > budgets) & (inner > 0)
    inner = np.where(too_large, inner, 0.0)
    for _ in range(HALVINGS):
        middle = (inner + outer_end) / 2
        far = shape.beyond(middle, v[None], kappas, right=False) > budgets
        inner, outer_end = np.where(far, inner, middle), np.where(far, middle, outer_end)
    return outer_end


def _least_total(kappa: float, budget: float) -> float:
    """Σ s from below where it is at most 1: κ(1 − Σ s) ≤ budget."""
    return float(below(1 - above(budget / kappa))) if kappa > 0 else 0.0


def _shared(shape: Shape, low: Array, high: Array, total: float) -> Ends:
    """The ends, tightened by what the others leave over of Σ s, which is between `total` and 1."""
    if not (shape.total or shape.within):
        return low, high
    steps = shape.steps + len(low) + 8
    least, most = shape.share(low), shape.share(high)
    others_least = np.maximum(below(math.fsum(least) - least, 2) - steps * U * math.fsum(least), 0.0)
    others_most = above(math.fsum(most) - most, 2) + steps * U * math.fsum(most)
    room, rest = above(1 - others_least), np.maximum(below(total - others_most), 0.0)
    high = np.minimum(high, above(shape.of_share(np.clip(room, 0.0, 1.0)), steps))
    low = np.maximum(low, np.maximum(below(shape.of_share(np.clip(rest, 0.0, 1.0)), steps), 0.0))
    return low, np.minimum(high, shape.cap)


# ------------------------------------------------------------------------------------------------------- the table
def _ball(count: int, p: float = 2.0) -> Shape:
    if p == 1:
        return Straight()
    return Curved(
        p,
        lambda kappa: (p * kappa, np.zeros_like(kappa)),
        Ball(count, p),
        lambda v: lp.norm(v, p / (p - 1)) / p,
        lambda x: x**p,
        lambda share: share ** (1 / p),
    )


def _net(count: int, l1_ratio: float) -> Shape:
    r, side = l1_ratio, Net(count, 2.0, l1_ratio)
    if r == 1:
        return Straight()
    return Curved(
        2.0,
        lambda kappa: (2 * (1 - r) * kappa, r * kappa),
        side,
        lambda v: elastic.threshold(v, r),
        lambda x: r * x + (1 - r) * x**2,
        lambda share: 2 * share / (r + np.sqrt(r**2 + 4 * (1 - r) * share)),
    )


def _block(count: int, l1_ratio: float) -> Shape | None:
    if l1_ratio in (0, 1):
        return Straight() if l1_ratio else None
    return Block(BlockNet(count, 2.0, l1_ratio), l1_ratio)


def _sm1(count: int, theta: float) -> Shape:
    side = Capped(count, theta)
    return Straight(min(side.cap, 1.0), side)


def _sm2(count: int, theta: float) -> Shape:
    side = Squared(count, theta)
    return Curved(2.0, lambda kappa: (np.full_like(kappa, 1 / theta), kappa), side, side.threshold)


def _smp(count: int, theta: float, p: float) -> Shape:
    side = Powered(count, theta, p)
    return Curved(p, lambda kappa: (np.full_like(kappa, smp.rise(theta, p) ** (p - 1)), kappa), side, side.threshold)


def _quadratic(curvature: float) -> Shape:
    return Curved(2.0, lambda kappa: (np.full_like(kappa, curvature), np.zeros_like(kappa)))


def _on_simplex(count: int, **_: float) -> Shape:
    return Straight(side=Simplex(count))


OWN = ("theta", "p", "l1_ratio", "lam")
# By formulation, from the number of kernels and its own parameters; None where weights are given.
SHAPES: dict[str, Callable[..., Shape | None]] = {
    **dict.fromkeys(("svm", "sum", "average"), lambda count: None),
    "l1": _on_simplex,
    "sm1": _sm1,
    "sm2": _sm2,
    "smp": _smp,
    "square": lambda count, theta: _quadratic(1 / theta),
    "l2": _ball,
    "lp": _ball,
    "elastic": _net,
    "block_elastic": _block,
    "group_lasso": lambda count, lam: Straight(math.inf, fixed=lam**2 / 2),
    "ml_sum": _on_simplex,
    "ml_minimax": _on_simplex,
    "ts": lambda count, lam: _quadratic(lam),
    "ts_l1": lambda count, lam: Straight(math.inf, fixed=lam),
    "hypergraph": _on_simplex,
}
