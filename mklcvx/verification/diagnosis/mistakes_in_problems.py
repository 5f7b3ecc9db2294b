"""Mistakes in the problem: another one was solved than the one asked.

Sizes of kernels and weights: with kernels sK_m and weights μ_m/s the classifiers are the same, f_m = μ_m K_m(α∘y), and
‖f_m‖² is 1/s of what it was: a penalty times 1/s, or weights whose sum, or norm, is s in place of 1, is our problem
with kernels sK_m. Its author hands over the weights of sK_m, or those of K_m, which are s times as large.

The elastic net rΣμ + (1−r)Σμ² ≤ 1 is told from two others in the same way, μ = tν with ν in ours at another r':
with Σμ²/2, r' = rt; with ‖μ‖, where the gradients r + (1−r)μ/‖μ‖ and r'/t + 2(1−r')μ/t² must be parallel at the weights
given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ...formulations import FORMULATIONS, Formulation
from ...formulations.families.single_task import C as PRICE
from ...problem.instance import Instance
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from ..domain import to_boundary
from ..families import family_of
from .mistakes import (
    SAME,
    VANISHING,
    DiagnosticTrial,
    Hypotheses,
    Trials,
    given_alpha,
    given_weights,
    on_alpha,
    on_weights,
    with_parameters,
)
from .mistakes_in_answers import size_in_words
from .mistakes_in_data import labels_swapped
from .mistakes_in_kernels import SCALED

READ_OFF = (("C", 1.0), ("delta", 1.0), ("nu", -1.0))  # how bounds of α grow with a parameter
LONG = 150  # samples beyond which formulations without a fast method are left out


def bias_setting(case: Case, answer: Answer) -> Trials:
    if case.parameters["bias"]:  # a bias that was found afterwards belongs to no problem
        unbiased = replace(answer, bias=None)
        yield with_parameters(case, unbiased, "bias_omitted", "the problem without a bias", bias=False)
    else:
        yield with_parameters(case, answer, "bias_added", "the problem with a bias", bias=True)


# --------------------------------------------------------------------------------------------------------- parameters
def price_scaled(case: Case, answer: Answer) -> Trials:
    if "nu" in case.parameters and "C" not in case.parameters:
        yield from _with_a_price(case, answer)
    if "C" not in case.parameters:
        return
    for name, words, value in _other_prices(case):
        yield with_parameters(case, answer, name, f"{words}, that is C = {value:.6g}", C=value)


def _other_prices(case: Case) -> Iterator[tuple[str, str, float]]:
    price, n = case.parameters["C"], case.instance.samples
    yield "C_over_n", "C divided by n", price / n
    yield "C_times_n", "C multiplied by n", price * n
    yield "C_inverted", "1/C in place of C", 1 / price
    yield "C_inverted", "1/(nC) in place of C: it was taken for λ of (λ/2)‖f‖² + mean ξ", 1 / (n * price)


def _with_a_price(case: Case, answer: Answer) -> Trials:
    """The form with C in place of ν: at 1/(νn), at ν, at 1, or at the largest α that several samples share."""
    nu, alpha = case.parameters["nu"], given_alpha(case, answer)
    others = {key: value for key, value in case.parameters.items() if key not in ("nu", "loss")}
    prices = {"1/(νn)": 1 / (nu * case.instance.samples), "ν: ν was taken for C": nu, "1": 1.0}
    largest = None if alpha is None else shared_bound(np.abs(alpha) / case.instance.sample_weight)
    if largest is not None:
        prices["the largest α"] = largest
    for words, price in prices.items():
        said = f"optimal for the form with a price, C = {price:.6g}, that is {words}"
        kind = "parameter:nu" if price == nu else "loss:hinge"
        yield DiagnosticTrial("parameter", said, answer, parameters={**others, "C": price}, kind=kind)


@on_alpha
def bounds_of_alpha(case: Case, answer: Answer, alpha: Array) -> Trials:
    """Another C, ν or length of the loss: that at which the largest α, where several samples share it, is at its
    bound."""
    task, given = case.task, case.parameters
    if alpha.shape != np.shape(task.limit):
        return
    bounded = ((alpha, task.limit), (-alpha, -task.low))
    up, down = (shared_bound(side[bound > 0] / bound[bound > 0]) for side, bound in bounded)
    tau, price = given.get("quantile"), given.get("C")
    if tau is not None and price is not None and up and down:  # α lies between −(1 − τ)C and τC
        sides = up * tau, down * (1 - tau)
        told = {"C": price * sum(sides), "quantile": sides[0] / sum(sides)}
        changed = {key: value for key, value in told.items() if abs(value - given[key]) > SAME * given[key]}
        if len(changed) == 1:
            yield _read_off(case, answer, *changed.popitem())
        return
    largest = max(up or 0.0, down or 0.0)
    for name, power in READ_OFF if largest > 0 and abs(largest - 1) > SAME else ():
        if name in given and not (name == "C" and "nu" in given) and not (name == "delta" and "C" not in given):
            yield _read_off(case, answer, name, given[name] * largest**power)


def shared_bound(shares: Array) -> float | None:
    """The largest share of its bound, if several samples have it."""
    largest = float(shares.max(initial=0.0))
    return largest if np.isfinite(largest) and np.count_nonzero(shares >= largest * (1 - VANISHING)) > 1 else None


def _read_off(case: Case, answer: Answer, name: str, value: float) -> DiagnosticTrial:
    given, known = case.parameters[name], "parameter"
    shown = "the largest α" if name == "C" else "at which the largest α is at its bound"
    said = f"{name} = {value:.6g}, {shown}, and not for {name} = {given:.6g}"
    for other, words, meant in _other_prices(case) if name == "C" else ():
        if abs(meant - value) <= SAME * value:
            known, said = other, f"{words}, that is C = {value:.6g}"
    return replace(with_parameters(case, answer, known, said, **{name: value}), read_off=True)


def own_parameters(case: Case, answer: Answer) -> Trials:
    for key, words, value in _turned(case):
        said = f"{key} = {value:.6g}, that is {words}"
        yield with_parameters(case, answer, "parameter", said, **{key: value})
        if key == "lam" and answer.objective is not None:  # all of it times the factor
            in_ours = replace(answer, objective=answer.objective * value / case.parameters[key])
            yield with_parameters(case, in_ours, "parameter", said, lam=value)
    if "balanced" in case.parameters:
        other = not case.parameters["balanced"]
        yield with_parameters(case, answer, "parameter", f"balanced = {other}", balanced=other)
    if "expansion" in case.parameters:
        for expansion in ("clique", "star", "zhou", "kcca"):
            changed = {key: v for key, v in case.parameters.items() if key != "dimensions"} | {"expansion": expansion}
            words = f"optimal for expansion = {expansion}"
            yield DiagnosticTrial("parameter", words, answer, parameters=changed, kind="parameter:expansion")


def _turned(case: Case) -> Iterator[tuple[str, str, float]]:
    """Parameters, and the values that they are confused with."""
    n = case.instance.samples
    turns: dict[str, Callable[[float], dict[str, float]]] = {
        "theta": lambda v: {"1/theta": 1 / v, "2 theta": 2 * v, "theta/2": v / 2},
        "p": lambda v: {
            "p/(p − 1)": v / (v - 1) if v > 1 else v, "2p/(p + 1)": 2 * v / (v + 1),
            "p/(2 − p), p being the exponent of the block norm": v / (2 - v) if v < 2 else v,
        },
        "l1_ratio": lambda v: {"1 − l1_ratio": 1 - v},
        "lam": lambda v: {
            "1/lam": 1 / v, "lam/2": v / 2, "2 lam": 2 * v, "lam n": v * n, "lam/n": v / n,
            "lam n(n + 1)/2": v * n * (n + 1) / 2, "lam/(n(n + 1)/2), the loss summed": v / (n * (n + 1) / 2),
        },
        "smoothing": lambda v: {"1/smoothing": 1 / v},
        "nu": lambda v: {"nu/2": v / 2},
        "quantile": lambda v: {"1 − quantile": 1 - v},
        "width": lambda v: {"width/2": v / 2, "2 width": 2 * v},
    }  # fmt: skip
    for key, turn in turns.items():
        for words, value in turn(case.parameters[key]).items() if key in case.parameters else ():
            yield key, words, value


def defaults(case: Case, answer: Answer) -> Trials:
    """A parameter that was given and ignored."""
    loss = getattr(case.task, "loss_function", None)
    for parameter in (PRICE, *case.formulation.parameters, *(() if loss is None else loss.own)):
        given, default = case.parameters.get(parameter.name), parameter.default(case.instance.count)
        if given is not None and default is not None and given != default:
            words = f"{parameter.name} = {default:.6g}, the default: what was given was ignored"
            yield with_parameters(case, answer, "parameter", words, **{parameter.name: default})


def other_formulation(case: Case, answer: Answer) -> Trials:
    """Another formulation of the same family."""
    yield from _of(case, answer, [other for other in FORMULATIONS if other.family == case.formulation.family])


def other_family(case: Case, answer: Answer) -> Trials:
    """A formulation of another family, if weights and α there can be judged at little cost."""
    others = [other for other in FORMULATIONS if other.family != case.formulation.family]
    yield from _of(case, answer, [other for other in others if getattr(other, "between", None) is None])


def _of(case: Case, answer: Answer, others: list[Formulation]) -> Trials:
    for other in others:
        family = family_of(other)
        shared = {key: value for key, value in case.parameters.items() if key in other.parameter_names}
        if not family.biased:
            shared.pop("bias", None)
        margin = "nu" in shared and "C" not in shared  # ν-forms, which not every formulation has
        slow = family.slow and case.instance.samples > LONG
        if other is case.formulation or slow or (margin and "nu" not in getattr(other, "losses", ())):
            continue
        words = f"optimal for another formulation: {other.name}, {other.title}"
        yield DiagnosticTrial(f"formulation {other.name}", words, answer, formulation=other.name, parameters=shared)


# ---------------------------------------------------------------------------------------- sizes of kernels and weights
def half(case: Case, answer: Answer) -> Trials:
    for factor, where in ((2.0, "q where ½ q is meant"), (0.5, "‖f‖² where ½ ‖f‖² is meant, or ¼ q where ½ q is")):
        words = f"optimal for a ½ missing or doubled: {where} (every kernel times {factor:g})"
        scaled, larger = _of_kernels_times(answer, factor), _enlarged(case, factor)
        yield DiagnosticTrial("half", words, replace(scaled, weights=answer.weights), larger)
        if answer.weights is not None:
            yield DiagnosticTrial("half", words, scaled, larger)
    for factor in (0.5, 2.0) if "C" in case.parameters else ():
        words = f"C times {factor:g}: a ½ missing or doubled"
        dearer = with_parameters(case, answer, "half", words, C=case.parameters["C"] * factor)
        yield replace(dearer, kind="parameter:C")


@on_weights
def radius(case: Case, answer: Answer, weights: Array) -> Trials:
    """Weights on the boundary of a ball, or a simplex, of another size than ours."""
    regulariser = case.formulation.regulariser
    if regulariser is None or regulariser.constraint is None or not (weights > 0).any():
        return
    factor = 1 / to_boundary(regulariser.constraint, case.task.own, np.maximum(weights, 0.0))
    if abs(factor - 1) > SAME:
        words = f"optimal for weights that {size_in_words(weights)}: {factor:.6g} times as large as they may be"
        yield DiagnosticTrial("weights_radius", words, _of_kernels_times(answer, factor), _enlarged(case, factor))


def elastic_net(case: Case, answer: Answer) -> Trials:
    ratio, weights = case.parameters.get("l1_ratio", 0.0), given_weights(case, answer)
    total, norm = (0.0, 0.0) if weights is None else (float(weights.sum()), float(np.linalg.norm(weights)))
    for kind, words, t, other in _nets(ratio, total, norm) if 0 < ratio < 1 else ():
        given = {**case.parameters, "l1_ratio": min(other, 1.0)}
        changed = _of_kernels_times(answer, t)
        yield DiagnosticTrial(
            "elastic_net", f"optimal for {words}", changed, _enlarged(case, t), parameters=given, kind=kind
        )


def _nets(r: float, total: float, norm: float) -> Iterator[tuple[str, str, float, float]]:
    """Kinds of other nets, in words, with t and r' of ours that has the same solution."""
    t = (np.sqrt(r * r + 2 * (1 - r)) - r) / (1 - r)
    words = "r Σμ + (1 − r) Σμ²/2 ≤ 1, as scikit-learn has it: the squares carry no ½ here"
    yield "parameter:l1_ratio", words, t, r * t
    if norm > 0 and abs(r * total + (1 - r) * norm - 1) <= SAME:
        curve = (1 - r) / (2 * r * norm)
        share = 1 / (total + curve * norm**2)  # r'/t, from rΣμ + (1−r)Σμ² = 1 in ν
        t = (np.sqrt(1 + 4 * curve / share) - 1) / (2 * curve)
        yield "norms:unsquared", "r Σμ + (1 − r) ‖μ‖ ≤ 1: the norm is to be squared", t, share * t


def _of_kernels_times(answer: Answer, factor: float) -> Answer:
    """Weights and coefficients of the kernels times the factor that make the same classifiers."""
    weights, coefficients = (None if part is None else part / factor for part in (answer.weights, answer.coefficients))
    return replace(answer, weights=weights, coefficients=coefficients)


def _enlarged(case: Case, factor: float) -> Instance:
    return case.instance.with_kernels(np.asarray(case.instance.kernels, dtype=float) * factor)


SCALES: Hypotheses = (*SCALED, price_scaled, half)
OTHERS: Hypotheses = (other_formulation, own_parameters, defaults)
PROBLEMS: Hypotheses = (*SCALES, labels_swapped, *OTHERS)
