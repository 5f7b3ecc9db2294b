"""The report of a solved problem."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import formulations
from ...certificate.solution import Solution
from ...errors import InputError
from ...problem.instance import Instance
from ...solvers.solving import solve, solver_named, tracing
from . import drawn, sections
from .html import Markup
from .numbers import settings
from .page import badge, page

SLOW = ("silp_exact",)  # declared anew at every step: only if asked for
USUAL = 4
CHECKERS = {"single task": "checker"}  # of the other families, checker_families


def chosen_solvers(formulation: str, names: Sequence[str] | None) -> list[str]:
    """Those named, each once, if they fit; else `interior` and the first published ones."""
    chosen = formulations.get(formulation)
    if names is None:
        fitting = [name for name in tracing(chosen) if name not in SLOW]
        return sorted(fitting, key=lambda name: name != "interior")[:USUAL]
    if not names:
        raise InputError("--solvers names none: give some by commas, for example interior,clarabel")
    return list(dict.fromkeys(solver_named(name, chosen).name for name in names))


def runs_of(
    instance: Instance, formulation: str, given: Mapping[str, Any], names: Sequence[str], time_limit: float,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Solution]:  # fmt: skip
    """One run for every solver, each with the tolerance it can be expected to reach."""
    return {
        name: solve(instance, formulation, solver=name, time_limit=time_limit, report=say, **given) for name in names
    }


def report_page(
    instance: Instance,
    solution: Solution,
    runs: Mapping[str, Solution],
    tolerance: float,
    source: str = "",
    options: str = "",
) -> str:
    """Problem, optimum, certificate, weights, conditions, convergence, derivation. `instance` is what was solved, made
    from the file `source` by the command line's `options`."""
    name = solution.formulation
    made = about(instance, solution, runs, tolerance, f"{source} {options}".strip())
    made += [sections.derived(name), _again(solution, source or "problem.npz", options)]
    subtitle = f"{settings(solution.parameters)}; {instance.count} kernels, {instance.samples} samples"
    return page(f"{name}: {formulations.get(name).title}", subtitle, state(solution), made)


def about(
    instance: Instance, solution: Solution, runs: Mapping[str, Solution], tolerance: float, source: str
) -> list[Markup]:
    """What there is to say of a solution."""
    name, given = solution.formulation, solution.parameters
    few = drawn.few_kernels(instance, name, given, runs)
    return [
        sections.problem(instance, name, given, source),
        sections.optimum(solution),
        sections.certificate(solution.certificate, tolerance),
        drawn.weights(solution),
        *([few] if few is not None else []),
        drawn.conditions(instance, solution),
        *([drawn.convergence(runs)] if runs else []),
    ]


def state(solution: Solution) -> Markup:
    return badge("certified", "good") if solution.certified else badge("not certified", "bad")


def _again(solution: Solution, source: str, options: str) -> Markup:
    file, name = shlex.quote(source), solution.formulation
    given = "".join(f" --set {key}={str(value).lower()}" for key, value in solution.parameters.items())
    checker = CHECKERS.get(formulations.get(name).family, "checker_families")
    commands = [f"mklcvx solve {file} {options} -f {name}{given} -o answer.json".replace("  ", " ")]
    if not options:  # the checker takes kernels as they are
        commands.append(f"python -m mklcvx.{checker} {file} answer.json")
    return sections.again([*commands, f"mklcvx verify {file} answer.json"])
