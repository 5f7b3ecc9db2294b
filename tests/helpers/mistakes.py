"""Mistakes that implementers of multiple kernel learning make, each with the answer that it leads to.

An answer is made by code: from a right one that is then spoiled, or by a solver that solves the wrong problem. What the
judge should say of each, `says`, was written down in plain words before it was run, by a hand that did not know how
the judge works; `named` is the name that it has for it, and None where it has none yet: that answer is rejected, but
not explained. Where the expectation was written as a `pattern`, the report's words must match it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from mklcvx import Instance, Report, Solution, solve, verify, zoo

Parts = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """The problem that was to be solved."""

    instance: Instance
    formulation: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def right(self) -> Solution:
        return self.other()

    def other(self, formulation: str | None = None, instance: Instance | None = None, **changed: Any) -> Solution:
        """The solution of another problem; a parameter that is None is taken out."""
        given = {key: value for key, value in {**self.parameters, **changed}.items() if value is not None}
        return solve(instance or self.instance, formulation or self.formulation, tol=1e-9, **given)


def parts(solution: Solution, *names: str) -> Parts:
    """What most solvers return; `names` to choose among it."""
    wanted = names or ("weights", "alpha", "bias", "objective")
    found = {name: getattr(solution, name) for name in wanted}
    return {name: value for name, value in found.items() if value is not None}


Make = Callable[[Case], Parts]


def check(report: Report, named: str | None) -> None:
    """Rejected, and by the name that the judge has for it; some of its words may follow a colon."""
    assert report.verdict == "rejected"
    assert report.diagnosis is not None
    if named is None:
        assert report.diagnosis.name in ("unknown", "stopped_early", "one_kernel")
        return
    name, _, words = named.partition(": ")
    assert report.diagnosis.name == name
    assert words in report.diagnosis.words


@dataclass(frozen=True)
class Mistake:
    name: str
    instance: Callable[[], Instance]
    formulation: str
    parameters: dict[str, Any]
    says: str
    make: Callable[[Case], Parts]
    named: str | None = None
    pattern: str = ""
    tol: float = 1e-6

    def case(self) -> Case:
        return Case(self.instance(), self.formulation, self.parameters)

    def report(self) -> Report:
        case = self.case()
        return verify(case.instance, self.formulation, tol=self.tol, parameters=self.parameters, **self.make(case))


@cache
def specimen_named(name: str) -> Instance:
    return zoo.specimen(name).instance()


def centred(instance: Instance) -> Instance:
    """The same samples, every kernel centred in its own space."""
    away = np.eye(instance.samples) - 1 / instance.samples
    kernels = away @ instance.kernels @ away
    return instance.with_kernels((kernels + kernels.transpose(0, 2, 1)) / 2)


def of_unit_trace(instance: Instance) -> Instance:
    return instance.with_kernels(instance.kernels / np.trace(instance.kernels, axis1=1, axis2=2)[:, None, None])


def register(found: list[Mistake]) -> Callable[..., Any]:
    """A decorator that appends a mistake to the list; the function's name is its name."""

    def mistake(
        on: str | Callable[[], Instance], formulation: str, says: str, named: str | None = None, pattern: str = "",
        tol: float = 1e-6, **given: Any,
    ) -> Callable[[Make], Make]:  # fmt: skip
        instance = partial(specimen_named, on) if isinstance(on, str) else on

        def keep(make: Make) -> Make:
            name = make.__name__.strip("_").replace("_", "-")
            found.append(Mistake(name, instance, formulation, given, says, make, named, pattern, tol))
            return make

        return keep

    return mistake
