"""Sets of labels over feature groups, and the kernels of each group: the emotions data, and digits for smoke runs.

Emotions (Trohidis et al. 2008: 593 songs, 72 features, 6 labels). Features 1 to 64 are timbre: four statistics over time, each of
16 descriptors: centroid, roll-off and flux of the spectrum, and 13 cepstral coefficients. Features 65 to 72 are rhythm.
That makes nine groups. Kernels on all features together are apart: one of them alone already joins all groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mklcvx.kernels import Gaussian, Kernel, KernelBank, Linear, MeanDistance
from mklcvx.preprocess import Preprocessing

from _harness import Setting

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
View = tuple[str, list[int], list[Kernel]]

STATISTICS = ("mean of means", "mean of deviations", "deviation of means", "deviation of deviations")
EMOTION_GROUPS: Mapping[str, range] = {
    **{
        f"{what}, {statistic}": range(16 * i + start, 16 * i + stop)
        for i, statistic in enumerate(STATISTICS)
        for what, start, stop in (("spectrum", 0, 3), ("cepstrum", 3, 16))
    },
    "rhythm": range(64, 72),
}
BANKS = ("groups", "groups and all")


@dataclass(frozen=True)
class LabelViews:
    """Features, labels (n, k) in {0, 1}, and the kernels of each view."""

    features: Array
    labels: NDArray[np.int64]
    views: list[View]

    @property
    def names(self) -> list[str]:
        return [f"{kernel.name}[{name}]" for name, _, kernels in self.views for kernel in kernels]

    @property
    def groups(self) -> list[int]:
        return [i for i, (_, _, kernels) in enumerate(self.views) for _ in kernels]

    def kernels(self, train: Rows, test: Rows) -> tuple[Array, Array]:
        """Kernels (M, n, n) and (M, t, n) of features standardised on the training part, each of trace n."""
        fitted = self.features[train]
        spread = fitted.std(axis=0)
        x, z = (
            (self.features[rows] - fitted.mean(axis=0)) / np.where(spread > 0, spread, 1.0) for rows in (train, test)
        )
        banks = [(KernelBank(kernels).fit(x[:, view]), view) for _, view, kernels in self.views]
        stack = np.concatenate([bank.stack() for bank, _ in banks])
        to_test = np.concatenate([bank.stack(z[:, view]) for bank, view in banks])
        steps = Preprocessing.from_options(normalise="trace").fit(stack, names=self.names)
        return steps.train(stack) * len(x), steps.test(to_test) * len(x)


def gaussians(*factors: float) -> list[Kernel]:
    return [Gaussian(MeanDistance(factor)) for factor in factors]


def emotions(setting: Setting, bank: str = "groups") -> LabelViews:
    """Two widths and a linear kernel on each of the nine groups; with "all", three widths on all features too."""
    data = setting.load("emotions")
    assert data.labels is not None
    views: list[View] = [(name, list(view), [*gaussians(0.5, 2.0), Linear()]) for name, view in EMOTION_GROUPS.items()]
    if bank == "groups and all":
        views.append(("all", list(range(72)), gaussians(0.5, 1.0, 2.0)))
    return LabelViews(data.X, data.labels, views)


def digit_labels(setting: Setting) -> LabelViews:
    """Even, prime, above four, divisible by three: labels of digits, over the quadrants of the image."""
    data = setting.load("digits")
    digit = np.asarray(data.classes).astype(int)
    labels = np.stack([digit % 2 == 0, np.isin(digit, (2, 3, 5, 7)), digit > 4, digit % 3 == 0], axis=1).astype(int)
    quadrants = {
        f"{row} {column}": [8 * r + c for r in range(a, a + 4) for c in range(b, b + 4)]
        for row, a in (("upper", 0), ("lower", 4))
        for column, b in (("left", 0), ("right", 4))
    }
    return LabelViews(data.X, labels, [(name, view, gaussians(0.5, 2.0)) for name, view in quadrants.items()])
