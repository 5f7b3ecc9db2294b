"""The targets of the samples: one of y (±1), classes (one per sample), labels (0/1, any number per sample) and response
(real numbers, one or several per sample), or none."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, remedy
from .numbers import AnyArray, Array

KINDS = ("y", "classes", "labels", "response")  # arguments of an instance, and fields of its files
NONE = "none"  # the kind of targets that an instance without any has
LABELLED = ("y", "classes", "labels")
# The losses that take the other kinds; refusals name them.
LOSSES_FOR: dict[str, tuple[str, ...]] = {
    "response": (
        "squared", "epsilon_insensitive", "absolute", "squared_epsilon_insensitive", "huber", "quantile", "nu_svr",
        "poisson",
    ),
    "classes": ("crammer_singer", "softmax"),
    NONE: ("one_class",),
}  # fmt: skip
TAKEN = {"response": "a response is", "classes": "classes at once are", NONE: "an instance without targets is"}
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
            if self.kind == "labels" and (self.values.sum(axis=1) == 1).all():
                words += "; one label for each sample makes classes: "
                words += remedy("give classes=labels.argmax(axis=1)", "give --var classes=labels")
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
        errors = {"root mean squared error": float(np.sqrt(np.mean(off**2))), "mean absolute error": float(off.mean())}
        spread = ((observed - observed.mean(axis=0)) ** 2).sum(axis=0)
        if (spread > 0).all():
            errors["R²"] = float(np.mean(1 - (off**2).sum(axis=0) / spread))
    return errors


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
