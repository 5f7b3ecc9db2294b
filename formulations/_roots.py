"""Roots that some penalties and conjugates need. They need no accuracy for the bounds to be valid: the penalty
is evaluated at weights made feasible afterwards, the conjugate at whatever τ was found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._task import Array

HALVINGS = 80


def increasing_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing function of one variable changes sign within [low, high]."""
    from scipy.optimize import brentq

    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    return float(brentq(function, low, high, xtol=4e-16 * max(abs(low), abs(high)), rtol=1e-15))


def increasing_roots(function: Callable[[Array], Array], high: Array) -> Array:
    """Element by element, where increasing functions change sign within (0, high]."""
    low, high = np.zeros_like(high), high.astype(float)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = function(middle) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


def power_simplex(a: Array, c: float, p: float) -> Array:
    """The μ on the simplex that minimises ½ Σ a²/μ + (c/p) Σ μ^p: c μ^{p−1} − a²/(2μ²) equal for all kernels."""
    count = len(a)

    def slope(mu: Array) -> Array:
        return c * mu ** (p - 1) - a**2 / (2 * mu**2)

    def weights(level: float) -> Array:
        return increasing_roots(lambda mu: slope(mu) - level, np.ones(count))

    low, high = slope(np.full(count, 1 / count)).min(), slope(np.ones(count)).max()
    mu = weights(increasing_root(lambda level: weights(level).sum() - 1, float(low), float(high)))
    return mu / mu.sum()
