"""Validation: every solver of this package on every formulation it fits, over the zoo, against the optimum."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from operator import methodcaller
from pathlib import Path

from ...io.writing import write_whole
from ..conformance.trials import shared_out
from .cells import LARGEST, QUICK, Cell, cells_of, plan
from .table import Matrix

FILES = ("validation.md", "validation.json", "validation.svg")

__all__ = ["FILES", "LARGEST", "QUICK", "Cell", "Matrix", "plan", "save", "validate"]


def validate(
    pairs: list[tuple[str, str]], time_limit: float, jobs: int | None, largest: float, done: Callable[[str], None]
) -> Matrix:
    """Run every solver that fits on every formulation and specimen of `pairs`, through joblib."""
    started = time.perf_counter()
    cells: list[Cell] = []
    for row in shared_out(partial(cells_of, time_limit), pairs, jobs):
        cells += row
        done(f"{row[0].formulation} on {row[0].specimen}")
    return Matrix.of(cells, time_limit, largest, time.perf_counter() - started)


def save(folder: Path, matrix: Matrix) -> None:
    """Write Markdown, JSON and a picture into a folder."""
    from .picture import picture

    texts = matrix.as_markdown(), json.dumps(matrix.as_dict(), ensure_ascii=False, allow_nan=False) + "\n"
    contents = [*(text.encode() for text in texts), picture(matrix)]
    for name, content in zip(FILES, contents, strict=True):
        write_whole(folder / name, methodcaller("write", content))
