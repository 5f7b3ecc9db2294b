"""scikit-learn's data through the banks of the papers, on a grid before and after.

Features are standardised and rounded to sixteenths; then every distance and inner product is exact, and only what a
kernel makes of them is rounded again, by `quantised`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problem.instance import Instance
from ..problem.kernels import Gaussian, KernelBank, Linear, kumar_bank, xu_bank
from ..problem.preprocessing import Preprocessing
from .constructions import noise_features, pairs
from .draws import Draws
from .grid import quantised, rounded

Array = NDArray[np.float64]
STEPS = 16  # to a standard deviation


def standardised(data: str, samples: int, seed: int, features: int | None = None) -> tuple[Array, NDArray[np.int64]]:
    """Some samples of a data set, the first features (all that vary, if not said), and their classes."""
    from sklearn import datasets

    x, classes = getattr(datasets, f"load_{data}")(return_X_y=True)
    chosen = Draws(seed).order(len(classes))[:samples]
    x = np.asarray(x[chosen], dtype=float)
    x = x[:, np.ptp(x, axis=0) > 0][:, :features]
    return rounded(STEPS * (x - x.mean(axis=0)) / x.std(axis=0)) / STEPS, np.asarray(classes)[chosen]


def one_against_rest(classes: NDArray[np.int64], positive: int = 0) -> Array:
    return np.where(classes == positive, 1.0, -1.0)


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
    """Linear kernels on single features: of rank one, exactly."""
    x, classes = standardised(data, samples, seed, features)
    kernels, names = _stack(KernelBank([Linear()], features="each"), x)
    return Instance(kernels, one_against_rest(classes), names=names, groups=pairs(features))


def peers(samples: int, seed: int) -> Instance:
    """The problem that other packages were measured on: breast cancer, ten Gaussians on all features, γ from 1e-3 to
    10, and ten on single features, γ = 1."""
    x, classes = standardised("breast_cancer", samples, seed)
    wide = KernelBank([Gaussian(float(gamma)) for gamma in np.geomspace(1e-3, 10.0, 10)])
    alone = KernelBank([Gaussian(1.0)], features="each")
    (first, names), (second, more) = _stack(wide, x), _stack(alone, x[:, :10])
    return Instance(
        np.concatenate([first, second]), one_against_rest(classes), names=names + more, groups=[0] * 10 + [1] * 10
    )


def noisy(share: float, samples: int, features: int, seed: int) -> Instance:
    """Breast cancer with features of pure noise beside its own."""
    x, classes = standardised("breast_cancer", samples, seed, features)
    return noise_features(share, x, one_against_rest(classes), seed)
