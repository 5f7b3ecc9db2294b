"""What implementers of faster solvers get wrong: answers that come from really solving the wrong problem.

A blunder has the problem that was set, the answer that came back, what its author did, and what a report has to say
for the author to find the fault: a pattern over the diagnosis's name, words and remedy. The expectations
were written down, from the documentation alone, before the judge was run on any of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklcvx import Instance, Solution, solve

Array = NDArray[np.float64]
Answer = dict[str, Any]
N = 20


@dataclass(frozen=True)
class Blunder:
    name: str
    formulation: str
    did: str
    says: str  # any of these, as a regular expression over what the report says
    answer: Callable[[], Answer]
    set: Callable[[], Instance]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tol: float = 1e-6

    def named_by(self, said: str) -> bool:
        return re.search(self.says, said, re.IGNORECASE) is not None


BLUNDERS: list[Blunder] = []


def blunder(
    formulation: str, did: str, says: str, *, on: Callable[[], Instance], tol: float = 1e-6, **parameters: Any
) -> Callable[[Callable[[], Answer]], Callable[[], Answer]]:
    """Enter the decorated function, which returns the wrong answer, into the list."""

    def enter(answer: Callable[[], Answer]) -> Callable[[], Answer]:
        BLUNDERS.append(Blunder(answer.__name__, formulation, did, says, answer, on, parameters, tol))
        return answer

    return enter


def all_of(solution: Solution, *leaving_out: str) -> Answer:
    """What a careful author hands over: everything."""
    parts = {
        "weights": solution.weights,
        "alpha": solution.alpha,
        "bias": solution.bias,
        "objective": solution.objective,
    }
    return {name: value for name, value in parts.items() if value is not None and name not in leaving_out}


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
