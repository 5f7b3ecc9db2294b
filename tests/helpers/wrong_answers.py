"""Wrong answers and what the judge should say of them: one schema, in which three corpora are written (`corpora.py`).

An answer is made by code: from a right one that is then spoiled, or by a solver that solves the wrong problem. What the
judge should say of each, `says`, was written down before it was run; `named` is the name that it has for it, and None
where it has none yet: that answer is rejected, but not explained. Where the expectation was written as a `pattern`, the
report's words must match it, unless they are other words that are as true (`other_words`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any

from mklcvx import Instance, Report, Solution, verify, zoo
from solved_once import solved_once

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
        return solved_once(instance or self.instance, formulation or self.formulation, tol=1e-9, **given)


Make = Callable[[Case], Parts]


@dataclass(frozen=True)
class WrongAnswer:
    """`make` makes the answer; `really` is the instance that was really solved, where it is another one."""

    name: str
    instance: Callable[[], Instance]
    formulation: str
    parameters: dict[str, Any]
    says: str
    make: Make
    named: str | None = None
    pattern: str = ""
    other_words: bool = False
    tol: float = 1e-6
    really: Instance | None = None

    @property
    def case(self) -> Case:
        return Case(self.instance(), self.formulation, self.parameters)

    def report(self, **changed: Any) -> Report:
        """The judge's; `changed` are other arguments of `verify`."""
        case = self.case
        given = {"tol": self.tol, "parameters": self.parameters, **self.make(case), **changed}
        return verify(given.pop("instance", case.instance), self.formulation, **given)


@dataclass(frozen=True)
class Corpus:
    """The wrong answers of one hand. `blind`: how many of how many the judge named when it was first tried on them."""

    name: str
    answers: list[WrongAnswer]
    blind: tuple[int, int]


def parts(solution: Solution, *names: str) -> Parts:
    """What most solvers return; `names` to choose among it."""
    wanted = names or ("weights", "alpha", "bias", "objective")
    found = {name: getattr(solution, name) for name in wanted}
    return {name: value for name, value in found.items() if value is not None}


def check(answer: WrongAnswer) -> None:
    """Rejected, and by the name that the judge has for it; some of its words may follow a colon."""
    report = answer.report()
    assert report.verdict == "rejected"
    assert report.diagnosis is not None
    assert report.diagnosis.words
    if answer.named is None:
        assert report.diagnosis.name in ("unknown", "converged", "stopped_early", "one_kernel")
        return
    name, _, words = answer.named.partition(": ")
    assert report.diagnosis.name == name
    assert words in report.diagnosis.words
    if not answer.other_words:
        assert re.search(answer.pattern, f"{report.diagnosis.name} {report.diagnosis.words}", re.IGNORECASE)


@cache
def specimen(name: str) -> Instance:
    return zoo.specimen(name).instance()


def register(found: list[WrongAnswer]) -> Callable[..., Any]:
    """A decorator that appends a wrong answer to the list; the function's name is its name, and what is none of the
    schema's fields is a parameter of the formulation."""

    def wrong(
        on: str | Callable[[], Instance], formulation: str, says: str, named: str | None = None, pattern: str = "",
        other_words: bool = False, tol: float = 1e-6, **given: Any,
    ) -> Callable[[Make], Make]:  # fmt: skip
        instance = partial(specimen, on) if isinstance(on, str) else on

        def keep(make: Make) -> Make:
            name = make.__name__.strip("_").replace("_", "-")
            found.append(
                WrongAnswer(name, instance, formulation, given, says, make, named, pattern, other_words, tol)
            )  # fmt: skip
            return make

        return keep

    return wrong
