"""Conformance and validation in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ..bench.conformance.summary import SHIFT, Conformance
from ..bench.conformance.trials import LEVELS, SpecimenResult
from ..bench.matrix.table import Matrix
from .display import Console, as_is, number, print_table

WORST = 5


def show_conformance(conformance: Conformance) -> None:
    """Print success rates and times at every level, the worst failures, the diagnoses, and the verdict."""
    console, failed = Console(), conformance.failures
    _show_rates(conformance)
    if failed:
        _show_failures(failed, conformance)
    for trial in conformance.skipped:
        console.print(as_is(f"skipped {trial.specimen}: {trial.words}"))
    rate, run = conformance.rate(conformance.level), len(conformance.trials) - len(conformance.skipped)
    verdict = "conforms" if conformance.passed else "does not conform"
    words = f"{rate.accepted} of {run} accepted at {rate.tolerance:.0e}, {len(failed)} rejected"
    undecided = f", {rate.undecided} undecided" if rate.undecided else ""
    console.print(as_is(f"{conformance.solver} {verdict} to {conformance.formulation}: {words}{undecided}."))


def _show_rates(conformance: Conformance) -> None:
    rows = []
    for level in LEVELS:
        rate = conformance.rate(level)
        share = "–" if rate.share is None else f"{100 * rate.share:.0f} %"
        mean = "–" if rate.seconds is None else f"{rate.seconds:.3g} s"
        accepted = f"{rate.accepted} of {rate.decided}"
        rows.append((level, f"{rate.tolerance:.0e}", share, accepted, rate.undecided, mean))
    mean_time = f"mean time (shift {SHIFT:g} s)"
    print_table(("accuracy", "tolerance", "success", "accepted", "undecided", mean_time), rows)


def _show_failures(failed: Sequence[SpecimenResult], conformance: Conformance) -> None:
    more = f", the worst {WORST} of {len(failed)}" if len(failed) > WORST else ""
    title = f"\nRejected at {LEVELS[conformance.level]:.0e}{more}"
    rows = [
        (trial.specimen, trial.outcome if trial.off is None else f"{trial.off:.1e}", trial.words)
        for trial in failed[:WORST]
    ]
    print_table(("instance", "off by", "why"), rows, title, unbroken=("instance", "off by"))
    diagnoses = []
    for name, times in conformance.diagnoses.items():
        example = next(trial for trial in failed if trial.diagnosis == name)
        diagnoses.append((name, times, f"{example.specimen}: {example.words}"))
    print_table(("diagnosis", "times", "for example"), diagnoses, "\nWhat is wrong", unbroken=("diagnosis",))


def show_matrix(matrix: Matrix) -> None:
    """Print one row for each solver and formulation, then what was not certified or not honest."""
    rows = []
    for entry in matrix.filled:
        row = entry.as_dict()
        digits = [number(row[name], ".1f") for name in ("digits_median", "digits_worst")]
        measured = *digits, number(row["gap_worst"], ".0e"), number(entry.seconds, ".2g")
        honest = f"{len(entry.dishonest)} are not" if entry.dishonest else "yes"
        rows.append((entry.formulation, entry.solver, f"{entry.certified} of {row['runs']}", *measured, honest))
    columns = ("formulation", "solver", "certified", "digits", "worst", "worst gap", "seconds", "honest")
    print_table(columns, rows, unbroken=("formulation", "solver"))
    console = Console()
    for entry in matrix.filled:
        if entry.why_not:
            console.print(as_is(f"not certified: {entry.solver}, {entry.formulation}: {entry.why_not}"))
    for entry in matrix.filled:
        for cell in entry.dishonest:
            console.print(as_is(f"not honest: {cell.solver}, {cell.formulation}, {cell.specimen}: {cell.reason}"))
