"""`mklcvx kernels`: which kernels matter, by cross-validation and resampling."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import formulations
from ..defaults import FOLDS, FORMULATION, REPEATS, RESAMPLES, SEED, SELECTED, SOLVER
from ..io.writing import write_text
from . import options


def kernels(
    instance: options.InstanceFile,
    formulation: options.FormulationName = FORMULATION,
    settings: options.Settings = None,
    folds: options.Folds = FOLDS,
    seed: options.Seed = SEED,
    score: options.Score = None,
    answers: Annotated[
        str | None, typer.Option(help="Some of alone, without, permuted and stability, by commas; else all.")
    ] = None,
    repeats: Annotated[
        int, typer.Option(metavar="<int>", help="Permutations of each kernel in each fold.", min=1)
    ] = REPEATS,
    resamples: Annotated[
        int, typer.Option(metavar="<int>", help="Bootstrap samples on which weights are fitted.", min=2)
    ] = RESAMPLES,
    threshold: Annotated[
        float, typer.Option(help="Share of the weights from which on a kernel is selected.")
    ] = SELECTED,
    jobs: Annotated[int, typer.Option(metavar="<int>", help="Folds and resamples at once.", min=1)] = 1,
    solver: options.SolverName = SOLVER,
    tol: options.Tolerance = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each fit.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations for each fit.")] = None,
    normalise: options.NormaliseInFolds = None,
    centre: options.CentreInFolds = False,
    repair: options.Repair = None,
    var: options.Variables = None,
    multi_class: options.MultiClass = None,
    kernels: options.Selection = None,
    as_json: options.OneObject = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON object to a file.")] = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> None:
    """Say which kernels matter: the score of each alone, what is lost without it, and how stable its weight is.

    weight: share of the classifier, fitted on all samples. alone: held-out score with this kernel only. drop without:
    score lost if the others are fitted without it. drop permuted: score lost if its test samples are shuffled.
    resampled weight, selected: on bootstrap samples. ± is one deviation, over folds or bootstrap samples; a drop within
    it is no evidence.

    Exit status 0 if every fit is certified, 1 otherwise.

    Example: `mklcvx kernels problem.npz -f l1 --set C=10 --folds 5 --html kernels.html`
    """
    from ..estimators.cross_validation import check_request
    from ..problem.preprocessing import Preprocessing
    from ..reports.importance import asked_for
    from ..solvers.solving import prepared

    given, asked = options.parse_settings(settings), asked_for(options.names_in(answers))
    limits: dict[str, Any] = {"solver": solver, "tol": tol, "time_limit": time_limit, "max_iter": max_iter}
    chosen = formulations.get(formulation)
    prepared(formulation, **limits, options=None)
    Preprocessing.from_options(centre=centre, normalise=normalise)
    options.check_written(output, ".json", read=(instance,))
    options.check_page(html, "--html", instance)
    before, in_folds = options.scaled_before(centre, normalise)
    problem, _ = options.loaded(instance, repair, kernels, False, before, var)
    check_request(problem, formulation, folds, score)
    several = options.in_machines(problem, formulation, [given], multi_class, quiet)
    from ..estimators.of_instance import importance_of
    from .display import Progress, print_table

    steps = {"centre": centre, "normalise": in_folds, **({} if several is None else {"multi_class": several})}
    pieces = folds * (asked != ["stability"]) + resamples * ("stability" in asked)
    with Progress(quiet or as_json, total=pieces) as progress:
        importance = importance_of(
            problem, chosen.name, {**given, **limits, **steps}, folds=folds, seed=seed, score=score, answers=asked,
            repeats=repeats, resamples=resamples, threshold=threshold, jobs=jobs, report=progress.count,
        )  # fmt: skip
    if output is not None:
        write_text(output, options.as_json(importance) + "\n")
    if html is not None:
        from ..reports.pages import kernels_page

        write_text(html, kernels_page(importance, chosen.name, instance.name))
    if as_json:
        typer.echo(options.as_json(importance))
    elif not quiet:
        heads, rows = importance.table()
        print_table(heads, rows, right=heads[1:])
        typer.echo("\n".join([importance.summary(), *importance.notes]))
    if importance.uncertified:
        share = f"{importance.uncertified} of {importance.fits} fits are not certified"
        options.fail(f"{share}; the first: {importance.notes[-1]}")
