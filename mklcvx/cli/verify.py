"""`mklcvx verify` and `bench`: judging answers and solvers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import formulations
from ..io.files import check_apart, load_instance
from . import report as cli_report
from .settings import FORMATS, InstanceFile, Settings, parse_settings, printable


def verify(
    instance: InstanceFile,
    answer: Annotated[Path, typer.Argument(help=f"What a solver found: {FORMATS}; or a trace.", show_default=False)],
    formulation: Annotated[
        str | None, typer.Option("-f", "--formulation", help="See 'mklcvx list'; else what the answer says.")
    ] = None,
    settings: Settings = None,
    convention: Annotated[
        str | None,
        typer.Option(help="Whose notation answer and --set are in, see 'mklcvx conventions'.", show_default=False),
    ] = None,
    tol: Annotated[float, typer.Option(help="Relative tolerance of the verdict.")] = 1e-6,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
    html: cli_report.HtmlFile = None,
) -> None:
    """Judge an answer: any of weights, alpha, bias, coefficients, multipliers and objective, or a whole trace.

    Exit status 0 if it is accepted, 1 if it is rejected; then the report says what it is optimal for, if that is known.

    Example: `mklcvx verify problem.npz answer.json -f l1 --set C=10`, or `--convention spicymkl --set lam=0.3`
    """
    from ..verification.judge import judge_submission
    from ..verification.submissions import convention_named, read_submission

    given = parse_settings(settings or [])
    if formulation is not None:
        formulations.get(formulation)
    if convention is not None:
        convention_named(convention)
    cli_report.check_page(html, "--html")
    check_apart([instance, answer], [html])
    problem = load_instance(instance)
    submission = read_submission(answer, problem, formulation, given, convention)
    formulations.get(submission.formulation).task(submission.instance, submission.parameters)
    from .display import show_report

    report = judge_submission(submission, tol)
    if html is not None:
        cli_report.save_verdict(html, submission, report, instance, answer)
    for note in submission.notes:
        sys.stderr.write(f"mklcvx: {printable(note)}\n")
    if as_json:
        typer.echo(json.dumps(report.as_dict(), allow_nan=False))
    else:
        show_report(report)
    if not report.accepted:
        why = "" if report.diagnosis is None else f": {report.diagnosis.words}"
        sys.stderr.write(f"mklcvx: {report.verdict}{printable(why)}\n")
        raise typer.Exit(1)


def bench(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = "l1",
    settings: Settings = None,
    solvers: Annotated[
        str | None, typer.Option(help="Contestants, by commas; all that fit if none is given.", show_default=False)
    ] = None,
    external: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COMMAND", help="A command with {instance} and {answer}; may be repeated."),
    ] = None,
    rounds: Annotated[int, typer.Option(help="How often each contestant runs, in turn.")] = 5,
    tol: Annotated[
        float | None, typer.Option(help="Relative gap asked of everyone; else of each its own.", show_default=False)
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for a contestant, one round or all of them.")] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare solvers on an instance: in turns, on one thread, in LIBSVM fits, all judged by the same certificate.

    Exit status 0 if the first contestant is certified, 1 if it is not, whatever became of the others.

    Example: `mklcvx bench problem.npz --solvers interior,exact --external "mine=python my.py {instance} {answer}"`
    """
    given, chosen = parse_settings(settings or []), formulations.get(formulation)
    problem = load_instance(instance)
    chosen.task(problem, given)
    from ..bench.comparison import compare, contestants

    names = None if solvers is None else [name.strip() for name in solvers.split(",") if name.strip()]
    entrants = contestants(chosen, names, external or [])
    from .display import Progress, show_benchmark

    with Progress(as_json) as progress:
        limits: dict[str, Any] = {"rounds": rounds, "tol": tol, "time_limit": time_limit}
        found = compare(problem, formulation, entrants, report=progress.say, **limits, **given)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), allow_nan=False))
    else:
        show_benchmark(found)
    if found.standings[0].status != "certified":
        raise typer.Exit(1)
