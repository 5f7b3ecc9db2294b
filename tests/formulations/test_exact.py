"""Sums that hold to the last bit: the arithmetic behind feasible α, with numbers worked out by hand."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from mklcvx.formulations.families.task import Task
from mklcvx.formulations.losses import _exact
from mklcvx.formulations.losses._exact import NEAR, _on_grid, balanced, filled, filled_on_grid, made_up, moved

ONE = np.ones(2)
FINE = 2.0**-60


def arrays(*values):
    return tuple(np.array(value, dtype=float) for value in values)


# ------------------------------------------------------------------------------------------------------------- made up
def test_a_sum_that_holds_is_left_alone():
    alpha = np.array([0.25, 0.5])
    found = made_up(alpha, ONE, ONE, 0.75)
    assert found.tolist() == [0.25, 0.5]
    assert found is not alpha


@pytest.mark.parametrize(
    ("alpha", "box", "signs", "total", "expected"),
    [
        ([0.25, 0.5], [1, 1], [1, 1], 1.0, [0.25, 0.75]),  # the sample with most room on both sides
        ([0.5, 0.25], [1, 1], [1, 1], 1.0, [0.75, 0.25]),
        ([0.5, 0.75], [1, 1], [1, 1], 1.5, [0.75, 0.75]),
        ([0.5, 0.75], [1, 1], [1, 1], 1.375, [0.625, 0.75]),
        ([0.25, 0.5, 1.0], [1, 1, 1], [1, 1, 1], 2.0, [0.25, 0.75, 1.0]),  # among those between their bounds
        ([0.5, 0.25, 0.125], [1, 1, 1], [1, -1, -1], 0.0, [0.375, 0.25, 0.125]),
        ([0.125, 0.25, 0.125], [0.25, 1, 1], [1, -1, -1], 0.0, [0.125, 0.0, 0.125]),  # none can stay between its bounds
        ([0.0, 1.0], [1, 1], [1, 1], 1.25, [0.25, 1.0]),
        ([0.0], [0.25], [1], 0.25, [0.25]),
        ([0.5], [1], [1], 0.0, [0.0]),
    ],
)
def test_one_sample_makes_up_for_what_is_missing(alpha, box, signs, total, expected):
    alpha, box, signs = arrays(alpha, box, signs)
    assert made_up(alpha, box, signs, total).tolist() == expected


def test_the_coarsest_sample_takes_the_most_and_a_finer_one_the_rest():
    alpha, signs = np.array([2.0**-8, 2.0**-30, 2.0**-8 + 2.0**-20 + 2.0**-30, 2.0**-72]), np.array([1.0, 1, -1, -1])
    box = np.array([1.0, 2.0**-30 + 2.0**-40, *alpha[2:]])
    assert made_up(alpha, box, signs, 0.0).tolist() == [2.0**-8 + 2.0**-20, 2.0**-30 + 2.0**-72, *alpha[2:]]
    assert math.fsum(signs * made_up(alpha, box, signs, 0.0)) == 0
    alpha = np.array([1.0, 2.0**-8, 2.0**-30, 1 + 2.0**-8 + 2.0**-30, 2.0**-56 + 2.0**-72])
    box, signs = np.array([2.0, 1.0, 2.0**-30 + 2.0**-60, *alpha[3:]]), np.array([1.0, 1, 1, -1, -1])
    expected = [1.0, 2.0**-8 + 2.0**-56, 2.0**-30 + 2.0**-72, *alpha[3:]]  # the first is too coarse for any of it
    assert made_up(alpha, box, signs, 0.0).tolist() == expected


@pytest.mark.parametrize(
    ("alpha", "box", "signs"),
    [
        ([0.5, 0.5, FINE], [1, 1, 1], [1, -1, 1]),  # the last would have to vanish
        ([0.5, 0.5, FINE, 0.0], [1, 1, 1, 1], [1, -1, 1, -1]),  # the last would have to appear
        ([0.5, 0.5, 2 * FINE, FINE], [1, 1, 2 * FINE, FINE], [1, -1, 1, -1]),  # the third would have to leave its box
        ([0.5, 0.5, FINE, FINE / 2], [1, 1, FINE, FINE], [1, -1, 1, -1]),  # the last would have to reach its box
    ],
)
def test_samples_at_their_bounds_stay_there_while_others_are_between_theirs(alpha, box, signs):
    """Those between are too coarse for what is missing: a few samples are not enough."""
    assert made_up(*arrays(alpha, box, signs), 0.0) is None


def test_what_no_box_has_room_for_cannot_be_made_up():
    assert made_up(np.zeros(2), ONE / 4, ONE, 1.0) is None


def test_a_sample_that_is_nothing_moves_to_the_side_where_its_bound_is():
    """0.3 is less than 0.1 and 0.2 by half of its last bit; all three are at their bounds."""
    alpha, signs = np.array([0.0, 0.0, 0.3, 0.1, 0.2]), np.array([1.0, -1, 1, -1, -1])
    high, rest = np.array([1.0, 1.0, 0.3, 0.1, 0.2]), math.fsum([0.1, 0.2, -0.3])
    assert balanced(alpha, np.zeros(5), high, signs).tolist() == [rest, 0.0, 0.3, 0.1, 0.2]
    assert balanced(-alpha, -high, np.zeros(5), signs).tolist() == [0.0, 0.0, -0.3, -0.1 + rest, -0.2]


def test_no_zero_has_a_sign():
    found = balanced(np.array([-1.0, -2.0, 0.0]), np.full(3, -2.0), np.full(3, 2.0), np.ones(3))
    assert not found.any()
    assert not np.signbit(found).any()


# ------------------------------------------------------------------------------------------------------------- on grids
def test_the_grid_is_that_of_the_largest_entrys_last_bit():
    for largest in (1.0, 0.75, 3.0, 2.0**-20 * 1.1):
        steps, most, unit = _on_grid(np.array([largest, largest / 3, 0.0]), np.array([largest, 1e200, largest / 2]))
        assert unit == math.ulp(largest)
        assert steps.tolist() == [largest / unit, round(largest / 3 / unit), 0]
        assert most.tolist() == [largest / unit, 2.0**53, math.floor(largest / 2 / unit)]
    steps, most, unit = _on_grid(np.zeros(2), np.array([2.5, 7.0]))
    assert (steps.tolist(), most.tolist(), unit) == ([0, 0], [2, 7], 1.0)


def test_whole_numbers_are_summed_exactly():
    numbers = [2**53, 2**53 - 1, 2**52 + 1, 2**26, 2**26 - 1, 3, 1, 0] * 5
    assert _exact.whole_sum(np.array(numbers, dtype=float)) == sum(numbers)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (0, [5, 1, 9, 0]),
        (3, [8, 1, 9, 0]),
        (-4, [1, 1, 9, 0]),
        (7, [10, 3, 9, 0]),
        (-7, [0, 0, 8, 0]),
        (16, [10, 10, 10, 1]),
    ],
)
def test_samples_with_most_room_on_both_sides_move_first(by, expected):
    most = np.full(4, 10.0)
    assert moved(np.array([5.0, 1.0, 9.0, 0.0]), most, by).tolist() == expected


def test_a_sample_without_room_does_not_move():
    assert moved(np.array([10.0, 0.0]), np.full(2, 10.0), 1).tolist() == [10, 1]
    assert moved(np.array([0.0, 10.0]), np.full(2, 10.0), -1).tolist() == [0, 9]


@pytest.mark.parametrize("power", [0, 1, 3])
def test_the_heavier_class_gives_until_both_have_the_same_sum(power):
    alpha, box, positive = np.array([0.5, 0.75, 0.25, 1.0]), np.ones(4), np.array([True, True, False, False])
    surplus = 2**power * math.ulp(1.0)
    for heavier, sign in ((alpha + np.array([0, surplus, 0, 0]), 1), (alpha - np.array([surplus, 0, 0, 0]), -1)):
        found = _exact.balanced_on_grid(heavier, box, positive)
        assert math.fsum(found[positive]) == math.fsum(found[~positive]) == 1.25 - (surplus if sign < 0 else 0)
        lighter = ~positive if sign > 0 else positive
        assert found[lighter].tolist() == heavier[lighter].tolist()


def test_a_sum_is_filled_on_the_grid():
    rng = np.random.default_rng(0)
    for _ in range(20):
        alpha, box = rng.uniform(0, 0.3, 7), np.full(7, 0.4)
        for total in (1.0, 0.5):
            found = filled_on_grid(alpha, box, total)
            assert math.fsum(found) == total
            assert ((found >= 0) & (found <= box)).all()
            assert found == pytest.approx(filled(alpha, box, total), abs=1e-12)


def test_what_rounding_leaves_goes_to_a_sample_with_room():
    """Zeros stay zeros, and samples at their bounds stay there."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        alpha, box = np.array([0.0, *rng.uniform(0.1, 0.3, 6)]), np.full(7, 0.4)
        found = filled(alpha, box, 0.7 * alpha.sum())
        assert found[0] == 0
        assert math.fsum(found) == pytest.approx(0.7 * alpha.sum(), rel=3e-16)
        alpha, box = np.array([1.0, *rng.uniform(0.1, 0.3, 6)]), np.array([1.0, *np.full(6, 0.4)])
        found = filled(alpha, box, alpha.sum() + 0.1)
        assert found[0] == 1
        assert abs(math.fsum([alpha.sum() + 0.1, *(-found)])) <= math.ulp(0.4) / 2  # rounded once


