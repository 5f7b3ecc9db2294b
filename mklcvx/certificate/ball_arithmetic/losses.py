"""Losses in exact numbers and balls: what one sample gains from α, and what its residual costs, from above.

With r = a − sz (plus ρ where the margin is free) a sample costs sup over α̂ of h(α̂) + rα̂, low ≤ α̂ ≤ high, and gains
h(α) + aα. Its price c and the ends of its box are the doubles that NumPy makes of their products, and part of the
problem; every quotient is exact. A ridge adds ½(Aα̂² − 2Bα̂ + D) under the supremum.

**Piecewise quadratic.** h = −ε|α| − ½κα²: parabolas on either side of 0. Each side's supremum grows with its slope, so
that it is evaluated exactly at both ends of the ball of r.

**Entropic** (logistic, a = 0). h(α) = −α log(α/c) − (c − α) log(1 − α/c) is concave, and so is the sum G with a ridge
where Ac ≤ 4, since h'' ≤ −4/c. A concave function lies below its tangents: G ≤ G(x) + max(G'(x)(c − x), −G'(x)x) for
any x within (0, c), such as one near the maximiser c/(1 + e^(B − r − Ax)). In any case the supremum is at most that
without a ridge, c log(1 + e^r), and the ridge's largest value, which is at an end of the box.

**Counted** (Poisson, a = 0). With H = cy, h(α) = H log(H/c) − H − u log(u/c) + u, u = H − α, and without a ridge the
cost is c e^(−r) + Hr + H log(H/c) − H. No optimal α is below the low end −4 Σ c(1 + y√y), so that h'' ≤ −1/(H − low),
and G lies below its tangents where A is at most that; the maximiser is H − c e^(B − r − Ax).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from flint import arb, fmpq

from .balls import ONE, ZERO, Array, exact, middle, total

FAR = 600  # log-odds from which on no tangent is sought
HALVINGS = 200


class Bend(NamedTuple):
    """A, B and D of ½(Aα̂² − 2Bα̂ + D)."""

    square: fmpq = ZERO
    linear: fmpq = ZERO
    constant: fmpq = ZERO

    def at(self, alpha: fmpq) -> fmpq:
        return (self.square * alpha**2 - 2 * self.linear * alpha + self.constant) / 2


@dataclass(frozen=True)
class Quadratic:
    """None is infinite; κ > 0 there."""

    rational: ClassVar[bool] = True  # so are the optimal α of rational problems

    a: fmpq
    epsilon: fmpq
    kappa: fmpq
    low: fmpq | None
    high: fmpq | None

    def gain(self, alpha: fmpq) -> fmpq:
        return self.a * alpha - self.epsilon * abs(alpha) - self.kappa * alpha**2 / 2

    def cost(self, r: arb, bend: Bend) -> arb:
        ends = [middle(end) - bend.linear for end in (r.lower(), r.upper())]
        curvature, under = self.kappa - bend.square, None if self.low is None else -self.low
        above = [_largest(end - self.epsilon, curvature, self.high) for end in ends]
        below = [_largest(-end - self.epsilon, curvature, under) for end in ends]
        if None in above or None in below:
            return arb.pos_inf()
        sides = (_around(side) for side in (above, below))
        return next(sides).max(next(sides)) + arb(bend.constant) / 2

    def maximiser(self, r: fmpq) -> fmpq:
        """The α that the residual calls for, where κ > 0."""
        excess = max(r - self.epsilon, ZERO) + min(r + self.epsilon, ZERO)
        return clipped(excess / self.kappa, self.low, self.high)

    def called_for(self, r: arb) -> arb:
        """The size of the maximiser, from above, where κ > 0."""
        return arb(max(abs(self.maximiser(middle(end))) for end in (r.lower(), r.upper())))

    @staticmethod
    def least_bias(losses: Sequence[Any], signs: Sequence[int], f: Sequence[fmpq]) -> fmpq:
        """The b that makes Σ cost least."""
        rows = list(zip(losses, signs, f, strict=True))
        kinks = [sign * (one.a - side * one.epsilon) - value for side in (1, -1) for one, sign, value in rows]
        if all(one.kappa == 0 for one in losses):
            slopes = [*(one.high for one in losses), *(-one.low for one in losses)]
            return flat_bottom(kinks, slopes, total(one.high if sign > 0 else -one.low for one, sign, _ in rows))
        corners = [
            sign * (one.a - side * one.epsilon - one.kappa * end) - value
            for one, sign, value in rows
            for side, end in ((1, one.high), (-1, one.low))
            if end is not None
        ]

        def pull(b: fmpq) -> fmpq:
            return total(sign * one.maximiser(one.a - sign * (value + b)) for one, sign, value in rows)

        return zero_of(pull, sorted({*kinks, *corners}))


@dataclass(frozen=True)
class Entropic:
    """The logistic loss; c is `high`."""

    rational: ClassVar[bool] = False
    a: ClassVar[fmpq] = ZERO
    low: ClassVar[fmpq] = ZERO

    high: fmpq

    @property
    def kappa(self) -> fmpq:
        """The least curvature."""
        return 4 / self.high

    def gain(self, alpha: fmpq) -> arb:
        parts = [part for part in (alpha, self.high - alpha) if part != 0]
        return -sum((arb(part) * arb(part / self.high).log() for part in parts), arb(0))

    def cost(self, r: arb, bend: Bend) -> arb:
        c = self.high
        far = arb(c) * (r.max(arb(0)) + (-abs(r)).exp().log1p())
        apart = far + arb(max(bend.at(ZERO), bend.at(c)))
        if bend == Bend():
            return far
        shift = r - arb(bend.linear)
        if bend.square > self.kappa or not abs(shift) + arb(bend.square * c) < FAR:
            return apart
        x = c / 2
        for _ in range(4):
            odds = (shift + arb(bend.square * x)).mid()
            x = middle((arb(c) / (1 + (-odds).exp())).mid())
        if not 0 < x < c:
            return apart
        slope = shift + arb(bend.square * x) + (arb(c - x) / arb(x)).log()
        rise = (slope * arb(c - x)).max(-slope * arb(x))
        tangent = self.gain(x) + r * arb(x) + arb(bend.at(x)) + rise
        return min(tangent, apart, key=lambda ball: ball.upper())

    def called_for(self, r: arb) -> arb:
        return arb(self.high) / (1 + (-r.upper()).exp())

    @staticmethod
    def least_bias(losses: Sequence[Any], signs: Sequence[int], f: Sequence[fmpq]) -> fmpq:
        """By halving, in doubles: the cost is smooth, and little depends on the last digits."""
        origin = sorted(f)[len(f) // 2]  # no large constant is to be rounded
        rows = [
            (float(one.high.p) / float(one.high.q), s, float(arb(v - origin)))
            for one, s, v in zip(losses, signs, f, strict=True)
        ]
        low = high = 0.0
        while _slope(rows, low) < 0 and low > -1e9:
            low = 2 * low - 1
        while _slope(rows, high) > 0 and high < 1e9:
            high = 2 * high + 1
        for _ in range(HALVINGS):
            half = (low + high) / 2
            low, high = (half, high) if _slope(rows, half) > 0 else (low, half)
        return exact(low) - origin


@dataclass(frozen=True)
class Counted:
    """The Poisson loss; H is `high`."""

    rational: ClassVar[bool] = False
    a: ClassVar[fmpq] = ZERO

    price: fmpq
    low: fmpq
    high: fmpq

    @property
    def kappa(self) -> fmpq:
        """The least curvature."""
        return 1 / (self.high - self.low)

    def _entropy(self, u: fmpq) -> arb:
        return arb(u) * arb(u / self.price).log() - arb(u) if u != 0 else arb(0)

    def gain(self, alpha: fmpq) -> arb:
        return self._entropy(self.high) - self._entropy(self.high - alpha)

    def cost(self, r: arb, bend: Bend) -> arb:
        if not -r < FAR**2:
            return arb.pos_inf()
        plain = arb(self.price) * (-r).exp() + arb(self.high) * r + self._entropy(self.high)
        apart = plain + arb(max(bend.at(self.low), bend.at(self.high)))
        if bend == Bend():
            return plain
        shift, x = r - arb(bend.linear), self.high
        if bend.square > self.kappa or not abs(shift) + arb(bend.square * (self.high - self.low)) < FAR:
            return apart
        for _ in range(4):
            x = max(self._called_for((shift + arb(bend.square * x)).mid()), self.low)
        if not x < self.high:
            return apart
        slope = shift + arb(bend.square * x) + arb((self.high - x) / self.price).log()
        rise = (slope * arb(self.high - x)).max(-slope * arb(x - self.low))
        tangent = self.gain(x) + r * arb(x) + arb(bend.at(x)) + rise
        return min(tangent, apart, key=lambda ball: ball.upper())

    def _called_for(self, r: arb) -> fmpq:
        return middle((arb(self.high) - arb(self.price) * (-r).exp()).mid())

    def called_for(self, r: arb) -> arb:
        return abs(arb(self.high) - arb(self.price) * (-r).exp()).upper()

    @staticmethod
    def least_bias(losses: Sequence[Any], signs: Sequence[int], f: Sequence[fmpq]) -> fmpq:
        """e^b = Σ H / Σ c e^f."""
        origin = max(f)
        means = sum((arb(one.price) * arb(value - origin).exp() for one, value in zip(losses, f, strict=True)), arb(0))
        return middle((arb(total(one.high for one in losses)) / means).log().mid()) - origin


def counts_end(targets: Array, prices: Array) -> float:
    """The low end of every sample's box."""
    return -4 * math.fsum(prices * (1 + targets * np.sqrt(targets)))


