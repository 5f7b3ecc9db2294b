"""Every published algorithm against the exact optimum: what it costs until 1e-2, 1e-3, 1e-4 are certified.

    python validation/solvers.py [-o validation/solvers.md] [--samples 200] [--count 20] [--data wine] [--only silp]

Costs are SVM solves where the algorithm has an SVM inside, else iterations. Single tasks have C = 1, even classes
against odd ones; the families have all classes, and half as many samples and kernels; hypergraphs have kernels of
unit trace and λ = 0.01. The sampling algorithms run with the papers' settings and are judged by the distance of their
value from the optimum, averaged over seeds; nothing is certified of them but what their trace says.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from mklcvx import Instance, Solution, formulations, solve, zoo
from mklcvx.solvers.registry import ALGORITHMS
from shared.running import put
from shared.tables import table

GAPS = (1e-2, 1e-3, 1e-4)
SAMPLED = {"ml_sa": 5000, "ts_pegasos": 1000}
SEEDS = 5
HEAD = (
    "data", "solver", "formulation", "cost to 1e-2", "to 1e-3", "to 1e-4", "best gap", "ended because", "trace holds",
)  # fmt: skip


def problem(name: str, data: str, samples: int, count: int) -> tuple[Instance, dict[str, Any]]:
    family = formulations.get(name).family
    if family == "single task":
        return _real(data, "y", samples, count), {}
    instance = _real(data, "classes", samples // 2, count // 2)
    if family == "hypergraph":
        return instance.with_kernels(instance.kernels / instance.samples), {"lam": 0.01}
    return instance, {}


@cache
def _real(data: str, target: str, samples: int, count: int) -> Instance:
    return zoo.real(data, target, min(samples, zoo.REAL[data]), count)


@cache
def optimum(name: str, data: str, samples: int, count: int) -> Solution:
    instance, given = problem(name, data, samples, count)
    return solve(instance, name, solver="clarabel", tol=1e-7, **given)


def row(solver: str, name: str, data: str, samples: int, count: int) -> list[str]:
    instance, given = problem(name, data, samples, count)
    exact = optimum(name, data, samples, count)
    if solver in SAMPLED:
        runs = [
            solve(instance, name, solver=solver, tol=1e-6, max_iter=SAMPLED[solver], options={"seed": seed}, **given)
            for seed in range(SEEDS)
        ]
        excess = np.mean([run.objective / exact.objective - 1 for run in runs])
        gap = np.mean([run.certificate.relative_gap for run in runs])
        costs = ["", "", ""]
        ending = f"{SAMPLED[solver]} steps; mean value {excess:.1e} above the optimum"
    else:
        runs = [solve(instance, name, solver=solver, tol=1e-4, max_iter=3000, time_limit=120, **given)]
        costs = [_cost(runs[0], wanted) for wanted in GAPS]
        gap, ending = runs[0].certificate.relative_gap, runs[0].message.partition("; ")[2] or "certified"
    sound = all(_holds(run, exact) for run in runs)
    return [data, solver, name, *costs, f"{gap:.1e}", ending, "yes" if sound else "NO"]


def _cost(run: Solution, wanted: float) -> str:
    reached = next((r for r in run.trace if r.gap <= wanted), None)
    if reached is None:
        return "–"
    return f"{reached.svm_solves} SVMs" if reached.svm_solves else f"{reached.iteration} steps"


def _holds(run: Solution, exact: Solution) -> bool:
    """No row of the trace excludes the optimum."""
    slack = 1e-9 * exact.certificate.scale
    proved = exact.certificate
    return all(r.lower <= proved.upper + slack and r.upper >= proved.lower - slack for r in run.trace)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--data", default="breast_cancer,wine,digits")
    parser.add_argument("--only", default="", help="solvers, by commas; all if none is given")
    asked = parser.parse_args(arguments)
    wanted = (
        asked.only.split(",") if asked.only else [a.name for a in ALGORITHMS if a.reference and a.name != "silp_exact"]
    )
    cells = [(a.name, name, data) for data in asked.data.split(",") for a in ALGORITHMS for name in a.serves]
    cells = [cell for cell in cells if cell[0] in wanted]
    for name in wanted:
        if name not in {algorithm.name for algorithm in ALGORITHMS}:
            parser.error(f"unknown solver {name!r}")
    for data in asked.data.split(","):
        if data not in zoo.REAL:
            parser.error(f"unknown data set {data!r}: {', '.join(zoo.REAL)} are known")
    console = Console(stderr=True)
    rows = [row(*cell, asked.samples, asked.count) for cell in track(cells, "solvers", console=console)]
    sizes = f"n = {asked.samples} (wine: at most 178), M = {asked.count}; half of both for the families."
    lines = ["# The published algorithms against the exact optima", "", sizes, "", *table(HEAD, rows)]
    put("\n".join(lines) + "\n", asked.output)
    return 1 if any(row[-1] == "NO" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
