"""smoothed_hinge — the hinge with its corner rounded off over a width w.

    ℓ(y, z) = 0, (1 − t)²/(2w), 1 − t − w/2    for t = yz ≥ 1, between, and t ≤ 1 − w
    g(α)    = α − wα²/(2c),   0 ≤ α ≤ c,          c_i = C times the weight of sample i

From one to the other. It is the hinge's gain less ½κα², κ = w/c: a term that is strongly concave makes the conjugate
smooth, of curvature 1/κ (Nesterov 2005).

    subgradient    α = c (1 − yz)/w, at most c and at least 0
    bounds         α = 0: margin at least 1; α = c: margin at most 1 − w
    least bias     unique, or an interval where every α is at a bound

Targets: labels ±1.
Parameters: C > 0, default 1; width > 0, default 1.
Degenerate cases: hinge − w/2 ≤ ℓ ≤ hinge, so that for w → 0 the value tends to that of `hinge` from below, by at most
½w Σc. For w → ∞ with prices c·w it is `squared_hinge`.

Reference: Rennie & Srebro 2005 (w = 1); Shalev-Shwartz & Zhang 2013, Eq. (27).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...problem.stack import Array
from .._formulation import Parameter
from ._quadratic import PiecewiseQuadratic, QuadraticShape

WIDTH = Parameter(
    "width", "width over which the hinge is smoothed", "width > 0", lambda v, _: v > 0, lambda _: 1.0, "1"
)


@dataclass(frozen=True)
class SmoothedHinge(PiecewiseQuadratic):
    name = "smoothed_hinge"
    own = (WIDTH,)

    width: float = 1.0

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return QuadraticShape.of(price, a=1, kappa=self.width / price, high=price)


SMOOTHED_HINGE = SmoothedHinge()
