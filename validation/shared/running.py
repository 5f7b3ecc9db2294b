"""What long runs share: cells that are computed once, and a page that is written or printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track

from mklcvx.io.writing import write_text
from shared.journals import add_line, records

Cell = TypeVar("Cell", bound=tuple)


def completed(
    cells: Sequence[Cell], compute: Callable[[Cell], dict[str, Any]], journal: Path | None
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Every cell with its result; what the journal has is not computed again."""
    done = {tuple(row["cell"]): row["result"] for row in (records(journal) if journal else ())}
    console = Console(stderr=True)
    for cell in track(cells, "computing", console=console, disable=not console.is_terminal):
        if cell not in done:
            done[cell] = compute(cell)
            if journal is not None:
                add_line(journal, {"cell": cell, "result": done[cell]})
        yield cell, done[cell]


def put(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(output, text)
