"""Exact solving: pass a formulation's declarations to a conic solver, and certify the result.

The primal is solved first. Its functions give the upper bound; the multipliers of its margins give α and the lower
bound. So one solve is enough for a certificate, and the dual is solved only if the gap is too large. The status and
the accuracy that a conic solver reports are not used: the certificate decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ..certificate import certify
from ..certificate.run import Run
from ..formulations import Formulation
from ..formulations._formulation import Own, Posed
from ..problem.faults import is_numerical
from .interrupts import Keep, Outcome
from .silence import silent

if TYPE_CHECKING:
    import cvxpy as cp

Report = Callable[[str], None]

# Far below what the solvers reach: they continue until rounding stops them, and the certificate measures the result.
CLARABEL = {"solver": "CLARABEL", "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
SCS = {"solver": "SCS", "eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 20_000, "acceleration_lookback": 20}

# Units of the kernels to try in turn, relative to their typical size; an ordinary problem needs only the first.
UNITS = (1.0, 1e-2, 1e-4, 1e2, 1e4)


def solve_declared(
    formulation: Formulation,
    task: Posed,
    tolerance: float,
    *,
    options: dict[str, Own] = CLARABEL,
    units: tuple[float, ...] = UNITS,
    routes: tuple[str, ...] | None = None,
    time_limit: float | None = None,
    max_iter: int | None = None,
    report: Report = lambda _: None,
    keep: Keep = lambda _: None,
) -> Outcome:
    """Solve the declarations in one unit after another until the certificate closes or nothing is left to try."""
    started, run = time.perf_counter(), Run(solver=options["solver"].lower())
    point, size = certify(formulation, task, formulation.trivial_points(task)), task.typical_kernel_size()
    keep(lambda: (point, run))
    for unit, route in product([unit * size for unit in units], routes or formulation.routes):
        left = None if time_limit is None else time_limit - (time.perf_counter() - started)
        iterations = None if max_iter is None else max_iter - run.iterations
        if any(limit is not None and limit <= 0 for limit in (left, iterations)):
            break
        report(f"{formulation.name}: {route}")
        declaring = time.perf_counter()
        try:
            scaled = formulation.in_units(formulation.normalised(task), unit)
            if not np.isfinite(getattr(scaled, "box", 0.0)).all():
                raise OverflowError("prices are no numbers in these units")
            program = formulation.declare_primal(scaled) if route == "primal" else formulation.declare_dual(scaled)
        except Exception as fault:  # the numbers overflow in these units
            if not is_numerical(fault):
                raise
            run.statuses.append("out_of_range")
            continue
        run.seconds_building += time.perf_counter() - declaring
        names = ("time_limit", "max_iter") if options["solver"] == "CLARABEL" else ("time_limit_secs", "max_iters")
        given = {name: limit for name, limit in zip(names, (left, iterations), strict=True) if limit is not None}
        if not solve_program(program.problem, {**options, **given}, run):
            continue
        read = formulation.from_primal if route == "primal" else formulation.from_dual
        try:
            point = certify(formulation, task, read(program, scaled, unit), point)
        except Exception as fault:
            if not is_numerical(fault):
                raise
            run.statuses.append("out_of_range")
            continue
        if point.certificate.proves(tolerance):
            break
    return point, run


def solve_program(problem: cp.Problem, settings: dict[str, Own], run: Run) -> bool:
    """Run the solver, and tell whether it returned a point; the certificate judges the point."""
    started = time.perf_counter()
    try:
        with silent():
            about = _solved(problem, **settings)
    except Exception:  # data that are not finite, or whatever a stranger's code may raise
        run.statuses.append("solver_error")
        return False
    solving = float(about.get("solve_time") or 0.0)
    run.seconds_solving += solving
    run.seconds_building += time.perf_counter() - started - solving
    run.iterations += int(about.get("num_iters") or 0)
    run.statuses.append(str(problem.status))
    return problem.value is not None and bool(np.isfinite(problem.value))


def _solved(problem: cp.Problem, solver: str, **options: Own) -> dict[str, Own]:
    """What the solver says of its run. These are the steps of `Problem.solve`, without its warning that a point may be
    inaccurate: the certificate measures that, and to silence a warning is to silence it in every thread."""
    data, chain, inverse_data = problem.get_problem_data(solver, solver_opts=options)
    solution = chain.invert(chain.solve_via_data(problem, data, solver_opts=options), inverse_data)
    about = solution.attr.get("solver_specific_stats")
    if isinstance(about, dict) and about.get("info", {}).get("status") == "interrupted":
        raise KeyboardInterrupt  # SCS has taken it for itself
    problem.unpack(solution)
    return dict(solution.attr)
