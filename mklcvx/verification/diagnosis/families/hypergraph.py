"""Hypergraphs: other graphs of the labels, Z in other units, and what is added to the trace or missing from it.

The claimed value tells λ and σ: with K(μ) = UDU' the trace is Σ_i λ‖u_i'H‖²/(λ + d_i), which grows with λ, and σ is
what the entropy of μ is multiplied by. Without a value the weights tell σ, for log μ_m is S_m/σ up to a constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....formulations.families.hypergraph import solved
from ....problem.stack import Array
from ...answers import Answer
from ...case import FITS, Case, pose
from ..fits import FITTED, told_by_value
from ..mistakes import VANISHING, DiagnosticTrial, Hypothesis, Mistakes, Trials, but_for, on_weights
from ..mistakes_in_answers import ANSWERS, WEIGHTS, objective_terms, objective_units
from ..mistakes_in_data import OTHER_TARGETS, SUBSETS, even_weights, sample_weights
from ..mistakes_in_kernels import CHANGED, KERNELS
from ..mistakes_in_problems import PROBLEMS

WIDEST = 20.0  # logarithm of how far from the one given a λ is looked for


def embedding_half(case: Case, answer: Answer) -> Trials:
    z = answer.multipliers.get("Z")
    if z is not None:
        for factor, fault in ((2.0, "half"), (0.5, "twice"), (-1.0, "minus")):
            multipliers = {**answer.multipliers, "Z": factor * np.asarray(z, dtype=float)}
            yield but_for(answer, "Z_half", f"Z, which is {fault} of what it should be", multipliers=multipliers)


# ---------------------------------------------------------------------------------------------- λ and σ from the value
@on_weights
def ridge_told(case: Case, answer: Answer, weights: Array) -> Trials:
    from scipy.optimize import brentq

    task, given = case.task, case.parameters["lam"]
    if answer.objective is None or (weights < 0).any() or not weights.any():
        return
    trace = case.formulation.bonus(task, weights / weights.sum()) - answer.objective
    sizes, vectors = np.linalg.eigh(task.combined(weights / weights.sum()))
    shares = np.sum((vectors.T @ task.h) ** 2, axis=1)

    def missing(t: float) -> float:
        lam = given * np.exp(t)
        return float(np.sum(shares * lam / (lam + np.maximum(sizes, 0.0)))) - trace

    if missing(-WIDEST) < 0 < missing(WIDEST):
        yield from told_by_value(case, answer, "lam", given * float(np.exp(brentq(missing, -WIDEST, WIDEST))))


@on_weights
def smoothing_told(case: Case, answer: Answer, weights: Array) -> Trials:
    task = case.task
    if task.smoothing is None or (weights <= VANISHING * weights.max()).any() or task.count < 2:
        return
    mu = weights / weights.sum()
    z = solved(task, mu)
    if answer.objective is not None:
        entropy = float(-mu @ np.log(mu))
        yield from told_by_value(
            case, answer, "smoothing", (answer.objective + float(np.vdot(z, task.h)) / 2) / entropy
        )
    logs, scores = np.log(mu) - np.log(mu).mean(), task.scores(z)
    if logs.any():
        yield from told_by_value(case, answer, "smoothing", float(logs @ scores / (logs @ logs)))


def smoothed(case: Case, answer: Answer) -> Trials:
    """The smoothed form, its σ being what the answer tells."""
    if case.task.smoothing is None and type(case) is Case:
        for trial in smoothing_told(pose(case.instance, "hypergraph_smooth", without_rank(case), FITS), answer):
            words = trial.words.partition(", and not")[0].replace("optimal for", "optimal for the smoothed maximum,")
            yield replace(
                trial, name="formulation hypergraph_smooth", words=words, formulation="hypergraph_smooth", kind=""
            )


# ------------------------------------------------------------------------------------------------------- other graphs
def laplacian(case: Case, answer: Answer) -> Trials:
    """The Laplacian I − A in the place of A."""
    values, vectors = np.linalg.eigh(np.eye(case.instance.samples) - case.task.h @ case.task.h.T)
    used = values > VANISHING * values[-1]
    task = replace(case.task, h=vectors[:, used] * np.sqrt(values[used]))
    words = "optimal for the Laplacian I − A in place of A"
    yield DiagnosticTrial("graph", words, answer, task=task, kind="kernels:distance")


def without_rank(case: Case) -> dict[str, object]:
    """The parameters without one that labels decide: other labels may make another rank."""
    return {key: value for key, value in case.parameters.items() if key != "dimensions"}


def of_any_rank(hypothesis: Hypothesis) -> Hypothesis:
    """A hypothesis about labels: their rank may be another."""

    def changed(case: Case, answer: Answer) -> Trials:
        for trial in hypothesis(case, answer):
            given = without_rank(case) if trial.parameters is None else trial.parameters
            yield replace(trial, parameters=given)

    return changed


def terms(case: Case) -> Iterator[tuple[str, float]]:
    yield "to which tr(A) is added: the sum of the eigenvalues", float(np.sum(case.task.h**2))
    yield "from which the entropy of the weights is missing", -case.formulation.bonus(case.task, case.reference.weights)
    mean = "which has log of the mean of the exponentials, lower by σ log M, where that of their sum is meant"
    yield mean, -(case.task.smoothing or 0.0) * float(np.log(case.task.count))


def units(case: Case) -> Iterator[tuple[str, float]]:
    yield "divided by the number of labels", float(case.task.h.shape[1])


HYPERGRAPHS = Mistakes(
    answers=(*ANSWERS, objective_units(units), objective_terms(terms)),
    answers_alone=(embedding_half, *WEIGHTS),
    problems=(*PROBLEMS, laplacian),
    problems_alone=(
        smoothed, *SUBSETS, even_weights, sample_weights, *map(of_any_rank, OTHER_TARGETS), *CHANGED, *FITTED,
        *KERNELS,
    ),
    told=(ridge_told, smoothing_told),
)  # fmt: skip
