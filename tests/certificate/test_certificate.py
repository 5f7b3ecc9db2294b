"""The certificate is a theorem about the stored numbers: what was once certified and wrong is so no more."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mklcvx import Instance, LowRank, solve
from mklcvx.formulations import SINGLE_TASKS

pytestmark = pytest.mark.slow

YEARS, SIGNS = np.array([1985.0, 1991, 2014, 2012]), np.array([1, -1, -1, 1])


def exact_dual(alpha, y, factor, price: Fraction) -> Fraction:
    """Σα − ½(Σ α_i y_i x_i)² for one feature, after checking that α is feasible."""
    assert all(0 <= a <= price for a in alpha)
    assert sum(a * int(s) for a, s in zip(alpha, y, strict=True)) == 0
    length = sum(a * int(s) * Fraction(float(x)) for a, s, x in zip(alpha, y, factor, strict=True))
    return sum(alpha) - length**2 / 2


@pytest.mark.parametrize("price", [1, 100, 10**3, 10**5])
def test_four_samples_that_can_be_checked_by_hand(price):
    """The optimum is attained at α = (a, C, a, C): w = x'(α∘y) has margins 1 at the first and the third sample."""
    solution = solve(Instance(np.outer(YEARS, YEARS)[None], SIGNS), "svm", C=float(price))
    weight = Fraction(2, 1985 - 2014)
    free = (weight - price * (2012 - 1991)) / (1985 - 2014)
    optimum = exact_dual([free, Fraction(price)] * 2, SIGNS, YEARS, Fraction(price))
    assert Fraction(solution.certificate.lower) <= optimum <= Fraction(solution.certificate.upper)
    assert solution.certificate.upper - solution.certificate.lower < 1e-9 * float(optimum)
    assert solution.certified or "rounding" in solution.message


def test_factors_are_taken_as_they_are():
    solution = solve(Instance(LowRank([np.array([[1e8, 1.0], [1e8, -1.0]])]), [1, -1]), "svm", C=1.0)
    assert solution.certified
    assert solution.certificate.lower <= 0.5 <= solution.certificate.upper


# ------------------------------------------------------------------------------------------------ what is compared
def two_clouds(offset: float = 0.0, seed: int = 0, count: int = 3, apart: float = 6.0):
    """Features on a grid on which sums with the offset, and products, are exact."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(16) % 2 == 0, 1, -1)
    return np.round(rng.normal(size=(count, 16, 2)) * 8 + apart * y[:, None]) / 8 + offset, y


def test_a_large_constant_hides_nothing():
    """`sm2` with θ = 1e-10 has R(μ) = 1e9 and more; the gap is compared with what concerns the classifier."""
    features, y = two_clouds()
    solution = solve(Instance(features @ features.transpose(0, 2, 1), y), "sm2", theta=1e-10)
    assert solution.certificate.upper > 1e8
    assert solution.certified
    assert solution.certificate.gap < 1e-6
    assert (solution.norms > 0.01).all()


def test_hulls_that_meet_are_said_to():
    features, y = two_clouds(count=1, apart=0.0)
    solution = solve(Instance(features @ features.transpose(0, 2, 1), y), "sum", nu=0.5)
    assert not solution.certified
    assert "hulls meet" in solution.message
    assert solution.certificate.lower <= 0


CASES = [(f.name, loss) for f in SINGLE_TASKS for loss in f.losses]


@pytest.mark.parametrize("stored", ["factors", "products"])
@pytest.mark.parametrize(("name", "loss"), CASES)
def test_shifts_of_features_change_nothing_under_a_bias(name, loss, stored):
    base = None
    for offset in (0.0, 1.0, 1e3, 1e6):
        features, y = two_clouds(offset, seed=1, count=1 if name == "svm" else 3, apart=10.0)
        products = features @ features.transpose(0, 2, 1)
        kernels = LowRank(list(features)) if stored == "factors" else products
        groups = None if name == "svm" else [0, 1, 2]
        given = {"nu": 0.3} if loss == "nu" else {"C": 1.0}
        solution = solve(Instance(kernels, y, groups=groups), name, **given)
        labels = solution.predict(products)
        if base is None:
            base = solution.status, solution.weights, labels
            assert solution.certified
        assert solution.status == base[0], (offset, solution.message)
        near = math.sqrt(solution.certificate.relative_gap)  # a gap determines weights to its root
        assert solution.weights == pytest.approx(base[1], rel=near, abs=1e-5, nan_ok=True)
        assert labels.tolist() == base[2].tolist()


# ------------------------------------------------------------------------------------- entries, and tolerances
def gaussian(dtype, n: int = 60) -> Instance:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    kernel = np.exp(-0.05 * ((x[:, None] - x) ** 2).sum(axis=2))
    return Instance(kernel[None].astype(dtype), np.where(rng.random(n) < 0.5, 1, -1))


def test_what_single_precision_forbids_is_said():
    doubles, singles = (solve(gaussian(dtype), "svm", C=1e3) for dtype in (np.float64, np.float32))
    assert doubles.certified
    assert not singles.certified
    assert "single-precision entries (δ = " in singles.message
    assert "give doubles" in singles.message
    assert 0 < singles.certificate.ridge < 1e-5
    assert singles.certificate.ridge_share > singles.certificate.rounding


@pytest.mark.parametrize("tolerance", [1e-10, 1e-12, 1e-15])
@pytest.mark.parametrize("name", ["sm2", "l1", "svm"])
def test_no_tolerance_is_met_by_noise(name, tolerance):
    features, y = two_clouds(seed=4, count=1 if name == "svm" else 3, apart=1.0)
    for price in (1.0, 1e6):
        solution = solve(Instance(features @ features.transpose(0, 2, 1), y), name, C=price, tol=tolerance)
        certificate = solution.certificate
        assert certificate.lower <= certificate.upper
        assert certificate.gap > 0
        assert solution.certified == (certificate.relative_gap <= tolerance)


@pytest.mark.parametrize("name", ["sum", "l1", "sm1", "sm2", "l2", "lp", "elastic", "block_elastic"])
def test_years_as_features(name):
    """Integers from 1950 to 2020, three features to a kernel, as they come: no centring, no scaling."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.integers(1950, 2021, size=(5, 30, 3)).astype(float)
        y = np.where(rng.random(30) < 0.5, 1, -1)
        solution = solve(Instance(x @ x.transpose(0, 2, 1), y), name, C=100.0)
        assert solution.certified, solution.message
