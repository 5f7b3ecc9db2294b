"""Three of scikit-learn's tables in small, standardised, and kernels on them."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from mklcvx.problem.kernels import Gaussian, KernelBank, Linear

BANK = [Gaussian(0.02), Gaussian(0.1), Linear(), {"kernel": "gaussian", "gamma": 1.0, "features": [0, 3]}]
KERNELS = KernelBank(BANK[:3])


def standardised(loader, part):
    X, y = loader(return_X_y=True)
    X = X[part]
    return (X - X.mean(axis=0)) / X.std(axis=0), y[part]


CANCER, MALIGNANT = standardised(load_breast_cancer, slice(0, 180, 2))
WINE, GRAPE = standardised(load_wine, slice(0, None, 3))
DIABETES, PROGRESSION = standardised(load_diabetes, slice(0, 360, 4))
PROGRESSION = (PROGRESSION - PROGRESSION.mean()) / PROGRESSION.std()
TRAIN, TEST = np.arange(0, 60), np.arange(60, 90)
LEARNED, TARGET = DIABETES[TRAIN], PROGRESSION[TRAIN]
RAW = {"normalise": None}  # kernels as they are, for comparisons with other machines and with `solve`


def stack_of(X, Z=None):
    """Samples first."""
    bank = KERNELS.fit(X)
    return np.moveaxis(bank.stack(Z), 0, -1)
