"""Usual mistakes in what a solver was given to read: kernels or samples left out, a label misread, other groups.

Who was left out shows: a kernel by its weight zero; a sample by its α = 0 in spite of y f < 1, which no optimum of a
problem that has the sample allows. A label that was misread shows in y'α, which it moves by twice its α.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from ..shrinking import restricted
from .trial import Hypothesis, Trial, Trials
from .wrong_data import kernel_of
from .wrong_weights import SAME, given_weights

Groups = NDArray[np.intp]
VANISHING = 1e-6  # a weight or an α below this share of the largest is none
NAMED = 5  # of those left out
SUSPECTS = 30  # labels that are tried


def other_groups(case: Case, answer: Answer) -> Trials:
    groups = case.instance.groups
    if groups is None or "groups" not in getattr(case.task, "own", {}):
        return
    tried = [np.asarray(case.task.own["groups"])]
    for words, other in _groupings(tried[0]):
        if not any(_same_partition(other, one) for one in tried):
            tried.append(other)
            changed = case.instance.with_kernels(case.instance.kernels, groups=other)
            yield Trial("groups", f"optimal for other groups: {words}", answer, instance=changed)


def _groupings(groups: Groups) -> Iterator[tuple[str, Groups]]:
    count = len(groups)
    yield "all kernels in one", np.zeros(count, dtype=np.intp)
    yield "every kernel alone", np.arange(count, dtype=np.intp)
    yield "shifted by one kernel", np.roll(groups, 1)
    yield "shifted by one kernel", np.roll(groups, -1)
    yield "in the reverse order", groups[::-1]
    yield "of kernels in turn", np.arange(count, dtype=np.intp) % (int(groups.max()) + 1)
    yield "of neighbouring kernels", np.sort(groups)


def _same_partition(one: Groups, other: Groups) -> bool:
    return bool(np.array_equal(one[:, None] == one[None], other[:, None] == other[None]))


def kernels_left_out(case: Case, answer: Answer) -> Trials:
    weights = given_weights(case, answer)
    if weights is None or len(weights) == 1 or not weights.any():
        return
    used = np.flatnonzero(np.abs(weights) > VANISHING * np.abs(weights).max())
    if len(used) == len(weights):
        return
    coefficients = None if answer.coefficients is None else answer.coefficients[..., used, :]
    part = replace(answer, weights=weights[used], coefficients=coefficients)
    names = case.instance.names
    if len(used) == 1:
        name, words = "one_kernel", f"optimal for kernel {names[used[0]]} alone: no combination was learned"
    else:
        out = [names[m] for m in np.setdiff1d(np.arange(len(weights)), used)]
        name, words = "kernels_left_out", f"optimal without {_listed('kernel', out)}: left out, or never reached"
    yield Trial(name, words, part, instance=case.instance.select(used.tolist()))


def samples_left_out(case: Case, answer: Answer) -> Trials:
    alpha, task = answer.alpha, case.task
    if alpha is None or "C" not in case.parameters:
        return
    alpha = np.ravel(alpha)
    if len(alpha) != task.samples or not (alpha > 0).any():
        return
    outputs, support = kernel_of(case, answer) @ (alpha * task.y), alpha > VANISHING * alpha.max()
    missing = ~support & (task.y * (outputs + _bias(case, answer, outputs, alpha)) < 1 - SAME)
    kept = np.flatnonzero(~missing)
    if len(kept) == len(alpha):
        return
    coefficients = None if answer.coefficients is None else answer.coefficients[..., kept]
    part = replace(answer, alpha=alpha[kept], coefficients=coefficients)
    try:
        changed = restricted(case.instance, kept.tolist())
    except InputError:  # a class is missing altogether
        return
    words = f"optimal without {_listed('sample', np.flatnonzero(missing).tolist())}: left out, or never reached"
    yield Trial("samples_left_out", words, part, instance=changed)


def _bias(case: Case, answer: Answer, outputs: Array, alpha: Array) -> float:
    """That given, else the one that samples between their bounds tell."""
    if answer.bias is not None:
        return float(answer.bias)
    free = (alpha > VANISHING * alpha.max()) & (alpha < (1 - VANISHING) * case.task.box)
    return float(np.median((case.task.y - outputs)[free])) if free.any() and case.task.bias else 0.0


def label_misread(case: Case, answer: Answer) -> Trials:
    alpha, task = answer.alpha, case.task
    if alpha is None or not task.bias or np.size(alpha) != task.samples:
        return
    moved, twice = float(task.y @ np.ravel(alpha)), 2 * np.ravel(alpha) * task.y
    suspects = np.flatnonzero((np.abs(twice - moved) <= VANISHING * np.abs(alpha).max()) & (twice != 0))
    for i in suspects[:SUSPECTS]:
        y = np.where(np.arange(task.samples) == i, -task.y, task.y)
        try:
            changed = case.instance.with_kernels(case.instance.kernels, y=y)
        except InputError:  # the only one of its class
            continue
        yield Trial("label_misread", f"optimal for the other label of sample {i}", answer, instance=changed)


def _listed(what: str, which: Sequence[object]) -> str:
    some = ", ".join(str(one) for one in which[:NAMED])
    more = f" and {len(which) - NAMED} more" if len(which) > NAMED else ""
    return f"{what}{'s' if len(which) > 1 else ''} {some}{more}"


SUBSETS: tuple[Hypothesis, ...] = (other_groups, kernels_left_out)
