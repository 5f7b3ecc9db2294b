"""The error of a Gaussian that was computed from features: |k̂ − exp(−γ‖x − z‖²)| ≤ (0.4(d + 3) + 17)u.

Features and γ are the stored numbers, read as exact reals; d is the number of features, at most 10⁶.

1. A difference x_k − z_k is off by u of itself, its square by 3u (+ 2⁻¹⁰⁷⁴ by underflow). No term of the sum is
   negative: added in any order, fused or not, d of them are off by (d + 2)u of the sum, to first order; large offsets
   of the features do no harm.
2. Multiplied by γ, t = γ‖x − z‖² is known to ρt with ρ = 1.01 (d + 3)u, and t ≥ 0.
3. |exp(−t̂) − exp(−t)| ≤ ρt exp(−(1 − ρ)t) ≤ ρ/(e(1 − ρ)) < 0.4 (d + 3)u: where a small error of the exponent is large,
   the Gaussian is small.
4. The exponential function is trusted to 16u, as powers and logarithms are. Underflow, also of γ ≤ 10³⁰ times what the
   squares lost, stays below one u more.
"""

from __future__ import annotations

from .rounding import POWER, U, above


def entry_error(features: int) -> float:
    """The largest error of an entry."""
    return float(above((0.4 * (features + 3) + POWER + 1) * U))
