"""Validation: every solver of ours against the optimum of every formulation it fits, over the zoo."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

from ...defaults import VALIDATE_LARGEST as LARGEST
from ...defaults import VALIDATE_TIME_LIMIT
from ...io.files import write_whole
from .cells import Cell, cells, work
from .table import Matrix

QUICK = ("by-hand", "planted-l1", "single-features", "two-samples", "labels-rare", "one-kernel")
FILES = ("validation.md", "validation.json", "validation.svg")

__all__ = ["FILES", "LARGEST", "QUICK", "Cell", "Matrix", "plan", "save", "validate"]


def plan(quick: bool = False, largest: float = LARGEST) -> list[tuple[str, str]]:
    """The formulations and specimens that are to be tried."""
    return work(QUICK if quick else None, largest)


def validate(
    pairs: list[tuple[str, str]],
    time_limit: float = VALIDATE_TIME_LIMIT,
    jobs: int | None = None,
    largest: float = LARGEST,
    done: Callable[[str], None] = lambda _: None,
) -> Matrix:
    """Run every solver that fits on every formulation and specimen of `pairs`."""
    started = time.perf_counter()
    found = cells(pairs, time_limit, jobs, done)
    return Matrix.of(found, time_limit, largest, time.perf_counter() - started)


def save(folder: Path, matrix: Matrix) -> None:
    """Markdown, JSON and a picture."""
    from .picture import picture

    texts = matrix.as_markdown(), json.dumps(matrix.as_dict(), ensure_ascii=False, allow_nan=False) + "\n"
    contents = [*(text.encode() for text in texts), picture(matrix)]
    for name, content in zip(FILES, contents, strict=True):
        write_whole(folder / name, partial(_write, content))


def _write(content: bytes, file: IO[bytes]) -> None:
    file.write(content)
