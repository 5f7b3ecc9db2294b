"""`mklcvx verify`: judge an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import formulations
from ..defaults import VERDICT_TOLERANCE
from ..errors import InputError
from ..io.json_text import finite
from ..io.machine_files import is_machines, load_machines
from ..io.writing import write_text
from . import options

if TYPE_CHECKING:
    from ..certificate.machines import Machines
    from ..problem.instance import Instance
    from ..verification.judge import Report

SCHEMA = "mklcvx.verdicts/1"


def verify(
    instance: options.InstanceFile,
    answer: Annotated[Path, typer.Argument(help=f"What a solver found: {options.FORMATS}; or a trace.")],
    formulation: Annotated[
        str | None, typer.Option("-f", "--formulation", help="See 'mklcvx list'; else what the answer says.")
    ] = None,
    settings: options.Settings = None,
    convention: Annotated[
        str | None, typer.Option(help="Whose notation answer and --set are in, see 'mklcvx conventions'.")
    ] = None,
    tol: Annotated[float, typer.Option(help="Relative tolerance of the verdict.")] = VERDICT_TOLERANCE,
    diagnosis: Annotated[
        bool, typer.Option("--diagnosis/--no-diagnosis", help="Search the cause of a rejection, which takes seconds.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
    html: options.Html = None,
    repair: options.Repair = None,
    kernels: options.Selection = None,
    var: options.Variables = None,
    positive: options.Positive = None,
) -> None:
    """Judge an answer: any of weights, alpha, bias, coefficients, multipliers and objective, or a whole trace.

    Exit status 0 if it is accepted, 1 if it is rejected; then the report says what it is optimal for, if that is known.

    Example: `mklcvx verify problem.npz answer.json -f l1 --set C=10`, or `--convention spicymkl --set lam=0.3`
    """
    from ..verification.answers import largest_answer
    from ..verification.judge import judge_submission
    from ..verification.submissions import convention_named, read_submission

    given = options.parse_settings(settings)
    if formulation is not None:
        formulations.get(formulation)
    if convention is not None:
        convention_named(convention)
    options.check_page(html, "--html", instance, answer)
    problem, _ = options.loaded(instance, repair, kernels, False, None, var)
    most = len(problem.targets.names) * largest_answer(problem) * len(problem.targets.names)  # in pairs: fewer
    if problem.targets.kind == "classes" and is_machines(answer, most):
        if convention is not None or html is not None:
            option = "--convention" if html is None else "--html"
            raise InputError(f"{option}: {answer.name} holds several machines, which are judged as ours: leave it out")
        machines = load_machines(answer)
        _show_machines(machines, _judged_machines(problem, machines, formulation, given, tol, diagnosis), as_json)
        return
    problem = options.one_machine(problem, formulation, given, positive, "verify")
    submission = read_submission(answer, problem, formulation, given, convention)
    problem, given = submission.instance, submission.parameters
    formulations.get(submission.formulation).posed_for(problem, given).task(problem, given)
    from .display import Progress, show_report

    with Progress(as_json) as progress:
        progress.say(f"judging{'; of an answer that is rejected the cause is searched' if diagnosis else ''}")
        report = judge_submission(submission, tol, diagnosis)
    if html is not None:
        from ..reports.pages import verdict_page

        last = submission.answer if submission.answer.given else submission.trace[-1]  # the last point of a trace
        write_text(html, verdict_page(submission.instance, report, last, instance.name, answer.name))
    for note in submission.notes:
        options.say(note)
    options.show(report, as_json, show_report)
    if not report.accepted:
        options.fail(report.verdict + ("" if report.diagnosis is None else f": {report.diagnosis.words}"))


def _judged_machines(
    problem: Instance, machines: Machines, formulation: str | None, given: dict[str, Any], tol: float, diagnosis: bool
) -> list[Report]:
    """The report of every machine of a file."""
    from ..solvers.one_against import parts_of
    from ..solvers.solving import refitted
    from ..verification.judge import judge_submission
    from ..verification.submissions import submission_of

    if machines.preprocessing is not None:  # fitted again: the numbers of the file are not trusted
        problem = refitted(problem, machines.preprocessing)
    parts = parts_of(problem, machines.multi_class)
    alike = [part.members.tolist() for part in parts] == [members.tolist() for members in machines.members]
    if not alike or problem.targets.names != machines.label_names:
        raise InputError("answer: its classes or samples are not those of the instance: give the instance it is for")
    reports: list[Report] = []
    for part, solution in zip(parts, machines.solutions, strict=True):
        submission = submission_of(solution.as_dict(), part.instance, formulation, given)
        for note in submission.notes if not reports else ():  # the same for all
            options.say(note)
        reports.append(judge_submission(submission, tol, diagnosis))
    return reports


def _show_machines(machines: Machines, reports: list[Report], as_json: bool) -> None:
    """Show every verdict; the answer is accepted if all of them are."""
    from .display import show_verdicts

    titles, rejected = [machines.title(machine) for machine in machines.machines], [not r.accepted for r in reports]
    if as_json:
        records = [{"machine": title, **report.as_dict()} for title, report in zip(titles, reports, strict=True)]
        record = {"schema": SCHEMA, "accepted": not any(rejected), "machines": records}
        typer.echo(json.dumps(finite(record), allow_nan=False))
    else:
        show_verdicts(titles, reports)
    if any(rejected):
        first = rejected.index(True)
        share = f"{sum(rejected)} of {len(reports)} machines"
        options.fail(f"{share}, the first {titles[first]}: {reports[first].verdict}")
