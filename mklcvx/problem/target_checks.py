"""The check of targets, of training and of test samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np

from ..errors import InputError, clipped, remedy
from .numbers import AnyArray, Array, are_doubles, is_text, mixes_words, read_array
from .targets import KINDS, NONE, Targets, as_words

DIMENSIONS = {"y": (1,), "classes": (1,), "labels": (2,), "response": (1, 2)}
ENTRIES = {"y": "labels", "classes": "entries", "labels": "rows", "response": "rows"}
WANTED = {
    "y": "give −1 or +1 for every sample",
    "classes": "give one class for every sample",
    "labels": "give 0 or 1 for every sample and label",
    "response": "give a finite number for every sample",
}
SHAPES = {
    "y": "give one label per sample, shape (n,)",
    "classes": "give one class per sample, shape (n,)",
    "labels": "give one row per sample, one column per label, 0 or 1",
    "response": "give one number per sample, shape (n,), or one column per output, shape (n, k)",
}
THINGS = {"classes": ("classes", "label"), "labels": ("labels", "label"), "response": ("outputs", "output")}
LARGEST_RESPONSE = 1e100  # its square, and that of its inverse, must not overflow


def as_targets(
    y: object, classes: object, labels: object, names: Iterable[str] | None, count: int, response: object = None
) -> Targets:
    """Check the targets, at most one of the four; `count` is the number of samples of the kernels."""
    values = (y, classes, labels, response)
    given = {kind: value for kind, value in zip(KINDS, values, strict=True) if value is not None}
    if len(given) > 1:
        raise InputError(f"give one of y, classes, labels and response: {' and '.join(given)} given")
    if not given:
        if names is not None:
            raise InputError("label_names are given without targets: leave them out, or give classes or labels")
        return Targets(NONE, np.empty((count, 0)))
    ((kind, value),) = given.items()
    checked = CHECKS[kind](value, kind)
    if kind == "response" and checked.ndim == 2 and (checked.shape[1] == 1 or checked.shape == (1, count)):
        checked = checked.ravel()
    if len(checked) != count:
        turned = " (samples seem to be in columns)" if checked.shape[-1] == count else ""
        fault = f"{kind} has {len(checked)} {ENTRIES[kind]}, the kernels are {count} by {count}"
        raise InputError(f"{fault}: {SHAPES[kind]}{turned}")
    return Targets(kind, checked, _names_of(kind, checked, names))


def find_test_targets(given: Mapping[str, object], kind: str, rows: int, labels: int) -> AnyArray | None:
    """The test targets among those given, or None; refuse targets of another kind.

    `kind` is that of the training samples, `labels` the number of labels or outputs that they have.
    """
    if kind == NONE:
        kind = "y"
        said = "no targets: give test_y, +1 for samples like them and −1 for others"
    else:
        said = f"{kind}: give test_{kind}"
    kinds = [other for other in KINDS if given.get(f"test_{other}") is not None]
    if kind in kinds:
        return as_test_targets(given[f"test_{kind}"], kind, rows, labels)
    for other in kinds:
        raise InputError(f"test_{other} is given where the training samples have {said}")
    return None


def as_test_targets(value: object, kind: str, rows: int, labels: int) -> AnyArray:
    """Check the targets of test samples, of the same kind as the training ones; a single class is allowed."""
    name = f"test_{kind}"
    checked = CHECKS[kind](value, name)
    if kind == "response" and checked.ndim == 2 and labels == 1 and 1 in checked.shape:
        checked = checked.ravel()
    if len(checked) != rows:
        entries = ENTRIES[kind]
        raise InputError(f"{name} has {len(checked)} {entries} for {rows} rows of test_kernels: give one per row")
    columns = checked.shape[1] if checked.ndim == 2 else 1
    if kind in ("labels", "response") and columns != labels:
        things, thing = THINGS[kind]
        raise InputError(f"{name} has {columns} columns for {labels} {things}: give one per {thing}")
    return checked


def named_classes(values: AnyArray, classes: tuple[str, ...], names: tuple[str, ...]) -> AnyArray:
    """Test classes by their names; refuse them if none is a class of the training samples."""
    known = {**dict(zip(names, names, strict=True)), **dict(zip(classes or names, names, strict=True))}
    words = as_words(values)
    if words and not any(word in known for word in words):
        given, trained = _listed(np.unique(words)), _listed(list(dict.fromkeys(known)))
        raise InputError(f"test_classes has {given}, the training samples have {trained}: give classes of training")
    return np.array([known.get(word, word) for word in words], dtype=str)


def _as_classes(classes: object, name: str) -> AnyArray:
    values = _as_label_array(classes, name)
    if values.dtype.kind == "c" or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        raise InputError(f"{name} has entries that are not finite real numbers: {WANTED['classes']}")
    if values.dtype.kind == "S":
        try:
            values = np.char.decode(values, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{name} has strings that are not UTF-8: {WANTED['classes']}") from None
    if values.dtype.kind == "U" and not is_text(values):
        raise InputError(f"{name} has characters that there are not: {WANTED['classes']}")
    if name == "classes" and len(np.unique(values)) < 2:
        fault = "has one class only" if len(values) else "is empty"
        raise InputError(f"{name} {fault}: give samples of at least two classes")
    return values.copy()


def _as_indicators(labels: object, name: str) -> Array:
    values = _as_label_array(labels, name)
    if values.dtype.kind not in "fiub" or not np.isin(values, (0, 1)).all():
        raise InputError(f"{name} has entries other than 0 and 1: give 1 where a sample has a label, else 0")
    return values.astype(np.float64)


def _names_of(kind: str, values: AnyArray, names: Iterable[str] | None) -> tuple[str, ...]:
    if kind == "y":
        if names is not None:
            raise InputError("label_names are given for y, whose labels are −1 and +1: leave them out")
        return ("y",)
    if kind == "classes":
        known = as_words(np.unique(values))
    else:
        known = [str(j) for j in range(values.shape[1])] if values.ndim == 2 else [kind]
    if names is None:
        return tuple(known)
    given = as_names("label_names", names, len(known), *THINGS[kind])
    twice = next((name for j, name in enumerate(given) if name in given[:j]), None)
    if twice is not None:
        raise InputError(f"label_names has {twice!r} twice: give every {THINGS[kind][1]} a name of its own")
    return given


def as_names(field: str, names: Iterable[str], count: int, things: str, thing: str) -> tuple[str, ...]:
    """Check the names: a list of strings, one for each thing."""
    try:
        if isinstance(names, Mapping | Set):
            raise TypeError("of the keys, or in no order")
        if isinstance(names, bytes | bytearray | memoryview):  # they are lists of numbers
            raise TypeError
        given = tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names)
        if not all(is_text(np.asarray(name)) for name in given):
            raise ValueError
    except (TypeError, ValueError, SystemError):  # NumPy raises a SystemError for invalid characters
        raise InputError(f"{field} are not a list of strings: give one per {thing}") from None
    if len(given) != count:
        raise InputError(f"{field}: {len(given)} names for {count} {things}: give one per {thing}")
    return given


def _as_y(y: object, name: str) -> Array:
    labels = _as_label_array(y, name)
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


def _as_response(response: object, name: str) -> Array:
    values = _as_label_array(response, name)
    if values.dtype.kind not in "fiu":
        what = "booleans" if values.dtype.kind == "b" else f"dtype {values.dtype}"
        raise InputError(f"{name} has {what}: give real numbers, or y or classes for labels")
    given = values
    with np.errstate(over="ignore"):
        values = values.astype(np.float64)
    if not are_doubles(given, values):
        raise InputError(f"{name} has {given.dtype} numbers that are no doubles: round them, by astype(float)")
    if not np.isfinite(values).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise InputError(f"{name} has the entry {values[place]} at {list(place)}: {WANTED['response']}")
    largest_entry = float(np.abs(values).max(initial=0.0))
    if name == "response" and largest_entry > 0 and not 1 / LARGEST_RESPONSE <= largest_entry <= LARGEST_RESPONSE:
        step = "divide" if largest_entry > 1 else "multiply"
        fault = f"{name} has the largest entry {largest_entry:.3g}, beyond 1e±100"
        raise InputError(f"{fault}: {step} it by a constant")
    return values


CHECKS = {"y": _as_y, "classes": _as_classes, "labels": _as_indicators, "response": _as_response}


def _as_label_array(y: object, name: str) -> AnyArray:
    """An array of one type, in the shape of this kind of targets."""
    kind = name.removeprefix("test_")
    labels = read_array(y, name, SHAPES[kind].removeprefix("give "))
    try:
        items = labels.ravel().tolist() if labels.dtype == object else []
        if items and all(isinstance(item, type(items[0])) for item in items):
            labels = np.array(items).reshape(labels.shape)
    except ValueError:
        raise InputError(f"{name} is ragged: {SHAPES[kind]}") from None
    if mixes_words(y) or (labels.dtype.kind not in "fiubcUS" and labels.ndim > 0):
        raise InputError(f"{name} has missing or mixed entries: {WANTED[kind]}")
    if DIMENSIONS[kind] == (1,) and labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.ndim not in DIMENSIONS[kind] or 0 in labels.shape[1:]:
        raise InputError(f"{name} has shape {labels.shape}: {SHAPES[kind]}{_other_kind(labels, kind)}")
    return labels


def _other_kind(labels: AnyArray, kind: str) -> str:
    """What targets of another shape are, in words, where that can be told."""
    if kind == "labels" and labels.ndim == 1:
        return "; one class for each sample is given as classes"
    if kind == "classes" and labels.ndim == 2 and labels.dtype.kind in "fiub" and np.isin(labels, (0, 1)).all():
        return remedy(", for example by argmax(axis=1)", "") + "; label sets are given as labels"
    return ""


def _listed(values: Sequence[object] | AnyArray) -> str:
    words = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in values[:4]]
    cut = [clipped(word, 30) for word in words]
    if len(set(cut)) < len(set(words)):  # they begin alike: show how they end
        cut = [word if len(word) <= 30 else f"…{word[-29:].partition(' ')[2] or word[-29:]}" for word in words]
    shown = ", ".join(cut)
    return shown + (f", … ({len(values)} values)" if len(values) > 4 else "")


def _mapping(values: AnyArray, name: str) -> str:
    """What to do with labels that are not −1 and +1."""
    if len(values) == 1:
        return "give samples of two classes"
    choice = f"map them, for example numpy.where({name} == {values[-1].item()!r}, 1, -1)"
    advice = remedy(f"give them as classes, or {choice}", "name them by --var classes=y")
    if "test_" in name:
        return remedy(choice, "store −1 and +1, as in training")
    real = values.dtype.kind == "f" and np.isfinite(values).all() and (values != np.floor(values)).any()
    return remedy("give real targets as response", "name real targets by --var response=y") if real else advice
