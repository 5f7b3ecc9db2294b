"""What is known of an answer that nothing explains: which conditions fail and where, what its parts are by themselves.

α that is some machine's own is converged, whatever the problem was. Weights and α that fit each other, and no weights
of the formulation, are a converged answer to a problem that is not recognised.
"""

from __future__ import annotations

import numpy as np

from ..answers import Answer
from ..case import Case, Part
from ..domain import outside_bounds
from .families.conditions import Conditions
from .inexact import Said
from .kinds import APART, CONVERGED, UNKNOWN
from .mistakes import given_alpha, given_weights, kernel_of
from .mistakes_in_points import own_machine

FITTING = 1e-5  # residual of a condition that is met
WORST = 3  # samples or kernels that are named
ALONE = {
    "objective": ("objective_value", "objective:value", "the objective alone is wrong: the rest is right"),
    "bias": ("bias_wrong", "bias:value", "the bias alone is wrong: the rest is right"),
}


def described(case: Case, answer: Answer, parts: list[Part], tolerance: float, found: Conditions | None) -> Said:
    wrong, right = ([part for part in parts if (part.off > tolerance) == side] for side in (True, False))
    rest = f"; {are(right)} right" if right else ""
    seen = "; ".join(_seen(case, answer, found))
    if len(wrong) == 1 and right and wrong[0].name in ALONE:
        name, kind, words = ALONE[wrong[0].name]
        return name, words, kind, seen
    residuals = {} if found is None else found.residuals
    fitting = residuals.get("margins", 1.0) <= FITTING or _own(case, answer) is not None
    if fitting:
        words = f"converged, to a problem that is not recognised: {are(wrong)} wrong{rest}"
        return "converged", words, CONVERGED, seen
    kind = APART if right else UNKNOWN
    return "unknown", f"none of the usual mistakes: {are(wrong)} wrong{rest}", kind, seen


def _own(case: Case, answer: Answer) -> str | None:
    """The machine that α belongs to, for single tasks."""
    alpha = given_alpha(case, answer) if hasattr(case.task, "loss_function") and case.task.samples else None
    if alpha is None or not hasattr(case.task, "feasible") or alpha.ndim != 1 or not np.any(alpha):
        return None
    try:
        found = own_machine(case, alpha)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return None
    return None if found is None else found[0]


def _seen(case: Case, answer: Answer, found: Conditions | None) -> list[str]:
    """What holds and what does not, in words."""
    residuals = {} if found is None else found.residuals
    lines = [f"{name} violated by {by:.1e}" for name, by in residuals.items() if name not in WORDS and by > FITTING]
    lines += [f"{WORDS[name]} {by:.1e}" for name, by in residuals.items() if name in WORDS and by > FITTING]
    own = _own(case, answer)
    if own is not None:
        lines.append(f"α is that of the machine with {own}")
    return lines + _worst_samples(case, answer)


WORDS = {
    "margins": "α is not that of the machine with these weights: gap",
    "tightness": "the weights are not the best for this α: gap",
    "gap": "upper and lower bound of the answer lie apart by",
    "objective": "the objective lies outside the bounds that the rest proves by",
    "bias": "the bias adds to the risk",
    "coefficients": "the coefficients cost more than α proves by",
    "apart": "the parts prove bounds that lie apart by",
}


def _worst_samples(case: Case, answer: Answer) -> list[str]:
    """Samples whose output is farthest from what their α asks for."""
    weights, alpha = given_weights(case, answer), given_alpha(case, answer)
    if weights is None or alpha is None or not hasattr(case.task, "loss_function") or alpha.ndim != 1:
        return []
    task = case.task
    if any(one.by > 1 for one in outside_bounds(task, alpha)):
        return []
    feasible = task.feasible(alpha)
    outputs = kernel_of(case, answer) @ (feasible * task.signs)
    risk = task.risk(outputs)
    with np.errstate(all="ignore"):
        gaps = task.loss_function.fenchel_young(feasible, outputs + risk.bias, task.y, task.box, risk.unknown)
    worst = [int(i) for i in np.argsort(-gaps)[:WORST] if gaps[i] > FITTING * max(float(np.sum(gaps)), 1e-300)]
    return [f"farthest from their margins: samples {', '.join(map(str, worst))}"] if worst else []


def are(parts: list[Part]) -> str:
    return f"{', '.join(part.name for part in parts)} {'is' if len(parts) == 1 else 'are'}"
