"""Joint outputs: classes or outputs in another order, means over the outputs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ...answers import Answer
from ...case import Case
from ..mistakes import Mistakes, Trials, but_for
from ..mistakes_in_answers import ANSWERS, objective_units
from ..mistakes_in_data import even_weights
from ..mistakes_in_problems import bias_setting, price_scaled

MOST_OUTPUTS = 4  # whose orders are all tried


def outputs_reordered(case: Case, answer: Answer) -> Trials:
    outputs, given = case.task.outputs, answer.coefficients
    if answer.alpha is None or answer.alpha.shape[:1] != (outputs,) or not 2 <= outputs <= MOST_OUTPUTS:
        return
    for order in itertools.islice(itertools.permutations(range(outputs)), 1, None):
        turned, words = list(order), ", ".join(str(j) for j in order)
        right = {"alpha": answer.alpha[turned], "coefficients": None if given is None else given[turned]}
        yield but_for(answer, "outputs_swapped", f"the order of the outputs: theirs are our {words}", **right)


def means(case: Case) -> Iterator[tuple[str, float]]:
    yield f"the mean over {case.task.outputs} outputs", float(case.task.outputs)
    yield "the mean over outputs and samples", float(case.task.outputs * case.instance.samples)


JOINT_OUTPUTS = Mistakes(
    answers=(*ANSWERS[:2], outputs_reordered),
    answers_alone=(objective_units(means),),
    problems=(price_scaled, bias_setting),
    problems_alone=(even_weights,),
)
