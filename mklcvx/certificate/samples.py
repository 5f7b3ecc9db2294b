"""The samples' side of a certificate: f at the samples with its errors, and what the margins cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..formulations import Task
from .passes import Seen
from .rounding import Array, U, above, product_terms, total_above

Parts = tuple[float, float]  # a number as the sum of two, the second below the last bit of the first


@dataclass(frozen=True)
class Outputs:
    """f(x_i) + shift ± error at the samples; the shift is the exact sum of `terms`, up to `shift_error`."""

    values: Array
    error: Array
    terms: Array
    shift_error: float

    def margins(self, y: Array, bias: Parts) -> tuple[Array, Array]:
        """y(f + b) and its error."""
        constant = math.fsum([*bias, *self.terms])
        values = self.values + constant
        off = self.error + self.shift_error + 2 * U * abs(constant) + 2 * U * np.abs(values)
        return y * values, above(off)

    @property
    def shift(self) -> float:
        return math.fsum(self.terms)

    def uncentred(self, bias: float) -> Parts:
        """The bias less the shift, in two parts: with large constants in the kernels one would be too coarse."""
        high = math.fsum([bias, *(-self.terms)])
        return high, math.fsum([bias, *(-self.terms), -high])

    def around(self, interval: Parts, bias: Parts) -> Parts:
        """An interval of biases less the shift, as doubles; the bias that was chosen lies in it."""
        low, high = (end - self.shift for end in interval)
        return min(low, bias[0]), max(high, bias[0])

    def plus(self, other: Outputs) -> Outputs:
        values = self.values + other.values
        error = above(self.error + other.error + U * np.abs(values))
        terms = np.concatenate([self.terms, other.terms])
        return Outputs(values, error, terms, float(above(self.shift_error + other.shift_error)))


@dataclass(frozen=True)
class Samples:
    """The samples' side: what the margins of a point cost, from above."""

    task: Task
    alpha: Array
    outputs: Outputs
    at_zero: Array  # ½δ(α̂ − c)² where α̂ = 0, and where it is at the box
    at_box: Array

    def stretched(self, t: float, delta: float, low: Array | None) -> Samples:
        c = t * (self.alpha if low is None else self.alpha + self.task.y * low)
        far = np.abs(self.task.box - c) + 3 * U * np.abs(c)
        return replace(self, at_zero=above(delta * c**2 / 2), at_box=above(delta * far**2 / 2))

    def terms(self, t: float, bias: Parts, level: float, blur: float = 1.0) -> tuple[Array, Array]:
        """Of the upper bound, and of the gap; `blur` 0 leaves out what rounding costs."""
        margins, off = self.outputs.margins(self.task.y, bias)
        excess = t * margins - level
        off = blur * above(t * off + 3 * U * np.abs(t * margins) + 2 * U * np.abs(excess))
        zero, full = self.at_zero, self.at_box
        alpha, room = self.alpha, self.task.box - self.alpha
        bound = np.maximum(zero, above(self.task.box * (off - excess)) + full)
        gap = np.maximum(above(alpha * (excess + off)) + zero, above(room * (off - excess)) + full)
        return bound, gap

    def lack(self, bias: Parts, level: float) -> float:
        """What the margins of free samples lack, with what rounding may take from them."""
        margins, off = self.outputs.margins(self.task.y, bias)
        free = (self.alpha > 0) & (self.alpha < self.task.box)
        return float(np.max((level - margins + off)[free], initial=0.0))


def combined_outputs(found: Seen, mu: Array, inexact: bool = False) -> Outputs:
    """Σ μ_m (z_m + shift_m)."""
    count = len(mu) + 2 + int(inexact)
    values = mu @ found.z
    error = above(mu @ found.error + count * U * (mu @ np.abs(found.z)), count + 8)
    terms = product_terms(mu, found.shift)
    shift_error = total_above(mu * found.shift_error)
    if inexact:
        shift_error += above(U * total_above(np.abs(terms)))
    return Outputs(values, error, terms, float(shift_error))
