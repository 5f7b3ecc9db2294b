"""The auditor proves every δ that a certificate states, and none that is too small."""

from fractions import Fraction

import numpy as np
import pytest

from mklcvx import Instance, solve
from mklcvx.certificate.ridge import successive_ridges
from mklcvx.checker.numbers import (
    Kernel,
    by_cholesky,
    by_elimination,
    by_roots,
    is_semidefinite,
    residual_is_semidefinite,
    spectral,
    stack_of,
)
from mklcvx.problem.stack import KernelStack


def symmetrised(kernel: np.ndarray) -> np.ndarray:
    return (kernel + kernel.T) / 2


def edgy(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    """A kernel that rounding has made indefinite, or nearly."""
    if kind == "low rank":
        points = rng.normal(size=(n, int(rng.integers(1, 4))))
    elif kind == "years":
        points = 1.1 * rng.integers(1950, 2020, size=(n, 2))
    elif kind == "rank n - 1":
        points = rng.normal(size=(n, n - 1))
    else:
        points = 0.3 * rng.normal(size=(n, 2))
        return np.exp(-0.1 * ((points[:, None] - points) ** 2).sum(axis=-1))
    return symmetrised(points @ points.T)


@pytest.mark.parametrize("kind", ["low rank", "years", "rank n - 1", "smooth"])
def test_every_ridge_that_a_certificate_may_state_is_proved(kind):
    for number, n in enumerate(np.geomspace(20, 200, 25).astype(int)):
        rng = np.random.default_rng([number, len(kind)])
        kernels = np.array([edgy(rng, kind, n) for _ in range(int(rng.integers(1, 4)))])
        weights, bias, parts = rng.dirichlet(np.ones(len(kernels))), bool(number % 2), stack_of(kernels)
        found = successive_ridges(KernelStack(kernels), weights, bias)
        found.until(0.0)
        for delta in filter(np.isfinite, found.least):
            assert is_semidefinite(parts, weights, Fraction(delta), bias), (n, delta)


def test_a_factor_in_whole_numbers_proves_what_elimination_confirms_and_nearly_all_of_it():
    rng, said = np.random.default_rng(6), []
    for number in range(100):
        kind = ("low rank", "years", "rank n - 1", "smooth")[number % 4]
        used = [(Kernel(edgy(rng, kind, int(rng.integers(3, 12)))), float(rng.random()))]
        delta = Fraction(10.0 ** rng.uniform(-19, -14) * float(np.trace(used[0][0].dense)))
        said.append(by_roots(used, delta, False))
        assert by_elimination(used, delta if said[-1] else delta * (1 - Fraction(1, 10**9)), False) == said[-1]
    assert 10 < sum(said) < 95


def test_a_factor_in_whole_numbers_tells_apart_what_is_a_hair_from_singular():
    ones, hair = [(Kernel(np.ones((300, 300))), 0.1)], Fraction(1, 2**80)
    assert by_roots(ones, hair, False)
    assert not by_roots(ones, Fraction(0), False)
    assert not by_roots(ones, -hair, True)
    assert by_roots([(Kernel(np.zeros((3, 3))), 1.0)], Fraction(0), False)


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_solutions_with_linear_kernels_of_rank_two_are_honest(C):
    rng = np.random.default_rng(3)
    kernels = np.array([symmetrised(points @ points.T) for points in rng.normal(size=(2, 150, 2))])
    instance = Instance(kernels, rng.choice([-1, 1], size=150))
    found = solve(instance, "l1", C=C)
    assert found.status == "certified"
    assert is_semidefinite(stack_of(kernels), found.weights, Fraction(found.certificate.ridge), True)


# --------------------------------------------------------------------------------------------------------- underflow
def test_the_norm_of_numbers_whose_squares_vanish():
    tiny = np.full((2, 2), 2.0**-540)
    assert np.linalg.norm(tiny) == 0
    assert 2.0**-539 <= spectral(tiny) <= 2.0**-539 * (1 + 1e-14)
    assert spectral(np.zeros((2, 2))) == 0
    assert np.isnan(spectral(np.array([[np.nan, 1.0]])))


def test_the_norm_is_no_less_than_the_largest_singular_value_and_sharper_than_that_of_frobenius():
    rng = np.random.default_rng(2)
    for n in (1, 7, 200):
        matrix = rng.normal(size=(n, n))
        largest = np.linalg.norm(matrix, 2)
        assert largest <= spectral(matrix) * (1 + 1e-12)
        assert n < 200 or spectral(matrix) < 0.5 * np.linalg.norm(matrix)


def test_a_residual_whose_squares_vanish_is_seen():
    high, low = np.array([[1.0, 0.5], [0.5, 1.0]]) * 2.0**-490, np.diag([-1.0, -1.0]) * 2.0**-540
    assert residual_is_semidefinite(high, 0 * low, 0.0, 2.0**-541)
    assert not residual_is_semidefinite(high, low, 0.0, 2.0**-541)  # twice what the shift has in hand


def test_tiny_kernels_are_proved_as_others_are():
    for seed in range(8):
        points = np.random.default_rng(seed).normal(size=(12, 3))
        for exponent in (-488, -492, -495):
            kernel = Kernel(symmetrised(points @ points.T) * 2.0**exponent)
            for delta in np.geomspace(1e-17, 1e-15, 9) * 2.0**exponent:
                assert not by_cholesky([(kernel, 1.0)], delta, False) or by_roots(
                    [(kernel, 1.0)], Fraction(delta), False
                )
