"""Products in slices where they are needed, and a δ that is as sharp as the tolerance needs."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mklcvx import Instance, LowRank, formulations, solve
from mklcvx.certificate import Certificate, ridge
from mklcvx.certificate.passes import seen
from mklcvx.certificate.proving import with_ridge
from mklcvx.certificate.record import ProvedPoint, refined_step_by_step
from mklcvx.certificate.regularisers import regulariser_of
from mklcvx.certificate.single import Evaluation
from mklcvx.problem.stack import KernelStack


def balanced(rng, n):
    """β with Σβ = 0 exactly, of numbers with few bits."""
    half = np.round(rng.uniform(0, 1, n // 2) * 2.0**30) / 2.0**30
    return rng.permutation(np.concatenate([half, -half]))


@pytest.mark.parametrize("low", [False, True])
def test_the_kernels_that_are_chosen_are_sliced_and_the_others_are_not(low):
    rng = np.random.default_rng(4)
    factors = rng.normal(size=(3, 20, 6))
    stack = KernelStack(LowRank(list(factors)) if low else factors @ factors.transpose(0, 2, 1))
    beta, chosen = balanced(rng, 20), np.array([True, False, True])
    mixed, plain, sliced = (seen(stack, beta, True, which) for which in (chosen, False, True))
    for name in ("z", "error", "shift", "low", "high"):
        assert_array_equal(getattr(mixed, name)[chosen], getattr(sliced, name)[chosen])
        assert_array_equal(getattr(mixed, name)[~chosen], getattr(plain, name)[~chosen])
    assert (mixed.error[chosen] < plain.error[chosen]).all()
    if not low:
        for m, kernel in enumerate(np.asarray(stack.kernels)):
            entries = ((Fraction(beta[i]), Fraction(kernel[i, j]), Fraction(beta[j])) for i, j in np.ndindex(20, 20))
            square = sum(a * k * b for a, k, b in entries)
            assert mixed.low[m] <= square <= mixed.high[m]


@pytest.mark.parametrize(("settles", "asked"), [(0, 1), (1, 2), (2, 3)])
def test_more_is_sliced_until_it_is_settled(settles, asked):
    used, tried = np.array([True, False]), []

    def evaluate(sliced):
        tried.append(sliced)
        return ProvedPoint(Certificate(1.0, 1.0 + 2.0**-40, 1.0, rounding=0.0 if len(tried) > settles else 2.0**-40))

    refined_step_by_step(evaluate, used, 1e-15)
    assert [one is which for one, which in zip(tried, (False, used, True)[:asked], strict=True)] == [True] * asked


def close_kernels(n=280):
    """Gaussians so wide that their sums are semidefinite up to rounding only."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 2))
    squares = ((features[:, None] - features) ** 2).sum(axis=-1)
    y = np.where(features[:, 0] + rng.normal(size=n) > 0, 1, -1)
    return Instance(np.exp(-np.array([0.3, 0.1])[:, None, None] * squares), y)


def test_no_sharper_ridge_is_sought_than_the_tolerance_needs(monkeypatch):
    instance = close_kernels()
    task, _ = formulations.get("sum").task(instance, {"C": 1.0})
    found = solve(instance, "sum", C=1.0, tol=1e-10)
    at = Evaluation(regulariser_of("sum", 2, task.own), task, found.alpha, np.ones(2), True)
    plain = next(ridge.ridge_bounds(task.combined(np.ones(2)), 0.0))
    bare, cost = at.bounds(0.0).certificate, at.bounds(1.01 * plain).certificate.gap
    share = cost - bare.gap
    assert 0 < 1.01 * plain * 0.01 < share  # not negligible
    enough, scarce = ((bare.gap + times * share) / bare.scale for times in (4, 1.5))
    sharper = with_ridge(at, at.bounds(0.0), scarce).certificate
    assert sharper.proves(scarce)
    assert sharper.ridge < plain / 2
    monkeypatch.setattr(ridge, "_apart_by_blocks", None)  # what would be asked for next
    first = with_ridge(at, at.bounds(0.0), enough).certificate
    assert first.proves(enough)
    assert first.ridge == pytest.approx(plain, rel=0.1)
