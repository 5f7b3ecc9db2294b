"""`mklcvx solve`, `path`, `prove` and `predict`: certified optima, and what they say of new samples."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from .. import formulations
from ..certificate.solution import LARGE, Solution
from ..errors import InputError
from ..io.files import check_apart, check_output, load_solution, load_test, save_solution, write_whole
from . import estimate as cli_estimate
from .settings import (
    FORMATS,
    Centre,
    InstanceFile,
    Normalise,
    Repair,
    Selection,
    Settings,
    loaded,
    parse_grid,
    parse_settings,
    printable,
)

SolverName = Annotated[
    str,
    typer.Option(
        help="auto (interior, then exact), interior, exact, scs, or a published algorithm: see 'mklcvx list'."
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        help="Relative gap that the certificate must prove: 1e-8, but 1e-9 for interior and less for published ones.",
        show_default=False,
    ),
]


def solve(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = "l1",
    settings: Settings = None,
    solver: SolverName = "auto",
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


def path(
    instance: InstanceFile,
    grid: Annotated[
        list[str],
        typer.Option("--grid", metavar="KEY=V1,V2,...", help="A parameter and its values; several: all combinations."),
    ],
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = "l1",
    settings: Settings = None,
    solver: SolverName = "auto",
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


def prove(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = "l1",
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


def predict(
    solution: Annotated[
        Path, typer.Argument(help="A solution written by 'solve -o', or a model's .npz.", show_default=False)
    ],
    test: Annotated[
        Path,
        typer.Argument(help=f"test_kernels (M, t, n): {FORMATS}; for a model X: .npz or .csv.", show_default=False),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write values and labels: .csv, .json or .npz.")
    ] = None,
) -> None:
    """Decision values and labels for new samples, or their embedding; scores too where the file has the truth."""
    from ..estimators.prediction import Prediction
    from ..estimators.saving import is_model

    if output is not None:
        check_output(output, (".csv", ".json", ".npz"))
    check_apart([solution, test], [output])
    if is_model(solution):
        prediction, doubt = cli_estimate.predicted(solution, test)
    else:
        model, content = load_solution(solution), load_test(test)
        try:
            prediction = Prediction.of(model, content)
        except InputError as fault:
            raise InputError(f"test {test}: {fault}") from None
        doubt = "" if model.certified else model.message or "not certified"
    if output is None:
        typer.echo(prediction.as_csv(), nl=False)
    else:
        prediction.save(output)
    score = prediction.score()
    if score:
        sys.stderr.write(f"{score}\n")
    if doubt:
        sys.stderr.write(f"mklcvx: the solution is {printable(doubt)}\n")


def _say_what_is_left_out(found: Solution, output: Path) -> None:
    left_out = [name for name, value in found.multipliers.items() if np.size(value) > LARGE]
    if left_out:
        fault = f"{' and '.join(left_out)} left out, too large for JSON"
        sys.stderr.write(f"mklcvx: output {printable(str(output))}: {fault}: end the name in .npz to keep all\n")
