"""The trace of a run as a file: what was certified when, and where the weights stood."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .files import write_whole
from .run import Row

SCHEMA = "mklcvx.trace/1"
COLUMNS = ("iteration", "lower", "upper", "gap", "svm_solves", "seconds")


def save_trace(path: Path, rows: Sequence[Row], names: Sequence[str], about: dict[str, Any]) -> None:
    """As .json, with what was solved and how, or as .csv, with a column per kernel; written whole or not at all."""
    if path.suffix == ".csv":
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow([*COLUMNS, *(f"weight {name}" for name in names)])
        table.writerows([*(getattr(row, column) for column in COLUMNS), *row.weights] for row in rows)
        content = text.getvalue()
    else:
        record = {"schema": SCHEMA, **about, "names": list(names), "rows": [row.as_dict() for row in rows]}
        content = json.dumps(record, allow_nan=False) + "\n"
    write_whole(path, lambda stream: stream.write(content.encode("utf-8")))
