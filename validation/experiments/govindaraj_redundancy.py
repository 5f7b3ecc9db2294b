"""Govindaraj 2009, Fig. 1: kernels whose redundancy is set by ρ = p/l.

n features in p disjoint sets; a kernel X_k A_k'A_k X_k' with a random (τn/p, n/p) matrix A_k for each set, and for l − p
copies of sets drawn with replacement. Two normal clouds of covariance I are the classes. Where their means differ is not
printed, and it decides: `spread` is "all features" alike, a "random direction", or "one feature" alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mklcvx

Array = NDArray[np.float64]

KERNELS = FEATURES = 30
SAMPLES, TAU = 450, 4
DISTANCE = 1.5  # of each class's mean from the origin: the best possible accuracy is 93 %
SPREADS = ("all features", "random direction", "one feature")
METHODS = ("l1", "li", "sum")
PRICES = tuple(10.0**power for power in range(-8, 2))
FRESH = 1000  # test samples beside the m that are printed
TOLERANCE = 1e-6


def direction(spread: str, rng: np.random.Generator) -> Array:
    """The unit vector along which the class means lie."""
    if spread == "all features":
        raw = np.ones(FEATURES)
    elif spread == "one feature":
        raw = np.eye(FEATURES)[0]
    else:
        raw = rng.normal(size=FEATURES)
    return np.asarray(raw / np.linalg.norm(raw))


def cloud(mean: Array, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """As many samples of either class, around ±mean."""
    y = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(count, FEATURES)) + y[:, None] * mean, y


def kernel_maps(parts: int, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """For every kernel its features and the Cholesky factor of A'A, which makes the same kernel as A."""
    sets = np.array_split(rng.permutation(FEATURES), parts)
    chosen = [*range(parts), *rng.integers(parts, size=KERNELS - parts)]
    maps = []
    for s in chosen:
        matrix = rng.normal(size=(TAU * len(sets[s]), len(sets[s])))
        maps.append((sets[s], np.linalg.cholesky(matrix.T @ matrix)))
    return maps


def factors(maps: list[tuple[Array, Array]], x: Array) -> list[Array]:
    return [x[:, used] @ root for used, root in maps]


def redundancy(spread: str, parts: int, seed: int) -> list[dict[str, Any]]:
    """Accuracy on validation and test samples for every method and C: a third of the m samples train, a third tune."""
    rng = np.random.default_rng([seed, parts, SPREADS.index(spread)])
    mean = DISTANCE * direction(spread, rng)
    third = SAMPLES // 3
    (train, y), (valid, y_valid), (test, y_test) = (cloud(mean, n, rng) for n in (third, third, third + FRESH))
    maps = kernel_maps(parts, rng)
    made = factors(maps, train)
    instance = mklcvx.Instance(mklcvx.LowRank(made), y)
    to_valid, to_test = (
        np.stack([f @ g.T for f, g in zip(factors(maps, x), made, strict=True)]) for x in (valid, test)
    )
    rows = []
    for method in METHODS:
        for solution in mklcvx.path(instance, method, {"C": PRICES}, tol=TOLERANCE).solutions:
            rows.append(
                {
                    "method": method,
                    "C": solution.parameters["C"],
                    "validation": float(np.mean(solution.predict(to_valid) == y_valid)),
                    "test": float(np.mean(solution.predict(to_test) == y_test)),
                    "gap": solution.certificate.relative_gap,
                    "certified": solution.certified,
                }
            )
    return rows
