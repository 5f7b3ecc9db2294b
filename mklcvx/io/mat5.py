"""MATLAB files of version 5, read without trusting a number in them.

A file is a sequence of elements, each with a tag (code and size), perhaps compressed. A variable is an element that
holds its flags, dimensions, name and contents. Of every variable only the head is unpacked, to list it. What is asked
for is unpacked whole, after the sum of the sizes has been checked. No count in a file is believed before as many bytes
have been seen.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .json_text import check_size
from .readings import CELLS, NUMBERS, OTHER, TEXT, Chosen, Listing, Shape, Variable

HEAD = 128  # bytes before the first element
FIRST = 4096  # bytes of a compressed element in which its head must lie
MATRIX, COMPRESSED = 14, 15
# The numbers of an element by the code in its tag, and those of a variable by its class.
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
NUMERIC = dict(zip(range(6, 16), ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"), strict=True))
CELL, CHARACTERS, SPARSE, OPAQUE = 1, 4, 5, 17
ENCODINGS = {1: "utf-8", 2: "utf-8", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
COMPLEX = 0x800
PER_CELL = 200  # bytes in memory, beside its contents
MOST_AXES = 32

Array = NDArray[Any]


class Element(NamedTuple):
    code: int
    content: memoryview
    end: int  # where the next one begins


class Head(NamedTuple):
    """What the first three parts of a variable say; the others hold the contents."""

    kind: int
    is_complex: bool
    shape: Shape
    name: str
    rest: memoryview

    @property
    def entries(self) -> int:
        return math.prod(self.shape)

    @property
    def listed_as(self) -> str:
        named = {CELL: CELLS, CHARACTERS: TEXT, SPARSE: NUMBERS}
        return NUMBERS if self.kind in NUMERIC else named.get(self.kind, OTHER)


class Packed(NamedTuple):
    """A variable that has not been unpacked: its head, the size that it will have, and a function that unpacks it."""

    head: Head
    size: int
    unpack: Callable[[], Head]


def is_version5(start: bytes) -> bool:
    """Whether a file is of version 5, by its first bytes."""
    mark = start[126:128]
    return len(start) > HEAD and mark in (b"IM", b"MI") and start[125 if mark == b"IM" else 124] == 1


def read_mat5(path: Path, choose: Callable[[Listing], Chosen], limit: float | None) -> tuple[dict[str, Any], Chosen]:
    """The variables by name, None for those that are not read; and which of them are what."""
    content = memoryview(path.read_bytes())
    order = "<" if content[126:128] == b"IM" else ">"
    packed = {one.head.name: one for one in _variables(content[HEAD:], order)}  # of two with one name the last counts

    def unpacked(names: Iterable[str]) -> dict[str, Head]:
        check_size(str(path), sum(packed[name].size for name in names), limit, "unpacks to")
        return {name: packed[name].unpack() for name in names}

    def inside(name: str) -> list[Shape]:
        return [cell.shape for cell in _cells(unpacked([name])[name], order)]

    listing = {
        name: Variable(one.head.shape, one.head.listed_as, partial(inside, name)) for name, one in packed.items()
    }
    chosen = choose(listing)
    heads = unpacked({name for names in chosen.values() for name in names})
    check_size(str(path), sum(_in_memory(head, order) for head in heads.values()), None, "would need")
    return {name: _value(heads[name], order) if name in heads else None for name in packed}, chosen


def _in_memory(head: Head, order: str) -> int:
    """Bytes of the array of a variable, and of what it is unpacked from: eight for every entry, or sixteen."""
    if head.kind == CELL:
        return sum(PER_CELL + _in_memory(cell, order) for cell in _cells(head, order) if cell.kind != CELL)
    return len(head.rest) + head.entries * (16 if head.is_complex else 8)


# ------------------------------------------------------------------------------------------------------- elements
def _elements(content: memoryview, order: str) -> Iterator[Element]:
    """One element after the other; small ones have their size in the upper half of the first word of the tag."""
    start = 0
    while start + 8 <= len(content):
        code, size = struct.unpack_from(order + "II", content, start)
        small = code >> 16
        first, last = (start + 4, start + 4 + small) if small else (start + 8, start + 8 + size)
        code &= 0xFFFF
        if small > 4 or last > len(content):
            raise ValueError(f"no element of type {code} and size {last - first} is possible at byte {start}")
        start = start + 8 if small else last if code == COMPRESSED else last + -size % 8
        yield Element(code, content[first:last], start)


def _variables(content: memoryview, order: str) -> Iterator[Packed]:
    for code, part, _ in _elements(content, order):
        if code == COMPRESSED:
            start = _inflated(part, FIRST)
            code, size = struct.unpack_from(order + "II", start)
            head = _head(start[8 : 8 + size], order)
            found = Packed(head, size, partial(_unpacked, part, size, order))
        else:
            head, size = _head(part, order), len(part)
            found = Packed(head, size, partial(_head, part, order))
        if code != MATRIX:
            raise ValueError(f"an element of type {code} in place of a variable")
        if head.name and not head.name.startswith("__"):
            yield found


def _inflated(content: memoryview, most: int) -> memoryview:
    return memoryview(zlib.decompressobj().decompress(content, most))


def _unpacked(content: memoryview, size: int, order: str) -> Head:
    whole = _inflated(content, 8 + size)
    if len(whole) != 8 + size:
        raise ValueError("a compressed element that does not end")
    return _head(whole[8:], order)


def _head(content: memoryview, order: str) -> Head:
    parts = _elements(content, order)
    try:
        flags, shape, name = (next(parts) for _ in range(3))
    except StopIteration:
        raise ValueError("a variable without flags, dimensions and name") from None
    (word,) = struct.unpack_from(order + "I", flags.content)
    kind, words = word & 0xFF, bytes((shape if word & 0xFF == OPAQUE else name).content).decode("latin-1")
    if kind not in (CELL, CHARACTERS, SPARSE, *NUMERIC):
        sizes = np.ones(1, int) if kind == OPAQUE else _numbers(shape, order)
        return Head(kind, False, tuple(map(int, sizes)), words, content[:0])
    sizes = _numbers(shape, order)
    if not 1 < len(sizes) <= MOST_AXES or (sizes < 0).any():
        raise ValueError("a variable of impossible dimensions")
    return Head(kind, bool(word & COMPLEX), tuple(map(int, sizes)), words, content[name.end :])


# --------------------------------------------------------------------------------------------------------- values
def _value(head: Head, order: str) -> Any:
    """The value of a variable; None for a struct, and what else is no array."""
    if head.kind == CELL:
        inner = _cells(head, order)  # cells in cells are of no use, and not read
        return cells([cells([]) if cell.kind == CELL else _value(cell, order) for cell in inner])
    if head.listed_as == OTHER:
        return None
    parts = list(_elements(head.rest, order))
    if head.kind == CHARACTERS:
        return _text(head, parts, order)
    if head.kind == SPARSE:
        return _full(head, parts, order)
    values = _parts(head, parts, order).astype(complex if head.is_complex else NUMERIC[head.kind])
    return values.reshape(head.shape, order="F")


def cells(items: list[Any]) -> Array:
    """An array of objects, whatever their shapes."""
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


def _cells(head: Head, order: str) -> list[Head]:
    """The variables in a cell array; there are as many as it says."""
    found = [_head(part.content, order) for part in _elements(head.rest, order) if part.code == MATRIX]
    if len(found) != head.entries:
        raise ValueError(f"{len(found)} cells in place of {head.entries}")
    return found


def _parts(head: Head, parts: list[Element], order: str) -> Array:
    """The numbers of a variable, real and imaginary ones."""
    if len(parts) < 1 + head.is_complex:
        raise ValueError("a matrix without its numbers")
    real = _numbers(parts[0], order)
    return real + 1j * _numbers(parts[1], order) if head.is_complex else real


def _numbers(element: Element, order: str) -> Array:
    if element.code not in STORED:
        raise ValueError(f"an element of type {element.code} in place of numbers")
    return np.frombuffer(element.content, dtype=order + STORED[element.code])


def _text(head: Head, parts: list[Element], order: str) -> Array:
    """The rows of a matrix of characters."""
    text = ""
    if parts:
        encoding = ENCODINGS.get(parts[0].code, "utf-8")
        ending = "" if encoding == "utf-8" else "-le" if order == "<" else "-be"
        text = bytes(parts[0].content).decode(encoding + ending, "replace")
    rows = head.shape[0]
    if rows == 1 or not text:
        return np.array([text])
    if len(text) != head.entries:
        raise ValueError(f"{len(text)} characters in place of {head.entries}")
    return np.array([text[i::rows] for i in range(rows)])


def _full(head: Head, parts: list[Element], order: str) -> Array:
    """A sparse matrix, column by column, as a full one."""
    if len(parts) < 3 or len(head.shape) != 2:
        raise ValueError("a sparse matrix without its numbers")
    rows, starts, values = _numbers(parts[0], order), _numbers(parts[1], order), _parts(head, parts[2:], order)
    counts = np.diff(starts)
    used = int(starts[-1]) if len(starts) else 0
    if len(counts) != head.shape[1] or (counts < 0).any() or starts[0] != 0 or used > min(len(rows), len(values)):
        raise ValueError("a sparse matrix whose columns do not fit its numbers")
    rows = rows[:used]
    if used and not (rows.min() >= 0 and rows.max() < head.shape[0]):
        raise ValueError("a sparse matrix whose rows are out of range")
    found = np.zeros(head.shape, dtype=complex if head.is_complex else float)
    np.add.at(found, (rows, np.repeat(np.arange(head.shape[1]), counts)), values[:used])
    return found
