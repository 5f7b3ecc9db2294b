"""Newton's method for weights: it finds the minimiser by itself, without the bisection behind it."""

import numpy as np
import pytest

from mklcvx import formulations
from mklcvx.formulations import _roots, elastic
from mklcvx.formulations._roots import increasing_root, newton_weights, power_simplex

NORMS = [np.array([0.3, 0.2, 0.1]), np.array([1e-3, 2e-3]), np.array([5.0, 1.0, 0.2, 3.0])]


def simplex(slope, bend):
    """R', R'' and the simplex."""
    return lambda mu: (slope(mu), bend(mu), mu.sum() - 1, np.ones(len(mu)), np.zeros(len(mu)))


@pytest.mark.parametrize("a", [*NORMS, np.array([1.0, 1e-9]), np.array([1e-12, 1.0, 1e-12])])
def test_without_a_penalty_weights_on_the_simplex_are_in_proportion_to_the_norms(a):
    found = newton_weights(a, np.full(len(a), 1 / len(a)), simplex(np.zeros_like, np.zeros_like))
    assert found / a * a.sum() == pytest.approx(np.ones(len(a)), rel=1e-13)


@pytest.mark.parametrize("a", NORMS)
def test_on_the_ball_weights_are_the_norms_to_two_thirds(a):
    """ψ(μ) = Σμ² − 1 is curved."""
    zeros = np.zeros(len(a))
    start = np.full(len(a), len(a) ** -0.5)
    found = newton_weights(a, start, lambda mu: (zeros, zeros, mu @ mu - 1, 2 * mu, np.full(len(a), 2.0)))
    expected = np.cbrt(a) ** 2
    assert found == pytest.approx(expected / np.linalg.norm(expected), rel=1e-12)


@pytest.mark.parametrize("a", NORMS)
@pytest.mark.parametrize("h", [0.01, 1.0])
@pytest.mark.parametrize("p", [1.5, 2.0, 4.0])
def test_ordinary_norms_need_no_bisection(a, h, p, monkeypatch):
    def refuse(*_):
        raise AssertionError("bisection")

    monkeypatch.setattr(_roots, "increasing_roots", refuse)
    mu = power_simplex(a, h, p)
    assert mu.sum() == pytest.approx(1, abs=1e-15)
    slopes = (h * mu) ** (p - 1) - a**2 / (2 * mu**2)
    assert slopes == pytest.approx(np.full(len(a), slopes.mean()), rel=1e-10)


def test_a_penalty_without_curvature_enough_is_left_to_the_bisection():
    """Where the Hessian is not positive, Newton's method gives up."""
    a = np.array([0.3, 0.2])
    for bend in (lambda mu: np.full(2, -10.0), lambda mu: -(a**2) / mu**3):
        assert newton_weights(a, np.full(2, 0.5), simplex(np.zeros_like, bend)) is None


@pytest.mark.parametrize(("a", "h", "p"), [(0.005, 0.2, 8.0), (0.001, 0.2, 10.0), (0.03, 0.5, 10.0)])
def test_weights_sum_to_one_where_their_level_hardly_tells_them_apart(a, h, p):
    """(hμ)^{p−1} of a kernel without norm is so small that the level's last bits move its weight by hundredths."""
    assert power_simplex(np.array([0.0, a]), h, p).sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("power", [1, 3, 9])
def test_a_root_where_the_function_is_flat_is_as_near_as_the_search_came(power):
    assert increasing_root(lambda b: (b - 1 / 3) ** power, -1.0, 1.0) == pytest.approx(1 / 3, rel=1e-8)
    assert increasing_root(lambda b: b - 2, -1.0, 1.0) == 1


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_a_root_is_as_accurate_in_brackets_of_any_size(size):
    assert increasing_root(lambda x: (x / size) ** 3 - 0.3, 0.0, size) / size == pytest.approx(np.cbrt(0.3), rel=1e-14)


def test_a_function_that_is_positive_from_the_start_has_its_root_there():
    assert increasing_root(lambda x: x + 0.5, 0.0, 1.0) == 0.0
    assert increasing_root(lambda x: x - 2.5, 0.0, 1.0) == 1.0


@pytest.mark.parametrize("a", [[0.4, 0.0, 0.1, 0.0], [2.0, 0.0]])
@pytest.mark.parametrize("h", [0.05, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("p", [1.5, 2.0, 4.0])
def test_a_kernel_without_norm_has_weight_where_the_common_slope_is_positive(a, h, p):
    a = np.array(a)
    mu = power_simplex(a, h, p)
    assert mu.sum() == pytest.approx(1)
    used = a > 0
    slopes = (h * mu[used]) ** (p - 1) - a[used] ** 2 / (2 * mu[used] ** 2)
    level = slopes.mean()
    assert slopes == pytest.approx(level, rel=1e-6, abs=1e-9)
    assert (h * mu[~used]) ** (p - 1) == pytest.approx(max(level, 0.0), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("count", [2, 300])
def test_the_bisection_of_elastic_finds_what_newton_finds_at_any_size(count, size, monkeypatch):
    a = size * np.random.default_rng(count).uniform(0.1, 1.0, count)
    regulariser = formulations.get("elastic").regulariser
    expected = regulariser.best_weights(a / size, l1_ratio=0.4)
    assert regulariser.best_weights(a, l1_ratio=0.4) == pytest.approx(expected, rel=1e-10)
    monkeypatch.setattr(elastic, "newton_weights", lambda *_: None)
    assert regulariser.best_weights(a, l1_ratio=0.4) == pytest.approx(expected, rel=1e-8)
