"""What an experiment is, and how its cells are run, kept and taken up again.

An experiment is a list of independent cells, such as (data set, split, method), and a function from a cell to a dict of
results. Cells go through joblib: `jobs` processes, or, inside `joblib.parallel_config`, whatever back end that names (a
Dask cluster, say). Every finished cell is appended to `cells.jsonl` as one line, by one write and flushed to the disk,
so that a run that is killed loses the cells it was at and nothing else; the next run does what is missing. A line
counts only for the protocol and the seed under which it was written: changed grids start anew, old lines stay.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from mklcvx.errors import InputError
from shared.datasets import Dataset, load
from shared.journals import add_line, records

Size = Literal["quick", "reduced", "full"]
Cell = dict[str, Any]
SCHEMA = "mklcvx.experiments/1"
FOLDER = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Setting:
    """How large, from which seed, with whose data, where to. `quick` uses only what scikit-learn bundles."""

    size: Size = "reduced"
    seed: int = 0
    data: Path | None = None
    folder: Path = FOLDER
    jobs: int | None = None

    def choose(self, quick: Any, reduced: Any, full: Any) -> Any:
        return {"quick": quick, "reduced": reduced, "full": full}[self.size]

    def load(self, name: str) -> Dataset:
        return load(name, self.data)

    def rng(self, *parts: Any) -> np.random.Generator:
        """Random numbers that depend on the seed and on these words and numbers alone."""
        digest = hashlib.blake2b(json.dumps([self.seed, *parts]).encode(), digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest, "big"))


@dataclass(frozen=True)
class Experiment:
    """`cells` lists them; `run` computes one, in any process; `report` makes a page of what is known so far.

    `protocol` is everything beside the cell that decides its result: grids, sizes, tolerances. `needs` are data sets.
    """

    name: str
    title: str
    cells: Callable[[Setting], list[Cell]]
    run: Callable[[Cell, Setting], dict[str, Any]]
    report: Callable[[Setting, list[Row]], Any]
    protocol: Callable[[Setting], dict[str, Any]]
    needs: Callable[[Setting], Sequence[str]] = lambda _: ()

    def folder(self, setting: Setting) -> Path:
        return setting.folder / (self.name if setting.size == "reduced" else f"{self.name}-{setting.size}")


@dataclass(frozen=True)
class Row:
    """A finished cell: what it was, what came out, how long it took; or the error that ended it."""

    cell: Cell
    result: dict[str, Any]
    seconds: float
    error: str = ""

    def __getitem__(self, key: str) -> Any:
        """A result, or a part of the cell."""
        return self.result[key] if key in self.result else self.cell[key]


# ---------------------------------------------------------------------------------------------------------- the cache
@dataclass(frozen=True)
class Cache:
    """Finished cells in a file of JSON lines, under the digest of the protocol and the seed."""

    file: Path
    protocol: str

    @classmethod
    def of(cls, experiment: Experiment, setting: Setting) -> Cache:
        return cls(experiment.folder(setting) / "cells.jsonl", protocol_digest(experiment, setting))

    def read(self) -> list[Row]:
        """Rows of this protocol; a line that was cut off when its writer was killed is passed over."""
        rows: dict[str, Row] = {}
        for entry in records(self.file):
            if entry.get("protocol") == self.protocol and entry.keys() >= {"cell", "result", "seconds"}:
                rows[key(entry["cell"])] = Row(entry["cell"], entry["result"], entry["seconds"])
        return list(rows.values())

    def append(self, row: Row) -> None:
        entry = {
            "protocol": self.protocol,
            "cell": row.cell,
            "seconds": round(row.seconds, 3),
            "result": plain(row.result),
        }
        add_line(self.file, entry)


def key(cell: Cell) -> str:
    return json.dumps(cell, sort_keys=True)


def protocol_digest(experiment: Experiment, setting: Setting) -> str:
    about = {"seed": setting.seed, "size": setting.size, **experiment.protocol(setting)}
    return hashlib.blake2b(json.dumps(plain(about), sort_keys=True).encode(), digest_size=6).hexdigest()


def plain(value: Any) -> Any:
    """Python's own numbers with seven digits; what is not finite is null."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value


# ------------------------------------------------------------------------------------------------------------ running
@dataclass
class Outcome:
    """All rows known of an experiment's cells, in the order of the cells, and what could not be done."""

    wanted: list[Cell]
    rows: list[Row]
    failed: list[Row]

    @cached_property
    def complete(self) -> bool:
        return len(self.rows) == len(self.wanted)


def finished(experiment: Experiment, setting: Setting) -> Outcome:
    """What the cache has; nothing is computed."""
    known = {key(row.cell): row for row in Cache.of(experiment, setting).read()}
    wanted = experiment.cells(setting)
    return Outcome(wanted, [known[key(cell)] for cell in wanted if key(cell) in known], [])


def run(experiment: Experiment, setting: Setting, console: Console | None = None) -> Outcome:
    """Compute the cells that the cache does not have, with a progress bar; nothing finished is computed again."""
    for name in experiment.needs(setting):
        setting.load(name)  # a wrong or missing copy is said before hours of work, not after
    cache, before = Cache.of(experiment, setting), finished(experiment, setting)
    wanted, known = before.wanted, {key(row.cell): row for row in before.rows}
    missing = [cell for cell in wanted if key(cell) not in known]
    failed: list[Row] = []
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, TimeRemainingColumn(), console=console or Console(stderr=True)) as progress:
        shown = progress.add_task(experiment.name, total=len(wanted), completed=len(wanted) - len(missing))
        for row in _computed(experiment, setting, missing):
            if row.error:
                failed.append(row)
                progress.console.print(f"{experiment.name}: {described(row.cell)} failed: {row.error}", highlight=False)
            else:
                cache.append(row)
                known[key(row.cell)] = replace(row, result=plain(row.result))
            progress.update(shown, advance=1, description=f"{experiment.name}: {described(row.cell)}")
    return Outcome(wanted, [known[key(cell)] for cell in wanted if key(cell) in known], failed)


def _computed(experiment: Experiment, setting: Setting, cells: list[Cell]) -> Iterator[Row]:
    """Rows as they are finished, in whatever order."""
    work = Parallel(n_jobs=setting.jobs, return_as="generator_unordered", pre_dispatch="2 * n_jobs", batch_size=1)
    yield from work(delayed(compute)(experiment.run, cell, setting) for cell in cells)


def compute(function: Callable[[Cell, Setting], dict[str, Any]], cell: Cell, setting: Setting) -> Row:
    """One cell, on one thread; an error belongs to its cell and ends no other."""
    started = time.process_time()
    try:
        with threadpool_limits(1):
            result, error = function(cell, setting), ""
    except InputError as fault:
        result, error = {}, str(fault)
    except Exception as fault:  # hours of other cells must not be lost with it
        result, error = {}, f"{type(fault).__name__}: {' '.join(str(fault).split())[:300]}"
    return Row(cell, result, time.process_time() - started, error)


def described(cell: Cell) -> str:
    return " ".join(str(value) for value in cell.values())
