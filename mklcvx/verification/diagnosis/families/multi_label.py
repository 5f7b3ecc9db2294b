"""Many labels: classes in another order, a bias for each, labels left at 0 and 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....formulations import RankOneCoefficients, Task
from ....problem.instance import Instance
from ....problem.stack import Array
from ...answers import Answer, as_numbers
from ...case import Case
from ...families.single_task import machine_alpha
from ..fits import FITTED
from ..mistakes import (
    SAME,
    DiagnosticTrial,
    Mistakes,
    Trials,
    but_for,
    given_weights,
    on_weights,
    with_parameters,
)
from ..mistakes_in_answers import ANSWERS, WEIGHTS, along, objective_terms, objective_units, reordered, with_ours
from ..mistakes_in_data import OTHER_TARGETS, SUBSETS, even_weights, sample_weights
from ..mistakes_in_kernels import CHANGED, KERNELS
from ..mistakes_in_points import weights_stale
from ..mistakes_in_problems import PROBLEMS, shared_bound

MEETING = 1e-5  # gap of bounds that meet


def alpha_beta(case: Case, answer: Answer) -> Trials:
    """β = γα of `ml_minimax`."""
    alpha = answer.alpha
    if case.formulation.name != "ml_minimax" or alpha is None or alpha.shape != case.task.signs.shape:
        return
    gamma = np.ravel(as_numbers("gamma", answer.multipliers.get("gamma", case.reference.multipliers["gamma"])))
    if gamma.shape != alpha.shape[:1]:
        return
    divided = np.divide(alpha, gamma[:, None], out=np.zeros(alpha.shape), where=gamma[:, None] > 1e-9)
    words = "α: β = γα was handed over in its place"
    yield but_for(answer, "alpha_beta", words, alpha=np.minimum(divided, case.task.box))


@on_weights
def weights_of_classes(case: Case, answer: Answer, weights: Array) -> Trials:
    """Every class's own best weights, averaged, or those of one class."""
    from ....solvers.solving import solve

    kernels, weight = case.instance.kernels, case.instance.sample_weight
    apart = [Instance(kernels, signs, sample_weight=weight) for signs in case.task.signs]
    own = [solve(instance, "l1", C=case.parameters["C"], bias=False).weights for instance in apart]
    names = [f"those of class {name} alone" for name in case.instance.targets.names]
    for whose, theirs in zip(("the mean of every class's own", *names), (np.mean(own, axis=0), *own), strict=True):
        if along(weights, theirs):
            words = f"the weights are {whose}: one combination that is best for all is meant"
            yield DiagnosticTrial("weights_of_classes", words, with_ours(case, answer), recognised=True)


def means(case: Case) -> Iterator[tuple[str, float]]:
    yield f"the mean over {case.task.classes} classes", float(case.task.classes)
    yield "the mean over classes and samples", float(case.task.classes * case.instance.samples)


def price_over_labels(case: Case, answer: Answer) -> Trials:
    value = case.parameters["C"] / case.task.classes
    words = f"C divided by the number of labels, that is C = {value:.6g}"
    yield with_parameters(case, answer, "C_over_labels", words, C=value)


def price_told(case: Case, answer: Answer) -> Trials:
    """C, which is the largest α where several samples share it."""
    if answer.alpha is None or answer.alpha.shape != case.task.signs.shape:
        return
    top, given = shared_bound(np.abs(answer.alpha) / case.instance.sample_weight), case.parameters["C"]
    if top is not None and abs(top - given) > SAME * given:
        words = f"C = {top:.6g}, the largest α, and not for C = {given:.6g}"
        yield with_parameters(case, answer, "parameter", words, C=top)


def labels_zero_one(case: Case, answer: Answer) -> Trials:
    """A class's negatives cost C each, whatever f is."""
    if answer.alpha is not None:
        task = replace(case.task, signs=np.maximum(case.task.signs, 0.0))
        yield DiagnosticTrial(
            "labels_zero_one", "optimal for labels left at 0 and 1: they are to be −1 and 1", answer, task=task
        )


# ------------------------------------------------------------------------------- other losses and biases of the classes
CLASS_LOSSES: tuple[tuple[str, float], ...] = (
    ("squared_hinge", 1.0), ("squared_hinge", 2.0), ("logistic", 1.0), ("smoothed_hinge", 1.0), ("squared", 1.0),
    ("squared", 2.0),
)  # fmt: skip


def class_losses(case: Case, answer: Answer) -> Trials:
    """Another loss of every class, with a ½ before squares or without."""
    for name, factor in CLASS_LOSSES:
        words = f"optimal for another loss of every class: {name}{', without its ½' if factor != 1 else ''}"
        if _meets(case, answer, name, factor, bias=False):
            yield DiagnosticTrial(f"loss {name}", words, ours(case, answer))


