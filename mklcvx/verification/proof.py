"""`prove`: an interval that contains the optimal value, as a proof and not as an estimate.

The checker evaluates both bounds at a solver's point in exact arithmetic, kernels and parameters being the dyadic
numbers that their doubles are (`mklcvx/checker/`, which shares no code with the rest of the package). Where the
interval is wide and the problem small, α is made optimal for its weights in rational numbers first (`polishing.py`).

The solver is not trusted: a bad point makes a wide interval, or none, never a wrong one. A kernel that is not positive
semidefinite widens the upper bound by the ridge δ that it lacks; the problem stays that of the stored entries. Up to
`ROOTS` samples K + δI ⪰ 0 is proved in whole numbers; beyond, in doubles with an account of their rounding. Of two
stages both are proved: the first one's value, and that of every machine of the second.
"""

from __future__ import annotations

import decimal
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formulations
from ..certificate.regularisers import regulariser_of
from ..certificate.solution import Solution
from ..checker import audit, families, joint
from ..checker.numbers import ROOTS, Refused, rounded
from ..errors import InputError, InternalError
from ..formulations import Formulation
from ..problem.arguments import takes_kernels
from ..problem.checks import check_functions
from ..problem.distributed import Distributed
from ..problem.instance import Instance, arguments_of
from .polishing import LARGEST, sharpened

Array = NDArray[np.float64]

SCHEMA = "mklcvx.proof/1"
WIDTH = 1e-8  # of a sharp interval, relative to the scale
TOLERANCE = WIDTH / 10
SHARPEST = 1e-12  # from which on points are not sharpened
ULP_OF_WIDTH = Fraction(2.0**-52 / WIDTH)
ALTERNATED, ROUNDS = 40, 20  # weights and α in turn, up to so many samples, so often
SHARES = (1 / 8, 1 / 64, 0.0)  # of the stretch, that are tried
DIGITS = 20  # of ends in decimals: more than doubles tell apart
WHOLE, DOUBLES, FACTORS = "whole numbers", "doubles, their rounding accounted for", "factors"


class Interval(NamedTuple):
    """lower ≤ optimum ≤ upper, exactly. `scale` is what the width is compared with; an ulp of `size`, or of the value,
    is sharp whatever the scale."""

    lower: Fraction | float
    upper: Fraction | float
    scale: float
    size: Fraction = Fraction(0)

    @property
    def relative_width(self) -> float:
        if isinstance(self.lower, float) or isinstance(self.upper, float):
            return math.inf
        width = self.upper - self.lower
        unit = max(Fraction(self.scale), ULP_OF_WIDTH * max(abs(self.lower), abs(self.upper), self.size))
        return 0.0 if width <= 0 else outward(width / unit, 1) if unit else math.inf

    @property
    def doubles(self) -> tuple[float, float]:
        """Rounded outward."""
        return outward(self.lower, -1), outward(self.upper, 1)

    def as_dict(self) -> dict[str, Any]:
        """The doubles in decimals that are rounded outward once more, and the relative width."""
        width, (lower, upper) = self.relative_width, self.doubles
        ends = {"lower": in_decimals(lower, decimal.ROUND_FLOOR), "upper": in_decimals(upper, decimal.ROUND_CEILING)}
        return {**ends, "relative_width": width if math.isfinite(width) else None}

    def joined(self, other: Interval) -> Interval:
        """Both hold. The scale is that of the better functions."""
        better = other if other.upper < self.upper else self
        return better._replace(lower=max(self.lower, other.lower))


UNKNOWN = Interval(-math.inf, math.inf, 0.0)


def outward(end: Fraction | float, side: int) -> float:
    """The nearest double on one side."""
    try:
        return end if isinstance(end, float) else float(rounded(end, side))
    except OverflowError:
        return side * math.inf


def in_decimals(end: float, rounding: str) -> str:
    return str(decimal.Context(DIGITS, rounding).create_decimal_from_float(end))


