"""Usual mistakes in the loss and its samples: weights of samples, a squared loss, no weights of kernels at all.

The squared hinge, min ½‖f‖² + CΣξ² (or C/2), is a machine without an upper bound on α whose kernel has 1/(2C) (or 1/C)
added to the diagonal; it is tried with the weights given. Without the sign of ξ it is least squares, whose optimality
is a linear system: (K + I/C)(α∘y) + b = y, 1'(α∘y) = 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...problem.instance import Instance
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from .trial import Trial, Trials
from .wrong_weights import SAME

VANISHING = 1e-6  # a weight below this share of the largest is none
SQUARED = (("CΣξ²", 2.0), ("(C/2)Σξ²", 1.0))
FAR = 100.0  # how far above the largest α a bound must be not to matter


def sample_weights(case: Case, answer: Answer) -> Trials:
    for words, weight in _weightings(case.instance):
        changed = case.instance.with_kernels(case.instance.kernels, sample_weight=weight)
        yield Trial("sample_weight", f"optimal for {words}", answer, instance=changed)


def _weightings(instance: Instance) -> Iterator[tuple[str, Array]]:
    given, ones = instance.sample_weight, np.ones(instance.samples)
    if np.ptp(given) > 0:
        yield "samples without their weights", ones
        yield "weights of samples that are scaled to the mean 1", given / given.mean()
    if instance.targets.kind != "y":
        return
    positive = instance.y > 0
    of_class = [np.unique(given[side]) for side in (positive, ~positive)]
    if all(len(one) == 1 for one in of_class) and np.ptp(given) > 0:
        yield "the classes swapped: the other one's samples have the weight", given.max() + given.min() - given
    balanced = np.where(positive, 1 / positive.sum(), 1 / (~positive).sum()) * instance.samples / 2
    yield "classes of balanced weight, which was not asked for", given * balanced


def even_weights(case: Case, answer: Answer) -> Trials:
    """For families that `average` does not stand for."""
    weights = answer.weights
    if weights is None or case.task.count == 1:
        return
    if np.ptp(weights) > VANISHING * np.abs(weights).max() or not (np.ravel(weights) > 0).all():
        return
    kernel = np.asarray(case.task.combined(np.full(case.task.count, 1 / case.task.count)))
    coefficients = None if answer.coefficients is None else answer.coefficients.sum(axis=-2, keepdims=True)
    alone = replace(answer, weights=np.ones(1), coefficients=coefficients)
    changed = case.instance.with_kernels(kernel[None], groups=None, names=None, **NO_TEST)
    yield Trial("weights_even", "optimal for the average of the kernels: no weights were learned", alone, changed)


NO_TEST = dict.fromkeys(("test_kernels", "test_diagonals", "test_y", "test_classes", "test_labels"))


def squared_hinge(case: Case, answer: Answer) -> Trials:
    if answer.alpha is None or "C" not in case.parameters:
        return
    alpha = np.ravel(answer.alpha)
    largest = float(np.abs(alpha).max())
    if len(alpha) != case.task.samples or largest == 0:
        return
    for fault, factor in SQUARED:
        kernel = kernel_of(case, answer) + np.diag(1 / (factor * case.task.box))
        machine = Instance(kernel[None], case.task.y)
        given = {"C": FAR * largest, "bias": case.parameters["bias"]}
        words = f"α is optimal for the squared hinge loss, {fault}, at these weights"
        yield Trial("squared_hinge", words, Answer(alpha=alpha), machine, "svm", given)


def least_squares(case: Case, answer: Answer) -> Trials:
    """α, or α∘y, solves the linear system of a squared loss at the weights given."""
    if answer.alpha is None or "C" not in case.parameters:
        return
    alpha, task = np.ravel(answer.alpha), case.task
    if len(alpha) != task.samples or not np.isfinite(alpha).all():
        return
    kernel = kernel_of(case, answer)
    for fault, factor in SQUARED:
        for signed in (alpha * task.y, alpha):
            left = task.y - kernel @ signed - signed / (factor * task.box)
            off = np.ptp(left) + abs(signed.sum()) if task.bias else np.abs(left).max()
            if off <= SAME:
                words = f"α is optimal for least squares, {fault} with ξ of either sign, at these weights"
                yield Trial("least_squares", words, Answer(alpha=case.reference.alpha))


def kernel_of(case: Case, answer: Answer) -> Array:
    given = answer.weights
    usable = given is not None and given.size == case.task.count and np.isfinite(given).all()
    weights = np.ravel(given) if usable and given is not None else np.nan_to_num(case.reference.weights)
    return np.array(case.task.combined(np.maximum(weights, 0.0)))
