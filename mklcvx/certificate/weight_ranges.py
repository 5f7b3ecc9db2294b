"""Outer ranges of weights: intervals that contain every kernel's weight in every answer that is good enough.

J(μ) = R(μ) + sup over α ∈ S of [gain(α) − ½μ'q(α)] is what weights are worth. No answer with these weights costs less,
whatever its functions are. Let α ∈ S be the point of the certificate, v = ½q(α), and D = gain(α) − R*(v), exactly.

**Theorem.** Every μ with J(μ) ≤ D + ε has  F(μ) = R(μ) + R*(v) − μ'v ≤ ε.

*Proof.* J(μ) ≥ R(μ) + gain(α) − μ'v = D + F(μ). ∎  With ε at least the certificate's gap, the answer found is among
these μ, and so is every optimum.

F is known, and convex. Where R is a sum of r(μ_m), for weights with Σ s(μ_m) = 1 or ≤ 1, let κ be any number (κ ≥ 0
for ≤) and

    φ_m(x) = r(x) + κ s(x) − x v_m + sup over x' of [x'v_m − r(x') − κ s(x')]  ≥ 0,
    F_κ(μ) = Σ_m φ_m(μ_m) + κ(1 − Σ s(μ_m)).

F_κ − F is a constant, the price of κ. It is at most F_κ(μ̂) for any feasible μ̂. So φ_m(μ_m) ≤ ε + F_κ(μ̂) for every m
and κ: where φ_m exceeds that right of its minimum, no weight lies beyond. Several κ are tried, and their intervals
intersected; the best κ is exact, by duality of min and max μ_m over {F ≤ ε}. At last Σ s(μ_m) = 1, or
≥ 1 − (ε + F_κ(μ̂))/κ, bounds every weight by the ends of the others.

**Rounding.** v is known within an interval. Right of its minimum φ_m falls with v_m, left of it it grows: the upper end
is put in for the right end of a weight, the lower end for the left one. φ_m is evaluated from below, F_κ(μ̂) from above,
and an end is a double at which φ_m was seen to be too large, found by bisection, whose accuracy proves nothing.

`weight_shapes` has φ for every regulariser. Pairs (`ts`, `ts_l1`) have the pull for v, many labels ½ Σ_k γ_k q^k, and
`hypergraph`, where weights are the dual variables and the value is a maximum over them, the S_m(Z).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..problem.numbers import is_number
from .record import Certificate
from .rounding import TINY, Array, U, above, below, total_above, total_below
from .weight_shapes import SHAPES, Shape, shape_of

Ends = tuple[Array, Array]
HALVINGS = 80
DEAREST = 8.0  # times ε: the price of a κ that is worth a try
MOST = 16  # κ that are tried
NEAR = 4  # values v on either side of κ that are tried as well


def weights_interval(
    name: str, parameters: Mapping[str, Any], weights: Array, slopes: Array | None, certificate: Certificate,
    tolerance: float | None = None,
) -> Array | None:  # fmt: skip
    """As `Solution.weights_interval`, which has the words."""
    if tolerance is not None and not (is_number(tolerance) and tolerance >= 0):
        raise InputError(f"tolerance = {tolerance!r:.40} is no number from 0 on: give a relative one such as 1e-6")
    if name not in SHAPES:
        return None
    shape = shape_of(name, parameters, len(weights))
    if shape is None:  # 1/M is no double, as a rule
        off = np.where(weights == 1, 0.0, 2 * U * weights)
        return np.stack([weights - off, weights + off], axis=1)
    if slopes is None:
        return None
    wanted = 0.0 if tolerance is None else float(above(tolerance * certificate.base))
    return np.stack(outer(shape, slopes[0], slopes[1], max(certificate.gap, wanted)), axis=1)


@np.errstate(all="ignore")
def outer(shape: Shape, low: Array, high: Array, excess: float) -> Ends:
    """Ends of every weight over {μ: F(μ) ≤ excess}, v between `low` and `high`."""
    nothing, numbers = (np.zeros(len(low)), np.full(len(low), shape.cap)), np.array([*low, *high, excess])
    if not np.isfinite(numbers).all() or not excess >= 0:
        return nothing
    kappa, mu = shape.start((low + high) / 2)
    if shape.within and not kappa > TINY:
        return nothing
    kappas, prices = np.array([[kappa]]), np.zeros(1)
    if shape.total or shape.within:
        kappas = _candidates(shape, (low + high) / 2, kappa)[:, None]
        prices = _prices(shape, low, high, mu, kappas)
        tried = _worth_trying(kappas[:, 0], prices, DEAREST * excess)
        kappas, prices = kappas[tried], prices[tried]
    budgets = above(excess + prices)[:, None]
    left, right = _left(shape, low, kappas, budgets), _right(shape, high, kappas, budgets)
    ends = np.max(left, axis=0), np.min(right, axis=0)
    return _shared(shape, *ends, 1.0 if shape.total else _least_total(kappa, float(budgets[0, 0])))


def _candidates(shape: Shape, v: Array, kappa: float) -> Array:
    """κ itself first, then others on both sides of it, and the nearest v."""
    size = max(abs(kappa), float(np.ptp(v)), float(np.abs(v).max()) * 2.0**-20)
    steps, order = size * 2.0 ** -np.arange(0.0, 50.0), np.sort(v)
    at = int(np.searchsorted(order, kappa))
    candidates = np.concatenate([[kappa], kappa - steps, kappa + steps, order[max(at - NEAR, 0) : at + NEAR]])
    return candidates[candidates > TINY] if shape.within else candidates


def _worth_trying(kappas: Array, prices: Array, dearest: float) -> list[int]:
    """The first one, and on either side of it the farthest that are not too dear."""
    chosen = [0]
    for side in (-1, 1):
        there = np.flatnonzero((prices <= dearest) & (side * (kappas - kappas[0]) > 0))
        chosen += there[np.argsort(-np.abs(kappas[there] - kappas[0]))][: MOST // 2].tolist()
    return chosen


def _prices(shape: Shape, low: Array, high: Array, mu: Array, kappas: Array) -> Array:
    """F_κ(μ̂) from above, for every κ: convex in v, so largest at an end."""
    terms = np.maximum(*(shape.cost(mu[None], v[None], kappas) for v in (low, high)))
    left = 0.0 if shape.total else max(1 - total_below(shape.share(mu), shape.steps), 0.0)
    prices = [total_above([*row, float(above(kappa * left))]) for row, kappa in zip(terms, kappas[:, 0], strict=True)]
    return np.nan_to_num(np.array(prices), nan=math.inf)


def _right(shape: Shape, v: Array, kappas: Array, budgets: Array) -> Array:
    """Weights at which φ is seen to be too large, right of its minimum; the cap where none is."""
    inner = shape.best(v[None], kappas)
    outside = np.maximum(shape.reach(v[None], kappas, budgets), inner)
    finite = np.where(np.isfinite(outside), outside, 0.0)
    too_large = (shape.beyond(finite, v[None], kappas, right=True) > budgets) & np.isfinite(outside)
    inner, outer_end = np.where(too_large, inner, 0.0), np.where(too_large, outside, 0.0)
    for _ in range(HALVINGS):
        middle = (inner + outer_end) / 2
        far = shape.beyond(middle, v[None], kappas, right=True) > budgets
        inner, outer_end = np.where(far, inner, middle), np.where(far, middle, outer_end)
    return np.where(too_large, outer_end, shape.cap)


def _left(shape: Shape, v: Array, kappas: Array, budgets: Array) -> Array:
    """Weights at which φ is seen to be too large, left of its minimum; 0 where none is."""
    inner = np.broadcast_to(shape.best(v[None], kappas), np.broadcast_shapes(kappas.shape, v[None].shape))
    outer_end = np.zeros(inner.shape)
    too_large = (shape.beyond(outer_end, v[None], kappas, right=False) > budgets) & (inner > 0)
    inner = np.where(too_large, inner, 0.0)
    for _ in range(HALVINGS):
        middle = (inner + outer_end) / 2
        far = shape.beyond(middle, v[None], kappas, right=False) > budgets
        inner, outer_end = np.where(far, inner, middle), np.where(far, middle, outer_end)
    return outer_end


def _least_total(kappa: float, budget: float) -> float:
    """Σ s from below where it is at most 1: κ(1 − Σ s) ≤ budget."""
    return float(below(1 - above(budget / kappa))) if kappa > 0 else 0.0


def _shared(shape: Shape, low: Array, high: Array, total: float) -> Ends:
    """The ends, tightened by what the others leave over of Σ s, which is between `total` and 1."""
    if not (shape.total or shape.within):
        return low, high
    steps = shape.steps + len(low) + 8
    least, most = shape.share(low), shape.share(high)
    others_least = np.maximum(below(math.fsum(least) - least, 2) - steps * U * math.fsum(least), 0.0)
    others_most = above(math.fsum(most) - most, 2) + steps * U * math.fsum(most)
    room, rest = above(1 - others_least), np.maximum(below(total - others_most), 0.0)
    high = np.minimum(high, above(shape.of_share(np.clip(room, 0.0, 1.0)), steps))
    low = np.maximum(low, np.maximum(below(shape.of_share(np.clip(rest, 0.0, 1.0)), steps), 0.0))
    return low, np.minimum(high, shape.cap)