# ----------------------------------------------------------------------------------------------------- feasible points
# -------------------------------------------------------------------------------------------------- piecewise linear
@pytest.mark.parametrize(
    ("target", "expected"),
    [(0.5, (1.0, 1.0)), (1.0, (1.0, 2.0)), (2.0, (2.0, 2.0)), (3.0, (2.0, 4.0)), (6.0, (4.0, math.inf))],
)
def test_a_flat_bottom_is_where_the_slope_changes_sign(target, expected):
    assert _exact.flat_bottom(np.array([2.0, 1.0, 4.0]), np.array([2.0, 1.0, 3.0]), target) == expected


def test_what_a_few_samples_cannot_make_up_is_settled_on_the_grid():
    alpha, y = np.array([0.5, 0.5, FINE, 0.0]), np.array([1.0, -1, 1, -1])
    assert Task(np.eye(4)[None], y, np.ones(4)).feasible(alpha).tolist() == [0.5, 0.5, 0.0, 0.0]
    without_bias = Task(np.eye(4)[None], y, np.ones(4), "nu", False)
    assert without_bias.feasible(alpha).tolist() == [0.5, 0.5, 0.0, 0.0]


def test_a_class_without_alpha_leaves_none_to_the_other():
    assert Task(np.eye(2)[None], np.array([1.0, -1.0]), np.ones(2)).feasible(np.array([1.0, 0.0])).tolist() == [0, 0]


def test_the_series_of_the_divergence_is_right_to_the_last_digits():
    """h(x) = (1 + x) log(1 + x) − x, in fifty digits, wherever the series is used."""
    for x in (*np.linspace(-NEAR, NEAR, 21), 1e-9):
        with localcontext(prec=50):
            exact = Decimal(float(x))
            h = (1 + exact) * (1 + exact).ln() - exact
            wanted = float(h / exact**2) if exact else 0.5
        assert _exact.divergence_series(np.array([x]))[0] == pytest.approx(wanted, rel=1e-15, abs=0)
