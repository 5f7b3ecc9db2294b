"""Groups of kernels: one integer for each kernel, however they are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .numbers import check_unmasked

LARGEST = 10**7  # entries


def as_groups(groups: object, count: int) -> NDArray[np.intp]:
    remedy = f"give one integer for each of the {count} kernels, or lists of kernel indices"
    check_unmasked(groups, "groups")
    if isinstance(groups, Mapping | Set):
        raise InputError(f"groups are a {type(groups).__name__}, whose keys would be read: {remedy}")
    try:
        items = list(cast(Iterable[ArrayLike], groups))  # a TypeError where there are none
        if sum(map(np.size, items)) > LARGEST:
            raise ValueError("too many")
        parts = [_integers(item) for item in items] if any(np.ndim(item) > 0 for item in items) else None
        labels = _integers(items) if parts is None else _from_partition(parts, count)
    except (TypeError, ValueError, OverflowError) as fault:
        if isinstance(fault, InputError):
            raise
        raise InputError(f"groups are not integers: {remedy}") from None
    if len(labels) != count:
        raise InputError(f"groups do not cover the kernels: {len(labels)} entries for {count} kernels; {remedy}")
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _integers(values: object) -> NDArray[np.intp]:
    array = np.ravel(np.asarray(values))
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all() or (array != np.floor(array)).any():
        raise ValueError("not integers")
    if float(array.max()) > 2.0**53 or float(array.min()) < -(2.0**53):
        raise ValueError("too large")
    return array.astype(np.intp)


def _from_partition(parts: list[NDArray[np.intp]], count: int) -> NDArray[np.intp]:
    members = np.concatenate(parts)
    if sorted(members.tolist()) != list(range(count)):
        missing = sorted(set(range(count)) - set(members.tolist()))
        fault = f"kernel {missing[0]} is in none" if missing else "a kernel is in two, or unknown"
        raise InputError(f"groups do not cover the kernels: {fault}; give each of the {count} kernels one group")
    labels = np.empty(count, dtype=np.intp)
    for j, part in enumerate(parts):
        labels[part] = j
    return labels
