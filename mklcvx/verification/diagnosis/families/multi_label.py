"""Many labels: classes in another order, a bias for each, labels left at 0 and 1."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ....problem.instance import Instance
from ....problem.stack import Array
from ...answers import Answer, as_numbers
from ...case import Case
from ..fits import FITTED
from ..mistakes import Mistakes, Trial, Trials, but_for, kernel_of, on_weights, with_parameters
from ..mistakes_in_answers import ANSWERS, WEIGHTS, along, objective_units, with_ours
from ..mistakes_in_data import OTHER_TARGETS, SUBSETS, even_weights, sample_weights
from ..mistakes_in_kernels import CHANGED, KERNELS, kept
from ..mistakes_in_points import weights_stale
from ..mistakes_in_problems import PROBLEMS

MOST_CLASSES = 4  # whose orders are all tried
MOST_STACKED = 250  # samples of all classes together


def classes_reordered(case: Case, answer: Answer) -> Trials:
    classes, given, gamma = case.task.classes, answer.coefficients, answer.multipliers.get("gamma")
    if answer.alpha is None or not 2 <= classes <= MOST_CLASSES:
        return
    for order in itertools.islice(itertools.permutations(range(classes)), 1, None):
        turned, words = list(order), ", ".join(str(k) for k in order)
        right: dict[str, Any] = {
            "alpha": answer.alpha[turned],
            "coefficients": None if given is None else given[turned],
        }
        if gamma is not None:
            right["multipliers"] = {**answer.multipliers, "gamma": np.asarray(gamma)[turned]}
        said = f"the order of the classes: theirs are our {words}"
        yield replace(but_for(answer, "classes_swapped", said, **right), kind="classes:order")


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
    own = [solve(one, "l1", C=case.parameters["C"], bias=False).weights for one in apart]
    names = [f"those of class {name} alone" for name in case.instance.targets.names]
    for whose, one in zip(("the mean of every class's own", *names), (np.mean(own, axis=0), *own), strict=True):
        if along(weights, one):
            words = f"the weights are {whose}: one combination that is best for all is meant"
            yield Trial("weights_of_classes", words, with_ours(case, answer))


def means(case: Case) -> Iterator[tuple[str, float]]:
    yield f"the mean over {case.task.classes} classes", float(case.task.classes)
    yield "the mean over classes and samples", float(case.task.classes * case.instance.samples)


def price_over_labels(case: Case, answer: Answer) -> Trials:
    value = case.parameters["C"] / case.task.classes
    words = f"C divided by the number of labels, that is C = {value:.6g}"
    yield with_parameters(case, answer, "C_over_labels", words, C=value)


def labels_zero_one(case: Case, answer: Answer) -> Trials:
    """A class's negatives cost C each, whatever f is."""
    if answer.alpha is not None:
        task = replace(case.task, signs=np.maximum(case.task.signs, 0.0))
        yield Trial("labels_zero_one", "optimal for labels left at 0 and 1: they are to be −1 and 1", answer, task=task)


def class_biases(case: Case, answer: Answer) -> Trials:
    """α of machines with a bias, one for every class, at the weights given."""
    if answer.alpha is None or answer.alpha.shape != case.task.signs.shape:
        return
    kernel, words = kernel_of(case, answer), "α is optimal for classifiers with a bias: this formulation has none"
    given = {"C": case.parameters["C"], "bias": True}
    machines = [
        Trial(
            "bias_added", f"{words} (class {k})", Answer(alpha=alpha),
            Instance(kernel[None], signs, sample_weight=case.instance.sample_weight), "svm", given,
        )
        for k, (alpha, signs) in enumerate(zip(answer.alpha, case.task.signs, strict=True))
    ]  # fmt: skip
    yield replace(machines[0], words=words, also=tuple(machines[1:]))


def stacked(case: Case, answer: Answer) -> Trials:
    """Other losses, and other penalties of the weights. The sum over classes is a single task: the samples of all
    classes together, and kernels I ⊗ K_m."""
    classes, shared = case.task.classes, {"C": case.parameters["C"], "bias": False}
    if case.formulation.name == "ml_minimax" or case.instance.samples * classes > MOST_STACKED:
        return
    whole = kept(case.instance, "stacked", lambda: Instance(
        np.stack([np.kron(np.eye(classes), np.asarray(kernel, dtype=float)) for kernel in case.task.each_kernel()]),
        case.task.signs.ravel(), sample_weight=np.tile(case.instance.sample_weight, classes),
    ))  # fmt: skip
    flat = None if answer.alpha is None else np.ravel(answer.alpha)
    parts = Answer(weights=answer.weights, alpha=flat, objective=answer.objective)
    if not parts.given:
        return
    for name, factor in (("squared_hinge", 1.0), ("squared_hinge", 2.0), ("logistic", 1.0), ("smoothed_hinge", 1.0)):
        words = f"optimal for another loss of every class: {name}{', without its ½' if factor != 1 else ''}"
        given = {**shared, "loss": name, "C": shared["C"] * factor}
        yield Trial(f"loss {name}", words, parts, whole, "l1", given)
    for name in ("l2", "average", "sum", "sm2", "square"):
        words = f"optimal for weights as {name} has them, with one combination for all classes"
        yield Trial(f"formulation {name}", words, parts, whole, name, shared)


MANY_LABELS = Mistakes(
    answers=(*ANSWERS[:2], classes_reordered, *ANSWERS[2:], objective_units(means)),
    answers_alone=(alpha_beta, weights_of_classes, *WEIGHTS),
    problems=(PROBLEMS[0], price_over_labels, *PROBLEMS[1:]),
    problems_alone=(
        *SUBSETS,
        even_weights,
        sample_weights,
        class_biases,
        stacked,
        labels_zero_one,
        *FITTED,
        *OTHER_TARGETS,
        *CHANGED,
        *KERNELS,
        weights_stale,
    ),
)
