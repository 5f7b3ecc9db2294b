"""Instances from real data, for solvers: breast cancer, wine and digits, with kernels of several widths."""

from __future__ import annotations

from functools import cache

import numpy as np

from mklcvx import Instance
from mklcvx.kernels import Gaussian, KernelBank, Linear, Polynomial

GAMMAS = (0.1, 0.3, 1.0, 3.0)


@cache
def real_instance(data: str, target: str = "y", samples: int = 80) -> Instance:
    """Ten kernels in five groups: Gaussians, linear and quadratic on all features, Gaussians on single ones."""
    from sklearn import datasets

    features, classes = getattr(datasets, f"load_{data}")(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(classes))[:samples]
    features, classes = features[chosen].astype(float), classes[chosen]
    spread = features.std(axis=0)
    features = (features[:, spread > 0] - features[:, spread > 0].mean(axis=0)) / spread[spread > 0]
    size = features.shape[1]
    whole = KernelBank([Gaussian(gamma / size) for gamma in GAMMAS] + [Linear(), Polynomial(2)]).fit(features)
    single = KernelBank([Gaussian(1.0)], features="each").fit(features[:, [0, 3, 6, 9]])
    kernels = np.concatenate([whole.stack(), single.stack()])
    kernels = kernels / np.array([np.trace(kernel) / samples for kernel in kernels])[:, None, None]
    if target == "classes":
        return Instance(kernels, classes=classes)
    return Instance(kernels, np.where(classes % 2 == 0, 1, -1), groups=np.repeat(np.arange(5), 2))
