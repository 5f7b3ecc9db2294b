"""Kernels from features or a stack: fitted on training samples, repeated in prediction.

    features (n, d)  ──► bank ──┐
                                ├──► (M, n, n) ──► centring, scaling ──► kernels
    stack (n, n, M)  ───────────┘

Everything is fitted on the training samples of positive weight: samples of weight 0 are left out altogether, and what
is averaged over samples (bandwidths, centring, scaling) counts sample i w_i times: weight 2 is a sample met twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..problem.ownership import handed_over
from ..problem.preprocessing import Preprocessing
from ..problem.scales import unit_of_price, unlike_sizes
from ..problem.stack import Array
from .bank import FittedBank
from .columns import Table

PRECOMPUTED = "precomputed"


@dataclass
class KernelSource:
    """`kept` are the training samples of positive weight; `bank` is None for precomputed stacks, `steps` if none.

    `unit` is the C that is called "scale"; `unlike` says which kernels differ much in size, if nothing scales them.
    """

    kept: NDArray[np.intp]
    names: list[str]
    bank: FittedBank | None = None
    steps: Preprocessing | None = None
    train: Array | None = None
    weight: Array | None = None
    unit: float = 1.0
    unlike: str = ""

    @classmethod
    def fit(
        cls, kernels: object, table: Table, y: object, weight: Array | None, centre: bool, normalise: str | None
    ) -> tuple[KernelSource, Array]:
        """The source, and the training kernels (M, n, n) of the samples kept; `weight` is None where all count once."""
        steps = Preprocessing.from_options(centre=centre, normalise=normalise)
        kept = np.arange(len(table.X)) if weight is None else np.flatnonzero(weight > 0)
        share = None if weight is None else weight[kept]
        source = cls(kept, [], weight=share)
        if is_precomputed(kernels):
            if table.X.shape[0] != table.X.shape[1]:
                raise InputError(f"X has shape {table.X.shape}, not square: give precomputed kernels (n, n, M)")
            stack = as_stack(table.X)[:, kept][:, :, kept]
            source.names = [view.name for view in table.views] or [f"K{m + 1}" for m in range(len(stack))]
        else:
            source.bank = FittedBank(kernels, table.views)
            source.train = table.X[kept]
            source.bank.fit(table.rows(kept), np.asarray(y)[kept], share)
            stack, source.names = source.bank.stack(), source.bank.names
        lacking = "a precomputed stack" if source.bank is None else source.bank.without_diagonal
        if normalise == "cosine" and lacking:
            raise InputError(
                f"normalise='cosine' needs k(x, x) of new samples, which {lacking} has not: "
                "divide its kernels by √(k(x, x) k(z, z)) first"
            )
        if steps.steps:
            source.steps = steps.fit(stack, source.names, share)
            stack = steps.train(stack) if steps.changes else stack
        source.unit = unit_of_price(stack, share)
        source.unlike = "" if normalise else unlike_sizes(stack, source.names, share)
        return source, handed_over(stack)

    def test(self, X: Array) -> Array:
        """The kernels (M, t, n) of new samples with the training samples kept."""
        if self.bank is None:
            stack = as_stack(X)
            if len(stack) != len(self.names):
                raise InputError(f"X has {len(stack)} kernels, the model was fitted on {len(self.names)}: give those")
            stack = stack[:, :, self.kept]
        else:
            stack = self.bank.stack(X)
        if self.steps is None:
            return stack
        needed = any(step.needs_diagonal for step in self.steps.steps)
        diagonal = self.bank.diagonal(X) if needed and self.bank is not None else None
        return self.steps.test(stack, diagonal)


def is_precomputed(kernels: object) -> bool:
    """Whether `kernels` says that stacks are given, and no features."""
    return isinstance(kernels, str) and kernels == PRECOMPUTED


def as_stack(X: Array) -> Array:
    """(t, n, M) or, for a single kernel, (t, n), as (M, t, n)."""
    if X.ndim not in (2, 3):
        raise InputError(f"X has shape {X.shape}: give precomputed kernels (t, n, M), samples first")
    return np.ascontiguousarray(np.moveaxis(X if X.ndim == 3 else X[..., None], -1, 0))
