"""Paths and cross-validation, in units of one solution from nothing.

    python validation/bench/paths.py [--rounds K] [--quick] [-o DIR]

A path has 20 values of C over three decades; the unit is one `solve` of the same formulation at the C in the middle,
its certificate included, and so is everything that is measured: gaps of 1e-8. Cross-validation is over the same path,
five folds, training parts and scores included. All take turns in one process of one BLAS thread; medians of CPU time.
A row that is in paths.jsonl is not measured again: delete the file to begin anew. paths.md is made of all rows.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where `shared` is

import problems
from mklcvx import Instance, solve, solve_path
from mklcvx.estimators.cross_validation import cross_validate
from shared.running import completed
from shared.tables import shown, table

RESULTS = Path(__file__).parent / "results"
TOLERANCE, FOLDS = 1e-8, 5
FORMULATIONS = {"l1": {}, "lp": {"p": 1.5}, "sum": {}, "elastic": {}, "sm1": {}}
CASES: dict[str, Callable[[], Instance]] = {
    "breast_cancer": lambda: problems.peers(400),
    "digits": lambda: problems.named("digits", 500, 20),
    "moons": lambda: problems.named("moons", 300, 12),
    "planted": lambda: problems.from_zoo("planted", 200, 10),
    "random": lambda: problems.from_zoo("random", 64, 3),
}
SMOKE = "random"


def cpu(run: Callable[[], object]) -> float:
    """Milliseconds."""
    started = time.process_time()
    run()
    return 1e3 * (time.process_time() - started)


def row_of(data: str, formulation: str, rounds: int, count: int) -> dict[str, Any]:
    """One row: a solution from nothing, a path and its cross-validation, in turns."""
    instance, own = CASES[data](), FORMULATIONS[formulation]
    prices = np.geomspace(0.1, 100, count).tolist()
    middle = float(np.sqrt(prices[0] * prices[-1]))
    given = {"tol": TOLERANCE, **own}
    runs = {
        "cold_ms": lambda: solve(instance, formulation, C=middle, **given),
        "path_ms": lambda: solve_path(instance, formulation, {"C": prices}, **given),
        "cv_ms": lambda: cross_validate(instance, formulation, [{"C": c} for c in prices], folds=FOLDS, **given),
    }
    runs["cold_ms"]()  # what is imported at the first solution
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(cpu(run))
    path = solve_path(instance, formulation, {"C": prices}, **given)
    found = {name: round(float(np.median(all_of)), 3) for name, all_of in times.items()}
    return {
        "data": data, "n": instance.samples, "M": instance.count, "formulation": formulation, **found,
        "steps": sum(s.iterations for s in path.solutions), "svms": sum(s.svm_solves for s in path.solutions),
        "certified": sum(s.certified for s in path.solutions), "points": count, "rounds": rounds,
        "load": round(os.getloadavg()[0], 1),  # other work on the machine adds to times
    }  # fmt: skip


def as_markdown(rows: Sequence[dict[str, Any]], quick: bool) -> str:
    lines = ["# Paths and cross-validation", "", (__doc__ or "").split("\n\n", 2)[2].strip(), ""]
    rounds, load = min(row["rounds"] for row in rows), max(row["load"] for row in rows)
    busy = f"medians of {rounds} or more, the machine's load up to {load:g}"
    lines += [f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores; {busy}.", ""]
    lines += ["**A smoke run (`--quick`): too small to be evidence.**", ""] if quick else []
    header = ("data", "n", "M", "formulation", "cold, ms", "path", "cross-validation", "steps", "SVMs", "certified")
    cells = []
    for row in rows:
        cold, path, cv = (row[name] for name in ("cold_ms", "path_ms", "cv_ms"))
        times = [f"{cold:.1f}", shown(path / cold, 2), shown(cv / cold, 2)]
        counts = [str(row["steps"]), str(row["svms"]), f"{row['certified']} of {row['points']}"]
        cells.append([str(row["data"]), str(row["n"]), str(row["M"]), f"`{row['formulation']}`", *times, *counts])
    return "\n".join([*lines, *table(header, cells), ""])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a smoke run: tiny, one round, no evidence")
    parser.add_argument("-o", "--output", type=Path, help="a folder; validation/bench/results unless given")
    asked = parser.parse_args(arguments)
    if asked.quick and asked.output is None:
        parser.error("a smoke run does not replace the results: give -o DIR")
    folder, cases = asked.output or RESULTS, [name for name in CASES if (name == SMOKE) == asked.quick]
    folder.mkdir(parents=True, exist_ok=True)
    rounds, count = (1, 4) if asked.quick else (asked.rounds, 20)
    chosen = list(itertools.product(cases, FORMULATIONS))
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of grids whose best C is the last
        found = completed(chosen, lambda cell: row_of(*cell, rounds, count), folder / "paths.jsonl")
        rows = [row for _, row in found]
    (folder / "paths.md").write_text(as_markdown(rows, asked.quick), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
