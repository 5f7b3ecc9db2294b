"""Kernels on the feature groups of the emotions data (Trohidis et al. 2008: 593 songs, 72 features, 6 labels).

Features 1 to 64 are timbre: four statistics over time (mean or deviation within windows, mean or deviation over them), each of
16 descriptors: centroid, roll-off and flux of the spectrum, and 13 cepstral coefficients. Features 65 to 72 are rhythm.
Nine groups, with two widths each, two linear kernels and three widths on all features make 23 kernels, as many as Ji et
al. 2008 have: nine descriptors on two grids, two Gabor and three pixel features.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklcvx.kernels import Gaussian, Kernel, KernelBank, Linear, MeanDistance
from mklcvx.preprocess import Preprocessing

Array = NDArray[np.float64]

STATISTICS = ("mean of means", "mean of deviations", "deviation of means", "deviation of deviations")
GROUPS: dict[str, slice] = {
    **{
        f"{what}, {statistic}": slice(16 * i + start, 16 * i + stop)
        for i, statistic in enumerate(STATISTICS)
        for what, start, stop in (("spectrum", 0, 3), ("cepstrum", 3, 16))
    },
    "rhythm": slice(64, 72),
}
TIMBRE, RHYTHM, ALL = slice(0, 64), slice(64, 72), slice(0, 72)
WIDTHS = (0.5, 2.0)
VIEWS: list[tuple[str, slice, list[Kernel]]] = [
    *((name, view, [Gaussian(MeanDistance(w)) for w in WIDTHS]) for name, view in GROUPS.items()),
    ("timbre", TIMBRE, [Linear()]),
    ("rhythm", RHYTHM, [Linear()]),
    ("all", ALL, [Gaussian(MeanDistance(w)) for w in (0.5, 1.0, 2.0)]),
]
NAMES = [f"{kernel.name}[{name}]" for name, _, kernels in VIEWS for kernel in kernels]
FAMILIES = [i for i, (_, _, kernels) in enumerate(VIEWS) for _ in kernels]  # one group of kernels for each view


def emotion_kernels(train: Array, test: Array, *, centre: bool = False) -> tuple[Array, Array]:
    """Kernels (M, n, n) and (M, t, n) of features standardised on the training part, each of trace n."""
    middle, spread = train.mean(axis=0), train.std(axis=0)
    x, z = (train - middle) / spread, (test - middle) / spread
    banks = [(KernelBank(kernels).fit(x[:, view]), view) for _, view, kernels in VIEWS]
    stack = np.concatenate([bank.stack() for bank, _ in banks])
    to_test = np.concatenate([bank.stack(z[:, view]) for bank, view in banks])
    steps = Preprocessing.from_options(centre=centre, normalise="trace").fit(stack, names=NAMES)
    return steps.train(stack) * len(x), steps.test(to_test) * len(x)
