"""What a fitted model says about samples from a file, as `Prediction` tabulates it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .base import KernelEstimator
from .prediction import Prediction
from .targets import winners


@dataclass(frozen=True)
class Served:
    """What the columns of a table are called."""

    target: str
    label_names: tuple[str, ...]


def prediction_of(model: KernelEstimator, given: Mapping[str, Any]) -> tuple[Prediction, str]:
    """Decision values and labels, or the embedding; and why the model is not certified, if it is not."""
    X = _checked_features(model, given)
    with np.errstate(over="ignore", invalid="ignore"):
        values = _values(model, X)
    if not np.isfinite(values).all():
        raise InputError("X is too large for double precision: scale it as in training")
    message = next((solution.message for solution in model.solutions_ if not solution.certified), "")
    if hasattr(model, "transform"):
        return Prediction(Served("y", ()), values, None, None), message
    classes, sets = np.asarray(model.classes_), getattr(model, "_sets", None) is not None
    labels = (values > 0).astype(int) if sets else classes[winners(values)]
    target = "labels" if sets else "y" if values.ndim == 1 else "classes"
    truth = given.get("y")
    if truth is not None and np.shape(truth) != labels.shape:
        raise InputError(f"y has shape {np.shape(truth)} for predictions of shape {labels.shape}: give one per sample")
    if truth is not None and not sets and not np.isin(truth, classes).any():
        known = ", ".join(map(str, classes))[:60]
        raise InputError(
            f"y has {np.ravel(truth)[0]!s:.20}, and no class of the model: {known}: give classes as in training"
        )
    return Prediction(Served(target, tuple(map(str, classes))), values, labels, truth), message


def _values(model: Any, X: Any) -> Any:
    try:
        return model.transform(X) if hasattr(model, "transform") else model.decision_function(X)
    except InputError:
        raise
    except (ValueError, TypeError) as fault:
        raise InputError(" ".join(str(fault).split())[:200]) from None


def _checked_features(model: Any, given: Mapping[str, Any]) -> Any:
    X, names = given["X"], given.get("names")
    known = getattr(model, "feature_names_in_", None)
    if names is not None and known is not None and list(known) != names:
        theirs, ours = ", ".join(names)[:60], ", ".join(known)[:60]
        raise InputError(f"the headings are {theirs}, the model knows {ours}: give these columns in this order")
    if X.dtype.kind not in "fiub" or not np.isfinite(X).all():
        raise InputError("X is no array of finite numbers: give samples × features")
    if not len(X):
        raise InputError("X has no samples: give at least one")
    return X