@dataclass(frozen=True)
class Proof:
    """lower ≤ optimum ≤ upper. `second_stage` has an interval for every machine of a second stage; `ridge` is the
    largest δ that makes kernels positive semidefinite, and `semidefinite` says in which numbers that is proved."""

    formulation: str
    parameters: Mapping[str, Any]
    interval: Interval
    second_stage: Mapping[str, Interval] = field(default_factory=dict)
    ridge: float = 0.0
    semidefinite: str = WHOLE
    solution: Solution | None = None
    fault: str = ""
    seconds: float = 0.0

    @property
    def lower(self) -> float:
        return self.interval.doubles[0]

    @property
    def upper(self) -> float:
        return self.interval.doubles[1]

    @property
    def scale(self) -> float:
        return self.interval.scale

    @property
    def relative_width(self) -> float:
        """Of the worst interval."""
        return max(part.relative_width for part in (self.interval, *self.second_stage.values()))

    @property
    def sharp(self) -> bool:
        return self.relative_width <= WIDTH

    @property
    def why_wide(self) -> str:
        """Why the interval is wider than WIDTH, in a line; empty where it is not."""
        if self.sharp or self.solution is None or self.fault:
            return "" if self.sharp else self.fault
        where = "" if self.interval.relative_width > WIDTH else "the second stage: "
        known, solver = self.solution.certificate, self.solution.solver
        if known.ridge_share > known.gap / 2:
            return f"{where}kernels are semidefinite up to a ridge of {self.ridge:.1e} only"
        gap = f"a relative gap of {known.relative_gap:.1e} in double precision"
        return f"{where}the best point that {solver} found has {gap}"

    def joined(self, other: Proof) -> Proof:
        """Both hold, of the same problem."""
        if other.fault:
            return self
        stages = {name: part.joined(other.second_stage[name]) for name, part in self.second_stage.items()}
        return replace(self, interval=self.interval.joined(other.interval), second_stage=stages)

    def as_dict(self) -> dict[str, Any]:
        stages = [{"label": name, **part.as_dict()} for name, part in self.second_stage.items()]
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": dict(self.parameters),
            **self.interval.as_dict(),
            "scale": self.scale,
            "ridge": self.ridge,
            "semidefinite": self.semidefinite,
            "second_stage": stages or None,
            "solver": None if self.solution is None else self.solution.solver,
            "why_wide": self.why_wide or None,
            "seconds": round(self.seconds, 3),
        }


@takes_kernels
def prove(
    instance: Instance,
    formulation: str,
    *,
    time_limit: float | None = None,
    report: Callable[[str], None] = lambda _: None,
    **parameters: Any,
) -> Proof:
    """Solve a formulation and enclose its optimal value in exact arithmetic.

    Parameters
    ----------
    instance : Instance
        Kernels and targets. In its place, kernels (M, n, n) and y (n,) can be given as two arguments.
    formulation : str
        Name of the formulation.
    time_limit : float, optional
        Seconds for the solver. Exact evaluation comes after them, and takes as long as it takes: seconds, for whole
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

    See Also
    --------
    solve : Solve to a certified gap, which doubles prove with their rounding paid for.

    Notes
    -----
    The bounds are evaluated by the package's checker, which depends on NumPy alone.

    Examples
    --------
    >>> import mklcvx
    >>> proof = mklcvx.prove(mklcvx.zoo.by_hand(), "l1")
    >>> proof.lower <= 1.125 <= proof.upper
    True
    """
    from ..solvers import solving

    check_functions(report=report)
    started = time.perf_counter()
    chosen = provable(formulation).posed_for(instance, parameters)
    _, resolved = chosen.task(instance, parameters)  # refuses before anything costs time

    def proved(tolerance: float, limit: float | None) -> Proof:
        try:
            given = {"tol": tolerance, "time_limit": limit, "report": report, **parameters}
            solution = solving.solve(instance, formulation, **given)
        except (InternalError, ArithmeticError, np.linalg.LinAlgError) as broken:
            fault = f"no solver found a point ({' '.join(str(broken).split())})"
            return Proof(chosen.name, resolved, UNKNOWN, fault=fault)
        report(f"{formulation}: exact evaluation")
        return enclose(instance, solution)

    best = proved(TOLERANCE, time_limit)
    met = best.solution is not None and best.solution.certified  # so that more may be asked for
    left = None if time_limit is None else time_limit - (time.perf_counter() - started)
    if met and not best.sharp and (left is None or left > 0):
        best = min(best, proved(TOLERANCE / 1000, left), key=lambda proof: proof.relative_width)
    return replace(best, seconds=time.perf_counter() - started)


