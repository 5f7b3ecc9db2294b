"""Govindaraj 2009, sections 6.2.2 to 6.5, on handwritten digits: regions of the image stand for descriptors.

A region of the 8 × 8 image is a view, several kernels on it are a group: kernels within a group tell much the same,
groups do not. Kernels are centred and of unit variance, widths relative to the training samples' mean distance.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _harness import Setting
from mklcvx.problem.kernels import Gaussian, Kernel, KernelBank, MeanDistance, Polynomial
from mklcvx.problem.preprocessing import Preprocessing
from one_versus_one import tuned

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


def block(top: int, left: int, height: int, width: int) -> list[int]:
    """The pixels of a rectangle."""
    return [8 * r + c for r in range(top, top + height) for c in range(left, left + width)]


QUADRANTS = [block(r, c, 4, 4) for r in (0, 4) for c in (0, 4)]
CENTRE, WHOLE = block(2, 2, 4, 4), block(0, 0, 8, 8)

# As Caltech-4 there: four classes, 80 images of each, half to train, six features with nine kernels each.
FOUR, PER_CLASS, HALF = (3, 5, 8, 9), 80, 40
SIX_VIEWS = [*QUADRANTS, CENTRE, WHOLE]
NINE: list[Kernel] = [
    *(Gaussian(MeanDistance(2.0**power)) for power in range(-3, 3)),
    *(Polynomial(degree) for degree in (1, 2, 3)),
]
# As Caltech-5 there: five classes, 100 images of each, five features with ten widths each.
FIVE, IMAGES = (1, 3, 5, 8, 9), 100
FIVE_VIEWS = [*QUADRANTS, CENTRE]
TEN: list[Kernel] = [Gaussian(MeanDistance(2.0**power)) for power in range(-5, 5)]

ALL_PRICES = tuple(10.0**power for power in range(-5, 3))
GROUPED = ("l1", "li", "ckl", "sum")


def prices(setting: Setting) -> tuple[float, ...]:
    return setting.choose(ALL_PRICES[3:6], ALL_PRICES, ALL_PRICES)


@cache
def digits() -> tuple[Array, NDArray[np.int64]]:
    from sklearn.datasets import load_digits

    features, classes = load_digits(return_X_y=True)
    return np.asarray(features, dtype=float) / 16, np.asarray(classes)


class Regions:
    """The kernels of all views of the samples, a chosen few of them where `kept` names them."""

    def __init__(self, views: list[list[int]], kernels: list[Kernel], kept: Rows | None = None) -> None:
        self.views, self.kernels = views, kernels
        self.kept = np.arange(len(views) * len(kernels)) if kept is None else kept
        self._made: dict[bytes, tuple[Array, Array]] = {}

    @property
    def groups(self) -> list[int]:
        return [int(k) // len(self.kernels) for k in self.kept]

    def __call__(self, train: Rows, test: Rows) -> tuple[Array, Array]:
        """Training and test kernels; those of the same samples are made once."""
        key = train.tobytes() + b"|" + test.tobytes()
        if key not in self._made:
            self._made[key] = self._make(train, test)
        stack, to_test = self._made[key]
        return stack[self.kept], to_test[self.kept]

    def only(self, kept: Rows) -> Regions:
        """The same kernels, fewer of them."""
        fewer = Regions(self.views, self.kernels, kept)
        fewer._made = self._made
        return fewer

    def _make(self, train: Rows, test: Rows) -> tuple[Array, Array]:
        x, _ = digits()
        banks = [(KernelBank(self.kernels).fit(x[np.ix_(train, view)]), view) for view in self.views]
        stack = np.concatenate([bank.stack() for bank, _ in banks])
        to_test = np.concatenate([bank.stack(x[np.ix_(test, view)]) for bank, view in banks])
        steps = Preprocessing.from_options(centre=True, normalise="variance").fit(stack)
        return steps.train(stack), steps.test(to_test)


def drawn(classes: tuple[int, ...], count: int, rng: np.random.Generator) -> list[Rows]:
    """Of each class that many samples, in random order."""
    labels = digits()[1]
    return [rng.permutation(np.flatnonzero(labels == k))[:count] for k in classes]


def split(parts: list[Rows], train: int) -> tuple[Rows, Rows]:
    return np.concatenate([part[:train] for part in parts]), np.concatenate([part[train:] for part in parts])


def numbers_of_kernels(
    counts: tuple[int, ...], prices: tuple[float, ...], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Li-MKL and L1-MKL on growing random subsets of the 54 kernels, each within the next."""
    train, test = split(drawn(FOUR, PER_CLASS, rng), HALF)
    order, regions = rng.permutation(len(SIX_VIEWS) * len(NINE)), Regions(SIX_VIEWS, NINE)
    rows = []
    for count in counts:
        kernels = regions.only(order[:count])
        for method in ("l1", "li"):
            rows.append(
                {"method": method, "kernels": count, **tuned(kernels, digits()[1], train, test, method, prices)}
            )
    return rows


def training_sizes(
    classes: tuple[int, ...], sizes: tuple[int, ...], prices: tuple[float, ...], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """CKL, Li, L1 and the sum on five regions with ten widths each, against training samples of each class."""
    parts, regions = drawn(classes, IMAGES, rng), Regions(FIVE_VIEWS, TEN)
    test = np.concatenate([part[max(sizes) :] for part in parts])
    rows = []
    for size in sizes:
        train, _ = split(parts, size)
        for method in GROUPED:
            groups = regions.groups if method == "ckl" else None
            found = tuned(regions, digits()[1], train, test, method, prices, groups=groups)
            rows.append({"method": method, "training": size, **found})
    return rows
