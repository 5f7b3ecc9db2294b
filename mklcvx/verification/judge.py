"""`verify`: is this answer right, and if not, what is wrong with it?

Whatever its author has is judged part by part against a certified optimum: what it violates, what it proves, how far
that is from the optimal value, relative to the problem's scale. Weights are judged by what they are worth, never one by
one, since optimal weights are often not unique. An answer is accepted if every part is, at the tolerance; one that is
rejected gets a diagnosis. It is undecided where our own certificate is too wide to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import formulations
from ..certificate import Certificate
from ..certificate.solution import plain
from ..errors import InputError
from ..problem.instance import Instance
from ..problem.numbers import check_tolerance
from .answers import Answer, answer_of
from .families import family_of
from .judging import Case, Diagnosis, Part, diagnose, judged_parts, pose
from .parts import ACCEPTED, REJECTED, verdict_of
from .shrinking import shrunk
from .submissions import Submission, Translation, translation
from .uniqueness import Range

SCHEMA = "mklcvx.report/1"
PARTS = ("weights", "alpha", "bias", "coefficients", "multipliers", "objective")


@dataclass(frozen=True)
class Report:
    """What was found. `together` has distances between the parts (see `families.single_task`); `loose` has a
    `uniqueness.Range` for every kernel whose weight the problem does not determine at this tolerance, () if it
    determines all, None where that is not known or no weights were given; `trace` has one report for every point of a
    trace, of which the last decides."""

    formulation: str
    parameters: dict[str, Any]
    tolerance: float
    verdict: str
    optimum: Certificate
    parts: tuple[Part, ...]
    together: dict[str, float] = field(default_factory=dict)
    loose: tuple[Range, ...] | None = None
    diagnosis: Diagnosis | None = None
    notes: tuple[str, ...] = ()
    trace: tuple[Report, ...] = ()

    @property
    def accepted(self) -> bool:
        return self.verdict == ACCEPTED

    def __getitem__(self, name: str) -> Part:
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(f"{name!r} was not given: {', '.join(part.name for part in self.parts)} were")

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": dict(self.parameters),
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "optimum": self.optimum.as_dict(),
            "parts": [part.as_dict(self.tolerance) for part in self.parts],
            "together": {name: plain(value) for name, value in self.together.items()},
            "loose_weights": None if self.loose is None else [one._asdict() for one in self.loose],
            "diagnosis": None if self.diagnosis is None else self.diagnosis.as_dict(),
            "notes": list(self.notes),
            "trace": [{k: v for k, v in point.as_dict().items() if k in POINT} for point in self.trace],
        }


POINT = ("verdict", "parts", "notes")


def verify(
    instance: Instance,
    formulation: str | None = None,
    *,
    weights: Any = None,
    alpha: Any = None,
    bias: Any = None,
    coefficients: Any = None,
    multipliers: Mapping[str, Any] | None = None,
    objective: float | None = None,
    trace: Iterable[Mapping[str, Any]] | None = None,
    tol: float = 1e-6,
    diagnosis: bool = True,
    convention: str | Translation | None = None,
    parameters: Mapping[str, Any] | None = None,
    **others: Any,
) -> Report:
    """Judge an answer: any of its parts, or the points of a trace, each a mapping with any of them.

    Parameters are those of `solve`, by name or as a mapping. `bias` is the answer's; true or false is the parameter of
    that name, which says whether there is one. `diagnosis=False` leaves out the search for what went wrong.
    `convention` is whose notation the parameters and the answer are in (`mklcvx.verification.conventions`), or a
    function that turns a submission into ours before it is judged. Such a name says what the formulation is, too.
    """
    settings = {**(parameters or {}), **others}
    if isinstance(bias, bool | np.bool_):
        settings["bias"], bias = bool(bias), None
    given = (weights, alpha, bias, coefficients, multipliers, objective)
    record = {name: value for name, value in zip(PARTS, given, strict=True) if value is not None}
    points = () if trace is None else tuple(answer_of(point) for point in trace)
    if trace is not None and not points:
        raise InputError("answer: the trace has no points: give at least one")
    return judge_submission(
        Submission(instance, formulation or "", settings, answer_of(record), points),
        tol,
        diagnosis,
        translation(convention) if isinstance(convention, str) else convention,
    )


def judge_submission(
    submission: Submission, tol: float, diagnosis: bool = True, convention: Translation | None = None
) -> Report:
    """As `verify`, for what has been read."""
    check_tolerance(tol, "a relative tolerance such as 1e-6")
    submission = submission if convention is None else convention(submission)
    if not submission.formulation:
        raise InputError("formulation: none is given: name one such as 'l1', or the convention of the answer")
    answer, trace, notes = submission.answer, submission.trace, submission.notes
    if not answer.given and not trace:
        raise InputError(f"answer: has none of {', '.join(PARTS)}: give at least one of them")
    submission.instance.check_unchanged()
    case = pose(submission.instance, submission.formulation, submission.parameters, float(tol))
    judged = tuple(_report(case, point, tol, thorough=False) for point in trace)
    if not answer.given:
        answer, notes = trace[-1], (*notes, "the last point of the trace decides")
    report = _report(case, answer, tol, diagnosis, submission.stated)
    return replace(report, trace=judged, notes=(*notes, *report.notes))


def _report(
    case: Case, answer: Answer, tol: float, thorough: bool, stated: tuple[str, dict[str, Any]] | None = None
) -> Report:
    parts, known = judged_parts(case, answer, rigorous=True)
    verdict = verdict_of(parts, tol)
    family = family_of(case.formulation)
    loose = family.ranges(case, tol) if thorough and answer.weights is not None else None
    notes = [f"the optimum itself could only be enclosed to {known.width:.1e}"] if known.width > tol / 10 else []
    ignored = [name for name in answer.multipliers if name not in {part.name for part in parts}]
    notes += [f"not judged: {', '.join(sorted(ignored))}"] if ignored and thorough else []
    return Report(
        formulation=case.formulation.name,
        parameters=case.parameters,
        tolerance=float(tol),
        verdict=verdict,
        optimum=Certificate(known.lower, known.upper, known.scale),
        parts=tuple(parts),
        together=family.together(case, answer) if thorough else {},
        loose=None if loose is None else tuple(loose),
        diagnosis=diagnose(case, answer, parts, tol, stated) if thorough and verdict == REJECTED else None,
        notes=tuple(notes),
    )


def shrink(
    instance: Instance,
    formulation: str,
    solver: Callable[..., Mapping[str, Any]],
    *,
    tol: float = 1e-6,
    **parameters: Any,
) -> Instance:
    """The smallest part found of an instance on which a solver's answer is still rejected.

    `solver(instance, **parameters)` returns what it has, named as for `verify`. A solver that raises an error, or
    returns what cannot be judged, fails.
    """

    def fails(part: Instance) -> bool:
        formulations.get(formulation).task(part, parameters)
        try:
            answer = dict(solver(part, **parameters))
            return not verify(part, formulation, tol=tol, diagnosis=False, parameters=parameters, **answer).accepted
        except Exception:  # whatever a stranger's code may raise or return
            return True

    return shrunk(instance, fails)
