"""Single tasks: weights and α make the classifier, and every one of them can be mistaken."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from ....problem.stack import Array
from ...answers import Answer
from ...case import Case
from ...families import judged_parts
from ..fits import FITTED, formulation_fitted
from ..implied import IMPLIED
from ..mistakes import SAME, Mistakes, Trials, but_for, kernel_of, on_weights
from ..mistakes_in_answers import (
    ANSWERS,
    WEIGHTS,
    alpha_along,
    clipped,
    coefficients,
    objective_terms,
    objective_units,
    samples_order,
)
from ..mistakes_in_data import OTHER_TARGETS, SAMPLES, SUBSETS, sample_weights
from ..mistakes_in_kernels import CHANGED, KERNELS, constant_added
from ..mistakes_in_losses import LENGTHS, LOSSES, TARGETS, free_outputs
from ..mistakes_in_points import LAST, POINTS, about_machines
from ..mistakes_in_problems import OTHERS, SCALES, bias_setting, bounds_of_alpha, elastic_net, radius

NORMS = "the term of the norms"


@on_weights
def weights_reciprocal(case: Case, answer: Answer, weights: Array) -> Trials:
    shares = "the share t (λ in the thesis) was handed over where the weight 1/(2t) is meant"
    half = "1/(2μ) was handed over in place of μ" if case.formulation.between is None else shares
    for over, meant in ((0.5, half), (1.0, "1/μ was handed over in place of μ")):
        turned = np.divide(over, weights, out=np.zeros(weights.shape), where=weights > 0)
        if turned.any():
            yield but_for(answer, "weights_reciprocal", f"the weights: {meant}", weights=turned)


def terms(case: Case) -> Iterator[tuple[str, float]]:
    """Every term of the value, missing or with another factor, one after the other, then in pairs."""
    optimum, own = case.reference, dict(_counted(case))
    factors = dict(_factors(case, own))
    changes = {name: [(words, (by - 1) * value) for words, by in factors[name]] for name, value in own.items()}
    for name, value in own.items():
        dual = "; or, in the dual, the ½ of its quadratic term" if name == NORMS else ""
        yield f"from which {name} is missing{dual}", -value
        yield from ((f"in which {words}", added) for words, added in changes[name])
    for words, constant in case.task.loss_function.constants(case.task.y, case.task.box).items():
        yield f"from which {words} is missing", -constant
    if optimum.alpha is not None:
        yield "which is the sum of α alone, of the dual", float(np.sum(optimum.alpha)) - optimum.objective
    for first, other in itertools.combinations(own, 2):
        for words, added in [(f"{first} is missing", -own[first]), *changes[first]]:
            for more, too in [(f"{other} is missing", -own[other]), *changes[other]]:
                if added * own[other] != too * own[first]:  # the same factor of both is one of the whole
                    yield f"in which {words} and {more}", added + too


def _counted(case: Case) -> Iterator[tuple[str, float]]:
    """The terms of the optimal value: norms, penalty of the weights, loss, level of the loss."""
    formulation, task, optimum = case.formulation, case.task, case.reference
    regulariser, loss = formulation.regulariser, task.loss_function
    price = 0.0
    if regulariser is not None:
        price = float(np.sum(regulariser.value(np.nan_to_num(optimum.weights), **task.own)))
    norms = float(formulation.penalty(optimum.norms, **task.own)) - price
    level = loss.level_cost(float(optimum.multipliers[loss.level_name]), task.box) if loss.level_name else 0.0
    counted = {
        NORMS: norms, "the loss": optimum.objective - norms - price - level,
        "the penalty R of the weights": price, f"the price of the {'tube' if loss.free_tube else 'margin'}": level,
    }  # fmt: skip
    yield from ((name, value) for name, value in counted.items() if value)


def _factors(case: Case, own: Mapping[str, float]) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """Factors that a term may have been given. With twice the norms' term the primal lacks a ½; so does the dual, whose
    linear part is the loss and twice that term, with none of it."""
    n, price = case.instance.samples, case.parameters.get("C")
    for name in own:
        factors = [(_twice(case, name), 2.0), (f"{name} is halved", 0.5)]
        if name == "the loss":
            factors += [(f"{name} is divided by n, a mean", 1 / n)]
            factors += [] if price in (None, 1) else [(f"{name} is not multiplied by C", 1 / price)]
            factors += [] if price in (None, 1) else [(f"{name} is a mean, and not multiplied by C", 1 / (n * price))]
        else:
            factors += [(f"{name} has the other sign", -1.0)]
        if name == NORMS:
            factors += [("the dual's linear part is counted with half of its quadratic one", 1.5)]
        yield name, factors


def _twice(case: Case, name: str) -> str:
    loss = case.task.loss_function
    if name == NORMS:
        return "the ½ of its quadratic term is missing, in the primal; or the dual's linear term is counted alone"
    if name == "the loss" and (loss.log_link or loss.degree == 2):
        return (
            "the deviance is counted in full, not by half" if loss.log_link else "the ½ of the squared loss is missing"
        )
    return f"{name} is taken twice: a ½ is missing"


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
    left = free_outputs(case, alpha) - kernel_of(case, answer) @ (alpha * task.signs)
    everyone = float(left[np.abs(alpha) > SAME * np.abs(alpha).max()].mean())
    words = f"{given:.6g} was handed over where {right:.6g} belongs"
    if abs(everyone - given) <= SAME * abs(everyone - right):
        words = "it is the mean over all support vectors, and those at the bound do not tell it"
    yield but_for(answer, "bias_wrong", f"the bias: {words}", bias=None)


SINGLE_TASKS = Mistakes(
    answers=(*ANSWERS, weights_reciprocal, objective_units(), objective_terms(terms)),
    answers_alone=(alpha_along, samples_order, weights_capped, *WEIGHTS, coefficients, *POINTS),
    problems=(bias_setting, *SCALES, *LENGTHS, *TARGETS, *OTHERS, bounds_of_alpha, sample_weights, *LOSSES, *IMPLIED),
    problems_alone=(
        *FITTED, radius, elastic_net, *SUBSETS, *SAMPLES, constant_added, bias_wrong, *OTHER_TARGETS, *CHANGED,
        *KERNELS, formulation_fitted, *LAST,
    ),
    about=about_machines,
)  # fmt: skip
