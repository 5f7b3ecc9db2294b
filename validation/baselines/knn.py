"""knn — k nearest neighbours in the feature space of the average kernel.

    K̄ = (1/M) Σ_m K_m,        D²(x, x_i) = K̄(x, x) − 2 K̄(x, x_i) + K̄(x_i, x_i)

The k training samples nearest to x vote with their weights; ties in distance are broken by order. The term K̄(x, x) is
the same for all x_i, so that the neighbours do not depend on the diagonal of the test kernels.

    decision   for y, the mean of the neighbours' labels, in [−1, 1]; for classes, every class's share of the votes;
               for labels, the share of the neighbours that have it, less ½

There is no optimisation problem and no certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklcvx.problem.numbers import is_whole
from mklcvx.problem.targets import Targets, decided
from mklcvx.problem.validation import check_test_stack

from ._machines import each_kernel
from ._model import Array, InputError, Instance


@dataclass(frozen=True, eq=False)
class Neighbours:
    """`lengths` are K̄(x_i, x_i); `votes` (n, k) are the targets of the training samples."""

    targets: Targets
    count: int
    neighbours: int
    lengths: Array
    votes: Array
    sample_weight: Array

    def nearest(self, test_kernels: ArrayLike) -> NDArray[np.intp]:
        """The training samples nearest to each new one, (t, k), the nearest first."""
        stack = check_test_stack(test_kernels, self.count, len(self.lengths))
        mean = np.zeros(stack.shape[1:])
        for kernel in stack:
            mean += np.asarray(kernel, dtype=float) / self.count
        return np.argsort(self.lengths - 2 * mean, axis=1, kind="stable")[:, : self.neighbours]

    def decision_function(self, test_kernels: ArrayLike) -> Array:
        """The mean vote of the neighbours of new samples, (t,) for y, else (t, k), from test kernels (M, t, n)."""
        chosen = self.nearest(test_kernels)
        weight = self.sample_weight[chosen]
        values = np.einsum("ti,tic->tc", weight, self.votes[chosen]) / weight.sum(axis=1, keepdims=True)
        if self.targets.kind == "labels":
            return np.asarray(values - 0.5)
        return values[:, 0] if self.targets.kind == "y" else values

    def predict(self, test_kernels: ArrayLike) -> NDArray[Any]:
        """−1 and +1; or the class with most votes, the first in case of a tie; or labels 0 and 1. Zero counts as +1."""
        return decided(self.decision_function(test_kernels), self.targets.kind, self.targets.predicted_classes())


def knn(instance: Instance, neighbours: int = 5) -> Neighbours:
    """k nearest neighbours on the average kernel."""
    if not is_whole(neighbours, 1, instance.samples):
        raise InputError(
            f"neighbours = {neighbours}: give a whole number between 1 and {instance.samples}, the number of samples"
        )
    lengths = np.zeros(instance.samples)
    for kernel in each_kernel(instance):
        lengths += np.diagonal(kernel) / instance.count
    targets = instance.targets
    votes = targets.values[:, None] if targets.kind == "y" else targets.indicators("knn")
    return Neighbours(targets, instance.count, neighbours, lengths, votes, instance.sample_weight)
