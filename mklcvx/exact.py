"""Exact solving: a formulation's own declarations, given to a conic solver, and certified afterwards.

The primal is solved first. Its functions give the upper bound and the multipliers of its margins give α and
the lower bound, so that one solve certifies; the dual is solved only where that was not enough. A conic
solver's own opinion of its accuracy is not used: the certificate decides.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .certificate import CertifiedPoint, certify
from .formulations import Formulation, Task

if TYPE_CHECKING:
    import cvxpy as cp

    from .formulations._dual import DualProgram
    from .formulations._primal import PrimalProgram

Array = NDArray[np.float64]
Report = Callable[[str], None]

# Far below what the solvers reach: they go on until rounding stops them, and the certificate says how far that was.
CLARABEL = {"solver": "CLARABEL", "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
SCS = {"solver": "SCS", "eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 20_000, "acceleration_lookback": 20}

# Units of the kernels to try in turn, relative to their typical size; an ordinary problem needs only the first.
UNITS = (1.0, 1e-2, 1e-4, 1e2, 1e4)


@dataclass
class Run:
    """What was tried, and the points it left."""

    iterations: int = 0
    seconds_building: float = 0.0
    seconds_solving: float = 0.0
    alphas: list[Array] = field(default_factory=list)
    functions: list[Array] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)


def solve_declared(
    formulation: Formulation,
    task: Task,
    tolerance: float,
    *,
    options: dict[str, Any] = CLARABEL,
    units: tuple[float, ...] = UNITS,
    routes: tuple[str, ...] = ("primal", "dual"),
    time_limit: float | None = None,
    max_iter: int | None = None,
    report: Report = lambda _: None,
) -> tuple[CertifiedPoint | None, Run]:
    """Solve the declarations in one unit after another until the certificate closes or nothing is left to try."""
    started, run, point = time.perf_counter(), Run(), None
    for unit, route in _attempts(task, units, routes):
        left = None if time_limit is None else time_limit - (time.perf_counter() - started)
        if left is not None and left <= 0:
            break
        report(f"{formulation.name}: {route}")
        settings = _limited(options, left, max_iter)
        declaring = time.perf_counter()
        scaled = formulation.in_units(task, unit)
        program: Any = formulation.declare_primal(scaled) if route == "primal" else formulation.declare_dual(scaled)
        run.seconds_building += time.perf_counter() - declaring
        keep: Any = keep_primal if route == "primal" else keep_dual
        if solve_program(program.problem, settings, run):
            keep(program, scaled, unit, run)
        if run.alphas and (run.functions or task.loss == "nu"):
            point = certify(formulation, task, run.alphas, _with_zero(task, run.functions))
            run.alphas, run.functions = [point.lower.alpha], [point.upper.coefficients]
            if point.certificate.proves(tolerance):
                break
    return point, run


def keep_primal(program: PrimalProgram, task: Task, unit: float, run: Run) -> None:
    """Keep the functions and the α of a primal solved for a task in some unit of the kernels."""
    if program.margins.dual_value is None:
        return
    coordinates = [np.asarray(w.value, dtype=float) for w in program.coordinates]
    coefficients = np.stack([f.to_coefficients @ w for f, w in zip(task.factors, coordinates, strict=True)])
    run.functions.append(coefficients / unit if task.loss == "c" else coefficients)
    run.alphas.append(_alpha(program.margins.dual_value, task, unit))


def keep_dual(program: DualProgram, task: Task, unit: float, run: Run) -> None:
    """Keep the α of a dual solved for a task in some unit of the kernels."""
    if program.alpha.value is not None:
        run.alphas.append(_alpha(program.alpha.value, task, unit))


def _alpha(value: Any, task: Task, unit: float) -> Array:
    alpha = np.asarray(value, dtype=float).ravel()
    return alpha / unit if task.loss == "c" else alpha


def _attempts(task: Task, units: tuple[float, ...], routes: tuple[str, ...]) -> Iterator[tuple[float, str]]:
    size = task.typical_kernel_size()
    for unit in units:
        for route in routes:
            yield unit * size, route


def _with_zero(task: Task, functions: list[Array]) -> list[Array]:
    """For loss nu the zero function is the optimum where the classes' hulls meet."""
    return [*functions, np.zeros((task.count, task.samples))] if task.loss == "nu" else functions


def _limited(options: dict[str, Any], left: float | None, max_iter: int | None) -> dict[str, Any]:
    settings = dict(options)
    if left is not None:
        settings["time_limit" if settings["solver"] == "CLARABEL" else "time_limit_secs"] = left
    if max_iter is not None:
        settings["max_iter" if settings["solver"] == "CLARABEL" else "max_iters"] = max_iter
    return settings


def solve_program(problem: cp.Problem, settings: dict[str, Any], run: Run) -> bool:
    """Whether the solver left a point; how good it is, the certificate will say."""
    import cvxpy as cp

    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "solution may be inaccurate": measured by the certificate instead
        try:
            problem.solve(**settings)
        except cp.SolverError:
            run.statuses.append("solver_error")
            return False
    stats = problem.solver_stats
    solving = float(getattr(stats, "solve_time", None) or 0.0)
    run.seconds_solving += solving
    run.seconds_building += time.perf_counter() - started - solving
    run.iterations += int(getattr(stats, "num_iters", None) or 0)
    run.statuses.append(str(problem.status))
    return problem.value is not None and bool(np.isfinite(problem.value))
