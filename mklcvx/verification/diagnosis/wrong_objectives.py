"""Usual mistakes in the objective alone: a term is missing from it, or it is counted in other units.

At the optimum of a single task the value is P + R + L = G − P + R: the norms' part P, the price R(μ) of the weights,
the loss L and the gain G. A ½ that is missing from P makes L + 2P + R in the primal and G − 2P + R in the dual. Other
families have less to forget: the price of the weights or the loss in two stages, the entropy of the weights in the
smoothed hypergraph, tr(C) between the trace that is minimised and the eigenvalues that are summed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...formulations import SingleTask
from ...formulations.alignment import Alignment
from ...formulations.families.hypergraph import Hypergraph
from ...formulations.families.multi_label import MultiLabel
from ..answers import Answer
from ..case import Case
from .trial import Hypothesis, Trial, Trials


class Term(NamedTuple):
    """What was added to the optimal value, or taken from it, and in which words."""

    words: str
    added: float


def objective_units(case: Case, answer: Answer) -> Trials:
    """A factor between the objective and ours: a mean where a sum is meant, or the reverse."""
    if not answer.objective:
        return
    for words, factor in _factors(case):
        right = replace(answer, objective=answer.objective * factor)
        yield Trial("objective_units", f"right but for the objective, which is {words}", right)
    if isinstance(case.formulation, Alignment):
        root = float(np.sqrt(abs(answer.objective)))
        words = "right but for the objective, which is the square of the alignment, or minus that"
        yield Trial("objective_units", words, replace(answer, objective=root))


def _factors(case: Case) -> Iterator[tuple[str, float]]:
    n = case.instance.samples
    yield "divided by n", float(n)
    yield "multiplied by n", 1 / n
    if isinstance(case.formulation, MultiLabel):
        yield f"the mean over {case.task.classes} classes", float(case.task.classes)
        yield "the mean over classes and samples", float(case.task.classes * n)
    if case.formulation.family == "two stages" and not case.formulation.maximises:
        yield "summed over the pairs: ours is their mean", 2 / (n * (n + 1))
    if case.parameters.get("C", 1.0) != 1.0:
        yield "divided by C", case.parameters["C"]


def objective_terms(case: Case, answer: Answer) -> Trials:
    if answer.objective is None:
        return
    for words, added in _terms(case):
        if added:
            right = replace(answer, objective=answer.objective - added)
            yield Trial("objective_terms", f"right but for the objective, {words}", right)


def _terms(case: Case) -> Iterator[Term]:
    if isinstance(case.formulation, SingleTask):
        yield from _single_task(case)
    elif isinstance(case.formulation, Hypergraph):
        yield Term("to which tr(C) is added: the sum of the eigenvalues", float(np.sum(case.task.h**2)))
        bonus = case.formulation.bonus(case.task, case.reference.weights)
        yield Term("from which the entropy of the weights is missing", -bonus)
        smoothing = case.task.smoothing or 0.0
        mean = "which has log of the mean of the exponentials, lower by μ log M, where that of their sum is meant"
        yield Term(mean, -smoothing * float(np.log(case.task.count)))
    elif case.formulation.family == "two stages" and not case.formulation.maximises:
        loss = case.task.hinge(case.reference.weights)
        yield Term("from which the penalty of the weights is missing", loss - case.reference.objective)
        yield Term("from which the loss is missing", -loss)


def _single_task(case: Case) -> Iterator[Term]:
    formulation, task, found = case.formulation, case.task, case.reference
    regulariser, weights = formulation.regulariser, np.nan_to_num(found.weights)
    price = 0.0 if regulariser is None else float(np.sum(regulariser.value(weights, **task.own)))
    norms = float(formulation.penalty(found.norms, **task.own)) - price
    loss = found.objective - norms - price
    yield Term("from which the penalty R of the weights is missing", -price)
    yield Term("from which the loss is missing: only the norms are counted", -loss)
    yield Term("from which the loss and the penalty R of the weights are missing", -loss - price)
    if "C" in case.parameters:
        yield Term("in which the loss is not multiplied by C", loss / case.parameters["C"] - loss)
    yield Term("in which the loss is divided by n, a mean", loss / case.instance.samples - loss)
    yield Term("in whose quadratic term the ½ is missing, in the dual; or the norms are missing in the primal", -norms)
    yield Term("in whose quadratic term the ½ is missing, in the primal; or the dual's linear term alone", norms)


OBJECTIVES: tuple[Hypothesis, ...] = (objective_units, objective_terms)
