"""Roots that some penalties and conjugates need. The bounds are valid whatever their accuracy: the penalty is evaluated
at weights made feasible afterwards, the conjugate at the τ that was found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problem.stack import Array

HALVINGS = 80
STEPS, SETTLED = 40, 1e-14


def increasing_root(function: Callable[[float], float], low: float, high: float) -> float:
    """The root of an increasing function in [low, high]; an end of the interval if there is none. Where rounding leaves
    the function flat and the search does not settle, it is the last point of the search."""
    from scipy.optimize import brentq

    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    return float(brentq(function, low, high, xtol=4e-16 * max(abs(low), abs(high)), rtol=1e-15, disp=False))


def increasing_roots(function: Callable[[Array], Array], high: Array) -> Array:
    """The roots of increasing functions in (0, high], element by element."""
    low, high = np.zeros_like(high), high.astype(float)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = function(middle) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


def newton_weights(a: Array, start: Array, side: Callable[[Array], tuple[Array, ...]]) -> Array | None:
    """The μ that minimises ½ Σ a²/μ + R(μ) where ψ(μ) = 0, by Newton's method on −a²/(2μ²) + R' + κψ' = 0; None
    where it does not settle within a few steps. `side` gives R', R'', ψ, ψ' and ψ''."""
    mu, kappa = start, 0.0
    for _ in range(STEPS):
        slope, bend, psi, along, curve = side(mu)
        hessian = a**2 / mu**3 + bend + kappa * curve
        if not (hessian > 0).all():
            return None
        gradient = slope - a**2 / (2 * mu**2)
        kappa = float((psi - along @ (gradient / hessian)) / (along @ (along / hessian)))
        change = -(gradient + kappa * along) / hessian
        mu = mu + min(1.0, 0.9 / max(float(np.max(-change / mu)), 0.9)) * change
        if (np.abs(change) <= SETTLED * mu).all():
            return mu
    return None


def _used_simplex(a: Array, h: float, p: float) -> Array | None:
    """`power_simplex` by Newton's method for positive norms; None if it does not converge."""
    ones, zeros, near = np.ones(len(a)), np.zeros(len(a)), a ** (2 / 3)
    start = (near / near.sum() + 1 / len(a)) / 2
    return newton_weights(
        a, start, lambda mu: ((h * mu) ** (p - 1), h * (p - 1) * (h * mu) ** (p - 2), mu.sum() - 1, ones, zeros)
    )


def power_simplex(a: Array, h: float, p: float) -> Array:
    """The μ on the simplex that minimises ½ Σ a²/μ + Σ (hμ)^p/(hp): (hμ)^{p−1} − a²/(2μ²) equal for all kernels."""
    count, used = len(a), a > 0
    if used.any():
        best = _used_simplex(a[used], h, p)
        # A kernel without norm gets weight only where the common slope is positive.
        if best is not None and (used.all() or np.max((h * best) ** (p - 1) - a[used] ** 2 / (2 * best**2)) <= 0):
            mu = np.zeros(count)
            mu[used] = best / best.sum()
            return mu

    def slope(mu: Array) -> Array:
        return (h * mu) ** (p - 1) - a**2 / (2 * mu**2)

    def weights(level: float) -> Array:
        return increasing_roots(lambda mu: slope(mu) - level, np.ones(count))

    even = slope(np.full(count, 1 / count))  # of weights that sum to one, one is no larger, and one no smaller
    mu = weights(increasing_root(lambda level: weights(level).sum() - 1, float(even.min()), float(even.max())))
    return mu / mu.sum()
