"""The door to `.npz` archives. What a member is, and how large, is checked before anything is unpacked, and only what
is asked for is unpacked.

A member is packed into as many bytes as the archive says, and all of them fit into the file: members that overlap are
refused. It unpacks to no more than deflate can pack, and its header describes exactly what follows it.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..errors import InputError, clipped, unheard
from ..problem.numbers import AnyArray, is_text
from .json_text import check_size, first_line

PICKLED = "holds pickled objects, which are refused: store plain numeric arrays"
ENDING = ".npy"
DENSEST = 1100  # deflate packs at most 1032 bytes into one
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Unreadable(InputError):
    """An archive that cannot be unpacked."""


class Archive(Mapping[str, AnyArray]):
    """The arrays of a `.npz` file by name, which unpack to `limit` bytes at most. An array is unpacked whenever it is
    asked for; what is not asked for takes no room. Everything that is told beside the bytes is checked before."""

    def __init__(self, path: Path, limit: float | None = None) -> None:
        self.path = path
        with self._damage_reported(), unheard():  # NumPy warns about headers of old versions, but reads them
            _check_kind(path)
            self._zip = zipfile.ZipFile(path)
            self._members = _checked(path, self._zip, limit)
            self.outlines = {name: _outline(path, self._zip, member) for name, member in self._members.items()}

    def __getitem__(self, name: str) -> AnyArray:
        member = self._members[name]
        check_size(str(self.path), member.file_size, None, f"{clipped(repr(name), 60)} unpacks to")
        with self._damage_reported():
            return _array(self._zip, member)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    @contextmanager
    def _damage_reported(self) -> Iterator[None]:
        try:
            yield
        except InputError:
            raise
        except OSError as fault:
            what = fault.strerror or first_line(fault)
            raise Unreadable(f"{self.path}: cannot be read ({what}): check the file") from None
        except Exception as fault:  # a damaged archive can fail anywhere inside zlib, zipfile or the header's parser
            what = f"{type(fault).__name__}: {first_line(fault)}"
            raise Unreadable(f"{self.path}: damaged, perhaps truncated ({what}): copy or write it again") from None


def _check_kind(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(8)
    if not head:
        raise InputError(f"{path}: is empty: copy or write it again")
    if head.startswith(b"\x93NUMPY"):
        raise InputError(f"{path}: holds a single array, not an archive: write it with numpy.savez")
    if head[0] == 0x80 and len(head) > 1 and head[1] <= 5:  # the first byte of a pickle, and its protocol
        raise InputError(f"{path}: {PICKLED}")
    if not head.startswith(b"PK"):
        raise InputError(f"{path}: is not an .npz archive: write one with numpy.savez")


def _checked(path: Path, archive: zipfile.ZipFile, limit: float | None) -> dict[str, zipfile.ZipInfo]:
    """The members by the names of their arrays; all sizes together are those of the file, and within the limit."""
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        shown = clipped(repr(member.filename), 60)
        if not member.filename.endswith(ENDING):
            raise InputError(f"{path}: its member {shown} is no array (.npy): write it with numpy.savez")
        name = member.filename.removesuffix(ENDING)
        if name in members:
            raise InputError(f"{path}: has two members {shown}: write it with numpy.savez")
        if member.flag_bits & ENCRYPTED:
            raise ValueError(f"{shown} is encrypted")
        if member.compress_type not in METHODS or member.file_size > DENSEST * (member.compress_size + 1):
            raise ValueError(f"{shown} is packed in a way that numpy.savez never does")
        members[name] = member
    if limit is not None:
        check_size(str(path), sum(member.file_size for member in members.values()), limit, "unpacks to")
    if sum(member.compress_size for member in members.values()) > path.stat().st_size:
        raise ValueError("members overlap")
    return members


def _outline(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> AnyArray:
    """An array of the shape and type that the member's header has, without its room."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in HEADERS:
            raise ValueError(f"an array of the version {version}")
        shape, _, dtype = HEADERS[version](file)
        if dtype.hasobject:
            raise InputError(f"{path}: {PICKLED}")
        entries, size = math.prod(shape), member.file_size - file.tell()
    if min(shape, default=0) < 0 or entries * dtype.itemsize != size or entries > member.file_size:
        raise ValueError(f"{clipped(repr(member.filename), 60)} is not as large as its header says")
    return np.broadcast_to(np.empty((), dtype), shape)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> AnyArray:
    with archive.open(member) as file, unheard():
        array: AnyArray = np.lib.format.read_array(file, allow_pickle=False)
        file.read(1)  # the end, where the check sum is compared
    if array.dtype.kind == "U" and not is_text(array):
        raise ValueError(f"{clipped(repr(member.filename), 60)} has characters that there are not")
    return array
