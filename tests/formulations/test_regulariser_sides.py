"""What a formulation tells the engine of its weights' side: slopes, curvatures and constraints belong together, and the
penalty on norms is the least of ½ Σ a²/μ + R(μ) over the weights that are allowed."""

import numpy as np
import pytest

from cases import own_parameters
from mklcvx.formulations import SINGLE_TASKS, get

RNG = np.random.default_rng(3)
COUNT = 5
NAMED = [f.name for f in SINGLE_TASKS if f.regulariser is not None]
CASES = [(name, own) for name in NAMED for own in own_parameters(name)]
FREE = [(name, own) for name, own in CASES if not get(name).regulariser.alone(COUNT, **own)]
STEP = 1e-6


def derivative(function, mu, own):
    """Of a function that acts on every weight by itself."""
    return (function(mu + STEP, **own) - function(mu - STEP, **own)) / (2 * STEP)


@pytest.mark.parametrize(("name", "own"), FREE, ids=str)
def test_slopes_and_curvatures_are_derivatives(name, own):
    side, mu = get(name).regulariser, RNG.uniform(0.05, 0.9, COUNT)
    parts = [(side.value, side.slope, side.curvature)]
    if side.constraint is not None:
        parts.append((side.constraint.value, side.constraint.slope, side.constraint.curvature))
    if side.of_shares is not None:
        parts.append((side.of_shares.value, side.of_shares.slope, side.of_shares.curvature))
    for value, slope, curvature in parts:
        assert slope(mu, **own) == pytest.approx(derivative(value, mu, own), rel=1e-6, abs=1e-8)
        assert curvature(mu, **own) == pytest.approx(derivative(slope, mu, own), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(("name", "own"), FREE, ids=str)
def test_the_start_lies_inside(name, own):
    """Near the boundary of a curved constraint, not on it; on a linear one; below the caps."""
    side = get(name).regulariser
    for count in (COUNT, 40):
        mu = side.start(count, **own)
        assert mu.shape == (count,)
        assert (mu > 0).all()
        if side.constraint is not None:
            size = float(side.constraint.value(mu, **own).sum())
            inside = side.constraint.curved and side.of_shares is None
            assert 0.3 < size < 1 if inside else size == pytest.approx(1)
        if side.cap is not None and side.cap(**own) * count > 1:
            assert (mu <= side.cap(**own)).all()


@pytest.mark.parametrize(("name", "own"), CASES, ids=str)
def test_the_penalty_is_the_least_over_weights(name, own):
    """Attained at the formulation's own weights, and nowhere undercut."""
    formulation, a = get(name), RNG.uniform(0.2, 2.0, 1 if get(name).single_kernel else COUNT)
    side = formulation.regulariser

    def cost(mu):
        return float(np.sum(a**2 / mu) / 2 + side.value(mu, **own).sum())

    if side.alone(len(a), **own):
        assert formulation.penalty(a, **own) == pytest.approx(cost(side.start(len(a), **own)))
        return
    best = formulation.weights(a, a, **own)
    assert cost(best) == pytest.approx(formulation.penalty(a, **own), rel=1e-9)
    allowed = 0
    for _ in range(200):
        mu = np.maximum(best * np.exp(RNG.normal(scale=0.3, size=len(a))), 1e-9)
        if side.constraint is not None:
            mu *= largest_factor(side, mu, own)
        if side.cap is None or (mu <= side.cap(**own)).all():
            allowed += 1
            assert cost(mu) >= formulation.penalty(a, **own) * (1 - 1e-12)
    assert allowed > 0 or side.cap is not None


def largest_factor(side, mu, own):
    """How far weights may be stretched until the constraint binds, by bisection."""
    low, high = 0.0, 1e3
    for _ in range(80):
        middle = (low + high) / 2
        inside = side.constraint.value(middle * mu, **own).sum() <= 1
        low, high = (middle, high) if inside else (low, middle)
    return low


@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0])
def test_weights_of_elastic_start_with_nine_tenths_of_the_constraint(ratio):
    regulariser = get("elastic").regulariser
    value, *_ = regulariser.constraint.at(regulariser.start(5, l1_ratio=ratio), l1_ratio=ratio)
    assert value == pytest.approx(-0.1)


@pytest.mark.parametrize("ratio", [1e-3, 0.3, 1.0])
def test_weights_of_block_elastic_are_those_of_shares_on_the_simplex(ratio):
    side, shares = get("block_elastic").regulariser, np.array([0.5, 0.2, 0.0, 0.3])
    mu = side.of_shares.value(shares, l1_ratio=ratio)
    assert side.constraint.value(mu, l1_ratio=ratio) == pytest.approx(shares)
    assert side.best_weights(3 * shares, l1_ratio=ratio) == pytest.approx(mu)
    one, beyond = side.constraint.value(np.array([1.0, 1 / (1 - ratio / 2)]), l1_ratio=ratio)
    assert one == 1
    assert beyond > 1


def test_only_l1_leaves_its_weights_open():
    assert [one.name for one in SINGLE_TASKS if one.regulariser is not None and one.regulariser.flat] == ["l1"]


@pytest.mark.parametrize("theta", [1e-3, 0.02, 0.7, 50.0])
@pytest.mark.parametrize("p", [1.2, 2.0, 6.0])
def test_the_weights_of_smp_sum_to_one_at_its_threshold(theta, p):
    """Whatever the rise of a weight by its slack, many times one or next to nothing."""
    rise = 2 * (p - 1) / (theta * p)
    for v in (np.array([3.0, 1.0, 0.5, 0.0]), np.ones(4), np.array([7.0, 6.9, 6.8, 1e-3])):
        slacks = np.maximum(v - get("smp").regulariser.threshold(v, theta, p), 0.0)
        assert np.sum(slacks ** (1 / (p - 1))) / rise == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("ratio", [0.3, 1.0])
def test_shares_of_block_elastic_sum_to_one_without_functions_and_are_infinite_from_the_pole_on(ratio):
    regulariser = get("block_elastic").regulariser
    mu = regulariser.best_weights(np.zeros(4), l1_ratio=ratio)
    assert regulariser.constraint.value(mu, l1_ratio=ratio).sum() == pytest.approx(1)
    assert np.isinf(regulariser.constraint.value(np.array([1.0, 2.0]), l1_ratio=0.0)).all()


@pytest.mark.parametrize(("name", "own"), [("l2", {}), ("lp", {"p": 1.5})])
def test_weights_in_a_ball_do_not_depend_on_the_size_of_the_norms(name, own):
    """Not where the squares of norms are no numbers, either."""
    regulariser, a = get(name).regulariser, np.array([0.5, 0.0, 2.0])
    for size in (2.0**-600, 2.0**600):
        assert regulariser.best_weights(size * a, **own) == pytest.approx(regulariser.best_weights(a, **own), rel=1e-14)
