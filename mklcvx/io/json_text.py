"""JSON files, whose memory need is estimated from the text before they are parsed."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

from ..errors import InputError, clipped
from ..problem.memory import as_size
from ..problem.memory import available as memory

MOST_OF_MEMORY = 0.8
# Bytes of the Python object that each of these characters begins or separates, rounded up.
ROOM = {b"[": 100, b"{": 200, b":": 120, b'"': 50, b",": 40}


def check_size(where: str, size: float, limit: float | None, what: str = "has") -> None:
    """Refuse a size in bytes that exceeds the limit, if there is one, or the memory."""
    if limit is not None and size > limit:
        most = f"at most {as_size(limit)} can belong here"
        raise InputError(f"{where}: {what} {as_size(size)}, {most}: check that it is the right file")
    if size > MOST_OF_MEMORY * memory():
        raise InputError(f"{where}: {what} {as_size(size)}, more than fits into memory: use fewer samples")


def finite(value: object) -> object:
    """What is written as JSON, which has no number that is not finite: such a number becomes null."""
    if isinstance(value, dict):
        return {name: finite(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_object(path: Path, what: str, limit: float | None = None) -> dict[str, object]:
    """The object of a JSON file; `what` names the file in messages, `limit` is its largest size in bytes."""
    where = f"{what} {path}"
    try:
        check_size(where, path.stat().st_size, limit)
        raw = path.read_bytes()
        check_size(where, sum(raw.count(sign) * room for sign, room in ROOM.items()), None, "would need")
        return parsed(raw.decode("utf-8"), where)
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"{where}: not readable ({first_line(fault)}): write it again") from None


def parsed(text: str, where: str) -> dict[str, object]:
    try:
        record = read_json(text)
    except (ValueError, RecursionError) as fault:
        raise InputError(f"{where}: not readable JSON ({first_line(fault)}): write it again") from None
    if not isinstance(record, dict):
        raise InputError(f"{where}: holds no JSON object: give a file written by mklcvx, or one of the same fields")
    return record


def read_json(text: str | bytes) -> object:
    """What JSON says. Of a name that occurs twice in an object, Python would keep the last value without a word."""
    return json.loads(text, parse_constant=_no_number, object_pairs_hook=_unrepeated)


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        (name, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{clipped(repr(name), 40)} occurs twice in an object")
    return record


def _no_number(token: str) -> float:
    raise ValueError(f"{token} is not a JSON number")


def first_line(fault: Exception) -> str:
    return clipped((str(fault).strip().splitlines() or [type(fault).__name__])[0], 120)
