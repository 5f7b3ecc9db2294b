"""`verify`: is this answer right, and if not, what is wrong with it?

Every part of the answer is judged against a certified optimum: which constraints it violates, what it proves, how far
that is from the optimal value, relative to the problem's scale. Weights are judged by what they are worth, never one by
one, because optimal weights are often not unique. An answer is accepted if every part is, at the tolerance; one that is
rejected gets a diagnosis. It is undecided where our own certificate is too wide to tell.

`judge` computes the certificate of an answer as a whole; it solves nothing but the SVM of weights that come without α.
α gives the lower bound, coefficients give the upper one; where they are missing, f_m = weight_m K_m(α∘y). Bounds of
single tasks pay for rounding (`proved_answers`): kernels that are not semidefinite make them wide. They use the best
bias, whatever the answer claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import formulations
from ..certificate import Certificate
from ..certificate.solution import plain
from ..defaults import VERDICT_TOLERANCE
from ..errors import InputError, clipped, nearest
from ..formulations import Formulation
from ..formulations._formulation import OfOwn, Own, Parameters, Posed
from ..problem.arguments import takes_kernels
from ..problem.checks import check_dicts, check_flags, check_functions, check_lists, check_type
from ..problem.instance import Instance
from ..problem.numbers import check_tolerance
from .answers import FIELDS, PARTS, Answer, answer_of, nothing_given
from .case import ACCEPTED, REJECTED, AnswerPart, Case, Stated, pose, verdict_of
from .diagnosis.diagnose import Diagnosis, diagnose
from .diagnosis.support import only_support, over_support, without_zeros
from .families import family_of, judged_parts
from .shrinking import shrunk
from .submissions import Submission, Translation, translation
from .uniqueness import Range, outer_ranges

SCHEMA = "mklcvx.report/1"
POINT = ("verdict", "parts", "notes")  # of a report, for every point of a trace
SHARP = 1e-8  # relative gap
TOGETHER = {  # what `together` measures, in words that end in a number
    "alpha_at_weights": "α falls short of the machine with these weights by",
    "weights_at_alpha": "the weights cost more than the best for this α by",
    "coefficients": "the coefficients differ from weights times α by",
}


@dataclass(frozen=True)
class Report:
    """Verdict on an answer, part by part.

    Parameters
    ----------
    formulation : str
        Name of the formulation.
    parameters : dict
        Its parameters.
    tolerance : float
        Relative tolerance of the verdict.
    verdict : {"accepted", "rejected", "undecided"}
        Verdict on the whole answer.
    optimum : Certificate
        Bounds on the optimal value.
    parts : tuple of Part
        Verdict on each part.
    together : dict
        Distances between the parts.
    loose : tuple of Range or None
        Weights that the problem does not determine at this tolerance; () if it determines all, None where that is not
        known or no weights were given.
    diagnosis : Diagnosis or None
        What went wrong.
    notes : tuple of str
        Remarks.
    trace : tuple of Report
        One report for each point of a trace, of which the last decides.
    weights_interval : tuple of Range or None
        For every kernel an interval that contains its weight in all answers within the tolerance; None where that is
        not known or no weights were given.

    Examples
    --------
    >>> import mklcvx
    >>> report = mklcvx.verify(mklcvx.zoo.by_hand(), "l1", objective=1.2)
    >>> report.accepted, report["objective"].verdict(report.tolerance)
    (False, 'rejected')
    """

    formulation: str
    parameters: Parameters
    tolerance: float
    verdict: str
    optimum: Certificate
    parts: tuple[AnswerPart, ...]
    together: dict[str, float] = field(default_factory=dict)
    loose: tuple[Range, ...] | None = None
    diagnosis: Diagnosis | None = None
    notes: tuple[str, ...] = ()
    trace: tuple[Report, ...] = ()
    weights_interval: tuple[Range, ...] | None = None

    def __repr__(self) -> str:
        parts = ", ".join(f"{part.name}={part.verdict(self.tolerance)!r}" for part in self.parts)
        return f"Report({self.formulation!r}, verdict={self.verdict!r}, tolerance={self.tolerance:g},\n       {parts})"

    def __str__(self) -> str:
        """The verdict, what explains it, and how far every part is off, a line for each."""
        lines = [f"{self.formulation}: {self.verdict} at {self.tolerance:g}"]
        lines += [] if self.diagnosis is None else [f"diagnosis: {self.diagnosis.words}"]
        lines += [f"optimum: between {self.optimum.lower:.11g} and {self.optimum.upper:.11g}"]
        for part in self.parts:
            broken = [f"{rule} violated by {by:.1e}" for rule, by in part.violations if by > self.tolerance]
            said = "; ".join(filter(None, [f"off by {part.off:.1e}", *broken, part.note]))
            lines.append(f"{part.name}: {part.verdict(self.tolerance)}, {said}")
        return "\n".join([*lines, *self.notes])

    @property
    def accepted(self) -> bool:
        """Whether every part is accepted."""
        return self.verdict == ACCEPTED

    def __getitem__(self, name: str) -> AnswerPart:
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(f"{name!r} was not given: {', '.join(part.name for part in self.parts)} were")

    def as_dict(self) -> dict[str, object]:
        """Convert the report to plain lists, numbers and strings.

        Returns
        -------
        dict
            Fields by name.
        """
        within = self.weights_interval
        return {
            "schema": SCHEMA,
            "formulation": self.formulation,
            "parameters": dict(self.parameters),
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "optimum": self.optimum.as_dict(),
            "parts": [part.as_dict(self.tolerance) for part in self.parts],
            "together": {name: plain(value) for name, value in self.together.items()},
            "loose_weights": None if self.loose is None else [interval._asdict() for interval in self.loose],
            "weights_interval": None if within is None else [interval.as_dict() for interval in within],
            "diagnosis": None if self.diagnosis is None else self.diagnosis.as_dict(),
            "notes": list(self.notes),
            "trace": [{k: v for k, v in point.as_dict().items() if k in POINT} for point in self.trace],
        }


@takes_kernels
def verify(
    instance: Instance,
    formulation: str | None = None,
    *,
    weights: ArrayLike | None = None,
    alpha: ArrayLike | None = None,
    bias: ArrayLike | bool | None = None,
    coefficients: ArrayLike | None = None,
    multipliers: Mapping[str, object] | None = None,
    objective: float | None = None,
    trace: Iterable[Mapping[str, object]] | None = None,
    tol: float = VERDICT_TOLERANCE,
    diagnosis: bool = True,
    convention: str | Translation | None = None,
    parameters: Mapping[str, object] | None = None,
    **others: object,
) -> Report:
    """Judge an answer: any of its parts, or the points of a trace.

    Parameters
    ----------
    instance : Instance
        Kernels and targets. In its place, kernels (M, n, n) and y (n,) can be given as two arguments.
    formulation : str, optional
        Name of the formulation. A convention says it, too.
    weights : array_like of shape (M,), optional
        Kernel weights of the answer.
    alpha : array_like of shape (n,), optional
        Dual variables of the answer.
    bias : float or array_like or bool, optional
        Bias of the answer. True or false is the parameter of that name, which says whether there is one.
    coefficients : array_like of shape (M, n), optional
        Coefficients of the answer.
    multipliers : dict, optional
        Other dual variables of the answer, by name.
    objective : float, optional
        Value that the answer claims.
    trace : iterable of dict, optional
        Points of a trace, each with any of these parts. The last one decides.
    tol : float, default=1e-6
        Relative tolerance of the verdict.
    diagnosis : bool, default=True
        Whether to search for what went wrong.
    convention : str or callable, optional
        Whose notation the parameters and the answer are in (`mklcvx.verification.conventions`), or a function that
        converts a submission before it is judged.
    parameters : dict, optional
        Parameters of the formulation.
    **others : dict
        Parameters of the formulation by name, for example C=1.0.

    Returns
    -------
    Report
        The verdict on each part and on the whole.

    Raises
    ------
    InputError
        If an argument cannot be used.

    See Also
    --------
    conform : Judge a solver on many problems.

    Examples
    --------
    >>> import mklcvx
    >>> instance = mklcvx.zoo.by_hand()
    >>> mklcvx.verify(instance, "l1", objective=1.125).verdict
    'accepted'
    >>> mklcvx.verify(instance, "l1", objective=1.2).verdict
    'rejected'
    """
    check_dicts(parameters=parameters, multipliers=multipliers)
    check_type((str, type(None)), "a string", formulation=formulation)
    check_flags(diagnosis=diagnosis)
    check_lists("a list of dicts", trace=() if trace is None else trace)
    if convention is not None and not isinstance(convention, str):
        check_functions(convention=convention)
    settings = {**(parameters or {}), **others}
    if isinstance(bias, bool | np.bool_):
        settings["bias"], bias = bool(bias), None
    record = dict(zip(PARTS, (weights, alpha, bias, coefficients, multipliers, objective), strict=True))
    steps = [] if trace is None else list(trace)
    for step in steps:
        check_type(Mapping, "a list of dicts, the points of one", trace=step)
    if trace is not None and not steps:
        raise InputError("answer: the trace has no points: give at least one")
    submission = Submission(instance, formulation or "", settings, answer_of(record), tuple(map(answer_of, steps)))
    if convention is not None:
        with np.errstate(all="ignore"):  # as below
            submission = (translation(convention) if isinstance(convention, str) else convention)(submission)
        if not isinstance(submission, Submission):
            raise InputError("convention: the function returned no Submission: give one that returns what it converts")
    return judge_submission(submission, tol, diagnosis)


@np.errstate(all="ignore")  # what overflows is judged, and found wanting
def judge_submission(submission: Submission, tol: float, diagnosis: bool = True) -> Report:
    """As `verify`, for a submission."""
    check_tolerance(tol, "a relative tolerance such as 1e-6")
    if not submission.formulation:
        raise InputError("formulation: none is given: name one such as 'l1', or the convention of the answer")
    answer, trace, notes = submission.answer, submission.trace, submission.notes
    if not answer.given and not trace:
        _check_names(submission)
        raise nothing_given(submission.contents)
    submission.instance.check_unchanged()
    case = pose(submission.instance, submission.formulation, submission.parameters, float(tol))
    judged = tuple(_report(case, point, tol, thorough=False) for point in trace)
    if not answer.given:
        answer, notes = trace[-1], (*notes, "the last point of the trace decides")
    report = _report(case, answer, tol, diagnosis, submission.stated)
    return replace(report, trace=judged, notes=(*notes, *report.notes))


def _check_names(submission: Submission) -> None:
    """Refuse a part whose name is misspelt, which was taken for a parameter."""
    known = formulations.get(submission.formulation).parameter_names
    for name in submission.parameters:
        if name not in known and (hint := nearest(name, PARTS)).startswith("did"):
            raise InputError(f"answer: {clipped(name, 40)!r} is no part of an answer, and no parameter: {hint}")


def _report(case: Case, answer: Answer, tol: float, thorough: bool, stated: Stated = None) -> Report:
    spread = over_support(case, answer)
    if spread is not None and answer.alpha is not None:
        report, count = _report(case, spread, tol, False), answer.alpha.size
        if report.accepted:
            parts = without_zeros(report.parts, 1 - count / case.task.samples)
            diagnosis = only_support(count, case.task.samples) if thorough else None
            return replace(report, verdict=REJECTED, parts=parts, diagnosis=diagnosis)
    return _judged(case, answer, tol, thorough, stated)


def _judged(case: Case, answer: Answer, tol: float, thorough: bool, stated: Stated) -> Report:
    parts, known = judged_parts(case, answer, rigorous=True)
    verdict = verdict_of(parts, tol)
    family = family_of(case.formulation)
    loose = family.ranges(case, tol) if thorough and answer.weights is not None else None
    notes = [f"the optimum itself could only be enclosed to {known.width:.1e}"] if known.width > tol / 10 else []
    ignored = [name for name in answer.multipliers if name not in {part.name for part in parts}]
    notes += [f"not judged: {', '.join(sorted(map(str, ignored)))}"] if ignored else []
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
        weights_interval=outer_ranges(case, tol) if thorough and answer.weights is not None else None,
    )


def judge(formulation: Formulation, task: Posed, answer: Answer, tolerance: float = SHARP) -> Certificate:
    """The bounds that an answer proves. If it gives only one side, a point that is known without a solver serves for
    the other. Bounds are no sharper than the tolerance needs."""
    if all(getattr(answer, name) is None for name in FIELDS):
        raise InputError(f"answer: has none of {', '.join(FIELDS)}: write at least weights or alpha")
    with np.errstate(all="ignore"):
        certificate = family_of(formulation).certificate(formulation, task, answer, tolerance)
    if not np.isfinite([certificate.lower, certificate.upper]).all():
        raise InputError("answer: its objective is not finite: give numbers of moderate size")
    return certificate


@takes_kernels
def shrink(
    instance: Instance,
    formulation: str,
    solver: OfOwn[Mapping[str, object]],
    *,
    tol: float = VERDICT_TOLERANCE,
    **parameters: object,
) -> Instance:
    """Find a small part of an instance on which a solver's answer is still rejected.

    Parameters
    ----------
    instance : Instance
        Kernels and targets on which the solver fails. In its place, kernels and y can be given as two arguments.
    formulation : str
        Name of the formulation.
    solver : callable
        Function solver(instance, **parameters) that returns what it has, named as for `verify`. A solver that raises an
        error, or returns what cannot be judged, fails.
    tol : float, default=1e-6
        Relative tolerance of the verdict.
    **parameters : dict
        Parameters of the formulation.

    Returns
    -------
    Instance
        The smallest part found.

    Raises
    ------
    InputError
        If the solver does not fail on the instance.

    Examples
    --------
    >>> import mklcvx
    >>> def wrong(instance, **parameters):
    ...     return {"objective": 0.0}
    >>> mklcvx.shrink(mklcvx.zoo.random(12, 3), "l1", wrong).samples
    2
    """

    check_tolerance(tol)

    def fails(part: Instance) -> bool:
        formulations.get(formulation).posed_for(part, parameters).task(part, parameters)
        try:
            answer: dict[str, Own] = dict(solver(part, **parameters))
            return not verify(part, formulation, tol=tol, diagnosis=False, parameters=parameters, **answer).accepted
        except Exception:  # whatever a stranger's code may raise or return
            return True

    return shrunk(instance, fails)
