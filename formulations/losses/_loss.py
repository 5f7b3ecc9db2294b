"""The interface of a loss for labels ±1: the sample side of primal and dual.

    primal   min over f, b of   U(‖f_1‖, …, ‖f_M‖) + Σ_i c_i ℓ(y_i (f(x_i) + b))
    dual     max over α of      Σ_i g_i(α_i) − U*(√q_1(α), …, √q_M(α)),       g_i(α) = inf over t of c_i ℓ(t) + α t

The risk is the sum of the losses at prices c (`box` of a task), least over the bias; the gain is the sum of the g_i,
minus the conjugate of the risk. A loss whose margin ρ is an unknown has ρ in place of 1, −ρ in the risk and 1'α = 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from ...problem.stack import Array
from .._cvxpy import cp
from .._formulation import Parameter


class Risk(NamedTuple):
    """The least risk of given outputs over everything but the kernels: bias, and margin ρ for loss nu."""

    value: float
    bias: float
    bias_interval: tuple[float, float]
    rho: float | None
    largest_term: float

    @property
    def level(self) -> float:
        """The margin from which on a sample costs nothing: 1, or ρ."""
        return 1.0 if self.rho is None else self.rho


class Loss(ABC):
    """A loss; `price` is c, one number per sample."""

    parameter: ClassVar[Parameter]  # sets the price
    free_margin: ClassVar[bool] = False  # whether ρ is an unknown

    # -------------------------------------------------------------------------------------- programmes in CVXPY
    @abstractmethod
    def declare_risk(self, margins: cp.Expression, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        """The risk in slacks, and the constraint on the margins y_i f(x_i) that defines them: its multiplier is α."""

    @abstractmethod
    def declare_gain(self, alpha: cp.Variable, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        """The gain of α ≥ 0, and its constraints other than that of the bias."""

    # ------------------------------------------------------------------------------------------ numbers in NumPy
    @abstractmethod
    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> Risk:
        """The least risk of these outputs over b (and ρ)."""

    @abstractmethod
    def gain(self, alpha: Array, price: Array) -> float: ...

    @abstractmethod
    def gradient(self, alpha: Array, price: Array) -> Array:
        """Of the gain."""

    def curvature(self, alpha: Array, price: Array) -> Array:
        """Minus the second derivatives of the gain."""
        return np.zeros(len(alpha))

    def limit(self, price: Array) -> Array:
        """The largest α."""
        return price

    def equalities(self, y: Array, bias: bool) -> tuple[Array, Array]:
        """The feasible set's, as rows and totals: y'α = 0 with a bias, 1'α = 1 where the margin is free."""
        rows = [y] * bias + [np.ones(len(y))] * self.free_margin
        return np.array(rows).reshape(len(rows), len(y)), np.array([0.0] * bias + [1.0] * self.free_margin)

    @abstractmethod
    def feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> Array:
        """An α in the feasible set near the given one; its equalities hold exactly."""

    # ----------------------------------------------------------------------------------- prices and their units
    def prices(self, number: float, weight: Array, y: Array, bias: bool) -> Array:
        """The price of each sample, from the parameter and the sample weights."""
        return number * weight

    def price_unit(self, size: float) -> float:
        """The factor of prices and α when every kernel is divided by `size` and f stays in proportion."""
        return size

    def value_unit(self, size: float) -> float:
        """The factor of the value when every kernel is divided by `size`."""
        return size
