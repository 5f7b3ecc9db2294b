"""Platt's sigmoids p = 1/(1 + exp(a f + b)), fitted by scikit-learn on the decision values of samples that were left
out. For k > 2 classes there is one for each class, and the k values are normalised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV

from ..errors import InputError
from ..problem.numbers import check_whole
from ..problem.stack import Array
from .comparing import counted, fits_of_our_own, unfitted

OF_LOG_ODDS = np.array([[-1.0, 0.0]])  # the sigmoid of decision values that are log-odds already


def calibrated(model: Any, X: Array, y: NDArray[Any], weight: Array | None) -> Array:
    """Parameters a and b of each sigmoid, (1, 2) for two classes, else (k, 2)."""
    X, y, weight = counted(model, X, y, weight)
    check_whole(2, calibration_folds=model.calibration_folds)
    folds = min(model.calibration_folds, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        raise InputError("probability=True needs two samples of every class, for held-out decision values: give more")
    classes, codes = np.unique(y, return_inverse=True)  # scikit-learn numbers the classes of held-out samples itself
    prices = model.class_weight
    if isinstance(prices, Mapping):
        prices = {code: prices[name] for code, name in enumerate(classes.tolist()) if name in prices}
    plain = unfitted(model).set_params(probability=False, class_weight=prices)
    chosen = CalibratedClassifierCV(plain, method="sigmoid", cv=folds, ensemble=False)
    with fits_of_our_own():
        fitted = chosen.fit(X, codes, sample_weight=weight)
    (chain,) = fitted.calibrated_classifiers_
    return np.array([(sigmoid.a_, sigmoid.b_) for sigmoid in chain.calibrators])


def probabilities(values: Array, sigmoids: Array) -> Array:
    """Probabilities (t, k) for decision values (t,) or (t, k)."""
    each = expit(-(sigmoids[:, 0] * values.reshape(len(values), -1) + sigmoids[:, 1]))
    if values.ndim == 1:
        return np.hstack([1 - each, each])
    total = each.sum(axis=1, keepdims=True)
    return np.divide(each, total, out=np.full_like(each, 1 / each.shape[1]), where=total > 0)
