"""The cells of the campaign, and the instance of each: seeded, and the same on every machine up to its exp and BLAS.

A cell is named by what it is, such as `solve/year/dense64/svm/C=1e+05/bias/even/3`: what is asked, data, storage,
formulation, price, with or without bias, even or uneven sample weights, and a number. Its instance depends on that
name alone. Kernels of `year`, `offset` and `rank` are exact products of their factors, `random` ones are proved
positive semidefinite in rational numbers (`scaled` by 2^±40; `skewed` with an upper triangle one ulp off, the lower one
being the record), `gauss` ones are what rounding leaves.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklcvx.problem.low_rank import LowRank
from records import exact_kernel, semidefinite

SEED = 0
Array = NDArray[Any]
STORED: dict[str, tuple[str, ...]] = {
    "year": ("dense64", "dense32", "factors"),
    "offset1": ("dense64", "dense32", "dense16", "factors"),
    "offset1e3": ("dense64", "factors"),
    "offset1e6": ("dense64", "factors"),
    "rank": ("dense64", "dense32", "dense16", "factors"),
    "random": ("dense64", "dense32", "factors"),
    "skewed": ("dense64", "dense32"),
    "scaled": ("dense64", "dense32", "factors"),
    "gauss": ("dense64", "dense32", "dense16"),
}
TYPES = {"dense64": np.float64, "dense32": np.float32, "dense16": np.float16}
REPEATS = {"svm": 13, "sum": 4, "l1": 3, "sm1": 3, "l2": 3}
PRICES = [f"C=1e{power:+03d}" for power in range(-3, 9)] + [f"nu={share}" for share in (0.1, 0.5, 0.95)]
PROVED = ("C=1e+00", "C=1e+05", "nu=0.5")
EXAMPLE = "solve/example/dense64/svm/C=1e+05/bias/even/0"
SIZES = (4, 13)
DECADES = 6


@dataclass(frozen=True)
class Cell:
    task: str
    data: str
    storage: str
    formulation: str
    price: str
    bias: str
    weights: str
    number: int

    @classmethod
    def named(cls, name: str) -> Cell:
        *words, number = name.split("/")
        return cls(*words, int(number))

    @property
    def name(self) -> str:
        return "/".join(str(part) for part in vars(self).values())

    @property
    def label(self) -> str:
        return f"{self.data}/{self.storage}/{self.formulation}"

    @property
    def loss(self) -> str:
        return "c" if self.price.startswith("C") else "nu"

    @property
    def amount(self) -> float:
        """C, or the share of the largest ν."""
        return float(self.price.partition("=")[2])

    @property
    def price_range(self) -> str:
        if self.loss == "nu":
            return "ν"
        return "C ≤ 1" if self.amount <= 1 else "C ≤ 1e4" if self.amount <= 1e4 else "C > 1e4"


def cells() -> list[Cell]:
    return [Cell.named(EXAMPLE), *_solved(), *_proved()]


def _solved() -> Iterator[Cell]:
    for data, stored in STORED.items():
        for storage, (name, repeats), price in itertools.product(stored, REPEATS.items(), PRICES):
            for bias, number in itertools.product(("bias", "none"), range(repeats)):
                yield Cell("solve", data, storage, name, price, bias, "uneven" if number % 3 == 2 else "even", number)


def _proved() -> Iterator[Cell]:
    for data, stored in STORED.items():
        for storage, name, price in itertools.product(stored, REPEATS, PROVED):
            for number, bias in enumerate(("bias", "none")):
                yield Cell("prove", data, storage, name, price, bias, "even", number)
        for name, number in itertools.product(("svm", "l1"), range(2)):
            if "factors" in stored:
                yield Cell("prove", data, "factors", name, "C=1e+02", "bias", "uneven", 2 + number)


# ---------------------------------------------------------------------------------------------------- the instance
def made(cell: Cell) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `Instance` is given, and the parameters."""
    if cell.data == "example":
        years = np.array([1985.0, 1991.0, 2014.0, 2012.0])
        return {"kernels": np.outer(years, years)[None], "y": [1, -1, -1, 1]}, {"C": cell.amount, "bias": True}
    rng = np.random.default_rng(named_number(cell.name))
    n = int(rng.integers(*SIZES))
    count = 1 if cell.formulation == "svm" else int(rng.integers(2, 5))
    y = np.where(rng.permutation(n) < rng.integers(1, n), 1, -1)
    weights = np.ones(n) if cell.weights == "even" else 10.0 ** rng.uniform(-DECADES, DECADES, n)
    kernels = [_kernel(rng, cell.data, cell.storage, n) for _ in range(count)]
    stack = LowRank(kernels) if cell.storage == "factors" else np.array(kernels)
    return {"kernels": stack, "y": y, "sample_weight": weights}, _parameters(cell, rng, y, weights, count)


