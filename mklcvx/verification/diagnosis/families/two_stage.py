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
from ...case import FITS, Altered, Case
from ..fits import FITTED
from ..mistakes import SAME, VANISHING, Mistakes, Trial, Trials, but_for, given_weights, on_weights
from ..mistakes_in_answers import ANSWERS, WEIGHTS, along, clipped, objective_terms, objective_units, with_ours
from ..mistakes_in_data import OTHER_TARGETS, SUBSETS, sample_weights
from ..mistakes_in_kernels import CHANGED, KERNELS
from ..mistakes_in_problems import PROBLEMS

UNCONSTRAINED = "optimal without the constraint weights ≥ 0"
WEIGHED = (  # of a pair of two samples, and of a sample with itself: a pair without any weight has no multiplier
    ("all n² ordered pairs, not those with i ≤ j", 2.0, 1.0),
    ("pairs of different samples: those of a sample with itself are left out", 1.0, VANISHING**2),
)


@on_weights
def weights_by_rule(case: Case, answer: Answer, weights: Array) -> Trials:
    """Alignment by other rules: each kernel's own, and the best without μ ≥ 0, as it is or clipped."""
    task = case.task
    if not case.formulation.maximises:
        return
    optimal = with_ours(case, answer)
    if along(weights, task.own_alignment):
        words = "the weights are every kernel's own alignment, the approximate variant, which is no optimum"
        yield Trial("approximate", words, optimal)
    for words, one in ((UNCONSTRAINED, task), (f"{UNCONSTRAINED}, for the kernels centred", _centred(case))):
        best = np.linalg.lstsq(one.products, one.target, rcond=None)[0]
        if (weights < 0).any() and _aligned(one, weights) >= (1 - SAME) * _aligned(one, best):
            yield Trial("unconstrained", words, optimal)
        if (best < 0).any() and along(weights, np.maximum(best, 0.0)):
            yield Trial("weights_clipped", f"{words}, and negative weights then set to zero", optimal)


def _centred(case: Case) -> AlignmentTask:
    """⟨HK_mH, HK_lH⟩ and ⟨HK_mH, T⟩, H = I − 11'/n."""
    n, together = case.instance.samples, case.instance.targets.together()
    away = np.eye(n) - 1 / n
    flat = np.stack([(away @ np.asarray(kernel, dtype=float) @ away).ravel() for kernel in case.instance.kernels])
    return replace(case.task, products=flat @ flat.T, target=flat @ together.ravel())


def _aligned(task: AlignmentTask, v: Array) -> float:
    size = float(v @ task.products @ v)
    return float(task.target @ v / np.sqrt(size)) if size > 0 else 0.0


@on_weights
def weights_clipped(case: Case, answer: Answer, weights: Array) -> Trials:
    """Weights of pairs that were clipped at zero."""
    if case.formulation.maximises or (weights < 0).any():
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
    """α of the second stage's machine, with a kernel that the weights did not make."""
    if answer.alpha is None or case.instance.targets.kind != "y":
        return
    count, kept = case.instance.count, replace(answer, alpha=None, bias=None)
    rest = (Trial("second_stage", "the rest is right", kept),) if kept.given else ()
    for words, size in (("sum", 1.0), ("average", 1 / count)):
        kernel = KernelStack(case.instance.kernels, symmetric=case.instance.symmetric).combined(np.full(count, size))
        machine = Instance(np.asarray(kernel)[None], case.instance.y, sample_weight=case.instance.sample_weight)
        said = f"α is optimal for the {words} of the kernels: the second stage did not use the weights"
        parts, given = Answer(alpha=answer.alpha, bias=answer.bias), {"C": case.parameters["C"]}
        yield Trial("second_stage", said, parts, machine, "svm", given, also=rest)


def other_pairs(case: Case, answer: Answer) -> Trials:
    if case.formulation.maximises:
        words = "optimal for pairs i ≤ j: the inner products are over all ordered pairs"
        yield Trial("pairs", words, answer, task=_upper_triangles(case))
    else:
        for words, off, on in WEIGHED:
            weight = np.full(case.task.pairs.count, off)
            weight[case.task.pairs.diagonal] = on
            task = replace(case.task, weight=weight / weight.sum())
            yield Trial("pairs", f"optimal for {words}", replace(answer, multipliers={}), task=task)
        weights = given_weights(case, answer)
        if weights is not None and (weights < 0).any():
            split = np.concatenate([np.maximum(weights, 0.0), np.maximum(-weights, 0.0)])
            both = Answer(weights=split, objective=answer.objective)
            yield Trial("unconstrained", UNCONSTRAINED, both, task=of_any_sign(case.task))


def _upper_triangles(case: Case) -> AlignmentTask:
    pairs = Pairs(KernelStack(case.instance.kernels, symmetric=case.instance.symmetric))
    once, together = np.ones(pairs.count), case.instance.targets.together()
    return replace(case.task, products=pairs.gram(once), target=pairs.pull(pairs.triangle(together)))


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
    answers=(*ANSWERS, objective_units(summed), squared, objective_terms(terms)),
    answers_alone=(weights_by_rule, weights_clipped, *WEIGHTS),
    problems=PROBLEMS,
    problems_alone=(
        *SUBSETS, sample_weights, other_pairs, second_stage, *FITTED, *OTHER_TARGETS, *CHANGED, *KERNELS,
    ),
)  # fmt: skip
