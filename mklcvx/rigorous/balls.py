"""Exact numbers, balls, and the way back to doubles.

A double is a dyadic number and is taken at its word: kernels, parameters and weights of samples define the problem
exactly. A ball [m ± r] contains the real number that it stands for, and every operation on balls encloses the result.

**Exactly feasible points.** Every feasible set here is made of boxes and totals. Values clipped to their boxes
[0, cap_i] are moved, one after the other and no further than their boxes allow, until they sum to the total exactly.
A solver's point misses its total by rounding, so that usually one value moves in its last digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from ..errors import InternalError

Array = NDArray[np.float64]
ZERO = fmpq(0)
PRECISION = 128  # bits


def exact(value: float) -> fmpq:
    """The double as the rational number that it is; no number at all counts as zero."""
    return fmpq(*float(value).as_integer_ratio()) if math.isfinite(value) else ZERO


def exacts(values: Iterable[float]) -> list[fmpq]:
    return [exact(value) for value in values]


def total(values: Iterable[Any]) -> Any:
    return sum(values, ZERO)


def filled(values: Sequence[fmpq], caps: Sequence[fmpq], target: fmpq) -> list[fmpq]:
    """Values in their boxes whose sum is the target, free ones moved first."""
    inside = [min(max(value, ZERO), cap) for value, cap in zip(values, caps, strict=True)]
    missing = target - total(inside)
    freest = sorted(range(len(inside)), key=lambda i: -min(inside[i], caps[i] - inside[i]))
    widest = sorted(range(len(inside)), key=lambda i: -(caps[i] - inside[i] if missing > 0 else inside[i]))
    for i in (*freest[:1], *widest):
        step = min(missing, caps[i] - inside[i]) if missing > 0 else max(missing, -inside[i])
        inside[i], missing = inside[i] + step, missing - step
        if missing == 0:
            return inside
    if missing == 0:
        return inside
    raise InternalError("a feasible set is empty in exact arithmetic")


def on_simplex(weights: Iterable[float]) -> list[fmpq]:
    """Non-negative weights that sum to one; even ones if all are zero."""
    given = [max(value, ZERO) for value in exacts(weights)]
    size = total(given)
    return [value / size for value in given] if size > 0 else [fmpq(1, len(given))] * len(given)


# ------------------------------------------------------------------------------------------------- from above
def top(ball: arb) -> arb:
    """The upper end of what is known not to be negative: enough for a bound that grows with it."""
    return arb(ball).upper().max(arb(0))


def power(base: arb, exponent: fmpq) -> arb:
    """base^exponent of an exact base ≥ 0, exponent > 0."""
    return arb(0) if base == 0 else arb(base) ** arb(exponent)


def largest(balls: Iterable[arb]) -> arb:
    """A ball around the largest of some numbers."""
    first, *rest = balls
    for ball in rest:
        first = first.max(ball)
    return first


def added(balls: Iterable[Any]) -> arb:
    return sum((arb(ball) for ball in balls), arb(0))


# ------------------------------------------------------------------------------------------------ back to doubles
def fraction(end: arb) -> Fraction:
    """An exact ball, such as an end of another one, as a fraction."""
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def rounded_down(ball: arb) -> float:
    """The largest double that is certainly at most the number in the ball."""
    if not ball.is_finite():
        return -math.inf
    with ctx.workprec(PRECISION):
        end = fraction(ball.lower())
    nearest = float(end)
    return nearest if Fraction(nearest) <= end else math.nextafter(nearest, -math.inf)


def rounded_up(ball: arb) -> float:
    with ctx.workprec(PRECISION):
        return -rounded_down(-ball)
