"""Pairs of samples, `ts` and `ts_l1`: two bounds on the first stage, every rounding error paid for.

Pairs i ≤ j have K-examples z_ij, the stored entries themselves, labels t_ij, and weights w_ij = 1/N exactly
(`balanced`: ½ over the number of positive, or negative, pairs), which are no doubles: β ≤ w holds because β is at most
the double below w, and losses are paid with the double above. m = t μ'z are margins, P = Σ β t z is the pull, μ ≥ 0.

**Bounds.**  `ts`     Σβ − ‖P₊‖²/(2λ)            ≤ v ≤ (λ/2)‖μ‖² + Σ w(1 − m)₊
             `ts_l1`  Σβ, for P ≤ λ              ≤ v ≤ λΣμ + Σ w(1 − m)₊

P ≤ λ holds exactly: β is shortened until upper ends of the pull say so.

**Gap.** Since Σ β m = μ'P, the bounds differ by

    Σ_ij max(β(m − 1), (w − β)(1 − m)) + Σ_k [(λμ_k − P_k₊)²/(2λ) + μ_k(−P_k)₊]        (`ts_l1`: Σ_k μ_k(λ − P_k)),

none of them negative. In `ts` the bracket is convex in P_k and largest at an end of its interval. The gap is compared
with what weights and pull cost, (λ/2)‖μ‖² + ‖P₊‖²/(2λ), or λΣμ.

**Errors.** M terms make a margin: |m̃ − m| ≤ (M+1)u μ'|z|. A block of b pairs makes a part of the pull, in any order:
(b+1)u Σ β|z|; the parts are added by `fsum`. The sharp way adds products with what they lose by `fsum`, and leaves u
of the result. Entries of kernels in r factors are off by (r+1)u max_i K_ii.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..formulations.families.pairs import Pairs
from ..formulations.families.two_stage import PairTask
from ..problem.low_rank import LowRank
from .record import Certificate, limit_of, settled
from .rounding import Array, U, above, product_terms, total_above, total_below

SHRINKING = 4  # times that β is shortened before it is given up


@dataclass(frozen=True)
class ProvedPairs:
    """A certificate with the very point that it was evaluated at; `limit` says what keeps it from being tighter."""

    certificate: Certificate
    beta: Array
    weights: Array
    limit: str = ""


class PairSums:
    """Sums over the K-examples with bounds on their errors, plain or sharp."""

    def __init__(self, pairs: Pairs, sharp: bool) -> None:
        self.pairs, self.sharp = pairs, sharp
        kernels = pairs.stack.kernels
        self.entry = np.zeros(pairs.kernels)
        if isinstance(kernels, LowRank):
            largest = [
                float(above(np.sum(kernels.factor(m) ** 2, axis=1).max(), r)) for m, r in enumerate(kernels.ranks)
            ]
            self.entry = np.array([(r + 1) * U * size for r, size in zip(kernels.ranks, largest, strict=True)])

    def outputs(self, weights: Array) -> tuple[Array, Array]:
        """Σ_k weight_k z_k for every pair, and its error."""
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
                part = np.array([math.fsum(product_terms(coefficients[rows], one)) for one in columns])
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


def certified(name: str, task: PairTask, beta: Array, mu: Array, tolerance: float) -> ProvedPairs:
    """The certificate of β and μ: with plain sums, then with sharp ones."""
    mu = np.maximum(np.nan_to_num(mu), 0.0)
    with np.errstate(all="ignore"):
        for sharp in (False, True):
            at = Evaluation(name, task, beta, mu, sharp)
            certificate = at.certificate()
            if settled(certificate, tolerance):
                break
    return ProvedPairs(certificate, at.beta, mu, limit_of(certificate, tolerance))


class Evaluation:
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
        """β as long as P ≤ λ certainly holds; how much that costs."""
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

    def certificate(self) -> Certificate:
        lam, mu, parts = self.task.lam, self.mu, self._curved if self.curved else self._linear
        lack = 1 - self.margins
        loss = self.up * np.maximum(lack + self.off + 2 * U * np.abs(lack), 0.0)
        penalty = lam / 2 * mu**2 if self.curved else lam * mu
        costs = np.maximum(self.pull + self.pull_off, 0.0) ** 2 / (2 * lam) if self.curved else np.zeros(1)
        least = np.maximum(self.pull - self.pull_off, 0.0) ** 2 / (2 * lam) if self.curved else np.zeros(1)
        width, plain = (self._width(parts, blur) for blur in (1.0, 0.0))
        return Certificate(
            lower=total_below([*self.beta, *(-costs)]),
            upper=total_above([*penalty, *loss]),
            scale=max(total_below([*penalty, *least]), 0.0),
            width=width,
            rounding=min(max(width - plain, 0.0) + self.shortened, width),
        )

    def _width(self, parts: Callable[[float], Array], blur: float) -> float:
        beyond = self.margins - 1
        off = blur * above(self.off + 2 * U * np.abs(beyond))
        room = np.maximum(self.up - self.beta, 0.0) if blur else np.maximum(self.down - self.beta, 0.0)
        terms = np.maximum(self.beta * (beyond + off), room * (off - beyond))
        return total_above([*terms, *parts(blur)])

    def _curved(self, blur: float) -> Array:
        """(λμ − P₊)²/(2λ) + μ(−P)₊ at the worse end of the pull."""
        return np.maximum(*(self._at_pull(self.pull + side * blur * self.pull_off) for side in (-1, 1)))

    def _at_pull(self, pull: Array) -> Array:
        lam, wanted = self.task.lam, np.maximum(pull, 0.0)
        off = np.abs(lam * self.mu - wanted) + 4 * U * (lam * self.mu + wanted)
        return np.asarray(off**2 / (2 * lam) + self.mu * np.maximum(-pull, 0.0))

    def _linear(self, blur: float) -> Array:
        return np.asarray(self.mu * (self.task.lam - self.pull + blur * (self.pull_off + 2 * U * self.task.lam)))


def weight_ends(task: PairTask) -> tuple[Array, Array]:
    """The doubles next to w, below and above; both are w itself where that is a double."""
    weight, positive = np.asarray(task.weight), task.labels > 0
    if weight.min() == weight.max():
        exact = {float(weight[0]): Fraction(1, len(weight))}
    else:
        exact = {float(weight[side][0]): Fraction(1, 2 * int(side.sum())) for side in (positive, ~positive)}
    down, up = weight, weight
    for value, meant in exact.items():
        if Fraction(value) > meant:
            down = np.where(weight == value, np.nextafter(value, 0.0), down)
        if Fraction(value) < meant:
            up = np.where(weight == value, np.nextafter(value, 1.0), up)
    return np.asarray(down), np.asarray(up)
