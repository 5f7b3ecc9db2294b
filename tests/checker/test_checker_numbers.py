"""The auditor's arithmetic: exact where it says so, on the side that was asked for elsewhere."""

import decimal
from fractions import Fraction

import numpy as np
import pytest

from mklcvx import Instance, formulations
from mklcvx.certificate.ridge import exactly_semidefinite
from mklcvx.checker.numbers import (
    UNIT,
    Kernel,
    Refused,
    by_cholesky,
    by_elimination,
    dot,
    entropy,
    fractions,
    is_semidefinite,
    least_ridge,
    norm,
    power,
    root,
    rounded,
    smoothed_largest,
    stack_of,
    whole,
)

DRAW = np.random.default_rng(5)

LONG = pytest.mark.skipif(np.finfo("longdouble").eps > 2.0**-53, reason="long doubles are doubles here")


def test_doubles_are_whole_numbers_times_a_power_of_two():
    values = np.array([0.0, -0.1, 1e-300, 2.5e10, 5e-324])
    numbers, exponent = whole(values)
    assert [Fraction(x) for x in values] == [Fraction(n) * Fraction(2) ** exponent for n in numbers]


def test_products_are_exact_and_of_the_lower_triangle():
    matrix, vector = DRAW.normal(size=(6, 6)) * 10.0 ** DRAW.integers(-9, 9, size=(6, 6)), DRAW.normal(size=6)
    lower = fractions(np.tril(matrix) + np.tril(matrix, -1).T)
    assert list(Kernel(matrix).image(vector)) == [dot(row, fractions(vector)) for row in lower]
    factor = DRAW.normal(size=(6, 2))
    product = fractions(factor) @ fractions(factor).T
    assert list(Kernel(factor=factor).image(vector)) == [dot(row, fractions(vector)) for row in product]


@pytest.mark.parametrize("side", [-1, 1])
def test_rounding_goes_to_its_side(side):
    with decimal.localcontext(decimal.Context(prec=120)):
        for _ in range(50):
            x, exponent = Fraction(float(DRAW.lognormal(0, 20))), Fraction(float(DRAW.uniform(0.1, 9)))
            assert 0 <= (root(x, side) ** 2 - x) * side <= x / 10**50
            assert (Fraction(rounded(x / 3, side)) - x / 3) * side >= 0
            true = (decimal.Decimal(x.numerator) / x.denominator) ** (
                decimal.Decimal(exponent.numerator) / exponent.denominator
            )
            assert 0 < (power(x, exponent, side) - Fraction(true)) * side < Fraction(true) / 10**50


def test_roots_of_squares_and_powers_of_one_are_exact():
    assert root(Fraction(9, 4), 1) == root(Fraction(9, 4), -1) == Fraction(3, 2)
    assert root(Fraction(0), 1) == 0
    assert power(Fraction(1), Fraction(3, 2), 1) == 1
    assert norm([Fraction(3), Fraction(4)], Fraction(2), 1) >= 5 >= norm([Fraction(3), Fraction(4)], Fraction(2), -1)
    assert norm([Fraction(3), Fraction(4)], None, 1) == 4


def test_large_and_small_exponents():
    nearly = Fraction(1 - 2.0**-53)
    assert float(power(nearly, Fraction(10) ** 20, 1)) < 1e-300
    assert float(power(nearly, Fraction(2**53), 1)) == pytest.approx(np.exp(-1))
    with pytest.raises(ValueError, match="too large"):
        power(Fraction(10), Fraction(10**20) + Fraction(1, 2), 1)


def test_entropy_and_the_smoothed_largest():
    theta, scores = DRAW.dirichlet(np.ones(4)), DRAW.normal(size=4)
    exact = [Fraction(x) for x in theta]
    assert entropy(exact, -1) < entropy(exact, 1)
    assert float(entropy(exact, 1)) == pytest.approx(-theta @ np.log(theta))
    low, high = (smoothed_largest([Fraction(x) for x in scores], Fraction(0.1), side) for side in (-1, 1))
    assert low < high
    assert float(high) == pytest.approx(0.1 * np.log(np.exp(scores / 0.1).sum()))


