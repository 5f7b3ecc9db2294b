"""Optima chosen first, and problems built around them, in floating point: known to about 1e-12."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..problem.instance import Instance
from .generators import labels_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Planted:
    """An instance of `l1` with its optimum: value, weights, α and bias were chosen first."""

    instance: Instance
    C: float
    value: float
    weights: Array
    alpha: Array
    bias: float


def planted(n: int = 60, M: int = 6, C: float = 1.0, seed: int = 0) -> Planted:
    """A problem of `l1` built around its solution: a third of the samples at each bound, two kernels tied and
    used, the others strictly worse.

    First α and b, then margins that fit them: 1 for free samples, above for α = 0, below for α = C. With
    β = α∘y the two kernels map β to h + t and h − t, where h = y∘margins − b and t ⟂ β: half of each makes f = h,
    and both have q = β'h. The rest map β likewise but are smaller. A PSD matrix that kills β fills every kernel up.
    """
    rng = np.random.default_rng(seed)
    y = labels_of(n, 0.5)
    alpha = _planted_alpha(y, C, rng)
    beta = alpha * y
    bias = 0.25
    margins = np.where(alpha == 0, 1 + rng.uniform(0.1, 1, n), np.where(alpha == C, rng.uniform(-0.5, 0.9, n), 1.0))
    target = y * margins - bias
    tilt = rng.normal(size=n)
    tilt -= beta * (beta @ tilt) / (beta @ beta)
    if beta @ target <= 0:
        raise InputError(f"seed {seed} plants no solution: choose another seed")
    kernels = np.empty((M, n, n))
    for m in range(M):
        image = target + (tilt if m % 2 == 0 else -tilt)
        shrink = 1.0 if m < 2 else 0.8 / m
        kernels[m] = shrink * (_mapping(beta, image) + _blind_to(beta, rng))
    half_q = float(beta @ target) / 2
    weights = np.zeros(M)
    weights[:2] = 0.5
    instance = Instance(kernels, y, groups=np.arange(M) // 2)
    return Planted(instance, C, float(alpha.sum()) - half_q, weights, alpha, bias)


def _planted_alpha(y: Array, C: float, rng: np.random.Generator) -> Array:
    """A third at zero, a third at C, a third between, the same sums in both classes."""
    alpha = np.empty(len(y))
    for side in (y > 0, y < 0):
        count = int(side.sum())
        third = count // 3
        free = rng.uniform(0.2, 0.8, count - 2 * third)
        free += 0.5 - free.mean()
        alpha[side] = rng.permutation(np.concatenate([np.zeros(third), np.full(third, C), C * free]))
    return alpha


def _mapping(beta: Array, image: Array) -> Array:
    """The rank-one PSD matrix with Kβ = image; needs β'image > 0."""
    return np.outer(image, image) / (beta @ image)


def _blind_to(beta: Array, rng: np.random.Generator) -> Array:
    """A PSD matrix with Kβ = 0."""
    factor = rng.normal(size=(len(beta), len(beta) // 2)) / np.sqrt(len(beta))
    factor -= np.outer(beta, beta @ factor) / (beta @ beta)
    return factor @ factor.T
