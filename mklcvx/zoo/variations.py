"""Variations on the constructions: clouds with one thing changed, label sets with one thing odd, and optima known from
an argument instead of a solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..problem.instance import Instance
from .constructions import clouds, labelled, pairs, signs
from .plans import Optimum

SMALL_PRICE = 2.0**-7


def clouds_with(change: Callable[[Any, Any], Instance], n: int, M: int, seed: int, **options: Any) -> Instance:
    return change(*clouds(n, M, seed, **options))


def grouped(kernels: Any, y: Any, **more: Any) -> Instance:
    return Instance(kernels, y, groups=pairs(len(kernels)), **more)


# ----------------------------------------------------------------------------------------------------------- changes
def scaled(power: int | tuple[int, ...], kernels: Any, y: Any) -> Instance:
    return grouped(np.ldexp(kernels, np.reshape(power, (-1, 1, 1))), y)


def twins(kernels: Any, y: Any) -> Instance:
    return grouped(np.concatenate([kernels, kernels]), y)


def all_equal(kernels: Any, y: Any) -> Instance:
    return grouped(np.repeat(kernels[:1], 4, axis=0), y)


def with_extra(extra: Callable[[int], Any], kernels: Any, y: Any) -> Instance:
    return grouped(np.concatenate([kernels, extra(len(y))[None]]), y)


def contradicting(kernels: Any, y: Any) -> Instance:
    """Every sample twice, once with each label."""
    twice = np.tile(np.arange(len(y)), 2)
    return grouped(kernels[:, twice][:, :, twice], signs(2 * len(y)))


def repeated(kernels: Any, y: Any) -> Instance:
    """Every sample three times, with its label."""
    thrice = np.repeat(np.arange(len(y)), 3)
    return grouped(kernels[:, thrice][:, :, thrice], y[thrice])


def weighted(kernels: Any, y: Any) -> Instance:
    return grouped(kernels, y, sample_weight=np.where(y > 0, 19.0, 1.0))


def identities(seed: int) -> Instance:
    del seed
    return Instance(np.stack([np.eye(12)] * 3), signs(12), groups=[0, 0, 1])


# ------------------------------------------------------------------------------------------------------ known optima
def at_the_bound(n: int, M: int, seed: int) -> Optimum:
    """With |f| < 1 everywhere, α = C for all samples: the value is nC − ½C² max y'K_m y."""
    kernels, y = clouds(n, M, seed)
    q = np.array([y @ kernel @ y for kernel in kernels])
    value = n * SMALL_PRICE - SMALL_PRICE**2 * float(q.max()) / 2
    best = np.where(q == q.max(), 1.0, 0.0)
    return Optimum("l1", {"C": SMALL_PRICE}, value, best, np.full(n, SMALL_PRICE))


def hopeless(n: int) -> Optimum:
    """The two slacks of a sample and its contradiction sum to 2 at least: f = 0 is optimal, and α = C."""
    return Optimum("l1", {"C": 1.0}, float(n), None, np.ones(n))


def worked_out() -> Optimum:
    return Optimum("l1", {"C": 1.0}, 9 / 8, np.array([2 / 3, 1 / 3]), None, 0.0)


# ------------------------------------------------------------------------------------------------------------ labels
def labels(n: int, M: int, k: int, seed: int) -> Instance:
    kernels, members = labelled(n, M, k, seed)
    return Instance(kernels, labels=members)


def dependent(n: int, M: int, k: int, seed: int) -> Instance:
    kernels, members = labelled(n, M, k, seed)
    return Instance(kernels, labels=np.column_stack([members, members[:, 0]]))


def unlabelled(n: int, M: int, k: int, seed: int) -> Instance:
    kernels, members = labelled(n, M, k, seed)
    members[-n // 4 :] = 0
    return Instance(kernels, labels=members)


def rare(n: int, M: int, k: int, seed: int) -> Instance:
    kernels, members = labelled(n, M, k, seed)
    members[:, -1] = np.arange(n) == n - 1
    return Instance(kernels, labels=members)


def classes(n: int, M: int, k: int, seed: int) -> Instance:
    kernels, members = labelled(n, M, k, seed, overlap=k)
    return Instance(kernels, classes=np.argmax(members, axis=1))
