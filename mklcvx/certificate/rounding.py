"""Directed rounding by hand: numbers that are certainly above, or below, what was meant.

u = 2⁻⁵³. A sum, product, quotient or root of doubles has the relative error u; `math.fsum` adds without any other. So a
number x that was computed in at most k such steps from terms of one sign is off by less than (k + 1)u|x|, and `above`
and `below` leave that much room.

**What is assumed**, and nothing else. Every bound in this folder holds for whatever a solver or a factorisation
returned, if

- doubles are those of IEEE 754, rounded to nearest, and `math.fsum` is exact but for one rounding;
- exp, log, log1p, logaddexp, hypot and powers are accurate to 16u (POWER). They serve the logistic, Poisson and softmax
  losses (`sample_terms`, `joint`), ‖·‖_p (`regularisers`, `weight_shapes`), `hypergraph_smooth` and the entries of
  streamed Gaussians; all others need sums, products, quotients and roots alone;
- an entry of a product of matrices or vectors is a sum of products, in any order, in blocks or with fused operations,
  but not by a fast algorithm such as Strassen's (`passes`, `ridge`, `hypergraphs`, `labels`, `pairs`);
- Cholesky's factorisation in LAPACK solves its triangular systems by substitution, pivots' reciprocals allowed. One
  bound needs that, the first and cheapest of `ridge`: those by blocks and from residuals evaluate what was left over;
- the record is made of doubles: Cw, w/(νn), πc, (1 − π)c, δc, νΣc and cy are the doubles that NumPy makes of these
  products, from the left, and the problem is the one with these.

**Underflow** adds at most 2⁻¹⁰⁷⁴ in each step: TINY covers all of them together, as long as no step magnifies what one
before it lost. A square does so if a small divisor or a large factor follows: `square_over` and `times_square` put that
first. A power is at least TINY more than what it is computed as, before it is multiplied. A product with a large number
is safe where the other number has an error of its own from `above`, which is magnified as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

U = 2.0**-53
TINY = 2.0**-960
STEPS = 8
POWER = 16  # units of roundoff that a power or a logarithm is trusted to


def above(value: Any, steps: int = STEPS) -> Any:
    """An upper bound on the exact value of what was computed in so many steps."""
    return value + ((steps + 2) * U * np.abs(value) + TINY)


def below(value: Any, steps: int = STEPS) -> Any:
    return value - ((steps + 2) * U * np.abs(value) + TINY)


def square_over(x: Any, divisor: Any) -> Any:
    """x²/divisor, in two steps, whose underflow stays below TINY: that of x² would be magnified by a small divisor.
    Where x/divisor underflows x is below 4, for no divisor is above 2¹⁰²⁴."""
    return x * (np.asarray(x, dtype=float) / divisor)


def times_square(factor: Any, x: Any) -> Any:
    """factor·x² in the same way. Where x·factor underflows x is below 2⁵³, for no factor is below 2⁻¹⁰⁷⁴."""
    return x * (x * factor)


def total_above(terms: Any, steps: int = STEPS) -> float:
    """An upper bound on the sum of terms, each computed in so many steps."""
    values = np.asarray(terms, dtype=float).ravel()
    return float(above(math.fsum(values) + (steps + 2) * U * math.fsum(np.abs(values)), 2))


def total_below(terms: Any, steps: int = STEPS) -> float:
    return -total_above(-np.asarray(terms, dtype=float), steps)


def no_wider(gap: float, lower: float, upper: float) -> float:
    """A gap, which need not be wider than its bounds are apart: an auditor knows no more than these."""
    return min(gap, float(above(upper - lower, 1)))


def product_terms(left: Array, right: Array) -> Array:
    """Numbers that add up to Σ left·right exactly."""
    return np.concatenate([part.ravel() for part in exact_product(left, right)])


def exact_product(left: Array, right: Array) -> tuple[Array, Array]:
    """Every product as a double and its error (Dekker 1971)."""
    product = left * right
    a, b = _halves(left), _halves(right)
    return product, ((a[0] * b[0] - product) + a[0] * b[1] + a[1] * b[0]) + a[1] * b[1]


def _halves(values: Array) -> tuple[Array, Array]:
    """Two halves of 26 bits (Veltkamp); exponents of 2^996 and more are not met here."""
    large = 134217729.0 * values
    high = large - (large - values)
    return high, values - high
