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
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq
from numpy.typing import NDArray

from ...errors import InternalError

Array = NDArray[np.float64]
ZERO, ONE = fmpq(0), fmpq(1)
ROUNDED = fmpq(1, 2**40)  # a total that is missed by less was missed by rounding
PRECISIONS = (128, 256, 512, 1024)  # bits: the next one is tried where the radii of the balls contribute to the width
LARGEST = float(np.finfo(float).max)


def exact(value: float) -> fmpq:
    """The double as a rational number; NaN and infinities count as zero."""
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
    if missing != 0:
        raise InternalError("a feasible set is empty in exact arithmetic")
    return inside


def on_simplex(weights: Iterable[float], cap: fmpq = ONE) -> list[fmpq]:
    """Non-negative weights up to the cap that sum to one, dyadic where they were; even ones if all are zero."""
    given = [max(value, ZERO) for value in exacts(weights)]
    size = total(given)
    if size == 0:
        return [fmpq(1, len(given))] * len(given)
    if abs(size - 1) > ROUNDED:
        given = [value / size for value in given]
    heaviest = max(range(len(given)), key=lambda m: given[m])
    rest = ONE - total(value for m, value in enumerate(given) if m != heaviest)
    if max(given) <= cap and ZERO < rest <= cap:
        return [rest if m == heaviest else value for m, value in enumerate(given)]
    return filled(given, [cap] * len(given), ONE)


# ------------------------------------------------------------------------------------------------- from above
def top(ball: arb) -> arb:
    """The upper end of a number that is not negative: enough for a bound that grows with it."""
    return arb(ball).upper().max(arb(0))


def power(base: arb, exponent: fmpq) -> arb:
    """base^exponent of an exact base ≥ 0, exponent > 0."""
    return arb(0) if base == 0 else arb(base) ** arb(exponent)


def largest(balls: Iterable[arb]) -> arb:
    """A ball around the largest of some numbers."""
    return reduce(arb.max, balls)


def added(balls: Iterable[Any]) -> arb:
    return sum((arb(ball) for ball in balls), arb(0))


def inner(left: list[arb], right: list[arb]) -> arb:
    return added(a * b for a, b in zip(left, right, strict=True))


def as_balls(matrix: NDArray[Any]) -> arb_mat:
    """Doubles as balls without radius."""
    return arb_mat(*matrix.shape, np.asarray(matrix, dtype=float).ravel().tolist())


# ------------------------------------------------------------------------------------------------ back to doubles
def middles(matrix: arb_mat) -> Array:
    return np.array([float(entry) for entry in matrix.entries()]).reshape(matrix.nrows(), matrix.ncols())


def middle(ball: arb) -> fmpq:
    """The midpoint, an exact number."""
    mantissa, exponent = ball.mid().man_exp()
    shift = int(exponent)
    return fmpq(int(mantissa) << shift) if shift >= 0 else fmpq(int(mantissa), 1 << -shift)


def fraction(end: arb) -> Fraction:
    """An exact ball, such as an end of another one, as a fraction."""
    exactly = middle(end)
    return Fraction(int(exactly.p), int(exactly.q))


def rounded_down(ball: arb) -> float:
    """The largest double that is certainly at most the number in the ball."""
    if not ball.is_finite():
        return -math.inf
    with ctx.workprec(PRECISIONS[-1]):
        end = fraction(ball.lower())
    if abs(end) > LARGEST:
        return LARGEST if end > 0 else -math.inf
    nearest = float(end)
    return nearest if Fraction(nearest) <= end else math.nextafter(nearest, -math.inf)


def rounded_up(ball: arb) -> float:
    with ctx.workprec(PRECISIONS[-1]):
        return -rounded_down(-ball)
