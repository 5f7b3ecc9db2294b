"""`mklcvx bench`: compare solvers on one instance."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import formulations
from ..defaults import BENCH_TIME_LIMIT, FORMULATION, ROUNDS
from . import options


def bench(
    instance: options.InstanceFile,
    formulation: options.FormulationName = FORMULATION,
    settings: options.Settings = None,
    solvers: Annotated[
        str | None, typer.Option(help="Solvers, or package.module:function, by commas; else all that fit.")
    ] = None,
    external: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COMMAND", help="A command with {instance} and {answer}; may be repeated."),
    ] = None,
    rounds: Annotated[int, typer.Option(help="How often each contestant runs, in turn.")] = ROUNDS,
    tol: Annotated[float | None, typer.Option(help="Relative gap asked of everyone; else of each its own.")] = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds for a contestant, one round or all of them.")
    ] = BENCH_TIME_LIMIT,
    repair: options.Repair = None,
    kernels: options.Selection = None,
    var: options.Variables = None,
    positive: options.Positive = None,
    as_json: options.OneObject = False,
) -> None:
    """Compare solvers on an instance: in turns, on one thread, in LIBSVM fits, all judged by the same certificate.

    Exit status 0 if the first contestant is certified, 1 if it is not, whatever became of the others.

    Example: `mklcvx bench problem.npz --solvers interior,clarabel --external "mine=python my.py {instance} {answer}"`
    """
    given, chosen = options.parse_settings(settings), formulations.get(formulation)
    problem, _ = options.loaded(instance, repair, kernels, False, None, var)
    problem = options.one_machine(problem, formulation, given, positive, "bench")
    chosen.posed_for(problem, given).task(problem, given)
    from ..bench.comparison import compare, contestants

    entrants = contestants(chosen, options.names_in(solvers), external or [])
    from .display import Progress, show_benchmark

    with Progress(as_json) as progress:
        benchmark = compare(
            problem, formulation, entrants, rounds=rounds, tol=tol, time_limit=time_limit, report=progress.say, **given
        )
    options.show(benchmark, as_json, show_benchmark)
    if benchmark.rows[0].status != "certified":
        raise typer.Exit(1)
