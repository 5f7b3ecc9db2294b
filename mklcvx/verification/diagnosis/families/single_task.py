"""Single tasks: weights and α make the classifier, and every one of them can be mistaken."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....problem.stack import Array
from ...answers import Answer
from ...case import Case
from ...families import judged_parts
from ..fits import FACTORS, FITTED, formulation_fitted
from ..mistakes import SAME, Mistakes, Trials, but_for, kernel_of, on_weights, weights_or_ours
from ..mistakes_in_answers import ANSWERS, WEIGHTS, clipped, objective_terms, objective_units, samples_order
from ..mistakes_in_data import OTHER_TARGETS, SAMPLES, SUBSETS, sample_weights
from ..mistakes_in_kernels import CHANGED, KERNELS, constant_added
from ..mistakes_in_losses import LENGTHS, LOSSES, TARGETS, implied_outputs
from ..mistakes_in_points import LAST, POINTS, about_machines
from ..mistakes_in_problems import OTHERS, SCALES, another_price, bias_setting, elastic_net, radius


@on_weights
def weights_reciprocal(case: Case, answer: Answer, weights: Array) -> Trials:
    if (weights > 0).any():
        turned = np.divide(0.5, weights, out=np.zeros(weights.shape), where=weights > 0)
        shares = "the share t (λ in the thesis) was handed over where the weight 1/(2t) is meant"
        meant = "1/(2μ) was handed over in place of μ" if case.formulation.between is None else shares
        yield but_for(answer, "weights_reciprocal", f"the weights: {meant}", weights=turned)


def terms(case: Case) -> Iterator[tuple[str, float]]:
    formulation, task, found = case.formulation, case.task, case.reference
    regulariser, weights = formulation.regulariser, np.nan_to_num(found.weights)
    price = 0.0 if regulariser is None else float(np.sum(regulariser.value(weights, **task.own)))
    norms = float(formulation.penalty(found.norms, **task.own)) - price
    loss = found.objective - norms - price
    yield "from which the penalty R of the weights is missing", -price
    yield "from which the loss is missing: only the norms are counted", -loss
    yield "from which the loss and the penalty R of the weights are missing", -loss - price
    if "C" in case.parameters:
        yield "in which the loss is not multiplied by C", loss / case.parameters["C"] - loss
    yield "in which the loss is divided by n, a mean", loss / case.instance.samples - loss
    if task.loss_function.degree == 2:
        yield "in which the ½ of the squared loss is missing", loss
    for words, constant in task.loss_function.constants(task.y, task.box).items():
        yield f"from which {words} is missing", -constant
    if task.loss_function.free_tube:
        paid = task.loss_function.level_cost(float(found.multipliers["epsilon"]), task.box)
        yield "from which the price of the tube, ν times those of the samples, is missing", -paid
    if task.loss_function.log_link:
        yield "in which the deviance is counted in full, not by half", loss
    yield "in whose quadratic term the ½ is missing, in the dual; or the norms are missing in the primal", -norms
    yield "in whose quadratic term the ½ is missing, in the primal; or the dual's linear term alone", norms


@on_weights
def weights_capped(case: Case, answer: Answer, weights: Array) -> Trials:
    """Weights of `l1` that were clipped at θ once, or again and again while they were brought back to sum one."""
    from ....solvers.solving import solve

    regulariser, given = case.formulation.regulariser, dict(case.parameters)
    if regulariser is None or regulariser.cap is None:
        return
    cap = given.pop("theta")
    once = again = np.minimum(solve(case.instance, "l1", **given).weights, cap)
    for _ in range(100):
        again = np.minimum(again / again.sum(), cap)
    yield from clipped(case, answer, weights, "the box weights ≤ θ", [once, again])


def coefficients(case: Case, answer: Answer) -> Trials:
    """Labels or weights that are missing from the coefficients, or weights that are in them twice."""
    given = answer.coefficients
    if given is None or given.shape != (case.task.count, case.task.samples):
        return
    weights, signs = weights_or_ours(case, answer)[:, None], case.task.signs
    with np.errstate(all="ignore"):
        once = np.where(weights > 0, given / weights, 0.0)
    for name, words, meant in (
        ("coefficients_signed", "they lack the label's sign, μ α∘y is meant", given * signs),
        ("coefficients_weights", "they lack the weights, μ α∘y is meant", given * weights),
        ("coefficients_weights", "they lack the weights and the label's sign, μ α∘y is meant", given * weights * signs),
        ("coefficients_weights", "they have the weights twice, μ α∘y is meant", once),
    ):
        yield but_for(answer, name, f"the coefficients: {words}", coefficients=meant)
        if answer.bias is not None:  # it may have been found with the wrong ones
            said = f"the coefficients: {words}; and for the bias"
            yield but_for(answer, name, said, coefficients=meant, bias=None)


def bias_wrong(case: Case, answer: Answer) -> Trials:
    """Nothing but the bias; perhaps the mean of y − f over all support vectors, where only those below the bound have
    y f = 1. A solver that stops early is off by δ in the bias and by δ² in the value: then it is not the bias alone."""
    alpha = case.reference.alpha if answer.alpha is None else np.ravel(answer.alpha)
    if answer.bias is None or not case.parameters["bias"]:
        return
    task, given, right = case.task, float(answer.bias), float(case.reference.bias)
    if alpha is None or len(alpha) != task.samples or not alpha.any():
        return
    parts = {part.name: part.off for part in judged_parts(case, answer)[0]}
    own = parts.pop("bias")
    if max(parts.values(), default=0.0) > own**2:
        return
    left = implied_outputs(case, alpha) - kernel_of(case, answer) @ (alpha * task.signs)
    everyone = float(left[np.abs(alpha) > SAME * np.abs(alpha).max()].mean())
    words = f"{given:.6g} was handed over where {right:.6g} belongs"
    if abs(everyone - given) <= SAME * abs(everyone - right):
        words = "it is the mean over all support vectors, and those at the bound do not tell it"
    yield but_for(answer, "bias_wrong", f"the bias: {words}", bias=None)


SINGLE_TASKS = Mistakes(
    answers=(*ANSWERS, weights_reciprocal, objective_units(), objective_terms(terms)),
    answers_alone=(samples_order, weights_capped, *WEIGHTS, coefficients, *POINTS),
    problems=(bias_setting, *SCALES, *LENGTHS, *TARGETS, *OTHERS, another_price, sample_weights, *LOSSES, *FACTORS),
    problems_alone=(
        *FITTED, radius, elastic_net, *SUBSETS, *SAMPLES, constant_added, formulation_fitted, bias_wrong,
        *OTHER_TARGETS, *CHANGED, *KERNELS, *LAST,
    ),
    about=about_machines,
)  # fmt: skip
