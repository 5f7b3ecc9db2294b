"""`mklcvx prove`: an interval that contains the optimal value."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import formulations
from ..defaults import FORMULATION
from . import options


def prove(
    instance: options.InstanceFile,
    formulation: options.FormulationName = FORMULATION,
    settings: options.Settings = None,
    normalise: options.Normalise = None,
    centre: options.Centre = False,
    repair: options.Repair = None,
    kernels: options.Selection = None,
    var: options.Variables = None,
    positive: options.Positive = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for the solver.")] = None,
    as_json: options.OneObject = False,
) -> None:
    """Prove an interval for the optimal value: both bounds in exact arithmetic, at an exactly feasible point.

    Exit status 0 if the interval's relative width is at most 1e-8, 1 if it is wider.

    Example: `mklcvx prove problem.npz -f sm1 --set theta=0.5`
    """
    given, chosen = options.parse_settings(settings), formulations.get(formulation)
    problem, _ = options.loaded(instance, repair, kernels, centre, normalise, var)
    problem = options.one_machine(problem, formulation, given, positive, "prove")
    chosen.posed_for(problem, given).task(problem, given)  # refuse bad parameters before solving
    from ..verification.proof import prove as run
    from .display import Progress, cost_warning, show_proof

    if not as_json:
        cost_warning(problem, "auto")
    with Progress(as_json) as progress:
        proof = run(problem, formulation, time_limit=time_limit, report=progress.say, **given)
    options.show(proof, as_json, show_proof)
    if not proof.sharp:
        options.fail(f"relative width {proof.relative_width:.1e}: {proof.why_wide}")
