"""Usual mistakes in what was solved, one small function each: which problem it was in place of the one asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...formulations import FORMULATIONS
from ...formulations.families.single_task import C as PRICE
from ..answers import Answer
from ..case import Case
from ..families import family_of
from .trial import Hypothesis, Trial, Trials
from .wrong_kernels import kernels_rescaled
from .wrong_scales import half

LONG = 150  # samples beyond which formulations without a fast method are left out


def bias_setting(case: Case, answer: Answer) -> Trials:
    biased = case.parameters["bias"]
    name, words = ("bias_omitted", "without") if biased else ("bias_added", "with")
    given = {**case.parameters, "bias": not biased}
    said = replace(answer, bias=None) if biased else answer  # what was found afterwards belongs to no problem
    yield Trial(name, f"optimal for the problem {words} a bias", said, parameters=given)


def price_scaled(case: Case, answer: Answer) -> Trials:
    if "nu" in case.parameters:
        changed = {**{key: v for key, v in case.parameters.items() if key != "nu"}, "C": case.parameters["nu"]}
        yield Trial("parameter", f"optimal for C = {changed['C']:.6g}: ν was taken for C", answer, parameters=changed)
    if "C" not in case.parameters:
        return
    price, n = case.parameters["C"], case.instance.samples
    for name, words, value in (
        ("C_over_n", "C divided by n", price / n),
        ("C_times_n", "C multiplied by n", price * n),
        ("C_inverted", "1/C in place of C", 1 / price),
        ("C_inverted", "1/(nC) in place of C: it was taken for λ of (λ/2)‖f‖² + mean ξ", 1 / (n * price)),
    ):
        changed = {**case.parameters, "C": value}
        yield Trial(name, f"optimal for {words}, that is C = {value:.6g}", answer, parameters=changed)


def labels_swapped(case: Case, answer: Answer) -> Trials:
    """Only hypergraphs tell a label from its complement, and 'labels' and 'y' can be complemented."""
    targets = case.instance.targets
    if targets.kind == "classes":
        return
    swapped = -targets.values if targets.kind == "y" else 1 - targets.values
    changed = case.instance.with_kernels(case.instance.kernels, **{targets.kind: swapped})
    yield Trial("classes_swapped", "optimal for the labels swapped, who has one and who has not", answer, changed)


def own_parameters(case: Case, answer: Answer) -> Trials:
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
    }  # fmt: skip
    for key, turn in turns.items():
        for words, value in turn(case.parameters[key]).items() if key in case.parameters else ():
            changed = {**case.parameters, key: value}
            said = f"optimal for {key} = {value:.6g}, that is {words}"
            yield Trial("parameter", said, answer, parameters=changed)
            if key == "lam" and answer.objective is not None:  # all of it times the factor
                in_ours = replace(answer, objective=answer.objective * value / case.parameters[key])
                yield Trial("parameter", said, in_ours, parameters=changed)
    if "balanced" in case.parameters:
        changed = {**case.parameters, "balanced": not case.parameters["balanced"]}
        yield Trial("parameter", f"optimal for balanced = {changed['balanced']}", answer, parameters=changed)
    if "expansion" in case.parameters:
        for expansion in ("clique", "star", "zhou", "kcca"):
            changed = {key: v for key, v in case.parameters.items() if key != "dimensions"} | {"expansion": expansion}
            yield Trial("parameter", f"optimal for expansion = {expansion}", answer, parameters=changed)


def defaults(case: Case, answer: Answer) -> Trials:
    """A parameter that was given, and ignored."""
    count = case.instance.count
    for parameter in (PRICE, *case.formulation.parameters):
        given, default = case.parameters.get(parameter.name), parameter.default(count)
        if given is not None and default is not None and given != default:
            words = f"optimal for {parameter.name} = {default:.6g}, the default: what was given was ignored"
            changed = {**case.parameters, parameter.name: default}
            yield Trial("parameter", words, answer, parameters=changed)


def other_formulation(case: Case, answer: Answer) -> Trials:
    for other in FORMULATIONS:
        family = family_of(other)
        if other is case.formulation or (family.slow and case.instance.samples > LONG):
            continue
        shared = {key: value for key, value in case.parameters.items() if key in other.parameter_names}
        if not family.biased:
            shared.pop("bias", None)
        if "nu" in shared and "nu" not in getattr(other, "losses", ()):
            continue
        words = f"optimal for another formulation: {other.name}, {other.title}"
        yield Trial(f"formulation {other.name}", words, answer, formulation=other.name, parameters=shared)


PROBLEMS: tuple[Hypothesis, ...] = (
    kernels_rescaled, price_scaled, half, labels_swapped, other_formulation, own_parameters, defaults,
)  # fmt: skip
