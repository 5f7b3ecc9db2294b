"""hinge — the loss of the C-SVC, `c` in tasks and files.

    ℓ(y, z) = max(0, 1 − yz)          g(α) = α,   0 ≤ α ≤ c,          c_i = C times the weight of sample i

From one to the other. In t = yz: inf over t of c max(0, 1 − t) + αt is α at t = 1, and −∞ unless 0 ≤ α ≤ c.

    subgradient    α = 0 where yz > 1, α = c where yz < 1; between the bounds only at yz = 1, on the margin
    bounds         α = 0: the sample could be left out; α = c: a margin error, whose slack the risk pays
    least bias     the risk is piecewise linear in b: an interval where its slope vanishes

Targets: labels ±1.
Parameters: C > 0, default 1.
Degenerate cases: with a bias and one class only, α = 0, and every b that is large enough costs nothing. It is the limit
of `smoothed_hinge` for width → 0, and `nu` is its form with an unknown margin.

Reference: Cortes & Vapnik 1995.
"""

from __future__ import annotations

from ...problem.stack import Array
from ._quadratic import PiecewiseQuadratic, QuadraticShape


class Hinge(PiecewiseQuadratic):
    name = "hinge"
    other_names = ("c",)  # in tasks and files

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return QuadraticShape.of(price, a=1, high=price)


HINGE = Hinge()