def _slope(rows: list[tuple[float, int, float]], b: float) -> float:
    """Minus the derivative of the cost in b."""
    return math.fsum(c * sign * _chance(-sign * (value + b)) for c, sign, value in rows)


def _chance(t: float) -> float:
    return 1 / (1 + math.exp(-t)) if t > -700 else math.exp(max(t, -745.0))


def _largest(slope: fmpq, curvature: fmpq, end: fmpq | None) -> fmpq | None:
    """sup over 0 ≤ x ≤ end of slope·x − ½ curvature·x²; None is infinite."""
    if curvature > 0 and (end is None or slope <= curvature * end):
        return max(slope, ZERO) ** 2 / (2 * curvature)
    if end is None:
        return ZERO if curvature == 0 and slope <= 0 else None
    return max(ZERO, slope * end - curvature * end**2 / 2)


def _around(values: Sequence[Any]) -> arb:
    """The ball around two numbers."""
    first, last = (arb(value) for value in values)
    return first.union(last)


def clipped(value: fmpq, low: fmpq | None, high: fmpq | None) -> fmpq:
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


# ----------------------------------------------------------------------------------------------- minima over the bias
def flat_bottom(breaks: Sequence[fmpq], slopes: Sequence[fmpq], target: fmpq) -> fmpq:
    """Where a convex piecewise linear function is least: its slope starts at −target and grows by slopes[i] at
    breaks[i]. The middle where it is least on an interval."""
    order, reached = [i for i in sorted(range(len(breaks)), key=lambda i: breaks[i]) if slopes[i] != 0], ZERO
    for place, i in enumerate(order):
        reached += slopes[i]
        if reached >= target:
            last = reached > target or place + 1 == len(order)
            return breaks[i] if last else (breaks[i] + breaks[order[place + 1]]) / 2
    return breaks[order[-1]]


