"""Alignment with the target T, a maximum: both bounds from sums over the entries, every rounding error paid for.

Kernels are their stored lower triangles, mirrored; inner products run over all n² entries, so that a pair i < j counts
twice and a pair (i, i) once. V = K(μ) and W = K(u) + εI are known entry by entry, with the errors of `pairs`.

**Lower.** ⟨V, T⟩/‖V‖ for any μ ≥ 0; where that is not certainly positive, μ = 0 and 0.

**Upper.** ‖W‖, if ⟨K_m, W⟩ ≥ ⟨K_m, T⟩ for every m: for every μ ≥ 0 then ⟨K(μ), T⟩ ≤ ⟨K(μ), W⟩ ≤ ‖K(μ)‖‖W‖. That
condition holds with the ε ≥ 0 that covers upper ends of ⟨K_m, T − K(u)⟩/tr K_m. A kernel that is zero asks for nothing.

Both bounds are good to a few units of rounding in the value, and the upper one is what the gap is compared with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..formulations.families.pairs import Pairs
from .pairs import PairSums
from .record import Certificate, limit_of, settled
from .rounding import Array, U, above, below, total_above, total_below


@dataclass(frozen=True)
class ProvedAlignment:
    """A certificate with the weights it was evaluated at, and u and ε of the witness W = K(u) + εI."""

    certificate: Certificate
    weights: Array
    witness: Array
    epsilon: float
    limit: str = ""


def certified(pairs: Pairs, together: Array, mu: Array, witness: Array, tolerance: float) -> ProvedAlignment:
    """The certificate of μ, with the better witness of two: the one that is given, and the multiple of μ that fits."""
    mu, witness = np.maximum(np.nan_to_num(mu), 0.0), np.nan_to_num(witness)
    with np.errstate(all="ignore"):
        for sharp in (False, True):
            at = Aligned(pairs, together, sharp)
            lower, plain, fitting = at.lower(mu)
            weights = mu if lower > 0 else np.zeros_like(mu)
            found = at.proved(lower, plain, weights, witness)
            if not found.certificate.proves(tolerance):
                other = at.proved(lower, plain, weights, fitting * mu)
                found = min(found, other, key=lambda one: one.certificate.upper)
            if settled(found.certificate, tolerance):
                break
    return replace(found, limit=limit_of(found.certificate, tolerance))


class Aligned:
    """The two bounds, with plain sums or with sharp ones."""

    def __init__(self, pairs: Pairs, together: Array, sharp: bool) -> None:
        self.pairs, self.sums = pairs, PairSums(pairs, sharp)
        self.target = pairs.triangle(together).astype(float)
        self.times = np.full(pairs.count, 2.0)
        self.times[pairs.diagonal] = 1.0
        diagonals = pairs.at(pairs.diagonal)
        self.traces = np.array([total_below(one, 0) for one in diagonals.T]) - above(len(diagonals) * self.sums.entry)
        self.nothing = pairs.stack.largest_entries == 0

    def lower(self, mu: Array) -> tuple[float, float, float]:
        """From below, as it is without errors, and what μ is to be multiplied by to be a witness."""
        values, off = self.sums.outputs(mu)
        along, square = math.fsum(self.times * self.target * values), math.fsum(self.times * values**2)
        if not along > 0 or not 0 < square < math.inf:
            return 0.0, 0.0, 0.0
        least = total_below([along, -total_above(self.times * off)])
        length = math.sqrt(total_above(self.times * (np.abs(values) + off) ** 2))
        value = float(below(least / length)) if least > 0 else 0.0
        return value, along / math.sqrt(square), along / square

    def proved(self, lower: float, plain: float, weights: Array, u: Array) -> ProvedAlignment:
        """The certificate of a lower bound, which without errors is `plain`, with u as the witness."""
        upper, plain_upper, epsilon = self.upper(u)
        width = total_above([upper, -lower])
        rounding = max(width - max(plain_upper - plain, 0.0), 0.0)
        # No kernel aligns better than the target itself, ‖T‖ = n: beside that an alignment may vanish.
        certificate = Certificate(
            lower, upper, upper, width=width, rounding=rounding, gain=float(self.pairs.stack.samples)
        )
        return ProvedAlignment(certificate, weights, u, epsilon)

    def upper(self, u: Array) -> tuple[float, float, float]:
        """From above, as it is without errors, and ε."""
        values, off = self.sums.outputs(u)
        off = np.where(values == 0, off, off + U * (1 + np.abs(values))) if u.any() else np.zeros_like(off)
        rest = self.times * (self.target - values)
        short, error = self.sums.pull(rest)
        epsilon = self._covering(above(short + error + self.sums.reach(self.times * off)))
        plain = self._covering(short)
        return self._length(values, off, epsilon), self._length(values, 0 * off, plain), epsilon

    def _covering(self, missing: Array) -> float:
        """The least ε ≥ 0 with ε tr K_m at least what is missing; infinite where there is no trace."""
        missing = np.where(self.nothing, 0.0, missing)
        needed = np.divide(missing, self.traces, out=np.full(len(missing), math.inf), where=self.traces > 0)
        return float(above(np.max(np.where(missing > 0, needed, 0.0), initial=0.0)))

    def _length(self, values: Array, off: Array, epsilon: float) -> float:
        raised = values.copy()
        raised[self.pairs.diagonal] += epsilon
        return float(above(math.sqrt(total_above(self.times * (np.abs(raised) * (1 + 2 * U) + off) ** 2))))
