"""Parts of scikit-learn's data sets under a mixed bank of kernels."""

from __future__ import annotations

import numpy as np

from ..errors import InputError, nearest
from ..problem.instance import Instance
from ..problem.kernels import Gaussian, KernelBank, Linear, Polynomial

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
