"""Certificates of every loss: against declarations, planted optima and rational arithmetic; f = 0; wrong points."""

import numpy as np
import pytest

from mklcvx import Instance, formulations, solve
from mklcvx.certificate.proving import certified
from mklcvx.formulations import Task
from mklcvx.formulations.losses import COUNTS, EVERY, LABELS, NONE, REAL
from mklcvx.zoo import regression

pytestmark = pytest.mark.slow

NOISY = regression.noisy(12, 2, 1)
TARGETS = {
    LABELS: Instance(NOISY.kernels, np.where(np.arange(12) % 2, 1, -1), groups=[0, 1]),
    REAL: Instance(NOISY.kernels, response=NOISY.targets.values, groups=[0, 1]),
    COUNTS: Instance(NOISY.kernels, response=np.arange(12) % 5, groups=[0, 1]),
    NONE: Instance(NOISY.kernels, groups=[0, 1]),
}
NEW = [loss for loss in EVERY if loss.name not in ("hinge", "nu")]


# --------------------------------------------------------------------------------------------------- δ, and f = 0


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
