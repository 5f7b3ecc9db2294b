"""Mistakes in the data that a solver read: its kernels, samples, labels and groups; and in the loss of the samples.

What was left out can be seen: a kernel has weight zero; a sample has α = 0 in spite of y f < 1, which no optimum of a
problem with this sample allows. A label that was misread changes y'α by twice its α.

The squared hinge, min ½‖f‖² + CΣξ² (or C/2), is an SVM without an upper bound on α whose kernel has 1/(2C) (or 1/C)
added to the diagonal; it is tried with the weights given. Without the sign of ξ it is least squares, whose optimality
is a linear system: (K + I/C)(α∘y) + b = y, 1'(α∘y) = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...problem.instance import Instance
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from ..families.single_task import least_curvature
from ..shrinking import restricted
from .mistakes import SAME, VANISHING, Hypotheses, Trial, Trials, kernel_of, on_alpha, on_weights, with_instance
from .mistakes_in_losses import implied_outputs

Groups = NDArray[np.intp]
NAMED = 5  # of those left out
FLIPPED = 80  # samples whose labels are turned one by one
FEW = 5  # kernels whose groupings are all tried
SUSPECTS = 30  # labels that are tried
SQUARED = (("CΣξ²", 2.0), ("(C/2)Σξ²", 1.0))
FAR = 100.0  # how far above the largest α a bound must be not to matter


# ------------------------------------------------------------------------------------------------- kernels left out
@on_weights
def kernels_left_out(case: Case, answer: Answer, weights: Array) -> Trials:
    used = np.flatnonzero(np.abs(weights) > VANISHING * np.abs(weights).max())
    if len(used) in (0, len(weights)):
        return
    coefficients = None if answer.coefficients is None else answer.coefficients[..., used, :]
    part = replace(answer, weights=weights[used], coefficients=coefficients)
    names = case.instance.names
    if len(used) == 1:
        name, words = "one_kernel", f"optimal for kernel {names[used[0]]} alone: no combination was learned"
    else:
        out = [names[m] for m in np.setdiff1d(np.arange(len(weights)), used)]
        name, words = "kernels_left_out", f"optimal without {_listed('kernel', out)}: left out, or never reached"
    yield Trial(name, words, part, case.instance.select(used.tolist()))


@on_weights
def even_weights(case: Case, answer: Answer, weights: Array) -> Trials:
    """The average of the kernels, for families that have no formulation for it."""
    count = case.task.count
    if count == 1 or np.ptp(weights) > VANISHING * np.abs(weights).max() or not (weights > 0).all():
        return
    kernel = np.asarray(case.task.combined(np.full(count, 1 / count)))
    coefficients = None if answer.coefficients is None else answer.coefficients.sum(axis=-2, keepdims=True)
    alone = replace(answer, weights=np.ones(1), coefficients=coefficients)
    no_test = dict.fromkeys(("test_kernels", "test_diagonals", case.instance.targets.test_field))
    changed = case.instance.with_kernels(kernel[None], groups=None, names=None, **no_test)
    words = "optimal for the average of the kernels: no weights were learned"
    yield Trial("weights_even", words, alone, changed, kind="kernels:average")


def other_groups(case: Case, answer: Answer) -> Trials:
    if case.instance.groups is None or "groups" not in getattr(case.task, "own", {}):
        return
    tried = [np.asarray(case.task.own["groups"])]
    for words, other in _groupings(tried[0]):
        if not any(_same_partition(other, one) for one in tried):
            tried.append(other)
            yield from with_instance(case, answer, "groups", f"other groups: {words}", groups=other)


def _groupings(groups: Groups) -> Iterator[tuple[str, Groups]]:
    each = np.arange(len(groups), dtype=np.intp)
    yield "all kernels in one", np.zeros_like(each)
    yield "every kernel alone", each
    yield "shifted by one kernel", np.roll(groups, 1)
    yield "shifted by one kernel", np.roll(groups, -1)
    yield "in the reverse order", groups[::-1]
    yield "of kernels in turn", each % (int(groups.max()) + 1)
    yield "of neighbouring kernels", np.sort(groups)
    for other in _partitions(len(groups)) if len(groups) <= FEW else ():
        yield f"{', '.join(str(one) for one in other)}", other


def _partitions(count: int) -> Iterator[Groups]:
    """Every way to put kernels into groups."""
    grown: list[list[int]] = [[0]]
    for _ in range(count - 1):
        grown = [[*one, j] for one in grown for j in range(max(one) + 2)]
    yield from (np.array(one, dtype=np.intp) for one in grown)


def _same_partition(one: Groups, other: Groups) -> bool:
    return bool(np.array_equal(one[:, None] == one[None], other[:, None] == other[None]))


# --------------------------------------------------------------------------------------------------- samples and labels
def labels_swapped(case: Case, answer: Answer) -> Trials:
    """Labels and their complements; for hypergraphs they are different problems."""
    targets = case.instance.targets
    if targets.kind in ("y", "labels"):
        swapped = -targets.values if targets.kind == "y" else 1 - targets.values
        words = "the labels swapped, who has one and who has not"
        yield from with_instance(case, answer, "classes_swapped", words, **{targets.kind: swapped})


def labels_permuted(case: Case, answer: Answer) -> Trials:
    """Targets of other samples."""
    targets = case.instance.targets
    values = np.asarray(targets.values)
    for words, turned in (
        ("shifted by one sample", np.roll(values, 1, axis=0)),
        ("shifted by one sample, the other way", np.roll(values, -1, axis=0)),
        ("in the reverse order", values[::-1]),
        ("sorted", np.sort(values, axis=0)),
    ):
        if targets.kind != "none" and not np.array_equal(turned, values):
            said = f"targets of other samples: {words}"
            yield from with_instance(case, answer, "labels_permuted", said, **{targets.kind: turned})


def labels_dropped(case: Case, answer: Answer) -> Trials:
    """A label that was left out, where no part of the answer has one entry for each label."""
    targets = case.instance.targets
    if targets.kind != "labels" or answer.alpha is not None or answer.coefficients is not None:
        return
    for k, name in enumerate(targets.names):
        rest, names = np.delete(targets.values, k, axis=1), [one for one in targets.names if one != name]
        yield from with_instance(
            case, answer, "labels_dropped", f"the labels without {name}", labels=rest, label_names=names
        )


def sample_weights(case: Case, answer: Answer) -> Trials:
    for which, words, weight in _weightings(case.instance):
        found = with_instance(case, answer, "sample_weight", words, sample_weight=weight)
        yield from (replace(trial, kind=f"sample_weight:{which}") for trial in found)


def _weightings(instance: Instance) -> Iterator[tuple[str, str, Array]]:
    given = instance.sample_weight
    if np.ptp(given) > 0:
        yield "ignored", "samples without their weights", np.ones(instance.samples)
        for words, size in (("mean", given.mean()), ("sum", given.sum()), ("largest", given.max())):
            if abs(size - 1) > SAME:
                yield "normalised", f"weights of samples that are scaled to the {words} 1", given / size
        yield "squared", "the squares of the weights of samples", given**2
        yield "squared", "the roots of the weights of samples", np.sqrt(given)
        yield "inverted", "the reciprocals of the weights of samples", 1 / given
        yield "order", "the weights of samples in the reverse order", given[::-1]
    if instance.targets.kind != "y":
        return
    positive = instance.y > 0
    if np.ptp(given) > 0 and all(np.ptp(given[side]) == 0 for side in (positive, ~positive)):
        swapped = given.max() + given.min() - given
        yield "swapped", "the classes swapped: the other one's samples have the weight", swapped
    balanced = np.where(positive, 1 / positive.sum(), 1 / (~positive).sum()) * instance.samples / 2
    yield "balanced", "classes of balanced weight, which was not asked for", given * balanced
    turned = np.where(positive, positive.mean(), (~positive).mean())
    yield "balanced", "samples weighted by the share of their class", given * turned
    share = np.where(positive, 1 / positive.sum(), 1 / (~positive).sum())
    yield "balanced", "classes of weight one each, which was not asked for", given * share


@on_alpha
def samples_left_out(case: Case, answer: Answer, alpha: Array) -> Trials:
    task, size = case.task, np.abs(alpha)
    support = size > VANISHING * size.max()
    if "C" not in case.parameters or not support.any():
        return
    outputs = kernel_of(case, answer) @ (alpha * task.signs)
    bias = 0.0 if answer.bias is None else float(answer.bias)
    free = support & (alpha < (1 - VANISHING) * task.limit) & (alpha > (1 - VANISHING) * task.low)
    if answer.bias is None and task.bias and free.any():  # samples between their bounds tell it
        bias = float(np.median((implied_outputs(case, alpha) - outputs)[free]))
    loss = task.loss_function
    missing = ~support & (loss.value(outputs + bias, task.y, task.box) > SAME * task.box * task.spread() ** loss.degree)
    if not missing.any():
        return
    coefficients = None if answer.coefficients is None else answer.coefficients[..., ~missing]
    part = replace(answer, alpha=alpha[~missing], coefficients=coefficients)
    try:
        changed = restricted(case.instance, np.flatnonzero(~missing).tolist())
    except InputError:  # a class is missing altogether
        return
    words = f"optimal without {_listed('sample', np.flatnonzero(missing).tolist())}: left out, or never reached"
    yield Trial("samples_left_out", words, part, changed)


@on_alpha
def label_misread(case: Case, answer: Answer, alpha: Array) -> Trials:
    task = case.task
    if case.instance.targets.kind != "y":
        return
    moved, twice = float(task.y @ alpha), 2 * alpha * task.y
    suspects = np.flatnonzero((np.abs(twice - moved) <= VANISHING * np.abs(alpha).max()) & (twice != 0))
    for i in suspects[:SUSPECTS] if task.bias else ():
        y = np.where(np.arange(task.samples) == i, -task.y, task.y)
        yield from with_instance(case, answer, "label_misread", f"the other label of sample {i}", y=y)


def label_misread_each(case: Case, answer: Answer) -> Trials:
    """One label after the other, where weights alone tell and nothing has to be solved."""
    if case.instance.targets.kind != "y" or answer.weights is None or case.instance.samples > FLIPPED:
        return
    for i in range(case.instance.samples) if getattr(case.formulation, "maximises", False) else ():
        y = np.array(case.instance.y)
        y[i] *= -1
        yield from with_instance(case, answer, "label_misread", f"the other label of sample {i}", y=y)


def _listed(what: str, which: Sequence[object]) -> str:
    some = ", ".join(str(one) for one in which[:NAMED])
    more = f" and {len(which) - NAMED} more" if len(which) > NAMED else ""
    return f"{what}{'s' if len(which) > 1 else ''} {some}{more}"


# --------------------------------------------------------------------------------------------------------------- losses
def _plain_hinge(case: Case) -> bool:
    """Whether labels have a loss without curvature, and a price C: what has curvature has α of its own at any weights,
    and these are no mistake."""
    return "C" in case.parameters and case.instance.targets.kind == "y" and not least_curvature(case.task).any()


@on_alpha
def squared_hinge(case: Case, answer: Answer, alpha: Array) -> Trials:
    largest = float(np.abs(alpha).max())
    for fault, factor in SQUARED if _plain_hinge(case) and largest > 0 else ():
        kernel = kernel_of(case, answer) + np.diag(1 / (factor * case.task.box))
        given = {"C": FAR * largest, "bias": case.parameters["bias"]}
        words = f"α is optimal for the squared hinge loss, {fault}, at these weights"
        yield Trial("squared_hinge", words, Answer(alpha=alpha), Instance(kernel[None], case.task.y), "svm", given)


@on_alpha
def least_squares(case: Case, answer: Answer, alpha: Array) -> Trials:
    """Whether α, or α∘y, solves the linear system of a squared loss at the weights given."""
    task = case.task
    if not _plain_hinge(case) or not np.isfinite(alpha).all():
        return
    kernel = kernel_of(case, answer)
    for fault, factor in SQUARED:
        for signed in (alpha * task.y, alpha):
            left = task.y - kernel @ signed - signed / (factor * task.box)
            off = np.ptp(left) + abs(signed.sum()) if task.bias else np.abs(left).max()
            if off <= SAME:
                words = f"α is optimal for least squares, {fault} with ξ of either sign, at these weights"
                yield Trial("least_squares", words, Answer(alpha=case.reference.alpha))


SAMPLES: Hypotheses = (samples_left_out, label_misread, squared_hinge, least_squares)
OTHER_TARGETS: Hypotheses = (labels_permuted, labels_dropped, label_misread_each)
SUBSETS: Hypotheses = (other_groups, kernels_left_out)
