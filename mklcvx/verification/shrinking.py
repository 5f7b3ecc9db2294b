"""A small instance on which a solver still fails, out of a large one.

Kernels and samples are removed in pieces, first halves, then quarters, down to single ones, as long as the rest is an
instance that still fails. No single kernel or sample can be removed from the result: it is minimal, though there may be
smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import InputError
from ..problem.instance import Instance, no_test_samples
from ..problem.low_rank import part_of

Fails = Callable[[Instance], bool]
Select = Callable[[Instance, Sequence[int]], Instance]


def shrunk(instance: Instance, fails: Fails) -> Instance:
    """The part of an instance that still fails, and of which no kernel or sample can be removed."""
    if not fails(instance):
        raise InputError("shrinking: the instance does not fail: give one that does")
    while True:
        fewer = _least(instance, instance.count, Instance.select, fails)
        smaller = _least(fewer, fewer.samples, restricted, fails)
        if (smaller.count, smaller.samples) == (instance.count, instance.samples):
            return smaller
        instance = smaller


def restricted(instance: Instance, samples: Sequence[int]) -> Instance:
    """The instance with some of its samples; test samples are dropped, because their kernels refer to all samples."""
    chosen = np.asarray(samples, dtype=int)
    changes = {"sample_weight": instance.sample_weight[chosen], **instance.targets.of_samples(chosen).arguments()}
    return instance.with_kernels(part_of(instance.kernels, chosen), **changes, **no_test_samples(instance))


def _least(instance: Instance, count: int, part: Select, fails: Fails) -> Instance:
    """Remove pieces, larger ones first, as long as the rest fails; `part` selects kernels or samples."""

    def rest_fails(rest: list[int]) -> bool:
        try:
            return bool(rest) and fails(part(instance, rest))
        except InputError:
            return False  # no instance of the problem any more

    kept, size = list(range(count)), max(count // 2, 1)
    while True:
        start, before = 0, len(kept)
        while start < len(kept):
            rest = kept[:start] + kept[start + size :]
            if rest_fails(rest):
                kept = rest
            else:
                start += size
        if size == 1 and len(kept) == before:
            return part(instance, kept)
        size = max(size // 2, 1)
