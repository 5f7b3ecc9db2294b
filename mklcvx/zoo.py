"""Instance generators: problems with chosen difficulties, each reproducible from its seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, nearest
from .instance import Instance
from .kernels import Gaussian, KernelBank, Linear, Polynomial

Array = NDArray[np.float64]


def random(
    n: int = 40, M: int = 5, *, overlap: float = 0.5, conditioning: float = 1e3, positive: float = 0.5, seed: int = 0
) -> Instance:
    """Gaussian kernels on noisy views of two clouds. `overlap` 0 separates the classes, 1 mixes them fully;
    `conditioning` is the ratio of the largest to the smallest eigenvalue of every kernel."""
    rng = np.random.default_rng(seed)
    y = _labels(n, positive)
    kernels = np.empty((M, n, n))
    for m in range(M):
        view = rng.normal(size=(n, 3)) + 3 * (1 - overlap) * y[:, None] / (1 + m / 2)
        kernels[m] = _conditioned(_gaussian(view, 0.3), conditioning)
    return Instance(kernels, y, groups=np.arange(M) % max(1, (M + 1) // 2))


def duplicated(n: int = 30, M: int = 6, seed: int = 0) -> Instance:
    """Every kernel occurs twice: the split of weight between twins is open, the value is not."""
    half = random(n, (M + 1) // 2, seed=seed)
    kernels = np.concatenate([half.kernels, half.kernels])[:M]
    return Instance(kernels, half.y, groups=np.arange(M) % 3 % M)


def rank_one(n: int = 40, M: int = 6, seed: int = 0) -> Instance:
    """Linear kernels on single features."""
    rng = np.random.default_rng(seed)
    y = _labels(n, 0.5)
    features = rng.normal(size=(M, n)) + 0.6 * y
    return Instance(features[:, :, None] * features[:, None, :], y, groups=np.arange(M) % 3 % M)


def badly_scaled(n: int = 40, M: int = 4, spread: float = 1e9, seed: int = 0) -> Instance:
    """Kernels whose sizes run from spread^(−½) to spread^(½)."""
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


@dataclass(frozen=True)
class Planted:
    """An instance of `l1` with its optimum: value, weights, α and bias were chosen first."""

    instance: Instance
    C: float
    value: float
    weights: Array
    alpha: Array
    bias: float


def planted(n: int = 60, M: int = 6, C: float = 1.0, seed: int = 0) -> Planted:
    """A problem of `l1` built around its solution: a third of the samples at each bound, two kernels tied and
    used, the others strictly worse.

    First α and b, then margins that fit them: 1 for free samples, above for α = 0, below for α = C. With
    β = α∘y the two kernels map β to h + t and h − t, where h = y∘margins − b and t ⟂ β: half of each makes f = h,
    and both have q = β'h. The rest map β likewise but are smaller. A PSD matrix that kills β fills every kernel up.
    """
    rng = np.random.default_rng(seed)
    y = _labels(n, 0.5)
    alpha = _planted_alpha(y, C, rng)
    beta = alpha * y
    bias = 0.25
    margins = np.where(alpha == 0, 1 + rng.uniform(0.1, 1, n), np.where(alpha == C, rng.uniform(-0.5, 0.9, n), 1.0))
    target = y * margins - bias
    tilt = rng.normal(size=n)
    tilt -= beta * (beta @ tilt) / (beta @ beta)
    if beta @ target <= 0:
        raise InputError(f"seed {seed} plants no solution: choose another seed")
    kernels = np.empty((M, n, n))
    for m in range(M):
        image = target + (tilt if m % 2 == 0 else -tilt)
        shrink = 1.0 if m < 2 else 0.8 / m
        kernels[m] = shrink * (_mapping(beta, image) + _blind_to(beta, rng))
    half_q = float(beta @ target) / 2
    weights = np.zeros(M)
    weights[:2] = 0.5
    instance = Instance(kernels, y, groups=np.arange(M) // 2)
    return Planted(instance, C, float(alpha.sum()) - half_q, weights, alpha, bias)


def _planted_alpha(y: Array, C: float, rng: np.random.Generator) -> Array:
    """A third at zero, a third at C, a third between, the same sums in both classes."""
    alpha = np.empty(len(y))
    for side in (y > 0, y < 0):
        count = int(side.sum())
        third = count // 3
        free = rng.uniform(0.2, 0.8, count - 2 * third)
        free += 0.5 - free.mean()
        alpha[side] = rng.permutation(np.concatenate([np.zeros(third), np.full(third, C), C * free]))
    return alpha


def _mapping(beta: Array, image: Array) -> Array:
    """The rank-one PSD matrix with Kβ = image; needs β'image > 0."""
    return np.outer(image, image) / (beta @ image)


