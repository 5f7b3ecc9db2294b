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
from ..problem.numbers import as_any_array
from ..problem.ownership import handed_over
from ..problem.preprocessing import Preprocessing
from ..problem.stack import Array
from .bank import FittedBank

PRECOMPUTED = "precomputed"


@dataclass
class KernelSource:
    """`kept` are the training samples of positive weight; `bank` is None for precomputed stacks, `steps` if none."""

    kept: NDArray[np.intp]
    names: list[str]
    bank: FittedBank | None = None
    steps: Preprocessing | None = None
    train: Array | None = None
    weight: Array | None = None

    @classmethod
    def fit(
        cls, kernels: object, X: Array, y: object, weight: Array | None, centre: bool, normalise: str | None
    ) -> tuple[KernelSource, Array]:
        """The source, and the training kernels (M, n, n) of the samples kept; `weight` is None where all count once."""
        steps = Preprocessing.from_options(centre=centre, normalise=normalise)
        kept = np.arange(len(X)) if weight is None else np.flatnonzero(weight > 0)
        share = None if weight is None else weight[kept]
        source = cls(kept, [], weight=share)
        precomputed = isinstance(kernels, str) and kernels == PRECOMPUTED
        source.bank = None if precomputed else FittedBank(kernels)
        lacking = "a precomputed stack" if source.bank is None else source.bank.without_diagonal
        if normalise == "cosine" and lacking:
            raise InputError(
                f"normalise='cosine' needs k(x, x) of new samples, which {lacking} has not: "
                "divide its kernels by √(k(x, x) k(z, z)) first"
            )
        if source.bank is None:
            if X.shape[0] != X.shape[1]:
                raise InputError(f"X has shape {X.shape}, not square: give precomputed kernels (n, n, M)")
            stack = as_stack(X)[:, kept][:, :, kept]
            source.names = [f"K{m + 1}" for m in range(len(stack))]
        else:
            source.train = X[kept]
            source.bank.fit(source.train, np.asarray(y)[kept], share)
            stack, source.names = source.bank.stack(), source.bank.names
        if steps.steps:
            source.steps = steps.fit(stack, source.names, share)
            stack = steps.train(stack)
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


def check_axes(X: object, precomputed: bool) -> None:
    """Refuse a stack where features are expected, and one whose kernel index comes first."""
    shape = as_any_array(X).shape if isinstance(X, list | tuple) else getattr(X, "shape", ())
    if len(shape) == 3 and not precomputed:
        raise InputError(
            f"X has shape {shape}, a stack of kernels: set kernels='precomputed', and give it as (n, n, M)"
        )
    if len(shape) == 3 and shape[0] != shape[1] == shape[2]:
        turned = "samples come first in estimators, (n, n, M): give numpy.moveaxis(X, 0, -1)"
        raise InputError(f"X has shape {shape}, kernel index first: {turned}")


def as_stack(X: Array) -> Array:
    """(t, n, M) or, for a single kernel, (t, n), as (M, t, n)."""
    if X.ndim not in (2, 3):
        raise InputError(f"X has shape {X.shape}: give precomputed kernels (t, n, M), samples first")
    return np.ascontiguousarray(np.moveaxis(X if X.ndim == 3 else X[..., None], -1, 0))
