"""`auto`: its answer is not worse than that of `clarabel`, where that takes less than a minute."""

import math

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mklcvx import Instance, solve
from mklcvx.certificate.record import CertifiedPoint
from mklcvx.certificate.run import Run
from mklcvx.formulations import LowerBound, RankOneCoefficients, UpperBound
from mklcvx.formulations.losses import Risk
from mklcvx.solvers.solving import _enough


def hostile(seed, samples=70):
    """Seven kernels in groups, of sizes from 1e-5 to 1e5: two alike, a constant one, one of rank one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, 4))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(samples) > 0, 1.0, -1.0)
    constant = np.full((samples, samples), 10.0 ** rng.integers(-3, 4))
    kernels = [1e-5 * (X @ X.T), 1e4 * rbf_kernel(X, gamma=0.3), constant]
    kernels += [
        10.0 ** rng.integers(-5, 5) * part
        for part in (np.outer(X[:, 0], X[:, 0]), rbf_kernel(X, gamma=1.0), rbf_kernel(X[:, :2], gamma=0.1))
    ]
    kernels.insert(2, kernels[int(rng.integers(0, 2))])
    return Instance(np.stack([(one + one.T) / 2 for one in kernels]), y, groups=[0, 0, 1, 1, 2, 2, 2])


@pytest.mark.parametrize(("seed", "name"), [(6, "ckl"), (21, "ckl"), (10, "li"), (23, "li"), (31, "li")])
def test_auto_is_not_worse_than_clarabel(seed, name):
    instance = hostile(seed)
    one, other = (solve(instance, name, C=1.0, solver=solver) for solver in ("auto", "clarabel"))
    assert one.certified or one.certificate.gap <= other.certificate.gap


def test_nothing_known_is_not_enough():
    """Infinite bounds, whose rounding is infinite too."""
    lower = LowerBound(-math.inf, np.zeros(2), np.zeros(1), 0.0)
    upper = UpperBound(
        math.inf,
        RankOneCoefficients(np.zeros(1), np.zeros(2)),
        np.zeros(1),
        Risk(0.0, 0.0, (0.0, 0.0), None, 0.0),
        math.inf,
    )
    assert not _enough(CertifiedPoint(lower, upper, 1.0), Run(), 1e-8)
