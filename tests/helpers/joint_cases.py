"""Small problems with several outputs: classes of unequal size and weight, and responses with three columns."""

from __future__ import annotations

import numpy as np

from mklcvx import Instance, formulations

FOR_CLASSES = ("crammer_singer", "softmax")
FOR_RESPONSES = ("squared", "epsilon_insensitive", "absolute", "squared_epsilon_insensitive", "huber", "quantile")
WITH_WEIGHTS = tuple(f.name for f in formulations.SINGLE_TASKS if f.between is None and not f.single_kernel)


def kernels(samples=15, count=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(samples, 3))
    distances = ((X[:, None] - X) ** 2).sum(axis=-1)
    return X, np.exp(-(4.0 ** -np.arange(count))[:, None, None] * distances)


def classes(samples=15, count=3, outputs=3, seed=0):
    rng = np.random.default_rng(seed + 1)
    names = np.concatenate([np.arange(outputs), rng.integers(0, outputs, samples - outputs)])
    return Instance(kernels(samples, count, seed)[1], classes=names, sample_weight=rng.uniform(0.5, 2.0, samples))


def responses(samples=15, count=3, outputs=3, seed=0):
    rng = np.random.default_rng(seed + 1)
    X, stack = kernels(samples, count, seed)
    response = X[:, :1] + rng.normal(size=(samples, outputs))
    return Instance(stack, response=response, sample_weight=rng.uniform(0.5, 2.0, samples))


def posed(instance, name, **given):
    """The formulation posed for the instance, and its task."""
    formulation = formulations.get(name).posed_for(instance, given)
    return formulation, formulation.task(instance, given)[0]