def named_number(name: str) -> int:
    """The seed of a cell."""
    return int.from_bytes(hashlib.blake2b(f"{SEED}/{name}".encode(), digest_size=8).digest(), "big")


def _parameters(cell: Cell, rng: np.random.Generator, y: Array, weights: Array, count: int) -> dict[str, Any]:
    own = {"theta": float(rng.choice([1.1, 1.5, 1.9])) / count} if cell.formulation == "sm1" else {}
    bias = cell.bias == "bias"
    if cell.loss == "c":
        return {"C": cell.amount, "bias": bias, **own}
    sides = [float(weights[y == side].sum()) for side in (1, -1)]
    largest = min(1.0, (2 * min(sides) if bias else sum(sides)) / len(y))
    return {"nu": cell.amount * largest, "bias": bias, **own}


def _kernel(rng: np.random.Generator, data: str, storage: str, n: int) -> Array:
    """A factor, or a kernel in its storage."""
    if data == "gauss":
        points = rng.normal(size=(n, 3))
        distances = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
        return np.exp(-(10.0 ** rng.uniform(-3, 1)) * distances).astype(TYPES[storage])
    factor = _factor(rng, data, storage, n)
    if storage == "factors":
        return factor
    dense = mirrored(factor @ factor.T).astype(TYPES[storage])
    if data in ("random", "scaled", "skewed"):
        dense = _proved_psd(dense)
    if data == "skewed":
        upper = np.triu_indices(n, 1)
        dense[upper] = np.nextafter(dense[upper], dense.dtype.type(np.inf))
    return dense


def _factor(rng: np.random.Generator, data: str, storage: str, n: int) -> Array:
    columns = int(rng.integers(1, 4))
    if data == "year":
        return rng.integers(1950, 2021, size=(n, columns)).astype(float)
    if data.startswith("offset"):
        bits = {"dense16": 3, "dense32": 8, "dense64": 5 if data == "offset1e6" else 12, "factors": 20}[storage]
        return float(data[6:]) + rng.integers(0, 2**bits, size=(n, columns)) / 2.0**bits
    if data == "rank":
        return rng.integers(-9, 10, size=(n, int(rng.integers(1, n + 1)))).astype(float)
    wide = int(rng.integers(1, n + 1)) if storage == "factors" else n + 2
    scale = 2.0 ** int(rng.choice([-40, 40])) if data == "scaled" else 1.0
    return rng.normal(size=(n, wide)) * np.sqrt(scale)


def mirrored(kernel: Array) -> Array:
    lower = np.tril(kernel)
    return lower + np.tril(kernel, -1).T


def _proved_psd(kernel: Array) -> Array:
    """The kernel with as much more on its diagonal as a proof takes."""
    ridge = float(kernel.diagonal().max()) * float(np.finfo(kernel.dtype).eps)
    while not semidefinite(exact_kernel(kernel)):
        kernel = (kernel + ridge * np.eye(len(kernel))).astype(kernel.dtype)
        ridge *= 4
    return kernel
