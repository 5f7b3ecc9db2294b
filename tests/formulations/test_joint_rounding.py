"""Joint outputs to the last bit: grids, circulations, and biases that no factor of the prices moves."""

import numpy as np
import pytest

from mklcvx.formulations.losses import CRAMMER_SINGER, JOINT
from mklcvx.formulations.losses._joint import _circulate, circulating

EPS = 2.0**-52
BY_NAME = {"ids": lambda one: one.name}
ONE_OF_THREE = np.array([[1.0], [-1.0], [-1.0]])


def drawn(seed, classes=4, samples=20):
    """Signs, prices, and α of either sign, most of them too large."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(classes)[:, None] == np.arange(samples) % classes, 1.0, -1.0)
    return y, 10 ** rng.uniform(-3, 3, samples), rng.normal(size=y.shape) * 10 ** rng.uniform(-3, 3, samples)


# ------------------------------------------------------------------------------------------------------ feasible sets
@pytest.mark.parametrize("bias", [True, False])
def test_what_a_sample_sends_to_another_class_never_grows(bias):
    """It is clipped, scaled down, rounded down and reduced."""
    for seed in range(20):
        y, price, alpha = drawn(seed)
        found = CRAMMER_SINGER.feasible(alpha, y, price, bias)
        assert (found[y < 0] <= np.maximum(alpha[y < 0], 0.0)).all()
        assert found.any()


@pytest.mark.parametrize("given", [(1.04, 1.04), (3.12, 1.04)])
def test_what_rounding_puts_beyond_the_price_is_taken_from_the_largest(given):
    """Scaled down into the price 1 − 2⁻⁵³ the sum is 1, which is a point of the grid, and the price is none."""
    alpha, price = np.array([[sum(given)], *([one] for one in given)]), np.array([np.nextafter(1.0, 0.0)])
    found = CRAMMER_SINGER.feasible(alpha, ONE_OF_THREE, price, bias=False)
    assert CRAMMER_SINGER.exactly_feasible(found, ONE_OF_THREE, price, bias=False)
    share = given[0] / sum(given)
    assert found[:, 0].tolist() == [1 - 2 * EPS, share - 2 * EPS, 1 - share]


def test_a_last_bit_that_sums_lose_is_beyond_the_price():
    """1 + 2⁻⁵³ + 2⁻⁵³ is 1, added one after another, and more than the price 1."""
    y, alpha = np.array([[1.0], [-1.0], [-1.0], [-1.0]]), np.array([[1 + EPS], [1.0], [EPS / 2], [EPS / 2]])
    assert CRAMMER_SINGER.exactly_feasible(alpha, y, np.array([1 + EPS]), bias=False)
    assert not CRAMMER_SINGER.exactly_feasible(alpha, y, np.ones(1), bias=False)


def test_what_is_held_nowhere_goes_down_to_the_grid():
    """At the price 2, α of 1 ± 2⁻⁵² between points of the grid: rounded up they would exceed it."""
    alpha, price = np.array([[2.0], [1 + EPS], [1 - EPS]]), np.array([2.0])
    found = CRAMMER_SINGER.at_bounds(alpha, np.array([[2.5], [1.0], [1.0]]), ONE_OF_THREE, price)
    assert found[:, 0].tolist() == [2 - 2 * EPS, 1.0, 1 - 2 * EPS]
    assert CRAMMER_SINGER.exactly_feasible(found, ONE_OF_THREE, price, bias=False)


# ------------------------------------------------------------------------------------------------------- circulations


def test_an_excess_of_rounding_is_left_to_the_exact_repair():
    """8k last bits of what flows in all, which is 2 here: 32 of them."""
    for bits, left in ((16, True), (17, False)):
        flows = np.array([[0.0, 1 + bits * EPS], [1 - bits * EPS, 0.0]])
        found = flows * circulating(flows)
        assert np.array_equal(found, flows) == left
        assert (found[0, 1] == found[1, 0]) != left


@pytest.mark.parametrize(
    ("steps", "most", "expected"),
    [
        # Of the first class's two samples one is at its price, and stays there: 16 steps and 13 back, 11 and 10 back.
        ([[0, 0, 13], [10, 6, 0]], [10, 20, 20], [[0, 0, 13], [10, 3, 0]]),
        ([[0, 0, 10], [10, 1, 0]], [10, 20, 20], [[0, 0, 10], [10, 0, 0]]),
        # At its price with what it sends to two classes.
        ([[0, 0, 12, 9], [9, 6, 0, 0], [9, 0, 0, 0]], [18] * 4, [[0, 0, 12, 9], [9, 3, 0, 0], [9, 0, 0, 0]]),
    ],
)
def test_a_flow_is_reduced_at_samples_with_room(steps, most, expected):
    classes, samples = np.shape(steps)
    own = np.arange(classes)[:, None] == np.maximum(np.arange(samples) - 1, 0)
    steps = np.array(steps, dtype=float)
    _circulate(steps, own, np.array(most, dtype=float))
    assert steps.tolist() == expected


# ------------------------------------------------------------------------------------------------------------- biases
@pytest.mark.parametrize("loss", JOINT.values(), **BY_NAME)
def test_a_factor_of_all_prices_changes_no_bias(loss):
    for seed in range(3):
        y, price, outputs = drawn(seed)
        biases = [loss.risk(outputs, y, price * size, bias=True).bias for size in (1.0, 2.0**-200, 2.0**200)]
        assert biases[0].any()
        np.testing.assert_array_equal(biases[1:], [biases[0]] * 2)
