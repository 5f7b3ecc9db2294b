"""Instance generators: problems with chosen difficulties, each reproducible from its seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..errors import InputError
from ..problem.checks import check_name
from ..problem.instance import Instance
from ..problem.numbers import Array, check_seed, check_whole, is_number

LARGEST = 100_000  # samples, or kernels


def random(
    n: int = 40, M: int = 5, *, overlap: float = 0.5, conditioning: float = 1e3, positive: float = 0.5, seed: int = 0
) -> Instance:
    """Gaussian kernels on noisy views of two clouds. `overlap` 0 separates the classes, 1 mixes them fully;
    `conditioning` is the ratio of the largest to the smallest eigenvalue of every kernel."""
    rng = generator(n, M, seed, overlap=overlap, conditioning=conditioning, positive=positive)
    y = labels_of(n, positive)
    kernels = np.empty((M, n, n))
    for m in range(M):
        view = rng.normal(size=(n, 3)) + 3 * (1 - float(overlap)) * y[:, None] / (1 + m / 2)
        kernel = _gaussian(view, 0.3)
        largest = float(np.linalg.eigvalsh(kernel)[-1])
        kernels[m] = kernel + np.eye(n) * largest / (conditioning - 1)  # raises the smallest eigenvalue
    return Instance(kernels, y, groups=np.arange(M) % max(1, (M + 1) // 2))


def duplicated(n: int = 30, M: int = 6, seed: int = 0) -> Instance:
    """Every kernel occurs twice: the weights of equal kernels are not unique, the value is."""
    check_sizes(n, M)
    half = random(n, (M + 1) // 2, seed=seed)
    return Instance(np.concatenate([half.kernels, half.kernels])[:M], half.y, groups=np.arange(M) % 3 % M)


def rank_one(n: int = 40, M: int = 6, seed: int = 0) -> Instance:
    """Linear kernels on single features."""
    rng, y = generator(n, M, seed), labels_of(n, 0.5)
    features = rng.normal(size=(M, n)) + 0.6 * y
    return Instance(features[:, :, None] * features[:, None, :], y, groups=np.arange(M) % 3 % M)


def badly_scaled(n: int = 40, M: int = 4, spread: float = 1e9, seed: int = 0) -> Instance:
    """Kernels whose sizes run from spread^(−½) to spread^(½)."""
    check_sizes(n, M, spread=spread)
    if not spread > 0:
        raise InputError(f"spread = {spread:g}: give a number above 0")
    base = random(n, M, seed=seed)
    sizes = np.geomspace(spread**-0.5, spread**0.5, M)
    return Instance(base.kernels * sizes[:, None, None], base.y, groups=base.groups)


def imbalanced(n: int = 40, M: int = 5, seed: int = 0) -> Instance:
    """One positive sample in ten."""
    return random(n, M, positive=0.1, seed=seed)


def tiny(n: int = 4, M: int = 2, seed: int = 0) -> Instance:
    """Two to five samples."""
    return random(n, M, overlap=0.3, seed=seed)


def by_hand() -> Instance:
    """Two kernels, four points: (1, 0) and (0, 2) with label +1, (−1, 0) and (0, −2) with label −1, and one linear
    kernel for each coordinate. `docs/by-hand.md` solves it on paper."""
    x = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0], [0.0, -2.0]])
    kernels = np.stack([np.outer(x[:, j], x[:, j]) for j in range(2)])
    return Instance(kernels, [1, 1, -1, -1], groups=[0, 1], names=["first coordinate", "second coordinate"])


KINDS = (random, duplicated, rank_one, badly_scaled, imbalanced, tiny, by_hand)
ZOO: Mapping[str, Callable[..., Instance]] = {kind.__name__: kind for kind in KINDS}


def make(kind: str, **options: object) -> Instance:
    """An instance of a named kind."""
    check_name("kind of instance", kind, ZOO)
    return ZOO[kind](**options)


def generator(n: int, M: int, seed: int, **numbers: float) -> np.random.Generator:
    """NumPy's random numbers, once the arguments are checked."""
    check_sizes(n, M, **numbers)
    check_seed(seed)  # NumPy ends the process on a list that contains itself
    return np.random.default_rng(seed)


def check_sizes(n: int, M: int, **numbers: float) -> None:
    """Refuse sizes that no instance has, and numbers that are none."""
    check_whole(2, LARGEST, n=n)
    check_whole(1, LARGEST, M=M)
    for name, number in numbers.items():
        if not (is_number(number) and 0 <= number <= 1e300):
            raise InputError(f"{name} = {number!r:.40}: give a number from 0 on")


def labels_of(n: int, positive: float) -> Array:
    count = min(max(1, round(n * positive)), n - 1)
    return np.where(np.arange(n) < count, 1.0, -1.0)


def _gaussian(x: Array, gamma: float) -> Array:
    squares = np.sum(x**2, axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0.0)
    np.fill_diagonal(distances, 0.0)
    kernel = np.exp(-gamma * distances)
    return (kernel + kernel.T) / 2