def zero_of(function: Callable[[fmpq], fmpq], breaks: list[fmpq]) -> fmpq:
    """Where a function vanishes that falls, in straight lines between these breaks and beyond them."""
    places = [breaks[0] - 1, *breaks, breaks[-1] + 1]
    low, high = 0, len(places) - 1
    while high - low > 1:
        half = (low + high) // 2
        low, high = (half, high) if function(places[half]) > 0 else (low, half)
    before, after = function(places[low]), function(places[high])
    if before == after:
        return places[low]
    return places[low] + (places[high] - places[low]) * before / (before - after)


# ------------------------------------------------------------------------------------------------------ the losses
Stated = Callable[[fmpq, float, Mapping[str, Any]], Any]  # from the target, the price and the parameters


def _two_sided(y: fmpq, low: float, high: float, epsilon: float = 0.0, kappa: fmpq = ZERO) -> Quadratic:
    return Quadratic(y, exact(epsilon), kappa, exact(low), exact(high))


LOSSES: dict[str, Stated] = {
    "hinge": lambda y, c, own: Quadratic(ONE, ZERO, ZERO, ZERO, exact(c)),
    "nu": lambda y, c, own: Quadratic(ZERO, ZERO, ZERO, ZERO, exact(c)),
    "one_class": lambda y, c, own: Quadratic(ZERO, ZERO, ZERO, ZERO, exact(c)),
    "squared_hinge": lambda y, c, own: Quadratic(ONE, ZERO, 1 / exact(c), ZERO, None),
    "smoothed_hinge": lambda y, c, own: Quadratic(ONE, ZERO, exact(own["width"]) / exact(c), ZERO, exact(c)),
    "logistic": lambda y, c, own: Entropic(exact(c)),
    "squared": lambda y, c, own: Quadratic(y, ZERO, 1 / exact(c), None, None),
    "absolute": lambda y, c, own: _two_sided(y, -c, c),
    "epsilon_insensitive": lambda y, c, own: _two_sided(y, -c, c, own["epsilon"]),
    "squared_epsilon_insensitive": lambda y, c, own: Quadratic(y, exact(own["epsilon"]), 1 / exact(c), None, None),
    "huber": lambda y, c, own: _two_sided(y, -c * own["delta"], c * own["delta"], kappa=1 / exact(c)),
    "poisson": lambda y, c, own: Counted(exact(c), exact(own["low"]), exact(c * (int(y.p) / int(y.q)))),
    "nu_svr": lambda y, c, own: _two_sided(y, -c, c),
    "quantile": lambda y, c, own: _two_sided(y, -(1 - own["quantile"]) * c, own["quantile"] * c),
}
LABELLED = ("hinge", "nu", "squared_hinge", "smoothed_hinge", "logistic")
COUNTED = ("poisson",)  # whose box depends on all samples
FREE_MARGIN = ("nu", "one_class")
FREE_TUBE = ("nu_svr",)  # stated at ε = 0
