"""Sets of labels over feature groups, and the kernels of each group: the emotions data, and digits for smoke runs.

Emotions (Trohidis et al. 2008: 593 songs, 72 features, 6 labels). Features 1 to 64 are timbre: four statistics over
time, each of 16 descriptors: centroid, roll-off and flux of the spectrum, and 13 cepstral coefficients. Features 65 to
72 are rhythm. That makes nine groups. Kernels on all features are apart: each of them already joins all groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from _harness import Setting
from mklcvx.problem.kernels import Gaussian, Kernel, KernelBank, Linear, MeanDistance, Polynomial
from mklcvx.problem.preprocessing import Preprocessing

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
    """Features, labels (n, k) in {0, 1}, and the kernels of each view; centred ones are for machines without bias."""

    features: Array
    labels: NDArray[np.int64]
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


def emotions(setting: Setting, bank: str = "groups", centred: bool = False) -> LabelViews:
    """Two widths and a linear kernel on each of the nine groups; with "all", three widths on all features too."""
    data = setting.load("emotions")
    assert data.labels is not None
    views: list[View] = [(name, list(view), [*gaussians(0.5, 2.0), Linear()]) for name, view in EMOTION_GROUPS.items()]
    if bank == "groups and all":
        views.append(("all", list(range(72)), gaussians(0.5, 1.0, 2.0)))
    return LabelViews(data.X, data.labels, views, centred=centred)


def quadrants() -> dict[str, list[int]]:
    """The pixels of each quarter of an 8 × 8 image."""
    return {
        f"{row} {column}": [8 * r + c for r in range(a, a + 4) for c in range(b, b + 4)]
        for row, a in (("upper", 0), ("lower", 4))
        for column, b in (("left", 0), ("right", 4))
    }


def digit_labels(setting: Setting) -> LabelViews:
    """Even, prime, above four, divisible by three: labels of digits, over the quadrants of the image."""
    x, digit = _digits(setting)
    labels = np.stack([digit % 2 == 0, np.isin(digit, (2, 3, 5, 7)), digit > 4, digit % 3 == 0], axis=1).astype(int)
    return LabelViews(x, labels, [(name, view, gaussians(0.5, 2.0)) for name, view in quadrants().items()])


def digit_classes(setting: Setting, classes: int) -> LabelViews:
    """Each digit against the rest, then each pair of digits, then triples, as many as are asked for. Nine kernels:
    three widths, a linear and a quadratic one on the image, one width on each quadrant."""
    x, digit = _digits(setting)
    unions = islice((union for size in range(1, 5) for union in combinations(range(10), size)), classes)
    labels = np.stack([np.isin(digit, union) for union in unions], axis=1).astype(int)
    whole: list[Kernel] = [Gaussian(0.01), Gaussian(0.05), Gaussian(0.25), Linear(), Polynomial(2)]
    views: list[View] = [("image", list(range(64)), whole)]
    views += [(name, view, [Gaussian(0.1)]) for name, view in quadrants().items()]
    return LabelViews(x, labels, views, standardised=False, centred=True)


def _digits(setting: Setting) -> tuple[Array, NDArray[np.int64]]:
    data = setting.load("digits")
    return data.X / 16, np.asarray(data.classes).astype(int)
