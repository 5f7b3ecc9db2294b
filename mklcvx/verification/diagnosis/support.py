"""α of the support vectors alone: as many numbers as the optimum has support vectors, not one for every sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..answers import Answer
from ..case import AnswerPart, Case, Violation
from .diagnose import Diagnosis
from .kinds import Explanation, kind_of
from .mistakes import VANISHING

EVERY = "one α for every sample"


def over_support(case: Case, answer: Answer) -> Answer | None:
    """The answer with α at the optimum's support vectors, 0 elsewhere; None where the lengths do not say so."""
    alpha = None if answer.alpha is None else np.asarray(answer.alpha)
    if alpha is None or alpha.ndim != 1 or getattr(case.task, "samples", 0) <= alpha.size:
        return None
    ours = case.reference.alpha
    if ours is None or ours.ndim != 1:
        return None
    support = np.abs(ours) > VANISHING * np.abs(ours).max(initial=0.0)
    if support.sum() != alpha.size:
        return None
    spread = np.zeros(ours.size)
    spread[support] = alpha
    if (spread < 0).any() and (ours >= 0).all():  # with the labels' signs, as libraries keep it
        spread = spread * np.sign(case.reference.y)
    return replace(answer, alpha=spread)


def without_zeros(parts: tuple[AnswerPart, ...], missing: float) -> tuple[AnswerPart, ...]:
    """The parts, that of α with a violation: entries are missing."""
    lacking = Violation(EVERY, missing)
    return tuple(
        replace(part, violations=(*part.violations, lacking)) if part.name == "alpha" else part for part in parts
    )


def only_support(count: int, samples: int) -> Diagnosis:
    words = (
        f"right but for α, of which there are {count}, those of the support vectors: give all {samples}, 0 where a "
        f"sample is none (or name the convention, such as sklearn_svc)"
    )
    evidence = "at the support vectors of the optimum these numbers are optimal"
    return Diagnosis("alpha_support", words, (Explanation((kind_of("alpha_support"),), words, evidence),))
