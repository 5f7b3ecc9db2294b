"""`mklcvx prove`: an interval that contains the optimal value."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from .. import formulations
from ..defaults import FORMULATION
from .settings import (
    Centre,
    InstanceFile,
    Normalise,
    Repair,
    Selection,
    Settings,
    loaded,
    parse_settings,
)


def prove(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = FORMULATION,
    settings: Settings = None,
    normalise: Normalise = None,
    centre: Centre = False,
    repair: Repair = None,
    kernels: Selection = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for the solver.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Enclose the optimal value rigorously: both bounds in ball arithmetic, at exactly feasible points.

    Exit status 0 if the interval's relative width is at most 1e-8, 1 if it is wider.

    Example: `mklcvx prove problem.npz -f sm1 --set theta=0.5`
    """
    given, chosen = parse_settings(settings or []), formulations.get(formulation)
    problem, _ = loaded(instance, repair, kernels, centre, normalise)
    chosen.task(problem, given)  # refuses bad parameters before anything costs time
    from ..verification.proof import prove as run
    from .display import Progress, cost_warning, show_proof

    if not as_json:
        cost_warning(problem, "auto")
    with Progress(as_json) as progress:
        found = run(problem, formulation, time_limit=time_limit, report=progress.say, **given)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), allow_nan=False))
    else:
        show_proof(found)
    if not found.sharp:
        sys.stderr.write(f"mklcvx: relative width {found.relative_width:.1e}: {found.why_wide}\n")
        raise typer.Exit(1)
