"""The targets: what the samples are labelled with. One of y (±1), classes (one per sample) or labels (0/1, many)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

Array = NDArray[np.float64]

KINDS = ("y", "classes", "labels")


@dataclass(frozen=True, eq=False)
class Targets:
    """`values` are (n,) in {−1,+1} for kind "y", (n,) of any values for "classes", (n, k) in {0, 1} for "labels".

    `names` are those of the classes or labels.
    """

    kind: str
    values: NDArray[Any]
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def plus_minus(self, formulation: str) -> Array:
        """Labels ±1, for formulations of a single task."""
        if self.kind != "y":
            raise InputError(
                f"{formulation} needs labels y in {{−1, +1}}, the instance has {self.kind}: "
                f"give y, for example one of the {len(self.names)} {self.kind} against the rest, or use ml_sum"
            )
        return np.asarray(self.values, dtype=np.float64)

    def signs(self, formulation: str, constant_allowed: bool = True) -> Array:
        """One row of ±1 for every label, (k, n): each class against the rest, each label, or y itself."""
        if self.kind == "y":
            return np.asarray(self.values, dtype=np.float64)[None]
        members = self.indicators()
        for column, name in zip(members.T, self.names, strict=True):
            if not column.any():
                raise InputError(f"{formulation}: nobody has label {name!r}: leave that label out")
            if column.all() and not constant_allowed:
                raise InputError(f"{formulation}: everybody has label {name!r}: leave that label out")
        return np.where(members.T > 0, 1.0, -1.0)

    def indicators(self) -> Array:
        """(n, k) in {0, 1}: who has which label."""
        if self.kind == "y":
            return (self.values[:, None] > 0).astype(np.float64)
        if self.kind == "classes":
            return (self.values[:, None] == self.class_values()).astype(np.float64)
        return np.asarray(self.values, dtype=np.float64)

    def class_values(self) -> NDArray[Any]:
        return np.unique(self.values)

    def together(self) -> Array:
        """t_ij = +1 where two samples are of one class, or share a label; else −1. A sample is always with itself."""
        if self.kind == "labels":
            sharing = self.indicators() @ self.indicators().T > 0
            np.fill_diagonal(sharing, True)
            return np.where(sharing, 1.0, -1.0)
        return np.where(self.values[:, None] == self.values, 1.0, -1.0)


def as_targets(y: Any, classes: Any, labels: Any, names: Iterable[str] | None, count: int | None = None) -> Targets:
    """Exactly one of the three, checked; `count` is the number of samples that the kernels have."""
    given = {kind: value for kind, value in zip(KINDS, (y, classes, labels), strict=True) if value is not None}
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise InputError(f"give exactly one of y, classes and labels: {found} given")
    ((kind, value),) = given.items()
    checked = {"y": _as_y, "classes": _as_classes, "labels": _as_indicators}[kind](value, kind)
    if count is not None and len(checked) != count:
        raise InputError(
            f"{kind} has {len(checked)} labels, the kernels are {count} by {count}: give one label per sample"
        )
    return Targets(kind, checked, _names_of(kind, checked, names))


def as_test_targets(value: Any, kind: str, rows: int) -> NDArray[Any]:
    """Targets of test samples, of the same kind as the training ones; one class alone is fine here."""
    name = f"test_{kind}"
    checked = {"y": _as_labels, "classes": _as_classes, "labels": _as_indicators}[kind](value, name)
    if len(checked) != rows:
        raise InputError(f"{name} has {len(checked)} labels for {rows} rows of test_kernels: give one per row")
    return checked


def _as_y(y: Any, name: str) -> Array:
    return _as_labels(y, name)


def _as_classes(classes: Any, name: str) -> NDArray[Any]:
    values = _as_label_array(classes, name)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1:
        raise InputError(f"{name} has shape {values.shape}: give one class per sample, shape (n,)")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"{name} has entries that are not finite: give one class per sample")
    if name == "classes" and len(np.unique(values)) < 2:
        raise InputError(f"{name} has one class only: give samples of at least two")
    return values


def _as_indicators(labels: Any, name: str) -> Array:
    values = _as_label_array(labels, name)
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(f"{name} has shape {values.shape}: give one row per sample, one column per label, 0 or 1")
    if values.dtype.kind not in "fiub" or not np.isin(values, (0, 1)).all():
        raise InputError(f"{name} has entries other than 0 and 1: give 1 where a sample has a label, else 0")
    return values.astype(np.float64)


def _names_of(kind: str, values: NDArray[Any], names: Iterable[str] | None) -> tuple[str, ...]:
    if kind == "y":
        return ("y",)
    known = [str(v) for v in np.unique(values)] if kind == "classes" else [str(j) for j in range(values.shape[1])]
    if names is None:
        return tuple(known)
    given = tuple(str(name) for name in names)
    if len(given) != len(known):
        raise InputError(f"label_names: {len(given)} names for {len(known)} labels: give one per label")
    return given


def _as_labels(y: Any, name: str) -> Array:
    labels = _as_label_array(y, name)
    if labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise InputError(f"{name} has shape {labels.shape}: give one label per sample, shape (n,)")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InputError(f"{name} has NaN at [{np.isnan(labels).argmax()}]: give −1 or +1 for every sample")
    values = np.unique(labels)
    if labels.dtype.kind in "fiu" and np.isin(values, (-1, 1)).all():
        if len(values) < 2 and name == "y":
            fault = f"has one class only ({values[0]:+g})" if len(values) else "is empty"
            raise InputError(f"{name} {fault}: give samples of both −1 and +1")
        return labels.astype(np.float64)
    shown = name if isinstance(y, np.ndarray) else f"numpy.array({name})"
    raise InputError(f"{name} has labels {_listed(values)}, not −1 and +1: {_mapping(values, shown)}")


def _as_label_array(y: Any, name: str) -> NDArray[Any]:
    try:
        labels = np.asarray(y)
        items = labels.ravel().tolist() if labels.dtype == object else []
        if items and all(isinstance(item, type(items[0])) for item in items):
            labels = np.array(items).reshape(labels.shape)
    except ValueError:
        raise InputError(f"{name} is ragged: give one label per sample, shape (n,)") from None
    if np.ma.is_masked(y) or (labels.dtype.kind not in "fiubcUS" and labels.ndim > 0):
        raise InputError(f"{name} has missing or mixed entries: give −1 or +1 for every sample")
    return labels


def _listed(values: NDArray[Any]) -> str:
    shown = ", ".join(str(v)[:20] for v in values[:4])
    return shown + (f", … ({len(values)} values)" if len(values) > 4 else "")


def _mapping(values: NDArray[Any], name: str) -> str:
    if len(values) == 1:
        return "give samples of two classes"
    choice = "map them" if len(values) == 2 else "choose one against the rest"
    return f"{choice}, for example numpy.where({name} == {values[-1].item()!r}, 1, -1)"
