"""What implementers of faster solvers get wrong: answers that come, for the most part, from really solving the wrong
problem, on one small instance with labels ±1 and one with label sets.

With each is a pattern for what a report has to say so that its author finds the fault, written from the documentation
alone and before the judge was run on any of them. It rejected every one and named 78 of 112; what it
has learned since is in `named`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklcvx import Instance, Solution, solve
from wrong_answers import WrongAnswer, register

Array = NDArray[np.float64]
BLUNDERS: list[WrongAnswer] = []
mistake = register(BLUNDERS)
N = 20


@cache
def features() -> Array:
    return np.random.default_rng(41).normal(size=(N, 4))


def gaussian(x: Array, gamma: float) -> Array:
    return np.exp(-gamma * ((x[:, None] - x[None]) ** 2).sum(axis=2))


@cache
def kernels() -> Array:
    """Two widths, a linear and a quadratic kernel, of unlike traces, all positive definite by a little."""
    x = features()
    stack = np.stack(
        [gaussian(x[:, :2], 0.7), gaussian(x[:, 1:], 0.15), x @ x.T, 0.3 * (1 + x[:, ::2] @ x[:, ::2].T) ** 2]
    )
    return stack + 1e-3 * np.eye(N)


@cache
def signs() -> Array:
    """Eight of twenty are positive, so that classes cannot be exchanged unnoticed."""
    x = features()
    score = x[:, 0] + 0.7 * x[:, 1] * x[:, 2] + 0.6 * np.random.default_rng(42).normal(size=N)
    return np.where(score > np.sort(score)[-9], 1.0, -1.0)


@cache
def single() -> Instance:
    return Instance(kernels(), signs(), groups=[[0, 1], [2, 3]])


@cache
def labelled() -> Instance:
    x = features()
    noise = np.random.default_rng(43).normal(size=(N, 3))
    return Instance(kernels(), labels=(x[:, :3] + 0.6 * noise > [0.3, -0.2, 0.6]).astype(int))


def with_kernels(instance: Instance, stack: Array, **others: Any) -> Instance:
    """The same targets with other kernels."""
    return Instance(stack, groups=instance.groups, **{instance.targets.kind: instance.targets.values}, **others)


def centred(stack: Array) -> Array:
    h = np.eye(stack.shape[1]) - 1 / stack.shape[1]
    return h @ stack @ h


def unit_diagonal(stack: Array) -> Array:
    roots = np.sqrt(np.einsum("mii->mi", stack))
    return stack / (roots[:, :, None] * roots[:, None, :])


def unit_trace(stack: Array) -> Array:
    return stack / np.einsum("mii->m", stack)[:, None, None]


def solved(
    formulation: str, stack: Array | None = None, on: Callable[[], Instance] = single, **parameters: Any
) -> Solution:
    instance = on() if stack is None else with_kernels(on(), stack)
    return solve(instance, formulation, **parameters)


@cache
def l1_right() -> Solution:
    return solved("l1", C=1.0)
