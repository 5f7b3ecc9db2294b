"""Files of older versions, what was in memory when they were written, and how what is said now is compared with it."""

from __future__ import annotations

import json

from places import TESTS
from refusals import strict

OLD = TESTS / "old_files" / "0.1.0"
EXPECTED = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))
SAME = 1e-9  # sums may be taken in another order


def files_of(part, ending):
    return sorted(path.stem for path in (OLD / part).iterdir() if path.suffix == ending)


def record_of(name):
    return strict((OLD / name).read_text(encoding="utf-8"))


def lines_of(name):
    return [strict(line) for line in (OLD / name).read_text(encoding="utf-8").splitlines()]


def check_fields(new, old, where="", free=()):
    """Every field that was there is there; what the keys of a free one are, depends on the data."""
    if isinstance(old, dict) and isinstance(new, dict):
        assert set(old) <= set(new), f"{where or 'record'}: {sorted(set(old) - set(new))} are missing"
        for key in old:
            if key not in free:
                check_fields(new[key], old[key], f"{where}.{key}", free)
    elif isinstance(old, list) and isinstance(new, list) and old and new:
        check_fields(new[0], old[0], f"{where}[]", free)


def overlap(one, other, scale):
    room = SAME * scale
    return one[0] <= other[1] + room and other[0] <= one[1] + room