def enclose(instance: Instance, solution: Solution) -> Proof:
    """What a solution proves of its formulation's optimal value, whoever found it and however bad it is."""
    formulation: Any = provable(solution.formulation)
    started, data = time.perf_counter(), data_of(instance)
    proof = evaluated(data, record_of(solution), solution)
    better = sharper(formulation, instance, data, solution) if instance.samples <= LARGEST and not proof.fault else ()
    for record, enough in better:
        if proof.relative_width <= enough:
            break
        proof = proof.joined(evaluated(data, record, solution))
    exactness = FACTORS if hasattr(instance.kernels, "factor") else WHOLE if instance.samples <= ROOTS else DOUBLES
    return replace(proof, semidefinite=exactness, seconds=time.perf_counter() - started)


def data_of(instance: Instance) -> dict[str, Any]:
    """The arrays of the instance's file."""
    kernels = instance.kernels
    if isinstance(kernels, Distributed):
        kernels.refuse("exact numbers of all of them are asked for")
    if not hasattr(kernels, "factor"):
        kernels = np.stack([np.asarray(kernels[m], dtype=float) for m in range(instance.count)])
    return {**{key: value for key, value in arguments_of(instance).items() if value is not None}, "kernels": kernels}


def sharper(
    formulation: Any, instance: Instance, data: Mapping[str, Any], solution: Solution
) -> Iterator[tuple[dict[str, Any], float]]:
    """Records of better points, and the width from which on each is worth its time: with less of the stretch, which
    pays for doubles; with the optimal α for the weights; with weights and α in turn."""
    record, more = record_of(solution), solution.certificate.stretch - 1
    yield from (({**record, "certificate": {"stretch": 1 + share * more}}, SHARPEST) for share in SHARES if more > 0)
    for turn in range(ROUNDS if instance.samples <= ALTERNATED else 1):
        better = sharpened(data, record)
        if better is None:
            return
        if solution.formulation not in audit.OWN:
            yield better, SHARPEST
            return
        task, _ = formulation.posed_for(instance, solution.parameters).task(instance, solution.parameters)
        roots = task.root_q(np.array(better["alpha"], dtype=float))
        if solution.formulation in audit.WITH_TAU:
            better["multipliers"]["tau"] = formulation.multipliers(roots, roots, **task.own).get("tau", 0.0)
        yield better, WIDTH if turn else SHARPEST
        record = {**better, "weights": reweighted(formulation, task, better["weights"], roots)}


def reweighted(formulation: Any, task: Any, weights: Array, roots: Array) -> Array:
    """The weights that are best for the norms of the functions, in their domain."""
    with np.errstate(all="ignore"):
        norms = np.nan_to_num(weights * roots, posinf=0.0)
        best = np.nan_to_num(formulation.weights(norms if norms.any() else roots, roots, **task.own), posinf=0.0)
    regulariser = regulariser_of(formulation.name, task.count, task.own)
    return np.maximum(best, 0.0) if regulariser is None else regulariser.feasible(best)


def provable(name: str) -> Formulation:
    chosen = formulations.get(name)
    if chosen.name not in audit.OWN and chosen.name not in families.PARAMETERS:
        raise InputError(f"{chosen.name} is unknown to the checker: solve it, and rely on its certificate")
    return chosen


def record_of(solution: Solution) -> dict[str, Any]:
    """The fields that the checker reads, without δ, for which it finds its own."""
    multipliers = {key: value for key, value in solution.multipliers.items() if key != "second_stage_ridge"}
    certificate = {"stretch": solution.certificate.stretch}
    return {**solution.as_dict(), "multipliers": multipliers, "certificate": certificate}


def evaluated(data: Mapping[str, Any], record: Mapping[str, Any], solution: Solution) -> Proof:
    """What the checker proves at the record's point, or why it refuses it."""
    proof = Proof(solution.formulation, solution.parameters, UNKNOWN, solution=solution)
    evaluate = families.evaluated_file if record["formulation"] in families.PARAMETERS else joint.evaluated_file
    try:
        point = evaluate(data, record)
    except Refused as fault:
        return replace(proof, fault=f"the checker refuses the point that {solution.solver} found ({fault})")
    size = Fraction(0) if point.gain is None else point.gain or point.terms  # where ρ is free there is no gain
    lower, upper = point.stored or (point.lower, point.upper)
    first = Interval(lower, upper, max(outward(point.scale, -1), 0.0), size)
    each = zip(solution.label_names or ("y",), point.stages, strict=False)
    stages = {name: Interval(least, most, outward(unit, -1)) for name, (least, most, unit) in each}
    return replace(proof, interval=first, second_stage=stages, ridge=float(point.ridge))
