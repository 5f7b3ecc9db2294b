"""The parts of an exercise: how its instance is drawn, what it asks for, and hints for common mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..problem.instance import Instance
from ..verification.diagnosis.diagnose import Diagnosis
from ..verification.judge import PARTS, Report, verify

GENERAL = {
    "objective": "write the objective down term by term, with every factor and sign, and evaluate it at your point.",
    "bias": "which samples tell the bias, and with which sign does it enter f + b?",
    "alpha": "which bounds, signs and size does α have in the dual as it is stated?",
    "weights": "which set do the weights belong to, and which formula has them at the optimum?",
    "coefficients": "f_m = μ_m K_m(α∘y): which factors belong to the coefficients?",
    "bias_term": "does the problem have a bias, and what does it demand of α?",
    "parameter": "compare every parameter with the formula that it stands in: is it multiplied, divided or squared?",
    "formulation": "what distinguishes this problem from its neighbours: the penalty of the weights, or their set?",
    "loss": "write down what a sample costs, as a function of its margin.",
    "kernels": "which kernel matrices does the problem state, before any centring, scaling or sum?",
    "labels": "which labels does the loss expect, and in which order are the samples?",
    "classes": "in which order do the classes come?",
    "samples": "does every sample take part?",
    "sample_weight": "how do the weights of samples enter the bounds of α?",
    "groups": "which kernels belong to which group?",
    "pairs": "which pairs of samples count, and how often?",
    "norms": "which norms are squared in the penalty?",
    "accuracy": "how does your method know that it has arrived? Let the gap between the bounds decide.",
    "unknown": "evaluate both bounds at your point: which condition of optimality fails, and for which sample?",
}
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

    def _hint(self, diagnosis: Diagnosis) -> str:
        """The exercise's own hint for the diagnosis, by its name or its kind; else what its kind says in general."""
        kinds = [kind for explanation in diagnosis.explanations for kind in explanation.kinds]
        names = [*(part.split()[0] for part in diagnosis.name.split(" + ")), *kinds]
        own = (self.blueprint.hints[name] for name in names if name in self.blueprint.hints)
        return next(own, None) or _general(kinds)

    def _words(self, report: Report) -> str:
        if report.accepted:
            return (
                f"Right. The optimal value lies between {report.optimum.lower:.8g} and {report.optimum.upper:.8g}, and "
                f"every part of the answer is within {max(part.off for part in report.parts):.1e} of it."
            )
        lines = ["Not yet.", *(f"- {_fault(part, report.tolerance)}" for part in report.parts)]
        if report.diagnosis is not None:
            lines.append(f"Diagnosis: {report.diagnosis.words}.")
            lines.append(f"Think again: {self._hint(report.diagnosis)}")
        return "\n".join(lines)


def _general(kinds: Iterable[str]) -> str:
    """What to think about again after a mistake of this kind, whatever the exercise."""
    known = [GENERAL[kind.partition(":")[0]] for kind in kinds if kind.partition(":")[0] in GENERAL]
    return known[0] if known else GENERAL["unknown"]


def _fault(part: Any, tolerance: float) -> str:
    if part.verdict(tolerance) == "accepted":
        return f"{part.name}: right"
    worst = max(part.violations, key=lambda violation: violation.by, default=None)
    if worst is not None and worst.by > tolerance:
        return f"{part.name}: violates {worst.constraint} by {worst.by:.1e}"
    value = "" if part.value is None else f", worth {part.value:.6g}"
    return f"{part.name}: {part.excess or 0.0:.1e} away from the optimal value{value}"
