"""Every family's answers, part by part; what is common to all of them, and the table of the families."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...formulations import Formulation
from ..answers import Answer
from ..case import AnswerPart, Case, Enclosure, Violation
from .family import FamilyJudge
from .hypergraph import HypergraphJudge
from .joint import JointJudge
from .multi_label import MultiLabelJudge
from .single_task import SingleTaskJudge
from .two_stage import TwoStageJudge

FAMILIES: dict[str, FamilyJudge] = {
    "single task": SingleTaskJudge(),
    "joint outputs": JointJudge(),
    "many labels": MultiLabelJudge(),
    "two stages": TwoStageJudge(),
    "hypergraph": HypergraphJudge(),
}


def family_of(formulation: Formulation) -> FamilyJudge:
    return FAMILIES.get(formulation.family, FamilyJudge())


def proved_parts(case: Case, answer: Answer, rigorous: bool = False) -> list[AnswerPart]:
    """What the parts of an answer violate, prove and claim; unless `rigorous`, up to rounding."""
    with np.errstate(all="ignore"):
        parts = family_of(case.formulation).parts(case, answer, rigorous)
    if answer.objective is not None:
        parts.append(AnswerPart("objective", (), "claim", answer.objective))
    return parts


def judged_parts(case: Case, answer: Answer, rigorous: bool = False) -> tuple[list[AnswerPart], Enclosure]:
    """Every part of the answer, measured, and what is known of the optimal value with the help of the answer. Plain
    bounds are for hypotheses; a verdict is `rigorous`."""
    parts = proved_parts(case, answer, rigorous)
    if answer.bounds is not None:  # true or false, whatever the rest is worth
        low = Violation("lower ≤ optimum", max(0.0, answer.bounds[0] - case.known.upper) / case.known.scale)
        high = Violation("optimum ≤ upper", max(0.0, case.known.lower - answer.bounds[1]) / case.known.scale)
        parts.append(AnswerPart("certificate", (low, high), decided=True))
    if not any(part.conclusive for part in parts):
        raise InputError(
            f"answer: has nothing that can be judged for {case.formulation.name}: write weights, alpha or objective"
        )
    known = case.known.tightened([part for part in parts if part.proves != "claim"])
    return [part.measured(known) for part in parts], known