def _blind_to(beta: Array, rng: np.random.Generator) -> Array:
    """A PSD matrix with Kβ = 0."""
    factor = rng.normal(size=(len(beta), len(beta) // 2)) / np.sqrt(len(beta))
    factor -= np.outer(beta, beta @ factor) / (beta @ beta)
    return factor @ factor.T


ZOO: Mapping[str, Callable[..., Instance]] = {
    "random": random,
    "duplicated": duplicated,
    "rank_one": rank_one,
    "badly_scaled": badly_scaled,
    "imbalanced": imbalanced,
    "tiny": tiny,
    "by_hand": by_hand,
}


def make(kind: str, **options: Any) -> Instance:
    """An instance of a named kind."""
    if kind not in ZOO:
        raise InputError(f"unknown kind of instance {kind!r}: {nearest(kind, ZOO)}")
    return ZOO[kind](**options)


def _labels(n: int, positive: float) -> Array:
    count = min(max(1, round(n * positive)), n - 1)
    return np.where(np.arange(n) < count, 1.0, -1.0)


def _gaussian(x: Array, gamma: float) -> Array:
    squares = np.sum(x**2, axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0.0)
    np.fill_diagonal(distances, 0.0)
    kernel = np.exp(-gamma * distances)
    return (kernel + kernel.T) / 2


def _conditioned(kernel: Array, conditioning: float) -> Array:
    """The kernel with its eigenvalues raised to the floor that the condition number asks for."""
    largest = float(np.linalg.eigvalsh(kernel)[-1])
    return kernel + np.eye(len(kernel)) * largest / (conditioning - 1)


REAL = {"breast_cancer": 569, "wine": 178, "digits": 1797}  # and how many samples they have


def real(data: str, target: str = "y", samples: int = 80, count: int = 10) -> Instance:
    """A part of one of scikit-learn's data sets (`breast_cancer`, `wine`, `digits`), standardised.

    Kernels of trace n: two fifths are Gaussians of several widths, two are linear and quadratic, all on all features;
    the rest are Gaussians on single features. `target` is "classes", or "y": even classes against odd ones, with
    groups of two kernels.
    """
    from sklearn import datasets

    if data not in REAL:
        raise InputError(f"unknown data set {data!r}: {nearest(data, REAL)}")
    if count < 5:
        raise InputError(f"count = {count} kernels are too few: give at least 5")
    if target not in ("y", "classes"):
        raise InputError(f"target = {target!r} is neither 'y' nor 'classes': choose one of them")
    features, classes = getattr(datasets, f"load_{data}")(return_X_y=True)
    if not 10 <= samples <= len(classes):
        raise InputError(f"samples = {samples}: give between 10 and {len(classes)}, which {data} has")
    chosen = np.random.default_rng(0).permutation(len(classes))[:samples]
    features, classes = features[chosen].astype(float), classes[chosen]
    features = features[:, np.ptp(features, axis=0) > 0]
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    width, wide = features.shape[1], 2 * count // 5
    gammas = np.geomspace(0.1, 3.0, wide) / width
    whole = KernelBank([Gaussian(float(gamma)) for gamma in gammas] + [Linear(), Polynomial(2)]).fit(features)
    alone = features[:, np.linspace(0, width - 1, count - wide - 2).astype(int)]
    single = KernelBank([Gaussian(1.0)], features="each").fit(alone)
    kernels = np.concatenate([whole.stack(), single.stack()])
    kernels = kernels / np.array([np.trace(kernel) / samples for kernel in kernels])[:, None, None]
    if target == "classes":
        return Instance(kernels, classes=classes)
    return Instance(kernels, np.where(classes % 2 == 0, 1, -1), groups=np.arange(count) // 2)
