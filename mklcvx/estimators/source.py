"""Kernels from features or a stack: fitted on training samples, repeated in prediction.

    features (n, d)  ──► bank ──┐
                                ├──► (M, n, n) ──► centring, scaling ──► kernels
    stack (n, n, M)  ───────────┘

Everything is fitted on the training samples of positive weight: samples of weight 0 are left out altogether, and what
is averaged over samples (bandwidths, centring, scaling) counts sample i w_i times: weight 2 is a sample met twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, warn
from ..problem.cross_kernels import CrossKernels
from ..problem.low_rank import LowRank, Stored
from ..problem.memory import check_stack
from ..problem.ownership import handed_over
from ..problem.preprocessing import Preprocessing
from ..problem.scales import unit_of_price, unlike_sizes
from ..problem.stack import Array
from ..problem.validation import KnownStack
from .bank import BESIDE, FittedBank
from .columns import Table
from .inputs import View

PRECOMPUTED = "precomputed"
BLOCK = 4_000_000  # entries of a kernel between new and training samples that is made at a time
OF_STACKS = "give factors (mklcvx.LowRank), float32, or fewer samples or kernels"


@dataclass
class KernelSource:
    """`kept` are the training samples of positive weight; `bank` is None for precomputed stacks, `steps` if none.

    `unit` is the C that is called "scale"; `unlike` says which kernels differ much in size, if nothing scales them;
    `factored` that samples are given by factors (`LowRank`), of which the bank makes linear kernels; `by_factors` that
    the training kernels are `LowRank`, and those of new samples products; `views` are the views, or the kernels, that
    new samples can have one by one.
    """

    kept: NDArray[np.intp]
    names: list[str]
    bank: FittedBank | None = None
    steps: Preprocessing | None = None
    train: Array | None = None
    weight: Array | None = None
    unit: float = 1.0
    unlike: str = ""
    factored: bool = False
    by_factors: bool = False
    views: list[View] = field(default_factory=list)

    @classmethod
    def fit(
        cls, kernels: object, table: Table, y: object, weight: Array | None, steps: Preprocessing,
        names: Sequence[str] | None = None, semidefinite: Sequence[bool] | None = None, symmetrise: bool = False,
    ) -> tuple[KernelSource, KnownStack]:  # fmt: skip
        """The source, and the training kernels (M, n, n) of the samples kept; `weight` is None where all count once,
        `names` where kernels keep the names that they have, `semidefinite` where nothing is known of a stack.

        Kernels of our own functions are semidefinite by construction, and steps that multiply leave them so. What
        centring leaves is tested there, and a stack by whoever makes an instance of it."""
        stack: Stored
        kept = samples_kept(len(table.X), weight)
        share = None if weight is None else weight[kept]
        source = cls(kept, [], weight=share, factored=table.factored)
        if is_precomputed(kernels) and not table.factored:
            if table.X.shape[0] != table.X.shape[1]:
                raise InputError(f"X has shape {table.X.shape}, not square: give precomputed kernels (n, n, M)")
            stack = _training_stack(table.X, kept)
            called = [view.name for view in table.views] or [""] * len(stack)
            source.names = [name or f"K{m + 1}" for m, name in enumerate(called)]
            known = [False] * len(stack) if semidefinite is None else semidefinite
        else:
            source.bank = FittedBank("linear" if table.factored else kernels, table.views)
            source.train, used = table.X[kept], table.rows(kept)
            source.bank.check_size(used, steps.in_factors)
            source.bank.fit(used, np.asarray(y)[kept], share)
            low_rank = source.bank.in_factors(table.factored) if steps.in_factors else None
            stack, source.by_factors = low_rank or source.bank.stack(len(kept)), low_rank is not None
            source.names = source.bank.names
            known = source.bank.semidefinite
        if symmetrise and not isinstance(stack, LowRank):  # steps take symmetric kernels, so that it cannot wait
            for kernel in stack:
                kernel[:] = kernel / 2 + kernel.T / 2
        source.names = source.names if names is None else as_names(names, len(stack))
        source.views = source.views_known_as(table.views)
        lacking = "a precomputed stack" if source.bank is None else source.bank.without_diagonal
        if any(step.needs_diagonal for step in steps.steps) and lacking:
            fault = f"normalise='cosine' needs k(x, x) of new samples, which {lacking} has not"
            raise InputError(f"{fault}: divide its kernels by √(k(x, x) k(z, z)) first")
        if steps.steps and isinstance(stack, LowRank):
            source.steps, stack = steps, steps.fit_factors(stack, share)
        elif steps.steps:
            source.steps = steps.fit(stack, source.names, share)
            if steps.changes:
                stack, known = steps.train_tested(stack, known, in_place=True)  # it is ours
        source.unit = unit_of_price(stack, share)
        scaled = any(step.divides_by for step in steps.steps)
        source.unlike = "" if scaled else unlike_sizes(stack, source.names, share)
        return source, KnownStack(stack if isinstance(stack, LowRank) else handed_over(stack), known)

    def views_known_as(self, given: Sequence[View]) -> list[View]:
        """The views of new samples, by the names and headings of training; kernels without one by their own names."""
        known = [View(name, []) for name in self.names] if self.bank is None else self.bank.views
        pairs = zip(given, known, strict=True) if given else ()
        return [view._replace(name=own.name or view.name, headings=own.headings) for own, view in pairs] or known

    @property
    def headings(self) -> list[str]:
        """The names of all columns, where each view has a heading for each, and no two are the same."""
        headings = [name for view in self.views for name in view.headings]
        complete = all(view.headings for view in self.views) and len(set(headings)) == len(headings)
        return headings if complete else []

    def check_factored(self, given: bool) -> None:
        """Refuse factors of new samples where the model has kernels, and kernels where it has factors."""
        if given != self.factored:
            words = "LowRank: give LowRank of the new samples' factors (t, r)"
            words = words if self.factored else "kernels: give those of new and training samples, (t, n, M)"
            raise InputError(f"X is {'' if given else 'not '}LowRank, and the model was fitted on {words}")

    def cross(self, X: Array) -> CrossKernels:
        """The kernels of new samples with the training samples kept, made one at a time."""
        if self.bank is None:
            stack = np.ascontiguousarray(_kernels_first(X))
            kernels = CrossKernels.of_stack(stack if stack.shape[2] == len(self.kept) else stack[:, :, self.kept])
        else:
            kernels = self.bank.cross(X) if self.by_factors else self.bank.cross(X).arrays()
        if self.steps is None:
            return kernels
        needed = any(step.needs_diagonal for step in self.steps.steps)
        diagonal = self.bank.diagonal(X) if needed and self.bank is not None else None
        return self.steps.cross(kernels, diagonal)

    def blocks(self, X: Array) -> Iterator[CrossKernels]:
        """The same for a few samples at a time, so that one kernel of them takes little memory."""
        if self.bank is None and (count := len(_kernels_first(X))) != len(self.names):
            raise InputError(f"X has {count} kernels, the model was fitted on {len(self.names)}: give those")
        width = len(self.kept) * (len(self.names) if self.bank is None else 1)
        size = max(1, BLOCK // width)
        for start in range(0, max(1, len(X)), size):
            yield self.cross(X[start : start + size])


def _training_stack(X: Array, kept: NDArray[np.intp]) -> Array:
    """A stack (M, n, n) of our own of some of the samples of X, (n, n, M) or (n, n). Row by row: all kernels of a row
    fit into the cache, where one kernel of all rows does not."""
    given, n = np.moveaxis(_kernels_first(X), 0, -1), len(kept)
    check_stack(given.shape[2], n, n, passing=BESIDE, itemsize=X.dtype.itemsize, otherwise=OF_STACKS)
    stack = np.empty((given.shape[2], n, n), dtype=given.dtype)
    for row, sample in enumerate(kept):
        stack[:, row] = (given[sample] if n == len(X) else given[sample, kept]).T
    return stack


def samples_kept(count: int, weight: Array | None) -> NDArray[np.intp]:
    """The samples of positive weight."""
    return np.arange(count) if weight is None else np.flatnonzero(weight > 0)


def as_names(names: object, count: int) -> list[str]:
    """The names that a user gives to the kernels."""
    listed = list(names) if isinstance(names, Sequence | np.ndarray) and getattr(names, "ndim", 1) == 1 else []
    if len(listed) != count or not all(isinstance(name, str) for name in listed):
        given = " ".join(repr(names).split())[:60]
        raise InputError(f"kernel_names are {given}: give a word for each of {count} kernels")
    return [str(name) for name in listed]


def is_precomputed(kernels: object) -> bool:
    """Whether `kernels` says that stacks are given, and no features."""
    return isinstance(kernels, str) and kernels == PRECOMPUTED


def samples_first(X: object, precomputed: bool, shape: tuple[int, int] | None = None) -> object:
    """A stack whose kernel index comes first as one whose samples do, with a warning, where the shape can be nothing
    else; anything else as it is. `shape` is (n, M), once they are known. Lists hold views."""
    given: tuple[int, ...] = getattr(X, "shape", ())
    if isinstance(X, LowRank) or len(given) != 3:
        return X
    if not precomputed:
        words = f"set kernels={PRECOMPUTED!r}, and give it as (n, n, M)"
        raise InputError(f"X has shape {given}, a stack of kernels: {words}")
    square = given[0] != given[1] == given[2]
    if not (square if shape is None else given[1:] != shape and given[::-2] == shape):
        return X
    order = "(M, n, n)" if shape is None else "(M, t, n)"
    warn(f"X has shape {given}: read as {order}, kernel index first")
    return np.moveaxis(np.asarray(X), 0, -1)


def _kernels_first(X: Array) -> Array:
    if X.ndim not in (2, 3):
        raise InputError(f"X has shape {X.shape}: give precomputed kernels (t, n, M), samples first")
    return np.moveaxis(X if X.ndim == 3 else X[..., None], -1, 0)
