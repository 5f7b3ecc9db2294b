"""The trace of a run as a file: what was certified when, and where the weights stood."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from ..certificate.solution import Solution
from .files import write_whole

SCHEMA = "mklcvx.trace/1"
COLUMNS = ("iteration", "lower", "upper", "gap", "svm_solves", "seconds")


def save_trace(path: Path, solution: Solution) -> None:
    """As .json, with what was solved and how, or as .csv, with a column per kernel; written whole or not at all."""
    if path.suffix == ".csv":
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow([*COLUMNS, *(f"weight {name}" for name in solution.names)])
        table.writerows([*(getattr(row, column) for column in COLUMNS), *row.weights] for row in solution.trace)
        content = text.getvalue()
    else:
        record = {
            "schema": SCHEMA,
            "formulation": solution.formulation,
            "parameters": solution.parameters,
            "solver": solution.solver,
            "names": list(solution.names),
            "rows": [row.as_dict() for row in solution.trace],
        }
        content = json.dumps(record, allow_nan=False) + "\n"
    write_whole(path, lambda file: file.write(content.encode("utf-8", "backslashreplace")))
