"""Problems with label sets."""

import numpy as np
from sklearn.datasets import load_digits

from mklcvx import Instance


def digits(n: int, classes: int = 4) -> Instance:
    """Three views of the digits 0 to 3 as kernels; the last label is shared with the bright half of the images."""
    x, t = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(t))
    rows = rows[t[rows] < classes][:n]
    x, t = x[rows] / 16, t[rows]
    views = (x[:, :32], x[:, 32:], x)
    kernels = np.stack([np.exp(-g * ((v[:, None] - v) ** 2).sum(axis=2)) for v in views for g in (0.1, 1.0)])
    labels = (np.arange(classes) == t[:, None]).astype(int)
    labels[:, -1] |= x.mean(axis=1) > np.median(x.mean(axis=1))
    return Instance(kernels, labels=labels)


def synthetic(n: int, k: int, seed: int = 0, dependent: bool = False) -> Instance:
    """Labels that share a hidden direction, on noisy views; `dependent` makes the last the opposite of the first."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    labels = (hidden @ rng.normal(size=(2, k)) + 0.5 * rng.normal(size=(n, k)) > 0).astype(int)
    labels[0], labels[1] = 1, 0
    if dependent:
        labels[:, -1] = 1 - labels[:, 0]
    views = [hidden + 0.4 * rng.normal(size=(n, 2)) for _ in range(3)]
    kernels = np.stack([np.exp(-0.5 * ((v[:, None] - v) ** 2).sum(axis=2)) for v in views])
    return Instance(kernels, labels=labels)
