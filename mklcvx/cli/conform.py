"""`mklcvx conform` and `mklcvx validate`: solvers over the zoo, somebody else's and ours."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from .. import formulations
from ..errors import InputError
from ..io.files import check_output, write_whole
from .settings import Settings, parse_settings


def conform(
    solver: Annotated[
        str | None, typer.Argument(metavar="MODULE:FUNCTION", help="function(kernels, y, **parameters).")
    ] = None,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="What it solves; see 'mklcvx list'.")] = "l1",
    settings: Settings = None,
    command: Annotated[
        str | None,
        typer.Option(help="In place of a function: a command with {instance} and {answer}.", show_default=False),
    ] = None,
    specimens: Annotated[
        str | None, typer.Option(help="Instances of the zoo, by commas; else all that suit.", show_default=False)
    ] = None,
    level: Annotated[str, typer.Option(help="What must be reached: low (1e-3), mid (1e-6) or high (1e-9).")] = "mid",
    time_limit: Annotated[float, typer.Option(help="Seconds for each instance.")] = 20.0,
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON to a file.")] = None,
) -> None:
    """Run somebody's solver over the zoo and judge every answer: success rates, times, what is wrong and why.

    The module is looked for where Python finds modules, and in the current folder. Exit status 0 if nothing failed at
    the level, 1 otherwise.

    Example: `mklcvx conform mine.solvers:l1 -f l1 --jobs 2`
    """
    given = parse_settings(settings or [])
    names = None if specimens is None else [name.strip() for name in specimens.split(",") if name.strip()]
    if output is not None:
        check_output(output, (".json",))
    from ..bench.conformance.summary import assignment, conform
    from ..bench.conformance.trials import suitable

    chosen = suitable(formulations.get(formulation).name, names)
    if not chosen:
        raise InputError("--specimens names no instance: see 'mklcvx zoo'")
    assignment(solver, formulation, given, command=command, time_limit=time_limit, level=level)  # refuses at once
    from .display_conform import Count, show_conformance

    with Count(as_json, len(chosen)) as count:
        found = conform(
            solver, formulation, command=command, specimens=chosen, jobs=jobs, time_limit=time_limit, level=level,
            done=lambda trial: count.one(trial.specimen), **given,
        )  # fmt: skip
    record = json.dumps(found.as_dict(), ensure_ascii=False, allow_nan=False)
    if output is not None:
        write_whole(output, lambda file: file.write(f"{record}\n".encode()))
    if as_json:
        typer.echo(record)
    else:
        show_conformance(found)
    if not found.passed:
        raise typer.Exit(1)


def validate(
    quick: Annotated[bool, typer.Option("--quick", help="A few small instances only.")] = False,
    largest: Annotated[float, typer.Option(help="Instances up to this size, n²M.")] = 15_000.0,
    time_limit: Annotated[float, typer.Option(help="Seconds for each run.")] = 3.0,
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write Markdown, JSON and a picture into this folder.")
    ] = None,
) -> None:
    """Try every solver of ours on every formulation it fits, over the zoo, against the certified optimum.

    Exit status 0 if every run was honest about what it reached, 1 otherwise.

    Example: `mklcvx validate --quick`
    """
    if not 0 < time_limit < float("inf"):
        raise InputError(f"--time-limit {time_limit:g} is not positive and finite: give seconds")
    if output is not None:
        _check_folder(output)
    from ..bench.matrix import plan, save
    from ..bench.matrix import validate as run

    pairs = plan(quick, largest)
    if not pairs:
        raise InputError(f"--largest {largest:g}: no instance is that small: give a larger n²M, such as 15000")
    from .display_conform import Count, show_matrix

    with Count(as_json, len(pairs)) as count:
        found = run(pairs, time_limit, jobs, largest, count.one)
    if output is not None:
        output.mkdir(exist_ok=True)
        save(output, found)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), ensure_ascii=False, allow_nan=False))
    else:
        show_matrix(found)
    if not found.honest:
        raise typer.Exit(1)


def _check_folder(path: Path) -> None:
    """A new folder or one that is there; that the picture can be drawn is seen before the work, too."""
    if path.exists() and not path.is_dir():
        raise InputError(f"output {path}: is no folder: name one for three files")
    if not path.parent.is_dir():
        raise InputError(f"output {path}: no folder {path.parent}: create it first")
    if find_spec("matplotlib") is None:
        raise InputError("--output: the picture needs matplotlib: pip install 'mklcvx[plot]'")
