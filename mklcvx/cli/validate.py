"""`mklcvx validate`: run the solvers of mklcvx over the zoo."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ..defaults import VALIDATE_LARGEST, VALIDATE_TIME_LIMIT
from ..errors import InputError
from . import options


def validate(
    quick: Annotated[bool, typer.Option("--quick", help="A few small instances only.")] = False,
    largest: Annotated[float, typer.Option(help="Instances up to this size, n²M.")] = VALIDATE_LARGEST,
    time_limit: Annotated[float, typer.Option(help="Seconds for each run.")] = VALIDATE_TIME_LIMIT,
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    as_json: options.OneObject = False,
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
    from .display import Progress
    from .display_conform import show_matrix

    with Progress(as_json, total=len(pairs)) as progress:
        matrix = run(pairs, time_limit, jobs, largest, progress.count)
    if output is not None:
        output.mkdir(exist_ok=True)
        save(output, matrix)
    options.show(matrix, as_json, show_matrix)
    if not matrix.honest:
        raise typer.Exit(1)


def _check_folder(path: Path) -> None:
    """Refuse, before any work, a path that is not a folder, and a chart that cannot be drawn."""
    if path.exists() and not path.is_dir():
        raise InputError(f"output {path}: is no folder: name one for three files")
    if not path.parent.is_dir():
        raise InputError(f"output {path}: no folder {path.parent}: create it first")
    if find_spec("matplotlib") is None:
        raise InputError("--output: the picture needs matplotlib: pip install 'mklcvx[plot]'")
