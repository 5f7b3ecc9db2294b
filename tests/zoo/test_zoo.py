"""Instances with known answers, and generators that keep their promises."""

import numpy as np
import pytest

from checks import check_solution
from mklcvx import InputError, Instance, solve, zoo
from refusals import check_refused


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "M", "C"), [(60, 6, 1.0), (90, 8, 5.0)])
def test_a_planted_optimum_is_found(n, M, C, seed):
    planted = zoo.planted(n, M, C, seed=seed)
    assert (planted.alpha == 0).sum() >= n // 6
    assert (planted.alpha == C).sum() >= n // 6
    assert ((planted.alpha > 0) & (planted.alpha < C)).sum() >= n // 6
    signed = planted.alpha * planted.instance.y
    q = np.array([signed @ k @ signed for k in planted.instance.kernels])
    assert q[0] == pytest.approx(q[1], rel=1e-12)
    assert (q[2:] < 0.9 * q[0]).all()
    solution = solve(planted.instance, "l1", solver="clarabel", C=C)
    check_solution(planted.instance, solution, 1e-8)
    assert solution.certificate.lower <= planted.value * (1 + 1e-12)
    assert solution.certificate.upper >= planted.value * (1 - 1e-12)
    assert solution.weights == pytest.approx(planted.weights, abs=1e-5)
    assert solution.alpha == pytest.approx(planted.alpha, abs=1e-4 * C)
    assert solution.bias == pytest.approx(planted.bias, abs=1e-5)


BY_HAND = {
    # name: value, weights, ‖f_1‖, ‖f_2‖ at C = 1, worked out in docs/by-hand.md
    "sum": (5 / 8, (1, 1), 1, 1 / 2),
    "average": (5 / 4, (1 / 2, 1 / 2), 1, 1 / 2),
    "l1": (9 / 8, (2 / 3, 1 / 3), 1, 1 / 2),
    "sm1": (9 / 8, (2 / 3, 1 / 3), 1, 1 / 2),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_four_points_are_solved_as_by_hand(name):
    value, weights, first, second = BY_HAND[name]
    given = {"theta": 1.0} if name == "sm1" else {}
    solution = solve(zoo.by_hand(), name, solver="clarabel", C=1.0, **given)
    assert solution.objective == pytest.approx(value, rel=1e-8)
    assert solution.weights == pytest.approx(weights, abs=1e-6)
    assert solution.norms == pytest.approx([first, second], abs=1e-6)
    assert solution.bias == pytest.approx(0, abs=1e-7)


def test_the_four_points_show_an_undefined_weight():
    """li: α sees only the first kernel, yet the second must contribute at least ½."""
    solution = solve(zoo.by_hand(), "li", solver="clarabel", C=1.0)
    assert solution.objective == pytest.approx(1, rel=1e-8)
    assert solution.alpha == pytest.approx([1, 0, 1, 0], abs=1e-4)
    assert solution.weights[0] == pytest.approx(1 / 2, abs=1e-4)
    assert np.isnan(solution.weights[1])
    assert 0.5 - 1e-6 <= solution.norms[1] <= 1 + 1e-6


def test_every_kind_is_reproducible_and_named():
    for kind in zoo.ZOO:
        one, other = zoo.make(kind), zoo.make(kind)
        assert isinstance(one, Instance)
        assert np.array_equal(one.kernels, other.kernels)
    with pytest.raises(InputError, match="unknown kind of instance 'randm': did you mean 'random'"):
        zoo.make("randm")


def test_generators_keep_their_promises():
    conditioned = zoo.random(20, 3, conditioning=50.0)
    for kernel in conditioned.kernels:
        values = np.linalg.eigvalsh(kernel)
        assert values[-1] / values[0] <= 51
    assert (zoo.imbalanced(40).y > 0).sum() == 4
    twins = zoo.duplicated(10, 4)
    assert np.array_equal(twins.kernels[0], twins.kernels[2])
    assert all(np.linalg.matrix_rank(k) == 1 for k in zoo.rank_one(12, 3).kernels)
    sizes = [np.trace(k) for k in zoo.badly_scaled(10, 4).kernels]
    assert sizes[-1] / sizes[0] == pytest.approx(1e9, rel=0.5)
    separated, mixed = zoo.random(40, 2, overlap=0.0), zoo.random(40, 2, overlap=1.0)
    one, other = (solve(instance, "l1", solver="clarabel", C=1.0).objective for instance in (separated, mixed))
    assert one < other
    assert zoo.tiny(3).samples == 3


@pytest.mark.parametrize("data", zoo.REAL)
def test_real_data_have_kernels_of_trace_n(data):
    instance = zoo.real(data, samples=40, count=10)
    assert instance.kernels.shape == (10, 40, 40)
    assert np.trace(instance.kernels, axis1=1, axis2=2) == pytest.approx(np.full(10, 40.0))
    assert instance.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert set(instance.y) == {-1, 1}
    assert zoo.real(data, "classes", 40, 5).targets.kind == "classes"


def test_real_data_are_named_and_have_enough_kernels():
    with check_refused("unknown data set 'whine'", "did you mean 'wine'?"):
        zoo.real("whine")
    with check_refused("count = 4 kernels are too few"):
        zoo.real("wine", count=4)
    with check_refused("target = 'labels'"):
        zoo.real("wine", "labels")
    with check_refused("samples = 179: give between 10 and 178"):
        zoo.real("wine", samples=179)
