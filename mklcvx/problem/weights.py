"""Weights of samples and classes: positive, finite, and of a size that can be squared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import InputError
from .stack import Array
from .targets import Targets
from .validation import as_array

LARGEST_WEIGHT = 1e100


def as_weights(sample_weight: object, samples: int, may_vanish: bool = False) -> Array:
    if sample_weight is None:
        return np.ones(samples)
    given = as_array(sample_weight, "sample_weight", "(n,)")
    if given.size != samples or max(given.shape, default=0) != samples:
        raise InputError(f"sample_weight has shape {given.shape} for {samples} samples: give one per sample")
    weights = given.astype(np.float64).ravel()
    if may_vanish and np.isfinite(weights).all() and (weights >= 0).all() and weights.any():
        return weights
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InputError("sample_weight has entries that are not positive and finite: leave such samples out")
    return weights


def check_weight_sizes(weights: Array) -> None:
    """Refuse weights whose squares or inverses could overflow."""
    if len(strange := _beyond(weights)):
        raise InputError(f"sample_weight has the entry {strange[0]:.3g}, beyond 1e±100: rescale the weights")


def _beyond(weights: Array) -> Array:
    return weights[~((weights <= LARGEST_WEIGHT) & (weights >= 1 / LARGEST_WEIGHT))]


def class_weights(class_weight: str | Mapping[int, float] | None, targets: Targets) -> Array:
    if class_weight is None:
        return np.ones(len(targets))
    if targets.kind != "y":
        raise InputError(f"class_weight needs y, the instance has {targets.present}: give sample_weight instead")
    y = targets.values
    positive = y > 0
    shown = " ".join(repr(class_weight).split())
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.where(positive, len(y) / (2 * positive.sum()), len(y) / (2 * (~positive).sum()))
    if not isinstance(class_weight, Mapping) or set(class_weight) != {-1, 1}:
        raise InputError(f"class_weight = {shown}: give 'balanced' or {{-1: weight, 1: weight}}")
    try:
        up, down = float(class_weight[1]), float(class_weight[-1])
    except (TypeError, ValueError, OverflowError):
        up = down = np.nan
    if not (0 < up < np.inf and 0 < down < np.inf):
        raise InputError(f"class_weight = {shown}: weights must be positive and finite")
    return np.where(positive, up, down)


def combined_weights(sample_weight: Array, class_weight: Array) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        weight = sample_weight * class_weight
    if len(_beyond(weight)):
        raise InputError("sample_weight times class_weight leaves the range of 1e±100: give moderate weights")
    return weight
