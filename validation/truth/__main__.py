"""Whether certified intervals contain the optimum: thousands of small problems against exact optima.

    python validation/truth [--planted] [--cells PATTERN]... [--quick] [--keep] [--table]
                            [--results validation/truth/results]

With --planted the problems are those whose optimum is known before their kernels are (`planting.py`), of all losses,
several outputs, labels and hypergraphs; the page is `planted.md`. PATTERN is a shell pattern for names of cells, such
as '*/year/*/svm/*'; `--quick` takes one cell in 37. What is finished is not run again unless the code has changed;
`--keep` counts what other code has left, `--table` runs nothing and writes the page of what is there. The page is
`truth.md`, or `part.md` among the results with --cells or --quick. The exit status is 1 if an interval excludes the
optimum or anything is raised.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where `shared` is

import comparing
import page
import planted
from grid import cells
from keeping import FOLDER, Kept, code_digest
from mklcvx.io.writing import write_text

SPARSE = 37
SHOWN = 20


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planted", action="store_true", help="problems whose optimum is planted")
    parser.add_argument("--cells", action="append", metavar="PATTERN", help="only cells whose names fit")
    parser.add_argument("--quick", action="store_true", help=f"one cell in {SPARSE}")
    parser.add_argument("--keep", action="store_true", help="count cells that other code has left")
    parser.add_argument("--table", action="store_true", help="run nothing, write the page of what is there")
    parser.add_argument("--results", type=Path, default=FOLDER / "results", help="where finished cells are kept")
    asked = parser.parse_args(arguments)
    wanted = chosen(planted.planted_cells() if asked.planted else cells(), asked.cells or [], asked.quick)
    if not wanted:
        parser.error(f"--cells {' '.join(asked.cells or [])}: no cell has such a name")
    name, made, pages = ("planted", planted, planted) if asked.planted else ("truth", comparing, page)
    file = asked.results / ("planted.jsonl" if asked.planted else "cells.jsonl")
    kept, console = Kept(file, code_digest(), asked.keep), Console(stderr=True)
    if not asked.table:
        run(made, wanted, kept, console)
    pairs = [(cell, kept.rows[cell.name]) for cell in wanted if cell.name in kept.rows]
    whole = not asked.cells and not asked.quick
    if whole and not asked.table:
        kept.tidy([cell.name for cell in wanted])
    target = FOLDER / f"{name}.md" if whole else asked.results / "part.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, pages.page(pairs, len(wanted)))
    console.print(pages.summary(pairs, len(wanted)).replace("**", ""), highlight=False)
    return told(pairs, console)


def chosen(known: list[Any], patterns: list[str], quick: bool) -> list[Any]:
    """The cells that fit; a quick part has the first one, which is the example."""
    fitting = [cell for cell in known if not patterns or any(fnmatch.fnmatch(cell.name, p) for p in patterns)]
    return fitting[::SPARSE] if quick else fitting


def run(made: ModuleType, wanted: list[Any], kept: Kept, console: Console) -> None:
    missing = [cell for cell in wanted if cell.name not in kept.rows]
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress, threadpool_limits(1):
        bar = progress.add_task("truth", total=len(wanted), completed=len(wanted) - len(missing))
        faults = 0
        for cell in missing:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kept.add(cell.name, made.compared(cell))
            faults += page.faulty(kept.rows[cell.name])
            progress.update(bar, advance=1, description=f"{faults} faults, {cell.label}")


def told(pairs: list[tuple[Any, dict]], console: Console) -> int:
    """The worst faults by name, and the exit status."""
    faults = [(cell, row) for cell, row in pairs if page.faulty(row)]
    for cell, row in sorted(faults, key=lambda pair: -pair[1].get("excluded", float("inf")))[:SHOWN]:
        what = f"excluded by {row['excluded']:.1e}" if "excluded" in row else row.get("reason", "raised")
        console.print(f"{cell.name}: {row['status']}, {what}", highlight=False)
    if len(faults) > SHOWN:
        console.print(f"and {len(faults) - SHOWN} more")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
