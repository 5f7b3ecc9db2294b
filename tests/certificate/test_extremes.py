"""No number that an instance accepts is an exception: it is a status, with bounds that do not cross."""

from __future__ import annotations

import json
import math

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
