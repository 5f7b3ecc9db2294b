"""Mistakes in the weights: of another size, in another order, cut, or mistaken for something else.

Where a mistake cannot be undone, since what was lost is not in the answer, the certified weights stand in for what is
missing: a trial then says that the rest is as it would be. A rule of thumb is followed, and where the answer has done
the same, that is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ...formulations._groups import group_sums
from ...problem.stack import Array
from ..answers import Answer
from ..case import FITS, Case
from ..domain import to_boundary
from ..families import proved_parts
from .mistakes import SAME, Hypotheses, Trial, Trials, on_weights


@on_weights
def weights_norm(case: Case, answer: Answer, weights: Array) -> Trials:
    factor = normalising(case, weights) if (weights > 0).any() else None
    if factor is None or abs(factor - 1) < 1e-12:
        return
    words = f"right but for the size of the weights: they {size_in_words(weights)}; times {factor:.6g} they are optimal"
    yield Trial("weights_norm", words, replace(answer, weights=weights * factor))
    if answer.coefficients is not None:
        scaled = replace(answer, weights=weights * factor, coefficients=answer.coefficients * factor)
        yield Trial("weights_norm", words, scaled)


def normalising(case: Case, weights: Array) -> float | None:
    """The factor that puts weights where the formulation's own must lie, or to the size of the certified ones."""
    regulariser, positive = getattr(case.formulation, "regulariser", None), np.maximum(weights, 0.0)
    if regulariser is not None and regulariser.constraint is not None:
        return to_boundary(regulariser.constraint, case.task.own, positive)
    reference = np.nan_to_num(case.reference.weights)
    return float(reference.sum() / positive.sum()) if reference.any() else None


def size_in_words(weights: Array) -> str:
    norms = {"sum to 1": np.sum(weights), "have ‖·‖₂ = 1": np.linalg.norm(weights), "have the largest 1": weights.max()}
    return next((words for words, v in norms.items() if abs(v - 1) < 1e-6), f"sum to {np.sum(weights):.6g}")


@on_weights
def weights_reciprocal(case: Case, answer: Answer, weights: Array) -> Trials:
    if (weights > 0).any():
        turned = np.divide(0.5, weights, out=np.zeros(weights.shape), where=weights > 0)
        shares = "λ was handed over where the weight 1/(2λ) is meant"
        meant = "1/(2μ) was handed over in place of μ" if case.formulation.between is None else shares
        yield Trial("weights_reciprocal", f"right but for the weights: {meant}", replace(answer, weights=turned))


@on_weights
def weights_order(case: Case, answer: Answer, weights: Array) -> Trials:
    """The same numbers in another order are found by ranking: the largest goes where ours is largest."""
    if np.sum(weights > SAME * np.abs(weights).max()) < 2:
        return
    ranked = np.empty_like(weights)
    ranked[np.argsort(np.nan_to_num(case.reference.weights), kind="stable")] = np.sort(weights)
    for how, turned in (
        ("reversed", weights[::-1]),
        ("shifted by one", np.roll(weights, -1)),
        ("shifted by one", np.roll(weights, 1)),
        ("another: the same weights, of other kernels", ranked),
    ):
        words = f"right but for the order of the kernels, which is {how}"
        yield Trial("weights_order", words, replace(answer, weights=turned))


@on_weights
def weights_cut(case: Case, answer: Answer, weights: Array) -> Trials:
    """Some of our kernels have no weight, the others are to each other as they should be."""
    ours, kept = np.nan_to_num(case.reference.weights), weights > 0
    if (weights < 0).any() or kept.sum() < 2 or not (ours[~kept] > 0).any() or not ours[kept].any():
        return
    filled = np.where(kept, weights * (ours[kept].sum() / weights[kept].sum()), ours)
    alike = np.abs(filled - ours).max() <= SAME * ours.max()
    # On the plain simplex optimal weights need not be unique: what they are worth decides.
    if alike or getattr(getattr(case.formulation, "regulariser", None), "flat", False):
        words = f"right but for small weights that were set to zero ({int((ours[~kept] > SAME).sum())} of them)"
        yield Trial("weights_cut", words, replace(answer, weights=filled))


