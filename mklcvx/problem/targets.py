"""The targets of the samples: one of y (±1), classes (one per sample), labels (0/1, any number per sample) and response
(real numbers, one or several per sample), or none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, clipped, remedy
from .numbers import AnyArray

Array = NDArray[np.float64]

KINDS = ("y", "classes", "labels", "response")  # arguments of an instance, and fields of its files
NONE = "none"  # the kind of targets that an instance without any has
LABELLED = ("y", "classes", "labels")
# The losses that take the other kinds; refusals name them.
LOSSES_FOR: dict[str, tuple[str, ...]] = {
    "response": (
        "squared", "epsilon_insensitive", "absolute", "squared_epsilon_insensitive", "huber", "quantile",
    ),
    "classes": ("crammer_singer", "softmax"),
    NONE: ("one_class",),
}  # fmt: skip
TAKEN = {"response": "a response is", "classes": "classes at once are", NONE: "an instance without targets is"}
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
LARGEST_WHOLE = 1e15
TIE = 1e-12  # relative rounding error of decision values
NUMBERS = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "longdouble",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Targets:
    """`values` are (n,) in {−1,+1} for kind "y", (n,) of any values for "classes", (n, k) in {0, 1} for "labels", real
    numbers (n,) or (n, k) for "response", and (n, 0) for "none".

    `names` are those of the classes, labels or outputs.
    """

    kind: str
    values: AnyArray
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def outputs(self) -> int:
        """Columns of a response; 1 for other targets."""
        return self.values.shape[1] if self.kind == "response" and self.values.ndim == 2 else 1

    @property
    def present(self) -> str:
        """What the instance has, in words."""
        if self.kind == NONE:
            return "no targets"
        if self.kind != "response":
            return self.kind
        return "a response" if self.values.ndim == 1 else f"a response of {len(self.names)} outputs"

    @property
    def test_field(self) -> str:
        """The argument that the test samples' targets are given by. Without targets it is test_y: +1 for samples like
        the training ones, −1 for others."""
        return "test_y" if self.kind == NONE else f"test_{self.kind}"

    def arguments(self) -> dict[str, object]:
        """The arguments of an instance that make these targets."""
        if self.kind == NONE:
            return {}
        return {self.kind: self.values, "label_names": None if self.kind == "y" else self.names}

    def of_samples(self, chosen: NDArray[np.intp]) -> Targets:
        """The targets of some samples, with the names of the classes that are left."""
        values, names = self.values[chosen], self.names
        if self.kind == "classes":
            left = np.isin(self.class_values(), values)
            names = tuple(name for name, there in zip(names, left, strict=True) if there)
        return replace(self, values=values, names=names)

    def refusal(self, who: str, needs: str, words: str) -> InputError:
        """The error of something that needs other targets; it says which losses take the ones that are there."""
        fitting = LOSSES_FOR.get(self.kind)
        if fitting is not None:
            words += f"; {TAKEN[self.kind]} for {_losses(fitting)}"
        return InputError(f"{who} needs {needs}, the instance has {self.present}: {words}")

    def real(self, who: str) -> Array:
        """The response (n,), for the losses of regression."""
        if self.kind != "response":
            raise self.refusal(who, "a response", "give response, or a loss for what there is")
        if self.values.ndim > 1:
            fault = f"{who} takes one output, the instance has {self.present}"
            raise InputError(f"{fault}: give one of its columns as response")
        return np.asarray(self.values)

    def plus_minus(self, formulation: str) -> Array:
        """Labels ±1, for formulations of a single task."""
        if self.kind != "y":
            words = "give y"
            if self.kind in LABELLED:
                words += f", for example one of the {len(self.names)} {self.kind} against the rest, or use ml_sum"
            if self.kind == "classes":
                by = "MKLClassifier does so for every class", "--positive CLASS does so for one, solve for every class"
                words += f" ({remedy(*by)})"
            raise self.refusal(formulation, "labels y in {−1, +1}", words)
        return np.asarray(self.values, dtype=np.float64)

    def signs(self, formulation: str, constant_allowed: bool = True) -> Array:
        """One row of ±1 for every label, (k, n): each class against the rest, each label, or y itself."""
        if self.kind == "y":
            return np.asarray(self.values, dtype=np.float64)[None]
        members = self.indicators(formulation)
        for column, name in zip(members.T, self.names, strict=True):
            if not column.any():
                raise InputError(f"{formulation}: no sample has label {name!r}: leave that label out")
            if column.all() and not constant_allowed:
                raise InputError(f"{formulation}: every sample has label {name!r}: leave that label out")
        return np.where(members.T > 0, 1.0, -1.0)

    def indicators(self, who: str = "this method") -> Array:
        """(n, k) in {0, 1}: the labels of each sample."""
        self._check_labelled(who)
        if self.kind == "y":
            return (self.values[:, None] > 0).astype(np.float64)
        if self.kind == "classes":
            return (self.values[:, None] == self.class_values()).astype(np.float64)
        return np.asarray(self.values, dtype=np.float64)

    def class_values(self) -> AnyArray:
        return np.unique(self.values)

    def classes(self) -> tuple[str, ...]:
        """The classes as strings, in the order of their names; empty if the targets are not classes."""
        return tuple(as_words(self.class_values())) if self.kind == "classes" else ()

    def classes_kind(self) -> str:
        """The type of the classes, one of NUMBERS, if they are numbers or booleans; empty for strings."""
        if self.kind != "classes" or self.values.dtype.kind not in "biuf":
            return ""
        return "longdouble" if self.values.dtype.char == "g" else self.values.dtype.name

    def predicted_classes(self) -> AnyArray:
        """The classes as predictions show them."""
        return classes_of(self.names, self.classes(), self.classes_kind())

    def together(self) -> Array:
        """t_ij = +1 if two samples have the same class or share a label, or if i = j; else −1."""
        self._check_labelled("a target of pairs")
        if self.kind == "labels":
            sharing = self.indicators() @ self.indicators().T > 0
            np.fill_diagonal(sharing, True)
            return np.where(sharing, 1.0, -1.0)
        return np.where(self.values[:, None] == self.values, 1.0, -1.0)

    def _check_labelled(self, who: str) -> None:
        if self.kind not in LABELLED:
            raise self.refusal(who, "labels", "give y, classes or labels")


def _losses(names: tuple[str, ...]) -> str:
    return f"the loss{'es' if len(names) > 1 else ''} {', '.join(names)}"


def as_targets(
    y: object,
    classes: object,
    labels: object,
    names: Iterable[str] | None,
    count: int | None = None,
    response: object = None,
) -> Targets:
    """Check the targets, at most one of the four; `count` is the number of samples of the kernels."""
    values = (y, classes, labels, response)
    given = {kind: value for kind, value in zip(KINDS, values, strict=True) if value is not None}
    if len(given) > 1:
        raise InputError(f"give one of y, classes, labels and response: {' and '.join(given)} given")
    if not given:
        if names is not None:
            raise InputError("label_names are given without targets: leave them out, or give classes or labels")
        return Targets(NONE, np.empty((count or 0, 0)))
    ((kind, value),) = given.items()
    checked = CHECKS[kind](value, kind)
    if kind == "response" and checked.ndim == 2 and (checked.shape[1] == 1 or checked.shape == (1, count)):
        checked = checked.ravel()
    if count is not None and len(checked) != count:
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
    found = [other for other in KINDS if given.get(f"test_{other}") is not None]
    if kind in found:
        return as_test_targets(given[f"test_{kind}"], kind, rows, labels)
    for other in found:
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


def classes_of(names: tuple[str, ...], classes: tuple[str, ...], kind: str) -> AnyArray:
    """The classes by name; numbers and booleans in their own type, unless they were given other names."""
    if not kind or names != classes:
        return np.array(names)
    if kind not in NUMBERS:
        raise ValueError(f"{kind!r:.40} is not a type of numbers")
    if kind == "bool":
        return np.array([word == "True" for word in classes])
    return np.array([int(word) for word in classes], dtype=kind) if "int" in kind else np.array(classes).astype(kind)


def decided(values: Array, kind: str, classes: AnyArray) -> AnyArray:
    """Predictions from decision values: ±1, the class with the largest value, or labels 0 and 1. Zero counts as +1. A
    response is predicted by the values themselves."""
    if kind == "response":
        return values
    if kind == "labels":
        return (values >= 0).astype(np.int64)
    if kind == "classes":
        return np.asarray(classes[largest(values)])
    return np.where(values.reshape(len(values)) >= 0, 1, -1)


def errors_of_response(observed: Array, predicted: Array) -> dict[str, float]:
    """Root mean squared error, mean absolute error and R², by these names; R² only where it is defined."""
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(predicted - observed)
        found = {"root mean squared error": float(np.sqrt(np.mean(off**2))), "mean absolute error": float(off.mean())}
        spread = ((observed - observed.mean(axis=0)) ** 2).sum(axis=0)
        if (spread > 0).all():
            found["R²"] = float(np.mean(1 - (off**2).sum(axis=0) / spread))
    return found


def largest(values: Array) -> NDArray[np.intp]:
    """The column with the largest value of every row. Values that are equal up to rounding, such as those of samples on
    the margins of two classes, are a tie, and the first column wins."""
    near = TIE * np.abs(values).max(axis=1, keepdims=True)
    return np.asarray(np.argmax(values >= values.max(axis=1, keepdims=True) - near, axis=1))


def as_words(values: AnyArray) -> list[str]:
    """Classes as strings; a whole number gives the same string in every type."""
    return [
        str(int(v)) if isinstance(v, float) and v.is_integer() and abs(v) < LARGEST_WHOLE else str(v)
        for v in values.tolist()
    ]


def _as_classes(classes: object, name: str) -> AnyArray:
    values = _as_label_array(classes, name)
    if values.dtype.kind == "c" or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        raise InputError(f"{name} has entries that are not finite real numbers: {WANTED['classes']}")
    if values.dtype.kind == "S":
        try:
            values = np.char.decode(values, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{name} has strings that are not UTF-8: {WANTED['classes']}") from None
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
        given = tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names)
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
    with np.errstate(over="ignore"):
        values = values.astype(np.float64)
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
    try:
        labels = np.asarray(y)
        items = labels.ravel().tolist() if labels.dtype == object else []
        if items and all(isinstance(item, type(items[0])) for item in items):
            labels = np.array(items).reshape(labels.shape)
    except ValueError:
        raise InputError(f"{name} is ragged: {SHAPES[kind]}") from None
    if np.ma.is_masked(y) or (labels.dtype.kind not in "fiubcUS" and labels.ndim > 0):
        raise InputError(f"{name} has missing or mixed entries: {WANTED[kind]}")
    if DIMENSIONS[kind] == (1,) and labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.ndim not in DIMENSIONS[kind] or 0 in labels.shape[1:]:
        raise InputError(f"{name} has shape {labels.shape}: {SHAPES[kind]}")
    return labels


def _listed(values: Sequence[object] | AnyArray) -> str:
    shown = ", ".join(clipped(v, 20) for v in values[:4])
    return shown + (f", … ({len(values)} values)" if len(values) > 4 else "")


def _mapping(values: AnyArray, name: str) -> str:
    """What to do with labels that are not −1 and +1."""
    if len(values) == 1:
        return "give samples of two classes"
    as_classes = remedy("give them as classes", "name them by --var classes=y")
    choice = f"map them, for example numpy.where({name} == {values[-1].item()!r}, 1, -1)"
    advice = remedy(f"{as_classes}, or {choice}", as_classes)
    real = values.dtype.kind == "f" and np.isfinite(values).all() and (values != np.floor(values)).any()
    return remedy("give real targets as response", "name real targets by --var response=y") if real else advice
