"""The regulariser of `gmkl`, R(μ) = σ'μ + (λ/2) ‖μ‖² where Aμ ≥ p, and the checks of its parameters.

Its own parameters are `sigma`, `lam` (0 for l1), `A` and `p`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mklcvx.errors import InputError
from mklcvx.formulations._regulariser import Regulariser
from mklcvx.formulations._roots import increasing_roots
from mklcvx.problem.stack import Array

ROUNDING = 1e-12
ZERO_RESIDUAL = 1e-12  # below it, the constraints contradict each other


class PricedWeights(Regulariser):
    """R without its constraint Aμ ≥ p, which only `penalty` satisfies."""

    constraint = None

    def value(self, mu: Array, sigma: Array, lam: float, **own: Any) -> Array:
        return np.asarray(sigma * mu + lam / 2 * mu**2)

    def slope(self, mu: Array, sigma: Array, lam: float, **own: Any) -> Array:
        return np.asarray(sigma + lam * mu)

    def curvature(self, mu: Array, sigma: Array, lam: float, **own: Any) -> Array:
        return np.full(len(mu), lam)

    def best_weights(self, a: Array, sigma: Array, lam: float, **own: Any) -> Array:
        return weights_at_prices(a, sigma, lam, np.zeros(len(a)))

    def penalty(self, a: Array, **own: Any) -> float:
        return self.feasible_penalty(a, self.best_weights(a, **own), **own)[0]

    def feasible_penalty(
        self, a: Array, mu: Array, sigma: Array, lam: float, A: Array, p: Array
    ) -> tuple[float, Array]:
        """½ Σ a²/μ + R(μ) at the feasible weights nearest to μ, and these weights."""
        within = nearest_within(mu, A, p)
        if within is None or (a[within == 0] > 0).any():
            return np.inf, mu
        used = within > 0
        return float(np.sum(a[used] ** 2 / within[used]) / 2 + sigma @ within + lam / 2 * (within @ within)), within

    def conjugate(self, v: Array, sigma: Array, lam: float, **own: Any) -> float:
        """At δ = 0: R* where there is no A, else an upper bound on it."""
        excess = np.maximum(v - sigma, 0.0)
        if lam == 0:
            return np.inf if excess.any() else 0.0
        return float(excess @ excess / (2 * lam))


def weights_at_prices(a: Array, prices: Array, lam: float, otherwise: Array) -> Array:
    """The minimiser of ½ a²/μ + price·μ + (λ/2) μ² for every kernel; `otherwise` if there is none, because the price is
    not positive."""
    if lam == 0:
        return np.divide(a, np.sqrt(2 * np.maximum(prices, 0.0)), out=otherwise.copy(), where=prices > 0)
    highest = np.cbrt(a**2 / (2 * lam)) + np.maximum(-prices, 0.0) / lam
    return increasing_roots(lambda mu: lam * mu**3 + prices * mu**2 - a**2 / 2, highest)


def nearest_within(mu: Array, rows: Array, least: Array) -> Array | None:
    """The nonnegative weights nearest to μ with Aμ ≥ p up to rounding; None if there are none."""
    mu = np.maximum(mu, 0.0)
    for _ in range(4):  # a second step repairs the rounding of a large first one
        slack, sizes = rows @ mu - least, np.abs(rows) @ np.abs(mu) + np.abs(least)
        if (slack >= -ROUNDING * sizes).all():
            return mu
        step = _least_step(np.vstack([rows, np.eye(len(mu))]), np.concatenate([-slack, -mu]))
        if step is None:
            return None
        mu = np.maximum(mu + step, 0.0)
    return None


def _least_step(rows: Array, least: Array) -> Array | None:
    """The least x with Gx ≥ h, by least distance programming (Lawson & Hanson 1974, chapter 23):

        u = argmin over u ≥ 0 of ‖G'u‖² + (h'u − 1)²,    x = G'u/(1 − h'u)

    There is no such x if and only if the minimum is zero.
    """
    from scipy.optimize import nnls

    lengths = np.linalg.norm(rows, axis=1)
    if (least[lengths == 0] > 0).any():
        return None
    rows, least = rows[lengths > 0] / lengths[lengths > 0, None], least[lengths > 0] / lengths[lengths > 0]
    size = float(least.max())
    system = np.vstack([rows.T, least / size])
    wanted = np.append(np.zeros(rows.shape[1]), 1.0)
    price, distance = nnls(system, wanted, maxiter=100 * system.shape[1])
    residual = system @ price - wanted
    if distance <= ZERO_RESIDUAL or -residual[-1] <= ZERO_RESIDUAL:
        return None
    return np.asarray(-residual[:-1] / residual[-1] * size)


def as_prices(sigma: Any, count: int, regulariser: str) -> Array:
    """One price per kernel, or one for all."""
    least = "positive" if regulariser == "l1" else "not negative"
    default = 1.0 if regulariser == "l1" else 0.0
    try:
        given = np.asarray(default if sigma is None else sigma, dtype=float)
        prices = np.broadcast_to(given, (count,)).copy()
    except (TypeError, ValueError):
        shape = np.shape(sigma)
        raise InputError(f"sigma of shape {shape}: give one number, or {count}, one per kernel") from None
    if not np.isfinite(prices).all() or (prices < 0).any() or (regulariser == "l1" and (prices == 0).any()):
        raise InputError(f"sigma has the entry {prices.min():g}: with regulariser {regulariser} it must be {least}")
    return prices


def as_constraints(rows: Any, least: Any, count: int) -> tuple[Array, Array]:
    """A (rows, M) and p (rows,), refused where no μ ≥ 0 meets them."""
    if rows is None and least is None:
        return np.zeros((0, count)), np.zeros(0)
    if rows is None or least is None:
        raise InputError("A and p belong together, one of them is missing: give both, or neither")
    try:
        A, p = np.atleast_2d(np.asarray(rows, dtype=float)), np.atleast_1d(np.asarray(least, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"A and p are not arrays of numbers: give A (rows, {count}) and p (rows,)") from None
    if A.ndim != 2 or A.shape[1] != count or p.shape != (len(A),):
        raise InputError(
            f"A has shape {A.shape}, p {p.shape}: give A (rows, {count}) and p (rows,), a row per constraint"
        )
    if not (np.isfinite(A).all() and np.isfinite(p).all()):
        raise InputError("A and p have entries that are not finite: give finite numbers")
    if nearest_within(np.zeros(count), A, p) is None:
        raise InputError("A and p leave no weights: no μ ≥ 0 meets Aμ ≥ p; drop or loosen a row")
    return A, p
