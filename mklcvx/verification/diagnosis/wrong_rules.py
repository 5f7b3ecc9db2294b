"""Weights by a rule of thumb: it is followed, and where the answer has done the same, that is said.

What was lost by such a rule is not in the answer: the certified weights stand in for those given, and what was found
with them is left aside.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...formulations.alignment import Alignment, AlignmentTask
from ...formulations.families.multi_label import MultiLabel
from ...formulations.families.pairs import Pairs
from ...formulations.families.two_stage import PairTask, TwoStage
from ...problem.instance import Instance
from ...problem.stack import Array, KernelStack
from ..answers import Answer
from ..case import FITS, Altered, Case
from ..families import proved_parts
from .trial import Hypothesis, Trial, Trials
from .wrong_weights import SAME, given_weights

UNCONSTRAINED = "optimal without the constraint weights ≥ 0"


def weights_by_rule(case: Case, answer: Answer) -> Trials:
    """Alignment by other rules: each kernel's own, and the best without μ ≥ 0, as it is or clipped."""
    weights, task = given_weights(case, answer), case.task
    if weights is None or not isinstance(case.formulation, Alignment):
        return
    optimal = _with_ours(case, answer)
    own = task.own_alignment
    if _along(weights, own):
        words = "the weights are every kernel's own alignment, the approximate variant, which is no optimum"
        yield Trial("approximate", words, optimal)
    for words, one in ((UNCONSTRAINED, task), (f"{UNCONSTRAINED}, for the kernels centred", _centred(case))):
        best = np.linalg.lstsq(one.products, one.target, rcond=None)[0]
        if (weights < 0).any() and _aligned(one, weights) >= (1 - SAME) * _aligned(one, best):
            yield Trial("unconstrained", words, optimal)
        if (best < 0).any() and _along(weights, np.maximum(best, 0.0)):
            yield Trial("weights_clipped", f"{words}, and negative weights then set to zero", optimal)


def _centred(case: Case) -> AlignmentTask:
    """⟨HK_mH, HK_lH⟩ and ⟨HK_mH, T⟩, H = I − 11'/n."""
    n, together = case.instance.samples, case.instance.targets.together()
    away = np.eye(n) - 1 / n
    flat = np.stack([(away @ np.asarray(kernel, dtype=float) @ away).ravel() for kernel in case.instance.kernels])
    return replace(case.task, products=flat @ flat.T, target=flat @ together.ravel())


def _with_ours(case: Case, answer: Answer) -> Answer:
    """The certified weights in place of those given; an objective must then be right, unless it is just what the
    weights given are worth."""
    worth, objective = proved_parts(case, Answer(weights=answer.weights))[0].value, answer.objective
    own = objective is not None and worth is not None and abs(worth - objective) <= FITS * case.known.scale
    return Answer(weights=case.reference.weights, objective=None if own else objective)


def _along(one: Array, other: Array) -> bool:
    unit = [vector / (np.linalg.norm(vector) or 1.0) for vector in (one, other)]
    return bool(np.abs(unit[0] - unit[1]).max() <= SAME)


def _aligned(task: AlignmentTask, v: Array) -> float:
    size = float(v @ task.products @ v)
    return float(task.target @ v / np.sqrt(size)) if size > 0 else 0.0


def weights_clipped(case: Case, answer: Answer) -> Trials:
    """A constraint that was imposed afterwards: θ on the weights of `l1`, zero on those of pairs."""
    weights = given_weights(case, answer)
    if weights is None:
        return
    if case.formulation.name == "sm1":
        words, found = "the box weights ≤ θ", _cut_at(case, case.parameters["theta"])
    elif isinstance(case.formulation, TwoStage) and (weights >= 0).all():
        both = of_any_sign(case.task)
        point = Altered(case.instance, case.formulation, case.parameters, both, FITS).point
        split = np.ravel(point.upper.point)
        free = split[: len(weights)] - split[len(weights) :]
        words, found = "the constraint weights ≥ 0", [np.maximum(free, 0.0)] if (free < 0).any() else []
    else:
        return
    if any(_along(weights, one) for one in found):
        said = f"optimal without {words}, and the weights then clipped"
        yield Trial("weights_clipped", said, _with_ours(case, answer))


def _cut_at(case: Case, cap: float) -> list[Array]:
    """Weights of `l1` clipped once, and again and again while they are brought back to sum one."""
    from ...solvers.solving import solve

    given = {key: value for key, value in case.parameters.items() if key != "theta"}
    once = np.minimum(solve(case.instance, "l1", **given).weights, cap)
    again = once
    for _ in range(100):
        again = np.minimum(again / again.sum(), cap)
    return [once, again]


def of_any_sign(task: PairTask) -> PairTask:
    """The kernels twice, K and −K: weights ≥ 0 of both are weights of any sign."""
    kernels = np.asarray(task.pairs.stack.kernels, dtype=float)
    both = KernelStack(np.concatenate([kernels, -kernels]), symmetric=task.pairs.stack.symmetric)
    return replace(task, pairs=Pairs(both))


def weights_of_classes(case: Case, answer: Answer) -> Trials:
    """Every class's own best weights, averaged, or those of one class."""
    weights = given_weights(case, answer)
    if weights is None or not isinstance(case.formulation, MultiLabel):
        return
    from ...solvers.solving import solve

    kernels, weight = case.instance.kernels, case.instance.sample_weight
    apart = [Instance(kernels, signs, sample_weight=weight) for signs in case.task.signs]
    own = [solve(one, "l1", C=case.parameters["C"], bias=False).weights for one in apart]
    names = [f"those of class {name} alone" for name in case.instance.targets.names]
    for whose, one in zip(("the mean of every class's own", *names), (np.mean(own, axis=0), *own), strict=True):
        if _along(weights, one):
            words = f"the weights are {whose}: one combination that is best for all is meant"
            yield Trial("weights_of_classes", words, _with_ours(case, answer))


RULES: tuple[Hypothesis, ...] = (weights_by_rule, weights_clipped, weights_of_classes)
