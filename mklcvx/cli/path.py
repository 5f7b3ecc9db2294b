"""`mklcvx path`: solve along a grid of parameters."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from ..certificate.machines import Machines
from ..certificate.solution import Solution
from ..defaults import FORMULATION, SOLVER
from ..io.writing import write_text
from . import options
from .interrupts import Stopped


def path(
    instance: options.InstanceFile,
    grid: options.Grid = None,
    formulation: options.FormulationName = FORMULATION,
    settings: options.Settings = None,
    solver: options.SolverName = SOLVER,
    tol: options.Tolerance = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each point.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations for each point.")] = None,
    normalise: options.Normalise = None,
    centre: options.Centre = False,
    repair: options.Repair = None,
    kernels: options.Selection = None,
    var: options.Variables = None,
    multi_class: options.MultiClass = None,
    output: options.JsonLines = None,
    quiet: options.Quiet = False,
) -> None:
    """Solve along a grid of parameters, each point starting where the last ended; one JSON line for each point.

    Without a grid, C runs from far too small to far too large for kernels of this size.

    Example: `mklcvx path problem.npz -f l1 --grid C=0.01,0.1,1,10 -o path.jsonl`
    """
    from ..solvers.grids import default_grid
    from ..solvers.one_against import each_by_machines
    from ..solvers.paths import combinations, described, each, json_line
    from ..solvers.solving import prepared

    given = options.parse_settings(settings)
    points = combinations(options.parse_grid(grid), given) if grid else []
    prepared(formulation, solver, tol, time_limit, max_iter, None)
    options.check_written(output, ".jsonl", ".json", read=(instance,))
    problem, preparation = options.loaded(instance, repair, kernels, centre, normalise, var)
    points = points or combinations(default_grid(problem.kernels, formulation, given), given)
    posed = [{**given, **point} for point in points]
    several = options.in_machines(problem, formulation, posed, multi_class, quiet)
    options.say_sizes(problem, normalise)
    from .display import Progress

    solutions: list[Solution | Machines] = []
    asked: dict[str, Any] = {"solver": solver, "tol": tol, "time_limit": time_limit, "max_iter": max_iter}
    interrupted = False
    with Progress(quiet) as progress:
        asked |= {"report": progress.say, "preprocessing": preparation, **given}
        try:
            for solution in (
                each(problem, formulation, points, **asked)
                if several is None
                else each_by_machines(problem, formulation, points, several, **asked)
            ):
                solutions.append(solution)
                if output is None:
                    typer.echo(json_line(solution))
        except KeyboardInterrupt:
            if not solutions:
                raise
            interrupted = True
    if output is not None:
        write_text(output, "".join(json_line(solution) + "\n" for solution in solutions))
        for point, s in () if quiet else zip(points, solutions, strict=False):
            gap = f"relative gap {s.certificate.relative_gap:.1e}"
            value = ", ".join(f"{objective:.10g}" for objective in np.ravel(s.objective))
            typer.echo(f"{described(point)}: objective {value}, {s.status}, {gap}")
    if interrupted:
        raise Stopped(f"interrupted: {len(solutions)} of {len(points)} points are kept")
    missed = [solution for solution in solutions if not solution.certified]
    if missed:
        options.fail(f"{len(missed)} of {len(solutions)} points are not certified; the first: {missed[0].message}")
