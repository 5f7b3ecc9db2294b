"""`mklcvx cv`: cross-validation over a grid of parameters."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..defaults import FOLDS, FORMULATION, SEED, SOLVER
from ..errors import GridEdgeWarning, Interrupted, unheard
from ..io.json_text import finite
from ..io.writing import write_text
from . import options
from .interrupts import Stopped
from .kept_folds import KeptFolds

if TYPE_CHECKING:
    from ..estimators.cross_validation import CrossValidation, FoldScore


def cv(
    instance: options.InstanceFile,
    grid: options.Grid = None,
    formulation: options.FormulationName = FORMULATION,
    settings: options.Settings = None,
    folds: options.Folds = FOLDS,
    seed: options.Seed = SEED,
    score: options.Score = None,
    jobs: Annotated[int, typer.Option(metavar="<int>", help="Folds at once.", min=1)] = 1,
    solver: options.SolverName = SOLVER,
    tol: options.Tolerance = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each point on each fold.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations for each point on each fold.")] = None,
    normalise: options.NormaliseInFolds = None,
    centre: options.CentreInFolds = False,
    repair: options.Repair = None,
    kernels: options.Selection = None,
    var: options.Variables = None,
    multi_class: options.MultiClass = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines in a terminal, too.")] = False,
    output: options.JsonLines = None,
) -> None:
    """Cross-validate a formulation along a grid of parameters: one JSON line for each point, a table in a terminal.

    Without a grid, C runs from far too small to far too large for kernels of this size.

    Exit status 0 if every fold of every point is certified, 1 otherwise.

    Example: `mklcvx cv problem.npz -f sm1 --grid C=0.1,1,10 --grid theta=0.5,1 --jobs 2`
    """
    from ..estimators.cross_validation import FoldsMissing, check_request, cross_validate
    from ..problem.preprocessing import Preprocessing
    from ..solvers.grids import default_grid
    from ..solvers.paths import combinations
    from ..solvers.solving import prepared

    given = options.parse_settings(settings)
    points = combinations(options.parse_grid(grid), given) if grid else []
    limits: dict[str, Any] = {"solver": solver, "tol": tol, "time_limit": time_limit, "max_iter": max_iter}
    prepared(formulation, **limits, options=None)
    steps = Preprocessing.from_options(centre=centre, normalise=normalise)
    options.check_written(output, ".jsonl", ".json", read=(instance,))
    problem, _ = options.loaded(instance, repair, kernels, False, None, var)
    check_request(problem, formulation, folds, score)
    points = points or combinations(default_grid(options.scaled(problem, steps), formulation, given), given)
    options.say_sizes(problem, normalise)
    posed = [{**given, **point} for point in points]
    several = options.in_machines(problem, formulation, posed, multi_class)
    from .display import Progress

    asked = (points, formulation, folds, seed, score, centre, normalise, repair, kernels, var, several, limits, given)
    kept = KeptFolds(output, instance, asked)
    known = kept.read(folds, len(points))
    if known:
        options.say(f"{len(known)} of {folds} folds are taken from {kept.path}")
    with Progress(False, total=folds) as progress, unheard(GridEdgeWarning):  # said below, as commands say it
        try:
            validation = cross_validate(
                problem, formulation, points, folds=folds, seed=seed, score=score, jobs=jobs, centre=centre,
                normalise=normalise, multi_class=several, done=progress.count, known=known, **limits, **given,
            )  # fmt: skip
        except (FoldsMissing, Interrupted) as fault:
            told = f"{fault}; {kept.write(cast('dict[int, list[FoldScore]]', fault.solution))}"
            if isinstance(fault, Interrupted):
                raise Stopped(told) from None
            options.fail(told)
    same = {"--repair": repair, "--kernels": kernels, "--normalise": normalise, "--multi-class": multi_class}
    words = [str(instance), "-f", formulation, *(["--centre"] if centre else [])]
    words += [word for option, value in same.items() if value for word in (option, value)]
    words += [word for name in var or () for word in ("--var", name)]
    words += [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
    _show(validation, as_json, output, f"mklcvx solve {shlex.join(words)}")
    kept.remove()
    if validation.edge:
        options.say(validation.edge)
    if not validation.certified:
        missed = [trial for row in validation.rows for trial in row.trials if not trial.certified]
        total = sum(len(row.trials) for row in validation.rows)
        options.fail(f"{len(missed)} of {total} solutions are not certified; the first: {missed[0].message}")


def _show(validation: CrossValidation, as_json: bool, output: Path | None, command: str) -> None:
    lines = "".join(json.dumps(finite(record), allow_nan=False) + "\n" for record in validation.as_dicts())
    if output is not None:
        write_text(output, lines)
    if as_json or (output is None and not sys.stdout.isatty()):
        typer.echo(lines, nl=False)
    else:
        _table(validation, command)


def _table(validation: CrossValidation, command: str) -> None:
    """Print the points, and the command that solves the best one on all samples."""
    from ..solvers.paths import described
    from .display import print_table

    records = validation.as_dicts()
    rows = []
    for record in records:
        gap = "∞" if record["relative_gap"] is None else f"{record['relative_gap']:.1e}"
        star, point = "★" if record["best"] else "", described(record["parameters"])
        rows.append((star, point, f"{record['mean']:.4f}", f"{record['std']:.4f}", gap, record["status"]))
    title = f"{validation.formulation}, {validation.score} of {records[0]['folds']} folds"
    best = next(record["parameters"] for record in records if record["best"])
    settings = " ".join(f"--set {name}={value}" for name, value in best.items())
    print_table(("", "point", "mean", "std", "worst gap", "status"), rows, title, right=("mean", "std", "worst gap"))
    typer.echo(f"the best on all samples: {command} {settings}")
