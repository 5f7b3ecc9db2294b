"""The entropy of weights: U and R* are conjugate, weights optimal, and the certificate's numbers are from above."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from mklcvx import zoo
from mklcvx.certificate.regularisers import regulariser_of
from mklcvx.formulations import Task
from mklcvx.formulations._entropy import ENTROPY

SIGMAS = (1e-8, 0.03, 1.0, 1e6)


def norms(seed: int, count: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.2, 3.0, count)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_penalty_and_conjugate_are_fenchel_pairs(sigma):
    for seed in range(8):
        a, d = norms(seed) * (np.arange(4) != seed), norms(seed + 50)
        assert ENTROPY.penalty(a, smoothing=sigma) + ENTROPY.conjugate(d, smoothing=sigma) >= a @ d * (1 - 1e-12)
        t = np.exp((d**2 - (d**2).max()) / (2 * sigma))
        norm = t / t.sum() * d  # the gradient of the conjugate
        total = ENTROPY.penalty(norm, smoothing=sigma) + ENTROPY.conjugate(d, smoothing=sigma)
        assert total == pytest.approx(norm @ d, rel=1e-9, abs=1e-9 * sigma)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_no_other_weights_are_better(sigma):
    rng = np.random.default_rng(0)
    for a in (norms(1), np.array([0.0, 2.0, 1e-3, 0.0]), np.zeros(4)):
        mu = ENTROPY.regulariser.best_weights(a, smoothing=sigma)
        assert mu.sum() == pytest.approx(1)
        best = ENTROPY.penalty(a, smoothing=sigma)
        for other in (*rng.dirichlet(np.ones(4), 20), mu * [1.01, 1, 1, 1], mu * [1, 1, 0.99, 1]):
            other = other / other.sum()
            used = a > 0
            value = np.sum(a[used] ** 2 / other[used]) / 2 + ENTROPY.regulariser.value(other, smoothing=sigma).sum()
            assert value >= best - 1e-13 * (abs(best) + sigma)


def test_the_declared_primal_and_dual_agree():
    instance = zoo.random(16, 3, seed=4)
    task = Task(instance.kernels, instance.y, np.ones(16), own={"smoothing": 0.4})
    values = []
    for declare in (ENTROPY.declare_primal, ENTROPY.declare_dual):
        problem = declare(task).problem
        problem.solve()
        values.append(problem.value)
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    small = Task(instance.kernels, instance.y, np.ones(16), own={"smoothing": 1e-5})
    point = ENTROPY.lower(small, np.full(16, 0.5))
    assert point.value == pytest.approx(small.gain(point.alpha) - (point.roots**2).max() / 2, abs=1e-4)


def exactly(sigma: float, mu: np.ndarray, v: np.ndarray) -> tuple[Decimal, Decimal, Decimal]:
    """R, R* and their Fenchel gap."""
    s, weights, slopes = Decimal(sigma), [Decimal(w) for w in mu.tolist()], [Decimal(x) for x in v.tolist()]
    value = s * sum(w * w.ln() for w in weights if w > 0)
    top = max(slopes)
    conjugate = top + s * sum(((x - top) / s).exp() for x in slopes if (x - top) / s > -5000).ln()
    return value, conjugate, value + conjugate - sum(w * x for w, x in zip(weights, slopes, strict=True))


@pytest.mark.parametrize("sigma", SIGMAS)
def test_the_certificates_numbers_are_from_above_and_sharp(sigma):
    side, rng = regulariser_of("entropy", 4, {"smoothing": sigma}), np.random.default_rng(1)
    for width in (0.0, 1e-12, 1e-3):
        v = rng.uniform(0.5, 2.0, 4) * rng.choice([1.0, 1e-6], 4)
        best = np.exp((v - v.max()) / sigma)
        for weights in (best, best * rng.uniform(0.9, 1.1, 4), rng.dirichlet(np.ones(4)), np.eye(4)[0]):
            mu, low, high = side.feasible(weights), v * (1 - width), v * (1 + width)
            fenchel = side.fenchel(mu, low, high, None)
            with localcontext() as context:
                context.prec = 80
                for at in (low, high, v, np.where(rng.random(4) < 0.5, low, high)):
                    value, conjugate, gap = exactly(sigma, mu, at)
                    assert Decimal(side.value(mu)) >= value
                    assert Decimal(side.conjugate(high, None)) >= conjugate
                    assert Decimal(fenchel) >= gap
                value, conjugate, gap = exactly(sigma, mu, v)
                assert abs(Decimal(side.value(mu)) - value) <= Decimal("1e-14") * abs(value) + Decimal("1e-280")
                if not width:
                    assert fenchel <= 1.01 * float(gap) + 1e-12 * sigma
