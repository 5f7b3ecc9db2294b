"""Ownership of arrays: kernels must not change between validation and solution."""

from __future__ import annotations

import mmap
import zlib
from typing import TypeVar

import numpy as np

from .numbers import AnyArray, RealArray

ArrayT = TypeVar("ArrayT", bound=AnyArray)


def _with_bases(array: object) -> list[AnyArray]:
    """The array, what it is a view of, and so on, as long as that is an array."""
    return [array, *_with_bases(array.base)] if isinstance(array, np.ndarray) else []


def is_settled(array: AnyArray) -> bool:
    """Whether the array can no longer be written to: neither it nor any array that it is a view of is writeable."""
    views = _with_bases(array)
    last = views[-1].base
    return not any(view.flags.writeable for view in views) and (last is None or isinstance(last, bytes))


def is_mapped(array: AnyArray) -> bool:
    """Whether the array is a memory map of a file, which may be larger than memory."""
    views = _with_bases(array)
    return any(isinstance(base, np.memmap | mmap.mmap) for base in (*views, views[-1].base))


def owned(array: RealArray) -> RealArray:
    """The array itself if it cannot be written to, a read-only view if it is a memory map, otherwise a copy."""
    if is_mapped(array):
        return read_only(array.view())
    return array if is_settled(array) else np.array(array, order="K")


def handed_over(array: ArrayT) -> ArrayT:
    """Make an array read-only that has no other owner, so that the new owner needs no copy."""
    for view in _with_bases(array):
        view.flags.writeable = False
    return array


def read_only(array: ArrayT) -> ArrayT:
    """Make an array of our own read-only and return a view of it."""
    array.flags.writeable = False
    return array.view()


class ReadOnly:
    """A record whose arrays nobody can write to, not even after unpickling or a deep copy."""

    def __post_init__(self) -> None:
        self.__setstate__(vars(self))

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in list(state.items()):
            object.__setattr__(self, name, settled(value))


def settled(value: object) -> object:
    """An array that nobody can write to, a copy where somebody could; a dict or tuple with such arrays."""
    if isinstance(value, np.ndarray):
        return read_only(owned(value))
    if isinstance(value, dict):
        return {name: settled(entry) for name, entry in value.items()}
    if isinstance(value, tuple):
        return value._make(map(settled, value)) if hasattr(value, "_make") else tuple(map(settled, value))
    return value


def checksum(kernel: AnyArray) -> int:
    """Checksum of the bytes in memory; a kernel that is not contiguous is copied for it."""
    return zlib.crc32((kernel.T if kernel.flags.f_contiguous else np.ascontiguousarray(kernel)).data)
