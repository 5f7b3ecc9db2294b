"""Damage to files: of the bytes, and of what the bytes mean, so that readers are reached behind their first checks.

A folder of `.csv` files is one text: a line `@@ NAME` before the content of every file. A content `-> CANARY` is a link
to a file that nobody may read. Instead of a file there may be a pipe, or a folder.
"""

from __future__ import annotations

import io
import json
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np

FOLDER_MARK = "@@ "
LINK_MARK = "-> "
CANARY = "canary.csv"
PIPE, FOLDER = b"@| pipe", b"@/ folder"
NUMBERS = (*range(5), 7, 1000, 10**6, *(2**k - less for k in (3, 4, 7, 8, 15, 16, 31, 32, 40, 63) for less in (0, 1)))
WORDS = (
    "", " ", "nan", "inf", "-inf", "1e400", "-0", "0x10", "1_0", "١", "½", "\x00", "\x1b[2J", "\u2028", "\ufeff",
    "\ud800", "é",
    "a,b;c", "'\"", "../../x", "/etc/passwd", "kernels", "record", "K1", "1" * 400, "[" * 300, "%s", "{0}", "x" * 5000,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 10**18, 10**400, -1e308, 5e-324, 1e999, 0.5, [], {}, [[]], [None], [[1], [1, 2]],
    {"": 0}, [1e308] * 3, *WORDS[:20],
)  # fmt: skip
DTYPES = (
    "U3", "S2", "f2", "f4", ">f8", "g", "i1", "u2", ">i4", "i8", "u8", "c8", "c16", "?", "M8[s]", "m8[D]", "V8",
)  # fmt: skip
TYPES = ("|O", "<U0", "<U9", "|S3", "<f4", ">f8", "<c16", "<f2", "<f16", "<i8", "<u8", "<m8[s]", "|b1", "<M8[s]", "|V8")
HEADER = re.compile(rb"\{.*\}")
Mutator = Callable[[bytes, Random], bytes]


# ---------------------------------------------------------------------------------------------------------- bytes
def of_bytes(data: bytes, rng: Random) -> bytes:
    """One to eight changes of single bytes, words of four and eight, or stretches."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at, kind = rng.randrange(len(found) + 1), rng.randrange(8)
        if kind == 0:
            found[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            found[at : at + 1] = bytes([(found[at] if at < len(found) else 0) ^ 1 << rng.randrange(8)])
        elif kind in (2, 3):
            at -= at % 4
            form, size = rng.choice((("<I", 4), (">I", 4), ("<Q", 8), ("<H", 2)))
            found[at : at + size] = struct.pack(form, rng.choice(NUMBERS) % 2 ** (8 * size))
        elif kind == 4:  # a word from elsewhere: an address, a size
            other = 8 * rng.randrange(len(found) // 8 + 1)
            at -= at % 8
            found[at : at + 8] = found[other : other + 8]
        elif kind == 5:
            del found[at : at + rng.choice((1, 4, 8, 64, 1000))]
        elif kind == 6:
            found[at:at] = found[at : at + rng.choice((1, 4, 8, 64))]
        else:
            found[at:at] = rng.choice(WORDS).encode("utf-8", "surrogatepass")
    return bytes(found) if rng.random() < 0.95 else bytes(found[: rng.randrange(len(found) + 1)])


# ----------------------------------------------------------------------------------------------------------- JSON
def of_json(data: bytes, rng: Random) -> bytes:
    """One to four changes of what an object holds."""
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return of_bytes(data, rng)
    for _ in range(rng.choice((1, 1, 2, 4))):
        record = _changed(record, rng)
    text = json.dumps(record, ensure_ascii=rng.random() < 0.5)
    if isinstance(record, dict) and record and rng.random() < 0.1:  # a key that occurs twice
        text = f"{text[:-1]}, {json.dumps(rng.choice(list(record)))}: {json.dumps(rng.choice(VALUES))}}}"
    return text.encode("utf-8", "surrogatepass")


def _changed(value: Any, rng: Random) -> Any:
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        kind = rng.randrange(12)
        if kind == 0:
            return {k: v for k, v in value.items() if k != key}
        if kind == 1:
            return {**value, rng.choice(WORDS): value[key]}
        if kind == 2:
            return {**value, key: value[rng.choice(list(value))]}
        return {**value, key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at, kind = rng.randrange(len(value)), rng.randrange(8)
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return [*value[:at], value[at], *value[at:]]
        if kind == 2:
            return [value]
        return [*value[:at], _changed(value[at], rng), *value[at + 1 :]]
    if isinstance(value, str) and value and rng.random() < 0.3:
        at = rng.randrange(len(value))
        return value[:at] + rng.choice(WORDS) + value[at:]
    return rng.choice(VALUES)


# ------------------------------------------------------------------------------------------------------- archives
def of_npz(data: bytes, rng: Random) -> bytes:
    """A change of the members of an archive, of an array's header, its bytes, or the JSON text that it holds."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    except Exception:  # it is damaged already
        return of_bytes(data, rng)
    if not members or rng.random() < 0.15:
        return of_bytes(data, rng)
    if rng.random() < 0.005:
        return packed(members, start=bomb())
    at = rng.randrange(len(members))
    name, content = members[at]
    kind = rng.randrange(10)
    if kind == 0:
        del members[at]
    elif kind == 1:
        others = (*WORDS[15:22], name.removesuffix(".npy"), f"{name}x", "machine_0/y.npy", "y.npy")
        members[at] = (rng.choice(others), content)
    elif kind == 2:
        members.append((name, of_bytes(content, rng)))
    elif kind == 3:
        members[at] = (name, rng.choice(members)[1])
    elif kind == 4:
        members[at] = (name, of_bytes(content, rng))
    elif kind in (5, 6):
        members[at] = (name, _with_header(content, rng))
    else:
        texts = [i for i, (word, _) in enumerate(members) if word.endswith("record.npy")]
        at = rng.choice(texts) if texts else at
        members[at] = (members[at][0], _with_text(members[at][1], rng))
    return packed(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


@cache
def bomb() -> bytes:
    """An archive of one array that nobody asks for: half a gigabyte, in half a megabyte."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("zzz.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (5 * 10**8,)})
        for _ in range(500):
            member.write(bytes(10**6))
    return out.getvalue()


def packed(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED, start: bytes = b"") -> bytes:
    out = io.BytesIO(start)
    with zipfile.ZipFile(out, "a" if start else "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about two members of one name
        for name, content in members:
            info = zipfile.ZipInfo(name.encode("utf-8", "replace").decode() or "x")
            info.compress_type = method
            archive.writestr(info, content)
    return out.getvalue()


def _with_header(content: bytes, rng: Random) -> bytes:
    """An array's file whose header has another number, type or word; its length stays."""
    found = HEADER.search(content[:200])
    if found is None:
        return of_bytes(content, rng)
    text = found[0].decode("latin-1")
    places = [m.span() for m in re.finditer(r"\d+|'[<>|=]?\w+'|True|False|\(|\)|,", text)]
    start, end = rng.choice(places)
    word = rng.choice((str(rng.choice(NUMBERS)), *map(repr, TYPES), "[('a', '<f8')]", "-1", "()", "", "(", "True"))
    line = (text[:start] + word + text[end:]).encode("latin-1").ljust(len(found[0]))
    return content[: found.start()] + line + content[found.end() :]


def _with_text(content: bytes, rng: Random) -> bytes:
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        if array.dtype.kind != "U" or array.ndim:
            return _with_values(array, rng)
        text = of_json(str(array).encode(), rng).decode("utf-8", "replace")
    except Exception:  # it is damaged already
        return of_bytes(content, rng)
    return saved(np.array(text))


def _with_values(array: Any, rng: Random) -> bytes:
    """Other entries, another shape or another type."""
    kind = rng.randrange(6)
    if kind == 0:
        return saved(array.reshape(-1)[: rng.randrange(array.size + 1)])
    if kind == 1:
        return saved(array[None])
    if kind == 2:
        return saved(array.astype(rng.choice(DTYPES), copy=False))
    if kind == 3 and array.size:  # characters that there are not, and halves of pairs
        words = array.reshape(-1).astype("U2")
        words.view(np.uint32)[rng.randrange(words.size)] = rng.choice((0xD800, 0xDFFF, 0x110000, 2**31, 2**32 - 1))
        return saved(words.reshape(array.shape))
    flat = array.reshape(-1).copy()
    if flat.size:
        entries = (np.nan, np.inf, -1e308, 5e-324, 0.0, -1.0, 2.0) if flat.dtype.kind in "fc" else range(4)
        flat[rng.randrange(flat.size)] = rng.choice(entries)
    return saved(flat.reshape(array.shape))


def saved(array: Any) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=False)
    return out.getvalue()


