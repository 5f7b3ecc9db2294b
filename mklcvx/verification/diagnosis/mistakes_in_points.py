"""Parts that belong to other parts: α of other weights, α that was cut, weights that α does not have.

α that lies between its bounds at enough samples tells with which kernel its machine was trained. If one machine has all
of it, α is optimal, for weights that were not handed over: those of an earlier iterate, or of the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...formulations import RankOneCoefficients, Task
from ...formulations.families.joint import JointTask
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from .families.conditions import implied_weights, machine
from .mistakes import (
    SAME,
    VANISHING,
    DiagnosticTrial,
    Hypotheses,
    Trials,
    but_for,
    given_alpha,
    given_weights,
    kernel_of,
    on_alpha,
    on_weights,
)

OWN = 1e-5  # gap, relative, up to which α is a machine's own
SHOWN = 4
OTHER = 0.01  # by which an exponent must differ to be another


def shown(weights: Array) -> str:
    some = ", ".join(f"{weight:.4g}" for weight in weights[:SHOWN])
    return f"({some}{', …' if len(weights) > SHOWN else ''})"


def machine_gap(task: Task | JointTask, weights: Array, alpha: Array) -> float:
    """How far α is from being that of the machine with these weights, relative to its scale."""
    outputs, norms = task.evaluate(RankOneCoefficients(weights, alpha * task.signs))
    size = float(norms @ task.root_q(alpha))
    gap = task.risk(outputs).value - task.gain(alpha) + size
    return max(float(gap), 0.0) / size if size > 0 else np.inf


def machines_of(case: Case, alpha: Array) -> Iterator[tuple[str, Array]]:
    """Weights with which α may have been found: even ones, each kernel alone, those that α implies."""
    task = case.task
    count, implied = task.count, implied_weights(task, alpha)
    yield "the average of the kernels, where algorithms start", np.full(count, 1 / count)
    yield "the sum of the kernels, where algorithms start", np.ones(count)
    for m, name in enumerate(case.instance.names if count > 1 else ()):
        yield f"kernel {name} alone", np.eye(count)[m]
    if implied is not None:
        yield f"the weights {shown(implied)}", implied


def own_machine(case: Case, alpha: Array) -> tuple[str, Array] | None:
    """The machine that has this α, in words, and its weights."""
    feasible = case.task.feasible(alpha)
    if np.abs(feasible - alpha).max() > SAME * np.abs(alpha).max():
        return None
    with np.errstate(all="ignore"):
        machines = machines_of(case, feasible)
        return next((own for own in machines if machine_gap(case.task, own[1], feasible) <= OWN), None)


@on_alpha
def alpha_stale(case: Case, answer: Answer, alpha: Array) -> Trials:
    """α of a machine with other weights than those handed over, which are right."""
    if answer.weights is None and answer.objective is None and answer.coefficients is None:
        return
    own = own_machine(case, alpha)
    if own is not None:
        words = f"α, which is that of the machine with {own[0]}: of an earlier iterate, or never updated"
        yield but_for(answer, "alpha_stale", words, alpha=None, bias=None)


@on_alpha
def alpha_clipped(case: Case, answer: Answer, alpha: Array) -> Trials:
    """α that agrees with the certified one but where it is cut at a number, or set to zero."""
    ours = case.reference.alpha
    if ours is None or ours.shape != alpha.shape:
        return
    size = np.abs(ours).max()
    same = np.abs(alpha - ours) <= SAME * size
    lost, most = ~same & (np.abs(alpha) <= VANISHING * size), float(np.abs(alpha).max())
    cut = ~same & (np.abs(np.abs(alpha) - most) <= VANISHING * size) & (np.abs(ours) > most)
    if same.all() or not (same | lost | cut).all() or not (np.abs(alpha) > VANISHING * size).any():
        return
    how = [f"{int(lost.sum())} small ones were set to zero"] * bool(lost.any())
    how += [f"{int(cut.sum())} were cut at {most:.6g}"] * bool(cut.any())
    yield replace(but_for(answer, "alpha_clipped", f"α: {' and '.join(how)}", alpha=ours), recognised=True)


@on_weights
def weights_stale(case: Case, answer: Answer, weights: Array) -> Trials:
    """Weights that the rest, which is right, does not have."""
    regulariser = getattr(case.formulation, "regulariser", None)
    fixed = regulariser is not None and regulariser.alone(case.task.count, **case.task.own)
    if (answer.alpha is not None or answer.coefficients is not None) and not fixed:
        words = "the weights, which are those of another iterate, or were changed after the rest was found"
        yield but_for(answer, "weights_stale", words, weights=None)


@on_weights
def weights_rule(case: Case, answer: Answer, weights: Array) -> Trials:
    """Weights that are a power of √q_m, as an update with another exponent makes them, at the α that goes with them."""
    if (weights <= 0).any() or len(weights) < 3:
        return
    alpha = case.task.feasible(np.ravel(answer.alpha)) if answer.alpha is not None else machine(case, weights)
    if machine_gap(case.task, weights, alpha) > OWN:
        return
    exponent, off = _power(weights, case.task.root_q(alpha))
    ours = np.nan_to_num(case.reference.weights)
    right = _power(ours, case.task.root_q(case.reference.alpha))[0] if (ours > 0).all() else np.inf
    if off <= (SAME if len(weights) > 3 else VANISHING) and min(abs(exponent), abs(exponent - right)) > OTHER:
        words = f"the weights are in proportion to (√q)^{exponent:.4g}, by an update with another exponent than ours"
        beside = None if answer.alpha is None else case.reference.alpha  # theirs is what the rule needs
        optimal = Answer(weights=case.reference.weights, alpha=beside)
        yield DiagnosticTrial("weights_rule", words, optimal, fitted=1, recognised=True)


def _power(weights: Array, roots: Array) -> tuple[float, float]:
    """The exponent of √q that weights are in proportion to, and how far their logarithms are from it."""
    design, wanted = np.stack([np.log(roots), np.ones(len(roots))], axis=1), np.log(weights)
    line = np.linalg.lstsq(design, wanted, rcond=None)[0]
    return float(line[0]), float(np.abs(design @ line - wanted).max())


def about_machines(case: Case, answer: Answer) -> tuple[str, list[str]]:
    """The machine that α belongs to, and the samples whose outputs are farthest from what their α asks for."""
    alpha, weights, task = given_alpha(case, answer), given_weights(case, answer), case.task
    if alpha is None or not np.isfinite(alpha).all() or not alpha.any():
        return "", []
    own = own_machine(case, alpha)
    feasible = task.feasible(alpha)
    if weights is None or np.abs(feasible - alpha).max() > SAME * np.abs(alpha).max():
        return own[0] if own else "", []
    outputs = kernel_of(case, answer) @ (feasible * task.signs)
    risk = task.risk(outputs)
    with np.errstate(all="ignore"):
        gaps = task.loss_function.fenchel_young(feasible, outputs + risk.bias, task.y, task.box, risk.unknown)
    worst = [int(i) for i in np.argsort(-gaps)[:SHOWN] if gaps[i] > SAME * float(np.sum(gaps))]
    lines = [f"farthest from what their α asks for: samples {', '.join(map(str, worst))}"] if worst else []
    return own[0] if own else "", lines


POINTS: Hypotheses = (alpha_clipped, alpha_stale, weights_rule)
LAST: Hypotheses = (weights_stale,)
