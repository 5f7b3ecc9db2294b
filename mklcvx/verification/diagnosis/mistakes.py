"""What a mistake is to the diagnosis: a hypothesis, which yields trials.

A trial is a point in the space of what may have been solved and handed over: formulation, loss, parameters, kernels,
labels and samples, form of the answer. Hypotheses are steps in this space from the case that they are given, so that a
hypothesis about the case that another one poses makes two mistakes at once (`search`).

A hypothesis undoes one usual mistake. To add one, write it in the file of its kind, `mistakes_in_answers.py`,
`mistakes_in_problems.py` or `mistakes_in_data.py`, or in the file of the one family that it belongs to (`families/`),
and add it to the tuple at the end of that file or to the rows of the families that it serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np

from ...errors import InputError
from ...problem.instance import Instance
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from .kinds import kind_of

SAME = 1e-4  # relative: weights, or what they are worth, that differ by no more are the same
VANISHING = 1e-6  # a weight or an α below this share of the largest is none


@dataclass(frozen=True)
class DiagnosticTrial:
    """An answer for a problem, and the sentence that is true if the one is optimal for the other. What is None in the
    problem is as it was. A `task` stands in for the one that instance and parameters make; `also` are trials that must
    hold as well. `kind` is that of the mistake, where its name does not say it; `fitted`, how many numbers were fitted
    to the answer; `read_off`, whether the answer itself shows a number of it, whatever else is wrong;
    `recognised`, whether a part was told by a rule of its own, so that the optimum's stands in for it."""

    name: str
    words: str
    answer: Answer
    instance: Instance | None = None
    formulation: str | None = None
    parameters: Mapping[str, Any] | None = None
    task: Any = None
    also: tuple[DiagnosticTrial, ...] = ()
    kind: str = ""
    fitted: int = 0
    read_off: bool = False
    recognised: bool = False

    @property
    def mistake(self) -> str:
        """Its kind."""
        return self.kind or kind_of(self.name)


Trials = Iterator[DiagnosticTrial]
Hypothesis = Callable[[Case, Answer], Trials]
Hypotheses = tuple[Hypothesis, ...]
About = Callable[[Case, Answer], tuple[str, list[str]]]
PartHypothesis = Callable[[Case, Answer, Array], Trials]  # about one part, which is given


@dataclass(frozen=True)
class Mistakes:
    """The hypotheses for the answers of a family; of several that explain an answer equally well the first is named
    first. `answers` change the answer, `problems` what was solved. Those that stand `alone` are no second step.
    `about` says what is known of an answer that nothing explains: the machine that α belongs to, in words or empty, and
    where conditions fail. `told` are parameters that the answer tells in closed form: as second steps they are tried
    first."""

    answers: Hypotheses
    answers_alone: Hypotheses
    problems: Hypotheses
    problems_alone: Hypotheses
    about: About = lambda case, answer: ("", [])
    told: Hypotheses = ()

    @property
    def second(self) -> Hypotheses:
        return (*self.answers, *self.problems)

    @property
    def every(self) -> Hypotheses:
        return (*self.answers, *self.answers_alone, *self.problems, *self.told, *self.problems_alone)


# ------------------------------------------------------------------------------------------------ what hypotheses ask
def given_weights(case: Case, answer: Answer) -> Array | None:
    """The weights of the answer as a vector; None unless all are there and finite."""
    weights = answer.weights
    if weights is None or weights.size != case.task.count or not np.isfinite(weights).all():
        return None
    return np.ravel(weights)


def given_alpha(case: Case, answer: Answer) -> Array | None:
    """The α of a single task as a vector; None unless there is one for every sample."""
    return None if answer.alpha is None or answer.alpha.size != case.task.samples else np.ravel(answer.alpha)


def _on(part: Callable[[Case, Answer], Array | None]) -> Callable[[PartHypothesis], Hypothesis]:
    """A decorator for hypotheses about a part of the answer: without it there are no trials."""

    def decorated(function: PartHypothesis) -> Hypothesis:
        @wraps(function)
        def hypothesis(case: Case, answer: Answer) -> Trials:
            given = part(case, answer)
            return iter(()) if given is None else function(case, answer, given)

        return hypothesis

    return decorated


on_weights, on_alpha = _on(given_weights), _on(given_alpha)


def weights_or_ours(case: Case, answer: Answer) -> Array:
    """The weights of the answer, or the certified ones."""
    given = given_weights(case, answer)
    return np.nan_to_num(case.reference.weights) if given is None else given


def kernel_of(case: Case, answer: Answer) -> Array:
    """The combined kernel of the weights given, or of the certified ones."""
    return np.array(case.task.combined(np.maximum(weights_or_ours(case, answer), 0.0)))


def but_for(answer: Answer, name: str, words: str, **changed: Any) -> DiagnosticTrial:
    """Right but for what is changed in the answer."""
    return DiagnosticTrial(name, f"right but for {words}", replace(answer, **changed))


def with_parameters(case: Case, answer: Answer, name: str, words: str, **changed: Any) -> DiagnosticTrial:
    """Optimal for other parameters; the mistake is that of the first."""
    kind = f"parameter:{next(iter(changed))}" if name == "parameter" else ""
    return DiagnosticTrial(name, f"optimal for {words}", answer, parameters={**case.parameters, **changed}, kind=kind)


def with_instance(
    case: Case, answer: Answer, name: str, words: str, kernels: Array | None = None, **changed: Any
) -> Trials:
    """Optimal for other kernels, or other data beside them; nothing where there is no such instance."""
    try:
        instance = case.instance.with_kernels(case.instance.kernels if kernels is None else kernels, **changed)
    except (InputError, ArithmeticError):
        return
    yield DiagnosticTrial(name, f"optimal for {words}", answer, instance)