def class_biases(case: Case, answer: Answer) -> Trials:
    """A bias for every class."""
    if _meets(case, replace(answer, bias=None), "hinge", 1.0, bias=True):
        words = "optimal for classifiers with a bias: this formulation has none"
        yield DiagnosticTrial("bias_added", words, ours(case, replace(answer, bias=None)))


def _meets(case: Case, answer: Answer, loss: str, factor: float, bias: bool) -> bool:
    """Whether weights, α and value are optimal with these machines. Bounds are those of the formulation: classes with
    γ_k, which is one for the sum, and the best one for the largest."""
    task, weights = case.task, given_weights(case, answer)
    if weights is None or abs(weights.sum() - 1) > SAME or (weights < 0).any():
        return False
    singles = [
        Task(task.kernels, signs, factor * task.box, loss, bias, symmetric=task.symmetric) for signs in task.signs
    ]
    if answer.alpha is not None and answer.alpha.shape != task.signs.shape:
        return False
    primal, gains, halves = [], [], []
    for k, single in enumerate(singles):
        given = machine_alpha(single, weights) if answer.alpha is None else np.asarray(answer.alpha[k])
        alpha = single.feasible(given)
        if np.abs(alpha - given).max() > SAME * np.abs(given).max(initial=1e-300):
            return False
        outputs, _ = single.evaluate(RankOneCoefficients(weights, alpha * single.signs))
        squares = single.root_q(alpha) ** 2
        primal.append(float(weights @ squares) / 2 + single.risk(outputs).value)
        gains.append(single.gain(alpha))
        halves.append(squares / 2)
    return _bounds_meet(case, answer, np.array(primal), np.array(gains), np.array(halves))


def _bounds_meet(case: Case, answer: Answer, primal: Array, gains: Array, halves: Array) -> bool:
    from scipy.optimize import linprog

    if case.formulation.name == "ml_sum":
        upper, lower, scale = float(primal.sum()), float(gains.sum() - halves.sum(axis=0).max()), float(halves.sum())
    else:
        cuts = np.hstack([halves.T, -np.ones((case.task.count, 1))])
        simplex = np.append(np.ones(case.task.classes), 0.0)[None]
        ends = [(0, 1)] * case.task.classes + [(0, None)]
        optimum = linprog(np.append(-gains, 1.0), cuts, np.zeros(case.task.count), simplex, [1.0], ends)
        upper, lower, scale = float(primal.max()), -float(optimum.fun), float(halves.max())
    value = upper if answer.objective is None else answer.objective
    return upper - lower <= MEETING * scale and lower - MEETING * scale <= value <= upper + MEETING * scale


def ours(case: Case, answer: Answer) -> Answer:
    """The certified parts in place of those given, which were found to be right for another problem."""
    optimum, given = case.reference, set(answer.given)
    return Answer(**{name: getattr(optimum, name) for name in ("weights", "alpha", "objective") if name in given})


def terms(case: Case) -> Iterator[tuple[str, float]]:
    """Of the value: the classes' own values at the certified weights."""
    task, optimum = case.task, case.reference
    weights = np.nan_to_num(optimum.weights)
    signed = np.asarray(optimum.alpha, dtype=float) * task.signs
    outputs, squares = task.evaluate(weights[None, :, None] * signed[:, None, :])
    norms = np.sum(np.divide(squares, weights, out=np.zeros_like(squares), where=weights > 0), axis=1) / 2
    values = task.risks(outputs) + norms
    for words, claimed in (
        ("the sum of the classes' values", values.sum()),
        ("the mean of the classes' values", values.mean()),
        ("the largest of the classes' values", values.max()),
    ):
        yield f"which is {words}", float(claimed) - optimum.objective


def gamma_scaled(case: Case, answer: Answer) -> Trials:
    gamma = answer.multipliers.get("gamma")
    if gamma is not None:
        shares = as_numbers("gamma", gamma)
        total = float(shares.sum())
        if total > 0 and abs(total - 1) > SAME:
            words = f"γ, which sums to {total:.6g}: the classes' shares sum to one"
            yield but_for(answer, "Z_half", words, multipliers={**answer.multipliers, "gamma": shares / total})


MANY_LABELS = Mistakes(
    answers=(
        *ANSWERS[:2], reordered("classes_order", "classes"), *ANSWERS[2:], objective_units(means),
        objective_terms(terms), gamma_scaled,
    ),
    answers_alone=(alpha_beta, weights_of_classes, *WEIGHTS),
    problems=(PROBLEMS[0], price_over_labels, class_losses, class_biases, *PROBLEMS[1:]),
    problems_alone=(
        *SUBSETS, even_weights, sample_weights, labels_zero_one, *FITTED, *OTHER_TARGETS, *CHANGED, *KERNELS,
        weights_stale,
    ),
    told=(price_told,),
)  # fmt: skip
