"""A stack of kernels in exact numbers: a dense kernel is its stored lower triangle, mirrored; factors F mean FF'."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from ...problem.low_rank import LowRank
from ...problem.stack import mirrored
from .balls import exacts, rounded_up
from .semidefinite import FACTORS, LONG, PERTURBED, Settled, as_balls, definite, even, inner, lifted, middles, settle
from .semidefinite import compressed as on_complement

Ridges = dict[str, Settled]
COMBINED = "the combined kernel"


class KernelBalls:
    """Products are enclosed at the precision in force; what has been settled once stays settled."""

    def __init__(self, kernels: Any, names: Sequence[str] | None = None) -> None:
        self.names = tuple(names) if names is not None else tuple(f"K{m + 1}" for m in range(len(kernels)))
        self.factored, each = isinstance(kernels, LowRank), range(len(kernels))
        self.doubles = [kernels.factor(m) if self.factored else mirrored(np.asarray(kernels[m], float)) for m in each]
        self.balls = [as_balls(stored) for stored in self.doubles]
        self.samples = len(self.doubles[0])
        self.ridge = cache(self._ridge)
        self._combined_ridge = cache(self._settled_together)

    def __len__(self) -> int:
        return len(self.balls)

    @property
    def matrices(self) -> list[arb_mat]:
        return [ball * ball.transpose() if self.factored else ball for ball in self.balls]

    def applied(self, m: int, columns: arb_mat) -> tuple[arb_mat, list[arb]]:
        """K_m V, and v'K_m v for every column v."""
        if self.factored:
            inside = self.balls[m].transpose() * columns
            squares = [inner(column, column) for column in inside.transpose().tolist()]
            return self.balls[m] * inside, squares
        product = self.balls[m] * columns
        pairs = zip(columns.transpose().tolist(), product.transpose().tolist(), strict=True)
        return product, [inner(vector, image) for vector, image in pairs]

    def rational(self, weights: Sequence[fmpq]) -> fmpq_mat:
        """Σ_m weight_m K_m to the last digit."""
        terms = (self._rational(m) * weight for m, weight in enumerate(weights) if weight != 0)
        return sum(terms, fmpq_mat(self.samples, self.samples))

    def _rational(self, m: int) -> fmpq_mat:
        stored = fmpq_mat(*self.doubles[m].shape, exacts(self.doubles[m].ravel().tolist()))
        return stored * stored.transpose() if self.factored else stored

    # -------------------------------------------------------------------------------------- semidefiniteness
    def _ridge(self, m: int, complement: bool = False) -> Settled:
        """δ with K_m + δI ⪰ 0."""
        return Settled(FACTORS) if self.factored else settle(self.balls[m], complement)

    def combined_ridge(self, weights: Sequence[fmpq], complement: bool) -> tuple[float, Ridges]:
        """δ with Σ_m weight_m K_m + δI ⪰ 0, and how it was settled."""
        if not any(weight != 0 for weight in weights):
            return 0.0, {}
        if self.factored:
            return 0.0, {name: Settled(FACTORS) for name, w in zip(self.names, weights, strict=True) if w != 0}
        key = tuple((int(weight.p), int(weight.q)) for weight in weights)
        return self._combined_ridge(key, complement)

    def _settled_together(self, key: tuple[tuple[int, int], ...], complement: bool) -> tuple[float, Ridges]:
        weights, unit = even([fmpq(*pair) for pair in key])
        used = [m for m, weight in enumerate(weights) if weight != 0]
        if len(used) == 1:
            known = self.ridge(used[0], complement)
            return _above(known.delta, weights[used[0]] * unit), {self.names[used[0]]: known}
        with ctx.workprec(LONG):
            matrix = sum((self.balls[m] * arb(weights[m]) for m in used), arb_mat(self.samples, self.samples))
        tested = on_complement(matrix) if complement else matrix
        kernel = middles(tested)
        found = definite(kernel, tested)
        if found is not None:
            return 0.0, {COMBINED: found}
        each = {self.names[m]: self.ridge(m, complement) for m in used}
        apart = sum(_above(self.ridge(m, complement).delta, weights[m] * unit) for m in used) * (1 + 1e-12)
        if apart == 0:
            return 0.0, each
        together = _above(lifted(kernel, tested, complement).delta, unit)
        return (together, {COMBINED: Settled(PERTURBED, together)}) if together <= apart else (apart, each)


def _above(delta: float, weight: fmpq) -> float:
    return rounded_up(arb(delta) * arb(weight)) if delta else 0.0
