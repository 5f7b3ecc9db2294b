"""Targets y of the estimators: two classes, many classes, or label sets (n, k) in {0, 1}."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from ..errors import InputError, warn
from ..problem.stack import Array
from .inputs import ONE_AT_A_TIME, checks_of_sklearn


@dataclass
class LabelSets:
    """`learned` are the labels that are not constant in training; `values` are the decisions ±1 of the others."""

    learned: NDArray[np.intp]
    values: Array

    @classmethod
    def of(
        cls, labels: NDArray[Any], who: str, everybody: bool = False, names: Sequence[str] | None = None
    ) -> LabelSets:
        """Leave out labels that no sample has, and those that all samples have unless `everybody` is true."""
        shares = labels.mean(axis=0)
        constant = (shares == 0) | ((shares == 1) & (not everybody))
        if constant.all():
            raise InputError(f"{who} needs a label that some samples have and others have not: y has one class each")
        if constant.any():
            left = np.flatnonzero(constant)[:5].tolist()
            shown = ", ".join(map(str, left if names is None else [names[k] for k in left]))
            warn(f"labels {shown} are the same for all training samples: left out")
        return cls(np.flatnonzero(~constant), np.where(shares > 0.5, 1.0, -1.0))

    def spread(self, values: Array) -> Array:
        """Decision values of all labels, (t, k), from those of the learned labels."""
        full = np.tile(self.values, (len(values), 1))
        full[:, self.learned] = values.reshape(len(values), -1)
        return full


def names_of(y: Any) -> list[str] | None:
    """The names of several labels, or of several responses: those of a DataFrame's columns, if all are words."""
    names = [*getattr(y, "columns", ())]
    words = all(isinstance(name, str) and name for name in names) and len({*names}) == len(names)
    return names if words and len(names) > 1 else None


def as_target(y: Any) -> NDArray[Any]:
    """Classes (n,) or label sets (n, k); refuse continuous values."""
    y = y.toarray() if issparse(y) else np.asarray(y)
    with ONE_AT_A_TIME, checks_of_sklearn():
        check_classification_targets(y)
        if type_of_target(y) == "multilabel-indicator":
            return y
        if y.ndim == 2 and y.shape[1] > 1:
            fault = f"y has shape {y.shape} and entries other than 0 and 1"
            raise InputError(f"{fault}: give classes (n,) or labels (n, k)")
        return np.asarray(column_or_1d(y, warn=True))


def classes_of(y: NDArray[Any], who: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"{who} needs samples of two classes, y has one class with positive weight: give more data")
    return classes, codes


def _label_shares(class_weight: Any, y: NDArray[Any], weight: Array | None) -> Array:
    if class_weight is None:
        return np.ones(len(y))
    if not isinstance(class_weight, str) or class_weight != "balanced" or weight is None:
        with ONE_AT_A_TIME, checks_of_sklearn():
            return np.asarray(compute_sample_weight(class_weight, y))
    return np.asarray(np.prod([sample_prices(class_weight, label, weight) / weight for label in y.T], axis=0))


def sample_prices(class_weight: Any, y: NDArray[Any], weight: Array | None) -> Array:
    """Sample weight times class weight. A label set's class weight is the product over its labels, as in
    scikit-learn."""
    own = np.ones(len(y)) if weight is None else weight
    if y.ndim == 2:
        shares = _label_shares(class_weight, y, weight)
        if not (shares > 0).all():
            raise InputError("class_weight leaves samples without a positive weight: give positive ones")
        return np.asarray(own * shares)
    classes = np.unique(y)
    with ONE_AT_A_TIME, checks_of_sklearn():
        balance = compute_class_weight(class_weight, classes=classes, y=y, sample_weight=weight)
    for name, share in zip(classes, balance, strict=True):
        if not 0 < share < np.inf:
            raise InputError(f"class_weight of class {name} is {share:g}: give positive ones, or leave the class out")
    return np.asarray(own * balance[np.searchsorted(classes, y)])
