"""squared_hinge — the squared hinge loss: no largest α, and a gain that bends.

    ℓ(y, z) = ½ max(0, 1 − yz)²          g(α) = α − α²/(2c),   α ≥ 0,          c_i = C times the weight of sample i

From one to the other. In t = yz: 1 − t = α/c makes ½c max(0, 1 − t)² + αt least for α ≥ 0; the value there is g(α).

    subgradient    α = c max(0, 1 − yz): the slack times the price, and unique
    bounds         α = 0: margin at least 1; there is no upper bound
    least bias     unique unless every sample has its margin: then an interval

Targets: labels ±1.
Parameters: C > 0, default 1.
Degenerate cases: ½κα² joins the kernels, for Σ α_i²/c_i = β'diag(1/c)β: where kernels have fixed weights this is a
hinge without upper bound on K + diag(1/c). It is `smoothed_hinge` with prices c·width for width → ∞.

Reference: Cortes & Vapnik 1995, section 3, with the exponent 2.
"""

from __future__ import annotations

from ...problem.stack import Array
from ._quadratic import PiecewiseQuadratic, QuadraticShape


class SquaredHinge(PiecewiseQuadratic):
    name = "squared_hinge"

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return QuadraticShape.of(price, a=1, kappa=1 / price)


SQUARED_HINGE = SquaredHinge()
