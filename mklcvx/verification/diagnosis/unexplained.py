"""What is known of an answer that nothing explains: which conditions fail and where, what its parts are by themselves.

α that is some machine's own is converged, whatever the problem was. Weights and α that fit each other, and no weights
of the formulation, are a converged answer to a problem that is not recognised.
"""

from __future__ import annotations

from ..answers import Answer
from ..case import AnswerPart
from .families.conditions import Conditions
from .inexact import Said
from .kinds import CONVERGED, UNKNOWN

FITTING = 1e-5  # residual of a condition that is met
FAR = 0.01  # what an answer must be off by to be that of another problem
ALONE = {
    "objective": ("objective_value", "objective:value", "the objective alone is wrong: the rest is right"),
    "bias": ("bias_wrong", "bias:value", "the bias alone is wrong: the rest is right"),
}
WORDS = {
    "margins": "α is not that of the machine with these weights: gap",
    "tightness": "the weights are not the best for this α: gap",
    "gap": "upper and lower bound of the answer lie apart by",
    "objective": "the objective lies outside the bounds that the rest proves by",
    "bias": "the bias adds to the risk",
    "coefficients": "the coefficients cost more than α proves by",
    "apart": "the parts prove bounds that lie apart by",
}


def described(
    answer: Answer, parts: list[AnswerPart], tolerance: float, at: Conditions | None, about: tuple[str, list[str]]
) -> Said:
    wrong, right = ([part for part in parts if (part.off > tolerance) == side] for side in (True, False))
    rest = f"; {are(right)} right" if right else ""
    residuals = {} if at is None else at.residuals
    failing = {name: by for name, by in residuals.items() if by > FITTING}
    own, more = about
    seen = [f"{WORDS.get(name, f'{name} violated by')} {by:.1e}" for name, by in failing.items()] + more
    if own:
        seen.append(f"α is that of the machine with {own}")
    evidence = "; ".join(seen)
    if len(wrong) == 1 and right and wrong[0].name in ALONE:
        name, kind, words = ALONE[wrong[0].name]
        return name, words, kind, evidence
    far = max(part.off for part in parts) > FAR
    if far and (own or (answer.alpha is not None and residuals.get("margins", 1.0) <= FITTING)):
        words = f"converged, to a problem that is not recognised: {are(wrong)} wrong{rest}"
        return "converged", words, CONVERGED, evidence
    said = f"none of the usual mistakes: {are(wrong)} wrong{rest}"
    return "unknown", said, UNKNOWN, evidence


def are(parts: list[AnswerPart]) -> str:
    return f"{', '.join(part.name for part in parts)} {'is' if len(parts) == 1 else 'are'}"
