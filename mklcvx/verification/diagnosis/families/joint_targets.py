"""Targets of joint outputs that were read otherwise: other classes, codes, units of one output or of all.

For a loss of classes α_y = Σ_{j≠y} α_j at every sample, y being the class that was read. For real targets f + b = y − r
at samples whose α lies between its bounds, r being what α says: weights and α tell y there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....formulations import RankOneCoefficients
from ....problem.stack import Array
from ...answers import Answer
from ...case import Case
from ..mistakes import SAME, VANISHING, DiagnosticTrial, Hypotheses, Trials, given_weights, with_instance
from .conditions import free_samples, implied_outputs, single_outputs

ENOUGH = 4  # samples between their bounds that tell how the targets of an output were changed
MANY = 0.4  # share of the samples that may be misread: beyond, they are other targets
CHANGES: tuple[tuple[str, str, Callable[[Array], Array]], ...] = (
    ("labels:scaled", "centred", lambda y: y - y.mean()),
    ("labels:scaled", "standardised", lambda y: (y - y.mean()) / y.std()),
    ("labels:scaled", "divided by its standard deviation", lambda y: y / y.std()),
    ("labels:zero_one", "(y + 1)/2, which is 0 and 1 for codes −1 and 1", lambda y: (y + 1) / 2),
    ("labels:zero_one", "2y − 1, which is −1 and 1 for codes 0 and 1", lambda y: 2 * y - 1),
    ("labels:swapped", "of the other sign", lambda y: -y),
    ("labels:dropped", "left at zero", np.zeros_like),
)


def classes_read(case: Case, answer: Answer) -> Trials:
    """The classes that α was found with."""
    task, alpha = case.task, answer.alpha
    if case.instance.targets.kind != "classes" or alpha is None or alpha.shape != task.y.shape:
        return
    sizes = np.abs(alpha)
    rest, some = sizes.sum(axis=0) - sizes, sizes.max(axis=0) > SAME * sizes.max()
    own = (np.abs(sizes - rest) <= SAME * sizes.max()) & some
    ours = np.argmax(task.y, axis=0)
    known = own[ours, np.arange(task.samples)] | ~some
    if known.all() or not (own.any(axis=0) | ~some).all():
        return
    read, names = np.where(known, ours, np.argmax(own, axis=0)), np.asarray(case.instance.targets.class_values())
    other = np.flatnonzero(~known)
    kind = "label_misread" if len(other) <= MANY * task.samples else "labels_permuted"
    words = f"other classes of {len(other)} samples: {', '.join(map(str, other[:5]))}{', …' if len(other) > 5 else ''}"
    yield from with_instance(case, answer, kind, words, classes=names[read])


def targets_told(case: Case, answer: Answer) -> Trials:
    """Real targets, as weights and α tell them: in other units, of two other values, others at some samples."""
    task, weights, alpha = case.task, given_weights(case, answer), answer.alpha
    if task.loss.of_each_output is None or weights is None or alpha is None or alpha.shape != task.y.shape:
        return
    outputs = task.evaluate(RankOneCoefficients(np.maximum(weights, 0.0), alpha))[0]
    bias = np.zeros(task.outputs) if answer.bias is None else np.ravel(answer.bias)
    fits: list[Array | None] = []
    some: list[Array | None] = []
    for j, single in enumerate(single_outputs(task)):
        if np.abs(alpha[j]).max() <= VANISHING * np.abs(alpha).max():  # nothing to learn: constant targets
            fits.append(np.zeros_like(task.y[j]))
            some.append(None)
            continue
        free = free_samples(single, alpha[j])
        moved = outputs[j] + bias[j] - implied_outputs(single, alpha[j])
        fits.append(_affine(task.y[j], moved, free, unknown=task.bias and answer.bias is None))
        some.append(_misread(task.y[j], moved, free, unknown=task.bias and answer.bias is None))
    if all(target is not None for target in fits):
        new = np.stack([target for target in fits if target is not None])
        kind, words = _told(task.y, new)
        if kind:
            yield from _with_response(case, answer, kind, words, new)
    if all(target is not None for target in some):
        new = np.stack([target for target in some if target is not None])
        if not np.array_equal(new, task.y):
            count = int(np.sum(new != task.y))
            yield from _with_response(case, answer, "labels:misread", f"other targets at {count} places", new)


def _affine(y: Array, moved: Array, free: NDArray[np.bool_], unknown: bool) -> Array | None:
    """a y + c that y + moved is at free samples; None where it is not. A bias that is not known takes c."""
    if free.sum() < ENOUGH:
        return None
    design = np.stack([y, np.ones_like(y)], axis=1)
    line = np.linalg.lstsq(design[free], (y + moved)[free], rcond=None)[0]
    off = np.abs(design[free] @ line - (y + moved)[free]).max()
    shift = 0.0 if unknown else line[1]
    return line[0] * y + shift if off <= SAME * max(np.ptp(y), 1.0) else None


def _misread(y: Array, moved: Array, free: NDArray[np.bool_], unknown: bool) -> Array | None:
    if free.sum() < ENOUGH:
        return None
    apart = moved - (float(np.median(moved[free])) if unknown else 0.0)
    others = free & (np.abs(apart) > SAME * max(np.ptp(y), 1.0))
    return np.where(others, y + apart, y) if others.sum() <= MANY * len(y) else None


def _told(y: Array, new: Array) -> tuple[str, str]:
    """The kind of a change of units, and words for it."""
    slopes = [
        float(np.polyfit(ours, other, 1)[0]) if np.ptp(ours) > 0 else 1.0 for ours, other in zip(y, new, strict=True)
    ]
    if np.abs(new - y).max() <= SAME * np.abs(y).max():
        return "", ""
    gone = [j for j, slope in enumerate(slopes) if abs(slope) <= SAME]
    if gone and len(gone) < len(y):
        return "labels:dropped", f"targets without output {gone[0]}"
    coded = np.allclose(new, (y + 1) / 2, atol=SAME) or np.allclose(new, 2 * y - 1, atol=SAME)
    if (coded or np.allclose(slopes, 0.5, atol=SAME)) and len(np.unique(y)) == 2:
        return "labels:zero_one", "codes of 0 and 1 in place of −1 and 1, or the reverse"
    factors = ", ".join(f"{slope:.6g}" for slope in slopes)
    return "labels:scaled", f"targets in other units: times {factors}"


def targets_changed(case: Case, answer: Answer) -> Trials:
    """The usual changes of real targets, where the answer does not tell them: of one output, or of all."""
    task = case.task
    if task.loss.of_each_output is None or (answer.weights is not None and answer.alpha is not None):
        return
    outputs = range(task.outputs)
    for some in (list(outputs), *([j] for j in outputs if task.outputs > 1)):
        for kind, words, change in CHANGES:
            new = np.array(task.y)
            new[some] = [change(values) for values in new[some]]
            which = "the targets" if len(some) == task.outputs else f"the targets of output {some[0]}"
            if new.any() and not np.array_equal(new, task.y):
                yield from _with_response(case, answer, kind, f"{which} {words}", new)


def _with_response(case: Case, answer: Answer, kind: str, words: str, new: Array) -> Iterator[DiagnosticTrial]:
    trials = with_instance(case, answer, "response_standardised", words, response=new.T)
    yield from (replace(trial, kind=kind) for trial in trials)


TARGETS_READ: Hypotheses = (classes_read, targets_told, targets_changed)
