"""The tables of the papers, as printed: `validation/printed/PAPER_TABLE.csv`."""

from __future__ import annotations

import csv
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "printed"


def printed(name: str) -> dict[str, dict[str, float]]:
    """The numbers by row and column."""
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        lines = [(line.pop(""), line) for line in csv.DictReader(file)]
    return {row: {column: float(cell) for column, cell in line.items()} for row, line in lines}


def printed_rows(name: str) -> dict[str, tuple[float, ...]]:
    return {row: tuple(cells.values()) for row, cells in printed(name).items()}
