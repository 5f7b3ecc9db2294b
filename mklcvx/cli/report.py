"""`mklcvx report`, and the page that `verify --html` and `demo --html` write too."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import formulations
from ..defaults import FORMULATION, REPORT_TIME_LIMIT, TOLERANCE
from ..errors import InputError
from ..io.files import check_apart, check_output
from .settings import (
    Centre,
    InstanceFile,
    Normalise,
    Repair,
    Selection,
    Settings,
    loaded,
    parse_settings,
    printable,
    solvers_named,
)

if TYPE_CHECKING:
    from ..verification.judge import Report
    from ..verification.submissions import Submission

HtmlFile = Annotated[
    Path | None, typer.Option("--html", help="Write a page about it too: .html.", show_default=False)
]  # fmt: skip


def report(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = FORMULATION,
    settings: Settings = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page: .html.")] = Path("report.html"),
    solvers: Annotated[
        str | None,
        typer.Option(help="Whose convergence is drawn, by commas; else interior and three published ones."),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for each of these solvers.")] = REPORT_TIME_LIMIT,
    tol: Annotated[
        float | None,
        typer.Option(help=f"Relative gap that the certificate must prove; {TOLERANCE:g}.", show_default=False),
    ] = None,
    normalise: Normalise = None,
    centre: Centre = False,
    repair: Repair = None,
    kernels: Selection = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Write a page about a problem: its optimum, what proves it, weights, convergence, and the derivation.

    One file that loads nothing from anywhere, for a phone, a desktop and paper, in light and dark. Exit status 0 if the
    optimum is certified, 1 if it is not; the page is written in either case.

    Example: `mklcvx report problem.npz -f sm1 --set theta=0.5 -o report.html --solvers silp,interior`
    """
    given, chosen = parse_settings(settings or []), formulations.get(formulation)
    check_page(output, "--output")
    check_apart([instance], [output])
    from ..reports.pages import chosen_solvers, report_page, runs_of, save
    from ..solvers.solving import prepared, solve

    names = solvers_named(solvers)
    compared = chosen_solvers(formulation, names)
    method = prepared(formulation, "auto", tol, time_limit, None, None)
    problem, preparation = loaded(instance, repair, kernels, centre, normalise)
    chosen.task(problem, given)  # refuses bad parameters before anything costs time
    from .display import Progress, cost_warning

    if not quiet:
        cost_warning(problem, "auto")
    with Progress(quiet) as progress:
        found = solve(problem, formulation, tol=tol, report=progress.say, preprocessing=preparation, **given)
        runs = runs_of(problem, formulation, given, compared, time_limit, progress.say)
        progress.say("drawing")
        reached, options = method.tolerance if tol is None else tol, _options(repair, kernels, centre, normalise)
        page = report_page(problem, found, runs, reached, instance.name, options)
    save(output, page)
    if not quiet:
        gap = f"relative gap {found.certificate.relative_gap:.1e}"
        typer.echo(f"{output}: {formulation}, optimum {found.objective:.10g}, {found.status}, {gap}")
    if not found.certified:
        sys.stderr.write(f"mklcvx: {printable(found.message)}\n")
        raise typer.Exit(1)


def _options(repair: str | None, kernels: str | None, centre: bool, normalise: str | None) -> str:
    """As they were given, for the page."""
    named = {"--repair": repair, "--kernels": kernels, "--normalise": normalise}
    given = [f"{option} {shlex.quote(value)}" for option, value in named.items() if value is not None]
    return " ".join([*given, *(["--centre"] if centre else [])])


def check_page(path: Path | None, option: str) -> None:
    """Refuse what cannot be written, and what cannot be drawn, before the work."""
    if path is None:
        return
    check_output(path, (".html", ".htm"))
    if find_spec("matplotlib") is None:
        raise InputError(f"{option} {path}: the page needs matplotlib: pip install 'mklcvx[plot]'")


def save_verdict(path: Path, submission: Submission, judged: Report, instance: Path, answer: Path) -> None:
    """The page of a judged answer, or of the last point of a judged trace."""
    from ..reports.pages import save, verdict_page

    last = submission.answer if submission.answer.given else submission.trace[-1]
    save(path, verdict_page(submission.instance, judged, last, instance.name, answer.name))
