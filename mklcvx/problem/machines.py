"""Several classes by machines that tell two apart: each class against the rest, or each pair of classes."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, nearest, remedy
from .stack import Array

MULTI_CLASS = ("ovr", "ovo")


class ClassPair(NamedTuple):
    """The index of a class, against another one, or against all others if `negative` is None; all classes at once if
    `positive` is None."""

    positive: int | None
    negative: int | None

    def members(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        if self.negative is None:
            return np.arange(len(codes))
        return np.flatnonzero((codes == self.positive) | (codes == self.negative))

    def signs(self, codes: NDArray[np.intp]) -> Array:
        """+1 for the samples of the class, −1 for the others."""
        return np.where(codes == self.positive, 1.0, -1.0)


JOINTLY = ClassPair(None, None)


def check_multi_class(multi_class: object) -> None:
    if not isinstance(multi_class, str) or multi_class not in MULTI_CLASS:
        given = remedy(f"multi_class {multi_class!r}", f"--multi-class {multi_class}")
        raise InputError(f"{given} is unknown: {nearest(str(multi_class), MULTI_CLASS)}")


def machines_for(classes: int, multi_class: str, joint: bool = False) -> list[ClassPair]:
    if joint:
        return [JOINTLY]
    if classes == 2:
        return [ClassPair(1, 0)]
    if multi_class == "ovr":
        return [ClassPair(k, None) for k in range(classes)]
    return [ClassPair(second, first) for first, second in combinations(range(classes), 2)]


def class_values(values: Array, machines: list[ClassPair], classes: int) -> Array:
    """Decision values of more than two classes, (t, classes), from those of the machines, (t, machines): against the
    rest they are the same; in pairs the votes decide, ties by the sum of the values."""
    if machines[0].negative is None:
        return values
    from sklearn.utils.multiclass import _ovr_decision_function

    return np.asarray(_ovr_decision_function((values > 0).astype(int), values, classes))
