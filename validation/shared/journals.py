"""Journals: files of JSON lines, to which finished pieces of work are added one by one.

A line is added by one write, to the disk. If that fails, the file is as it was. A line that was cut off when its writer
was killed is passed over, and the next one begins anew. Lines end with a line feed and nothing else: other characters
that end lines for Python, such as U+2028, may be in a text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from mklcvx.errors import InputError
from mklcvx.io.json_text import finite, read_json


def add_line(path: Path, record: dict[str, Any]) -> None:
    """Add a record as one line. JSON has no number that is not finite: such a number becomes None, as everywhere."""
    text = (json.dumps(finite(record), ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                _write(file.fileno(), b"\n" + text if size and not _ends_whole(file) else text)
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    os.ftruncate(file.fileno(), size)
                raise
    except OSError as fault:
        raise InputError(f"output {path}: {fault.strerror or fault}: choose another place") from None


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a journal, none if there is no file; lines that are no records are passed over."""
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n"):
        with suppress(ValueError, RecursionError):
            record = read_json(line.decode("utf-8"))
            if isinstance(record, dict):
                yield record


def _ends_whole(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")


def _write(descriptor: int, text: bytes) -> None:
    """One write, unless the system takes less at a time."""
    while text:
        text = text[os.write(descriptor, text) :]
