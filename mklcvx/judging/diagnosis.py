"""What may have gone wrong: a table of hypotheses, each of which is put to the test.

A hypothesis undoes a usual mistake: in the answer ("the objective has the other sign") or in the problem ("C was divided
by n"). It holds if the answer as changed is optimal for the problem as changed, by the same judgement and far better
than without the change; then the report says what the answer is optimal for. Answers are changed first: that costs no
solution. Nothing is said on resemblance alone, except that an answer may have been stopped early.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..answers import Answer
from ..errors import InputError, InternalError
from .case import Case, pose
from .families import judged_parts
from .hypotheses import ANSWERS, PROBLEMS, Trial
from .parts import Part
from .precision import single_precision

FITS = 1e-6  # a hypothesis may leave this much, since the answer is as exact as its author made it
BETTER = 0.01  # and must leave at most this share of what is wrong without it
EARLY = 0.2  # relative excess up to which an answer counts as stopped early


@dataclass(frozen=True)
class Diagnosis:
    """`name` of the hypothesis, and the sentence that it says."""

    name: str
    words: str

    def as_dict(self) -> dict[str, str]:
        return {"name": self.name, "words": self.words}


def diagnose(case: Case, answer: Answer, parts: list[Part], tolerance: float) -> Diagnosis:
    """The first hypothesis that holds."""
    limit = min(max(tolerance, FITS), BETTER * _off(parts))
    for trial in _trials(case, answer):
        if _holds(case, trial, limit):
            return Diagnosis(trial.name, trial.words)
    return _inexact(case, answer, parts, tolerance)


def _trials(case: Case, answer: Answer) -> Iterator[Trial]:
    for hypothesis in (*ANSWERS, *PROBLEMS):
        yield from hypothesis(case, answer)


def _holds(case: Case, trial: Trial, limit: float) -> bool:
    try:
        changed = case if trial.unchanged else _posed(case, trial)
        parts, _ = judged_parts(changed, trial.answer)
    except (InputError, InternalError, ArithmeticError, np.linalg.LinAlgError):
        return False  # what cannot be posed or judged explains nothing
    return _off(parts) <= limit


def _posed(case: Case, trial: Trial) -> Case:
    given: Mapping[str, Any] = case.parameters if trial.parameters is None else trial.parameters
    return pose(trial.instance or case.instance, trial.formulation or case.formulation.name, given, FITS)


def _off(parts: list[Part]) -> float:
    return max(part.off for part in parts)


def _inexact(case: Case, answer: Answer, parts: list[Part], tolerance: float) -> Diagnosis:
    """Nothing is wrong but the accuracy, or something is that is not known here."""
    off = _off(parts)
    honest = single_precision(case, answer)
    if honest is not None and off <= honest:
        words = f"optimal up to single precision, which can honestly claim a tolerance of {honest:.0e} here"
        return Diagnosis("single_precision", words)
    wrong = [part.name for part in parts if part.off > tolerance]
    if off <= EARLY and all(part.violation <= max(tolerance, FITS) for part in parts):
        words = f"stopped early: {', '.join(wrong)} {_are(wrong)} {off:.1e} from the optimum; ask for more accuracy"
        return Diagnosis("stopped_early", f"{words}, or for --tol {_rounded_up(off):.0e}")
    right = [part.name for part in parts if part.name not in wrong]
    rest = f"; {', '.join(right)} {_are(right)} right" if right else ""
    return Diagnosis("unknown", f"none of the usual mistakes: {', '.join(wrong)} {_are(wrong)} wrong{rest}")


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _rounded_up(value: float) -> float:
    exponent = float(np.floor(np.log10(value)))
    return float(np.ceil(value / 10**exponent * (1 + 1e-9)) * 10**exponent)
