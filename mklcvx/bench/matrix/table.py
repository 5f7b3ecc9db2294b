"""The matrix formulations × solvers: the results of every cell over its specimens, as JSON and Markdown.

A cell without runs has a reason: the solver does not solve that formulation, or no specimen of that size suits it.
"""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import formulations
from ..._version import __version__
from ..comparison import fitting
from ..conformance.summary import shifted_mean
from .cells import ALL_SOLVERS, CERTIFIED, Cell

SCHEMA = "mklcvx.validation/1"
SHOWN = 3  # reasons, the most frequent ones
DETAIL = (
    "formulation", "solver", "runs", "certified", "asked", "digits: median", "worst", "gap: median", "worst", "seconds",
    "honest", "where not certified, why",
)  # fmt: skip
NUMBERS = {"digits_median": ".1f", "digits_worst": ".1f", "gap_median": ".1e", "gap_worst": ".1e", "seconds": ".2g"}


@dataclass(frozen=True)
class Entry:
    """One solver and one formulation over all specimens; `reason` says why there are no runs."""

    formulation: str
    solver: str
    cells: tuple[Cell, ...] = ()
    reason: str = ""

    @property
    def certified(self) -> int:
        return sum(cell.status == CERTIFIED for cell in self.cells)

    @property
    def dishonest(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.honest is False]

    @property
    def seconds(self) -> float | None:
        return shifted_mean([cell.seconds for cell in self.cells if cell.seconds is not None], 0.01)

    @property
    def why_not(self) -> str:
        """The reasons of runs that are not certified, the most frequent first."""
        reasons = Counter(_brief(cell.reason) for cell in self.cells if cell.status != CERTIFIED)
        shown = reasons.most_common(SHOWN)
        others = reasons.total() - sum(times for _, times in shown)
        return "; ".join(f"{reason} ({times})" for reason, times in [*shown, ("other reasons", others)] if times)

    def as_dict(self) -> dict[str, Any]:
        digits = [cell.digits for cell in self.cells if cell.digits is not None]
        gaps = [cell.gap for cell in self.cells if cell.gap is not None]
        return {
            **{field: getattr(self, field) for field in ("formulation", "solver", "certified", "seconds")},
            "runs": len(self.cells),
            "digits_median": float(np.median(digits)) if digits else None,
            "digits_worst": min(digits, default=None),
            "gap_median": float(np.median(gaps)) if gaps else None,
            "gap_worst": max(gaps, default=None),
            "dishonest": len(self.dishonest),
            "reason": self.reason or self.why_not,
        }


@dataclass(frozen=True)
class Matrix:
    """All entries, formulation by formulation, and the settings of the runs."""

    entries: tuple[Entry, ...]
    time_limit: float
    largest: float
    elapsed: float

    @staticmethod
    def of(cells: Sequence[Cell], time_limit: float, largest: float, elapsed: float) -> Matrix:
        entries = [_entry(f.name, solver, cells) for f in formulations.FORMULATIONS for solver in ALL_SOLVERS]
        return Matrix(tuple(entries), time_limit, largest, elapsed)

    def entry(self, formulation: str, solver: str) -> Entry:
        return next(e for e in self.entries if (e.formulation, e.solver) == (formulation, solver))

    @property
    def filled(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.cells]

    @property
    def cells(self) -> list[Cell]:
        return [cell for entry in self.entries for cell in entry.cells]

    @property
    def honest(self) -> bool:
        return not any(entry.dishonest for entry in self.entries)

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "version": __version__,
            "python": platform.python_version(),
            **{field: getattr(self, field) for field in ("time_limit", "largest", "elapsed")},
            "entries": [entry.as_dict() for entry in self.entries],
            "cells": [cell.as_dict() for cell in self.cells],
        }

    def as_markdown(self) -> str:
        solvers = [name for name in ALL_SOLVERS if any(entry.solver == name for entry in self.filled)]
        names = list(dict.fromkeys(entry.formulation for entry in self.filled))
        head = ["formulation", *(f"`{solver}`" for solver in solvers)]
        body = [[f"`{name}`", *(_shown(self.entry(name, solver)) for solver in solvers)] for name in names]
        lines = ["# Every solver against the optimum of every formulation it fits", "", *_legend(self), ""]
        lines += [*_table(head, body), "", "## In detail", "", *_table(DETAIL, map(_detail, self.filled)), ""]
        return "\n".join(lines)


def _entry(formulation: str, solver: str, cells: Sequence[Cell]) -> Entry:
    mine = (formulation, solver)
    chosen = tuple(cell for cell in cells if (cell.formulation, cell.solver) == mine)
    served = solver in {serving.name for serving in fitting(formulation)}
    empty = "no instance of this size suits it" if served else "does not solve it"
    return Entry(*mine, chosen, "" if chosen else empty)


def _legend(matrix: Matrix) -> list[str]:
    runs, specimens = len(matrix.cells), len({cell.specimen for cell in matrix.cells})
    certified = sum(cell.status == CERTIFIED for cell in matrix.cells)
    lies = sum(len(entry.dishonest) for entry in matrix.entries)
    proved = sum(cell.proved for cell in matrix.cells)
    return [
        f"{runs} runs on {specimens} instances of the zoo (n²M ≤ {matrix.largest:g}), {matrix.time_limit:g} s for each "
        f"at most; {certified} certified what was asked for, {lies} were not honest about what they reached. Made by "
        f"`mklcvx validate` (mklcvx {__version__}, {matrix.elapsed / 60:.0f} minutes).",
        f"{'All' if proved == runs else f'{proved} of the'} runs are held against a proved enclosure "
        f"(`validation/golden`){'' if proved == runs else ', the others against a certificate'}.",
        "",
        "Each cell: digits that the value shares with the optimum, median and (worst) over the instances, and how many",
        "runs certified the gap that the solver can be expected to reach (see *asked* below: published algorithms are",
        "not asked for much). – : the solver does not solve that formulation. ‼: a run was not honest.",
    ]


def _shown(entry: Entry) -> str:
    if not entry.cells:
        return "–"
    row, count = entry.as_dict(), f"{entry.certified}/{len(entry.cells)}"
    if row["digits_median"] is None:
        return f"no answer, {count}"
    mark = " ‼" if entry.dishonest else ""
    return f"{row['digits_median']:.0f} ({max(row['digits_worst'], 0):.0f}) {count}{mark}"


def _detail(entry: Entry) -> list[str]:
    row = entry.as_dict()
    asked = ", ".join(f"{gap:.0e}" for gap in {cell.asked for cell in entry.cells if cell.asked is not None})
    numbers = ["–" if row[name] is None else f"{row[name]:{form}}" for name, form in NUMBERS.items()]
    lies = Counter(_brief(cell.reason) for cell in entry.dishonest)
    honest = "yes" if not lies else "NO: " + "; ".join(f"{reason} ({times})" for reason, times in lies.items())
    head = [f"`{entry.formulation}`", f"`{entry.solver}`", str(row["runs"]), str(entry.certified), asked]
    return [*head, *numbers, honest, entry.why_not or "all are"]


def _brief(reason: str) -> str:
    """A reason without the numbers that differ from run to run."""
    alike = re.sub(r" (after [\d,]+ iterations|(at|between) kernels \(.*\))", "", reason)
    return alike.partition(": relative gap")[0].replace("|", "/")[:90]


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]
