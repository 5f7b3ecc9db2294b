"""squared_epsilon_insensitive — half of the squared residual beyond ε.

    ℓ(y, z) = ½ max(0, |y − z| − ε)²     g(α) = yα − ε|α| − α²/(2c),   every α,     c_i = C times the weight of sample i

From one to the other. As for `epsilon_insensitive`, with the slack squared: |y − z| = ε + |α|/c.

    subgradient    α = c times what of y − z lies beyond ±ε, and unique
    bounds         none; α = 0: inside the tube
    least bias     unique unless every sample is inside the tube: then an interval

Targets: a response.
Parameters: C > 0, default 1; epsilon ≥ 0 in the units of y, default 0.1.
Degenerate cases: ε = 0 is `squared`. Where 2ε is at least the range of y, α = 0 and the value is 0 (with a bias).

Reference: Vapnik 1998, section 11.3 (quadratic ε-insensitive loss).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...problem.stack import Array
from ._loss import REAL
from ._quadratic import PiecewiseQuadratic, QuadraticShape
from .epsilon_insensitive import EPSILON


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(PiecewiseQuadratic):
    name = "squared_epsilon_insensitive"
    targets = REAL
    own, lengths, degree = (EPSILON,), ("epsilon",), 2

    epsilon: float = 0.1

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return QuadraticShape.of(price, a=y, epsilon=self.epsilon, kappa=1 / price, low=-float("inf"))


SQUARED_EPSILON_INSENSITIVE = SquaredEpsilonInsensitive()
