"""Hypergraphs: Z in other units, and what is added to the trace or missing from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...answers import Answer
from ...case import Case
from ..fits import FITTED
from ..mistakes import Mistakes, Trials, but_for
from ..mistakes_in_answers import ANSWERS, WEIGHTS, objective_terms, objective_units
from ..mistakes_in_data import OTHER_TARGETS, SUBSETS, even_weights, sample_weights
from ..mistakes_in_kernels import CHANGED, KERNELS
from ..mistakes_in_problems import PROBLEMS


def embedding_half(case: Case, answer: Answer) -> Trials:
    z = answer.multipliers.get("Z")
    if z is not None:
        for factor, fault in ((2.0, "half"), (0.5, "twice")):
            multipliers = {**answer.multipliers, "Z": factor * np.asarray(z, dtype=float)}
            yield but_for(answer, "Z_half", f"Z, which is {fault} of what it should be", multipliers=multipliers)


def terms(case: Case) -> Iterator[tuple[str, float]]:
    yield "to which tr(A) is added: the sum of the eigenvalues", float(np.sum(case.task.h**2))
    bonus = case.formulation.bonus(case.task, case.reference.weights)
    yield "from which the entropy of the weights is missing", -bonus
    smoothing = case.task.smoothing or 0.0
    mean = "which has log of the mean of the exponentials, lower by σ log M, where that of their sum is meant"
    yield mean, -smoothing * float(np.log(case.task.count))


HYPERGRAPHS = Mistakes(
    answers=(*ANSWERS, objective_units(), objective_terms(terms)),
    answers_alone=(embedding_half, *WEIGHTS),
    problems=PROBLEMS,
    problems_alone=(*SUBSETS, even_weights, sample_weights, *FITTED, *OTHER_TARGETS, *CHANGED, *KERNELS),
)
