"""`mklcvx verify`: judge an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import formulations
from ..defaults import VERDICT_TOLERANCE
from . import options


def verify(
    instance: options.InstanceFile,
    answer: Annotated[
        Path, typer.Argument(help=f"What a solver found: {options.FORMATS}; or a trace.", show_default=False)
    ],
    formulation: Annotated[
        str | None, typer.Option("-f", "--formulation", help="See 'mklcvx list'; else what the answer says.")
    ] = None,
    settings: options.Settings = None,
    convention: Annotated[
        str | None,
        typer.Option(help="Whose notation answer and --set are in, see 'mklcvx conventions'.", show_default=False),
    ] = None,
    tol: Annotated[float, typer.Option(help="Relative tolerance of the verdict.")] = VERDICT_TOLERANCE,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
    html: options.Html = None,
    repair: options.Repair = None,
    var: options.Variables = None,
) -> None:
    """Judge an answer: any of weights, alpha, bias, coefficients, multipliers and objective, or a whole trace.

    Exit status 0 if it is accepted, 1 if it is rejected; then the report says what it is optimal for, if that is known.

    Example: `mklcvx verify problem.npz answer.json -f l1 --set C=10`, or `--convention spicymkl --set lam=0.3`
    """
    from ..verification.judge import judge_submission
    from ..verification.submissions import convention_named, read_submission

    given = options.parse_settings(settings)
    if formulation is not None:
        formulations.get(formulation)
    if convention is not None:
        convention_named(convention)
    options.check_page(html, "--html", instance, answer)
    problem, _ = options.loaded(instance, repair, None, False, None, var)
    submission = read_submission(answer, problem, formulation, given, convention)
    problem, given = submission.instance, submission.parameters
    formulations.get(submission.formulation).posed_for(problem, given).task(problem, given)
    from .display import show_report

    report = judge_submission(submission, tol)
    if html is not None:
        from ..reports.pages import save, verdict_page

        last = submission.answer if submission.answer.given else submission.trace[-1]  # the last point of a trace
        save(html, verdict_page(submission.instance, report, last, instance.name, answer.name))
    for note in submission.notes:
        options.say(note)
    options.show(report, as_json, show_report)
    if not report.accepted:
        options.fail(report.verdict + ("" if report.diagnosis is None else f": {report.diagnosis.words}"))
