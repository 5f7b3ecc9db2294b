"""Certificates of every loss: against declarations, planted optima and rational arithmetic; f = 0; wrong points."""

from __future__ import annotations

import warnings
from contextlib import suppress
from fractions import Fraction as F

import cvxpy as cp
import numpy as np
import pytest

from exact_losses import entries, values
from mklcvx import Instance, formulations, solve
from mklcvx.certificate.proving import certified
from mklcvx.formulations import Task
from mklcvx.formulations.losses import COUNTS, EVERY, LABELS, LOGISTIC, NONE, REAL, PiecewiseQuadratic
from mklcvx.zoo import regression
from mklcvx.zoo.plans import PLANS

pytestmark = pytest.mark.slow

NAMES = [formulation.name for formulation in formulations.SINGLE_TASKS]
NOISY = regression.noisy(12, 2, 1)
TARGETS = {
    LABELS: Instance(NOISY.kernels, np.where(np.arange(12) % 2, 1, -1), groups=[0, 1]),
    REAL: Instance(NOISY.kernels, response=NOISY.targets.values, groups=[0, 1]),
    COUNTS: Instance(NOISY.kernels, response=np.arange(12) % 5, groups=[0, 1]),
    NONE: Instance(NOISY.kernels, groups=[0, 1]),
}
NEW = [loss for loss in EVERY if loss.name not in ("hinge", "nu")]
CURVED_OR_REAL = [loss for loss in NEW if isinstance(loss, PiecewiseQuadratic) and loss.targets != NONE]


