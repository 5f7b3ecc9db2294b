"""The problems: one that other packages were measured on, real ones, clouds of any size, and the zoo."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification, make_moons

from mklcvx import Instance, zoo
from mklcvx.problem.kernels import Gaussian, KernelBank

Array = NDArray[np.float64]

# Of `peers()` with formulation l1 and C = 1, as it was recorded when the other packages were measured. Certified since:
# between 35.4866338426005 and 35.4866338426155.
PEERS_OPTIMUM = 35.48663383


@lru_cache(maxsize=1)
def peers(samples: int = 300) -> Instance:
    """Breast cancer, standardised: ten Gaussians on all features, γ from 1e-3 to 10, and ten with γ = 1 on the first
    ten features, one each; trace n."""
    features, classes = load_breast_cancer(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(classes))[:samples]
    features, classes = features[chosen], classes[chosen]
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    whole = KernelBank([Gaussian(float(gamma)) for gamma in np.geomspace(1e-3, 10, 10)]).fit(features)
    single = KernelBank([Gaussian(1.0)], features="each").fit(features[:, :10])
    kernels = np.concatenate([whole.stack(), single.stack()])  # k(x, x) = 1: the trace is n already
    return Instance(kernels, np.where(classes == 1, 1, -1), groups=np.arange(20) // 2)


@lru_cache(maxsize=1)
def diabetes(samples: int = 442) -> Instance:
    """A response, standardised as are the features: ten Gaussians on all of them, and one on each of the ten."""
    features, response = load_diabetes(return_X_y=True)
    features, response = features[:samples], response[:samples]
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    whole = KernelBank([Gaussian(float(gamma)) for gamma in np.geomspace(1e-3, 10, 10)]).fit(features)
    single = KernelBank([Gaussian(1.0)], features="each").fit(features)
    kernels = np.concatenate([whole.stack(), single.stack()])
    return Instance(kernels, response=(response - response.mean()) / response.std())


@lru_cache(maxsize=1)
def real(data: str, samples: int, count: int) -> Instance:
    """As the zoo has it: Gaussians of several widths, linear, quadratic, Gaussians on single features; trace n."""
    return zoo.real(data, samples=samples, count=count)


@lru_cache(maxsize=1)
def clouds(samples: int, count: int) -> Instance:
    """Two clouds that overlap, seen in `count` views of three features, the first the clearest; Gaussian kernels."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(samples) % 2 == 0, 1.0, -1.0)
    kernels = np.empty((count, samples, samples))
    for m in range(count):
        view = rng.normal(size=(samples, 3)) + 1.5 * y[:, None] / (1 + m / 2)
        squares = np.sum(view**2, axis=1)
        np.multiply(view @ view.T, 0.6, out=kernels[m])
        kernels[m] -= 0.3 * (squares[:, None] + squares)
        np.exp(kernels[m], out=kernels[m])
        kernels[m] = (kernels[m] + kernels[m].T) / 2
        np.fill_diagonal(kernels[m], 1.0)
    return Instance(kernels, y, groups=np.arange(count) // 2)


@lru_cache(maxsize=1)
def named(data: str, samples: int, count: int) -> Instance:
    """Breast cancer and digits as the zoo has them; made data that overlap, through the same bank."""
    if data in ("breast_cancer", "digits"):
        return peers(samples) if data == "breast_cancer" else real(data, samples, count)
    features, y = MADE[data](samples)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    widths = [Gaussian(float(gamma)) for gamma in np.geomspace(1e-3, 10, count // 2)]
    whole = KernelBank(widths).fit(features / np.sqrt(features.shape[1]))
    single = KernelBank([Gaussian(1.0), Gaussian(4.0), Gaussian(16.0)], features="each").fit(features)
    kernels = np.concatenate([whole.stack(), single.stack()[: count - count // 2]])
    return Instance(kernels, np.where(y > 0, 1, -1), groups=np.arange(len(kernels)) // 2)


def ringnorm(samples: int) -> tuple[Array, Array]:
    """Two normal clouds in twenty dimensions: one with variance 4, one shifted by 2/√20 (Breiman 1996)."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, samples).astype(float)
    spread, shift = np.where(y > 0, 2.0, 1.0), np.where(y > 0, 0.0, 2 / np.sqrt(20))
    return rng.normal(size=(samples, 20)) * spread[:, None] + shift[:, None], y


MADE: dict[str, Callable[[int], tuple[Array, Array]]] = {
    "overlapping": lambda n: make_classification(n, 20, n_informative=6, flip_y=0.2, random_state=0),
    "moons": lambda n: make_moons(n, noise=0.3, random_state=0),
    "ringnorm": ringnorm,
}


@lru_cache(maxsize=1)
def from_zoo(kind: str, samples: int, count: int) -> Instance:
    if kind == "planted":
        return zoo.planted(samples, count).instance
    return zoo.make(kind, n=samples, M=count)
