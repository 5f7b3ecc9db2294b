"""The parts of an exercise: how its instance is drawn, what it asks for, and hints for common mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..problem.boundary import public_class
from ..problem.instance import Instance
from ..verification.judge import PARTS, Report, verify

Drawn = tuple[Instance, dict[str, Any]]  # with the parameters that go with the instance


@dataclass(frozen=True)
class Blueprint:
    """An exercise before its seed is known.

    `asks` are the parts that an answer must have; `hints` map the name of a diagnosis of `verify` to what to think
    about again. A hint teaches the step that was missed and does not give the answer away.
    """

    name: str
    question: str
    formulation: str
    asks: tuple[str, ...]
    draw: Callable[[np.random.Generator], Drawn]
    hints: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 1e-5  # five correct digits pass, common mistakes never do


@dataclass(frozen=True)
class Grade:
    """Whether an answer passed, the words for the student, and the report of `verify`."""

    passed: bool
    words: str
    report: Report

    def __str__(self) -> str:
        return self.words


@public_class
@dataclass(frozen=True)
class Exercise:
    """One variant of an exercise: its instance and parameters, and the grading of answers."""

    blueprint: Blueprint
    seed: int
    instance: Instance
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        return self.blueprint.name

    @property
    def formulation(self) -> str:
        return self.blueprint.formulation

    @property
    def question(self) -> str:
        """The task in words, with this variant's sizes and parameters."""
        sizes = {"n": self.instance.samples, "M": self.instance.count}
        values = {name: f"{value:g}" if isinstance(value, float) else value for name, value in self.parameters.items()}
        return f"{self.name}, seed {self.seed}. {self.blueprint.question.format(**sizes, **values)}"

    def grade(self, **answer: Any) -> Grade:
        """Grade the parts of an answer, named as for `verify`, against the certified optimum."""
        for name in answer:
            if name not in PARTS:
                raise InputError(f"{name!r} is not a part of an answer: give any of {', '.join(PARTS)}")
        missing = [name for name in self.blueprint.asks if answer.get(name) is None]
        if missing:
            raise InputError(f"exercise {self.name} asks for {', '.join(missing)}: give {missing[0]}=…")
        settings: dict[str, Any] = {"tol": self.blueprint.tolerance, "parameters": self.parameters}
        report = verify(self.instance, self.formulation, **settings, **answer)
        return Grade(report.accepted, self._words(report), report)

    def save(self, path: str | Path) -> str:
        """Write the instance to a file, and return the command that grades an answer in a file."""
        from ..io.files import save_instance

        save_instance(path, self.instance)
        settings = " ".join(f"--set {name}={value}" for name, value in self.parameters.items())
        return f"mklcvx verify {path} ANSWER -f {self.formulation} {settings} --tol {self.blueprint.tolerance:g}"

    def _words(self, report: Report) -> str:
        if report.accepted:
            return (
                f"Right. The optimal value lies between {report.optimum.lower:.8g} and {report.optimum.upper:.8g}, and "
                f"every part of the answer is within {max(part.off for part in report.parts):.1e} of it."
            )
        lines = ["Not yet.", *(f"- {_fault(part, report.tolerance)}" for part in report.parts)]
        if report.diagnosis is not None:
            lines.append(f"Diagnosis: {report.diagnosis.words}.")
            hint = self.blueprint.hints.get(report.diagnosis.name.split(" + ")[0].split()[0])
            lines += [f"Think again: {hint}"] if hint else []
        return "\n".join(lines)


def _fault(part: Any, tolerance: float) -> str:
    if part.verdict(tolerance) == "accepted":
        return f"{part.name}: right"
    worst = max(part.violations, key=lambda violation: violation.by, default=None)
    if worst is not None and worst.by > tolerance:
        return f"{part.name}: violates {worst.constraint} by {worst.by:.1e}"
    value = "" if part.value is None else f", worth {part.value:.6g}"
    return f"{part.name}: {part.excess or 0.0:.1e} away from the optimal value{value}"
