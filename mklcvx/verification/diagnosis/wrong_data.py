"""Usual mistakes in the loss and its samples: weights of samples, a squared loss, a bias per class, other pairs.

The squared hinge, min ½‖f‖² + CΣξ² (or C/2), is a machine without an upper bound on α whose kernel has 1/(2C) (or 1/C)
added to the diagonal; it is tried with the weights given. Without the sign of ξ it is least squares, whose optimality
is a linear system: (K + I/C)(α∘y) + b = y, 1'(α∘y) = 0. Labels left at 0 and 1 make a class's negatives cost C each,
whatever f is. Weights that may be negative are those of kernels K and −K.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ...formulations import SingleTask
from ...formulations.alignment import Alignment, AlignmentTask
from ...formulations.families.multi_label import MultiLabel
from ...formulations.families.pairs import Pairs
from ...formulations.families.two_stage import TwoStage
from ...problem.instance import Instance
from ...problem.stack import Array, KernelStack
from ..answers import Answer
from ..case import Case
from .trial import Hypothesis, Trial, Trials
from .wrong_rules import UNCONSTRAINED, of_any_sign
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
    staged = case.formulation.family == "two stages"
    if weights is None or isinstance(case.formulation, SingleTask) or staged or case.task.count == 1:
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
    if not isinstance(case.formulation, SingleTask) or answer.alpha is None or "C" not in case.parameters:
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
    if not isinstance(case.formulation, SingleTask) or answer.alpha is None or "C" not in case.parameters:
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


def labels_zero_one(case: Case, answer: Answer) -> Trials:
    if isinstance(case.formulation, MultiLabel) and answer.alpha is not None:
        task = replace(case.task, signs=np.maximum(case.task.signs, 0.0))
        yield Trial("labels_zero_one", "optimal for labels left at 0 and 1: they are to be −1 and 1", answer, task=task)


def second_stage(case: Case, answer: Answer) -> Trials:
    """α of the second stage's machine, with a kernel that the weights did not make."""
    if case.formulation.family != "two stages" or answer.alpha is None or case.instance.targets.kind != "y":
        return
    count, kept = case.instance.count, replace(answer, alpha=None, bias=None)
    rest = (Trial("second_stage", "the rest is right", kept),) if kept.given else ()
    for words, size in (("sum", 1.0), ("average", 1 / count)):
        kernel = KernelStack(case.instance.kernels, symmetric=case.instance.symmetric).combined(np.full(count, size))
        machine = Instance(np.asarray(kernel)[None], case.instance.y, sample_weight=case.instance.sample_weight)
        said = f"α is optimal for the {words} of the kernels: the second stage did not use the weights"
        parts, given = Answer(alpha=answer.alpha, bias=answer.bias), {"C": case.parameters["C"]}
        yield Trial("second_stage", said, parts, machine, "svm", given, also=rest)


def class_biases(case: Case, answer: Answer) -> Trials:
    """α of machines with a bias, one for every class, at the weights given."""
    if not isinstance(case.formulation, MultiLabel) or answer.alpha is None:
        return
    if answer.alpha.shape != case.task.signs.shape:
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


def kernel_of(case: Case, answer: Answer) -> Array:
    given = answer.weights
    usable = given is not None and given.size == case.task.count and np.isfinite(given).all()
    weights = np.ravel(given) if usable and given is not None else np.nan_to_num(case.reference.weights)
    return np.array(case.task.combined(np.maximum(weights, 0.0)))


def other_pairs(case: Case, answer: Answer) -> Trials:
    if isinstance(case.formulation, TwoStage):
        for words, weigh in WEIGHED:
            task = replace(case.task, weight=weigh(case.task.pairs))
            yield Trial("pairs", f"optimal for {words}", replace(answer, multipliers={}), task=task)
        if answer.weights is not None and (answer.weights < 0).any() and answer.weights.size == case.task.count:
            weights = np.ravel(answer.weights)
            split = np.concatenate([np.maximum(weights, 0.0), np.maximum(-weights, 0.0)])
            both = Answer(weights=split, objective=answer.objective)
            yield Trial("unconstrained", UNCONSTRAINED, both, task=of_any_sign(case.task))
    elif isinstance(case.formulation, Alignment):
        words = "optimal for pairs i ≤ j: the inner products are over all ordered pairs"
        yield Trial("pairs", words, answer, task=_upper_triangles(case))


def _ordered(pairs: Pairs) -> Array:
    weight = np.full(pairs.count, 2.0)
    weight[pairs.diagonal] = 1.0
    return weight / pairs.stack.samples**2


def _apart(pairs: Pairs) -> Array:
    weight = np.ones(pairs.count)
    weight[pairs.diagonal] = VANISHING**2  # a pair without any has no multiplier
    return weight / weight.sum()


WEIGHED: tuple[tuple[str, Callable[[Pairs], Array]], ...] = (
    ("all n² ordered pairs, not those with i ≤ j", _ordered),
    ("pairs of different samples: those of a sample with itself are left out", _apart),
)


def _upper_triangles(case: Case) -> AlignmentTask:
    pairs = Pairs(KernelStack(case.instance.kernels, symmetric=case.instance.symmetric))
    once, together = np.ones(pairs.count), case.instance.targets.together()
    return replace(case.task, products=pairs.gram(once), target=pairs.pull(pairs.triangle(together)))


DATA: tuple[Hypothesis, ...] = (
    even_weights, sample_weights, other_pairs, class_biases, second_stage, labels_zero_one, squared_hinge,
    least_squares,
)  # fmt: skip
