"""huber — squared for residuals up to δ, linear beyond.

    ℓ(y, z) = r²/2 for r = y − z, |r| ≤ δ;  δ|r| − δ²/2 beyond
    g(α)    = yα − α²/(2c),   −cδ ≤ α ≤ cδ,          c_i = C times the weight of sample i

From one to the other. The gain of `squared` with bounds on α: what bounds α makes the conjugate linear from there on.

    subgradient    α = c(y − z), at most cδ and at least −cδ
    bounds         |α| = cδ: an outlier, whose pull does not grow with its residual any more
    least bias     unique, or an interval where every α is at a bound

Targets: a response.
Parameters: C > 0, default 1; delta = δ > 0 in the units of y, default 1.
Degenerate cases: for δ → ∞ it is `squared`, exactly so from the δ on that no residual exceeds; for δ → 0 with prices
c/δ it tends to `absolute`, from below by at most ½δ Σc.

Reference: Huber 1964.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...problem.stack import Array
from .._formulation import Parameter
from ._loss import REAL
from ._quadratic import PiecewiseQuadratic, QuadraticShape

DELTA = Parameter(
    "delta", "residual from which on the loss is linear", "δ > 0, in the units of y",
    lambda v, _: v > 0, lambda _: 1.0, "1",
)  # fmt: skip


@dataclass(frozen=True)
class Huber(PiecewiseQuadratic):
    name = "huber"
    targets = REAL
    own, lengths, degree = (DELTA,), ("delta",), 2

    delta: float = 1.0

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return QuadraticShape.of(price, a=y, kappa=1 / price, low=-price * self.delta, high=price * self.delta)


HUBER = Huber()
