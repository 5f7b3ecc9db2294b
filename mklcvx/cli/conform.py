"""`mklcvx conform`: run a third-party solver over the zoo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import formulations
from ..defaults import CONFORM_LEVEL, CONFORM_TIME_LIMIT, FORMULATION
from ..errors import InputError
from ..io.writing import write_text
from . import options


def conform(
    solver: Annotated[
        str | None, typer.Argument(metavar="MODULE:FUNCTION", help="function(kernels, y, **parameters).")
    ] = None,
    formulation: options.FormulationName = FORMULATION,
    settings: options.Settings = None,
    command: Annotated[
        str | None, typer.Option(help="In place of a function: a command with {instance} and {answer}.")
    ] = None,
    specimens: Annotated[str | None, typer.Option(help="Instances of the zoo, by commas; else all that suit.")] = None,
    level: Annotated[
        str, typer.Option(help="What must be reached: low (1e-3), mid (1e-6) or high (1e-9).")
    ] = CONFORM_LEVEL,
    time_limit: Annotated[float, typer.Option(help="Seconds for each instance.")] = CONFORM_TIME_LIMIT,
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    as_json: options.OneObject = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON to a file.")] = None,
) -> None:
    """Run somebody's solver over the zoo and judge every answer: success rates, times, what is wrong and why.

    The module is looked for where Python finds modules, and in the current folder. Exit status 0 if nothing failed at
    the level, 1 otherwise.

    Example: `mklcvx conform mine.solvers:l1 -f l1 --jobs 2`
    """
    given = options.parse_settings(settings)
    options.check_written(output, ".json")
    from ..bench.conformance.summary import assignment, conform
    from ..bench.conformance.trials import suitable

    chosen = suitable(formulations.get(formulation).name, options.names_in(specimens), given.get("loss"))
    if not chosen:
        raise InputError("--specimens names no instance: see 'mklcvx zoo'")
    assignment(solver, formulation, given, command=command, time_limit=time_limit, level=level)  # refuses at once
    from .display import Progress
    from .display_conform import show_conformance

    with Progress(as_json, total=len(chosen)) as progress:
        conformance = conform(
            solver, formulation, command=command, specimens=chosen, jobs=jobs, time_limit=time_limit, level=level,
            done=lambda trial: progress.count(trial.specimen), **given,
        )  # fmt: skip
    if output is not None:
        write_text(output, options.as_json(conformance) + "\n")
    options.show(conformance, as_json, show_conformance)
    if not conformance.passed:
        raise typer.Exit(1)
