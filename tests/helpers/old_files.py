"""Files of older versions, what was in memory when they were written, and how what is said now is compared with it."""

from __future__ import annotations

import json

from places import TESTS
from refusals import strict

OLD = TESTS / "old_files"
FIRST, LOSSES = OLD / "0.1.0", OLD / "0.2.0"
EXPECTED = {
    folder: json.loads((folder / "expected.json").read_text(encoding="utf-8")) for folder in sorted(OLD.glob("*.*.*"))
}
SAME = 1e-9  # sums may be taken in another order


def known_of(part):
    """What was in memory, by the names of the files of all versions."""
    return {stem: known for expected in EXPECTED.values() for stem, known in expected.get(part, {}).items()}


def file_of(part, name):
    """The file of a part with this name, which one version alone has written."""
    (found,) = OLD.glob(f"*/{part}/{name}")
    return found


def files_of(part, ending):
    return sorted(path.stem for path in OLD.glob(f"*/{part}/*") if path.suffix == ending)


def record_of(place):
    return strict(place.read_text(encoding="utf-8"))


def lines_of(place):
    return [strict(line) for line in place.read_text(encoding="utf-8").splitlines()]


def settings_of(parameters):
    """As the command line takes them."""
    return [word for key, value in parameters.items() for word in ("--set", f"{key}={value}")]


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