# ------------------------------------------------------------------------------------------------------- semidefinite
def draw_kernels() -> tuple[list[tuple[Kernel, float]], float]:
    n, parts = int(DRAW.integers(2, 9)), []
    for _ in range(int(DRAW.integers(1, 4))):
        features = DRAW.normal(size=(n, int(DRAW.integers(1, n + 1)))) * 10.0 ** DRAW.integers(-3, 4)
        kernel = features @ features.T
        parts.append(kernel.astype(np.float32) if DRAW.random() < 0.3 else kernel)
    used = [(Kernel(kernel), float(DRAW.random())) for kernel in parts]
    trace = sum(weight * float(kernel.diagonal().sum()) for kernel, weight in used)
    return used, float(10.0 ** DRAW.uniform(-18, -6) * trace)


@pytest.mark.parametrize("centred", [False, True])
def test_what_doubles_prove_whole_numbers_confirm(centred):
    proved = 0
    for _ in range(300):
        used, ridge = draw_kernels()
        if by_cholesky(used, ridge, centred):
            proved += 1
            assert by_elimination(used, Fraction(ridge), centred)
    assert proved > 100


def test_elimination_decides():
    flat = Kernel(np.ones((3, 3)))
    assert by_elimination([(flat, 1.0)], Fraction(0), False)
    assert not by_elimination([(flat, 1.0)], Fraction(-1, 10**300), False)
    dented = Kernel(np.diag([1.0, 1.0, -(2.0**-60)]))
    assert not is_semidefinite([dented], [1.0], Fraction(2.0**-61))
    assert is_semidefinite([dented], [1.0], Fraction(2.0**-60))


def test_low_ranks_are_eliminated_one_kernel_at_a_time():
    features = np.arange(200.0) % 7
    whole = Kernel(np.outer(features, features) + 4e6)
    assert is_semidefinite([whole, whole], [0.3, 0.1], Fraction(0))
    dented = Kernel(np.outer(features, features) + 4e6 - np.diag(np.arange(200) == 5) * 2.0**-20)
    assert not is_semidefinite([whole, dented], [0.3, 0.1], Fraction(0))


def test_with_a_bias_only_vectors_that_sum_to_zero_count():
    kernel = stack_of((np.eye(80) * 1e-3 - np.ones((80, 80)))[None])
    assert is_semidefinite(kernel, [1.0], Fraction(0), centred=True)
    assert not is_semidefinite(kernel, [1.0], Fraction(1))


@pytest.mark.parametrize("samples", [30, 150])
def test_a_ridge_of_a_few_roundings_is_proved(samples):
    features = DRAW.normal(size=(samples, 3))
    kernels = stack_of(np.stack([features @ features.T, np.ones((samples, samples))]))
    trace = float(sum(k.diagonal().sum() for k in kernels))
    assert least_ridge(kernels, [1.0, 1.0]) < 4 * UNIT * trace
    values = np.linalg.eigvalsh(sum(k.dense for k in kernels))
    assert not is_semidefinite(kernels, [1.0, 1.0], Fraction(-values[-4]))


def test_kernels_far_from_semidefinite_have_a_large_ridge():
    assert 1e30 <= least_ridge(stack_of(-1e30 * np.eye(3)[None] + 1e30), [1.0]) <= 1.6e30


def test_certificates_and_the_auditor_eliminate_alike():
    """Entries of either sign that need 64 bits are whole numbers too."""
    for seed in range(60, 120):
        features = np.random.default_rng(seed).normal(size=(4, 1))
        kernel = features @ features.T
        task = formulations.get("svm").task(Instance(kernel[None], [1, -1, 1, -1]), {"C": 1.0})[0]
        for bias in (False, True):
            decided = by_elimination([(Kernel(kernel), 1.0)], Fraction(0), bias)
            assert exactly_semidefinite(task, 0, bias) == decided


@pytest.mark.parametrize("dtype", ["int64", "uint64", pytest.param("longdouble", marks=LONG)])
def test_a_kernel_of_numbers_that_are_no_doubles_is_refused(dtype):
    with pytest.raises(Refused, match="no doubles"):
        Kernel(np.array([[2**60 + 1]], dtype=dtype))
    assert Kernel(np.array([[2**60]], dtype=dtype)).samples == 1
