"""The piecewise quadratic losses: one record states each of them, and everything else follows from it.

    g_i(α) = a_i α − ε|α| − ½ κ_i α²,      low_i ≤ α ≤ high_i,      low ≤ 0 ≤ high, infinite only where κ > 0

In the residual r_i = a_i − s_i z_i the loss is the conjugate c_i ℓ = sup over α of r_i α − ε|α| − ½ κ_i α²: zero for
|r| ≤ ε, then a parabola of curvature 1/κ, then lines of slopes low and high. Its maximiser α* is the soft threshold
of r divided by κ, clipped; minus its slope in the bias, Σ s_i α*_i, falls along pieces of straight lines.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from ...problem.stack import Array
from .._cvxpy import cp
from ._exact import flat_bottom, middle, zeros
from ._loss import REAL, Loss, Risk

EPS = float(np.finfo(float).eps)


class QuadraticShape(NamedTuple):
    """a, ε, κ, low and high, an array each."""

    a: Array
    epsilon: Array
    kappa: Array
    low: Array
    high: Array

    @classmethod
    def of(
        cls,
        price: Array,
        a: float | Array = 1.0,
        epsilon: float | Array = 0.0,
        kappa: float | Array = 0.0,
        low: float | Array = 0.0,
        high: float | Array = np.inf,
    ) -> QuadraticShape:
        """One entry per sample."""
        rows = np.empty((5, len(price)))
        for row, part in zip(rows, (a, epsilon, kappa, low, high), strict=True):
            row[:] = part
        return cls(*rows)

    def excess(self, r: Array) -> Array:
        """The soft threshold: what of r lies beyond ±ε."""
        return np.sign(r) * np.maximum(np.abs(r) - self.epsilon, 0.0)

    def maximiser(self, r: Array) -> Array:
        """α* = clip(excess(r)/κ, low, high), a subgradient of the loss in r."""
        excess = self.excess(r)
        ends = np.where(excess == 0, 0.0, np.copysign(np.inf, excess))
        return np.clip(np.divide(excess, self.kappa, out=ends, where=self.kappa > 0), self.low, self.high)

    def value(self, r: Array) -> Array:
        """sup over α of rα − ε|α| − ½κα², for every sample."""
        best = self.maximiser(r)
        return best * (self.excess(r) - self.kappa * best / 2)

    def gain_terms(self, alpha: Array) -> Array:
        """The terms of g, sample by sample, to be summed."""
        return np.concatenate([self.a * alpha, -self.epsilon * np.abs(alpha), -self.kappa * alpha**2 / 2])

    def fenchel_young(self, alpha: Array, r: Array) -> Array:
        """φ(α*) − φ(α), φ(α) = rα − ε|α| − ½κα². On one side of 0 it is (α* − α) pull + ½κ(α* − α)², and the slope of φ
        at α*, pull = r ∓ ε − κα*, vanishes between the bounds and points outwards at a bound or at 0: both terms are
        ≥ 0, but for the rounding of a pull that vanishes. From one side to the other the way leads through 0."""
        best = self.maximiser(r)
        crossing = np.sign(alpha) * np.sign(best) < 0
        start = np.where(crossing, 0.0, alpha)
        pull = r - np.sign(best + start) * self.epsilon - self.kappa * best
        to_zero = np.where(crossing, self.kappa * alpha**2 / 2 - alpha * (r - np.sign(alpha) * self.epsilon), 0.0)
        return to_zero + np.maximum((best - start) * pull, 0.0) + self.kappa * (best - start) ** 2 / 2

    def least_bias(self, outputs: Array, signs: Array) -> tuple[float, float]:
        """The b for which Σ_i of the losses at outputs + b is least, an interval where every choice is."""
        two_sided = self.low < 0

        def breaks(right: Array, left: Array) -> Array:
            """The b at which r_i meets these values, those on the left only where there is a branch."""
            return np.concatenate([signs * (self.a - right) - outputs, (signs * (self.a - left) - outputs)[two_sided]])

        kinks = breaks(self.epsilon, -self.epsilon)
        if not self.kappa.any():
            start = self.high[signs > 0].sum() - self.low[signs < 0].sum()
            return flat_bottom(kinks, np.concatenate([self.high, -self.low[two_sided]]), start)
        corners = breaks(self.epsilon + self.kappa * self.high, self.kappa * self.low - self.epsilon)
        reach = np.minimum(self.high - self.low, (np.abs(self.a) + np.abs(outputs) + self.epsilon) / self.kappa)
        return zeros(
            lambda b: -math.fsum(signs * self.maximiser(self.a - signs * (outputs + b))),
            np.concatenate([kinks, corners[np.isfinite(corners)]]),
            8 * EPS * math.fsum(reach),
        )


class PiecewiseQuadratic(Loss):
    """A loss that is stated by its record."""

    kind = "quadratic"

    @abstractmethod
    def shape(self, y: Array, price: Array) -> QuadraticShape:
        """The record."""

    def declare_risk(self, margins: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        """The conjugate of a sum is an infimal convolution: r is split among the terms of −g, and each part pays what
        its term asks. That of ½κα² pays a square, those of the bounds their slopes, that of ε|α| nothing up to ε."""
        shape, count, costs, rest = self.shape(y, price), len(price), [], self.shape(y, price).a
        if np.isfinite(shape.high).all():
            over = cp.Variable(count, nonneg=True)
            costs, rest = [shape.high @ over], rest - over
        if self.targets == REAL and np.isfinite(shape.low).all():
            under = cp.Variable(count, nonneg=True)
            costs, rest = [*costs, -shape.low @ under], rest + under
        if shape.kappa.any():
            middle_part = cp.Variable(count)
            costs = [*costs, cp.sum_squares(cp.multiply(1 / np.sqrt(shape.kappa), middle_part)) / 2]
            rest = rest - middle_part
        if shape.epsilon.any():
            rest = rest - cp.Variable(count, bounds=[-shape.epsilon, shape.epsilon])
        return sum(costs[1:], costs[0]), rest == margins if self.targets == REAL else rest <= margins

    def declare_gain(self, alpha: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        shape = self.shape(y, price)
        gain, limits = shape.a @ alpha, []
        if shape.epsilon.any():
            gain = gain - shape.epsilon @ cp.abs(alpha)
        if shape.kappa.any():
            gain = gain - cp.sum_squares(cp.multiply(np.sqrt(shape.kappa), alpha)) / 2
        if np.isfinite(shape.high).all():
            limits = [alpha <= shape.high]
        if self.targets == REAL and np.isfinite(shape.low).all():
            limits = [*limits, alpha >= shape.low]
        return gain, limits

    def residuals(self, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        """r = a + ρ − s∘z."""
        return self.shape(y, price).a + rho - self.signs(y) * outputs

    def value(self, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        return self.shape(y, price).value(self.residuals(outputs, y, price, rho))

    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> Risk:
        shape, interval = self.shape(y, price), (0.0, 0.0)
        if bias:
            interval = shape.least_bias(outputs, self.signs(y))
        best = middle(*interval)
        r = self.residuals(outputs + best, y, price)
        alpha = shape.maximiser(r)
        value = float(alpha @ (shape.excess(r) - shape.kappa * alpha / 2))
        return Risk(value, best, interval, None, value)

    def at_level(self, y: Array, price: Array, level: float) -> QuadraticShape:
        """The record with ρ or ε, where it is an unknown, held there."""
        shape = self.shape(y, price)
        return shape._replace(a=shape.a + level) if self.free_margin else shape

    def risk_at(self, level: float, outputs: Array, y: Array, price: Array, bias: bool) -> float:
        """The least risk over b alone."""
        shape, signs = self.at_level(y, price, level), self.signs(y)
        best = middle(*shape.least_bias(outputs, signs)) if bias else 0.0
        return float(shape.value(shape.a - signs * (outputs + best)).sum()) + self.level_cost(level, price)

    def gain(self, alpha: Array, y: Array, price: Array) -> float:
        return math.fsum(self.shape(y, price).gain_terms(alpha))

    def gradient(self, alpha: Array, y: Array, price: Array) -> Array:
        a, epsilon, kappa, _, _ = self.shape(y, price)
        return a - epsilon * np.sign(alpha) - kappa * alpha

    def curvature(self, alpha: Array, y: Array, price: Array) -> Array:
        return self.shape(y, price).kappa

    def bounds(self, y: Array, price: Array) -> tuple[Array, Array]:
        return self.shape(y, price)[3:]

    def fenchel_young(self, alpha: Array, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        return self.shape(y, price).fenchel_young(alpha, self.residuals(outputs, y, price, rho))
