"""`mklcvx solve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import formulations
from ..certificate.machines import Machines
from ..certificate.solution import LARGE, Solution
from ..defaults import FORMULATION, SOLVER
from ..errors import InputError, Interrupted
from ..io.files import save_solution
from ..io.machine_files import save_machines
from ..io.traces import save_trace
from . import options
from .interrupts import Stopped


def solve(
    instance: options.InstanceFile,
    formulation: options.FormulationName = FORMULATION,
    settings: options.Settings = None,
    solver: options.SolverName = SOLVER,
    solver_options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="An option of the solver, for example seed=1."),
    ] = None,
    tol: options.Tolerance = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations of the solver.")] = None,
    normalise: options.Normalise = None,
    centre: options.Centre = False,
    repair: options.Repair = None,
    kernels: options.Selection = None,
    var: options.Variables = None,
    multi_class: options.MultiClass = None,
    trace: Annotated[
        Path | None, typer.Option(help="Write an iterative solver's bounds and weights, row by row: .json or .csv.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the solution as one JSON object.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the solution: .json or .npz.")] = None,
    quiet: options.Quiet = False,
) -> None:
    """Solve a formulation exactly and certify the answer.

    Example: `mklcvx solve problem.npz -f sm1 --set C=10 --set theta=0.3 -o answer.json`
    """
    from ..solvers.one_against import solve_by_machines
    from ..solvers.solving import solve as run
    from ..solvers.solving import solver_named, tracing

    given, own = options.parse_settings(settings), options.parse_settings(solver_options, "--option")
    chosen = formulations.get(formulation)
    method = solver_named(solver, chosen)
    method.check_options(own)
    if trace is not None:
        if method.algorithm is None and solver != "auto":
            raise InputError(f"--trace: solver {solver} keeps no trace: choose one of {', '.join(tracing(chosen))}")
        options.check_written(trace, ".json", ".csv", read=(instance,))
        if output is not None and trace.resolve() == output.resolve():
            raise InputError(f"--trace {trace}: the solution goes there too: choose another name for one of them")
    options.check_written(output, ".json", ".npz", read=(instance,))
    problem, preparation = options.loaded(instance, repair, kernels, centre, normalise, var)
    several = options.in_machines(problem, formulation, [given], multi_class, quiet or trace is not None)
    if several is not None and trace is not None:
        raise InputError("--trace follows one machine, and classes need several: leave it out, or give y in {−1, +1}")
    from .display import Progress, cost_warning, show_machines, show_solution  # after all refusals, which must be fast

    options.say_sizes(problem, normalise)
    if not quiet:
        cost_warning(problem, solver)
    asked: dict[str, Any] = {"solver": solver, "tol": tol, "time_limit": time_limit, "max_iter": max_iter, **given}
    solution: Solution | Machines
    interrupt: Interrupted | None = None
    with Progress(quiet or as_json, tolerance=method.tolerance if tol is None else tol) as progress:
        asked |= {"options": own, "preprocessing": preparation, "report": progress.say, "callback": progress.follow}
        try:
            if several is None:
                solution = run(problem, formulation, **asked)
            else:
                solution = solve_by_machines(problem, formulation, several, **asked)
        except Interrupted as caught:
            if not isinstance(caught.solution, Solution):  # machines, some of which are missing
                unwritten = "" if output is None else f"; {output} needs all of them, and nothing was written"
                raise Stopped(f"interrupted: {caught}{unwritten}") from None
            solution, interrupt = caught.solution, caught
    if isinstance(solution, Machines):
        if output is not None:
            save_machines(output, solution)
    else:
        if trace is not None:
            save_trace(trace, solution)
        if output is not None:
            save_solution(output, solution)
            _say_what_is_left_out(solution, output)
    if as_json or not quiet:
        options.show(solution, as_json, show_solution if several is None else show_machines)
    if interrupt is not None:
        raise Stopped(f"interrupted; this is the best point so far: {solution.message or 'certified'}")
    if not solution.certified:
        options.fail(solution.message)


def _say_what_is_left_out(solution: Solution, output: Path) -> None:
    left_out = [name for name, value in solution.multipliers.items() if np.size(value) > LARGE]
    if left_out and output.suffix == ".json":
        fault = f"{' and '.join(left_out)} left out, too large for JSON"
        options.say(f"output {output}: {fault}: end the name in .npz to keep all")
