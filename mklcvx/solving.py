"""`solve`: an instance, a formulation and its parameters in; a solution with its certificate out."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import formulations
from .assembling import assemble
from .certificate import CertifiedPoint
from .errors import InputError, nearest
from .exact import SCS, Report, Run, solve_declared
from .formulations import Formulation, Task
from .instance import Instance
from .preprocess import Preprocessing
from .silp import solve_silp
from .solution import Solution

Outcome = tuple[CertifiedPoint, Run]


@dataclass(frozen=True)
class Solver:
    """A way to solve, and the formulations it serves (None: all)."""

    name: str
    summary: str
    run: Callable[..., Outcome]
    serves: tuple[str, ...] | None = None


def _scs(formulation: Formulation, task: Task, tolerance: float, **limits: Any) -> Outcome:
    return solve_declared(formulation, task, tolerance, options=SCS, units=(1.0,), **limits)


SOLVERS: tuple[Solver, ...] = (
    Solver("exact", "the declarations with Clarabel, an interior-point method", solve_declared),
    Solver("scs", "the declarations with SCS, a first-order method: the second opinion", _scs),
    Solver(
        "silp_exact",
        "the declared semi-infinite linear program by column generation",
        solve_silp,
        ("l1", "sm1", "hypergraph"),
    ),
)


def solver_named(name: str, formulation: Formulation) -> Solver:
    known = {solver.name: solver for solver in SOLVERS}
    if name not in known:
        raise InputError(f"unknown solver {name!r}: {nearest(str(name), known)}")
    solver = known[name]
    if solver.serves is not None and formulation.name not in solver.serves:
        served = f"{', '.join(solver.serves[:-1])} and {solver.serves[-1]}"
        raise InputError(f"solver {name} does not fit {formulation.name}: it solves {served}; use exact")
    return solver


def solve(
    instance: Instance,
    formulation: str,
    *,
    solver: str = "exact",
    tol: float = 1e-8,
    time_limit: float | None = None,
    max_iter: int | None = None,
    report: Report = lambda _: None,
    preprocessing: Preprocessing | None = None,
    **parameters: Any,
) -> Solution:
    """Solve a formulation to a certified relative gap of at most `tol`.

    The solution's status is "certified" if that was reached and "not_certified" otherwise; its certificate
    holds in either case. `preprocessing`, already applied to the instance, travels with the solution so that
    it can be applied to test kernels.
    """
    chosen = formulations.get(formulation)
    method = solver_named(solver, chosen)
    _check_limits(tol, time_limit, max_iter)
    task, resolved = chosen.task(instance, parameters)
    started = time.perf_counter()
    found, run = method.run(chosen, task, tol, time_limit=time_limit, max_iter=max_iter, report=report)
    point, fields = assemble(chosen, task, found, tol, instance, resolved)
    proved = point.certificate.proves(tol)
    return Solution(
        formulation=chosen.name,
        parameters=resolved,
        solver=solver,
        status="certified" if proved else "not_certified",
        certificate=point.certificate,
        iterations=run.iterations,
        seconds=time.perf_counter() - started,
        names=instance.names,
        target=instance.targets.kind,
        label_names=instance.targets.names,
        classes=instance.targets.classes(),
        preprocessing=preprocessing,
        message="" if proved else _why_not(point, run, tol, time_limit),
        **fields,
    )


def preprocessed(instance: Instance, preprocessing: Preprocessing) -> Instance:
    """The instance after steps fitted on its kernels; its test kernels stay as they are until prediction."""
    kernels = preprocessing.fit(instance.kernels, names=instance.names).train(instance.kernels)
    return instance.with_kernels(kernels)


def _check_limits(tol: float, time_limit: float | None, max_iter: int | None) -> None:
    if not (_is_number(tol) and 0 < tol < 1):
        raise InputError(f"tol = {tol!r} is not between 0 and 1: give a relative gap such as 1e-8")
    if time_limit is not None and not (_is_number(time_limit) and time_limit > 0):
        raise InputError(f"time_limit = {time_limit!r} is not positive: give seconds")
    if max_iter is not None and not (isinstance(max_iter, numbers.Integral) and max_iter >= 1):
        raise InputError(f"max_iter = {max_iter!r} is below 1 or no integer: give a number of iterations")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _why_not(point: CertifiedPoint, run: Run, tol: float, time_limit: float | None) -> str:
    gap = point.certificate.relative_gap
    limit = " within the time limit" if time_limit is not None else ""
    last = f"; the solver's last status was {run.statuses[-1]}" if run.statuses else "; nothing was solved"
    return f"not certified: relative gap {gap:.2e}, asked for {tol:.0e}{limit}{last}"
