"""Diagnosis of a rejected answer: hypotheses about what went wrong are tested in turn.

A hypothesis undoes a usual mistake in the answer ("the objective has the other sign") or in the problem ("C was divided
by n"). It holds if the changed answer is optimal for the changed problem, by the same judgement and far better than
without the change; then the report says what the answer is optimal for. Answers are changed first, because that needs
no solver. A diagnosis never rests on resemblance alone, except that an answer was stopped early.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np

from ...errors import InputError, remedy
from ..answers import Answer
from ..case import FITS, Altered, Case, Part, Stated, pose
from ..families import judged_parts, proved_parts
from ..precision import few_decimals, single_precision
from .families.hypergraph import HYPERGRAPHS
from .families.joint import JOINT_OUTPUTS
from .families.multi_label import MANY_LABELS
from .families.single_task import SINGLE_TASKS
from .families.two_stage import TWO_STAGES
from .mistakes import Hypotheses, Mistakes, Trial, Trials
from .mistakes_in_answers import ANSWERS, WEIGHTS, objective_units
from .mistakes_in_data import KERNELS, SUBSETS, sample_weights
from .mistakes_in_problems import PROBLEMS

BETTER = 0.01  # and must leave at most this share of what is wrong without it
ROOM = 1000.0  # a problem's scale may exceed its value by this factor
KINDS = ("upper", "lower", "claim")
EARLY = 0.2  # excess, of the value, up to which an answer counts as stopped early

ANY_FAMILY = Mistakes(
    answers=ANSWERS,
    answers_alone=(objective_units(), *WEIGHTS),
    problems=PROBLEMS,
    problems_alone=(*SUBSETS, sample_weights, *KERNELS),
)
MISTAKES: dict[str, Mistakes] = {
    "single task": SINGLE_TASKS,
    "joint outputs": JOINT_OUTPUTS,
    "many labels": MANY_LABELS,
    "two stages": TWO_STAGES,
    "hypergraph": HYPERGRAPHS,
}


def mistakes_of(case: Case) -> Mistakes:
    return MISTAKES.get(case.formulation.family, ANY_FAMILY)


@dataclass(frozen=True)
class Diagnosis:
    """`name` of the hypothesis, and the sentence that it says."""

    name: str
    words: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def diagnose(case: Case, answer: Answer, parts: list[Part], tolerance: float, stated: Stated = None) -> Diagnosis:
    """The first hypothesis that holds, or the first two that hold together; `stated` is the problem that the answer
    itself says it solves, if it says another than the one asked."""
    limit = min(max(tolerance, FITS), BETTER * _off(parts))
    posed: dict[str | None, Case | None] = {None: case}
    mistakes = mistakes_of(case)
    alone = (*mistakes.answers, *mistakes.answers_alone, *mistakes.problems, *mistakes.problems_alone)
    for trial in _trials(case, answer, alone, stated):
        if _holds(case, trial, limit, posed):
            return Diagnosis(trial.name, trial.words)
    inexact = _inexact(case, answer, parts, tolerance)
    if inexact is not None:
        return inexact
    for first in _trials(case, answer, mistakes.answers):
        for second in _trials(case, first.answer, (*mistakes.answers, *mistakes.problems)):
            if second.name != first.name and _holds(case, second, limit, posed):
                return Diagnosis(f"{first.name} + {second.name}", f"two mistakes: {first.words}; and {second.words}")
    wrong, right = ([part for part in parts if (part.off > tolerance) == side] for side in (True, False))
    rest = f"; {_are(right)} right" if right else ""
    return Diagnosis("unknown", f"none of the usual mistakes: {_are(wrong)} wrong{rest}")


def _trials(case: Case, answer: Answer, hypotheses: Hypotheses, stated: Stated = None) -> Trials:
    if stated is not None:
        name, given = stated
        shown = ", ".join(f"{key} = {str(value)[:20]}" for key, value in given.items())
        words = f"optimal for the problem that the answer itself states, {name[:40]} ({shown[:200]})"
        yield Trial("as_stated", words, answer, formulation=name, parameters=given)
    for hypothesis in hypotheses:
        yield from hypothesis(case, answer)


def _holds(case: Case, trial: Trial, limit: float, posed: dict[str | None, Case | None]) -> bool:
    """`posed` keeps the changed problems, which many answers may be tried on; None is what cannot be posed."""
    problem = trial.problem
    if problem not in posed:
        posed[problem] = _posed(case, trial)
    changed = posed[problem]
    fits = changed is not None and _fits(changed, replace(trial.answer, bounds=None), limit, changed is case)
    return fits and all(_holds(case, one, limit, posed) for one in trial.also)


def _fits(case: Case, answer: Answer, limit: float, solved: bool) -> bool:
    """Parts that need no SVM are judged first: most trials end there."""
    try:
        for some in (_quickly_judged(case, answer), answer):
            if some.given and not solved and _contradicts(case, some, limit):
                return False
        for some in (_quickly_judged(case, answer), answer):
            if some.given and _off(judged_parts(case, some)[0]) > limit:
                return False
    except (InputError, ArithmeticError, np.linalg.LinAlgError):
        return False  # what cannot be judged explains nothing
    return True


def _quickly_judged(case: Case, answer: Answer) -> Answer:
    """α, coefficients and objective, where weights are judged by an SVM; else weights and objective."""
    if mistakes_of(case).machines:
        return replace(answer, weights=None, bias=None, multipliers={})
    return Answer(weights=answer.weights, objective=answer.objective)


def _contradicts(case: Case, answer: Answer, limit: float) -> bool:
    """Without solving: parts that violate a constraint, or whose bounds and claims lie too far apart for all of them to
    be within the limit of one and the same value. A bias, block-∞ weights and second stages are measured by the optimum
    itself, and left out."""
    blockwise, staged = getattr(case.formulation, "between", None) is not None, mistakes_of(case).staged
    weights, alpha = None if blockwise else answer.weights, None if staged else answer.alpha
    parts = proved_parts(case, replace(answer, bias=None, weights=weights, alpha=alpha))
    values = {kind: [p.value for p in parts if p.proves == kind and p.value is not None] for kind in KINDS}
    largest = max((abs(value) for some in values.values() for value in some), default=0.0)
    high, low = values["upper"] + values["claim"], values["lower"] + values["claim"]
    apart = max(high, default=0.0) - min(low, default=0.0) if high and low else 0.0
    return any(part.violation > limit for part in parts) or apart > ROOM * limit * largest


def _posed(case: Case, trial: Trial) -> Case | None:
    if trial.task is not None:
        return Altered(case.instance, case.formulation, case.parameters, trial.task, FITS)
    given: Mapping[str, object] = case.parameters if trial.parameters is None else trial.parameters
    try:
        return pose(trial.instance or case.instance, trial.formulation or case.formulation.name, given, FITS)
    except (InputError, ArithmeticError):
        return None


def _off(parts: list[Part]) -> float:
    return max(part.off for part in parts)


def _inexact(case: Case, answer: Answer, parts: list[Part], tolerance: float) -> Diagnosis | None:
    """The diagnosis of an answer that is merely inaccurate."""
    off, known = _off(parts), case.known
    early = EARLY * max(abs(known.lower), abs(known.upper), known.scale) / known.scale
    honest, written = single_precision(case, answer), few_decimals(case, answer)
    if honest is not None and off <= min(honest, early):
        words = f"optimal up to single precision, which can honestly claim a tolerance of {honest:.0e} here"
        return Diagnosis("single_precision", words)
    if written is not None and off <= written[1]:
        words = f"optimal up to rounding: the numbers are written with {written[0]} decimals; write all of them"
        return Diagnosis("few_decimals", f"{words}, or ask for {_tolerance(off)}")
    if off > early or any(part.violation > max(tolerance, FITS) for part in parts):
        return None
    wrong = _are([part for part in parts if part.off > tolerance])
    words = f"stopped early: {wrong} {off:.1e} from the optimum; ask for more accuracy"
    return Diagnosis("stopped_early", f"{words}, or for {_tolerance(off)}")


def _tolerance(off: float) -> str:
    enough = f"{_rounded_up(off):.0e}"
    return remedy(f"tol={enough}", f"--tol {enough}")


def _are(parts: list[Part]) -> str:
    return f"{', '.join(part.name for part in parts)} {'is' if len(parts) == 1 else 'are'}"


def _rounded_up(value: float) -> float:
    exponent = float(np.floor(np.log10(value)))
    return float(np.ceil(value / 10**exponent * (1 + 1e-9)) * 10**exponent)
