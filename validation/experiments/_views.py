"""Samples with several groups of features, and the kernels of each group, fitted on the samples that train."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklcvx.problem.kernels import Gaussian, Kernel, KernelBank, MeanDistance
from mklcvx.problem.preprocessing import Preprocessing

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
View = tuple[str, list[int], list[Kernel]]


@dataclass(frozen=True)
class FeatureViews:
    """Features, targets, and the kernels of each view; centred ones are for machines without bias."""

    features: Array
    targets: NDArray[Any]
    views: list[View]
    standardised: bool = True
    centred: bool = False

    @property
    def names(self) -> list[str]:
        return [f"{kernel.name}[{name}]" for name, _, kernels in self.views for kernel in kernels]

    @property
    def groups(self) -> list[int]:
        return [i for i, (_, _, kernels) in enumerate(self.views) for _ in kernels]

    def kernels(self, train: Rows, test: Rows) -> tuple[Array, Array]:
        """Kernels (M, n, n) and (M, t, n), fitted on the training part: each of trace n, centred before where asked."""
        x, z = self._scaled(train, test)
        banks = [(KernelBank(kernels).fit(x[:, view]), view) for _, view, kernels in self.views]
        stack = np.concatenate([bank.stack() for bank, _ in banks])
        to_test = np.concatenate([bank.stack(z[:, view]) for bank, view in banks])
        steps = Preprocessing.from_options(centre=self.centred, normalise="trace").fit(stack, names=self.names)
        return steps.train(stack) * len(x), steps.test(to_test) * len(x)

    def _scaled(self, train: Rows, test: Rows) -> tuple[Array, Array]:
        x, z = self.features[train], self.features[test]
        if not self.standardised:
            return x, z
        centre, spread = x.mean(axis=0), x.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        return (x - centre) / spread, (z - centre) / spread


def gaussians(*factors: float) -> list[Kernel]:
    return [Gaussian(MeanDistance(factor)) for factor in factors]
