"""Who can write to an array: what was validated must still be there when it is solved."""

from __future__ import annotations

import mmap
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def _with_bases(array: NDArray[Any]) -> list[Any]:
    """The array, what it is a view of, and so on; the last one is not an array."""
    bases: list[Any] = [array]
    while isinstance(bases[-1], np.ndarray):
        bases.append(bases[-1].base)
    return bases


def is_settled(array: NDArray[Any]) -> bool:
    """Whether nothing writes to the array any more: neither it nor what it is a view of is writeable."""
    *views, last = _with_bases(array)
    return not any(view.flags.writeable for view in views) and (last is None or isinstance(last, bytes))


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether the numbers lie in a file, perhaps more of them than memory holds."""
    return any(isinstance(base, np.memmap | mmap.mmap) for base in _with_bases(array))


def owned(array: NDArray[Any]) -> NDArray[Any]:
    """The array where nothing can write to it, a read-only view of a memory map, otherwise a copy."""
    if is_mapped(array):
        return read_only(array.view())
    return array if is_settled(array) else np.array(array, order="K")


def handed_over(array: NDArray[Any]) -> NDArray[Any]:
    """An array that nobody else holds, and that nobody will write to: whoever takes it over needs no copy."""
    for view in _with_bases(array)[:-1]:
        view.flags.writeable = False
    return array


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view of an array of our own; not even the array below it can be written to."""
    array.flags.writeable = False
    return array.view()


def checksum(kernel: NDArray[Any]) -> int:
    """Of the bytes in memory; a kernel whose entries are apart is brought together for it."""
    return zlib.crc32((kernel.T if kernel.flags.f_contiguous else np.ascontiguousarray(kernel)).data)
