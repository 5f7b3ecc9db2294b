"""`mklcvx path`: one solution after the other along a grid of parameters."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import formulations
from ..defaults import FORMULATION, SOLVER
from ..io.files import check_apart, check_output, write_whole
from .settings import (
    Centre,
    InstanceFile,
    Normalise,
    Repair,
    Selection,
    Settings,
    SolverName,
    Tolerance,
    loaded,
    parse_grid,
    parse_settings,
)


def path(
    instance: InstanceFile,
    grid: Annotated[
        list[str],
        typer.Option("--grid", metavar="KEY=V1,V2,...", help="A parameter and its values; several: all combinations."),
    ],
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = FORMULATION,
    settings: Settings = None,
    solver: SolverName = SOLVER,
    tol: Tolerance = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each point.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations for each point.")] = None,
    normalise: Normalise = None,
    centre: Centre = False,
    repair: Repair = None,
    kernels: Selection = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON lines to a file.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Solve along a grid of parameters, each point starting where the last ended; one JSON line for each point.

    Example: `mklcvx path problem.npz -f l1 --grid C=0.01,0.1,1,10 -o path.jsonl`
    """
    from ..solvers.paths import combinations, described, each, json_line
    from ..solvers.solving import prepared

    given, points = parse_settings(settings or []), combinations(parse_grid(grid), parse_settings(settings or []))
    prepared(formulation, solver, tol, time_limit, max_iter, None)
    if output is not None:
        check_output(output, (".jsonl", ".json"))
    check_apart([instance], [output])
    problem, preparation = loaded(instance, repair, kernels, centre, normalise)
    for point in points:
        formulations.get(formulation).task(problem, {**given, **point})  # refuses before anything costs time
    from .display import Progress

    found = []
    with Progress(quiet) as progress:
        for solution in each(
            problem, formulation, points, solver=solver, tol=tol, time_limit=time_limit, max_iter=max_iter,
            report=progress.say, preprocessing=preparation, **given,
        ):  # fmt: skip
            found.append(solution)
            if output is None:
                typer.echo(json_line(solution))
    if output is not None:
        lines = "".join(json_line(solution) + "\n" for solution in found)
        write_whole(output, lambda stream: stream.write(lines.encode()))
        for point, s in zip(points, found, strict=True):
            if not quiet:
                gap = f"relative gap {s.certificate.relative_gap:.1e}"
                typer.echo(f"{described(point)}: objective {s.objective:.10g}, {s.status}, {gap}")
    missed = [solution for solution in found if not solution.certified]
    if missed:
        sys.stderr.write(
            f"mklcvx: {len(missed)} of {len(found)} points are not certified; the first: {missed[0].message}\n"
        )
        raise typer.Exit(1)
