"""Two stages: other pairs, weights by a rule or of any sign, a second stage that did not use them.

Weights that may be negative are those of kernels K and −K.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....formulations.alignment import AlignmentTask
from ....formulations.families.pairs import Pairs
from ....formulations.families.two_stage import PairTask
from ....problem.instance import Instance
from ....problem.stack import Array, KernelStack
from ...answers import Answer
from ...case import FITS, Altered, Case, pose
from .. import mistakes_in_losses as losses
from ..fits import FITTED, told_by_value
from ..mistakes import SAME, VANISHING, DiagnosticTrial, Mistakes, Trials, but_for, given_weights, on_weights
from ..mistakes_in_answers import ANSWERS, WEIGHTS, along, clipped, objective_terms, objective_units, with_ours
from ..mistakes_in_data import OTHER_TARGETS, SUBSETS, sample_weights
from ..mistakes_in_kernels import CHANGED, KERNELS
from ..mistakes_in_problems import LONG, PROBLEMS, bounds_of_alpha, price_scaled
from .pair_balance import balanced_price, slopes

Slopes = tuple[Array, Array, Array]  # of a loss of margins: values, first and second derivatives
UNCONSTRAINED = "optimal without the constraint weights ≥ 0"
WEIGHED = (  # of a pair of two samples, and of a sample with itself: a pair without any weight has no multiplier
    ("all n² ordered pairs, not those with i ≤ j", 2.0, 1.0),
    ("pairs of different samples: those of a sample with itself are left out", 1.0, VANISHING**2),
)


@on_weights
def weights_by_rule(case: Case, answer: Answer, weights: Array) -> Trials:
    """Alignment by other rules: each kernel's own, and the best without μ ≥ 0, as it is or clipped."""
    if not case.formulation.maximises:
        return
    if along(weights, case.reference.weights):  # they are right
        return
    optimal = with_ours(case, answer)
    if answer.alpha is not None or answer.bias is not None:
        optimal = replace(optimal, alpha=None, bias=None)
    for words, task in (
        (", which is no optimum", case.task),
        *((f" {said}", other) for _, said, other in _variants(case)),
    ):
        sizes = np.sqrt(np.diag(task.products))
        if along(weights, np.maximum(task.target, 0.0) / np.where(sizes > 0, sizes, 1.0)):
            said = f"the weights are every kernel's own alignment, the approximate variant{words}"
            yield DiagnosticTrial("approximate", said, optimal, recognised=True)
    task = case.task
    best = np.linalg.lstsq(task.products, task.target, rcond=None)[0]
    if (weights < 0).any() and _aligned(task, weights) >= (1 - SAME) * _aligned(task, best):
        yield DiagnosticTrial("unconstrained", UNCONSTRAINED, optimal, recognised=True)
    if (best < 0).any() and along(weights, np.maximum(best, 0.0)):
        words = f"{UNCONSTRAINED}, and negative weights then set to zero"
        yield DiagnosticTrial("weights_clipped", words, optimal)


def _aligned(task: AlignmentTask, v: Array) -> float:
    size = float(v @ task.products @ v)
    return float(task.target @ v / np.sqrt(size)) if size > 0 else 0.0


@on_weights
def weights_clipped(case: Case, answer: Answer, weights: Array) -> Trials:
    """Weights of pairs that were clipped at zero."""
    if case.formulation.maximises or (weights < 0).any() or along(weights, case.reference.weights):
        return
    point = Altered(case.instance, case.formulation, case.parameters, of_any_sign(case.task), FITS).point
    split = np.ravel(point.upper.point)
    free = split[: len(weights)] - split[len(weights) :]
    if (free < 0).any():
        yield from clipped(case, answer, weights, "the constraint weights ≥ 0", [np.maximum(free, 0.0)])


def of_any_sign(task: PairTask) -> PairTask:
    """The kernels twice, K and −K: weights ≥ 0 of both are weights of any sign."""
    kernels = np.asarray(task.pairs.stack.kernels, dtype=float)
    both = KernelStack(np.concatenate([kernels, -kernels]), symmetric=task.pairs.stack.symmetric)
    return replace(task, pairs=Pairs(both))


