"""Mistakes of regression, one class and losses: each is named on two instances, and none where an answer is inexact.

Every row says what was asked, what was solved instead or how the right answer was spoiled, and the name that the
mistake has. Mistakes that can be made with any loss take turns: two losses on one instance, two on the other. Where a
corner or a tube has to matter for two problems to differ, its size is chosen for that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from mklcvx import Instance, Solution, solve, verify, zoo
from mklcvx.formulations.losses import COUNTS, EVERY, LABELS, NONE, REAL
from mklcvx.verification.answers import Answer
from mklcvx.verification.case import pose
from mklcvx.verification.diagnosis.mistakes_in_answers import samples_order
from solved_once import solved_once

pytestmark = pytest.mark.slow

Parts = dict[str, Any]
REGRESSION, LABELLED, CLOUDS = (
    ("response", "response-one-feature"),
    ("clouds", "mixed"),
    ("one-cloud", "one-cloud-outliers"),
)
NOISY = ("response-outliers", "response-heteroscedastic")  # where residuals lie beyond Huber's corner
TUBE = {"loss": "epsilon_insensitive", "C": 2.0, "epsilon": 0.2}
CORNER = {"loss": "huber", "C": 1.5, "delta": 0.3}
SQUARES = {"loss": "squared", "C": 1.5}
FREE = {"loss": "nu_svr", "C": 2.0, "nu": 0.3}
LEVEL = {"loss": "quantile", "C": 2.0, "quantile": 0.3}
LOGISTIC = {"loss": "logistic", "C": 2.0}
COUNTED, COUNTS_ON = {"loss": "poisson", "C": 2.0}, ("counts", "counts-large")
CLOUD = {"loss": "one_class", "nu": 0.2}
INEXACT = {"stopped_early", "few_decimals", "single_precision", "unknown", "bias_wrong"}


class Row(NamedTuple):
    """`solved` are parameters, or a function from the instance to them; `data` changes the instance that is solved,
    `spoilt` the parts of the answer."""

    name: str
    asked: Parts
    solved: Parts | Callable[[Instance], Parts] | None = None
    data: Callable[[Instance], Instance] = lambda instance: instance
    spoilt: Callable[[Solution, Parts], Parts] = lambda found, parts: parts
    on: tuple[str, ...] = REGRESSION
    formulation: str = "l1"
    words: str = ""


def deviation(instance: Instance, ddof: int = 0) -> float:
    return float(np.std(instance.response, ddof=ddof))


def responding(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Instance], Instance]:
    return lambda instance: instance.with_kernels(instance.kernels, response=change(np.asarray(instance.response)))


def without_bias(given: Parts) -> Parts:
    return {**given, "bias": False}


def times(given: Parts, key: str, factor: Callable[[Instance], float]) -> Callable[[Instance], Parts]:
    return lambda instance: {**given, key: given[key] * factor(instance)}


def flipped(found: Solution, parts: Parts) -> Parts:
    return {**parts, "coefficients": -np.asarray(found.all_coefficients), "bias": -found.bias}


def libsvm_units(found: Solution, parts: Parts) -> Parts:
    total = found.parameters["nu"] * len(found.alpha)
    return {**parts, "alpha": found.alpha * total, "objective": -found.objective * total**2}


centred = responding(lambda y: y - y.mean())
BASES = ((TUBE, "l1"), (CORNER, "elastic"), (SQUARES, "sm2"), (LEVEL, "l2"))
STANDARDISED = (
    lambda y: y / y.std(), lambda y: (y - y.mean()) / y.std(ddof=1), lambda y: y / y.std(ddof=1),
    lambda y: (y - y.mean()) / y.std(),
)  # fmt: skip
ROWS = [
    *(
        row._replace(on=REGRESSION[place % 2 : place % 2 + 1])
        for place, (base, name) in enumerate(BASES)
        for row in (
            Row("bias_omitted", base, without_bias(base), formulation=name),
            Row("bias_added", without_bias(base), base, formulation=name),
            Row("response_centred", base, data=centred, formulation=name),
            Row("response_centred", base, without_bias(base), data=centred, formulation=name),
            Row("response_centred", without_bias(base), data=centred, formulation=name),
            *(
                Row("response_standardised", base, data=responding(change), formulation=name)
                for change in STANDARDISED[place // 2 :: 2]
            ),
            Row("C_over_n", base, times(base, "C", lambda instance: 1 / instance.samples), formulation=name),
            Row("C_times_n", base, times(base, "C", lambda instance: instance.samples), formulation=name),
            Row("half", base, times(base, "C", lambda _: 2.0), formulation=name),
            Row("half", base, times(base, "C", lambda _: 0.5), formulation=name),
            Row("C_inverted", base, {**base, "C": 1 / base["C"]}, formulation=name),
            Row("alpha_sign", base, spoilt=lambda _, parts: {**parts, "alpha": -parts["alpha"]}, formulation=name),
            Row("function_sign", base, spoilt=flipped, formulation=name),
        )
    ),
    *(
        Row(f"{key}_scaled", base, times(base, key, factor), on=(on[place % 2],))
        for base, key, on in ((TUBE, "epsilon", REGRESSION), (CORNER, "delta", NOISY))
        for place, factor in enumerate(
            (deviation, lambda i: deviation(i, 1), lambda i: 1 / deviation(i), lambda _: 0.5, lambda _: 2.0)
        )
    ),
    Row("epsilon_ignored", TUBE, {**TUBE, "epsilon": 0.0}),
    Row("epsilon_ignored", TUBE, {"loss": "absolute", "C": 2.0}, formulation="sum"),
    Row("loss squared", TUBE, {"loss": "squared", "C": 2.0}),
    Row("loss squared", TUBE, {"loss": "squared", "C": 4.0}, words="without its ½"),
    Row("loss epsilon_insensitive", SQUARES, {"loss": "epsilon_insensitive", "C": 1.5}),
    Row("loss absolute", SQUARES, {"loss": "absolute", "C": 1.5}, formulation="sum"),
    Row("loss squared", CORNER, SQUARES, on=NOISY, formulation="elastic"),
    Row("loss huber", SQUARES, {"loss": "huber", "C": 1.5}, on=NOISY),
    Row("parameter", LEVEL, {**LEVEL, "quantile": 0.7}, formulation="l2", words="1 − quantile"),
    Row("C_over_n", FREE, times(FREE, "C", lambda instance: 1 / instance.samples)),  # Schölkopf's C
    Row("parameter", FREE, {**FREE, "nu": 0.15}, words="nu/2"),
    Row("parameter", FREE, {**FREE, "nu": 0.5}, words="the default: what was given was ignored"),
    Row("tube_mistaken", FREE, {"loss": "epsilon_insensitive", "C": 2.0, "epsilon": 0.3}, words="ν was taken for"),
    Row("tube_mistaken", TUBE, {"loss": "nu_svr", "C": 2.0, "nu": 0.2}, words="the tube's ε was taken for ν"),
    Row("loss squared", FREE, {"loss": "squared", "C": 2.0}),
    Row("alpha_units", FREE, spoilt=lambda _, parts: {**parts, "alpha": parts["alpha"] / 2.0}),
    # ------------------------------------------------------------------------------------------------------- labels
    Row("classes_swapped", LOGISTIC, spoilt=flipped, on=LABELLED),
    Row("alpha_signed", LOGISTIC, spoilt=lambda found, parts: {**parts, "alpha": found.alpha * found.y}, on=LABELLED),
    Row("loss hinge", LOGISTIC, {"C": 2.0}, on=LABELLED, formulation="sum"),
    Row("C_inverted", COUNTED, {**COUNTED, "C": 0.5}, on=COUNTS_ON),
    Row("C_times_n", COUNTED, {**COUNTED, "C": 80.0}, on=COUNTS_ON),
    Row("loss squared", COUNTED, {"loss": "squared", "C": 2.0}, on=COUNTS_ON),
    Row("loss poisson", {"loss": "squared", "C": 2.0}, COUNTED, on=COUNTS_ON),
    Row("loss logistic", {"C": 2.0}, LOGISTIC, on=LABELLED),
    Row("half", {"loss": "squared_hinge"}, {"loss": "squared_hinge", "C": 2.0}, on=LABELLED),
    # ----------------------------------------------------------------------------------------------------- one class
    *(Row("alpha_units", CLOUD, spoilt=libsvm_units, on=CLOUDS, formulation=name) for name in ("l1", "sum")),
    *(
        Row(
            "alpha_units", CLOUD, on=CLOUDS, formulation=name,
            spoilt=lambda found, parts: {**parts, "alpha": found.alpha * found.parameters["nu"] * len(found.alpha)},
        )
        for name in ("l1", "sum")
    ),
]  # fmt: skip
CASES = [(row, name) for row in ROWS for name in row.on]
IDS = [
    f"{place}-{row.asked.get('loss', 'hinge')}-{row.name}-{name}" for place, row in enumerate(ROWS) for name in row.on
]


@cache
def instance_of(name: str) -> Instance:
    return zoo.specimen(name).instance()


def parts_of(found: Solution) -> Parts:
    given = {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}
    return {**given, "bias": found.bias} if found.parameters["bias"] else given


@pytest.mark.parametrize(("row", "name"), CASES, ids=IDS)
def test_a_mistake_is_rejected_and_named(row, name):
    instance = instance_of(name)
    given = row.solved(instance) if callable(row.solved) else row.solved or row.asked
    found = solved_once(row.data(instance), row.formulation, tol=1e-9, **given)
    parts = row.spoilt(found, parts_of(found))
    if not row.asked.get("bias", True):
        parts.pop("bias", None)
    report = verify(instance, row.formulation, parameters=row.asked, **parts)
    assert report.verdict == "rejected"
    assert report.diagnosis.name == row.name, report.diagnosis.words
    assert row.words in report.diagnosis.words


@pytest.mark.parametrize("name", REGRESSION)
def test_a_missing_half_in_the_objective_is_named(name):
    instance, base = instance_of(name), {"loss": "squared", "C": 1.5}
    found = solve(instance, "sum", tol=1e-9, **base)
    loss = 0.75 * float(np.sum((instance.response - outputs(found, instance)) ** 2))
    report = verify(instance, "sum", parameters=base, **{**parts_of(found), "objective": found.objective + loss})
    assert report.diagnosis.name == "objective_terms"
    assert "the ½ of the squared loss is missing" in report.diagnosis.words


@pytest.mark.parametrize("name", REGRESSION)
def test_a_tube_that_is_not_paid_for_and_weights_that_do_not_count_are_named(name):
    instance = instance_of(name)
    found = solve(instance, "l1", tol=1e-9, **FREE)
    paid = 2.0 * 0.3 * instance.samples * found.multipliers["epsilon"]
    parts = {**parts_of(found), "objective": found.objective - paid}
    report = verify(instance, "l1", parameters=FREE, **parts)
    assert report.diagnosis.name == "objective_terms"
    assert "the price of the tube" in report.diagnosis.words
    weight = 0.5 + np.arange(instance.samples) % 3
    weighted = instance.with_kernels(instance.kernels, sample_weight=weight)
    meant = solve(weighted, "l1", tol=1e-9, **{**FREE, "nu": 0.3 / weight.mean()})
    report = verify(weighted, "l1", parameters=FREE, **parts_of(meant))
    assert report.diagnosis.name == "tube_mistaken"
    assert "weights of samples do not count" in report.diagnosis.words


@pytest.mark.parametrize("name", COUNTS_ON)
def test_a_likelihood_without_its_constant_and_a_whole_deviance_are_named(name):
    instance = instance_of(name)
    found, y = solve(instance, "sum", tol=1e-9, **COUNTED), instance.response
    z = outputs(found, instance)
    constant = 2.0 * float(np.sum(y * np.log(np.maximum(y, 1)) - y))
    loss = 2.0 * float(np.sum(np.exp(z) - y * z)) + constant
    for added, words in ((-constant, "Σ c(y log y − y) is missing"), (loss, "the deviance is counted in full")):
        report = verify(
            instance, "sum", parameters=COUNTED, **{**parts_of(found), "objective": found.objective + added}
        )
        assert report.diagnosis.name == "objective_terms"
        assert words in report.diagnosis.words


def outputs(found: Solution, instance: Instance) -> np.ndarray:
    return np.einsum("mij,mj->i", instance.kernels, found.all_coefficients) + found.bias


@pytest.mark.parametrize("name", LABELLED)
def test_labels_zero_and_one_are_named(name):
    """Newton's method for C Σ log(1 + exp(−t f)) + ½ f'K⁻¹f with t in {0, 1}, at the kernels' sum, in β = C t p."""
    instance, price = instance_of(name), 2.0
    kernel, ones = instance.kernels.sum(axis=0), instance.y > 0
    inner, beta = kernel[np.ix_(ones, ones)], np.zeros(int(ones.sum()))
    for _ in range(50):
        chance = 1 / (1 + np.exp(inner @ beta))
        slope = np.eye(len(beta)) + price * (chance * (1 - chance))[:, None] * inner
        beta = beta - np.linalg.solve(slope, beta - price * chance)
    alpha = np.full(instance.samples, price / 2)
    alpha[ones] = beta
    value = beta @ inner @ beta / 2 + price * (np.logaddexp(0, -inner @ beta).sum() + np.log(2) * (~ones).sum())
    asked = {"loss": "logistic", "C": price, "bias": False}
    report = verify(instance, "sum", alpha=alpha, objective=value, parameters=asked)
    assert report.diagnosis.name == "labels_zero_one"


