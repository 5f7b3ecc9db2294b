"""Kernels from features or a stack: fitted on training samples, repeated in prediction.

    features (n, d)  ──► bank ──┐
                                ├──► (M, n, n) ──► centring, scaling ──► kernels
    stack (n, n, M)  ───────────┘

Everything is fitted on the training samples of positive weight: samples of weight 0 are left out altogether, and what
is averaged over samples (bandwidths, centring, scaling) counts sample i w_i times: weight 2 is a sample met twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..problem.low_rank import LowRank, Stored
from ..problem.ownership import handed_over
from ..problem.preprocessing import Preprocessing
from ..problem.scales import unit_of_price, unlike_sizes
from ..problem.stack import Array
from ..problem.validation import KnownStack
from .bank import FittedBank
from .columns import Table
from .inputs import View

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
        cls, kernels: object, table: Table, y: object, weight: Array | None, steps: Preprocessing,
        names: Sequence[str] | None = None, semidefinite: Sequence[bool] | None = None,
    ) -> tuple[KernelSource, KnownStack]:  # fmt: skip
        """The source, and the training kernels (M, n, n) of the samples kept; `weight` is None where all count once,
        `names` where kernels keep the names that they have, `semidefinite` where nothing is known of a stack.

        Kernels of our own functions are semidefinite by construction, and steps that multiply leave them so. What
        centring leaves is tested there, and a stack by whoever makes an instance of it."""
        stack: Stored
        kept = samples_kept(len(table.X), weight)
        share = None if weight is None else weight[kept]
        source = cls(kept, [], weight=share)
        if is_precomputed(kernels):
            if table.X.shape[0] != table.X.shape[1]:
                raise InputError(f"X has shape {table.X.shape}, not square: give precomputed kernels (n, n, M)")
            stack = _training_stack(table.X, kept)
            called = [view.name for view in table.views] or [""] * len(stack)
            source.names = [name or f"K{m + 1}" for m, name in enumerate(called)]
            known = [False] * len(stack) if semidefinite is None else semidefinite
        else:
            source.bank = FittedBank(kernels, table.views)
            source.train = table.X[kept]
            source.bank.fit(table.rows(kept), np.asarray(y)[kept], share)
            stack, source.names = source.bank.train(steps.in_factors), source.bank.names
            known = source.bank.semidefinite
        source.names = source.names if names is None else as_names(names, len(stack))
        lacking = "a precomputed stack" if source.bank is None else source.bank.without_diagonal
        if any(step.needs_diagonal for step in steps.steps) and lacking:
            raise InputError(
                f"normalise='cosine' needs k(x, x) of new samples, which {lacking} has not: "
                "divide its kernels by √(k(x, x) k(z, z)) first"
            )
        if steps.steps and isinstance(stack, LowRank):
            source.steps, stack = steps, steps.fit_factors(stack, share)
        elif steps.steps:
            source.steps = steps.fit(stack, source.names, share)
            stack, known = steps.train_tested(stack, known) if steps.changes else (stack, known)
        source.unit = unit_of_price(stack, share)
        scaled = any(step.divides_by for step in steps.steps)
        source.unlike = "" if scaled else unlike_sizes(stack, source.names, share)
        return source, KnownStack(stack if isinstance(stack, LowRank) else handed_over(stack), known)

    @property
    def views(self) -> list[View]:
        """The views, or the kernels, that new samples can have one by one."""
        return [View(name, []) for name in self.names] if self.bank is None else self.bank.views

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


def samples_kept(count: int, weight: Array | None) -> NDArray[np.intp]:
    """The samples of positive weight."""
    return np.arange(count) if weight is None else np.flatnonzero(weight > 0)


def as_names(names: object, count: int) -> list[str]:
    """The names that a user gives to the kernels."""
    listed = list(names) if isinstance(names, Sequence | np.ndarray) and not isinstance(names, str) else []
    if len(listed) != count or not all(isinstance(name, str) for name in listed):
        raise InputError(
            f"kernel_names are {' '.join(repr(names).split())[:60]}: give a word for each of {count} kernels"
        )
    return [str(name) for name in listed]


def is_precomputed(kernels: object) -> bool:
    """Whether `kernels` says that stacks are given, and no features."""
    return isinstance(kernels, str) and kernels == PRECOMPUTED


def check_axes(X: object, precomputed: bool) -> None:
    """Refuse a stack where features are expected, and one whose kernel index comes first. Lists hold views."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 3 and not precomputed:
        raise InputError(
            f"X has shape {shape}, a stack of kernels: set kernels='precomputed', and give it as (n, n, M)"
        )
    if len(shape) == 3 and shape[0] != shape[1] == shape[2]:
        turned = "samples come first in estimators, (n, n, M): give numpy.moveaxis(X, 0, -1)"
        raise InputError(f"X has shape {shape}, kernel index first: {turned}")


def as_stack(X: Array) -> Array:
    """(t, n, M) or, for a single kernel, (t, n), as (M, t, n)."""
    return np.ascontiguousarray(np.moveaxis(_of_three_axes(X), -1, 0))


def _of_three_axes(X: Array) -> Array:
    if X.ndim not in (2, 3):
        raise InputError(f"X has shape {X.shape}: give precomputed kernels (t, n, M), samples first")
    return X if X.ndim == 3 else X[..., None]


def _training_stack(X: Array, kept: NDArray[np.intp]) -> Array:
    """The kernels (M, n, n) of the samples kept, in memory of their own. Row by row: all kernels of a row fit into the
    cache, where one kernel of all rows does not."""
    given, every = _of_three_axes(X), len(kept) == len(X)
    stack = np.empty((given.shape[2], len(kept), len(kept)), dtype=given.dtype)
    for row, sample in enumerate(kept):
        stack[:, row] = (given[sample] if every else given[sample, kept]).T
    return stack
