"""Diagnosis of a rejected answer: what was solved, and what was handed over?

A hypothesis undoes a mistake in the answer ("the objective has the other sign") or in the problem ("C was divided by
n"). It explains the answer if the changed answer is optimal for the changed problem, by the same judgement and far
better than without the change. All hypotheses are measured (`search`), one at a time and then in pairs, and those that
leave least are named; of several that leave equally little up to three are. A part that another rule than optimality
made (weights clipped, of one class, by another exponent) is recognised by that rule, and the evidence says so: the
optimum stands in for it, and only the other parts are judged. What nothing explains is described: which conditions
fail, and what its parts are optimal for by themselves (`unexplained`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...formulations._formulation import Given
from ..answers import Answer
from ..case import FITS, AnswerPart, Case, Stated
from .families.conditions import forget
from .families.hypergraph import HYPERGRAPHS
from .families.joint import JOINT_OUTPUTS
from .families.multi_label import MANY_LABELS
from .families.single_task import SINGLE_TASKS
from .families.two_stage import TWO_STAGES
from .inexact import rounded, stopped_early
from .kinds import Explanation, kind_of
from .mistakes import DiagnosticTrial, Mistakes
from .mistakes_in_answers import ANSWERS, WEIGHTS, objective_units
from .mistakes_in_data import OTHER_TARGETS, SUBSETS, sample_weights
from .mistakes_in_kernels import CHANGED, KERNELS, keeping
from .mistakes_in_problems import PROBLEMS, other_family
from .search import BETTER, Scored, Search
from .unexplained import described

ANY_FAMILY = Mistakes(
    answers=ANSWERS,
    answers_alone=(objective_units(), *WEIGHTS),
    problems=PROBLEMS,
    problems_alone=(*SUBSETS, sample_weights, *OTHER_TARGETS, *CHANGED, *KERNELS),
)
MISTAKES: dict[str, Mistakes] = {
    "single task": SINGLE_TASKS,
    "joint outputs": JOINT_OUTPUTS,
    "many labels": MANY_LABELS,
    "two stages": TWO_STAGES,
    "hypergraph": HYPERGRAPHS,
}


@dataclass(frozen=True)
class Diagnosis:
    """`name` of the hypothesis, the sentence that it says, and what explains the answer: one explanation, or up to
    three that explain it equally well."""

    name: str
    words: str
    explanations: tuple[Explanation, ...] = ()

    def as_dict(self) -> dict[str, object]:
        explanations = [explanation.as_dict() for explanation in self.explanations]
        return {"name": self.name, "words": self.words, "explanations": explanations}


def diagnose(case: Case, answer: Answer, parts: list[AnswerPart], tolerance: float, stated: Stated = None) -> Diagnosis:
    """What explains the answer best; `stated` is the problem that the answer itself says it solves, if it says another
    than the one asked."""
    try:
        with keeping(case.instance):
            return _searched(case, answer, parts, tolerance, [] if stated is None else [_as_stated(answer, stated)])
    finally:
        forget()


def _searched(
    case: Case, answer: Answer, parts: list[AnswerPart], tolerance: float, first: list[DiagnosticTrial]
) -> Diagnosis:
    wrong = [part.name for part in parts if part.off > tolerance]
    if wrong == ["certificate"]:
        return _said(*_false_bounds(parts))
    off = max(part.off for part in parts if part.name != "certificate")
    mistakes = MISTAKES.get(case.formulation.family, ANY_FAMILY)
    machine = any(part.name in ("alpha", "coefficients") and part.off <= tolerance for part in parts)
    only = "objective" if wrong == ["objective"] and machine else ""  # α is right: so is the problem
    search = Search(case, replace(answer, bounds=None), off, min(max(tolerance, FITS), BETTER * off), only)
    singles = search.single((*mistakes.every, other_family), first)
    best = search.best(singles)
    whole = bool(best) and not search.discarded(best[0]) and search.of_the_family(best[0])
    if whole and search.exact(best[0]):
        return _diagnosis(best)
    inexact = rounded(case, answer, parts)  # it explains every part
    if inexact is not None and not whole:
        return _said(*inexact)
    base = search.measured(case, search.answer)[1]
    pairs = [] if only else search.best(search.double(singles, mistakes.second, base, mistakes.told))
    if pairs and (not best or search.preferred(pairs[0], best[0])):
        best = pairs
    if best:
        return _diagnosis(best)
    about = mistakes.about(case, answer)
    if not search.no_better_than_chance(off):
        inexact = stopped_early(case, answer, parts, base, bool(about[0]))
    return _said(*(inexact or described(answer, parts, tolerance, base, about)))


def _false_bounds(parts: list[AnswerPart]) -> tuple[str, str, str, str]:
    (bounds,) = (part for part in parts if part.name == "certificate")
    words = "the bounds alone are wrong: they do not hold the optimal value, and the other parts are right"
    evidence = ", ".join(f"{constraint} is violated by {by:.1e}" for constraint, by in bounds.violations if by > 0)
    return "bounds_wrong", words, kind_of("bounds_wrong"), evidence


def _as_stated(answer: Answer, stated: tuple[str, Given]) -> DiagnosticTrial:
    name, given = stated
    shown = ", ".join(f"{key} = {str(value)[:20]}" for key, value in given.items())
    words = f"optimal for the problem that the answer itself states, {name[:40]} ({shown[:200]})"
    return DiagnosticTrial("as_stated", words, answer, formulation=name, parameters=given)


def _diagnosis(best: list[Scored]) -> Diagnosis:
    """Of the best explanation; others that are as good are named beside it."""
    explanations = tuple(
        Explanation(scored.kinds, _sentence(scored), _evidence(scored), float(f"{scored.left:.2g}")) for scored in best
    )
    words = "; or, which explains it as well: ".join(explanation.sentence for explanation in explanations)
    return Diagnosis(" + ".join(trial.name for trial in best[0].told), words, explanations)


def _sentence(scored: Scored) -> str:
    if len(scored.trials) == 1:
        return scored.trials[0].words
    return f"two mistakes: {'; and '.join(trial.words for trial in scored.told)}"


def _evidence(scored: Scored) -> str:
    given = ", ".join(scored.answer.given)
    if any(trial.recognised for trial in scored.trials):
        return f"the rule was tested on what was given; with the optimum in its place {given} leave {scored.left:.1e}"
    return f"{given} then meet every condition of optimality up to {scored.left:.1e}"


def _said(name: str, words: str, kind: str, evidence: str) -> Diagnosis:
    return Diagnosis(name, words, (Explanation((kind,), words, evidence),))
