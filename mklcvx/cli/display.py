"""Tables and progress bars in the terminal. Results go to standard output, all else to standard error."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich import progress
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from .. import formulations
from ..certificate import Certificate
from ..certificate.machines import Machines
from ..certificate.run import Row
from ..certificate.solution import SUPPORT, Solution
from ..defaults import TOLERANCE
from ..formulations import Parameter, losses
from ..problem.instance import Instance
from . import options

if TYPE_CHECKING:
    from ..bench.comparison import Benchmark
    from ..verification.judge import Report
    from ..verification.proof import Proof
    from ..zoo import Specimen

BLOCKS = " ▁▂▃▄▅▆▇█"
LEAST_SHARE = 0.01  # of the gap
MOST_WEIGHTS = 8  # of a machine, in a line
MOST_MACHINES = 50  # in a table


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "", right: Sequence[str] = (),
    unbroken: Sequence[str] = (),
) -> None:  # fmt: skip
    """Print a table; the columns in `right` are right-aligned, those in `unbroken` are not wrapped. Where there is
    room, no column is narrower than its longest word; nothing is left out in any case."""
    console, heading = Console(), title or None
    cells = [[str(cell) for cell in row] for row in rows]
    widest = [_widest(column, [row[j] for row in cells], column in unbroken) for j, column in enumerate(columns)]
    fits = sum(widest) + 2 * len(widest) <= console.width
    table = Table(title=heading, title_justify="left", box=None, padding=(0, 2, 0, 0), show_header=bool(columns))
    for column, width in zip(columns, widest, strict=True):
        justify: JustifyMethod = "right" if column in right else "left"
        least = width if fits else None
        table.add_column(column, justify=justify, no_wrap=column in unbroken, overflow="fold", min_width=least)
    for row in cells:
        table.add_row(*map(as_is, row))
    console.print(table)


def _widest(column: str, cells: Sequence[str], unbroken: bool) -> int:
    """The width of the longest word of a column, or of its longest cell."""
    words = [word for cell in (column, *cells) for word in ([cell] if unbroken else cell.split())]
    return max(map(cell_len, words), default=0)


def as_is(text: str) -> Text:
    """Return text without markup and control characters, which a file may contain."""
    return Text("".join(c if c.isprintable() else "�" for c in text))


def number(value: float | None, form: str = ".1e") -> str:
    return "–" if value is None else format(value, form)


def formulation_table() -> None:
    """Print the formulations. Those that take any loss are regularisers over kernels: the parameters of the loss, and
    bias, are named once, below the table of losses."""
    rows, every = [], [loss.name for loss in losses.ALL]
    for f in formulations.FORMULATIONS:
        names = [parameter.name for parameter in f.parameters] if f.loss_names else f.parameter_names
        parameters = ", ".join(names + ["groups"] * f.needs_groups)
        rows.append((f.name, f.title, parameters, _all_but(f.loss_names, every) or "–", f.reference))
    print_table(("name", "what it is", "parameters", "losses", "reference"), rows, "Formulations", unbroken=("name",))


def loss_table() -> None:
    """Print the losses, each with its targets, its parameters and the formulations that take it."""
    regularisers = [f for f in formulations.FORMULATIONS if f.loss_names]
    every, rows = [f.name for f in regularisers], []
    for loss in losses.ALL:
        name = ", ".join([loss.name, *loss.other_names])
        taken = _all_but([f.name for f in regularisers if loss.name in f.loss_names], every)
        parameters = "; ".join(_limits(parameter) for parameter in loss.parameters)
        title, bias = loss.title.replace("`", ""), "" if loss.takes_bias else "none"
        rows.append((name, title, loss.targets, parameters, bias, taken))
    columns = ("name", "what it is", "targets", "parameters (default)", "bias", "formulations")
    print_table(columns, rows, "\nLosses", unbroken=("name", "targets"))
    otherwise = "hinge for labels, or nu where nu is given; squared for a response; else one_class"
    typer.echo(f"\n{every[0]} to {every[-1]} take loss=NAME, the parameters of the loss, and bias.")
    typer.echo(f"Without loss=NAME it is {otherwise}.")


def _limits(parameter: Parameter) -> str:
    named = "" if parameter.name in parameter.limits.split() else f"{parameter.name}: "
    return f"{named}{parameter.limits} ({parameter.default_text})"


def _all_but(some: Sequence[str], every: Sequence[str]) -> str:
    """Return "all", "all but …", or nothing."""
    missing = [name for name in every if name not in some]
    return "" if not some else f"all but {', '.join(missing)}" if missing else "all"


def solver_table() -> None:
    from ..solvers.solving import SOLVERS

    rows = []
    for solver in SOLVERS:
        about = f"{solver.summary} ({solver.reference})" if solver.reference else solver.summary
        solves = "all" if solver.serves is None else ", ".join(solver.serves)
        rows.append((solver.name, about, solves, f"{solver.tolerance:.0e}", ", ".join(solver.options)))
    print_table(("name", "what it is", "solves", "gap", "options"), rows, "\nSolvers", unbroken=("name", "gap"))


def zoo_table(specimens: Sequence[Specimen]) -> None:
    rows = []
    for specimen in specimens:
        size, known = specimen.recorded, "known" if specimen.optimum else ""
        rows.append((specimen.name, size["kernels"], size["samples"], size["targets"], known, specimen.special))
    columns = ("name", "M", "n", "targets", "optimum", "what is special")
    print_table(columns, rows, "The zoo", right=("M", "n"), unbroken=("name",))


def show_solution(solution: Solution) -> None:
    """Print a solution: its value, its certificate, and a bar for every kernel."""
    certificate = solution.certificate
    rows = [
        ("formulation", _posed(solution.formulation, solution.parameters)),
        ("status", solution.status),
        ("optimum", f"between {certificate.lower:.12g} and {certificate.upper:.12g}"),
        ("relative gap", f"{certificate.relative_gap:.1e}{_shares(certificate)}"),
    ]
    if solution.bias_interval is not None:
        low, high = solution.bias_interval
        wide = high - low > 1e-6 * max(1.0, abs(low))
        rows.append(("bias", f"{solution.bias:.6g}" + (f", any in [{low:.6g}, {high:.6g}]" if wide else "")))
    if solution.alpha is not None:
        sizes = np.abs(np.atleast_2d(solution.alpha))
        supporting = sizes.max(axis=0) > SUPPORT * sizes.max()
        rows.append(("support vectors", f"{int(supporting.sum())} of {len(supporting)}"))
    for name in ("gamma", "class_values", "eigenvalues", "normalised"):
        if name in solution.multipliers:
            values = np.ravel(solution.multipliers[name])
            rows.append((name, ", ".join(f"{v:.6g}" for v in values[:8]) + (", …" if len(values) > 8 else "")))
    solves = f"{solution.svm_solves} SVMs, " if solution.svm_solves else ""
    rows.append(("solver", f"{solution.solver}, {solution.iterations} iterations, {solves}{solution.seconds:.2f} s"))
    print_table((), [*rows, *(("note", note) for note in solution.notes)])
    _kernel_table(solution)


def show_machines(machines: Machines) -> None:
    """Print the answer of several machines: a row for each, its certificate and its weights."""
    rows = [
        ("formulation", _posed(machines.formulation, machines.parameters)),
        ("status", machines.status),
        ("machines", f"{len(machines.solutions)} for {len(machines.label_names)} classes"),
        ("widest gap", f"{machines.certificate.relative_gap:.1e}"),
    ]
    print_table((), rows)
    each, pairs = [], list(zip(machines.machines, machines.solutions, strict=True))
    for machine, solution in pairs[:MOST_MACHINES]:
        gap = f"{solution.certificate.relative_gap:.1e}"
        used = set(solution.used().tolist())
        weights = [f"{weight:.4g}" if m in used else "0" for m, weight in enumerate(solution.weights[:MOST_WEIGHTS])]
        shown = ", ".join([*weights, "…"] if len(solution.weights) > MOST_WEIGHTS else weights)
        each.append((machines.title(machine), f"{solution.objective:.10g}", gap, solution.status, shown))
    columns = ("machine", "objective", "gap", "status", f"weights of {', '.join(machines.names[:MOST_WEIGHTS])}")
    each += [(f"… and {len(pairs) - MOST_MACHINES} more", "", "", "", "")] if len(pairs) > MOST_MACHINES else []
    print_table(columns, each, right=("objective", "gap"))


def _shares(certificate: Certificate) -> str:
    """Return the shares of the gap that pay for rounding and for δ, if they are at least LEAST_SHARE."""
    if certificate.gap <= 0:
        return ""
    rounding, ridge = (share / certificate.gap for share in (certificate.rounding, certificate.ridge_share))
    shown = [f"{min(rounding, 1.0):.0%} for rounding"] if rounding >= LEAST_SHARE else []
    shown += [f"{min(ridge, 1.0):.0%} for δ = {certificate.ridge:.1e}"] if ridge >= LEAST_SHARE else []
    return f", {' and '.join(shown)}" if shown else ""


def show_proof(proof: Proof) -> None:
    """Print a proof: the interval, and in which numbers kernels were proved to be positive semidefinite."""
    record = proof.as_dict()
    ridge = f"up to a ridge of {proof.ridge:.1e}, which the upper bound pays for"
    rows = [
        ("formulation", _posed(proof.formulation, proof.parameters)),
        ("optimum of the first stage" if record["second_stage"] else "optimum", _between(record)),
        ("relative width", f"{proof.relative_width:.1e}"),
        ("semidefinite", f"in {proof.semidefinite}, {ridge}"),
    ]
    for part in record["second_stage"] or ():
        width = "unbounded" if part["relative_width"] is None else f"relative width {part['relative_width']:.1e}"
        rows.append((f"second stage, {part['label']}", f"{_between(part)}, {width}"))
    print_table((), [*rows, ("point from", f"{record['solver'] or 'no solver'}, {proof.seconds:.2f} s in all")])


def _between(bounds: Mapping[str, Any]) -> str:
    return f"proved to lie between {bounds['lower']} and {bounds['upper']}"


def _kernel_table(solution: Solution) -> None:
    from ..verification.uniqueness import ranges_of

    norms, used = solution.norms, set(solution.used().tolist())
    heights = np.nan_to_num(solution.weights) if norms is None else norms
    largest, ranges = max(heights.max(), np.finfo(float).tiny), ranges_of(solution)
    rows = []
    for m, (name, weight) in enumerate(zip(solution.names, solution.weights, strict=True)):
        text = "undefined" if np.isnan(weight) else f"{weight:.6g}" if m in used else "0"
        norm = "" if norms is None else f"{heights[m]:.4g}" if m in used else "0"
        within = "" if ranges is None else ranges[m].words
        rows.append((name, text, norm, within, "█" * round(24 * heights[m] / largest)))
    columns = ("kernel", "weight", "" if norms is None else "‖f_m‖", "" if ranges is None else "if as good", " ")
    kept = [k for k, column in enumerate(columns) if column]
    shown = [tuple(row[k] for k in kept) for row in rows]
    print_table(tuple(columns[k] for k in kept), shown, right=("weight", "‖f_m‖"))


def _posed(formulation: str, parameters: Mapping[str, Any]) -> str:
    """Format a formulation and its parameters; booleans are named only if they are true."""
    texts = [
        key if value is True else f"{key} = {value if isinstance(value, str) else format(value, 'g')}"
        for key, value in parameters.items()
        if value is not False
    ]
    return f"{formulation} ({', '.join(texts)})"


def bars(values: NDArray[np.float64]) -> str:
    """Draw one block character per kernel; its height is the value."""
    largest = np.nanmax(values) if np.isfinite(values).any() else 0.0
    if largest <= 0:
        return " " * len(values)
    levels = np.clip(np.ceil(8 * np.nan_to_num(values) / largest * (1 - 1e-9)).astype(int), 0, None)
    drawn = np.where(values > 1e-6 * largest, np.array([*BLOCKS])[levels], "·")
    return "".join(np.where(np.isnan(values), "?", drawn))


def show_report(report: Report) -> None:
    """Print a verdict: what every part violates, proves and is off by, the diagnosis, and notes."""
    from ..verification.judge import TOGETHER
    from ..verification.uniqueness import in_every_answer

    rows = [
        ("formulation", _posed(report.formulation, report.parameters)),
        ("optimum", f"between {report.optimum.lower:.12g} and {report.optimum.upper:.12g}"),
        ("verdict", f"{report.verdict} at {report.tolerance:.0e}"),
    ]
    if report.diagnosis is not None:  # whose own words are the last line
        first = report.diagnosis.explanations[0]
        rows += [("evidence", first.evidence)] * bool(first.evidence) + [("to change", first.remedy)]
    rows += [("parts", f"{TOGETHER.get(name, name)} {value:.1e}") for name, value in report.together.items()]
    for loose in report.loose or ():
        rows.append(("not unique", f"weight of {loose.kernel}: anything from {loose.low:.4g} to {loose.high:.4g}"))
    rows += in_every_answer(report.weights_interval or ())
    print_table((), [*rows, *(("note", note) for note in report.notes)])
    parts = []
    for part in report.parts:
        broken = [f"{constraint} by {by:.1e}" for constraint, by in part.violations if by > report.tolerance]
        proves = "" if part.value is None else f"{part.proves} {part.value:.10g}"
        verdict, violates = part.verdict(report.tolerance), "; ".join(broken) or "–"
        parts.append((part.name, verdict, violates, proves, number(part.excess), part.note))
    print_table(("part", "verdict", "violates", "proves", "off by", ""), parts, right=("off by",))
    if report.trace:
        worst = [max(part.off for part in point.parts) for point in report.trace]
        points = [(i, point.verdict, f"{worst[i]:.1e}") for i, point in enumerate(report.trace)]
        print_table(("point", "verdict", "off by"), points, "\nTrace", right=("point", "off by"))


def show_verdicts(titles: Sequence[str], reports: Sequence[Report]) -> None:
    """Print one row for every machine: the verdict, and the largest distance of a part from the optimum."""
    rows = []
    for title, report in zip(titles, reports, strict=True):
        worst = max((part.off for part in report.parts), default=0.0)
        rows.append((title, f"{report.optimum.upper:.10g}", f"{worst:.1e}", report.verdict))
    print_table(("machine", "optimum", "off by", "verdict"), rows, right=("optimum", "off by"))


def show_benchmark(benchmark: Benchmark) -> None:
    """Print one row for each contestant, and the unit of the times."""
    rows = []
    for row in benchmark.rows:
        more = ">" if row.status == "cut_off" else ""
        times = [row.median, benchmark.fits(row), benchmark.fits(row, validated=True)]
        seconds, fits, validated = (_measured(value, more) for value in times)
        note = row.fault or row.message or row.note
        judged = number(row.gap), f"{row.asked:.0e}", row.status, note
        rows.append((row.name, seconds, len(row.seconds), fits, validated, *judged))
    columns = ("solver", "seconds", "runs", "fits", "+ validation", "gap", "asked", "status", "")
    print_table(columns, rows, right=columns[1:7])
    fit, validating = benchmark.fit, benchmark.validating / benchmark.fit
    Console().print(
        f"One fit is LIBSVM on the average kernel, {fit:.2g} s; validating the instance takes {validating:.2g} fits. "
        f"n = {benchmark.samples}, M = {benchmark.count}; medians of at most {benchmark.rounds} rounds, one thread."
    )


def _measured(value: float | None, more: str) -> str:
    return "–" if value is None else more + (f"{value:,.0f}" if value >= 1000 else f"{value:.3g}")


class Progress(progress.Progress):
    """A description and a bar on standard error; nothing if `silent`, or if standard error is not a terminal.

    With a `total` the bar counts pieces of work. Without, it is full when the relative gap has come down to the
    tolerance, on a logarithmic scale.
    """

    def __init__(self, silent: bool, *, tolerance: float = TOLERANCE, total: int | None = None) -> None:
        text, bar = progress.TextColumn("{task.description}"), progress.BarColumn(24)
        counting = (text, bar, progress.MofNCompleteColumn(), progress.TimeRemainingColumn())
        columns = (progress.SpinnerColumn(), text, bar) if total is None else counting
        silent = silent or not sys.stderr.isatty()
        super().__init__(*columns, console=Console(stderr=True), transient=True, disable=silent)
        self.tolerance, self.first = tolerance, 0.0
        self.line = self.add_task("solving" if total is None else "", total=total)

    def stop(self) -> None:
        if not self.disable:  # before version 14.1, rich prints an empty line here
            super().stop()

    def say(self, text: str) -> None:
        self.update(self.line, description=text)

    def count(self, text: str) -> None:
        self.update(self.line, description=text, advance=1)

    def follow(self, row: Row) -> None:
        """Set the bar to the logarithmic progress from the first gap to the tolerance."""
        if row.gap <= 0:
            return
        self.first = self.first or row.gap
        way = math.log(self.first / self.tolerance)
        if way > 0:
            self.update(self.line, total=1.0, completed=min(1.0, math.log(self.first / row.gap) / way))


def cost_warning(instance: Instance, solver: str) -> None:
    """Estimate time and memory on standard error, if the solve is expected to be long."""
    from ..solvers.cost import estimate

    seconds, gigabytes = estimate(instance.samples, instance.count, solver)
    if seconds <= 10:
        return
    time = f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.0f} hours"
    expected = f"{round(seconds, -1):.0f} s" if seconds < 90 else time
    size = f"n = {instance.samples}, M = {instance.count}"
    options.say(f"{size}: expect about {expected} and {gigabytes:.1g} GB (kernels of low rank cost less)")
