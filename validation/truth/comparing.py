"""One cell: the package's interval beside the truth, compared exactly and without any slack."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from flint import fmpq

from enclosures import Enclosure, NotEnclosed, as_float, enclosed
from grid import Cell, made
from mklcvx import Instance, solve
from mklcvx.errors import InputError
from mklcvx.verification.proof import prove
from records import ONE_QUADRATIC, Record, exact, record

LINE = 200


def truth(problem: Record) -> Enclosure:
    """The optimal value: exact for `svm` and `sum`, an interval for the others."""
    if problem.formulation in ONE_QUADRATIC:
        value = problem.optimum().value
        return Enclosure(value, value)
    return enclosed(problem)


def excess(lower: float, upper: float, known: Enclosure) -> float | None:
    """How far an interval lies beside the truth, relative to it; None if it does not. NaN lies beside everything."""
    if math.isnan(lower) or math.isnan(upper):
        return math.inf
    if lower != -math.inf and (lower == math.inf or exact(lower) > known.upper):
        return math.inf if lower == math.inf else _relative(exact(lower) - known.upper, known)
    if upper != math.inf and (upper == -math.inf or exact(upper) < known.lower):
        return math.inf if upper == -math.inf else _relative(known.lower - exact(upper), known)
    return None


def _relative(distance: fmpq, known: Enclosure) -> float:
    size = max(abs(known.lower), abs(known.upper))
    return max(as_float(distance / size if size else distance), math.ulp(0.0))


def compared(cell: Cell) -> dict[str, Any]:
    """What came of a cell.

    `status` is that of the solution, or `proved`, `refused` (kernels that are not semidefinite), `raised`.
    `truth` is `exact`, `enclosed`, `indefinite` (there is nothing to compare with), or why there is none.
    """
    given, parameters = made(cell)
    started = time.perf_counter()
    found = answered(cell, given, parameters)
    found["seconds"] = round(time.perf_counter() - started, 4)
    lower, upper = found.pop("interval", (-math.inf, math.inf))
    problem = record(_Given(**given), cell.formulation, parameters)
    if not problem.concave:
        return {**found, "truth": "indefinite"}
    if found["status"] == "refused":
        found["status"] = "raised"  # what is semidefinite must be taken
    try:
        known = truth(problem)
    except NotEnclosed as fault:
        return {**found, "truth": str(fault)}
    beside = excess(lower, upper, known)
    kind = "exact" if known.lower == known.upper else "enclosed"
    return {**found, "truth": kind, **({} if beside is None else {"excluded": float(f"{beside:.3g}")})}


def answered(cell: Cell, given: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    try:
        instance = Instance(**given)
    except InputError as fault:
        return {"status": "refused", "reason": _line(fault)}
    try:
        if cell.task == "prove":
            proof = prove(instance, cell.formulation, **parameters)
            return {"status": "proved", "interval": (proof.lower, proof.upper), "gap": _short(proof.relative_width)}
        found = solve(instance, cell.formulation, **parameters)
    except Exception as fault:  # any fault is a finding, and ends no other cell
        return {"status": "raised", "reason": _line(fault)}
    known = found.certificate
    said = {"reason": _line(found.message)} if found.message else {}
    gap = _short(known.relative_gap)
    return {"status": found.status, "interval": (float(known.lower), float(known.upper)), "gap": gap, **said}


def _short(number: float) -> float | None:
    return float(f"{number:.2e}") if math.isfinite(number) else None


def _line(fault: Any) -> str:
    name = f"{type(fault).__name__}: " if isinstance(fault, Exception) else ""
    return (name + " ".join(str(fault).split()))[:LINE]


class _Given:
    """What the record needs of an instance, from what the instance was given: the package has no part in the truth."""

    def __init__(self, kernels: Any, y: Any, sample_weight: Any = None) -> None:
        self.kernels, self.y = kernels, np.asarray(y)
        self.sample_weight = np.ones(len(self.y)) if sample_weight is None else sample_weight
