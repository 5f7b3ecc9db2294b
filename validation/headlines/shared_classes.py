"""Many classes over the same kernels: a synthetic family, unions of digits, and what judges a set of weights."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

from mklcvx import Instance, formulations
from mklcvx.problem.kernels import Gaussian, KernelBank, Linear, Polynomial
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.svm import fit_classes
from shared.stepping import Array

PRICE = 10.0
RELEVANCE = np.array([1, 0.7, 0.5, 0.3, 0.2, 0.1, 0, 0, 0])
MINORITY = [3, 4, 5, 0, 1, 2, 6, 7, 8]  # the kernels that matter to one class in five


@dataclass(frozen=True)
class Shared:
    name: str
    instance: Instance

    @property
    def classes(self) -> int:
        return len(self.instance.targets.names)


def synthetic(classes: int, seed: int, n: int = 100) -> Shared:
    """Nine views, three of them noise; a class is a half-space of a mixture of views, most of the first three."""
    rng = np.random.default_rng(seed)
    views = rng.normal(size=(2 * n, len(RELEVANCE), 3))
    scores = np.empty((2 * n, classes))
    for k in range(classes):
        relevance = RELEVANCE[MINORITY] if rng.random() < 0.2 else RELEVANCE
        mixture = rng.dirichlet(2 * relevance + 1e-3)
        normal = rng.normal(size=views.shape[1:]) * np.sqrt(mixture)[:, None]
        scores[:, k] = np.einsum("iad,ad->i", views, normal) + rng.uniform(0, 0.5) * rng.normal(size=2 * n)
    labels = (scores > np.quantile(scores[:n], 0.7, axis=0)).astype(int)
    banks = [KernelBank([Gaussian(0.15)]).fit(views[:n, a]) for a in range(len(RELEVANCE))]
    return Shared("synthetic", Instance(np.stack([bank.stack()[0] for bank in banks]), labels=labels[:n]))


def digit_unions(classes: int, seed: int, n: int = 80) -> Shared:
    """Digits: each one against the rest, then each pair against the rest, then triples, as many as are asked for."""
    from sklearn.datasets import load_digits

    features, digit = load_digits(return_X_y=True)
    rows = np.random.default_rng(seed).permutation(len(digit))[: 4 * n]
    x, digit = features[rows] / 16, digit[rows]
    unions = [union for size in (1, 2, 3, 4) for union in combinations(range(10), size)]
    labels = np.stack([np.isin(digit, union) for union in islice(unions, classes)], axis=1).astype(int)
    return Shared("digits", Instance(digit_kernels(x[:n]), labels=labels[:n]))


def digit_kernels(x: Array) -> Array:
    """Three widths, linear and quadratic on the image, one width on each quadrant; centred, of unit variance."""
    whole = [Gaussian(0.01), Gaussian(0.05), Gaussian(0.25), Linear(), Polynomial(2)]
    quadrants = [[8 * r + c for r in range(a, a + 4) for c in range(b, b + 4)] for a in (0, 4) for b in (0, 4)]
    parts = [KernelBank(whole).fit(x), *(KernelBank([Gaussian(0.1)]).fit(x[:, q]) for q in quadrants)]
    train = np.concatenate([bank.stack() for bank in parts])
    return Preprocessing.from_options(centre=True, normalise="variance").fit(train).train(train)


@dataclass(frozen=True)
class Judged:
    """The largest and the sum of the H_k at some weights."""

    worst: float
    total: float


class Judge:
    """Every contestant's weights are judged alike: by the SVMs of all classes, off the clock."""

    def __init__(self, shared: Shared) -> None:
        formulation = formulations.get("ml_sum")
        self.task, _ = formulation.task(shared.instance, {"C": PRICE})
        self.problem = Problem(formulation, self.task, 1e-4)

    def __call__(self, weights: Array) -> Judged:
        fits: Any = fit_classes(self.problem, weights)
        return Judged(float(fits.values.max()), float(fits.values.sum()))