@on_weights
def weights_within_groups(case: Case, answer: Answer, weights: Array) -> Trials:
    """Shares on the simplex of each group, in place of the weights: right within groups, not between them."""
    groups = getattr(case.task, "own", {}).get("groups")
    if groups is None or not (np.bincount(groups) > 1).any():
        return
    sums, ours = group_sums(weights, groups), group_sums(np.nan_to_num(case.reference.weights), groups)
    if np.abs(sums[sums > 0] - 1).max(initial=0.0) <= SAME:
        words = "right but for the weights: λ, which sums to one in every group, was handed over in their place"
        yield Trial("weights_groups", words, replace(answer, weights=weights * ours[groups]))


@on_weights
def weights_norms(case: Case, answer: Answer, weights: Array) -> Trials:
    """‖f_m‖, in some scale, in place of the weights that go with it: where these come from the norms."""
    formulation, task, positive = case.formulation, case.task, np.maximum(weights, 0.0)
    regulariser, found = getattr(formulation, "regulariser", None), case.reference
    if regulariser is None or regulariser.alone(task.count, **task.own) or not positive.any():
        return
    assert found.norms is not None
    norms = positive * (found.norms.sum() / positive.sum())
    with np.errstate(all="ignore"):
        meant = formulation.weights(norms, formulation.lower(task, found.alpha).roots, **task.own)
    if np.isfinite(meant).all():
        words = "right but for the weights: the norms ‖f‖ were handed over in their place"
        yield Trial("weights_norms", words, replace(answer, weights=meant))


@on_weights
def weights_power(case: Case, answer: Answer, weights: Array) -> Trials:
    if (weights < 0).any() or np.ptp(weights) <= SAME * np.abs(weights).max():
        return
    for words, exponent in (("roots, which scale the features,", 2.0), ("squares", 0.5)):
        meant = weights**exponent
        factor = normalising(case, meant)
        if factor is not None:
            said = f"right but for the weights: their {words} were handed over in their place"
            yield Trial("weights_power", said, replace(answer, weights=meant * factor))


@on_weights
def weights_of_the_start(case: Case, answer: Answer, weights: Array) -> Trials:
    """All equal, beside parts that are those of other weights."""
    if len(weights) > 1 and np.ptp(weights) <= SAME * np.abs(weights).max():
        words = "right but for the weights, which are all equal: those of the start, it seems, never replaced"
        yield Trial("weights_even", words, replace(answer, weights=None))


def with_ours(case: Case, answer: Answer) -> Answer:
    """The certified weights in place of those given; an objective must then be right, unless it is just what the
    weights given are worth."""
    worth, objective = proved_parts(case, Answer(weights=answer.weights))[0].value, answer.objective
    own = objective is not None and worth is not None and abs(worth - objective) <= FITS * case.known.scale
    return Answer(weights=case.reference.weights, objective=None if own else objective)


def along(one: Array, other: Array) -> bool:
    unit = [vector / (np.linalg.norm(vector) or 1.0) for vector in (one, other)]
    return bool(np.abs(unit[0] - unit[1]).max() <= SAME)


def clipped(case: Case, answer: Answer, weights: Array, words: str, found: Iterable[Array]) -> Trials:
    """A constraint that was imposed afterwards: the weights are among those `found` so."""
    if any(along(weights, one) for one in found):
        said = f"optimal without {words}, and the weights then clipped"
        yield Trial("weights_clipped", said, with_ours(case, answer))


WEIGHTS: Hypotheses = (
    weights_order, weights_cut, weights_within_groups, weights_norms, weights_power, weights_of_the_start,
)  # fmt: skip
