"""`mklcvx verify`: what an answer is worth."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import formulations
from ..defaults import VERDICT_TOLERANCE
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
    tol: Annotated[float, typer.Option(help="Relative tolerance of the verdict.")] = VERDICT_TOLERANCE,
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
