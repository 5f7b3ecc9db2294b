"""`mklcvx solve`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from .. import formulations
from ..certificate.solution import LARGE, Solution
from ..defaults import FORMULATION, SOLVER
from ..errors import InputError
from ..io.files import check_apart, check_output, save_solution
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
    parse_settings,
    printable,
)


def solve(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = FORMULATION,
    settings: Settings = None,
    solver: SolverName = SOLVER,
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="An option of the solver, for example seed=1."),
    ] = None,
    tol: Tolerance = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations of the solver.")] = None,
    normalise: Normalise = None,
    centre: Centre = False,
    repair: Repair = None,
    kernels: Selection = None,
    trace: Annotated[
        Path | None, typer.Option(help="Write an iterative solver's bounds and weights, row by row: .json or .csv.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the solution as one JSON object.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the solution: .json or .npz.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Solve a formulation exactly and certify the answer.

    Example: `mklcvx solve problem.npz -f sm1 --set C=10 --set theta=0.3 -o answer.json`
    """
    from ..solvers.solving import solve as run
    from ..solvers.solving import solver_named, tracing

    given, own = parse_settings(settings or []), parse_settings(options or [], "--option")
    chosen = formulations.get(formulation)
    method = solver_named(solver, chosen)
    method.check_options(own)
    if trace is not None:
        if method.algorithm is None and solver != "auto":
            raise InputError(f"--trace: solver {solver} keeps no trace: choose one of {', '.join(tracing(chosen))}")
        check_output(trace, (".json", ".csv"))
        if output is not None and trace.resolve() == output.resolve():
            raise InputError(f"--trace {trace}: the solution goes there too: choose another name for one of them")
    if output is not None:
        check_output(output, (".json", ".npz"))
    check_apart([instance], [trace, output])
    problem, preparation = loaded(instance, repair, kernels, centre, normalise)
    chosen.task(problem, given)  # refuses bad parameters before anything costs time
    from .display import Progress, cost_warning, show_solution  # not before anything that may refuse

    if not quiet:
        cost_warning(problem, solver)
    with Progress(quiet or as_json, method.tolerance if tol is None else tol) as progress:
        found = run(
            problem,
            formulation,
            solver=solver,
            tol=tol,
            time_limit=time_limit,
            max_iter=max_iter,
            options=own,
            report=progress.say,
            callback=progress.advance,
            preprocessing=preparation,
            **given,
        )
    if trace is not None:
        from ..io.traces import save_trace

        save_trace(trace, found)
    if output is not None:
        save_solution(output, found)
        if output.suffix == ".json":
            _say_what_is_left_out(found, output)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), allow_nan=False))
    elif not quiet:
        show_solution(found)
    if not found.certified:
        sys.stderr.write(f"mklcvx: {found.message}\n")
        raise typer.Exit(1)


def _say_what_is_left_out(found: Solution, output: Path) -> None:
    left_out = [name for name, value in found.multipliers.items() if np.size(value) > LARGE]
    if left_out:
        fault = f"{' and '.join(left_out)} left out, too large for JSON"
        sys.stderr.write(f"mklcvx: output {printable(str(output))}: {fault}: end the name in .npz to keep all\n")
