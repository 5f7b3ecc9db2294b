"""Mistakes in the data that a solver read: its kernels, samples, labels and groups.

What was left out can be seen: a kernel has weight zero; a sample has α = 0 in spite of y f < 1, which no optimum of a
problem with this sample allows. A label that was misread changes y'α by twice its α.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...problem.instance import Instance, no_test_samples
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from ..shrinking import restricted
from .mistakes import (
    SAME,
    VANISHING,
    DiagnosticTrial,
    Hypotheses,
    Trials,
    kernel_of,
    on_alpha,
    on_weights,
    with_instance,
)
from .mistakes_in_losses import free_outputs

Groups = NDArray[np.intp]
Mask = NDArray[np.bool_]
NAMED = 5  # of those left out
FEW = 5  # kernels whose groupings are all tried
SUSPECTS = 30  # labels that are tried


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
    yield DiagnosticTrial(name, words, part, case.instance.select(used.tolist()))


@on_weights
def even_weights(case: Case, answer: Answer, weights: Array) -> Trials:
    """The average of the kernels, for families that have no formulation for it."""
    count = case.task.count
    if count == 1 or np.ptp(weights) > VANISHING * np.abs(weights).max() or not (weights > 0).all():
        return
    kernel = np.asarray(case.task.combined(np.full(count, 1 / count)))
    coefficients = None if answer.coefficients is None else answer.coefficients.sum(axis=-2, keepdims=True)
    alone = replace(answer, weights=np.ones(1), coefficients=coefficients)
    changed = case.instance.with_kernels(kernel[None], groups=None, names=None, **no_test_samples(case.instance))
    words = "optimal for the average of the kernels: no weights were learned"
    yield DiagnosticTrial("kernels_even", words, alone, changed)


def other_groups(case: Case, answer: Answer) -> Trials:
    if case.instance.groups is None or "groups" not in getattr(case.task, "own", {}):
        return
    tried = [np.asarray(case.task.own["groups"])]
    for words, other in _groupings(tried[0]):
        if not any(_same_partition(other, known) for known in tried):
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
        yield f"{', '.join(str(group) for group in other)}", other


def _partitions(count: int) -> Iterator[Groups]:
    """Every way to put kernels into groups."""
    grown: list[list[int]] = [[0]]
    for _ in range(count - 1):
        grown = [[*partition, j] for partition in grown for j in range(max(partition) + 2)]
    yield from (np.array(partition, dtype=np.intp) for partition in grown)


def _same_partition(groups: Groups, other: Groups) -> bool:
    return bool(np.array_equal(groups[:, None] == groups[None], other[:, None] == other[None]))


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
        rest, names = np.delete(targets.values, k, axis=1), [label for label in targets.names if label != name]
        yield from with_instance(
            case, answer, "labels_dropped", f"the labels without {name}", labels=rest, label_names=names
        )


def sample_weights(case: Case, answer: Answer) -> Trials:
    for which, words, weight in _weightings(case.instance):
        trials = with_instance(case, answer, "sample_weight", words, sample_weight=weight)
        yield from (replace(trial, kind=f"sample_weight:{which}") for trial in trials)


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
    if np.ptp(given) > 0:
        yield "balanced", "classes of balanced weight in place of the weights of samples", balanced


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
        bias = float(np.median((free_outputs(case, alpha) - outputs)[free]))
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
    yield DiagnosticTrial("samples_left_out", words, part, changed)


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


def _listed(what: str, which: Sequence[object]) -> str:
    some = ", ".join(str(name) for name in which[:NAMED])
    more = f" and {len(which) - NAMED} more" if len(which) > NAMED else ""
    return f"{what}{'s' if len(which) > 1 else ''} {some}{more}"


SAMPLES: Hypotheses = (samples_left_out, label_misread)
OTHER_TARGETS: Hypotheses = (labels_permuted, labels_dropped)
SUBSETS: Hypotheses = (other_groups, kernels_left_out)
