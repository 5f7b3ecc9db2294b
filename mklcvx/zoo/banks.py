"""scikit-learn's data through banks of kernels: `real` in floating point, those of the papers on a grid.

For the grid, features are standardised and rounded to sixteenths. Then every distance and inner product is exact, and
only what a kernel makes of them is rounded again, by `quantised`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..problem.checks import check_name
from ..problem.instance import Instance
from ..problem.kernels import Gaussian, KernelBank, Linear, Polynomial, kumar_bank, xu_bank
from ..problem.preprocessing import Preprocessing
from .constructions import noise_features, pairs
from .grid import Array, Draws, quantised, rounded

STEPS = 16  # of the grid per standard deviation
REAL = {"breast_cancer": 569, "wine": 178, "digits": 1797}  # numbers of samples


def standardised(data: str, samples: int, seed: int, features: int | None = None) -> tuple[Array, NDArray[np.int64]]:
    """Return samples of a data set, with its first features (by default all that vary), and their classes."""
    from sklearn import datasets

    x, classes = getattr(datasets, f"load_{data}")(return_X_y=True)
    chosen = Draws(seed).order(len(classes))[:samples]
    x = np.asarray(x[chosen], dtype=float)
    x = x[:, np.ptp(x, axis=0) > 0][:, :features]
    return rounded(STEPS * (x - x.mean(axis=0)) / x.std(axis=0)) / STEPS, np.asarray(classes)[chosen]


def one_against_rest(classes: NDArray[np.int64]) -> Array:
    return np.where(classes == 0, 1.0, -1.0)


def _stack(bank: KernelBank, x: Array, prepared: Preprocessing | None = None) -> tuple[Array, list[str]]:
    kernels = bank.fit(x).stack()
    if prepared is not None:
        kernels = prepared.fit(kernels, names=bank.names).train(kernels)
    return quantised(kernels), bank.names


def kumar(data: str, samples: int, seed: int, target: str = "y") -> Instance:
    """The 13 kernels of Kumar et al., centred and of unit variance as there; y is class 0 against the rest."""
    x, classes = standardised(data, samples, seed)
    kernels, names = _stack(kumar_bank(), x, Preprocessing.from_options(centre=True, normalise="variance"))
    if target == "classes":
        return Instance(kernels, classes=classes, names=names)
    return Instance(kernels, one_against_rest(classes), names=names, groups=[0] * 9 + [1] * 3 + [2])


def xu(data: str, samples: int, features: int, seed: int) -> Instance:
    """The 13 + 13d kernels of Xu et al. on the first d features, of trace n; one group for each view."""
    x, classes = standardised(data, samples, seed, features)
    kernels, names = _stack(xu_bank(), x, Preprocessing.from_options(normalise="trace"))
    return Instance(kernels, one_against_rest(classes), names=names, groups=np.repeat(np.arange(features + 1), 13))


def features_alone(data: str, samples: int, features: int, seed: int) -> Instance:
    """Linear kernels on single features; their rank is exactly one."""
    x, classes = standardised(data, samples, seed, features)
    kernels, names = _stack(KernelBank([Linear()], features="each"), x)
    return Instance(kernels, one_against_rest(classes), names=names, groups=pairs(features))


def peers(samples: int, seed: int) -> Instance:
    """The instance for comparisons with other packages: breast cancer, ten Gaussians on all features, γ from 1e-3 to
    10, and ten on single features, γ = 1."""
    x, classes = standardised("breast_cancer", samples, seed)
    wide = KernelBank([Gaussian(float(gamma)) for gamma in np.geomspace(1e-3, 10.0, 10)])
    alone = KernelBank([Gaussian(1.0)], features="each")
    (first, names), (second, more) = _stack(wide, x), _stack(alone, x[:, :10])
    return Instance(
        np.concatenate([first, second]), one_against_rest(classes), names=names + more, groups=[0] * 10 + [1] * 10
    )


def noisy(share: float, samples: int, features: int, seed: int) -> Instance:
    """Breast cancer with additional features of pure noise."""
    x, classes = standardised("breast_cancer", samples, seed, features)
    return noise_features(share, x, one_against_rest(classes), seed)


def real(data: str, target: str = "y", samples: int = 80, count: int = 10) -> Instance:
    """A part of one of scikit-learn's data sets (`breast_cancer`, `wine`, `digits`), standardised.

    Kernels of trace n: two fifths are Gaussians of several widths, two are linear and quadratic, all on all features;
    the rest are Gaussians on single features. `target` is "classes", or "y": even classes against odd ones, with
    groups of two kernels.
    """
    from sklearn import datasets

    check_name("data set", data, REAL)
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
