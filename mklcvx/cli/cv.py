"""`mklcvx cv`: cross-validation over a grid of parameters."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import formulations
from ..defaults import FOLDS, FORMULATION, SEED, SOLVER
from ..io.files import check_apart, check_output, load_instance, write_whole
from .settings import Settings, SolverName, parse_grid, parse_settings

if TYPE_CHECKING:
    from ..estimators.cross_validation import CrossValidation


def cv(
    instance: Annotated[Path, typer.Argument(help="Kernels and labels, as for 'solve'.", show_default=False)],
    grid: Annotated[
        list[str],
        typer.Option("--grid", metavar="KEY=V1,V2,...", help="A parameter and its values; several: all combinations."),
    ],
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = FORMULATION,
    settings: Settings = None,
    folds: Annotated[int, typer.Option(help="Parts of the samples, each left out once.")] = FOLDS,
    seed: Annotated[
        int, typer.Option(help="Of the shuffling before the samples are parted.", min=0, max=2**32 - 1)
    ] = SEED,
    score: Annotated[
        str | None,
        typer.Option(
            help="accuracy, balanced_accuracy, f1, f1_macro, f1_micro, mcc, roc_auc or average_precision; "
            "else accuracy, or f1_macro for label sets.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Folds at once.", min=1)] = 1,
    solver: SolverName = SOLVER,
    tol: Annotated[
        float | None,
        typer.Option(help="Relative gap that every certificate must prove; else the solver's own.", show_default=False),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each point on each fold.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations for each point on each fold.")] = None,
    normalise: Annotated[
        str | None, typer.Option(help="Scale the kernels in every fold: trace, cosine or variance.")
    ] = None,
    centre: Annotated[bool, typer.Option("--centre", help="Centre the kernels in every fold.")] = False,
    repair: Annotated[str | None, typer.Option(help="Mend indefinite kernels: clip or shift.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines in a terminal, too.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON lines to a file.")] = None,
) -> None:
    """Cross-validate a formulation along a grid of parameters: one JSON line for each point, a table in a terminal.

    Exit status 0 if every fold of every point is certified, 1 otherwise.

    Example: `mklcvx cv problem.npz -f sm1 --grid C=0.1,1,10 --grid theta=0.5,1 --jobs 2`
    """
    from ..estimators.cross_validation import check_request, cross_validate
    from ..problem.preprocessing import Preprocessing
    from ..solvers.paths import combinations
    from ..solvers.solving import prepared

    given = parse_settings(settings or [])
    points = combinations(parse_grid(grid), given)
    limits: dict[str, Any] = {"solver": solver, "tol": tol, "time_limit": time_limit, "max_iter": max_iter}
    chosen = formulations.get(formulation)
    prepared(formulation, **limits, options=None)
    Preprocessing.from_options(centre=centre, normalise=normalise)
    if output is not None:
        check_output(output, (".jsonl", ".json"))
    check_apart([instance], [output])
    problem = load_instance(instance, repair=repair)
    check_request(problem, formulation, folds, score)
    for point in points:
        chosen.task(problem, {**given, **point})  # refuses before anything costs time
    from .display_conform import Count

    with Count(False, folds) as count:
        found = cross_validate(
            problem, formulation, points, folds=folds, seed=seed, score=score, jobs=jobs, centre=centre,
            normalise=normalise, done=count.one, **limits, **given,
        )  # fmt: skip
    _show(found, as_json, output)
    if not found.certified:
        missed = [trial for row in found.rows for trial in row.trials if not trial.certified]
        total = sum(len(row.trials) for row in found.rows)
        sys.stderr.write(
            f"mklcvx: {len(missed)} of {total} solutions are not certified; the first: {missed[0].message}\n"
        )
        raise typer.Exit(1)


def _show(found: CrossValidation, as_json: bool, output: Path | None) -> None:
    lines = "".join(json.dumps(record, allow_nan=False) + "\n" for record in found.as_dicts())
    if output is not None:
        write_whole(output, lambda stream: stream.write(lines.encode()))
    if as_json or (output is None and not sys.stdout.isatty()):
        typer.echo(lines, nl=False)
    else:
        _table(found)


def _table(found: CrossValidation) -> None:
    from rich.console import Console
    from rich.table import Table

    from ..solvers.paths import described
    from .display import as_is

    records = found.as_dicts()
    title = f"{found.formulation}, {found.score} of {records[0]['folds']} folds"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("", "point", "mean", "std", "worst gap", "status"):
        table.add_column(column, justify="right" if column in ("mean", "std", "worst gap") else "left")
    for record in records:
        numbers = f"{record['mean']:.4f}", f"{record['std']:.4f}", _gap(record["relative_gap"])
        table.add_row("★" if record["best"] else "", as_is(described(record["parameters"])), *numbers, record["status"])
    Console().print(table)


def _gap(value: float | None) -> str:
    return "∞" if value is None else f"{value:.1e}"
