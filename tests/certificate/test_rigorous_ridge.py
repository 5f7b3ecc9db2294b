"""Kernels that are not semidefinite: what the ridge δ pays for, met by optima in fractions and by points at random."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import flint
import numpy as np
import pytest
from test_rigorous_exact import exact_optimum

from mklcvx import Instance, formulations
from mklcvx.certificate.ball_arithmetic import polishing, single
from mklcvx.certificate.ball_arithmetic.balls import exacts
from mklcvx.certificate.ball_arithmetic.kernels import KernelBalls
from mklcvx.certificate.ball_arithmetic.samples import Samples
from mklcvx.formulations.losses import LOSSES

pytestmark = pytest.mark.slow

OWN = {
    "sm1": {"theta": 0.6}, "sm2": {"theta": 0.3}, "smp": {"theta": 0.7, "p": 1.7}, "square": {"theta": 0.6},
    "lp": {"p": 3.0}, "elastic": {"l1_ratio": 0.3}, "vskl": {"s": 3.0},
    "block_elastic": {"l1_ratio": 0.3}, "group_lasso": {"lam": 0.4},
}  # fmt: skip
SINGLE = [one.name for one in formulations.FORMULATIONS if one.family == "single task" and one.name != "svm"]


@pytest.fixture(autouse=True)
def _points_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(polishing, "LARGEST", 0)
    monkeypatch.setattr(single, "ROUNDS", 0)


def indefinite(rng, n, count):
    """Symmetric, of rank two up to parts of either sign."""
    draws = rng.integers(-6, 7, (count, n, n)) / 4
    factors = rng.integers(-4, 5, (count, n, 2)) / 4
    return factors @ factors.transpose(0, 2, 1) + (draws + draws.transpose(0, 2, 1)) / 4


def samples_drawn(rng, n, loss, bias):
    y = (1, -1, 1, -1, *(int(v) for v in rng.choice([-1, 1], n - 4)))
    box = rng.integers(1, 5, n) / 2 if loss == "c" else rng.integers(2, 5, n) / 8
    return Samples.hinges(y, exacts(box), LOSSES[loss].free_margin, bias)


def alpha_drawn(rng, samples):
    """Somewhere in the box, often at its bounds."""
    shares = rng.choice([0.0, 1.0, rng.uniform()], len(samples.signs))
    return samples.feasible([one.high * share for one, share in zip(samples.losses, exacts(shares), strict=True)])


@pytest.mark.parametrize("loss", ["c", "nu"])
@pytest.mark.parametrize("bias", [True, False])
def test_optima_of_indefinite_kernels_are_enclosed(bias, loss):
    rng = np.random.default_rng([bias, loss == "nu"])
    for _ in range(8):
        kernel, samples = indefinite(rng, 5, 1), samples_drawn(rng, 5, loss, bias)
        box = [Fraction(int(one.high.p), int(one.high.q)) for one in samples.losses]
        best = exact_optimum([[Fraction(v) for v in row] for row in kernel[0]], samples.signs, box, loss, bias)
        with flint.ctx.workprec(128):
            value, balls = flint.arb(flint.fmpq(best.numerator, best.denominator)), KernelBalls(kernel)
            for _ in range(5):
                alpha, zero = alpha_drawn(rng, samples), flint.arb(0)
                found = single.Machine(samples, balls).at_point([flint.fmpq(1)], zero, lambda q: q[0] / 2, alpha)
                assert found.lower <= value <= found.upper


@pytest.mark.parametrize("own_coefficients", [False, True])
@pytest.mark.parametrize("name", SINGLE)
def test_no_lower_bound_exceeds_an_upper_one(name, own_coefficients):
    """Bounds of different points: what one α proves from below, another point may not deny from above."""
    rng = np.random.default_rng([SINGLE.index(name), own_coefficients])
    chosen = formulations.get(name)
    for loss in chosen.losses:
        for bias in (True, False):
            kernels, samples = indefinite(rng, 6, 3), samples_drawn(rng, 6, loss, bias)
            shape = Instance(np.stack([np.eye(6)] * 3), samples.signs, groups=[0, 0, 1])
            task, _ = chosen.task(shape, OWN.get(name, {}))
            balls, enclosures = KernelBalls(kernels), []
            for _ in range(12):
                alpha = np.array([float(v.p) / float(v.q) for v in alpha_drawn(rng, samples)])
                weights = rng.choice([0.0, 0.3, 1.0], 3) + 0.01
                signed = weights[:, None] * (alpha * samples.signs)
                coefficients = signed + rng.normal(size=(3, 6)) / 1000 if own_coefficients else None
                point = SimpleNamespace(alpha=alpha, weights=weights, coefficients=coefficients, multipliers={})
                with flint.ctx.workprec(128):
                    enclosures.append(single.bounds(chosen, task, single.Machine(samples, balls), point))
            assert all(not one.lower > other.upper for one in enclosures for other in enclosures)


@pytest.mark.parametrize("name", ["li", "ckl", "vskl"])
def test_functions_without_norm_cost_their_ridge(name):
    """K = −I: f = −Kc separates the samples at c'Kc < 0, and no α pays for √max(q, 0)."""
    chosen, samples = formulations.get(name), Samples.hinges((1, -1), exacts([3.0, 3.0]), bias=False)
    task, _ = chosen.task(Instance(np.eye(2)[None], [1, -1], groups=[0]), {})
    point = SimpleNamespace(
        alpha=np.full(2, 3.0), weights=np.ones(1), coefficients=np.array([[-1.0, 1.0]]), multipliers={}
    )
    with flint.ctx.workprec(128):
        found = single.bounds(chosen, task, single.Machine(samples, KernelBalls(-np.eye(2)[None])), point)
    assert found.lower == 6
    assert 6 <= found.upper <= 24
