"""Mistakes in the samples' side: another loss, other lengths of a loss, and targets that were changed before.

Real targets divided by t, with prices C and lengths ε or δ as they stand: f and α are divided by t as well, and the
value by t². In the old units this is the problem with lengths tε and prices t^(2 − degree) C, the degree being that of
the loss (`formulations/losses`): whoever converts the answer back has solved that one.

Labels 0 and 1 where the loss is one of y z with y = ±1: samples with 0 cost the same whatever z is. Their β is 0, and
what is left is the problem of the others; with a bias it has no optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...formulations.losses import COUNTS, EPSILON_INSENSITIVE, EVERY, LABELS, NU_SVR, REAL, Loss
from ...problem.instance import no_test_samples
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from .families.conditions import implied_outputs
from .mistakes import SAME, DiagnosticTrial, Hypotheses, Trials, given_alpha, with_instance, with_parameters
from .mistakes_in_kernels import kept

EFFICIENT = 1.345  # Huber's δ in standard deviations of the noise, at which it is 95 % as good as least squares


def loss_of(case: Case) -> Loss:
    loss: Loss = case.task.loss_function
    return loss


def deviations(case: Case) -> Iterator[tuple[str, float]]:
    """The standard deviation of real targets, with n and with n − 1."""
    y = case.task.y
    for ddof in (0, 1) if loss_of(case).targets == REAL and np.ptp(y) > 0 else ():
        yield f"the standard deviation (with n{' − 1' * ddof})", float(np.std(y, ddof=ddof))


# ------------------------------------------------------------------------------------------------------------- targets
def response_changed(case: Case, answer: Answer) -> Trials:
    """Real targets that were centred, divided by their standard deviation, or both."""
    loss, y = loss_of(case), case.task.y
    if loss.targets != REAL:
        return
    middle, price = float(y.mean()), case.parameters.get("C", 1.0)
    if abs(middle) > SAME * np.ptp(y):
        said = "the response centred, its mean subtracted"
        yield from with_instance(case, answer, "response_centred", said, response=y - middle)
        if case.parameters["bias"]:
            for trial in with_instance(case, replace(answer, bias=None), "response_centred", said, response=y - middle):
                words = f"{trial.words}, and without a bias"
                without = {**case.parameters, "bias": False}
                yield replace(trial, words=words, parameters=without, kind="bias_term:omitted+labels:scaled")
    for words, size in deviations(case):
        for how, changed in (("divided by", y / size), ("centred and divided by", (y - middle) / size)):
            said = f"the response {how} {words}, that is {size:.6g}"
            yield from with_instance(case, answer, "response_standardised", said, response=changed)
        if loss.degree != 2:
            said = f"the response divided by {words}, and multiplied with it afterwards: C and {_named(loss)} change"
            scaled = {name: case.parameters[name] * size for name in loss.lengths}
            given = {**scaled, "C": price * size ** (2 - loss.degree)}
            yield with_parameters(case, answer, "response_standardised", said, **given)


def _named(loss: Loss) -> str:
    return " and ".join(loss.lengths) or "the value"


def labels_zero_one(case: Case, answer: Answer) -> Trials:
    task, loss, alpha = case.task, loss_of(case), given_alpha(case, answer)
    if loss.targets != LABELS or loss.free_margin or task.bias:
        return
    ones, zeros = task.y > 0, np.zeros(task.samples)
    kernels = np.stack([kernel[np.ix_(ones, ones)] for kernel in task.each_kernel()])
    part = replace(task, kernels=kernels, y=task.y[ones], box=task.box[ones], symmetric=True, sizes=None, offsets=None)
    constant = float(loss.value(zeros, task.y, task.box)[~ones].sum())
    changed = replace(
        answer,
        alpha=None if alpha is None else alpha[ones],
        coefficients=None if answer.coefficients is None else answer.coefficients[..., ones],
        objective=None if answer.objective is None else answer.objective - constant,
    )
    words = "optimal for labels 0 and 1 in place of −1 and +1: samples with 0 cost the same whatever f is"
    yield DiagnosticTrial("labels_zero_one", words, changed, task=part)


# -------------------------------------------------------------------------------------------------------------- losses
def lengths_scaled(case: Case, answer: Answer) -> Trials:
    """ε or δ relative to the standard deviation, halved, doubled or ignored."""
    for name in loss_of(case).lengths:
        given = case.parameters[name]
        factors = [(words, size) for words, size in deviations(case)]
        tried = [
            *((f"{name} times {words}", size) for words, size in factors),
            *((f"{name} divided by {words}", 1 / size) for words, size in factors),
            (f"{name} halved", 0.5), (f"{name} doubled", 2.0), (f"{name} times {EFFICIENT}", EFFICIENT),
            (f"{name} squared", given),
        ]  # fmt: skip
        for words, factor in tried:
            said = f"{words}, that is {given * factor:.6g}"
            yield with_parameters(case, answer, f"{name}_scaled", said, **{name: given * factor})
        words = f"{name} = 0: what was given was ignored"
        yield with_parameters(case, answer, f"{name}_ignored", words, **{name: 0.0})  # refused where it must be > 0


def tube_mistaken(case: Case, answer: Answer) -> Trials:
    """ε taken for ν, or ν for ε; and weights of samples that do not count in ν."""
    loss, given = loss_of(case), case.parameters
    others = {key: value for key, value in given.items() if key not in ("loss", "nu", "epsilon")}
    if loss.free_tube:
        words = f"optimal for loss epsilon_insensitive with ε = {given['nu']:.6g}: ν was taken for the tube's ε"
        held = {**others, "loss": EPSILON_INSENSITIVE.name, "epsilon": given["nu"]}
        yield DiagnosticTrial("tube_mistaken", words, answer, parameters=held, kind="loss:epsilon_insensitive")
        mean = float(case.instance.sample_weight.mean())
        if abs(mean - 1) > SAME and given["nu"] <= mean:
            said = f"nu = {given['nu'] / mean:.6g}, Σ|α| being limited by νnC: weights of samples do not count in it"
            ignored = with_parameters(case, answer, "tube_mistaken", said, nu=given["nu"] / mean)
            yield replace(ignored, kind="sample_weight:ignored")
    elif loss.lengths == EPSILON_INSENSITIVE.lengths and 0 < given["epsilon"] <= 1:
        words = f"optimal for loss nu_svr with ν = {given['epsilon']:.6g}: the tube's ε was taken for ν"
        free = {**others, "loss": NU_SVR.name, "nu": given["epsilon"]}
        yield DiagnosticTrial("tube_mistaken", words, answer, parameters=free, kind="loss:nu_svr")


def other_loss(case: Case, answer: Answer) -> Trials:
    """Another loss for the same targets, its parameters being those given, or the defaults; with a ½ before squares or
    without."""
    ours, shared = loss_of(case), case.parameters
    others = {key: value for key, value in shared.items() if key not in case.sample_side}
    for loss in EVERY:
        if loss.name == ours.name or loss.parameter.name not in shared or not _fits(loss, case):
            continue
        known = {p.name: shared[p.name] for p in loss.parameters if p.name in shared}
        curved = loss.curvature(case.task.box / 2, case.task.y, case.task.box).any()
        for factor in (1.0, 2.0) if curved else (1.0,):
            price = {"C": shared["C"] * factor} if factor != 1 else {}
            given = {**others, "loss": loss.name, "bias": shared["bias"], **known, **price}
            said = ", without its ½" if factor != 1 else ""
            named, meant = (either.name.replace("_", " ") for either in (loss, ours))
            words = f"optimal for another loss: {named}{said}, where {meant} is meant"
            yield DiagnosticTrial(f"loss {loss.name}", words, answer, parameters=given)
            if factor != 1:
                kind = f"loss:{loss.name}+parameter:C"
                yield DiagnosticTrial(f"loss {loss.name}", words, answer, parameters=given, kind=kind, fitted=1)


def labels_as_response(case: Case, answer: Answer) -> Trials:
    """Labels ±1 as numbers: least squares, with α of either sign."""
    alpha, shared = given_alpha(case, answer), case.parameters
    if case.instance.targets.kind != "y" or "C" not in shared:
        return
    y = np.asarray(case.instance.y, dtype=float)
    changed = kept(case.instance, "response", lambda: case.instance.with_kernels(
        case.instance.kernels, y=None, response=y, **no_test_samples(case.instance)
    ))  # fmt: skip
    others = {key: value for key, value in shared.items() if key not in case.sample_side}
    for name, words, factor in (
        ("squared", "least squares, (C/2) Σ (y − f)²", 1.0), ("squared", "least squares, C Σ (y − f)²", 2.0),
    ):  # fmt: skip
        given = {**others, "loss": name, "bias": shared["bias"], "C": shared["C"] * factor}
        for signed in (None,) if alpha is None else (alpha * y, alpha):
            said = f"optimal for {words}, the labels being taken for numbers"
            yield DiagnosticTrial(f"loss {name}", said, replace(answer, alpha=signed), changed, parameters=given)


def _fits(loss: Loss, case: Case) -> bool:
    """Whether a loss takes the targets of the case: counts are real targets, too, and these are counts if none is
    negative."""
    counted = {loss.targets, loss_of(case).targets} == {REAL, COUNTS} and bool((case.task.y >= 0).all())
    return counted or loss.targets == loss_of(case).targets


def free_outputs(case: Case, alpha: Array) -> Array:
    """f + b where α lies between its bounds, whatever the kernels are. Where the tube is an unknown it is that of the
    optimum."""
    outputs = implied_outputs(case.task, alpha)
    if case.task.loss_function.free_tube:
        outputs = outputs - float(case.reference.multipliers["epsilon"]) * case.task.signs * np.sign(alpha)
    return outputs


TARGETS: Hypotheses = (response_changed,)
LENGTHS: Hypotheses = (lengths_scaled, tube_mistaken)
LOSSES: Hypotheses = (labels_zero_one, other_loss, labels_as_response)
