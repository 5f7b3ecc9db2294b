"""Govindaraj 2009, Fig. 1: kernels whose redundancy is set by ρ = p/l.

n features in p disjoint sets; a kernel X_k A_k'A_k X_k' with a random (τn/p, n/p) matrix A_k for each set, and for
l − p copies of sets drawn with replacement. Two normal clouds of covariance I are the classes. Where their means differ
is not printed, and it decides: `spread` is "all features" alike, a "random direction", or "one feature" alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import mklcvx

Array = NDArray[np.float64]

DISTANCE = 1.5  # of each class's mean from the origin: the best possible accuracy is 93 %
SPREADS = ("all features", "random direction", "one feature")
METHODS = ("l1", "li", "sum")
# At equal C Li-MKL regularises about l²/2 times less than L1-MKL, so that the grid has to reach far down.
PRICES = tuple(10.0**power for power in range(-8, 2))
TOLERANCE = 1e-6


class Size(NamedTuple):
    """l kernels and as many features, m samples in three equal parts, τ, and fresh test samples beside the third."""

    kernels: int = 30
    samples: int = 450
    tau: int = 4
    fresh: int = 1000


def redundancy(size: Size, spread: str, parts: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Accuracy on validation and test samples for every method and C; a third of the samples trains, a third tunes."""
    mean = DISTANCE * direction(spread, size.kernels, rng)
    third = size.samples // 3
    (train, y), (valid, y_valid), (test, y_test) = (cloud(mean, n, rng) for n in (third, third, third + size.fresh))
    maps = kernel_maps(size, parts, rng)
    made = factors(maps, train)
    instance = mklcvx.Instance(mklcvx.LowRank(made), y)
    to_valid, to_test = (
        np.stack([f @ g.T for f, g in zip(factors(maps, x), made, strict=True)]) for x in (valid, test)
    )
    rows = []
    for method in METHODS:
        for solution in mklcvx.solve_path(instance, method, {"C": PRICES}, tol=TOLERANCE).solutions:
            rows.append(
                {
                    "method": method,
                    "C": solution.parameters["C"],
                    "validation": float(np.mean(solution.predict(to_valid) == y_valid)),
                    "test": float(np.mean(solution.predict(to_test) == y_test)),
                    "gap": solution.certificate.relative_gap,
                }
            )
    return rows


def direction(spread: str, features: int, rng: np.random.Generator) -> Array:
    """The unit vector along which the class means lie."""
    if spread == "all features":
        raw = np.ones(features)
    elif spread == "one feature":
        raw = np.eye(features)[0]
    else:
        raw = rng.normal(size=features)
    return np.asarray(raw / np.linalg.norm(raw))


def cloud(mean: Array, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """As many samples of either class, around ±mean."""
    y = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(count, len(mean))) + y[:, None] * mean, y


def kernel_maps(size: Size, parts: int, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """For every kernel its features and the Cholesky factor of A'A, which makes the same kernel as A."""
    sets = np.array_split(rng.permutation(size.kernels), parts)
    chosen = [*range(parts), *rng.integers(parts, size=size.kernels - parts)]
    maps = []
    for s in chosen:
        matrix = rng.normal(size=(size.tau * len(sets[s]), len(sets[s])))
        maps.append((sets[s], np.linalg.cholesky(matrix.T @ matrix)))
    return maps


def factors(maps: list[tuple[Array, Array]], x: Array) -> list[Array]:
    return [x[:, used] @ root for used, root in maps]
