"""Arithmetic that the losses share: sums that are exact to the last bit, minima of piecewise linear functions, and
divergences without cancellation."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...problem.stack import Array

TRIES = 8
NEAR = 0.1  # u/p − 1 up to which a series gives the divergence
TERMS = 18  # of the series: NEAR^TERMS is less than the unit roundoff


def balanced(alpha: Array, low: Array, high: Array, signs: Array) -> Array:
    """α within its bounds with signs'α = 0 exactly.

    Scale down the heavier side. A few samples then make up for the last bits that the sums lack. If that does not
    succeed, round α to the grid of its largest entry's last bit, and take the surplus from the samples with most room,
    in whole numbers. No entry changes its sign, so that this is done to |α|, whose limit is the end that α points to.
    """
    if math.fsum(signs * alpha) == 0:
        return alpha
    turned = np.where(alpha < 0, -1.0, 1.0)
    size, limit, side = np.abs(alpha), np.where(alpha < 0, -low, high), signs * turned
    sides = side > 0, side < 0
    total = min(math.fsum(size[members]) for members in sides)
    for members in sides:
        size[members] = filled(size[members], limit[members], total)
    exact = made_up(size, limit, side, 0.0)
    return turned * (balanced_on_grid(size, limit, sides[0]) if exact is None else exact) + 0.0  # no −0


def made_up(alpha: Array, box: Array, signs: Array, total: float) -> Array | None:
    """α with Σ signs·α = total exactly, a few entries changed; None if a few are not enough."""
    alpha = alpha.copy()
    for _ in range(TRIES):
        missing = math.fsum([total, *(-signs * alpha)])
        if missing == 0:
            return alpha
        moved = alpha + signs * missing
        fits = (moved > 0) & (moved < box) & (alpha > 0) & (alpha < box)
        fits = fits if fits.any() else (moved >= 0) & (moved <= box)
        if not fits.any():
            return None
        exact = fits & ((moved - alpha) * signs == missing)  # nothing of the change is rounded away
        if exact.any():
            chosen = int(np.argmax(np.where(exact, np.minimum(alpha, box - alpha), -1.0)))
        else:  # the coarsest takes the most of it, finer ones the rest
            chosen = int(np.argmin(np.where(fits, np.abs(missing - (moved - alpha) * signs), np.inf)))
        alpha[chosen] = moved[chosen]
    return None


def balanced_on_grid(alpha: Array, box: Array, positive: NDArray[np.bool_]) -> Array:
    """α on a grid, both classes with the same sum exactly."""
    steps, most, unit = _on_grid(alpha, box)
    surplus = whole_sum(steps[positive]) - whole_sum(steps[~positive])
    heavier = positive if surplus > 0 else ~positive
    steps[heavier] = moved(steps[heavier], most[heavier], -abs(surplus))
    return steps * unit


def filled_on_grid(alpha: Array, box: Array, total: float) -> Array:
    """α on a grid, with this sum, a power of two, exactly, as far as the box has room."""
    steps, most, unit = _on_grid(filled(alpha, box, total), box)
    return moved(steps, most, int(total / unit) - whole_sum(steps)) * unit


def _on_grid(alpha: Array, box: Array) -> tuple[Array, Array, float]:
    """α and its box in whole multiples of the last bit of the largest α, and that."""
    largest = float(alpha.max())
    unit = 2.0 ** (math.frexp(largest)[1] - 53) if largest > 0 else 1.0
    most = np.minimum(np.floor(box / unit), 2.0**53)
    return np.minimum(np.rint(alpha / unit), most), most, unit


def whole_sum(steps: Array) -> int:
    """The exact sum of whole numbers up to 2⁵³."""
    high = np.floor(steps / 2.0**26)
    return int(high.sum()) * 2**26 + int((steps - high * 2.0**26).sum())


def moved(steps: Array, most: Array, by: int) -> Array:
    """Whole numbers in [0, most] whose sum is changed by this number, those with most room on both sides first."""
    for i in np.argsort(-np.minimum(steps, most - steps), kind="stable"):
        if by == 0:
            break
        change = min(by, int(most[i] - steps[i])) if by > 0 else max(by, -int(steps[i]))
        steps[i] += change
        by -= change
    return steps


def filled(alpha: Array, box: Array, total: float) -> Array:
    """α scaled down, or raised towards its box, until it sums to `total`; left alone if it does so already."""
    missing = math.fsum([total, *(-alpha)])
    if abs(missing) <= 2 * np.finfo(float).eps * total:
        return alpha
    if missing < 0:
        alpha = alpha * (total / math.fsum(alpha))
    else:
        room = np.where(alpha > 0, box - alpha, 0.0)
        room = room if room.sum() > missing else box - alpha
        alpha = np.minimum(alpha + room * (missing / room.sum()), box)
    widest = int(np.argmax(np.minimum(alpha, box - alpha)))
    rest = math.fsum([total, *(-alpha)])
    alpha[widest] = np.clip(alpha[widest] + rest, 0.0, box[widest])
    return alpha


def flat_bottom(breakpoints: Array, slopes: Array, target: float) -> tuple[float, float]:
    """Where a convex piecewise linear function is least: its slope starts at −target and grows by
    slopes[i] at breakpoints[i]. An interval when the slope is zero between two breakpoints."""
    order = np.argsort(breakpoints, kind="stable")
    reached = np.cumsum(slopes[order])
    rounding = 8 * len(slopes) * np.finfo(float).eps * reached[-1]
    first = min(int(np.searchsorted(reached, target - rounding)), len(order) - 1)
    low = float(breakpoints[order[first]])
    if reached[first] > target + rounding:
        return low, low
    return low, float(breakpoints[order[first + 1]]) if first + 1 < len(order) else math.inf


def zeros(function: Callable[[float], float], breaks: Array, tolerance: float) -> tuple[float, float]:
    """Where a function vanishes that increases, in straight lines between these breakpoints and beyond them: a point,
    or an interval where it is flat. Values up to the tolerance, which is that of rounding, count as zero."""
    inner, function = np.unique(breaks), cache(function)  # both searches look at nearly the same places
    width = float(inner[-1] - inner[0] + np.abs(inner).max()) or 1.0
    places = [float(inner[0]) - width, *inner.tolist(), float(inner[-1]) + width]
    first, end = bisect_left(places, -tolerance, key=function), bisect_right(places, tolerance, key=function)
    if end - first == 1:
        return places[first], places[first]
    if end - first > 1:
        return -math.inf if first == 0 else places[first], math.inf if end == len(places) else places[end - 1]
    right = min(max(first, 1), len(places) - 1)
    left = places[right - 1]
    slope = (function(places[right]) - function(left)) / (places[right] - left)
    for _ in range(2):  # the second step makes up for the rounding of the first
        left -= function(left) / slope
    return left, left


def middle(low: float, high: float) -> float:
    """The middle of an interval, or its finite end."""
    if math.isinf(low):
        return high
    return low if math.isinf(high) else (low + high) / 2


def divergence(apart: Array, p: Array, direct: Array) -> Array:
    """u log(u/p) − u + p with u = p + apart: `direct`, or the series where u is so near to p that digits cancel."""
    near = np.abs(apart) < NEAR * p
    x = np.divide(apart, p, out=np.zeros_like(p), where=near)
    return np.where(near, p * x**2 * divergence_series(x), np.maximum(direct, 0.0))


def divergence_series(x: Array) -> Array:
    """h(x)/x² for |x| < NEAR, where h(x) = (1 + x) log(1 + x) − x = x²/2 − x³/6 + x⁴/12 − …: u log(u/p) − u + p is
    p h(x) with x = u/p − 1."""
    series = np.zeros_like(x)
    for k in range(TERMS, 1, -1):
        series = (1 / (k * (k - 1))) - x * series
    return series