def second_stage(case: Case, answer: Answer) -> Trials:
    """α of the second stage's machine: with a kernel that the weights did not make, another price, no bias, another
    loss."""
    if answer.alpha is None or case.instance.targets.kind != "y":
        return
    count, kept = case.instance.count, replace(answer, alpha=None, bias=None)
    rest = (DiagnosticTrial("second_stage", "the rest is right", kept),) if kept.given else ()
    parts = Answer(alpha=answer.alpha, bias=answer.bias)
    for words, size in (("sum", 1.0), ("average", 1 / count)):
        said = f"α is optimal for the {words} of the kernels: the second stage did not use the weights"
        yield DiagnosticTrial(
            "second_stage", said, parts, _machine(case, np.full(count, size)), "svm", _price(case), also=rest
        )
    weights = np.nan_to_num(case.reference.weights) if answer.weights is None else np.maximum(answer.weights, 0.0)
    own, stage = _machine(case, np.ravel(weights)), "the second stage"
    without = {**_price(case), "bias": False}
    yield DiagnosticTrial(
        "bias_omitted", f"{stage} is optimal without a bias", replace(parts, bias=None), own, "svm", without, also=rest
    )
    posed = pose(own, "svm", _price(case), FITS)
    for trial in (
        *bounds_of_alpha(posed, parts),
        *price_scaled(posed, parts),
        *losses.other_loss(posed, parts),
        *losses.labels_as_response(posed, parts),
    ):
        words = f"{stage} is {trial.words}"
        yield replace(trial, words=words, instance=trial.instance or own, formulation="svm", also=rest)


def _price(case: Case) -> dict[str, float]:
    return {"C": case.parameters["C"]}


def _machine(case: Case, weights: Array) -> Instance:
    kernel = KernelStack(case.instance.kernels, symmetric=case.instance.symmetric).combined(weights)
    return Instance(np.asarray(kernel)[None], case.instance.y, sample_weight=case.instance.sample_weight)


# -------------------------------------------------------------------------------------------------------- other pairs
def other_pairs(case: Case, answer: Answer) -> Trials:
    if case.formulation.maximises:
        for kind, words, task in _variants(case):
            yield DiagnosticTrial("pairs", f"optimal {words}", answer, task=task, kind=kind)
    else:
        for words, off, on in WEIGHED:
            weight = np.full(case.task.pairs.count, off)
            weight[case.task.pairs.diagonal] = on
            task = replace(case.task, weight=weight / weight.sum())
            yield DiagnosticTrial("pairs", f"optimal for {words}", replace(answer, multipliers={}), task=task)
        words, labels = "optimal for pairs labelled 0 and 1, where −1 and 1 are meant", np.maximum(case.task.labels, 0)
        plain = replace(answer, multipliers={})
        yield DiagnosticTrial("labels_zero_one", words, plain, task=replace(case.task, labels=labels))
        weights = given_weights(case, answer)
        if weights is not None and (weights < 0).any():
            split = np.concatenate([np.maximum(weights, 0.0), np.maximum(-weights, 0.0)])
            both = Answer(weights=split, objective=answer.objective)
            yield DiagnosticTrial("unconstrained", UNCONSTRAINED, both, task=of_any_sign(case.task))


def _variants(case: Case) -> Iterator[tuple[str, str, AlignmentTask]]:
    """Alignment over other pairs, or with another target."""
    pairs = Pairs(KernelStack(case.instance.kernels, symmetric=case.instance.symmetric))
    together = np.asarray(case.instance.targets.together(), dtype=float)
    kinds = [
        ("pairs:other", "for pairs i ≤ j: the inner products are over all ordered pairs", 1.0, 1.0, together),
        ("pairs:other", "for pairs of different samples: those of a sample with itself count", 2.0, 0.0, together),
        ("labels:zero_one", "for a target of 0 and 1, where −1 and 1 are meant", 2.0, 1.0, (together + 1) / 2),
    ]
    if case.instance.targets.kind == "y":
        codes = np.maximum(case.instance.y, 0.0)
        kinds.append(("labels:zero_one", "for labels coded as 0 and 1", 2.0, 1.0, np.outer(codes, codes)))
    for kind, words, off, on, target in kinds:
        times = np.full(pairs.count, off)
        times[pairs.diagonal] = on
        task = replace(case.task, products=pairs.gram(times), target=pairs.pull(times * pairs.triangle(target)))
        yield kind, words, task


