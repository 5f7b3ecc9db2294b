"""MATLAB files of version 4: matrices of numbers and text, one after the other, each behind a head of five words.

Nothing is packed, so that nothing grows; and every size is compared with the bytes that follow.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .readings import NUMBERS, OTHER, TEXT, Chosen, Listing, Shape, Variable

HEAD = 20  # bytes
LARGEST_MARK = 4052  # order of bytes, nought, precision and type, as digits
STORED = ("f8", "f4", "i4", "i2", "u2", "u1")
KINDS = (NUMBERS, TEXT, OTHER)  # the last is a sparse matrix


class Matrix(NamedTuple):
    name: str
    shape: Shape
    kind: str
    numbers: Any

    def value(self) -> Any:
        """The matrix, or the rows of text; of a complex matrix the file has the real part first."""
        if self.kind == OTHER:
            return None
        values = self.numbers.reshape(self.shape, order="F")
        if self.kind == NUMBERS:
            return values
        return np.array(["".join(map(chr, row.astype(np.uint8))) for row in values])


def read_mat4(path: Path, choose: Callable[[Listing], Chosen], limit: float | None) -> tuple[dict[str, Any], Chosen]:
    """The variables by name, None for those that are not read; and which of them are what."""
    found = {one.name: one for one in _matrices(memoryview(path.read_bytes()))}
    chosen = choose({name: Variable(one.shape, one.kind) for name, one in found.items()})
    wanted = {name for names in chosen.values() for name in names}
    return {name: one.value() if name in wanted else None for name, one in found.items()}, chosen


def _matrices(content: memoryview) -> Iterator[Matrix]:
    start = 0
    while start < len(content) or not start:
        if start + HEAD > len(content):
            raise ValueError("neither of version 4, 5 nor 7.3")
        order = "<" if struct.unpack_from("<i", content, start)[0] in range(LARGEST_MARK + 1) else ">"
        mark, rows, columns, is_complex, length = struct.unpack_from(order + "5i", content, start)
        digits = f"{mark:04d}"
        known = len(digits) == 4 and digits[0] in "01" and digits[1] == "0" and digits[2] in "012345"
        if not known or digits[3] not in "012" or min(rows, columns, length - 1) < 0 or is_complex not in (0, 1):
            raise ValueError("neither of version 4, 5 nor 7.3")
        stored = np.dtype((">" if digits[0] == "1" else "<") + STORED[int(digits[2])])
        first = start + HEAD + length
        start = first + rows * columns * stored.itemsize * (1 + is_complex)
        if start > len(content):
            raise ValueError("a matrix without its numbers")
        name = bytes(content[first - length : first]).rstrip(b"\0").decode("latin-1")
        kind = OTHER if is_complex else KINDS[int(digits[3])]
        numbers = np.frombuffer(content[first:start], stored)[: rows * columns].astype(stored.newbyteorder("="))
        yield Matrix(name, (rows, columns), kind, numbers)
