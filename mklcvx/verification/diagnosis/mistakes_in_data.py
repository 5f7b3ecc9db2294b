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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...problem.instance import Instance
from ...problem.low_rank import LowRank
from ...problem.preprocessing import Preprocessing
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from ..families.single_task import least_curvature
from ..shrinking import restricted
from .mistakes import SAME, VANISHING, Hypotheses, Trial, Trials, kernel_of, on_alpha, on_weights, with_instance
from .mistakes_in_losses import implied_outputs

Groups = NDArray[np.intp]
RIDGES = (1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
DECIMALS = (2, 3, 4)
DIGITS = 6  # that C++ writes of a number, unless told otherwise
PREPARED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("kernels_centred", "centred in feature space", {"centre": True}),
    ("kernels_cosine", "with unit diagonal (cosine)", {"normalise": "cosine"}),
    ("kernels_variance", "of unit variance", {"normalise": "variance"}),
    ("kernels_variance", "centred in feature space and of unit variance", {"centre": True, "normalise": "variance"}),
)
NAMED = 5  # of those left out
SUSPECTS = 30  # labels that are tried
SQUARED = (("CΣξ²", 2.0), ("(C/2)Σξ²", 1.0))
FAR = 100.0  # how far above the largest α a bound must be not to matter


# ------------------------------------------------------------------------------------------------------------ kernels
def kernels_rescaled(case: Case, answer: Answer) -> Trials:
    kernels, n = np.asarray(case.instance.kernels, dtype=float), case.instance.samples
    traces = np.array([np.trace(kernel) for kernel in kernels])
    if (traces > 0).all():
        for size, words in ((1.0, "unit trace"), (float(n), f"trace n = {n}")):
            scaled = kernels * (size / traces)[:, None, None]
            yield from with_instance(case, answer, "kernels_trace", f"the kernels rescaled to {words}", scaled)
    for name, words, options in PREPARED:
        if options == {"centre": True} and answer.bias is None and case.parameters.get("bias", False):
            continue  # y'α = 0 undoes it: q is the same, and only the bias is another
        try:
            changed = Preprocessing.from_options(**options).fit(kernels).train(kernels)
        except (InputError, ArithmeticError):  # kernels that cannot be changed so were not
            continue
        yield from with_instance(case, answer, name, f"the kernels {words}", changed)


def constant_added(case: Case, answer: Answer) -> Trials:
    """A bias with the penalty ½b²: a constant kernel takes its place, and y'α = 0 is no constraint."""
    kernels = _dense(case)
    if case.parameters["bias"] and kernels is not None:
        changed, given = case.instance.with_kernels(kernels + 1.0), {**case.parameters, "bias": False}
        words = "optimal for a bias that is penalised like the rest: 1 added to every kernel, and no y'α = 0"
        yield Trial("bias_penalised", words, replace(answer, bias=None), changed, parameters=given)


def ridge(case: Case, answer: Answer) -> Trials:
    kernels, identity = _dense(case), np.eye(case.instance.samples)
    if kernels is None or (answer.alpha is None and answer.objective is None):
        return
    for size in RIDGES:
        words = f"kernels with {size:g} added to their diagonals"
        yield from with_instance(case, answer, "ridge", words, kernels + size * identity)


def kernels_rounded(case: Case, answer: Answer) -> Trials:
    """Kernels that were rounded; those that rounding makes indefinite are clipped."""
    kernels = _dense(case)
    if kernels is None:
        return
    for words, rounded in _roundings(kernels):
        if not np.array_equal(rounded, kernels) and np.isfinite(rounded).all():
            yield from with_instance(case, answer, "kernels_rounded", f"kernels {words}", rounded, repair="clip")


def _roundings(kernels: Array) -> Iterator[tuple[str, Array]]:
    with np.errstate(over="ignore"):
        yield "in half precision", kernels.astype(np.float16).astype(float)
    for decimals in DECIMALS:
        yield f"written with {decimals} decimals", kernels.round(decimals)
    sizes = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.where(kernels == 0, 1.0, np.abs(kernels)))))
    yield f"written with {DIGITS} digits", np.round(kernels * sizes) / sizes


def _dense(case: Case) -> Array | None:
    kernels = case.instance.kernels
    return None if isinstance(kernels, LowRank) else np.asarray(kernels, dtype=float)


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
    yield Trial("weights_even", "optimal for the average of the kernels: no weights were learned", alone, changed)


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


def sample_weights(case: Case, answer: Answer) -> Trials:
    for words, weight in _weightings(case.instance):
        yield from with_instance(case, answer, "sample_weight", words, sample_weight=weight)


def _weightings(instance: Instance) -> Iterator[tuple[str, Array]]:
    given = instance.sample_weight
    if np.ptp(given) > 0:
        yield "samples without their weights", np.ones(instance.samples)
        yield "weights of samples that are scaled to the mean 1", given / given.mean()
    if instance.targets.kind != "y":
        return
    positive = instance.y > 0
    if np.ptp(given) > 0 and all(np.ptp(given[side]) == 0 for side in (positive, ~positive)):
        yield "the classes swapped: the other one's samples have the weight", given.max() + given.min() - given
    balanced = np.where(positive, 1 / positive.sum(), 1 / (~positive).sum()) * instance.samples / 2
    yield "classes of balanced weight, which was not asked for", given * balanced


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


SAMPLES: Hypotheses = (samples_left_out, label_misread, sample_weights, squared_hinge, least_squares)
SUBSETS: Hypotheses = (other_groups, kernels_left_out)
KERNELS: Hypotheses = (ridge, kernels_rounded)
