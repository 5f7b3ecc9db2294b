"""`mklcvx report`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from .. import formulations
from ..defaults import FORMULATION, REPORT_TIME_LIMIT
from ..io.writing import write_text
from . import options


def report(
    instance: options.InstanceFile,
    formulation: options.FormulationName = FORMULATION,
    settings: options.Settings = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page: .html.")] = Path("report.html"),
    solvers: Annotated[
        str | None, typer.Option(help="Whose convergence is drawn, by commas; else interior and three published ones.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Say which kernels matter too, by this many folds, as 'kernels' does.")
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for each of these solvers.")] = REPORT_TIME_LIMIT,
    tol: options.Tolerance = None,
    normalise: options.Normalise = None,
    centre: options.Centre = False,
    repair: options.Repair = None,
    kernels: options.Selection = None,
    var: options.Variables = None,
    positive: options.Positive = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a page about a problem: its optimum, what proves it, weights, convergence, and the derivation.

    One file that loads nothing from anywhere, for a phone, a desktop and paper, in light and dark. Exit status 0 if the
    optimum is certified, 1 if it is not; the page is written in either case.

    Example: `mklcvx report problem.npz -f sm1 --set theta=0.5 -o report.html --solvers silp,interior`
    """
    given, chosen = options.parse_settings(settings), formulations.get(formulation)
    options.check_page(output, "--output", instance)
    from ..estimators.cross_validation import check_request
    from ..reports.pages import chosen_solvers, report_page, runs_of
    from ..solvers.solving import prepared, solve

    chosen_solvers(formulation, options.names_in(solvers))  # refuse bad names before anything is read
    method = prepared(formulation, "auto", tol, time_limit, None, None)
    problem, preparation = options.loaded(instance, repair, kernels, centre, normalise, var)
    problem = options.one_machine(problem, formulation, given, positive, "report")
    task, _ = chosen.posed_for(problem, given).task(problem, given)  # refuse bad parameters before solving
    compared = chosen_solvers(formulation, options.names_in(solvers), task)
    if folds is not None:
        check_request(problem, formulation, folds, None)
        before, in_folds = options.scaled_before(centre, normalise)
    from .display import Progress, cost_warning

    options.say_sizes(problem, normalise)
    if not quiet:
        cost_warning(problem, "auto")
    with Progress(quiet) as progress:
        solution = solve(problem, formulation, tol=tol, report=progress.say, preprocessing=preparation, **given)
        runs = runs_of(problem, formulation, given, compared, time_limit, progress.say)
        single = None
        if folds is not None:
            from ..estimators.of_instance import importance_of

            raw = problem
            if preparation is not None:
                raw = options.loaded(instance, repair, kernels, False, before, var)[0].with_targets(problem.targets)
            asked_of_folds = {**given, "tol": tol, "centre": centre, "normalise": in_folds}  # fitted in every fold
            single = importance_of(raw, formulation, asked_of_folds, folds=folds, report=progress.say)
        progress.say("drawing")
        reached = method.tolerance if tol is None else tol
        named = {"--repair": repair, "--kernels": kernels, "--normalise": normalise, "--positive": positive}
        shown = [f"{option} {shlex.quote(value)}" for option, value in named.items() if value is not None]
        asked = " ".join([*shown, *(["--centre"] if centre else [])])
        page = report_page(problem, solution, runs, reached, instance.name, asked, single)
    write_text(output, page)
    if not quiet:
        gap = f"relative gap {solution.certificate.relative_gap:.1e}"
        typer.echo(f"{output}: {formulation}, optimum {solution.objective:.10g}, {solution.status}, {gap}")
    if not solution.certified:
        options.fail(solution.message)
