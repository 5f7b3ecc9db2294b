"""What single weights cost, for every regulariser: the φ of `weight_ranges`, from below and above.

**Straight**: R = 0 and s(x) = x up to a cap, so that φ = (cap − x)(v − κ)₊ + x(κ − v)₊; `l1` has μ_m ≤ ε/(max v − v_m)
of it. A price κ on the sum is the same without a cap.

**Curved**: r + κs = cx^p/p + ηx. Let h = cx^p/p, ζ = v − η, h'(x*) = ζ: φ is the integral of h' − ζ from x* to x. The
rule of midpoints bounds it from below where h' − ζ is convex on the way, that of trapezoids where it is concave; any x*
serves, since φ(x*) ≥ 0. From above, φ ≤ (h'(x) − ζ)(x − x*). Where ζ ≤ 0, φ = h(x) − xζ.

**Block**: s = rx/(1 − (1−r)x). With τ = √(2rκ), d = √(2v) and w = 1 − (1−r)x, φ = (τ − dw)²/(2(1−r)w) where d > τ, else
½x(τ²/w − d²).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formulations import block_elastic, elastic, lp, smp
from .regularisers import (
    BallBounds,
    BlockNet,
    Capped,
    NetBounds,
    Powered,
    RegulariserBounds,
    SimplexBounds,
    SquaredBounds,
)
from .rounding import POWER, STEPS, TINY, Array, U, above, below

PANELS = 4  # of the integral from x* to x


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
class LinearShape(Shape):
    """R = 0 for weights up to a cap, or a price on their sum, which is κ. `side` makes weights feasible."""

    cap: float = 1.0
    side: RegulariserBounds | None = None
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
class PowerShape(Shape):
    """r + κs = cx^p/p + ηx, p > 1: `bend` gives c and η at κ, `side` feasible weights, `first` the κ to start at."""

    p: float
    bend: Callable[[Array], tuple[Array, Array]]
    side: RegulariserBounds | None = None
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
        c, eta = self.bend(kappa)
        return np.asarray(np.minimum((np.maximum(v - eta, 0.0) / c) ** (1 / (self.p - 1)), self.cap))

    def beyond(self, x: Array, v: Array, kappa: Array, right: bool) -> Array:
        (c, eta), p, blur = self.bend(kappa), self.p, self.steps * U
        panels, off = 1 if p == 2 else PANELS, self._off(v, c, eta)
        zeta, least, sign = v - eta, self.best(v, kappa), 1 if right else -1

        def ahead(t: Array) -> Array:
            """±(h'(t) − ζ) from below."""
            slope = c * t ** (p - 1)
            return np.asarray(sign * (slope - zeta) - off - blur * (slope + np.abs(zeta)))

        width, rule = np.abs(x - least) * (1 - 8 * U) / panels, np.zeros(np.broadcast_shapes(x.shape, least.shape))
        for panel in range(panels):
            ends = [least + share / panels * (x - least) for share in (panel, panel + 1)]
            middle = ahead((ends[0] + ends[1]) / 2)
            rule = rule + (middle if (p >= 2) == right else (ahead(ends[0]) + ahead(ends[1])) / 2)
        integral = width * (rule - 8 * U * np.abs(rule))
        alone = x * ((1 - blur) * c * x ** (p - 1) / p - (zeta + off))  # where ζ ≤ 0
        return np.asarray(below(np.maximum(np.where(zeta > 0, integral, alone if right else 0.0), 0.0)))

    def _off(self, v: Array, c: Array, eta: Array) -> Array:
        """The error of h' − ζ beside that of the power, and what underflow takes from both."""
        return np.asarray(4 * U * (np.abs(v) + np.abs(eta)) + TINY * (1 if self.p == 2 else 1 + c))

    def cost(self, x: Array, v: Array, kappa: Array) -> Array:
        """By convexity (h'(x) − ζ)(x − x*), of which quadratics are one half."""
        (c, eta), p, blur = self.bend(kappa), self.p, self.steps * U
        off = self._off(v, c, eta)
        zeta, slope = v - eta, c * x ** (p - 1)
        ends = [(np.maximum(zeta + side * off, 0.0) / c) ** (1 / (p - 1)) for side in (-1, 1)]
        apart = np.maximum(*(np.abs(x - end) + blur * (x + end) for end in ends)) + TINY
        bowl = (np.abs(slope - zeta) + off + blur * (slope + np.abs(zeta))) * apart * (0.5 if p == 2 else 1.0)
        alone = x * ((1 + blur) * slope / p + np.maximum(-zeta, 0.0) + off)
        return np.asarray(above(np.where(zeta > off, bowl, np.maximum(alone, bowl))))

    def start(self, v: Array) -> tuple[float, Array]:
        kappa = 0.0 if self.first is None else self.first(np.maximum(v, 0.0))
        mu = self.best(v, np.full(1, kappa))
        return kappa, mu if self.side is None else self.side.feasible(mu)

    def reach(self, v: Array, kappa: Array, excess: Array) -> Array:
        if math.isfinite(self.cap):
            return super().reach(v, kappa, excess)
        return np.asarray(2 * (self.best(v, kappa) + np.sqrt(2 * excess / self.bend(kappa)[0])))


@dataclass(frozen=True)
class Block(Shape):
    """s(x) = rx/(1 − (1−r)x), 0 < r < 1."""

    side: RegulariserBounds
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

    def _levels(self, v: Array, kappa: Array) -> tuple[Array, Array]:
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
        return kappa, self.side.feasible(self.best(v, np.full(1, kappa)))


# ------------------------------------------------------------------------------------------------------- the table
def _ball(count: int, p: float = 2.0) -> Shape:
    if p == 1:
        return LinearShape()
    return PowerShape(
        p,
        lambda kappa: (p * kappa, np.zeros_like(kappa)),
        BallBounds(count, p),
        lambda v: lp.norm(v, p / (p - 1)) / p,
        lambda x: x**p,
        lambda share: share ** (1 / p),
    )


def _net(count: int, l1_ratio: float) -> Shape:
    r, side = l1_ratio, NetBounds(count, 2.0, l1_ratio)
    if r == 1:
        return LinearShape()
    return PowerShape(
        2.0,
        lambda kappa: (2 * (1 - r) * kappa, r * kappa),
        side,
        lambda v: elastic.threshold(v, r),
        lambda x: r * x + (1 - r) * x**2,
        lambda share: 2 * share / np.maximum(r + np.sqrt(r**2 + 4 * (1 - r) * share), TINY),  # 0 of 0, also for r = 0
    )


def _block(count: int, l1_ratio: float) -> Shape | None:
    if l1_ratio in (0, 1):
        return LinearShape() if l1_ratio else None
    return Block(BlockNet(count, 2.0, l1_ratio), l1_ratio)


def _sm1(count: int, theta: float) -> Shape:
    side = Capped(count, theta)
    return LinearShape(min(side.cap, 1.0), side)


def _sm2(count: int, theta: float) -> Shape:
    side = SquaredBounds(count, theta)
    return PowerShape(
        2.0, lambda kappa: (np.full_like(kappa, 1 / theta), kappa), side, lambda v: side.threshold(v) or 0.0
    )


def _smp(count: int, theta: float, p: float) -> Shape:
    side = Powered(count, theta, p)
    return PowerShape(
        p, lambda kappa: (np.full_like(kappa, smp.rise(theta, p) ** (p - 1)), kappa), side, side.threshold
    )


def _quadratic(curvature: float) -> Shape:
    return PowerShape(2.0, lambda kappa: (np.full_like(kappa, curvature), np.zeros_like(kappa)))


def _on_simplex(count: int, **_: float) -> Shape:
    return LinearShape(side=SimplexBounds(count))


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
    "group_lasso": lambda count, lam: LinearShape(math.inf, fixed=lam**2 / 2),
    "ml_sum": _on_simplex,
    "ml_minimax": _on_simplex,
    "ts": lambda count, lam: _quadratic(lam),
    "ts_l1": lambda count, lam: LinearShape(math.inf, fixed=lam),
    "hypergraph": _on_simplex,
}


def shape_of(name: str, parameters: Mapping[str, Any], count: int) -> Shape | None:
    """The shape of a formulation's weights; None where they are given, or it has none."""
    own = {key: float(parameters[key]) for key in OWN if key in parameters}
    return SHAPES[name](count, **own) if name in SHAPES else None
