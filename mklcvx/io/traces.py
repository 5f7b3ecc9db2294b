"""Traces of runs as files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from ..certificate.solution import Solution
from .writing import write_text

TRACE_SCHEMA = "mklcvx.trace/1"
TRACE_COLUMNS = ("iteration", "lower", "upper", "gap", "svm_solves", "seconds")


def save_trace(path: Path, solution: Solution) -> None:
    """Write the trace of a run as .json, with what was solved and how, or as .csv, with a column per kernel."""
    if path.suffix == ".csv":
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow([*TRACE_COLUMNS, *(f"weight {name}" for name in solution.names)])
        table.writerows([*(getattr(row, column) for column in TRACE_COLUMNS), *row.weights] for row in solution.trace)
        content = text.getvalue()
    else:
        fields = {key: getattr(solution, key) for key in ("formulation", "parameters", "solver", "names")}
        record = {"schema": TRACE_SCHEMA, **fields, "rows": [row.as_dict() for row in solution.trace]}
        content = json.dumps(record, allow_nan=False) + "\n"
    write_text(path, content)
