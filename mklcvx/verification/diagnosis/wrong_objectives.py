"""Usual mistakes in the objective alone: a term is missing from it, or it is counted in other units.

At the optimum of a single task the value is P + R + L = G − P + R: the norms' part P, the price R(μ) of the weights,
the loss L and the gain G. A ½ that is missing from P makes L + 2P + R in the primal and G − 2P + R in the dual. Other
families have less to forget: the price of the weights or the loss in two stages, the entropy of the weights in the
smoothed hypergraph, tr(C) between the trace that is minimised and the eigenvalues that are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from ..answers import Answer
from ..case import Case
from .trial import Hypothesis, Trial, Trials

Own = Callable[[Case], Iterable[tuple[str, float]]]  # what a family has beside what all have


def objective_units(own: Own = lambda case: ()) -> Hypothesis:
    """A factor between the objective and ours: a mean where a sum is meant, or the reverse."""

    def hypothesis(case: Case, answer: Answer) -> Trials:
        for words, factor in _factors(case, own) if answer.objective else ():
            right = replace(answer, objective=(answer.objective or 0.0) * factor)
            yield Trial("objective_units", f"right but for the objective, which is {words}", right)

    return hypothesis


def _factors(case: Case, own: Own) -> Iterator[tuple[str, float]]:
    n = case.instance.samples
    yield "divided by n", float(n)
    yield "multiplied by n", 1 / n
    yield from own(case)
    if case.parameters.get("C", 1.0) != 1.0:
        yield "divided by C", case.parameters["C"]


def objective_terms(own: Own) -> Hypothesis:
    """A term that was added to the optimal value, or taken from it."""

    def hypothesis(case: Case, answer: Answer) -> Trials:
        for words, added in own(case) if answer.objective is not None else ():
            if added:
                right = replace(answer, objective=(answer.objective or 0.0) - added)
                yield Trial("objective_terms", f"right but for the objective, {words}", right)

    return hypothesis


def single_task_terms(case: Case) -> Iterator[tuple[str, float]]:
    formulation, task, found = case.formulation, case.task, case.reference
    regulariser, weights = formulation.regulariser, np.nan_to_num(found.weights)
    price = 0.0 if regulariser is None else float(np.sum(regulariser.value(weights, **task.own)))
    norms = float(formulation.penalty(found.norms, **task.own)) - price
    loss = found.objective - norms - price
    yield "from which the penalty R of the weights is missing", -price
    yield "from which the loss is missing: only the norms are counted", -loss
    yield "from which the loss and the penalty R of the weights are missing", -loss - price
    if "C" in case.parameters:
        yield "in which the loss is not multiplied by C", loss / case.parameters["C"] - loss
    yield "in which the loss is divided by n, a mean", loss / case.instance.samples - loss
    yield "in whose quadratic term the ½ is missing, in the dual; or the norms are missing in the primal", -norms
    yield "in whose quadratic term the ½ is missing, in the primal; or the dual's linear term alone", norms
