"""Optima chosen first, and problems built around them: `planted` in floating point, known to about 1e-12, and the plans
of specimens in whole numbers, known exactly.

C = 1, and a third of the samples has α = 0, a third ½, a third 1, the same in both classes, so that y'α = 0. Margins
fit: 1 where α = ½, more where it is 0, less where it is 1, and such that β'h = 16 with β = α∘y and h = y∘margins − b.

A plan for a formulation of family A or `li` has weights μ and sizes c with w = Σ μ_m c_m a power of two. With u = h/w
and s = β'u = 16/w, kernel m is

    K_m = c_m u_m u_m'/s + F F',    u_m = u + z_m t,    β't = 0,  F'β = 0,  Σ μ_m c_m z_m = 0.

Then K_mβ = c_m u_m and q_m(α) = c_m s, so Σ μ_m K_mβ = h: the classifier has the margins above, and (α, h, b) satisfies
the conditions of the SVM with kernel Σ μ_m K_m. If μ_m is what the formulation derives from q, the pair (α, μ) is
optimal, and the value is 1'α − R*(½q). Numbers are few bits long: nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError
from ..problem.instance import Instance
from .generators import generator, labels_of
from .grid import Array, Draws, quantised

SAMPLES, FREE, BOUND, BIAS = 48, 0.5, 1.0, 0.25
SIZE = 16.0  # β'h


@dataclass(frozen=True)
class Optimum:
    """What is known of a solution without any solver; what is not known, or not unique, is None."""

    formulation: str
    parameters: Mapping[str, Any]
    value: float
    weights: Array | None = None
    alpha: Array | None = None
    bias: float | None = None


@dataclass(frozen=True)
class Plan:
    """Weights μ, sizes c and tilts z, kernel by kernel, and the value that R* makes of them."""

    name: str
    special: str
    formulation: str
    weights: tuple[float, ...]
    sizes: tuple[float, ...]
    tilts: tuple[int, ...]
    value: float
    parameters: Mapping[str, float] = field(default_factory=dict)


# 1'α = 24. The values are 24 − R*(½q) with q = c·16/w.
PLANS = (
    Plan("planted-l1", "two kernels tied and used, four worse ones; a third of the samples at each bound",
         "l1", (1 / 2, 1 / 2, 0, 0, 0, 0), (1, 1, 1 / 2, 1 / 2, 1 / 4, 1 / 4), (1, -1, 1, 2, 0, 1), 16.0),
    Plan("planted-l1-unequal", "two kernels tied, weights ¾ and ¼; another one close behind",
         "l1", (3 / 4, 1 / 4, 0, 0), (1, 1, 7 / 8, 1 / 2), (1, -3, 2, 1), 16.0),
    Plan("planted-sm1", "two kernels at the box θ = ½, one three times as good as the other",
         "sm1", (1 / 2, 1 / 2, 0, 0), (3, 1, 1 / 2, 1 / 4), (1, -3, 1, 2), 16.0, {"theta": 0.5}),
    Plan("planted-sm2", "three kernels used, weights ½, ¼, ¼",
         "sm2", (1 / 2, 1 / 4, 1 / 4, 0), (65 / 64, 63 / 64, 63 / 64, 1 / 2), (0, 1, -1, 1), 16.1875, {"theta": 1.0}),
    Plan("planted-square", "weights 3, 2, 1, 1, 1 and a kernel that α cannot see",
         "square", (3, 2, 1, 1, 1, 0), (3, 2, 1, 1, 1, 0), (1, -2, -1, 0, 0, 0), 20.0, {"theta": 2.0}),
    Plan("planted-l2", "four kernels tied, weights ½ each, and one that α cannot see",
         "l2", (1 / 2,) * 4 + (0,), (1, 1, 1, 1, 0), (1, -1, 2, -2, 0), 16.0),
    Plan("planted-li", "λ = ½, ¼, ¼: every kernel's norm the same",
         "li", (1, 2, 2), (4, 1, 1), (1, -1, -1), 16.0),
)  # fmt: skip


def built(plan: Plan, seed: int) -> tuple[Instance, Optimum]:
    """The problem around a plan, and its optimum."""
    draws, y = Draws(seed), np.repeat([1.0, -1.0], SAMPLES // 2)
    alpha = np.tile(np.repeat([0.0, FREE, BOUND], SAMPLES // 6), 2)
    target = y * _margins(draws, alpha) - BIAS
    share = sum(weight * size for weight, size in zip(plan.weights, plan.sizes, strict=True))
    base, tilt = target / share, _perpendicular(draws, 2)
    kernels = []
    for size, slope in zip(plan.sizes, plan.tilts, strict=True):
        image = base + slope * tilt / 4
        factor = np.stack([_perpendicular(draws, 2) for _ in range(SAMPLES // 2)], axis=1)
        kernels.append(size * np.outer(image, image) * (share / SIZE) + factor @ factor.T / 32)
    order = draws.order(SAMPLES)  # so that nothing can be read off the order of the samples
    stack = quantised(np.stack(kernels))[:, order][:, :, order]
    known = plan.value, np.array(plan.weights), alpha[order], BIAS
    optimum = Optimum(plan.formulation, {"C": BOUND, **plan.parameters}, *known)
    return Instance(stack, y[order], groups=np.arange(len(stack)) // 2), optimum


def _margins(draws: Draws, alpha: Array) -> Array:
    """1 for free samples, 9/8 to 2 for α = 0, and for α = 1 eighths around ½ whose mean is ½."""
    margins = np.ones(len(alpha))
    zero, bound = alpha == 0, alpha == BOUND
    margins[zero] += draws.whole(1, 8, int(zero.sum())) / 8
    around = draws.whole(-3, 3, int(bound.sum()) // 2) / 8
    margins[bound] = 0.5 + np.concatenate([around, -around])
    return margins


def _perpendicular(draws: Draws, largest: int) -> Array:
    """Whole numbers t with β't = 0: samples of equal α come in pairs, one of each class, and t is the same for both."""
    half = draws.whole(-largest, largest, SAMPLES // 2).astype(float)
    return np.concatenate([half, half])


# --------------------------------------------------------------------------------------------------- floating point
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
    rng = generator(n, M, seed, C=C)
    y = labels_of(n, 0.5)
    alpha, bias = _planted_alpha(y, C, rng), BIAS
    beta = alpha * y
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
        mapping = np.outer(image, image) / (beta @ image)  # of rank one, positive semidefinite, with Kβ = image
        kernels[m] = shrink * (mapping + _blind_to(beta, rng))
    value = float(alpha.sum()) - float(beta @ target) / 2
    weights = np.where(np.arange(M) < 2, 0.5, 0.0)
    return Planted(Instance(kernels, y, groups=np.arange(M) // 2), C, value, weights, alpha, bias)


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


def _blind_to(beta: Array, rng: np.random.Generator) -> Array:
    """A PSD matrix with Kβ = 0."""
    factor = rng.normal(size=(len(beta), len(beta) // 2)) / np.sqrt(len(beta))
    factor -= np.outer(beta, beta @ factor) / (beta @ beta)
    return factor @ factor.T
