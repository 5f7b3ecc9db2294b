"""hinge — the loss of the C-SVC, `c` in tasks and files.

    ℓ(t) = max(0, 1 − t)          g(α) = α,   0 ≤ α ≤ c,          c_i = C times the weight of sample i

Reference: Cortes & Vapnik 1995.
"""

from __future__ import annotations

import math

import numpy as np

from ...problem.stack import Array
from .._cvxpy import cp
from .._formulation import Parameter
from ._exact import balanced_on_grid, filled, flat_bottom, made_up, middle
from ._loss import Loss, Risk


class Hinge(Loss):
    parameter = Parameter("C", "price of a sample's slack (loss c)", "C > 0", lambda v, _: v > 0, lambda _: 1.0, "1")

    def declare_risk(self, margins: cp.Expression, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        slack = cp.Variable(len(price), nonneg=True)
        return price @ slack, margins >= 1 - slack

    def declare_gain(self, alpha: cp.Variable, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        return cp.sum(alpha), [alpha <= price]

    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> Risk:
        """Piecewise linear in b."""
        low = high = 0.0
        if bias:
            low, high = flat_bottom(y - outputs, price, price[y > 0].sum())
        best = middle(low, high)
        value = float(price @ np.maximum(0.0, 1.0 - y * (outputs + best)))
        return Risk(value, best, (low, high), None, value)

    def gain(self, alpha: Array, price: Array) -> float:
        return math.fsum(alpha)

    def gradient(self, alpha: Array, price: Array) -> Array:
        return np.ones(len(alpha))

    def feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> Array:
        """Clip α and scale down the heavier class. A few samples then make up for the last bits that the sums lack. If
        that does not succeed, round α to the grid of its largest entry's last bit, and take the surplus from the
        samples with most room, in whole numbers."""
        limit = self.limit(price)
        alpha = np.clip(np.nan_to_num(alpha), 0.0, limit)
        if not bias or math.fsum(y * alpha) == 0:
            return alpha
        sides = y > 0, y < 0
        total = min(math.fsum(alpha[side]) for side in sides)
        for side in sides:
            alpha[side] = filled(alpha[side], limit[side], total)
        exact = made_up(alpha, limit, y, 0.0)
        return balanced_on_grid(alpha, limit, sides[0]) if exact is None else exact


HINGE = Hinge()
