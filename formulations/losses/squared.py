"""squared — half of the squared residual: kernel ridge regression with learned kernels.

    ℓ(y, z) = ½(y − z)²          g(α) = yα − α²/(2c),   every α,          c_i = C times the weight of sample i

From one to the other. z = y − α/c makes ½c(y − z)² + αz least.

    subgradient    α = c(y − z): the residual times the price
    bounds         none, and no sample is left out unless it is fitted exactly
    least bias     the mean residual, weighted by c

Targets: a response.
Parameters: C > 0, default 1 (1/C is the ridge that is added to the kernel).
Degenerate cases: with a constant y and a bias, α = 0 and the value is 0. It is `huber` for δ → ∞ and
`squared_epsilon_insensitive` with ε = 0.

Reference: Saunders, Gammerman & Vovk 1998; with kernels to be learned, Cortes, Mohri & Rostamizadeh 2009.
"""

from __future__ import annotations

from ...problem.stack import Array
from ._loss import REAL
from ._quadratic import PiecewiseQuadratic, QuadraticShape


class Squared(PiecewiseQuadratic):
    name = "squared"
    targets = REAL
    degree = 2

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return QuadraticShape.of(price, a=y, kappa=1 / price, low=-float("inf"))


SQUARED = Squared()
