"""No number that an instance accepts is an exception: it is a status, with bounds that do not cross."""

import decimal
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from mklcvx import Instance, solve
from mklcvx.formulations import SINGLE_TASKS

pytestmark = pytest.mark.slow


def extreme(rng: np.random.Generator, count: int) -> np.ndarray:
    """Offsets, whole numbers, Gaussians, zeros, copies and singles, in sizes from 2^-40 to 2^40."""
    n, kind = int(rng.integers(2, 14)), int(rng.integers(6))
    x = rng.normal(size=(count, n, int(rng.integers(1, 4))))
    x = x + 10.0 ** rng.integers(0, 7) if kind == 0 else np.round(x * 8) / 8 + 1990 if kind == 1 else x
    kernels = x @ x.transpose(0, 2, 1)
    if kind == 2:
        kernels = np.exp(-(((x[:, :, None] - x[:, None]) ** 2).sum(-1)) * 10.0 ** rng.integers(-3, 3))
    if kind == 3:
        kernels[rng.integers(count)] = 0
    if kind == 4:
        kernels[:] = kernels[0]
    kernels = kernels * 2.0 ** rng.integers(-40, 41, size=count)[:, None, None]
    return kernels.astype(np.float32) if kind == 5 else kernels


@pytest.mark.parametrize("place", range(len(SINGLE_TASKS)), ids=lambda place: SINGLE_TASKS[place].name)
def test_extreme_numbers_are_a_status(place):
    """Every second of eight draws, those that the formulation before leaves out."""
    formulation = SINGLE_TASKS[place]
    for draw in range(place % 2, 8, 2):
        rng = np.random.default_rng([7, draw])
        kernels = extreme(rng, 1 if formulation.single_kernel else 3)
        n = kernels.shape[1]
        weights = 10.0 ** rng.uniform(-6, 6, n) if rng.random() < 0.3 else None
        groups = [0, 1, 1] if formulation.grouped else None
        instance = Instance(kernels, np.where(np.arange(n) % 2 == 0, 1, -1), groups=groups, sample_weight=weights)
        bias = bool(rng.random() < 0.6)
        solution = solve(instance, formulation.name, C=10.0 ** rng.integers(-8, 9), bias=bias)
        assert solution.certificate.lower <= solution.certificate.upper
        assert solution.certified or solution.message
        assert not math.isnan(solution.certificate.relative_gap)
        json.dumps(solution.as_dict(), allow_nan=False)


@pytest.mark.parametrize(("p", "size"), [(1.9695126122358926, 1e60), (1.33, 1e30), (2.4, 1e-60), (4.7, 1e60)])
def test_an_exponent_that_is_rounded_is_paid_for(p, size):
    """n = 2, K = k·I: the optimum is 1/k + c/p, and c is a power of 2(p − 1)/(θp) that sixty digits tell."""
    with decimal.localcontext(prec=60):
        theta = 2 * (p - 1) / (p * size ** (-1 / (p - 1)))
        exact = Fraction(p)
        rise = 2 * (exact - 1) / (Fraction(theta) * exact)
        logarithm = (decimal.Decimal(rise.numerator) / rise.denominator).ln()
        price = Fraction((logarithm * (decimal.Decimal(exact.numerator) / exact.denominator - 1)).exp())
    found = solve(Instance([size * np.eye(2)], [1, -1]), "smp", C=10 / size, theta=theta, p=p).certificate
    assert found.lower <= 1 / Fraction(size) + price / exact <= found.upper


@pytest.mark.parametrize(("formulation", "offset"), [("sm2", 1e3), ("smp", 1e3), ("hypergraph_smooth", 1e4)])
def test_the_value_is_told_as_sharply_as_the_gap(formulation, offset):
    """Features far from their origin: plain products round them."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 3))
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=20) > 0, 1, -1)
    kernels = [np.exp(-((x[:, None] - x) ** 2).sum(axis=2)), (x + offset) @ (x + offset).T]
    labels = np.column_stack([y > 0, x[:, 1] > 0.3]).astype(int)
    targets = {"labels": labels} if formulation.startswith("hyper") else {"y": y}
    found = solve(Instance(kernels, **targets), formulation)
    assert found.certified
    assert found.certificate.upper - found.certificate.lower <= 1e-8 * found.certificate.base
