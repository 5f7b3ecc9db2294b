"""The problem that an answer is judged against, with its certified optimum, and the parts of the answer, judged.

Let L ≤ v* ≤ U enclose the optimal value and let s be its scale, that of the certificate. A part that proves an upper
bound v has the excess (v − L)/s, one that proves a lower bound (U − v)/s, a claimed value the larger of both, none
below zero: at least what it is off by, at most (U − L)/s more. It is accepted at a tolerance if no constraint is
violated by more, relatively, and the excess is not above it. Where the enclosure is too wide, it is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple

from .. import formulations
from ..certificate import Certificate, CertifiedPoint
from ..certificate.residuals import check_pair
from ..certificate.solution import Solution, plain
from ..errors import InputError
from ..formulations._formulation import FormulationT, Given, Parameters, TaskT
from ..formulations.losses import OWN
from ..problem.instance import Instance

ACCEPTED, REJECTED, UNDECIDED = "accepted", "rejected", "undecided"
FITS = 1e-6  # excess that a hypothesis may leave: an answer is as accurate as its author made it
SHARP = 1e-10  # what is asked of the reference
FINER = 0.01  # share of the tolerance that the reference should reach
SAMPLE_SIDE = ("loss", "C", "nu", "bias", *OWN)  # nu is one of OWN, too


Stated = tuple[str, Given] | None  # formulation and parameters that an answer says it is for


class Violation(NamedTuple):
    """A constraint and its violation, relative to the size of what it constrains."""

    constraint: str
    by: float


def or_infinite(number: float) -> float:
    """The number; what is none, such as a difference of infinite ones, is no small one."""
    return math.inf if math.isnan(number) else number


class Enclosure(NamedTuple):
    """lower ≤ optimal value ≤ upper, and the scale that differences are measured by."""

    lower: float
    upper: float
    scale: float

    @property
    def width(self) -> float:
        return max(self.upper - self.lower, 0.0) / self.scale

    def tightened(self, parts: Sequence[AnswerPart]) -> Enclosure:
        """The enclosure with the bounds that the parts prove, where they are tighter."""
        lowers = [part.value for part in parts if part.proves == "lower" and part.value is not None]
        uppers = [part.value for part in parts if part.proves == "upper" and part.value is not None]
        return self._replace(lower=max([self.lower, *lowers]), upper=min([self.upper, *uppers]))


def enclosure_of(certificate: Certificate) -> Enclosure:
    """The bounds of a certificate, with the scale that its gap is compared with."""
    return Enclosure(certificate.lower, certificate.upper, certificate.base or 1.0)


@dataclass(frozen=True)
class AnswerPart:
    """A part of an answer. `proves` says what `value` is: a "lower" or "upper" bound, or a "claim"; where it is
    neither, `excess` is given. `note` says how the part was judged. `decided` parts are judged by their violations
    alone."""

    name: str
    violations: tuple[Violation, ...] = ()
    proves: str = ""
    value: float | None = None
    excess: float | None = None
    slack: float = 0.0
    note: str = ""
    decided: bool = False

    def measured(self, known: Enclosure) -> AnswerPart:
        if self.value is None or self.excess is not None:
            return self
        above, below = (self.value - known.lower) / known.scale, (known.upper - self.value) / known.scale
        excess = {"upper": above, "lower": below, "claim": max(above, below)}[self.proves]
        return replace(self, excess=max(excess, 0.0), slack=known.width)

    @property
    def violation(self) -> float:
        return max((or_infinite(violation.by) for violation in self.violations), default=0.0)

    @property
    def conclusive(self) -> bool:
        """Whether more is known of the part than that it lies in its domain."""
        return self.excess is not None or self.value is not None or self.decided

    @property
    def off(self) -> float:
        """The larger of violation and excess: the tolerance at which the part would be accepted."""
        return max(self.violation, or_infinite(self.excess or 0.0))

    def verdict(self, tolerance: float) -> str:
        if self.off <= tolerance:
            return ACCEPTED
        surely = max(self.violation, or_infinite(self.excess or 0.0) - self.slack)
        return REJECTED if surely > tolerance else UNDECIDED

    def as_dict(self, tolerance: float) -> dict[str, object]:
        return {
            "part": self.name,
            "verdict": self.verdict(tolerance),
            "violations": {constraint: plain(by) for constraint, by in self.violations},
            "proves": self.proves or None,
            "value": plain(self.value),
            "excess": plain(self.excess),
            "note": self.note,
        }


def verdict_of(parts: Sequence[AnswerPart], tolerance: float) -> str:
    """Rejected if any part is; accepted if all are."""
    verdicts = {part.verdict(tolerance) for part in parts}
    return REJECTED if REJECTED in verdicts else UNDECIDED if UNDECIDED in verdicts else ACCEPTED


@dataclass(frozen=True)
class Case(Generic[FormulationT, TaskT]):
    """An instance and a formulation with all its parameters; it is solved when its optimum is first asked for.
    Formulation and task belong to one family, which knows their types."""

    instance: Instance
    formulation: FormulationT
    parameters: Parameters
    task: TaskT
    tolerance: float

    @property
    def sample_side(self) -> Parameters:
        """The parameters of the samples' side: loss, price, bias and what the loss has of its own."""
        return {name: value for name, value in self.parameters.items() if name in SAMPLE_SIDE}

    @cached_property
    def reference(self) -> Solution:
        """The certified optimum, to a finer tolerance: by `interior`, and by `clarabel` where that does not apply or
        does not reach it. The better certificate is kept."""
        from ..solvers.solving import SOLVERS, solve

        methods = {solver.name: solver for solver in SOLVERS}
        name, finer, solutions = self.formulation.name, FINER * self.tolerance, []
        for solver in ("interior", "clarabel"):
            serves = methods[solver].serves
            if (serves is None or name in serves) and methods[solver].takes(self.task):
                solutions.append(solve(self.instance, name, solver=solver, tol=min(SHARP, finer), **self.parameters))
                if solutions[-1].certificate.relative_gap <= max(finer, 10 * SHARP):
                    break
        return min(solutions, key=lambda solution: solution.certificate.gap)

    @cached_property
    def known(self) -> Enclosure:
        return enclosure_of(self.reference.certificate)


