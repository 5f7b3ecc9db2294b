"""`prove`: an interval that contains the optimal value, as a proof and not as an estimate.

A solver's point is made exactly feasible and both bounds are evaluated there in ball arithmetic (Arb, in
python-flint), kernels and parameters being the dyadic numbers that their doubles are. Then

    lower ≤ lower end of the lower bound's ball ≤ optimum ≤ upper end of the upper bound's ball ≤ upper

with lower and upper doubles, rounded outward. The solver is not trusted: a bad point makes a wide interval, never a
wrong one, and where a point is missing the trivial one serves. A kernel that cannot be proved positive semidefinite
widens the upper bound by the ridge δ that it lacks (see `ball_arithmetic.kernels`); the problem stays that of the
stored entries. Of two stages both are proved: the first one's value, and that of every machine of the second.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..certificate.ball_arithmetic import RIGOROUS, WIDTH  # says so where python-flint is missing

# isort: split
import flint
import numpy as np
from flint import arb

from .. import formulations
from ..certificate.ball_arithmetic.balls import PRECISIONS, rounded_down, rounded_up
from ..certificate.ball_arithmetic.enclosure import Enclosure, Point, Stated
from ..certificate.ball_arithmetic.kernels import NOT_NEEDED, KernelBalls, Settled
from ..certificate.solution import Solution
from ..errors import InputError, InternalError
from ..formulations import Formulation
from ..problem.arguments import takes_kernels
from ..problem.checks import check_functions
from ..problem.instance import Instance

SCHEMA = "mklcvx.proof/1"
DIGITS = 25
TOLERANCE = WIDTH / 10


@dataclass(frozen=True)
class Proof:
    """lower ≤ optimum ≤ upper. The balls are those of the two bounds; `settled` says how kernels were proved positive
    semidefinite, and what ridge that cost. `second_stage` has an interval for every machine of a second stage."""

    formulation: str
    parameters: dict[str, Any]
    enclosure: Enclosure
    second_stage: dict[str, Enclosure]
    point: Point
    solution: Solution | None
    precision: int
    seconds: float
    names: tuple[str, ...]

    @property
    def lower_ball(self) -> arb:
        return self.enclosure.lower

    @property
    def upper_ball(self) -> arb:
        return self.enclosure.upper

    @property
    def lower(self) -> float:
        return rounded_down(self.lower_ball)

    @property
    def upper(self) -> float:
        return rounded_up(self.upper_ball)

    @property
    def scale(self) -> float:
        return max(rounded_down(self.enclosure.scale), 0.0)

    @property
    def relative_width(self) -> float:
        """Of the worst interval."""
        return max(part.relative_width for part in (self.enclosure, *self.second_stage.values()))

    @property
    def sharp(self) -> bool:
        return self.relative_width <= WIDTH

    @property
    def settled(self) -> dict[str, Settled]:
        parts = (self.enclosure, *self.second_stage.values())
        return {name: known for part in parts for name, known in part.settled.items()}

    @property
    def perturbations(self) -> dict[str, float]:
        """δ of the kernels that are semidefinite up to rounding only."""
        return {name: known.delta for name, known in self.settled.items() if known.delta > 0}

    @property
    def why_wide(self) -> str:
        """Why the interval is wider than WIDTH, in a line; empty where it is not."""
        if self.sharp:
            return ""
        if self.point.fault:
            return self.point.fault
        where = "" if self.enclosure.relative_width > WIDTH else "the second stage: "
        gap = self.point.gap
        if self.perturbations and gap is not None and gap < self.relative_width / 2:
            worst = max(self.perturbations.values())
            return f"{where}{len(self.perturbations)} kernels are semidefinite up to a ridge of {worst:.1e} only"
        found = "" if gap is None else f" has a relative gap of {gap:.1e} in double precision"
        return f"{where}the best point that {self.point.origin} found{found or ' is no better'}"

    def as_dict(self) -> dict[str, Any]:
        known = list(self.settled.values()) or [Settled(NOT_NEEDED)] * len(self.point.weights)
        methods = dict.fromkeys(one.method for one in known)
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": dict(self.parameters),
            "lower": repr(self.lower),
            "upper": repr(self.upper),
            "relative_width": _finite(self.relative_width),
            "scale": self.scale,
            "lower_ball": shown(self.lower_ball),
            "upper_ball": shown(self.upper_ball),
            "precision": self.precision,
            "semidefinite": {method: sum(one.method == method for one in known) for method in methods},
            "perturbations": self.perturbations,
            "second_stage": [_interval(name, part) for name, part in self.second_stage.items()] or None,
            "solver": self.point.origin,
            "why_wide": self.why_wide or None,
            "seconds": round(self.seconds, 3),
        }


def _interval(name: str, part: Enclosure) -> dict[str, Any]:
    ends = {"lower": repr(rounded_down(part.lower)), "upper": repr(rounded_up(part.upper))}
    return {"label": name, **ends, "relative_width": _finite(part.relative_width)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def shown(ball: arb) -> dict[str, str]:
    """Midpoint and radius in decimals: a rounded midpoint, with a radius that covers the rounding."""
    with flint.ctx.workprec(PRECISIONS[-1]):
        text = ball.str(DIGITS, more=True)
    middle, _, radius = text.strip("[]").partition(" +/- ")
    return {"midpoint": middle, "radius": radius or "0"}


@takes_kernels
def prove(
    instance: Instance,
    formulation: str,
    *,
    time_limit: float | None = None,
    report: Callable[[str], None] = lambda _: None,
    **parameters: Any,
) -> Proof:
    """Solve a formulation and enclose its optimal value rigorously, in ball arithmetic.

    Parameters
    ----------
    instance : Instance
        Kernels and targets. In its place, kernels (M, n, n) and y (n,) can be given as two arguments.
    formulation : str
        Name of the formulation.
    time_limit : float, optional
        Seconds for the solver. Ball arithmetic comes after them, and takes as long as it takes: seconds, for rational
        numbers of many digits.
    report : callable, optional
        Function that is called with one line of text before each stage.
    **parameters : dict
        Parameters of the formulation.

    Returns
    -------
    Proof
        An interval that contains the optimal value.

    Raises
    ------
    InputError
        If an argument cannot be used.

    References
    ----------
    F. Johansson (2017). Arb: efficient arbitrary-precision midpoint-radius interval arithmetic. IEEE Transactions on
    Computers 66(8), 1281-1292.

    Examples
    --------
    >>> import mklcvx
    >>> proof = mklcvx.prove(mklcvx.zoo.by_hand(), "l1")
    >>> proof.lower <= 1.125 <= proof.upper
    True
    """
    check_functions(report=report)
    started = time.perf_counter()
    chosen = provable(formulation).posed_for(instance, parameters)
    _, resolved = chosen.task(instance, parameters)  # refuses before anything costs time
    kernels = KernelBalls(instance.kernels, instance.names)

    def proved(tolerance: float, limit: float | None) -> Proof:
        point, solution = _found(instance, chosen, tol=tolerance, time_limit=limit, report=report, **parameters)
        report(f"{formulation}: ball arithmetic")
        return _enclosed(instance, chosen, resolved, kernels, point, solution)

    best = proved(TOLERANCE, time_limit)
    met = best.solution is not None and best.solution.certified  # so that more may be asked for
    left = None if time_limit is None else time_limit - (time.perf_counter() - started)
    if met and not best.sharp and not best.perturbations and (left is None or left > 0):
        best = min(best, proved(TOLERANCE / 1000, left), key=lambda proof: proof.relative_width)
    return replace(best, seconds=time.perf_counter() - started)


def _found(instance: Instance, chosen: Formulation, **given: Any) -> tuple[Point, Solution | None]:
    """A solver's point; the trivial one where that ends in a defect."""
    from ..solvers import solving

    try:
        solution = solving.solve(instance, chosen.name, **given)
    except (InternalError, ArithmeticError, np.linalg.LinAlgError) as broken:
        fault = f"no solver found a point ({' '.join(str(broken).split())}), and the trivial one proves no more"
        return RIGOROUS[chosen.family].trivial(chosen, instance, fault), None
    return Point.of(solution), solution


