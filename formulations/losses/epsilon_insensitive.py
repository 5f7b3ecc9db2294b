"""epsilon_insensitive — the loss of support vector regression: residuals up to ε cost nothing; `absolute` is ε = 0.

    ℓ(y, z) = max(0, |y − z| − ε)          g(α) = yα − ε|α|,   −c ≤ α ≤ c,          c_i = C times the weight of sample i

From one to the other. In r = y − z: inf over r of c max(0, |r| − ε) − αr is −ε|α| at r = ±ε, and −∞ unless |α| ≤ c.

    subgradient    α = 0 where |y − z| < ε, α = ±c where y − z lies beyond ±ε; between only at y − z = ±ε
    bounds         |α| = c: a residual beyond the tube, whose slack the risk pays; α = 0: inside the tube
    least bias     an interval where the slope of the risk vanishes; for `absolute` the weighted median of y − f

Targets: a response.
Parameters: C > 0, default 1; epsilon ≥ 0 in the units of y, default 0.1 (`absolute` has none).
Degenerate cases: where 2ε is at least the range of y, α = 0 and the value is 0 (with a bias). `absolute` is twice
`quantile` with π = ½.

Reference: Vapnik 1995; Smola & Schölkopf 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...problem.stack import Array
from .._formulation import Parameter
from ._loss import REAL
from ._quadratic import PiecewiseQuadratic, QuadraticShape

EPSILON = Parameter(
    "epsilon", "residual that costs nothing", "ε ≥ 0, in the units of y", lambda v, _: v >= 0, lambda _: 0.1, "0.1"
)


@dataclass(frozen=True)
class EpsilonInsensitive(PiecewiseQuadratic):
    name = "epsilon_insensitive"
    targets = REAL
    own: ClassVar[tuple[Parameter, ...]] = (EPSILON,)
    lengths: ClassVar[tuple[str, ...]] = ("epsilon",)

    epsilon: float = 0.1

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return QuadraticShape.of(price, a=y, epsilon=self.epsilon, low=-price, high=price)


@dataclass(frozen=True)
class Absolute(EpsilonInsensitive):
    """ε = 0."""

    name = "absolute"
    title = "the absolute residual: `epsilon_insensitive` with ε = 0"
    own, lengths = (), ()

    epsilon: float = 0.0


EPSILON_INSENSITIVE, ABSOLUTE = EpsilonInsensitive(), Absolute()
