"""Peak memory of a solve: a process of its own, the largest resident set minus the one before `solve` is called."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import problems
from jobs import Job, Result, Study, published
from shared.tables import shown, table

DOUBLE = 8


def jobs(quick: bool, externals: Sequence[str]) -> list[Job]:
    sizes = [(60, 3)] if quick else [(800, 20), (800, 100), (1600, 20)]
    names = ["interior"] if quick else published("l1")
    cells = [(size, name) for size in sizes for name in names]
    cells += [((60, 3) if quick else (200, 20), name) for name in (("clarabel",) if quick else ("clarabel", "scs"))]
    return [
        Job({"solver": name, "n": n, "M": count}, partial(problems.clouds, n, count), [name], rounds=1, limit=10.0)
        for (n, count), name in cells
    ]


def study(results: list[Result], folder: Path) -> Study:
    cells = []
    for result in results:
        (row,), found = result.benchmark.rows, result.benchmark
        square = DOUBLE * found.samples**2
        peak = row.peak
        shares = [None, None, None] if peak is None else [peak / 1e6, peak / (found.count * square), peak / square]
        sizes = str(found.samples), str(found.count)
        cells.append([row.name, *sizes, *(shown(x, missing="–") for x in shares), row.status])
    header = ("solver", "n", "M", "MB", "in stacks", "in n² doubles", "status")
    lines = [
        "Beside the instance itself, which was loaded before, and after a first run on a few samples. A dash: this "
        "system does not tell.",
        "",
        *table(header, cells),
    ]
    return Study("Peak memory of one solve", lines, results)