# ------------------------------------------------------------------------------------------------ λ, and other losses
@on_weights
def price_told(case: Case, answer: Answer, weights: Array) -> Trials:
    """λ, which the value tells, or the balance of the weights: λ times the slope of the penalty is what pairs pull."""
    task = case.task
    if case.formulation.maximises or (weights < 0).any() or not weights.any():
        return
    unit = case.formulation.penalty(replace(task, lam=1.0), weights)
    if answer.objective is not None:
        yield from told_by_value(case, answer, "lam", (answer.objective - task.hinge(weights)) / unit)
    lam = balanced_price(case, weights)
    if lam is not None:
        yield from told_by_value(case, answer, "lam", lam)


def _squared_hinge(m: Array) -> Slopes:
    short = np.maximum(1 - m, 0.0)
    return short**2 / 2, -short, (m < 1).astype(float)


def _squared(m: Array) -> Slopes:
    return (1 - m) ** 2 / 2, m - 1, np.ones_like(m)


def _logistic(m: Array) -> Slopes:
    chance = 1 / (1 + np.exp(m))
    return np.logaddexp(0.0, -m), -chance, chance * (1 - chance)


PAIR_LOSSES = (
    ("squared_hinge", 1.0, _squared_hinge), ("squared_hinge", 2.0, _squared_hinge), ("logistic", 1.0, _logistic),
    ("squared", 1.0, _squared), ("squared", 2.0, _squared),
)  # fmt: skip


@on_weights
def other_loss(case: Case, answer: Answer, weights: Array) -> Trials:
    """Smooth losses over the pairs: the step of Newton's method from the weights is nothing."""
    task = case.task
    if case.formulation.maximises or (weights < 0).any() or not weights.any() or case.instance.samples > LONG:
        return
    used = weights > VANISHING * weights.max()
    first, second = slopes(case, weights), np.diag(slopes(case, weights + 1) - slopes(case, weights))
    for name, factor, loss in PAIR_LOSSES:
        values, slope, curve = loss(task.margins(weights))
        signed, weight = task.labels[:, None] * task.examples, factor * np.asarray(task.weight)
        gradient = first + (weight * slope) @ signed
        hessian = second + signed.T @ ((weight * curve)[:, None] * signed)
        step = np.linalg.lstsq(hessian[np.ix_(used, used)], gradient[used], rcond=None)[0]
        value = case.formulation.penalty(task, weights) + float(weight @ values)
        claimed = value if answer.objective is None else answer.objective
        if (
            np.abs(step).max() <= SAME * weights.max()
            and (gradient[~used] >= -SAME * np.abs(first).max()).all()
            and abs(value - claimed) <= VANISHING * abs(value) * 10
        ):
            words = f"optimal for another loss over the pairs: {name.replace('_', ' ')}"
            said = f"{words}{', without its ½' if factor != 1 else ''}"
            value = None if answer.objective is None else case.reference.objective
            optimal = Answer(weights=case.reference.weights, objective=value)
            yield DiagnosticTrial(f"loss {name}", said, optimal, recognised=True)


def squared(case: Case, answer: Answer) -> Trials:
    if case.formulation.maximises and answer.objective:
        root = float(np.sqrt(abs(answer.objective)))
        words = "the objective, which is the square of the alignment, or minus that"
        yield but_for(answer, "objective_units", words, objective=root)


def summed(case: Case) -> Iterator[tuple[str, float]]:
    n = case.instance.samples
    if not case.formulation.maximises:
        yield "summed over the pairs: ours is their mean", 2 / (n * (n + 1))


def terms(case: Case) -> Iterator[tuple[str, float]]:
    if not case.formulation.maximises:
        loss = case.task.hinge(case.reference.weights)
        yield "from which the penalty of the weights is missing", loss - case.reference.objective
        yield "from which the loss is missing", -loss


TWO_STAGES = Mistakes(
    answers=(*ANSWERS, objective_units(summed), squared, objective_terms(terms), weights_by_rule),
    answers_alone=(second_stage, weights_clipped, *WEIGHTS),
    problems=(*PROBLEMS, other_pairs, other_loss),
    problems_alone=(
        *SUBSETS, sample_weights, *FITTED, *OTHER_TARGETS, *CHANGED, *KERNELS,
    ),
    told=(price_told,),
)  # fmt: skip
