"""One table: every contestant of `l1` on two problems; and what every single-task formulation costs beside `l1`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import problems
from jobs import DECLARED, Job, Result, Study, all_solvers
from mklcvx.formulations import SINGLE_TASKS
from mklcvx.solvers.solving import SOLVERS
from shared.tables import shown, table

SERVED = next(s.serves for s in SOLVERS if s.name == "interior")
FORMULATIONS = [f.name for f in SINGLE_TASKS if not f.single_kernel and (SERVED is None or f.name in SERVED)]
HEADER = ("solver", "fits", "fits with validation", "certified gap", "asked", "runs", "status", "note")


def jobs(quick: bool, externals: Sequence[str]) -> list[Job]:
    cancer = partial(problems.peers, 40 if quick else 300)
    digits = partial(problems.real, "digits", *((40, 6) if quick else (1000, 30)))
    names = ["interior", "clarabel", "level"] if quick else all_solvers("l1")
    large = ["interior"] if quick else all_solvers("l1", without=DECLARED)
    rounds, limit = (1, 5.0) if quick else (5, 20.0)
    made = [
        Job({"table": "l1", "data": "breast_cancer"}, cancer, names, externals=externals, rounds=rounds, limit=limit),
        Job({"table": "l1", "data": "digits"}, digits, large, externals=externals, rounds=rounds, limit=limit),
    ]
    for name in FORMULATIONS[:3] if quick else FORMULATIONS:
        labels = {"table": "formulations", "data": "breast_cancer"}
        made.append(Job(labels, cancer, ["interior"], name, rounds=rounds, limit=limit))
    return made


def study(results: list[Result], folder: Path) -> Study:
    lines: list[str] = []
    for result in (r for r in results if r.job.labels["table"] == "l1"):
        lines += [*contest(result), ""]
    lines += ["### What every formulation costs, by `interior` on the first problem", "", *formulations(results)]
    return Study("Headline: `l1`, C = 1", lines, results)


def contest(result: Result) -> list[str]:
    found, labels = result.benchmark, result.job.labels
    title = f"### {labels['data']}, n = {found.samples}, M = {found.count}"
    cells = []
    for s in found.rows:
        more = "> " if s.status == "cut_off" else ""
        fits = [more + shown(found.fits(s, validated), missing="–") for validated in (False, True)]
        gap = "–" if s.gap is None else f"{s.gap:.1e}"
        cells.append([s.name, *fits, gap, f"{s.asked:.0e}", str(len(s.seconds)), s.status, s.fault or s.note])
    said = f"Validating the instance takes {shown(found.validating / found.fit)} fits."
    return [title, "", *table(HEADER, cells), "", said]


def formulations(results: list[Result]) -> list[str]:
    """Each has its own LIBSVM fits in its own run, so that ratios of fits compare what ran at different times. Only the
    first solution finds what belongs to the kernels alone: the δ of every kernel, for block-∞ norms."""
    costs = {
        r.job.formulation: (r.benchmark.fits(r.benchmark.rows[0]), r.benchmark.rows[0])
        for r in results
        if r.job.labels["table"] == "formulations"
    }
    base = costs.get("l1", (None, None))[0]
    cells = []
    for name, (fits, row) in costs.items():
        relative = shown(fits / base if fits and base else None, missing="–")
        first = shown(fits * row.seconds[0] / row.median if fits and row.median else None, missing="–")
        gap = "–" if row.gap is None else f"{row.gap:.1e}"
        cells.append([name, shown(fits, missing="–"), relative, first, gap, str(row.iterations), row.status])
    header = ("formulation", "fits", "relative to l1", "fits, first time", "certified gap", "iterations", "status")
    return table(header, cells)