def enclose(instance: Instance, solution: Solution) -> Proof:
    """What a solution proves of its formulation's optimal value, whoever found it and however bad it is."""
    chosen = provable(solution.formulation).posed_for(instance, solution.parameters)
    kernels = KernelBalls(instance.kernels, instance.names)
    return _enclosed(instance, chosen, solution.parameters, kernels, Point.of(solution), solution)


def provable(name: str) -> Formulation:
    chosen = formulations.get(name)
    if chosen.family not in RIGOROUS:
        raise InputError(f"{chosen.name} has no rigorous bounds yet: solve it, and rely on its certificate")
    return chosen


def _enclosed(
    instance: Instance, chosen: Formulation, parameters: dict[str, Any], kernels: KernelBalls, point: Point,
    solution: Solution | None,
) -> Proof:  # fmt: skip
    """In balls of as many bits as it takes for their radii not to matter."""
    started = time.perf_counter()
    stated = Stated(instance, chosen, chosen.task(instance, parameters)[0], kernels, parameters, point)
    for precision in PRECISIONS:
        with flint.ctx.workprec(precision):
            enclosure, stages = RIGOROUS[chosen.family].enclosed(stated)
            if not any(part.blurred for part in (enclosure, *stages.values())):
                break
    seconds = time.perf_counter() - started
    return Proof(chosen.name, parameters, enclosure, stages, point, solution, precision, seconds, instance.names)
