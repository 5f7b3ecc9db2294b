"""nu — the hinge with an unknown margin ρ: the loss of the ν-SVM.

    risk(f) = min over b, ρ of Σ_i c_i max(0, ρ − y_i (f(x_i) + b)) − ρ          g(α) = 0,   0 ≤ α ≤ c,   1'α = 1

with c_i = 1/(νn) times the weight of sample i.

From one to the other. For given ρ it is the hinge with a = ρ in place of 1; ρ Σα − ρ is bounded only where Σα = 1.

    subgradient    α = 0 where y(f + b) > ρ, α = c where it is less; between the bounds only at ρ
    bounds         α = c: a margin error; as Σα = 1 and α ≤ 1/(νn), at most νn samples are, and at least νn have α > 0
    least bias     with b + ρ and ρ − b the risk separates into the classes: intervals of weighted quantiles of f

Targets: labels ±1.
Parameters: 0 < nu ≤ 1, and at most 2 min(n₊, n₋)/n with a bias, so that α exists.
Degenerate cases: where the hulls of the classes (of α ≤ c) meet, f = 0 and ρ = 0. With ρ > 0 at the optimum, f/ρ solves
`hinge` with C = 1/(ρνn) where U is homogeneous.

Reference: Schölkopf et al. 2000, in the form of Xu et al. 2013, Eq. (2).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...problem.stack import Array
from .._cvxpy import cp
from .._formulation import Parameter
from ._exact import filled, filled_on_grid, flat_bottom, made_up, middle
from ._loss import Risk
from ._quadratic import PiecewiseQuadratic, QuadraticShape

UNIT = 2.0**-52  # unit of the grid on which a ν at its limit is recognised


class Nu(PiecewiseQuadratic):
    name = "nu"
    parameter = Parameter(
        "nu", "bounds the share of margin errors from above, of support vectors from below (loss nu, C = 1/(νn))",
        "0 < ν ≤ 1, and at most 2·min(n₊, n₋)/n with a bias", lambda v, _: 0 < v <= 1, lambda _: None,
        "none: loss hinge",
    )  # fmt: skip
    free_margin = True

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return QuadraticShape.of(price, a=0, high=price)

    def declare_risk(self, margins: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        slack, rho = cp.Variable(len(price), nonneg=True), cp.Variable()
        return price @ slack - rho, margins >= rho - slack

    def declare_gain(self, alpha: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        return cp.Constant(0), [alpha <= price, cp.sum(alpha) == 1]

    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> Risk:
        """Piecewise linear in b and ρ: with u = ρ − b and v = ρ + b the risk separates into the two classes."""
        y = self.signs(y)
        if bias:
            positive = y > 0
            u = flat_bottom(outputs[positive], price[positive], 0.5)
            v = flat_bottom(-outputs[~positive], price[~positive], 0.5)
            best, rho = (middle(*v) - middle(*u)) / 2, (middle(*v) + middle(*u)) / 2
            interval = ((v[0] - u[1]) / 2, (v[1] - u[0]) / 2)
        else:
            best, rho, interval = 0.0, middle(*flat_bottom(y * outputs, price, 1.0)), (0.0, 0.0)
        loss = float(price @ np.maximum(0.0, rho - y * (outputs + best)))
        return Risk(loss - rho, best, interval, rho, max(loss, abs(rho)))

    def feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> Array:
        """As for the hinge, with half of the sum for either class."""
        alpha = np.clip(np.nan_to_num(alpha), 0.0, price)
        sides = _sides(y, bias)
        total = 1 / len(sides)
        for side in sides:
            box = price[side]
            exact = made_up(filled(alpha[side], box, total), box, np.ones(len(box)), total)
            alpha[side] = filled_on_grid(alpha[side], box, total) if exact is None else exact
        return alpha

    def prices(self, number: float, weight: Array, y: Array, bias: bool) -> Array:
        """1/(νn) times the weights. A ν at its limit leaves no room on the grid of α, by rounding: then every price is
        raised to the next multiple of the grid's unit, and the limit is what is solved."""
        price = 1.0 / (number * len(y)) * weight
        sides = _sides(y, bias)
        room = len(sides) * min(price[side].sum() for side in sides)
        if room < 1 - 1e-12:
            largest = math.floor(number * room * 1e6) / 1e6  # rounded down, so that it can be taken at its word
            fault = f"parameter nu = {number:g} is infeasible for {self._limiting(y)}"
            raise InputError(f"{fault}: give nu ≤ {largest:.6f}")
        steps = np.floor(price / UNIT)
        short = any(steps[side].sum() * UNIT < 1 / len(sides) for side in sides)
        return (steps + 1) * UNIT if short else price

    def _limiting(self, y: Array) -> str:
        return f"the class balance {int((y > 0).sum())} : {int((y < 0).sum())}"

    def price_unit(self, size: float) -> float:
        return 1.0

    def value_unit(self, size: float) -> float:
        return 1 / size


def _sides(y: Array, bias: bool) -> tuple[NDArray[np.bool_], ...]:
    """The samples whose α have a sum of their own."""
    return (y > 0, y < 0) if bias else (np.ones(len(y), dtype=bool),)


NU = Nu()
