"""What a mistake is to the diagnosis: a hypothesis, which yields trials.

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

SAME = 1e-4  # relative: weights, or what they are worth, that differ by no more are the same
VANISHING = 1e-6  # a weight or an α below this share of the largest is none


@dataclass(frozen=True)
class Trial:
    """An answer for a problem, and the sentence that is true if the one is optimal for the other. What is None in the
    problem is as it was. A `task` stands in for the one that instance and parameters make; `also` are trials that must
    hold as well."""

    name: str
    words: str
    answer: Answer
    instance: Instance | None = None
    formulation: str | None = None
    parameters: Mapping[str, Any] | None = None
    task: Any = None
    also: tuple[Trial, ...] = ()

    @property
    def problem(self) -> str | None:
        """A digest of what is changed in the problem, None if nothing is: two trials share it if they pose the same."""
        from joblib import hash as digest

        changed = (self.instance, self.formulation, self.parameters, self.task)
        return None if all(one is None for one in changed) else str(digest(changed))


Trials = Iterator[Trial]
Hypothesis = Callable[[Case, Answer], Trials]
Hypotheses = tuple[Hypothesis, ...]
PartHypothesis = Callable[[Case, Answer, Array], Trials]  # about one part, which is given


@dataclass(frozen=True)
class Mistakes:
    """The hypotheses for the answers of a family, in the order in which they are tried: first those that change the
    answer, which cost no solution, then those that change the problem. `answers` and `problems` are tried in pairs,
    too. `machines` says that weights are worth what an SVM makes of them; `staged`, that α belongs to a second stage.
    """

    answers: Hypotheses
    answers_alone: Hypotheses
    problems: Hypotheses
    problems_alone: Hypotheses
    machines: bool = False
    staged: bool = False


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


def but_for(answer: Answer, name: str, words: str, **changed: Any) -> Trial:
    """Right but for what is changed in the answer."""
    return Trial(name, f"right but for {words}", replace(answer, **changed))


def with_parameters(case: Case, answer: Answer, name: str, words: str, **changed: Any) -> Trial:
    """Optimal for other parameters."""
    return Trial(name, f"optimal for {words}", answer, parameters={**case.parameters, **changed})


def with_instance(
    case: Case, answer: Answer, name: str, words: str, kernels: Array | None = None, **changed: Any
) -> Trials:
    """Optimal for other kernels, or other data beside them; nothing where there is no such instance."""
    try:
        instance = case.instance.with_kernels(case.instance.kernels if kernels is None else kernels, **changed)
    except (InputError, ArithmeticError):
        return
    yield Trial(name, f"optimal for {words}", answer, instance)
