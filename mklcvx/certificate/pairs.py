"""Two stages: two bounds on the first stage, from sums over pairs of samples, every rounding error paid for.

`ts` and `ts_l1`
----------------
Pairs i ≤ j have K-examples z_ij, the stored entries themselves, labels t_ij, and weights w_ij = 1/N exactly
(`balanced`: ½ over the number of positive, or negative, pairs), which are no doubles: β ≤ w holds because β is at most
the double below w, and losses are paid with the double above. m = t μ'z are margins, P = Σ β t z is the pull, μ ≥ 0.

**Bounds.**  `ts`     Σβ − ‖P₊‖²/(2λ)            ≤ v ≤ (λ/2)‖μ‖² + Σ w(1 − m)₊
             `ts_l1`  Σβ, for P ≤ λ              ≤ v ≤ λΣμ + Σ w(1 − m)₊

P ≤ λ holds exactly: β is shortened until upper ends of the pull say so.

**Gap.** Since Σ β m = μ'P, the bounds differ by

    Σ_ij max(β(m − 1), (w − β)(1 − m)) + Σ_l [(λμ_l − P_l₊)²/(2λ) + μ_l(−P_l)₊]        (`ts_l1`: Σ_l μ_l(λ − P_l)),

with a sum over the kernels l; no term is negative. In `ts` the bracket is convex in P_l and largest at an end of its
interval. The gap is compared with what weights and pull cost, (λ/2)‖μ‖² + ‖P₊‖²/(2λ), or λΣμ.

**Errors.** M terms make a margin: |m̃ − m| ≤ (M+1)u μ'|z|. A block of b pairs makes a part of the pull, in any order:
(b+1)u Σ β|z|; the parts are added by `fsum`. The sharp way adds products with what they lose by `fsum`, and leaves u
of the result. Entries of kernels in r factors are off by (r+1)u max_i K_ii. Underflow is in the TINY of margins and
pull. λμ − P may lose 2⁻¹⁰⁷⁴ before it is squared and divided by λ: that is nothing beside u of a difference above
2⁻¹⁰²⁰, and beside TINY where it is smaller. So it is with θ in `regularisers`.

`alignment`
-----------
Alignment with the target T, a maximum: both bounds from sums over the entries, every rounding error paid for.

Kernels are their stored lower triangles, mirrored; inner products run over all n² entries, so that a pair i < j counts
twice and a pair (i, i) once. V = K(μ) and W = K(u) + δI are known entry by entry, with the errors above.

**Lower.** ⟨V, T⟩/‖V‖ for any μ ≥ 0; where that is not certainly positive, μ = 0 and 0.

**Upper.** ‖W‖, if ⟨K_m, W⟩ ≥ ⟨K_m, T⟩ for every m: for every μ ≥ 0 then ⟨K(μ), T⟩ ≤ ⟨K(μ), W⟩ ≤ ‖K(μ)‖‖W‖. That
condition holds with the δ ≥ 0 that covers upper ends of ⟨K_m, T − K(u)⟩/tr K_m. A kernel that is zero asks for nothing.

Both bounds are good to a few units of rounding in the value, and the upper one is what the gap is compared with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..formulations import Formulation
from ..formulations._formulation import Own
from ..formulations.families.pairs import Pairs
from ..formulations.families.two_stage import PairTask
from ..problem.low_rank import LowRank
from .record import Certificate, ProvedPoint, refined_unless_settled
from .rounding import (
    Array,
    U,
    above,
    below,
    no_wider,
    product_terms,
    square_over,
    times_square,
    total_above,
    total_below,
)

SHRINKING = 4  # attempts to shorten β before it is set to zero


@dataclass(frozen=True)
class ProvedPairs(ProvedPoint):
    beta: Array
    weights: Array


@dataclass(frozen=True)
class ProvedAlignment(ProvedPoint):
    """`witness` is u and `epsilon` is δ of the witness W = K(u) + δI."""

    weights: Array
    witness: Array
    epsilon: float


def certified(formulation: Formulation, task: PairTask, **point: Own) -> ProvedPairs | ProvedAlignment:
    """The certificate of a point of the first stage: of μ and β, or of an alignment."""
    if formulation.maximises:
        return alignment_certified(**point)
    return pairs_certified(formulation.name, task, **point)


class PairSums:
    """Sums over the K-examples with bounds on their errors, plain or sharp."""

    def __init__(self, pairs: Pairs, sharp: bool) -> None:
        self.pairs, self.sharp = pairs, sharp
        kernels = pairs.stack.kernels
        self.entry = np.zeros(pairs.kernels)
        if isinstance(kernels, LowRank):
            ranks, squares = kernels.ranks, [np.sum(kernels.factor(m) ** 2, axis=1) for m in range(len(kernels))]
            largest = [float(above(square.max(), r)) for r, square in zip(ranks, squares, strict=True)]
            self.entry = np.array([(r + 1) * U * size for r, size in zip(ranks, largest, strict=True)])

    def outputs(self, weights: Array) -> tuple[Array, Array]:
        """Σ_m weight_m z_m for every pair, and its error."""
        values, errors, sizes = np.empty(self.pairs.count), np.empty(self.pairs.count), np.abs(weights)
        for rows, columns in self.pairs.blocks():
            if self.sharp:
                terms = product_terms(np.broadcast_to(weights[:, None], columns.shape), columns)
                values[rows] = [math.fsum(each) for each in terms.reshape(-1, columns.shape[1]).T.tolist()]
                errors[rows] = 2 * U * np.abs(values[rows])
            else:
                values[rows] = weights @ columns
                errors[rows] = (len(weights) + 2) * U * (sizes @ np.abs(columns))
        return values, above(errors + float(sizes @ self.entry), len(weights))

    def pull(self, coefficients: Array) -> tuple[Array, Array]:
        """Σ_ij c_ij z_ij for every kernel, and its error."""
        parts, errors, sizes = [], np.zeros(self.pairs.kernels), np.abs(coefficients)
        for rows, columns in self.pairs.blocks():
            if self.sharp:
                part = np.array([math.fsum(product_terms(coefficients[rows], entries)) for entries in columns])
                errors += 2 * U * np.abs(part)
            else:
                part = columns @ coefficients[rows]
                errors += (columns.shape[1] + 2) * U * (np.abs(columns) @ sizes[rows])
            parts.append(part)
        values = np.array([math.fsum(each) for each in zip(*parts, strict=True)])
        longest = min(self.pairs.count, self.pairs.block) + len(parts)
        return values, above(errors + 2 * U * np.abs(values) + self.entry * total_above(sizes), longest)

    def reach(self, sizes: Array) -> Array:
        """Σ_ij size_ij |z_ij| for every kernel, from above."""
        total = np.zeros(self.pairs.kernels)
        for rows, columns in self.pairs.blocks():
            total = total + np.abs(columns) @ sizes[rows]
        return np.asarray(above(total + self.entry * total_above(sizes), self.pairs.count + 8))


# ------------------------------------------------------------------------------------------------- ts and ts_l1
@np.errstate(all="ignore")
def pairs_certified(name: str, task: PairTask, beta: Array, mu: Array, tolerance: float) -> ProvedPairs:
    """The certificate of β and μ: with plain sums, then with sharp ones."""
    mu = np.maximum(np.nan_to_num(mu), 0.0)
    return refined_unless_settled(lambda sharp: PairEvaluation(name, task, beta, mu, sharp).proved(), tolerance)


class PairEvaluation:
    """β and μ with everything that the bounds need."""

    def __init__(self, name: str, task: PairTask, beta: Array, mu: Array, sharp: bool) -> None:
        self.task, self.mu, self.sums = task, mu, PairSums(task.pairs, sharp)
        self.curved = name == "ts"
        self.down, self.up = weight_ends(task)
        self.beta = np.clip(np.nan_to_num(beta), 0.0, self.down)
        outputs, self.off = self.sums.outputs(mu)
        self.margins = outputs * task.labels
        self.pull, self.pull_off = self.sums.pull(self.beta * task.labels)
        self.shortened = 0.0 if self.curved else self._shorten()

    def _shorten(self) -> float:
        """Shorten β until P ≤ λ certainly holds; return what that costs."""
        before = math.fsum(self.beta)
        for _ in range(SHRINKING):
            strongest = float(np.max(self.pull + self.pull_off))
            if strongest <= self.task.lam:
                break
            self.beta = self.beta * (self.task.lam / strongest * (1 - 8 * U))
            self.pull, self.pull_off = self.sums.pull(self.beta * self.task.labels)
        if not float(np.max(self.pull + self.pull_off)) <= self.task.lam:
            self.beta, self.pull, self.pull_off = np.zeros_like(self.beta), *np.zeros((2, len(self.pull)))
        return before - math.fsum(self.beta)

    def proved(self) -> ProvedPairs:
        lam, mu, lack = self.task.lam, self.mu, 1 - self.margins
        loss = self.up * np.maximum(lack + self.off + 2 * U * np.abs(lack), 0.0)
        penalty = times_square(lam, mu) / 2 if self.curved else lam * mu
        costs = square_over(np.maximum(self.pull + self.pull_off, 0.0), 2 * lam) if self.curved else np.zeros(1)
        least = square_over(np.maximum(self.pull - self.pull_off, 0.0), 2 * lam) if self.curved else np.zeros(1)
        lower, upper = total_below([*self.beta, *(-costs)]), total_above([*penalty, *loss])
        wide, plain = self._width(1.0), self._width(0.0)
        width = no_wider(wide, lower, upper)
        certificate = Certificate(
            lower,
            upper,
            scale=max(total_below([*penalty, *least]), 0.0),
            width=width,
            rounding=min(max(wide - plain, 0.0) + self.shortened, max(width, 0.0)),
        )
        slopes = np.stack([below(self.pull - self.pull_off, 1), above(self.pull + self.pull_off, 1)])
        return ProvedPairs(certificate, self.beta, mu, slopes=slopes)

    def _width(self, blur: float) -> float:
        beyond = self.margins - 1
        off = blur * above(self.off + 2 * U * np.abs(beyond))
        room = np.maximum(self.up - self.beta, 0.0) if blur else np.maximum(self.down - self.beta, 0.0)
        terms = np.maximum(self.beta * (beyond + off), room * (off - beyond))
        return total_above([*terms, *self._parts(blur)])

    def _parts(self, blur: float) -> Array:
        """(λμ − P₊)²/(2λ) + μ(−P)₊ at the worse end of the pull, or μ(λ − P)."""
        lam, off = self.task.lam, self.pull_off
        if not self.curved:
            return np.asarray(self.mu * (lam - self.pull + blur * (off + 2 * U * lam)))
        return np.maximum(*(self._at_pull(self.pull + side * blur * off) for side in (-1, 1)))

    def _at_pull(self, pull: Array) -> Array:
        lam, wanted = self.task.lam, np.maximum(pull, 0.0)
        off = np.abs(lam * self.mu - wanted) + 4 * U * (lam * self.mu + wanted)
        return np.asarray(square_over(off, 2 * lam) + self.mu * np.maximum(-pull, 0.0))


def weight_ends(task: PairTask) -> tuple[Array, Array]:
    """The doubles next to w, below and above; both are w itself where that is a double."""
    down, up, positive = np.array(task.weight), np.array(task.weight), task.labels > 0
    sides = [positive, ~positive] if down.min() < down.max() else [positive | True]
    for side in sides:
        value, meant = float(up[side][0]), Fraction(1, len(sides) * int(side.sum()))
        if Fraction(value) > meant:
            down[side] = np.nextafter(value, 0.0)
        if Fraction(value) < meant:
            up[side] = np.nextafter(value, 1.0)
    return down, up


# ----------------------------------------------------------------------------------------------------- alignment
@np.errstate(all="ignore")
def alignment_certified(pairs: Pairs, together: Array, mu: Array, witness: Array, tolerance: float) -> ProvedAlignment:
    """The certificate of μ, with the better witness of two: the one that is given, and the multiple of μ that fits."""
    mu, witness = np.maximum(np.nan_to_num(mu), 0.0), np.nan_to_num(witness)

    def evaluate(sharp: bool) -> ProvedAlignment:
        at = Aligned(pairs, together, sharp)
        lower, plain, fitting = at.lower(mu)
        weights = mu if lower > 0 else np.zeros_like(mu)
        point = at.proved(lower, plain, weights, witness)
        if point.certificate.proves(tolerance):
            return point
        return min(point, at.proved(lower, plain, weights, fitting * mu), key=lambda tried: tried.certificate.upper)

    return refined_unless_settled(evaluate, tolerance)


class Aligned:
    """The two bounds, with plain sums or with sharp ones."""

    def __init__(self, pairs: Pairs, together: Array, sharp: bool) -> None:
        self.pairs, self.sums = pairs, PairSums(pairs, sharp)
        self.target = pairs.triangle(together).astype(float)
        self.times = np.full(pairs.count, 2.0)
        self.times[pairs.diagonal] = 1.0
        diagonals = pairs.at(pairs.diagonal)
        self.traces = np.array([total_below(diagonal, 0) for diagonal in diagonals.T])
        self.traces -= above(len(diagonals) * self.sums.entry)
        self.nothing = pairs.stack.largest_entries == 0

    def lower(self, mu: Array) -> tuple[float, float, float]:
        """The lower bound, its value without rounding errors, and the factor that makes μ a witness."""
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
        width = no_wider(math.inf, lower, upper)
        rounding = max(width - max(plain_upper - plain, 0.0), 0.0)
        # No kernel aligns better than the target itself, ‖T‖ = n: beside that an alignment may vanish.
        certificate = Certificate(
            lower, upper, upper, width=width, rounding=rounding, gain=float(self.pairs.stack.samples)
        )
        return ProvedAlignment(certificate, weights, u, epsilon)

    def upper(self, u: Array) -> tuple[float, float, float]:
        """The upper bound, its value without rounding errors, and δ."""
        values, off = self.sums.outputs(u)
        off = np.where(values == 0, off, off + U * (1 + np.abs(values))) if u.any() else np.zeros_like(off)
        short, error = self.sums.pull(self.times * (self.target - values))
        epsilon = self._covering(above(short + error + self.sums.reach(self.times * off)))
        plain = self._covering(short)
        return self._length(values, off, epsilon), self._length(values, 0 * off, plain), epsilon

    def _covering(self, missing: Array) -> float:
        """The least δ ≥ 0 with δ tr K_m at least what is missing; infinite where there is no trace."""
        missing = np.where(self.nothing, 0.0, missing)
        needed = np.divide(missing, self.traces, out=np.full(len(missing), math.inf), where=self.traces > 0)
        return float(above(np.max(np.where(missing > 0, needed, 0.0), initial=0.0)))

    def _length(self, values: Array, off: Array, epsilon: float) -> float:
        raised = values.copy()
        raised[self.pairs.diagonal] += epsilon
        return float(above(math.sqrt(total_above(self.times * (np.abs(raised) * (1 + 2 * U) + off) ** 2))))
