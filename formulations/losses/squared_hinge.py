"""squared_hinge — the squared hinge loss: no largest α, and a gain that bends.

    ℓ(t) = ½ max(0, 1 − t)²          g(α) = α − α²/(2c),   α ≥ 0,          c_i = C times the weight of sample i

Declared and bounded like the others; no solver takes it yet, and no formulation offers it.
Reference: Cortes & Vapnik 1995, section 3, with the exponent 2.
"""

from __future__ import annotations

import math

import numpy as np

from ...problem.stack import Array
from .._cvxpy import cp
from .._roots import increasing_root
from ._loss import Risk
from .hinge import Hinge


class SquaredHinge(Hinge):
    def declare_risk(self, margins: cp.Expression, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        slack = cp.Variable(len(price), nonneg=True)
        return cp.sum_squares(cp.multiply(np.sqrt(price), slack)) / 2, margins >= 1 - slack

    def declare_gain(self, alpha: cp.Variable, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        return cp.sum(alpha) - cp.sum_squares(cp.multiply(1 / np.sqrt(price), alpha)) / 2, []

    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> Risk:
        """Its derivative in b is increasing and changes sign between the places where samples reach their margins."""

        def slack(b: float) -> Array:
            return np.maximum(0.0, 1.0 - y * (outputs + b))

        breaks = y - outputs
        best = 0.0
        if bias:
            best = increasing_root(lambda b: -float((price * y) @ slack(b)), float(breaks.min()), float(breaks.max()))
        value = float(price @ slack(best) ** 2 / 2)
        return Risk(value, best, (best, best), None, value)

    def gain(self, alpha: Array, price: Array) -> float:
        return math.fsum([*alpha, *(-(alpha**2) / (2 * price))])

    def gradient(self, alpha: Array, price: Array) -> Array:
        return 1 - alpha / price

    def curvature(self, alpha: Array, price: Array) -> Array:
        return 1 / price

    def limit(self, price: Array) -> Array:
        return np.full(len(price), np.inf)


SQUARED_HINGE = SquaredHinge()
