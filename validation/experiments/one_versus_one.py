"""Many classes by pairs: a machine for each two classes, every machine along the same prices, and their votes.

The class with most votes wins; among equals the one whose machines are surer, as scikit-learn's SVC decides it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mklcvx
from mklcvx.solvers.one_against import each_by_machines

Array = NDArray[np.float64]
Kernels = Callable[[NDArray[np.intp], NDArray[np.intp]], tuple[Array, Array]]
"""Of training and other samples: the training kernels (M, n, n), and those (M, t, n) between the two."""


@dataclass(frozen=True)
class Voted:
    """Predictions of classes for every price, (prices, t), and the largest certified gap of the machines."""

    classes: NDArray[Any]
    gap: float

    def accuracies(self, truth: NDArray[Any]) -> Array:
        return np.asarray(np.mean(self.classes == truth, axis=1))


def voted(
    kernels: tuple[Array, Array],
    classes: NDArray[Any],
    formulation: str,
    prices: Sequence[float],
    groups: Sequence[int] | None,
    tol: float,
) -> Voted:
    """The machines of all pairs for training kernels and their votes on the other samples."""
    stack, to_test = kernels
    instance = mklcvx.Instance(stack, classes=classes, groups=groups)
    answers = list(each_by_machines(instance, formulation, [{"C": price} for price in prices], "ovo", tol=tol))
    gap = max(machine.certificate.relative_gap for answer in answers for machine in answer.solutions)
    return Voted(np.stack([answer.predict(to_test) for answer in answers]), gap)


def tuned(
    kernels: Kernels,
    classes: NDArray[Any],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    formulation: str,
    prices: Sequence[float],
    *,
    groups: Sequence[int] | None = None,
    folds: int = 3,
    seed: int = 0,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Accuracies in the folds and on test samples for every price, and the test accuracy of the price chosen by folds.

    Kernels are fitted anew in every fold; of equal prices the middle one is chosen.
    """
    from sklearn.model_selection import StratifiedKFold

    inner, gap = np.zeros(len(prices)), 0.0
    for fit, held in StratifiedKFold(folds, shuffle=True, random_state=seed).split(train, classes[train]):
        found = voted(kernels(train[fit], train[held]), classes[train[fit]], formulation, prices, groups, tol)
        inner += found.accuracies(classes[train[held]]) * len(held) / len(train)
        gap = max(gap, found.gap)
    found = voted(kernels(train, test), classes[train], formulation, prices, groups, tol)
    outer, equal = found.accuracies(classes[test]), np.flatnonzero(inner >= inner.max() - 1e-9)
    best = int(equal[(len(equal) - 1) // 2])
    return {
        "C": prices[best],
        "accuracy": float(outer[best]),
        "inner": inner.tolist(),
        "outer": outer.tolist(),
        "gap": max(gap, found.gap),
    }
