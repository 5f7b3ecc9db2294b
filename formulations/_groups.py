"""Sums, maxima and shares within groups of kernels; group j holds the kernels m with groups[m] = j."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problem.stack import Array

Groups = NDArray[np.intp]


def group_sums(a: Array, groups: Groups) -> Array:
    return np.bincount(groups, weights=a).astype(np.float64)


def group_largest(d: Array, groups: Groups) -> Array:
    largest = np.zeros(groups.max() + 1)
    np.maximum.at(largest, groups, d)
    return largest


def group_shares(a: Array, groups: Groups) -> Array:
    """Each norm's share of its group's sum; equal shares where the group's functions vanish."""
    totals, sizes = group_sums(a, groups)[groups], np.bincount(groups)[groups]
    empty = totals == 0
    return np.where(empty, 1 / sizes, a / np.where(empty, 1.0, totals))
