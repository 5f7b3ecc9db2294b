"""Conformance and validation in the terminal: tables, and a bar that counts."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from ..bench.conformance.summary import SHIFT, Conformance
from ..bench.conformance.trials import LEVELS, Trial
from ..bench.matrix.table import Matrix
from .display import as_is

WORST = 5


class Count:
    """A bar on standard error that fills up, one piece of work after the other. Silent when not wanted or not on a
    terminal."""

    def __init__(self, silent: bool, total: int) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
        shown = not silent and sys.stderr.isatty()
        self.bar = Bar(*columns, console=Console(stderr=True), transient=True) if shown else None
        self.line = None if self.bar is None else self.bar.add_task("", total=total)

    def __enter__(self) -> Count:
        if self.bar is not None:
            self.bar.start()
        return self

    def one(self, text: str) -> None:
        if self.bar is not None and self.line is not None:
            self.bar.update(self.line, description=text, advance=1)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def show_conformance(found: Conformance) -> None:
    """Rates and times at every level, the worst failures, what is wrong how often, and the verdict."""
    console, failed = Console(), found.failures
    console.print(_rates(found))
    if failed:
        console.print(_failures(failed, found.level))
        console.print(_diagnoses(found))
    for trial in found.skipped:
        console.print(as_is(f"skipped {trial.specimen}: {trial.words}"))
    rate, run = found.rate(found.level), len(found.trials) - len(found.skipped)
    verdict = "conforms" if found.passed else "does not conform"
    words = f"{rate.accepted} of {run} accepted at {rate.tolerance:.0e}, {len(failed)} rejected"
    undecided = f", {rate.undecided} undecided" if rate.undecided else ""
    console.print(as_is(f"{found.solver} {verdict} to {found.formulation}: {words}{undecided}."))


def show_matrix(matrix: Matrix) -> None:
    """One row for each solver and formulation, and what is not as it should be."""
    table = _table("formulation", "solver", "certified", "digits", "worst", "worst gap", "seconds", "honest")
    for entry in matrix.filled:
        row = entry.as_dict()
        digits = (
            ["–", "–"]
            if row["digits_median"] is None
            else [f"{row['digits_median']:.1f}", f"{row['digits_worst']:.1f}"]
        )
        gap = "–" if row["gap_worst"] is None else f"{row['gap_worst']:.0e}"
        seconds = "–" if entry.seconds is None else f"{entry.seconds:.2g}"
        honest = f"{len(entry.dishonest)} are not" if entry.dishonest else "yes"
        count = f"{entry.certified} of {row['runs']}"
        table.add_row(entry.formulation, entry.solver, count, *digits, gap, seconds, honest)
    console = Console()
    console.print(table)
    for entry in matrix.filled:
        if entry.why_not:
            console.print(as_is(f"not certified: {entry.solver}, {entry.formulation}: {entry.why_not}"))
    for entry in matrix.filled:
        for cell in entry.dishonest:
            console.print(as_is(f"not honest: {cell.solver}, {cell.formulation}, {cell.specimen}: {cell.reason}"))


def _rates(found: Conformance) -> Table:
    table = _table("accuracy", "tolerance", "success", "accepted", "undecided", f"mean time (shift {SHIFT:g} s)")
    for level in LEVELS:
        rate = found.rate(level)
        share = "–" if rate.share is None else f"{100 * rate.share:.0f} %"
        mean = "–" if rate.seconds is None else f"{rate.seconds:.3g} s"
        accepted = f"{rate.accepted} of {rate.decided}"
        table.add_row(level, f"{rate.tolerance:.0e}", share, accepted, str(rate.undecided), mean)
    return table


def _failures(failed: Sequence[Trial], level: str) -> Table:
    more = f", the worst {WORST} of {len(failed)}" if len(failed) > WORST else ""
    table = _table("instance", "off by", "why", title=f"Rejected at {LEVELS[level]:.0e}{more}")
    for trial in failed[:WORST]:
        off = trial.outcome if trial.off is None else f"{trial.off:.1e}"
        table.add_row(trial.specimen, off, as_is(trial.words))
    return table


def _diagnoses(found: Conformance) -> Table:
    table = _table("diagnosis", "times", "for example", title="What is wrong")
    for name, times in found.diagnoses.items():
        example = next(trial for trial in found.failures if trial.diagnosis == name)
        table.add_row(name, str(times), as_is(f"{example.specimen}: {example.words}"))
    return table


def _table(*columns: str, title: str = "") -> Table:
    table = Table(
        box=None, padding=(0, 2, 0, 0), title=f"\n{title}" if title else None, title_justify="left", title_style="bold"
    )
    for column in columns:
        table.add_column(column, no_wrap=column in ("instance", "diagnosis", "off by", "formulation", "solver"))
    return table
