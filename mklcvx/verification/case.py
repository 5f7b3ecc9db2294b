"""The problem that an answer is judged against, with its certified optimum, and the parts of the answer, judged.

Let L ≤ v* ≤ U enclose the optimal value and let s be its scale, that of the certificate. A part that proves an upper
bound v has the excess (v − L)/s, one that proves a lower bound (U − v)/s, a claimed value the larger of both, none
below zero: at least what it is off by, at most (U − L)/s more. It is accepted at a tolerance if no constraint is
violated by more, relatively, and the excess is not above it. Where the enclosure is too wide, it is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from .. import formulations
from ..certificate import Certificate
from ..certificate.solution import Solution, plain
from ..errors import InputError
from ..problem.instance import Instance

ACCEPTED, REJECTED, UNDECIDED = "accepted", "rejected", "undecided"
FITS = 1e-6  # a hypothesis may leave this much, since the answer is as exact as its author made it
SHARP = 1e-10  # what is asked of the reference
FINER = 0.01  # of the tolerance: how much more exact the reference should be than what it judges


class Violation(NamedTuple):
    """A constraint and by how much it is violated, relative to the size of what it constrains."""

    constraint: str
    by: float


class Enclosure(NamedTuple):
    """lower ≤ optimal value ≤ upper, and the scale that differences are measured by."""

    lower: float
    upper: float
    scale: float

    @property
    def width(self) -> float:
        return max(self.upper - self.lower, 0.0) / self.scale

    def tightened(self, parts: Sequence[Part]) -> Enclosure:
        """What the parts prove is true as well, and may be more than what was known."""
        lowers = [part.value for part in parts if part.proves == "lower" and part.value is not None]
        uppers = [part.value for part in parts if part.proves == "upper" and part.value is not None]
        return self._replace(lower=max([self.lower, *lowers]), upper=min([self.upper, *uppers]))


def enclosure_of(certificate: Certificate) -> Enclosure:
    """With the scale that the certificate compares its gap with."""
    scale = certificate.size if certificate.vanishing else certificate.scale
    return Enclosure(certificate.lower, certificate.upper, scale or 1.0)


@dataclass(frozen=True)
class Part:
    """`proves` says what `value` is: a "lower" or "upper" bound, or a "claim"; `excess` may be given where neither
    fits. `note` says what was done to judge the part; `decided` parts are right or wrong by their violations alone."""

    name: str
    violations: tuple[Violation, ...] = ()
    proves: str = ""
    value: float | None = None
    excess: float | None = None
    slack: float = 0.0
    note: str = ""
    decided: bool = False

    def measured(self, known: Enclosure) -> Part:
        if self.value is None or self.excess is not None:
            return self
        above, below = (self.value - known.lower) / known.scale, (known.upper - self.value) / known.scale
        excess = {"upper": above, "lower": below, "claim": max(above, below)}[self.proves]
        return replace(self, excess=max(excess, 0.0), slack=known.width)

    @property
    def violation(self) -> float:
        return max((violation.by for violation in self.violations), default=0.0)

    @property
    def conclusive(self) -> bool:
        """Whether something is said of the part beyond that it lies in its domain."""
        return self.excess is not None or self.value is not None or self.decided

    @property
    def off(self) -> float:
        """The larger of violation and excess: the tolerance at which the part would be accepted."""
        return max(self.violation, self.excess or 0.0)

    def verdict(self, tolerance: float) -> str:
        if self.off <= tolerance:
            return ACCEPTED
        surely = max(self.violation, (self.excess or 0.0) - self.slack)
        return REJECTED if surely > tolerance else UNDECIDED

    def as_dict(self, tolerance: float) -> dict[str, Any]:
        return {
            "part": self.name,
            "verdict": self.verdict(tolerance),
            "violations": {constraint: plain(by) for constraint, by in self.violations},
            "proves": self.proves or None,
            "value": plain(self.value),
            "excess": plain(self.excess),
            "note": self.note,
        }


def verdict_of(parts: Sequence[Part], tolerance: float) -> str:
    """Rejected if any part is; accepted if all are."""
    verdicts = {part.verdict(tolerance) for part in parts}
    return REJECTED if REJECTED in verdicts else UNDECIDED if UNDECIDED in verdicts else ACCEPTED


@dataclass(frozen=True)
class Case:
    """An instance and a formulation with all its parameters; solved when the optimum is first asked for. Formulation
    and task are those of one family, whose functions take them as such."""

    instance: Instance
    formulation: Any
    parameters: dict[str, Any]
    task: Any
    tolerance: float

    @cached_property
    def reference(self) -> Solution:
        """Finer than the tolerance: by `interior`, and where that does not serve or does not get there by `clarabel`;
        the better certificate is kept."""
        from ..solvers.solving import SOLVERS, solve

        served = {solver.name: solver.serves for solver in SOLVERS}
        name, finer, found = self.formulation.name, FINER * self.tolerance, []
        for solver in ("interior", "clarabel"):
            serves = served[solver]
            if serves is None or name in serves:
                found.append(solve(self.instance, name, solver=solver, tol=min(SHARP, finer), **self.parameters))
                if found[-1].certificate.relative_gap <= max(finer, 10 * SHARP):
                    break
        return min(found, key=lambda solution: solution.certificate.gap)

    @cached_property
    def known(self) -> Enclosure:
        return enclosure_of(self.reference.certificate)


@dataclass(frozen=True)
class Altered(Case):
    """A case with another task than its instance makes: its optimal value is what is known of it."""

    @cached_property
    def point(self) -> Any:
        from ..solvers.solving import solver_named

        given: dict[str, Any] = {"time_limit": None, "max_iter": None, "options": {}}
        method = solver_named("auto", self.formulation)
        return method.run(self.formulation, self.task, max(FINER * self.tolerance, SHARP), **given)[0]

    @cached_property
    def known(self) -> Enclosure:
        return enclosure_of(self.point.certificate)


def pose(instance: Instance, name: str, given: Mapping[str, Any], tolerance: float) -> Case:
    """A problem to judge answers at the tolerance."""
    formulation = formulations.get(name)
    task, parameters = formulation.task(instance, given)
    if parameters.get("approximate"):
        raise InputError("parameter approximate = true asks for a formula, not for an optimum: leave it out to verify")
    return Case(instance, formulation, parameters, task, tolerance)