# ----------------------------------------------------------------------------------------------------------- text
def of_text(data: bytes, rng: Random) -> bytes:
    """Cells, lines and names of files in a text."""
    if rng.random() < 0.2:
        return of_bytes(data, rng)
    lines = data.decode("utf-8", "replace").split("\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, kind = rng.randrange(len(lines)), rng.randrange(6)
        cells = re.split(r"([,;\s])", lines[at])
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif kind == 2:
            lines[at] += rng.choice((",", ";", " ", "\t", "\r", ",1", '"'))
        elif kind == 3:
            lines[at] = lines[at].replace(",", rng.choice(WORDS[:8]))
        elif kind == 4 and lines[at].startswith(FOLDER_MARK):
            lines.insert(at + 1, LINK_MARK + CANARY)
        else:
            cells[rng.randrange(len(cells))] = rng.choice(WORDS)
            lines[at] = "".join(cells)
        lines = lines or [""]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


# --------------------------------------------------------------------------------------------------------- MATLAB
def of_mat5(data: bytes, rng: Random) -> bytes:
    """Words of four bytes, tags among them, inside compressed variables too."""
    found = bytearray(data)
    at = 128
    while at + 8 <= len(found) and rng.random() < 0.8:
        code, size = struct.unpack_from("<II", found, at)
        if code == 15 and rng.random() < 0.6:
            try:
                inner = of_bytes(zlib.decompress(bytes(found[at + 8 : at + 8 + size])), rng)
            except zlib.error:
                break
            again = zlib.compress(inner)
            found[at : at + 8 + size] = struct.pack("<II", 15, len(again)) + again
            return bytes(found)
        at += 8 + size + (-size % 8 if code != 15 else 0)
    return of_bytes(bytes(found), rng)


def or_no_file(change: Mutator) -> Mutator:
    """A change of a file, and now and then what is none."""

    def changed(data: bytes, rng: Random) -> bytes:
        return rng.choice((PIPE, FOLDER)) if rng.random() < 0.01 else change(data, rng)

    return changed


CHANGES: dict[str, Mutator] = {
    ".npz": of_npz, ".json": of_json, ".jsonl": of_text, ".csv": of_text, ".mat": of_mat5, ".h5.mat": of_bytes,
    ".jsonl.part": of_json,
}  # fmt: skip
MUTATORS = {"": of_text} | {ending: or_no_file(change) for ending, change in CHANGES.items()}
