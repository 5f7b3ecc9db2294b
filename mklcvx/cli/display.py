"""What people see in a terminal: tables, bars, progress. Everything on standard error but the results."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from .. import formulations
from ..certificate import Certificate
from ..certificate.run import Row
from ..certificate.solution import SUPPORT, Solution
from ..defaults import TOLERANCE
from ..problem.instance import Instance

if TYPE_CHECKING:
    from ..bench.standing import Benchmark
    from ..verification.judge import Report
    from ..verification.proof import Proof
    from ..zoo import Specimen

BLOCKS = " ▁▂▃▄▅▆▇█"
LEAST_SHARE = 0.01  # of the gap


def formulation_table() -> None:
    table = Table(title="Formulations", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("name", "what it is", "parameters", "reference"):
        table.add_column(column)
    for formulation in formulations.FORMULATIONS:
        groups = " + groups" if formulation.needs_groups else ""
        table.add_row(
            formulation.name, formulation.title, ", ".join(formulation.parameter_names) + groups, formulation.reference
        )
    Console().print(table)


def solver_table() -> None:
    from ..solvers.solving import SOLVERS

    table = Table(title="\nSolvers", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("name", "what it is", "solves", "gap", "options"):
        table.add_column(column, no_wrap=column in ("name", "gap"))
    for solver in SOLVERS:
        about = f"{solver.summary} ({solver.reference})" if solver.reference else solver.summary
        solves = "all" if solver.serves is None else ", ".join(solver.serves)
        table.add_row(solver.name, about, solves, f"{solver.tolerance:.0e}", ", ".join(solver.options))
    Console().print(table)


def zoo_table(specimens: Sequence[Specimen]) -> None:
    table = Table(title="The zoo", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("name", "M", "n", "targets", "optimum", "what is special"):
        table.add_column(column, no_wrap=column == "name", justify="right" if column in ("M", "n") else "left")
    for specimen in specimens:
        size = specimen.recorded
        known = "known" if specimen.optimum else ""
        shown = str(size["kernels"]), str(size["samples"]), size["targets"], known, specimen.special
        table.add_row(specimen.name, *shown)
    Console().print(table)


def show_solution(solution: Solution) -> None:
    """One solution: value, certificate, and a bar for every kernel."""
    certificate = solution.certificate
    head = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    head.add_row("formulation", f"{solution.formulation} ({', '.join(_shown(solution.parameters))})")
    head.add_row("status", solution.status)
    head.add_row("optimum", f"between {certificate.lower:.12g} and {certificate.upper:.12g}")
    head.add_row("relative gap", f"{certificate.relative_gap:.1e}{_shares(certificate)}")
    if solution.bias_interval is not None:
        low, high = solution.bias_interval
        wide = high - low > 1e-6 * max(1.0, abs(low))
        head.add_row("bias", f"{solution.bias:.6g}" + (f", any in [{low:.6g}, {high:.6g}]" if wide else ""))
    if solution.alpha is not None:
        supporting = np.atleast_2d(solution.alpha).max(axis=0) > SUPPORT * solution.alpha.max()
        head.add_row("support vectors", f"{int(supporting.sum())} of {len(supporting)}")
    for name in ("gamma", "class_values", "eigenvalues", "normalised"):
        if name in solution.multipliers:
            values = np.ravel(solution.multipliers[name])
            head.add_row(name, ", ".join(f"{v:.6g}" for v in values[:8]) + (", …" if len(values) > 8 else ""))
    solves = f"{solution.svm_solves} SVMs, " if solution.svm_solves else ""
    head.add_row("solver", f"{solution.solver}, {solution.iterations} iterations, {solves}{solution.seconds:.2f} s")
    for note in solution.notes:
        head.add_row("note", as_is(note))
    console = Console()
    console.print(head)
    console.print(_kernel_table(solution))


def _shares(certificate: Certificate) -> str:
    """What of the gap was paid for rounding and for δ, where that is a hundredth or more."""
    if certificate.gap <= 0:
        return ""
    rounding, ridge = (share / certificate.gap for share in (certificate.rounding, certificate.ridge_share))
    shown = [f"{min(rounding, 1.0):.0%} for rounding"] if rounding >= LEAST_SHARE else []
    shown += [f"{min(ridge, 1.0):.0%} for δ = {certificate.ridge:.1e}"] if ridge >= LEAST_SHARE else []
    return f", {' and '.join(shown)}" if shown else ""


def show_proof(proof: Proof) -> None:
    """The interval, and how far the kernels were proved positive semidefinite."""
    from ..certificate.ball_arithmetic.semidefinite import NOT_NEEDED

    found = proof.as_dict()
    ways = [f"{count} by {way}" for way, count in found["semidefinite"].items() if way != NOT_NEEDED]
    head = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    head.add_row("formulation", f"{proof.formulation} ({', '.join(_shown(proof.parameters))})")
    first = " of the first stage" if found["second_stage"] else ""
    head.add_row(f"optimum{first}", f"proved to lie between {found['lower']} and {found['upper']}")
    head.add_row("relative width", f"{proof.relative_width:.1e}")
    for side in ("lower", "upper"):
        ball = found[f"{side}_ball"]
        head.add_row(f"{side} bound", f"{ball['midpoint']} ± {ball['radius']}, {found['precision']} bits")
    head.add_row("semidefinite", ", ".join(ways) or NOT_NEEDED)
    for name, delta in proof.perturbations.items():
        head.add_row("", as_is(f"{name}: with a ridge of {delta:.1e}, which the upper bound pays for"))
    for part in found["second_stage"] or ():
        width = "unbounded" if part["relative_width"] is None else f"relative width {part['relative_width']:.1e}"
        ends = f"proved to lie between {part['lower']} and {part['upper']}, {width}"
        head.add_row(as_is(f"second stage, {part['label']}"), ends)
    head.add_row("point from", f"{found['solver']}, {proof.seconds:.2f} s in all")
    Console().print(head)


def _kernel_table(solution: Solution) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("kernel")
    table.add_column("weight", justify="right")
    table.add_column("‖f_m‖" if solution.norms is not None else "", justify="right")
    table.add_column("")
    heights = np.nan_to_num(solution.weights) if solution.norms is None else solution.norms
    largest = max(heights.max(), np.finfo(float).tiny)
    used = set(solution.used().tolist())
    for m, name in enumerate(solution.names):
        weight = solution.weights[m]
        text = "undefined" if np.isnan(weight) else f"{weight:.6g}" if m in used else "0"
        norm = "" if solution.norms is None else f"{heights[m]:.4g}" if m in used else "0"
        table.add_row(as_is(name), text, norm, "█" * round(24 * heights[m] / largest))
    return table


def as_is(name: str) -> Text:
    """A name from a file: no markup, and nothing that a terminal would obey."""
    return Text("".join(c if c.isprintable() else "�" for c in name))


def _shown(parameters: Mapping[str, Any]) -> list[str]:
    """Numbers with their values, words as they are, flags only where they are set."""
    texts = []
    for key, value in parameters.items():
        if isinstance(value, bool):
            texts += [key] if value else []
        else:
            texts.append(f"{key} = {value if isinstance(value, str) else format(value, 'g')}")
    return texts


def bars(values: NDArray[np.float64]) -> str:
    """One block per kernel, as high as its value."""
    largest = np.nanmax(values) if np.isfinite(values).any() else 0.0
    if largest <= 0:
        return " " * len(values)
    levels = np.ceil(8 * np.nan_to_num(values) / largest * (1 - 1e-9)).astype(int)
    return "".join(
        "?" if np.isnan(v) else BLOCKS[max(0, k)] if v > 1e-6 * largest else "·"
        for v, k in zip(values, levels, strict=True)
    )


def show_report(report: Report) -> None:
    """A verdict: what every part violates, proves and is off by, and what else is to be said."""
    optimum = report.optimum
    head = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    head.add_row("formulation", f"{report.formulation} ({', '.join(_shown(report.parameters))})")
    head.add_row("optimum", f"between {optimum.lower:.12g} and {optimum.upper:.12g}")
    head.add_row("verdict", f"{report.verdict} at {report.tolerance:.0e}")
    if report.diagnosis is not None:
        head.add_row("diagnosis", as_is(report.diagnosis.words))
    for name, value in report.together.items():
        head.add_row(name.replace("_", " "), f"{value:.1e} apart")
    for one in report.loose or ():
        head.add_row("not unique", as_is(f"weight of {one.kernel}: anything from {one.low:.4g} to {one.high:.4g}"))
    for note in report.notes:
        head.add_row("note", as_is(note))
    console = Console()
    console.print(head)
    console.print(_part_table(report))
    if report.trace:
        console.print(_trace_table(report))


def _part_table(report: Report) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("part", "verdict", "violates", "proves", "off by", ""):
        table.add_column(column, justify="right" if column == "off by" else "left")
    for part in report.parts:
        broken = [f"{constraint} by {by:.1e}" for constraint, by in part.violations if by > report.tolerance]
        proves = "" if part.value is None else f"{part.proves} {part.value:.10g}"
        off = "–" if part.excess is None else f"{part.excess:.1e}"
        table.add_row(
            part.name, part.verdict(report.tolerance), "; ".join(broken) or "–", proves, off, as_is(part.note)
        )
    return table


def _trace_table(report: Report) -> Table:
    table = Table(title="\nTrace", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("point", "verdict", "off by"):
        table.add_column(column, justify="left" if column == "verdict" else "right")
    for index, point in enumerate(report.trace):
        table.add_row(str(index), point.verdict, f"{max(part.off for part in point.parts):.1e}")
    return table


def show_benchmark(benchmark: Benchmark) -> None:
    """One row for each contestant, and what its times are measured in."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("solver", "seconds", "runs", "fits", "+ validation", "gap", "asked", "status", ""):
        table.add_column(column, justify="left" if column in ("solver", "status", "") else "right")
    for standing in benchmark.standings:
        more = ">" if standing.status == "cut_off" else ""
        fits = [benchmark.fits(standing), benchmark.fits(standing, validated=True)]
        table.add_row(
            as_is(standing.name), _measured(standing.median, more), str(len(standing.seconds)),
            *(_measured(value, more) for value in fits), "–" if standing.gap is None else f"{standing.gap:.1e}",
            f"{standing.asked:.0e}", standing.status, as_is(standing.fault or standing.message or standing.note),
        )  # fmt: skip
    console = Console()
    console.print(table)
    fit, validating = benchmark.fit, benchmark.validating / benchmark.fit
    console.print(
        f"One fit is LIBSVM on the average kernel, {fit:.2g} s; validating the instance takes {validating:.2g} fits. "
        f"n = {benchmark.samples}, M = {benchmark.count}; medians of at most {benchmark.rounds} rounds, one thread."
    )


