"""Usual mistakes in the weights: in another order, cut, mistaken for something else, or made by a rule of thumb.

Where a mistake cannot be undone, since what was lost is not in the answer, the certified weights stand in for what is
missing: a trial then says that the rest is as it would be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..answers import Answer
from ..formulations import SingleTask
from ..formulations._groups import group_sums
from ..formulations._multi_label import MultiLabel
from ..formulations._stack import Array
from ..formulations.alignment import Alignment, AlignmentTask
from ..instance import Instance
from .case import Case
from .trial import Hypothesis, Trial, Trials

UNCONSTRAINED = "optimal without the constraint weights ≥ 0"
SAME = 1e-4  # relative: weights, or what they are worth, that differ by no more are the same


def weights_order(case: Case, answer: Answer) -> Trials:
    """The same numbers in another order are found by ranking: the largest goes where ours is largest."""
    weights, ours = _given(case, answer), np.nan_to_num(case.reference.weights)
    if weights is None or np.sum(weights > SAME * np.abs(weights).max()) < 2:
        return
    ranked = np.empty_like(weights)
    ranked[np.argsort(ours, kind="stable")] = np.sort(weights)
    for how, turned in (
        ("reversed", weights[::-1]),
        ("shifted by one", np.roll(weights, -1)),
        ("shifted by one", np.roll(weights, 1)),
        ("another: the same weights, of other kernels", ranked),
    ):
        words = f"right but for the order of the kernels, which is {how}"
        yield Trial("weights_order", words, replace(answer, weights=turned))


def weights_cut(case: Case, answer: Answer) -> Trials:
    """Some of our kernels have no weight, the others are to each other as they should be."""
    weights, ours = _given(case, answer), np.nan_to_num(case.reference.weights)
    if weights is None or (weights < 0).any():
        return
    kept = weights > 0
    if kept.sum() < 2 or not (ours[~kept] > 0).any() or not ours[kept].any():
        return
    filled = np.where(kept, weights * (ours[kept].sum() / weights[kept].sum()), ours)
    alike = np.abs(filled - ours).max() <= SAME * ours.max()
    if alike or case.formulation.name == "l1":  # its weights need not be unique: what they are worth decides
        words = f"right but for small weights that were set to zero ({int((ours[~kept] > SAME).sum())} of them)"
        yield Trial("weights_cut", words, replace(answer, weights=filled))


def weights_within_groups(case: Case, answer: Answer) -> Trials:
    """λ on the simplex of each group, in place of the weights: right within groups, not between them."""
    weights, groups = _given(case, answer), getattr(case.task, "own", {}).get("groups")
    if weights is None or groups is None or not (np.bincount(groups) > 1).any():
        return
    sums, ours = group_sums(weights, groups), group_sums(np.nan_to_num(case.reference.weights), groups)
    if np.abs(sums[sums > 0] - 1).max(initial=0.0) > SAME:
        return
    scaled = weights * ours[groups]
    words = "right but for the weights: λ, which sums to one in every group, was handed over in their place"
    yield Trial("weights_groups", words, replace(answer, weights=scaled))


def weights_norms(case: Case, answer: Answer) -> Trials:
    """‖f_m‖, in some scale, in place of the weights that go with it."""
    weights, formulation = _given(case, answer), case.formulation
    if weights is None or not isinstance(formulation, SingleTask) or not (weights > 0).any():
        return
    if formulation.regulariser is None or formulation.regulariser.alone(case.task.count, **case.task.own):
        return  # where the weights do not come from the norms
    ours, alpha = case.reference.norms, case.reference.alpha
    assert ours is not None
    assert alpha is not None
    norms = np.maximum(weights, 0.0) * (ours.sum() / np.maximum(weights, 0.0).sum())
    roots = formulation.lower(case.task, alpha).roots
    with np.errstate(all="ignore"):
        meant = formulation.weights(norms, roots, **case.task.own)
    if np.isfinite(meant).all():
        words = "right but for the weights: the norms ‖f‖ were handed over in their place"
        yield Trial("weights_norms", words, replace(answer, weights=meant))


def weights_by_rule(case: Case, answer: Answer) -> Trials:
    """Alignment by other rules: each kernel's own, and the best without μ ≥ 0."""
    weights, task = _given(case, answer), case.task
    if weights is None or not isinstance(case.formulation, Alignment):
        return
    optimal = Answer(weights=case.reference.weights)
    own = task.own_alignment
    if _along(weights, own):
        words = "the weights are every kernel's own alignment, the approximate variant, which is no optimum"
        yield Trial("approximate", words, optimal)
    for words, one in ((UNCONSTRAINED, task), (f"{UNCONSTRAINED}, for the kernels centred", _centred(case))):
        best = np.linalg.lstsq(one.products, one.target, rcond=None)[0]
        if (weights < 0).any() and _aligned(one, weights) >= (1 - SAME) * _aligned(one, best):
            yield Trial("unconstrained", words, optimal)


def _centred(case: Case) -> AlignmentTask:
    """⟨HK_mH, HK_lH⟩ and ⟨HK_mH, T⟩, H = I − 11'/n."""
    n, together = case.instance.samples, case.instance.targets.together()
    away = np.eye(n) - 1 / n
    flat = np.stack([(away @ np.asarray(kernel, dtype=float) @ away).ravel() for kernel in case.instance.kernels])
    return replace(case.task, products=flat @ flat.T, target=flat @ together.ravel())


def _along(one: Array, other: Array) -> bool:
    unit = [vector / (np.linalg.norm(vector) or 1.0) for vector in (one, other)]
    return bool(np.abs(unit[0] - unit[1]).max() <= SAME)


def _aligned(task: AlignmentTask, v: Array) -> float:
    size = float(v @ task.products @ v)
    return float(task.target @ v / np.sqrt(size)) if size > 0 else 0.0


def weights_of_classes(case: Case, answer: Answer) -> Trials:
    """Every class's own best weights, averaged."""
    weights = _given(case, answer)
    if weights is None or not isinstance(case.formulation, MultiLabel):
        return
    from ..solving import solve

    kernels, weight = case.instance.kernels, case.instance.sample_weight
    apart = [Instance(kernels, signs, sample_weight=weight) for signs in case.task.signs]
    own = [solve(one, "l1", C=case.parameters["C"], bias=False).weights for one in apart]
    if _along(weights, np.mean(own, axis=0)):
        words = "the weights are the mean of every class's own: one combination that is best for all is meant"
        yield Trial("weights_of_classes", words, Answer(weights=case.reference.weights))


def _given(case: Case, answer: Answer) -> Array | None:
    weights = answer.weights
    if weights is None or weights.size != case.task.count or not np.isfinite(weights).all():
        return None
    return np.ravel(weights)


WEIGHTS: tuple[Hypothesis, ...] = (
    weights_order, weights_cut, weights_within_groups, weights_norms, weights_by_rule, weights_of_classes,
)  # fmt: skip