def declared_value(formulation, task):
    """The value of the dual, or of the primal where Clarabel does not solve the dual."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the comparison tells
        for program in (formulation.declare_dual(task), formulation.declare_primal(task)):
            with suppress(cp.SolverError):
                if np.isfinite(program.problem.solve(solver="CLARABEL")):
                    return float(program.problem.value)
    raise AssertionError("Clarabel solves neither programme")


@pytest.mark.parametrize(
    ("name", "loss", "bias"),
    [  # every pair; every formulation and every loss with a bias and without one
        (name, loss, loss.takes_bias and (place + loss_place) % 2 == 0)
        for place, name in enumerate(NAMES)
        for loss_place, loss in enumerate(NEW)
        if loss.name in formulations.get(name).loss_names
    ],
    ids=lambda part: getattr(part, "name", str(part)),
)
def test_the_certificate_contains_the_value_of_the_declared_dual(name, loss, bias):
    formulation, instance = formulations.get(name), TARGETS[loss.targets]
    instance = instance.select([0]) if name == "svm" else instance
    given = {"loss": loss.name, "bias": bias}
    found = solve(instance, name, solver="clarabel", **given)
    assert found.certified, found.message
    value = declared_value(formulation, formulation.task(instance, given)[0])
    near = 1e-6 * max(found.certificate.scale, 1e-3 * abs(value))
    assert found.certificate.lower - near <= value <= found.certificate.upper + near


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.formulation)
@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive"])
def test_planted_optima_are_contained_and_certified(loss, plan):
    for seed in range(3):
        instance, optimum = regression.planted_response(loss, seed, plan)
        formulation = formulations.get(optimum.formulation)
        task, _ = formulation.task(instance, optimum.parameters)
        exact = certified(formulation, task, optimum.alpha, optimum.weights, 1e-8).certificate
        assert exact.lower <= optimum.value <= exact.upper
        assert exact.relative_gap <= 1e-10
        away = np.asarray(optimum.alpha) * 0.99
        wrong = certified(formulation, task, away, optimum.weights, 1e-8).certificate
        assert wrong.lower <= optimum.value <= wrong.upper
        assert not wrong.proves(1e-6)


# ------------------------------------------------------------------------------------------------- exact arithmetic
def whole_numbers(loss, seed, sizes):
    """A task with one kernel of whole numbers and rank two, times powers of two, and an α that is feasible."""
    rng = np.random.default_rng(seed)
    of_kernel, of_targets, of_price = (2.0 ** round(np.log2(10.0) * size) for size in sizes)
    n = int(rng.integers(2, 5))
    features = rng.integers(-3, 4, size=(n, 2)).astype(float)
    kernel = features @ features.T * of_kernel
    y = np.where(np.arange(n) % 2, 1.0, -1.0) if loss.targets == LABELS else rng.normal(size=n) * of_targets
    loss = loss.in_units_of(1 / of_targets)
    task = Task(kernel[None], y, rng.choice([0.5, 1.0, 3.0], n) * of_price, loss, bias=bool(rng.integers(2)))
    typical = np.clip(loss.bounds(y, task.box)[1], 0.0, task.box * (of_targets if loss.degree == 2 else 1.0))
    drawn = rng.normal(size=n)
    return task, task.feasible(typical * (np.abs(drawn) if loss.targets == LABELS else drawn))


SIZES = [(0, 0, 0), (9, 0, 0), (-9, 0, 0), (0, 9, 0), (0, -9, 0), (0, 0, 9), (0, 0, -9), (6, -6, 3)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("loss", CURVED_OR_REAL, ids=lambda loss: loss.name)
def test_bounds_and_gap_enclose_the_exact_values_of_the_point(loss, sizes):
    formulation = formulations.get("sum")
    for seed in range(12):
        task, alpha = whole_numbers(loss, seed, sizes)
        proved = certified(formulation, task, alpha, np.ones(1), 1e-8)
        found, loss_here = proved.certificate, task.loss_function
        rows = entries(loss_here.shape(task.y, task.box), task.box, getattr(loss_here, "width", 1.0))
        bias, tube = F(proved.bias[0]) + F(proved.bias[1]), F(proved.level or 0.0)
        dual, primal = values(rows, task.kernels[0], task.signs, proved.alpha, bias)
        if loss_here.free_tube:
            held = [(a, tube, *rest) for a, _, *rest in rows]
            primal = values(held, task.kernels[0], task.signs, proved.alpha, bias)[1]
            primal += F(loss_here.most(task.box)) * tube
        assert F(found.lower) <= dual <= primal <= F(found.upper)
        assert F(found.gap) >= primal - dual
        noise = 1e-12 * (abs(found.lower) + abs(found.upper))
        assert found.gap - found.ridge_share <= float(primal - dual) * (1 + 1e-6) + noise


@pytest.mark.parametrize("loss", CURVED_OR_REAL, ids=lambda loss: loss.name)
def test_the_exact_optimum_of_one_sample_is_enclosed(loss):
    """One kernel k, one sample, no bias: α maximises (a − …)α − ½(k + κ)α²."""
    for a, k, c in ((0.7, 3.0, 1.0), (2.0, 1.0, 5.0), (1.0, 2.0, 0.125)):
        y = np.array([1.0]) if loss.targets == LABELS else np.array([a])
        task = Task(np.full((1, 1, 1), k), y, np.array([c]), loss, bias=False)
        shape = loss.shape(y, task.box)
        reach = max(F(float(shape.a[0])) - F(float(shape.epsilon[0])), F(0))
        best = reach / (F(k) + F(float(shape.kappa[0])))
        best = best if np.isinf(shape.high[0]) else min(best, F(float(shape.high[0])))
        best = min(best, F(loss.most(task.box))) if loss.free_tube else best
        value = reach * best - (F(k) + F(float(shape.kappa[0]))) * best**2 / 2
        found = certified(formulations.get("svm"), task, np.array([float(best)]), np.ones(1), 1e-8).certificate
        assert F(found.lower) <= value <= F(found.upper)
        assert found.proves(1e-12)


# --------------------------------------------------------------------------------------------------- δ, and f = 0
@pytest.mark.parametrize("loss", NEW, ids=lambda loss: loss.name)
def test_kernels_in_single_precision_are_certified_or_say_why(loss):
    instance = TARGETS[loss.targets]
    rounded = instance.with_kernels(instance.kernels.astype(np.float32))
    found = solve(rounded, "l1", solver="clarabel", loss=loss.name, tol=1e-6)
    assert found.certified, found.message
    exact = solve(instance, "l1", solver="clarabel", loss=loss.name)
    assert found.objective == pytest.approx(exact.objective, rel=1e-5)


def test_an_indefinite_kernel_costs_a_smooth_loss_next_to_nothing():
    """δ below the curvature 1/C moves nothing at the optimum, and beyond it a square loss has no bound."""
    kernel = np.array([[1.0, 1.0], [1.0, 1.0]]) - 1e-3 * np.eye(2)
    for price, bounded in ((1.0, True), (1e4, False)):
        task = Task(kernel[None], np.array([1.0, -0.5]), np.full(2, price), EVERY[5], bias=False)
        alpha = np.linalg.solve(kernel + np.eye(2) / price, task.y)
        found = certified(formulations.get("svm"), task, alpha, np.ones(1), 1e-8).certificate
        assert found.ridge >= 1e-3 - 1e-12
        assert np.isfinite(found.upper) == bounded
        assert found.proves(1e-8) == bounded


REAL_LOSSES = [loss.name for loss in EVERY if loss.targets == REAL]


@pytest.mark.parametrize("loss", REAL_LOSSES)
@pytest.mark.parametrize("name", ["l1", "sm2", "smp", "square", "elastic", "li"])
def test_f_of_zero_is_certified_where_it_is_optimal_and_only_there(name, loss):
    constant = Instance(NOISY.kernels, response=np.full(12, 1 / 3))
    found = solve(constant, name, loss=loss, solver="clarabel")
    assert found.certified
    assert not found.alpha.any()
    np.testing.assert_allclose(found.decision_function(constant.kernels), 1 / 3, atol=0.11)
    nearly = Instance(NOISY.kernels, response=1 / 3 + 0.3 * np.sin(np.arange(12)))
    task, _ = formulations.get(name).task(nearly, {"loss": loss})
    weights = formulations.get(name).weights(np.ones(2), np.ones(2), **task.own)
    zero = certified(formulations.get(name), task, np.zeros(12), weights, 1e-8).certificate
    assert not zero.proves(1e-6)
    assert zero.lower <= solve(nearly, name, loss=loss, solver="clarabel").objective <= zero.upper


def test_constants_of_the_regulariser_do_not_certify_f_of_zero():
    """R(μ) = 1/(2θM) is 10⁶, the loss is about 1: beside the first the second would count as nothing."""
    task, _ = formulations.get("sm2").task(TARGETS[REAL], {"theta": 2.5e-7})
    found = certified(formulations.get("sm2"), task, np.zeros(12), np.full(2, 0.5), 1e-6).certificate
    assert found.upper > 1e5
    assert not found.proves(1e-6)


def test_tubes_that_hold_every_target_leave_nothing_to_pay():
    ends = Instance(NOISY.kernels, response=np.where(np.arange(12) % 2, 0.1, -0.1))
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        found = solve(ends, "l1", loss=loss, epsilon=0.1, bias=False, solver="clarabel")
        assert (found.certified, found.certificate.relative_gap, found.objective < 1e-200) == (True, 0.0, True)


@pytest.mark.parametrize("loss", NEW, ids=lambda loss: loss.name)
def test_wrong_points_are_not_certified(loss):
    instance, given = TARGETS[loss.targets], {"loss": loss.name}
    best = solve(instance, "l1", solver="clarabel", **given)
    formulation = formulations.get("l1")
    task, _ = formulation.task(instance, given)
    rng = np.random.default_rng(0)
    for size, least in ((0.1, 1e-5), (0.9, 1e-3)):
        away = best.alpha * (1 + size * rng.normal(size=12))
        found = certified(formulation, task, away, best.weights, 1e-8).certificate
        assert found.relative_gap > least
        assert found.lower <= best.objective
        assert found.upper >= best.certificate.lower
    other = certified(formulation, task, best.alpha, best.weights[::-1], 1e-8).certificate
    assert not other.proves(1e-4)


def test_the_logistic_loss_of_one_sample_has_the_value_of_its_equation():
    """k α = log((c − α)/α) at the optimum, without a bias."""
    task = Task(np.full((1, 1, 1), 2.0), np.array([1.0]), np.array([3.0]), LOGISTIC, bias=False)
    alpha = 1.0
    for _ in range(60):
        alpha -= (2 * alpha - np.log((3 - alpha) / alpha)) / (2 + 3 / (alpha * (3 - alpha)))
    found = certified(formulations.get("svm"), task, np.array([alpha]), np.ones(1), 1e-8).certificate
    assert found.proves(1e-14)
    assert found.lower == pytest.approx(alpha**2 + 3 * np.log1p(np.exp(-2 * alpha)), rel=1e-14)