# --------------------------------------------------------------------------------------------------- no accusations
ON = {REAL: "response", COUNTS: "counts", LABELS: "mixed", NONE: "one-cloud"}


@pytest.mark.parametrize(("loss", "large"), [(loss.name, (1e-3, 1e-5)[k % 2]) for k, loss in enumerate(EVERY)])
def test_right_answers_that_are_inexact_are_not_accused(loss, large):
    """From 1e-3 to 1e-8: what is rejected is said to be inexact, or nothing is said."""
    chosen = {one.name: one for one in EVERY}[loss]
    instance, rng = instance_of(ON[chosen.targets]), np.random.default_rng(1)
    asked = {"loss": loss, **({"nu": 0.3} if loss == "nu" else {})}
    found = solve(instance, "l1", tol=1e-9, **asked)
    for size in (large, 1e-8):
        noise = size * np.abs(found.alpha).max() * rng.standard_normal(len(found.alpha))
        alpha = found.alpha + noise if chosen.targets in (REAL, COUNTS) else np.maximum(found.alpha + noise, 0.0)
        parts = {"alpha": alpha, "objective": found.objective * (1 + size), "weights": found.weights * (1 + size)}
        report = verify(instance, "l1", parameters=asked, **parts)
        assert report.accepted or report.diagnosis.name in INEXACT, report.diagnosis.words


def test_noise_is_no_other_order_of_the_samples():
    """Sorted like the optimum, noise may be cheaper by far; the samples are where they were."""
    case = pose(instance_of("response"), "l1", {"loss": "epsilon_insensitive"}, 1e-6)
    right = case.reference.alpha
    noisy = right + 1e-5 * np.random.default_rng(0).standard_normal(len(right))
    assert list(samples_order(case, Answer(alpha=noisy))) == []
    (trial,) = samples_order(case, Answer(alpha=np.roll(right, 1)))
    assert trial.name == "samples_order"
