"""One solver on one specimen: the digits it shares with the optimum, its certificate, and whether it is honest.

Digits are −log₁₀ of |value − v*| relative to the problem's scale, at most those that the enclosure of v* supports and
at most MOST. A run is honest if

- its certificate does not contradict the enclosure: lower ≤ v* ≤ upper;
- its point proves that certificate, as recomputed by the judge;
- its status is *certified* only if the requested gap is proved, and otherwise its message says why not.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from ... import formulations
from ...certificate.solution import Solution
from ...defaults import VALIDATE_LARGEST as LARGEST
from ...errors import InputError
from ...io.files import load_solution
from ...solvers.solving import SOLVERS, Solver
from ...verification.answers import Answer
from ...verification.case import Case, Enclosure
from ...verification.judge import judge
from ...zoo import SPECIMENS, specimen
from ..comparison import InWorker, fitting
from ..conformance.references import ProvedCase, case_of
from ..conformance.trials import Room, suitable

QUICK = ("by-hand", "planted-l1", "single-features", "two-samples", "labels-rare", "one-kernel")
MOST = 15.0
FINEST = 1e-9  # the tolerance for which references are made
CERTIFIED, ENDED, FAILED = "certified", "ended", "failed"
ALL_SOLVERS = tuple(solver.name for solver in SOLVERS if solver.name != "auto")


@dataclass(frozen=True)
class Cell:
    """One run. `status` is the solver's own, or "ended" (at the time limit, without an answer), or "failed"; `reason`
    says why the run is not certified or not honest; `proved`: whether the optimum is a golden one."""

    formulation: str
    solver: str
    specimen: str
    status: str
    digits: float | None = None
    gap: float | None = None
    asked: float | None = None
    seconds: float | None = None
    honest: bool | None = None
    reason: str = ""
    proved: bool = False

    def as_dict(self) -> dict[str, object]:
        """The fields, with numbers rounded to four digits."""
        record = asdict(self)
        for name in ("digits", "gap", "seconds"):
            record[name] = None if record[name] is None else float(f"{record[name]:.4g}")
        return record


def plan(quick: bool = False, largest: float = LARGEST) -> list[tuple[str, str]]:
    """Pairs of formulation and specimen with n²M ≤ largest, sorted so that those of a specimen are together."""
    sizes = {known.name: float(known.recorded["samples"] ** 2 * known.recorded["kernels"]) for known in SPECIMENS}
    pairs = [(f.name, name) for f in formulations.FORMULATIONS for name in suitable(f.name) if sizes[name] <= largest]
    return sorted((pair for pair in pairs if not quick or pair[1] in QUICK), key=lambda pair: sizes[pair[1]])


def cells_of(time_limit: float, room: Room, pair: tuple[str, str]) -> list[Cell]:
    """Run every solver of a formulation on one specimen."""
    formulation, name = pair
    case = case_of(specimen(name), formulation, {}, FINEST)
    return [_cell(room, case, solver, name, time_limit) for solver in fitting(formulation)]


def _cell(room: Room, case: ProvedCase, solver: Solver, name: str, time_limit: float) -> Cell:
    attempt = room.attempt(case, InWorker(solver.name), name, time_limit)
    where, proved = (case.formulation.name, solver.name, name), case.proved is not None
    if attempt.fault or attempt.answer is None:
        status, reason = (FAILED, attempt.fault) if attempt.fault else (ENDED, attempt.message)
        return Cell(*where, status, asked=solver.tolerance, reason=reason, proved=proved)
    solution = load_solution(room.folder / "answer.npz")
    lies, gap = _dishonest(case, solution, attempt.answer, solver.tolerance), solution.certificate.relative_gap
    reason = lies or solution.message.partition("; ")[2] or solution.message
    measured = digits(solution.objective, case.known), gap if math.isfinite(gap) else None, solver.tolerance
    return Cell(*where, solution.status, *measured, attempt.seconds, not lies, reason, proved)


def digits(value: float, known: Enclosure) -> float:
    """The digits that a value shares with the optimum, measured from the farther end of the enclosure."""
    distance = max(abs(value - known.lower), abs(value - known.upper)) / known.scale
    return min(MOST, -math.log10(distance)) if distance > 0 else MOST


def _dishonest(case: Case, solution: Solution, answer: Answer, asked: float) -> str:
    """Return what is false in a solver's statement, or an empty text."""
    said, known = solution.certificate, case.known
    if said.lower > known.upper or said.upper < known.lower:
        return "its certificate contradicts the optimum"
    if solution.status == CERTIFIED and not said.proves(asked):
        return "certified without the gap that was asked for"
    if solution.status != CERTIFIED and not solution.message:
        return "not certified, and no reason given"
    try:
        proved = judge(case.formulation, case.task, answer, asked)
    except InputError as fault:
        return f"what it returns cannot be judged: {fault}"
    # Both are proved, with different choices of bias, scaling and ridge; only the requested gap counts.
    if said.proves(asked) and not proved.proves(asked) and proved.gap > said.gap + proved.rounding + proved.ridge_share:
        return f"its point proves a gap of {proved.relative_gap:.1e} only"
    return ""
