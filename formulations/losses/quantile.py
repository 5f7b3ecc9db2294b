"""quantile — the pinball loss, least in the mean at the quantile of level π.

    ℓ(y, z) = π max(0, r) + (1 − π) max(0, −r),   r = y − z
    g(α)    = yα,   −(1 − π)c ≤ α ≤ πc,          c_i = C times the weight of sample i

From one to the other. inf over r of cℓ(r) − αr is 0 at r = 0, and −∞ unless α lies between the two slopes.

    subgradient    α = πc where y > z, α = −(1 − π)c where y < z; between only at y = z
    bounds         πc: above the quantile; −(1 − π)c: below it
    least bias     an interval of quantiles of y − f: by Σα = 0 at most πn samples lie below f + b and at most (1 − π)n
                   above it (equal prices)

Targets: a response.
Parameters: C > 0, default 1; quantile = π, 0 < π < 1, default ½.
Degenerate cases: π = ½ is half of `absolute`.

Reference: Koenker & Bassett 1978; with kernels, Takeuchi, Le, Sears & Smola 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...problem.stack import Array
from .._formulation import Parameter
from ._loss import REAL
from ._quadratic import PiecewiseQuadratic, QuadraticShape

LEVEL = Parameter("quantile", "level of the quantile", "0 < π < 1", lambda v, _: 0 < v < 1, lambda _: 0.5, "1/2")


@dataclass(frozen=True)
class Quantile(PiecewiseQuadratic):
    name = "quantile"
    targets = REAL
    own = (LEVEL,)

    quantile: float = 0.5

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return QuadraticShape.of(price, a=y, low=-(1 - self.quantile) * price, high=self.quantile * price)


QUANTILE = Quantile()