def _measured(value: float | None, more: str) -> str:
    return "–" if value is None else more + (f"{value:,.0f}" if value >= 1000 else f"{value:.3g}")


class Progress:
    """A line on standard error that says what is being done, and a bar that is full when the relative gap has come down
    to the tolerance, on a logarithmic scale. Silent when not wanted or not on a terminal."""

    def __init__(self, silent: bool, tolerance: float = TOLERANCE) -> None:
        self.silent, self.tolerance, self.first = silent or not sys.stderr.isatty(), tolerance, 0.0
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(24))
        self.bar = None if self.silent else Bar(*columns, console=Console(stderr=True), transient=True)
        self.line = None if self.bar is None else self.bar.add_task("solving", total=None)

    def __enter__(self) -> Progress:
        if self.bar is not None:
            self.bar.start()
        return self

    def say(self, text: str) -> None:
        if self.bar is not None and self.line is not None:
            self.bar.update(self.line, description=text)

    def advance(self, row: Row) -> None:
        """How much of the way from the first gap to the tolerance is behind."""
        if self.bar is None or self.line is None or row.gap <= 0:
            return
        self.first = self.first or row.gap
        way = math.log(self.first / self.tolerance)
        if way > 0:
            self.bar.update(self.line, total=1.0, completed=min(1.0, math.log(self.first / row.gap) / way))

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()


def cost_warning(instance: Instance, solver: str) -> None:
    """Before a long solve: roughly what it will cost."""
    from ..solvers.cost import estimate

    seconds, gigabytes = estimate(instance.samples, instance.count, solver)
    if seconds > 10:
        sys.stderr.write(
            f"mklcvx: n = {instance.samples}, M = {instance.count}: expect about {_rounded(seconds)} "
            f"and {gigabytes:.1g} GB (kernels of low rank cost less)\n"
        )


def _rounded(seconds: float) -> str:
    if seconds < 90:
        return f"{round(seconds, -1):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours"
