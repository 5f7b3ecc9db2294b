"""Weights that the problem does not determine are named, whatever the regulariser."""

import numpy as np
import pytest

from mklcvx import Instance, solve, verify, zoo
from mklcvx.formulations import get
from mklcvx.verification.families.single_task import worth

BINARY = zoo.random(20, 2, seed=3)
TWINS = Instance(BINARY.kernels[[0, 0, 1]], BINARY.y)
NOTHING = Instance(np.stack([np.zeros((20, 20)), np.ones((20, 20))]), BINARY.y)  # a bias is all that counts


def judged(instance, name, **parameters):
    found = solve(instance, name, C=1.0, **parameters)
    return found, verify(instance, name, weights=found.weights, parameters={"C": 1.0, **parameters}, tol=1e-6)


@pytest.mark.parametrize("loss", [{}, {"loss": "squared_hinge"}])
def test_kernels_that_occur_twice_trade_weights_in_a_group_lasso(loss):
    found, report = judged(TWINS, "group_lasso", lam=0.5, **loss)
    assert {one.kernel for one in report.loose} == {"K1", "K2"}
    for one in report.loose:
        assert one.high <= 1.01 * found.weights[:2].sum()
        assert one.high - one.low > 0.05 * found.weights.max()


def test_a_group_lasso_without_twins_determines_its_weights():
    assert judged(BINARY, "group_lasso", lam=0.5)[1].loose == ()


@pytest.mark.parametrize("name", ["l1", "l2", "lp", "elastic", "block_elastic"])
def test_where_no_kernel_is_of_use_every_weight_is_as_good(name):
    _, report = judged(NOTHING, name)
    assert np.array([one[1:] for one in report.loose]) == pytest.approx(np.array([[0.0, 1.0]] * 2), abs=1e-6)
    formulation = get(name)
    task, _ = formulation.task(NOTHING, {"C": 1.0})
    values = [worth(formulation, task, corner)[0] for corner in np.eye(2)]
    assert values == pytest.approx([values[0]] * 2, rel=1e-6)


@pytest.mark.parametrize("name", ["l2", "lp", "elastic", "block_elastic", "sm2", "square", "average"])
def test_where_kernels_are_of_use_a_curved_regulariser_determines_the_weights(name):
    assert judged(BINARY, name)[1].loose == ()


def test_a_regulariser_that_is_next_to_flat_is_not_called_sharp():
    """With a large θ `sm2` is `l1`: twins trade weights within the tolerance."""
    assert judged(TWINS, "sm2", theta=1e9)[1].loose != ()


@pytest.mark.parametrize("ratio", [0.0, 0.5])
def test_intervals_of_a_kernel_of_zeros_are_numbers(ratio):
    instance = Instance(np.concatenate([np.zeros((1, 20, 20)), BINARY.kernels]), BINARY.y)
    found = solve(instance, "elastic", l1_ratio=ratio)
    low, high = found.weights_interval().T
    assert ((low <= found.weights) & (found.weights <= high)).all()
