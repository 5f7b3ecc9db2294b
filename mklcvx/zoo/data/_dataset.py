"""A data set: features, and either one class for each sample or a set of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Dataset:
    """X (n, d); `classes` (n,), words, or `labels` (n, k), 0 and 1, the other one being None; where it came from."""

    name: str
    X: Array
    classes: NDArray[np.str_] | None
    labels: NDArray[np.int64] | None
    origin: str

    def __len__(self) -> int:
        return len(self.X)

    @property
    def names(self) -> list[str]:
        """The classes, in the order of their names; none for label sets."""
        return [] if self.classes is None else np.unique(self.classes).tolist()

    @property
    def y(self) -> Array:
        """−1 and +1 for two classes, +1 being the one whose name comes last."""
        if len(self.names) != 2:
            kind = f"{len(self.names)} classes" if self.labels is None else "label sets"
            raise InputError(f"data set {self.name}: has {kind}, not two classes: use its `classes` or `labels`")
        return np.where(self.classes == self.names[1], 1.0, -1.0)

    @property
    def targets(self) -> dict[str, Any]:
        """What `mklcvx.Instance` is to be told: y of two classes, else classes or labels."""
        if self.labels is not None:
            return {"labels": self.labels}
        return {"y": self.y} if len(self.names) == 2 else {"classes": self.classes}

    @property
    def target(self) -> NDArray[Any]:
        """Whatever there is to be learned, one row per sample."""
        found = self.classes if self.labels is None else self.labels
        assert found is not None
        return found

    def take(self, rows: NDArray[Any]) -> Dataset:
        """The data set with some of its samples."""
        classes = None if self.classes is None else self.classes[rows]
        labels = None if self.labels is None else self.labels[rows]
        return Dataset(self.name, self.X[rows], classes, labels, self.origin)
