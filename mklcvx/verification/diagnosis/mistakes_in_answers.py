"""Mistakes in an answer: in its objective, its bias, α or weights. Undoing them costs no solution.

At the optimum of a single task the value is P + R + L = G − P + R: the norms' part P, the price R(μ) of the weights,
the loss L and the gain G. A ½ that is missing from P makes L + 2P + R in the primal and G − 2P + R in the dual. Other
families have less to forget: the price of the weights or the loss in two stages, the entropy of the weights in the
smoothed hypergraph, tr(A) between the trace that is minimised and the eigenvalues that are summed.

Weights may be of another size, in another order, cut, or confused with something else. Where a mistake cannot be
undone because the answer does not have what was lost, the certified weights take its place, and the trial judges the
rest. Where weights come from a rule of thumb, the rule is applied and the result compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ...formulations._groups import group_sums
from ...problem.stack import Array
from ...problem.targets import LABELLED
from ..answers import Answer
from ..case import FITS, Case
from ..domain import to_boundary
from ..families import proved_parts
from .mistakes import (
    SAME,
    VANISHING,
    DiagnosticTrial,
    Hypotheses,
    Hypothesis,
    Trials,
    but_for,
    on_weights,
    weights_or_ours,
)

MOVED = 0.05  # of the largest α: how far some α must be from its place for the order to be another
CLOSE = 0.01  # of the scale: how near to the optimal value a claim must be to be tried
MOST_OUTPUTS = 4  # whose orders are all tried
DISTINCT = 3  # values of α between its bounds that make it recognisable in another order
FACTORS = (
    ("objective_sign", -1.0, "'s sign: the negative of a maximum was minimised, or the reverse"),
    ("objective_half", 2.0, ", which is half of what it should be: a ½ too many or too few"),
    ("objective_half", 0.5, ", which is twice of what it should be: a ½ too many or too few"),
)
Own = Callable[[Case], Iterable[tuple[str, float]]]  # words and numbers of one family


# ---------------------------------------------------------------------------------------------------------- objective
def objective_factor(case: Case, answer: Answer) -> Trials:
    for name, factor, words in FACTORS if answer.objective else ():
        yield but_for(answer, name, f"the objective{words}", objective=factor * (answer.objective or 0.0))


def objective_units(own: Own = lambda case: ()) -> Hypothesis:
    """The objective times a factor: a mean where a sum is meant, or the reverse."""

    def hypothesis(case: Case, answer: Answer) -> Trials:
        n, price = case.instance.samples, case.parameters.get("C", 1.0)
        plain = (("divided by n", float(n)), ("multiplied by n", 1 / n), *own(case), ("divided by C", price))
        for words, factor in plain if answer.objective else ():
            if factor != 1:
                said, right = f"the objective, which is {words}", (answer.objective or 0.0) * factor
                yield but_for(answer, "objective_units", said, objective=right)

    return hypothesis


def objective_terms(own: Own) -> Hypothesis:
    """The objective with a term that does not belong to it, or without one that does."""

    def hypothesis(case: Case, answer: Answer) -> Trials:
        for words, added in own(case) if answer.objective is not None else ():
            right = (answer.objective or 0.0) - added
            if (
                added and abs(right - case.reference.objective) <= CLOSE * case.known.scale
            ):  # else it is no claim to try
                yield but_for(answer, "objective_terms", f"the objective, {words}", objective=right)

    return hypothesis


# ---------------------------------------------------------------------------------------------------------- bias and α
def classes_swapped(case: Case, answer: Answer) -> Trials:
    if answer.coefficients is not None:
        name, words = "classes_swapped", "right for the classes swapped: the decision function has the other sign"
        if case.instance.targets.kind not in LABELLED:
            name, words = "function_sign", "right for −f: the function has the other sign"
        bias = None if answer.bias is None else -answer.bias
        yield DiagnosticTrial(name, words, replace(answer, coefficients=-answer.coefficients, bias=bias))


def bias_sign(case: Case, answer: Answer) -> Trials:
    """The sign of the bias, or 0 in its place."""
    if answer.bias is not None and np.any(answer.bias):
        swapped = " (or the classes are swapped)" if case.instance.targets.kind in LABELLED else ""
        words = f"the sign of the bias: f + b is meant, not f − b{swapped}"
        yield but_for(answer, "bias_sign", words, bias=-answer.bias)
    elif answer.bias is not None:
        right = np.array2string(np.asarray(case.reference.bias), precision=6)
        words = f"the bias: 0 was handed over where {right} belongs"
        yield replace(but_for(answer, "bias_omitted", words, bias=None), kind="bias:missing")


def alpha_signed(case: Case, answer: Answer) -> Trials:
    alpha, y = answer.alpha, case.reference.y
    if alpha is None or alpha.size != y.size:
        return
    if case.instance.targets.kind not in LABELLED:
        words = "the sign of α: f = Σ weight_m K_mα is meant, with α > 0 where the response lies above f"
        yield but_for(answer, "alpha_sign", words, alpha=-alpha)
    elif (np.asarray(alpha) < 0).any():
        signed = alpha.reshape(y.shape) * y
        words = "α, which carries the label's sign: α∘y was handed over where α ≥ 0 is meant"
        yield but_for(answer, "alpha_signed", words, alpha=signed)
        yield but_for(answer, "alpha_signed", f"{words}, and the classes are swapped", alpha=-signed)
        yield but_for(answer, "alpha_signed", "the sign of α", alpha=-alpha)


def alpha_units(case: Case, answer: Answer) -> Trials:
    alpha, price = answer.alpha, case.parameters.get("C", 1.0)
    if alpha is None or not np.any(alpha):
        return
    if "nu" in case.parameters and "C" not in case.parameters:
        words, total = "the size of α, which sums to one in the ν-form", float(alpha.sum())
        yield but_for(answer, "alpha_units", words, alpha=alpha / total)
        if answer.bias is not None:
            bias = np.asarray(answer.bias) / total
            yield but_for(answer, "alpha_units", f"{words}, and of the bias", alpha=alpha / total, bias=bias)
        for sign in (1, -1) if answer.objective is not None and total > 0 else ():  # a dual may be minimised
            right = sign * (answer.objective or 0.0) / total**2
            said = f"{words}, and of the objective, which grows with its square"
            yield but_for(answer, "alpha_units", said, alpha=alpha / total, objective=right)
    elif price != 1:
        between = "between 0 and C" if case.instance.targets.kind in LABELLED else "in units of the price C"
        words = f"the size of α, which is {between}: it was handed over in units of C"
        yield but_for(answer, "alpha_units", words, alpha=alpha * price)


def alpha_along(case: Case, answer: Answer) -> Trials:
    """α in proportion to the certified one."""
    alpha, ours = answer.alpha, case.reference.alpha
    if alpha is None or ours is None or np.shape(alpha) != np.shape(ours) or not along(np.ravel(alpha), np.ravel(ours)):
        return
    factor = float(np.linalg.norm(ours) / np.linalg.norm(alpha))
    if abs(factor - 1) > SAME:
        words = f"the size of α: times {factor:.6g} it is the certified one"
        yield but_for(answer, "alpha_units", words, alpha=alpha * factor)


def samples_order(case: Case, answer: Answer) -> Trials:
    """The same α in another order, found by ranking; tried only if α has enough distinct values between its bounds."""
    alpha, ours = answer.alpha, case.reference.alpha
    if alpha is None or ours is None or alpha.size != ours.size:
        return
    size = np.abs(ours)
    inside = ours[(size > VANISHING * size.max()) & (size < (1 - VANISHING) * size.max())]
    if len(np.unique(inside.round(9))) >= DISTINCT:
        ranked = np.empty_like(ours)
        ranked[np.argsort(ours, kind="stable")] = np.sort(np.ravel(alpha))
        if np.abs(ranked - np.ravel(alpha)).max() > MOVED * size.max():  # else it is noise that was put in order
            words = "the order of the samples: the same α, of other samples"
            yield but_for(answer, "samples_order", words, alpha=ranked)


def coefficients(case: Case, answer: Answer) -> Trials:
    """Signs or weights that are missing from the coefficients, or weights that are in them twice."""
    given, shape = answer.coefficients, case.task.signs.shape
    if given is None or given.shape != (*shape[:-1], case.task.count, shape[-1]):
        return
    weights, signs = weights_or_ours(case, answer)[:, None], case.task.signs[..., None, :]
    once = np.divide(given, weights, out=np.zeros(given.shape), where=weights > 0)
    for name, fault, meant in (
        ("coefficients_signed", "lack the label's sign", given * signs),
        ("coefficients_weights", "lack the weights", given * weights),
        ("coefficients_weights", "lack the weights and the label's sign", given * weights * signs),
        ("coefficients_weights", "have the weights twice", once),
    ):
        words = f"the coefficients: they {fault}, μ α∘y is meant"
        yield but_for(answer, name, words, coefficients=meant)
        if answer.bias is not None:  # it may have been found with the wrong ones
            yield but_for(answer, name, f"{words}; and for the bias", coefficients=meant, bias=None)


def reordered(name: str, what: str) -> Hypothesis:
    """Outputs, or classes, in another order."""

    def hypothesis(case: Case, answer: Answer) -> Trials:
        alpha, given, bias, gamma = answer.alpha, answer.coefficients, answer.bias, answer.multipliers.get("gamma")
        count = len(case.task.signs)
        if alpha is None or alpha.shape[:1] != (count,) or not 2 <= count <= MOST_OUTPUTS:
            return
        for order in itertools.islice(itertools.permutations(range(count)), 1, None):
            turned = list(order)
            right: dict[str, Any] = {"alpha": alpha[turned], "coefficients": None if given is None else given[turned]}
            if gamma is not None:
                right["multipliers"] = {**answer.multipliers, "gamma": np.asarray(gamma)[turned]}
            said = f"the order of the {what}: theirs are our {', '.join(map(str, order))}"
            yield but_for(answer, name, said, **right)
            if bias is not None and np.size(bias) == count:
                yield but_for(answer, name, said, **right, bias=np.ravel(bias)[turned])

    return hypothesis


# ------------------------------------------------------------------------------------------------------------ weights
@on_weights
def weights_norm(case: Case, answer: Answer, weights: Array) -> Trials:
    factor = normalising(case, weights) if (weights > 0).any() else None
    if factor is None or abs(factor - 1) < 1e-12:
        return
    words = f"the size of the weights: they {size_in_words(weights)}; times {factor:.6g} they are optimal"
    changed = {"weights": weights * factor}
    yield but_for(answer, "weights_norm", words, **changed)
    if answer.coefficients is not None:
        yield but_for(answer, "weights_norm", words, **changed, coefficients=answer.coefficients * factor)


def normalising(case: Case, weights: Array) -> float | None:
    """The factor that brings weights to the boundary of the formulation's domain, or to the sum of the certified
    ones."""
    regulariser, positive = getattr(case.formulation, "regulariser", None), np.maximum(weights, 0.0)
    if regulariser is not None and regulariser.constraint is not None:
        return to_boundary(regulariser.constraint, case.task.own, positive)
    reference = np.nan_to_num(case.reference.weights)
    return float(reference.sum() / positive.sum()) if reference.any() else None


def size_in_words(weights: Array) -> str:
    norms = {"sum to 1": np.sum(weights), "have ‖·‖₂ = 1": np.linalg.norm(weights), "have the largest 1": weights.max()}
    return next((words for words, v in norms.items() if abs(v - 1) < 1e-6), f"sum to {np.sum(weights):.6g}")


@on_weights
def weights_order(case: Case, answer: Answer, weights: Array) -> Trials:
    """The same weights in another order, found by ranking: the largest goes where ours is largest."""
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
        yield but_for(answer, "weights_order", f"the order of the kernels, which is {how}", weights=turned)


@on_weights
def weights_cut(case: Case, answer: Answer, weights: Array) -> Trials:
    """Some of our kernels have no weight; the others have weights in the right proportion."""
    ours, kept = np.nan_to_num(case.reference.weights), weights > 0
    if (weights < 0).any() or kept.sum() < 2 or not (ours[~kept] > 0).any() or not ours[kept].any():
        return
    filled = np.where(kept, weights * (ours[kept].sum() / weights[kept].sum()), ours)
    alike = np.abs(filled - ours).max() <= SAME * ours.max()
    # On the plain simplex optimal weights need not be unique: the trial judges what they are worth.
    if alike or getattr(getattr(case.formulation, "regulariser", None), "flat", False):
        words = f"small weights that were set to zero ({int((ours[~kept] > SAME).sum())} of them)"
        yield but_for(answer, "weights_cut", words, weights=filled)


@on_weights
def weights_within_groups(case: Case, answer: Answer, weights: Array) -> Trials:
    """Shares on the simplex of each group, in place of the weights: right within groups, not between them."""
    groups = getattr(case.task, "own", {}).get("groups")
    if groups is None or not (np.bincount(groups) > 1).any():
        return
    sums, ours = group_sums(weights, groups), group_sums(np.nan_to_num(case.reference.weights), groups)
    if np.abs(sums[sums > 0] - 1).max(initial=0.0) <= SAME:
        words = "the weights: the shares t (λ in the thesis), which sum to one in every group, were handed over instead"
        yield but_for(answer, "weights_groups", words, weights=weights * ours[groups])


@on_weights
def weights_norms(case: Case, answer: Answer, weights: Array) -> Trials:
    """‖f_m‖, in some scale, in place of the weights that go with it: where these come from the norms."""
    formulation, task, positive = case.formulation, case.task, np.maximum(weights, 0.0)
    regulariser, optimum = getattr(formulation, "regulariser", None), case.reference
    if regulariser is None or regulariser.alone(task.count, **task.own) or not positive.any():
        return
    assert optimum.norms is not None
    norms = positive * (optimum.norms.sum() / positive.sum())
    with np.errstate(all="ignore"):
        meant = formulation.weights(norms, formulation.lower(task, optimum.alpha).roots, **task.own)
    if np.isfinite(meant).all():
        words = "the weights: the norms ‖f‖ were handed over in their place"
        yield but_for(answer, "weights_norms", words, weights=meant)


@on_weights
def weights_power(case: Case, answer: Answer, weights: Array) -> Trials:
    if (weights < 0).any() or np.ptp(weights) <= SAME * np.abs(weights).max():
        return
    for words, exponent in (("roots, which scale the features,", 2.0), ("squares", 0.5)):
        meant = weights**exponent
        factor = normalising(case, meant)
        if factor is not None:
            said = f"the weights: their {words} were handed over in their place"
            yield but_for(answer, "weights_power", said, weights=meant * factor)


@on_weights
def weights_of_the_start(case: Case, answer: Answer, weights: Array) -> Trials:
    """All equal, beside parts that are those of other weights; weights that are fixed have no start."""
    regulariser = getattr(case.formulation, "regulariser", None)
    if regulariser is not None and regulariser.alone(case.task.count, **case.task.own):
        return
    if len(weights) > 1 and np.ptp(weights) <= SAME * np.abs(weights).max():
        words = "the weights, which are all equal: those of the start, it seems, never replaced"
        yield but_for(answer, "weights_even", words, weights=None)


def with_ours(case: Case, answer: Answer) -> Answer:
    """The certified weights in place of those given; the objective is kept, and must be right, unless it is just what
    the weights given are worth."""
    worth, objective = proved_parts(case, Answer(weights=answer.weights))[0].value, answer.objective
    own = objective is not None and worth is not None and abs(worth - objective) <= FITS * case.known.scale
    return Answer(weights=case.reference.weights, objective=None if own else objective)


def along(vector: Array, other: Array) -> bool:
    unit = [side / (np.linalg.norm(side) or 1.0) for side in (vector, other)]
    return bool(np.abs(unit[0] - unit[1]).max() <= SAME)


def clipped(case: Case, answer: Answer, weights: Array, words: str, ways: Iterable[Array]) -> Trials:
    """A constraint that was imposed afterwards: the weights are those `found` in this way."""
    if any(along(weights, way) for way in ways):
        said = f"optimal without {words}, and the weights then clipped"
        yield DiagnosticTrial("weights_clipped", said, with_ours(case, answer), recognised=True)


ANSWERS: Hypotheses = (
    objective_factor, classes_swapped, bias_sign, alpha_signed, alpha_units, weights_norm,
)  # fmt: skip
WEIGHTS: Hypotheses = (
    weights_order, weights_cut, weights_within_groups, weights_norms, weights_power, weights_of_the_start,
)  # fmt: skip
