"""Usual mistakes in what a solver was fed: other weights of samples, one kernel, a ridge, another loss, other pairs.

The squared hinge, min ½‖f‖² + CΣξ² (or C/2), is a machine without an upper bound on α whose kernel has 1/(2C) (or 1/C)
added to the diagonal; it is tried with the weights given. Weights that may be negative are those of kernels K and −K.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ..answers import Answer
from ..formulations import SingleTask
from ..formulations._low_rank import LowRank
from ..formulations._multi_label import MultiLabel
from ..formulations._pairs import Pairs
from ..formulations._stack import Array, KernelStack
from ..formulations._two_stage import PairTask, TwoStage
from ..formulations.alignment import Alignment, AlignmentTask
from ..instance import Instance
from .case import Case
from .trial import Hypothesis, Trial, Trials
from .wrong_weights import UNCONSTRAINED

RIDGES = (1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
VANISHING = 1e-6  # a weight below this share of the largest is none
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


def one_kernel(case: Case, answer: Answer) -> Trials:
    weights = answer.weights
    if weights is None or case.task.count == 1 or weights.size != case.task.count or not np.isfinite(weights).all():
        return
    used = np.flatnonzero(np.abs(np.ravel(weights)) > VANISHING * np.abs(weights).max())
    if len(used) != 1:
        return
    m = int(used[0])
    coefficients = None if answer.coefficients is None else answer.coefficients[..., used, :]
    alone = replace(answer, weights=np.ravel(weights)[used], coefficients=coefficients)
    words = f"optimal for kernel {case.instance.names[m]} alone: no combination was learned"
    yield Trial("one_kernel", words, alone, instance=case.instance.select([m]))


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


def ridge(case: Case, answer: Answer) -> Trials:
    if (answer.alpha is None and answer.objective is None) or isinstance(case.instance.kernels, LowRank):
        return
    kernels, identity = np.asarray(case.instance.kernels, dtype=float), np.eye(case.instance.samples)
    for size in RIDGES:
        changed = case.instance.with_kernels(kernels + size * identity)
        words = f"optimal for kernels with {size:g} added to their diagonals"
        yield Trial("ridge", words, answer, instance=changed)


def squared_hinge(case: Case, answer: Answer) -> Trials:
    if not isinstance(case.formulation, SingleTask) or answer.alpha is None or "C" not in case.parameters:
        return
    alpha = np.ravel(answer.alpha)
    largest = float(np.abs(alpha).max())
    if len(alpha) != case.task.samples or largest == 0:
        return
    for fault, factor in (("CΣξ²", 2.0), ("(C/2)Σξ²", 1.0)):
        kernel = _kernel(case, answer) + np.diag(1 / (factor * case.task.box))
        machine = Instance(kernel[None], case.task.y)
        given = {"C": FAR * largest, "bias": case.parameters["bias"]}
        words = f"α is optimal for the squared hinge loss, {fault}, at these weights"
        yield Trial("squared_hinge", words, Answer(alpha=alpha), machine, "svm", given)


def class_biases(case: Case, answer: Answer) -> Trials:
    """α of machines with a bias, one for every class, at the weights given."""
    if not isinstance(case.formulation, MultiLabel) or answer.alpha is None:
        return
    if answer.alpha.shape != case.task.signs.shape:
        return
    kernel, words = _kernel(case, answer), "α is optimal for classifiers with a bias: this formulation has none"
    given = {"C": case.parameters["C"], "bias": True}
    machines = [
        Trial(
            "bias_added", f"{words} (class {k})", Answer(alpha=alpha),
            Instance(kernel[None], signs, sample_weight=case.instance.sample_weight), "svm", given,
        )
        for k, (alpha, signs) in enumerate(zip(answer.alpha, case.task.signs, strict=True))
    ]  # fmt: skip
    yield replace(machines[0], words=words, also=tuple(machines[1:]))


def _kernel(case: Case, answer: Answer) -> Array:
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
            yield Trial("unconstrained", UNCONSTRAINED, both, task=_of_any_sign(case.task))
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


def _of_any_sign(task: PairTask) -> PairTask:
    kernels = np.asarray(task.pairs.stack.kernels, dtype=float)
    both = KernelStack(np.concatenate([kernels, -kernels]), symmetric=task.pairs.stack.symmetric)
    return replace(task, pairs=Pairs(both))


def _upper_triangles(case: Case) -> AlignmentTask:
    pairs = Pairs(KernelStack(case.instance.kernels, symmetric=case.instance.symmetric))
    once, together = np.ones(pairs.count), case.instance.targets.together()
    return replace(case.task, products=pairs.gram(once), target=pairs.pull(pairs.triangle(together)))


DATA: tuple[Hypothesis, ...] = (
    one_kernel, even_weights, sample_weights, other_pairs, class_biases, squared_hinge, ridge,
)  # fmt: skip
