"""Joint outputs: other losses and prices, outputs in another order, means over them, targets that were changed.

α tells much in closed form. Among classes that of a sample's own is the sum of its others: the class that was read can
be seen. For real targets f + b at free samples is y less what α says, so that weights and α tell which y was used, and
the price and the length of the loss as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....formulations import RankOneCoefficients
from ....formulations.losses import COUNTS, EVERY, JOINT, REAL, AnyLoss
from ....problem.stack import Array
from ...answers import Answer
from ...case import Case
from ..fits import FITTED
from ..mistakes import SAME, VANISHING, DiagnosticTrial, Mistakes, Trials, but_for, given_weights, with_parameters
from ..mistakes_in_answers import ANSWERS, WEIGHTS, along, coefficients, objective_terms, objective_units, reordered
from ..mistakes_in_data import OTHER_TARGETS, SUBSETS, even_weights, sample_weights
from ..mistakes_in_kernels import CHANGED, KERNELS, changed_kernels, times
from ..mistakes_in_points import machine_gap, shown, weights_stale
from ..mistakes_in_problems import OTHERS, SCALES, bias_setting, shared_bound
from .conditions import implied_rows
from .joint_targets import TARGETS_READ


def alpha_of(case: Case, answer: Answer) -> Array | None:
    """α, one row for each output; None unless all are there and finite."""
    alpha = answer.alpha
    return None if alpha is None or alpha.shape != case.task.y.shape or not np.isfinite(alpha).all() else alpha


# ------------------------------------------------------------------------------------------------- form of the answer
def alpha_stale(case: Case, answer: Answer) -> Trials:
    """α of functions with other weights than those handed over, which are right."""
    alpha, weights = alpha_of(case, answer), given_weights(case, answer)
    if alpha is None or (weights is None and answer.objective is None):
        return
    rows = implied_rows(case.task, case.task.feasible(alpha))
    implied = rows.solved(case.task.bias)
    if weights is not None and implied is not None and along(weights, implied):  # α is theirs
        return
    if implied is not None and machine_gap(case.task, implied, case.task.feasible(alpha)) <= SAME:
        words = f"α, which is that of the weights {shown(implied)}: of an earlier iterate, or never updated"
        yield but_for(answer, "alpha_stale", words, alpha=None, bias=None)


def means(case: Case) -> Iterator[tuple[str, float]]:
    yield f"the mean over {case.task.outputs} outputs", float(case.task.outputs)


def terms(case: Case) -> Iterator[tuple[str, float]]:
    single, task, optimum = case.formulation.single, case.task, case.reference
    regulariser, norms = single.regulariser, optimum.norms
    price = 0.0 if regulariser is None else float(np.sum(regulariser.value(np.nan_to_num(optimum.weights), **task.own)))
    squares = float(single.penalty(norms, **task.own)) - price
    loss = optimum.objective - squares - price
    yield "from which the penalty R of the weights is missing", -price
    yield "from which the loss is missing: only the norms are counted", -loss
    yield "in which the loss is not multiplied by C", loss / case.parameters.get("C", 1.0) - loss
    yield "in which the loss is divided by n, a mean", loss / case.instance.samples - loss
    yield "in which the loss is a mean over the outputs", loss / task.outputs - loss
    yield "in which the loss is a mean over outputs and samples", loss / (task.outputs * case.instance.samples) - loss
    yield "in which the ½ of the squared loss is missing", loss
    yield "in whose quadratic term the ½ is missing, in the dual; or the norms are missing in the primal", -squares
    yield "in whose quadratic term the ½ is missing, in the primal; or the dual's linear term alone", squares


# ---------------------------------------------------------------------------------------- what α tells in closed form
def price_told(case: Case, answer: Answer) -> Trials:
    """C: the largest α where several samples share it; for a squared loss the factor between α and what is left of the
    targets."""
    alpha, given = alpha_of(case, answer), case.parameters.get("C")
    if alpha is None or given is None:
        return
    for value in (_largest(case, alpha), _slope(case, answer, alpha), _of_chances(case, answer, alpha)):
        if np.isfinite(value) and value > 0 and abs(value - given) > SAME * given:
            words = f"C = {value:.6g}, and not for C = {given:.6g}"
            yield replace(with_parameters(case, answer, "parameter", words, C=value), fitted=1)


def _largest(case: Case, alpha: Array) -> float:
    top = shared_bound(np.abs(alpha).max(axis=0) / case.instance.sample_weight)
    return np.nan if top is None else top / float(getattr(getattr(case.task.loss, "each", None), "delta", 1.0))


def _slope(case: Case, answer: Answer, alpha: Array) -> float:
    """1 over the factor of α in y − f, with a bias and a length beside it."""
    fit = _residual_fit(case, answer, alpha, ("slope", "length"))
    return 1 / fit[0] if fit is not None and fit[0] > 0 else np.nan


def _of_chances(case: Case, answer: Answer, alpha: Array) -> float:
    """The price at which outputs differ as the logarithms of the chances do that it makes of α."""
    from scipy.optimize import minimize_scalar

    task, weights = case.task, given_weights(case, answer)
    if not task.loss.log_odds or weights is None or (alpha < 0).any():
        return np.nan
    top = float((alpha.max(axis=0) / task.box).max()) * (1 + VANISHING)

    def left(t: float) -> float:
        rows = implied_rows(replace(task, box=task.box * top * (1 + np.exp(t))), alpha)
        design, wanted = rows.biases * task.bias, rows.wanted - rows.images @ weights
        off = wanted - design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
        return float(off @ off) / len(off)

    least = minimize_scalar(left, (-9.0, 5.0), method="bounded", options={"xatol": 1e-10})
    return case.parameters["C"] * top * (1 + float(np.exp(least.x))) if least.fun <= SAME**2 else np.nan


def _residual_fit(case: Case, answer: Answer, alpha: Array, unknowns: tuple[str, ...]) -> Array | None:
    """y − f ≈ slope·α/weight + length·sign α + b_j at samples with α between its bounds."""
    task, weights = case.task, given_weights(case, answer)
    if weights is None or task.loss.of_each_output is None:
        return None
    outputs = task.evaluate(RankOneCoefficients(np.maximum(weights, 0.0), alpha))[0]
    size, largest = np.abs(alpha), np.abs(alpha / case.instance.sample_weight).max()
    shared = np.abs(alpha / case.instance.sample_weight) >= (1 - VANISHING) * largest
    free = (size > SAME * largest) & ~(shared if shared.sum() > 1 else np.zeros_like(shared))
    if free.sum() < len(unknowns) + task.outputs + 2:
        return None
    outputs_of = np.nonzero(free)[0]
    columns = {"slope": (alpha / case.instance.sample_weight)[free], "length": np.sign(alpha)[free]}
    curved = task.loss.of_each_output.degree == 2 or task.loss.of_each_output.name == "huber"
    lengthy = "epsilon" in task.loss.of_each_output.lengths
    used = [columns[name] for name in unknowns if (name == "slope" and curved) or (name == "length" and lengthy)]
    design = np.stack([*used, *(np.eye(task.outputs)[outputs_of].T if task.bias else ())], axis=1) if used else None
    return None if design is None else np.linalg.lstsq(design, (task.y - outputs)[free], rcond=None)[0]


def factor_told(case: Case, answer: Answer) -> Trials:
    """Kernels, or α, times a number."""
    alpha, weights = alpha_of(case, answer), given_weights(case, answer)
    if alpha is None or weights is None or not (weights > 0).any():
        return
    factor = implied_rows(case.task, alpha).solved(case.task.bias, np.maximum(weights, 0.0))
    if factor is None or abs(factor[0] - 1) <= SAME:
        return
    value = float(factor[0])
    words = f"every kernel times {value:.6g}"
    for trial in changed_kernels(case, answer, "kernels_scaled", words, times(value), value):
        yield replace(trial, fitted=1)
    said = f"the size of α: times {value:.6g} it is optimal"
    yield replace(but_for(answer, "alpha_units", said, alpha=alpha * value), fitted=1)
    moved = f"the size of the weights: times {value:.6g} they are optimal"
    yield replace(but_for(answer, "weights_norm", moved, weights=weights * value), fitted=1)


# ------------------------------------------------------------------------------------------------------- other losses
def other_loss(case: Case, answer: Answer) -> Trials:
    """Another loss for the same targets, with a ½ before squares or without; its own parameter is the one given, the
    default, or what α tells."""
    shared, alpha = case.parameters, alpha_of(case, answer)
    others = {key: value for key, value in shared.items() if key not in case.sample_side}
    for loss in _losses(case):
        curved = getattr(loss, "degree", 1) == 2 or loss.name == "huber"
        for factor, own in itertools.product((1.0, 2.0) if curved else (1.0,), _own(case, answer, alpha, loss)):
            given = {**others, "loss": loss.name, "bias": shared["bias"], "C": shared.get("C", 1.0) * factor, **own}
            said = "".join(f", with {name} = {value:.6g}" for name, value in own.items())
            words = f"{loss.name.replace('_', ' ')}{', without its ½' if factor != 1 else ''}{said}"
            meant = case.task.loss.name.replace("_", " ")
            yield DiagnosticTrial(
                f"loss {loss.name}",
                f"optimal for another loss: {words}, where {meant} is meant",
                answer,
                parameters=given,
            )


def _losses(case: Case) -> Iterator[AnyLoss]:
    loss = case.task.loss
    for other in JOINT.values() if loss.of_each_output is None else EVERY:
        counted = other.targets == COUNTS and bool((case.task.y >= 0).all())
        fits = loss.of_each_output is None or other.targets == REAL or counted
        if other.name != loss.name and fits and not other.free_tube and other.parameter.name == "C":
            yield other


def _own(case: Case, answer: Answer, alpha: Array | None, loss: AnyLoss) -> Iterator[dict[str, float]]:
    """Values of the loss's own parameter."""
    names = [parameter.name for parameter in loss.own]
    yield {name: case.parameters[name] for name in names if name in case.parameters}
    if not names or alpha is None:
        return
    price, sizes = case.parameters.get("C", 1.0), alpha / case.instance.sample_weight
    if names == ["delta"]:
        yield {"delta": float(np.abs(sizes).max()) / price}
        yield {"delta": float(np.abs(sizes).max()) / price / 2}
    elif names == ["quantile"]:
        share = float(sizes.max()) / price
        yield from ({"quantile": share},) if 0 < share < 1 else ()
    elif names == ["epsilon"]:
        other = replace(case, task=replace(case.task, loss=type(case.task.loss)(loss)))
        fit = _residual_fit(other, answer, alpha, ("slope", "length"))
        if fit is not None and fit[-1 - case.task.bias * case.task.outputs] > 0:
            yield {"epsilon": float(fit[-1 - case.task.bias * case.task.outputs])}


def length_told(case: Case, answer: Answer) -> Trials:
    """The loss's own parameter, as α tells it."""
    alpha, own = alpha_of(case, answer), case.task.loss.of_each_output
    if alpha is None or own is None:
        return
    for values in itertools.islice(_own(case, answer, alpha, own), 1, None):
        for name, value in values.items():
            if abs(value - case.parameters[name]) > SAME * case.parameters[name]:
                words = f"{name} = {value:.6g}, and not for {name} = {case.parameters[name]:.6g}"
                yield replace(with_parameters(case, answer, "parameter", words, **{name: value}), fitted=1)


JOINT_OUTPUTS = Mistakes(
    answers=(
        *ANSWERS[:2], reordered("outputs_swapped", "outputs"), *ANSWERS[2:], objective_units(means),
        objective_terms(terms),
    ),
    answers_alone=(*WEIGHTS, coefficients),
    problems=(bias_setting, *TARGETS_READ, *SCALES, other_loss, *OTHERS, sample_weights),
    problems_alone=(
        *SUBSETS, even_weights, alpha_stale, *OTHER_TARGETS, *CHANGED, *FITTED, *KERNELS, weights_stale,
    ),
    told=(price_told, length_told, factor_told),
)  # fmt: skip