@dataclass(frozen=True)
class Altered(Case[FormulationT, TaskT]):
    """A case whose task is another than its instance makes; only its optimal value is known."""

    @cached_property
    def point(self) -> CertifiedPoint:
        from ..solvers.solving import solver_named

        method = solver_named("auto", self.formulation)
        sharp, unlimited = max(FINER * self.tolerance, SHARP), {"time_limit": None, "max_iter": None}
        return method.run(self.formulation, self.task, sharp, options={}, **unlimited)[0]

    @cached_property
    def known(self) -> Enclosure:
        return enclosure_of(self.point.certificate)


def pose(instance: Instance, name: str, given: Given, tolerance: float) -> Case:
    """Pose the problem that answers are judged against, at the tolerance."""
    stated = formulations.get(name)
    formulation = stated.posed_for(instance, given)
    task, parameters = formulation.task(instance, given)
    if parameters.get("approximate"):
        raise InputError("parameter approximate = true asks for a formula, not for an optimum: leave it out to verify")
    return Case(instance, formulation, parameters, task, tolerance)


def pose_solved(instance: Instance, solution: Solution, tolerance: float = 0.5) -> Case:
    """Pose the problem of a solution again, whose kernels must be those of the instance as they are."""
    check_pair(instance, solution)
    if solution.preprocessing is not None:
        raise InputError("solution: it has steps of preprocessing: apply them to all kernels, and solve those")
    return pose(instance, solution.formulation, solution.parameters, tolerance)
