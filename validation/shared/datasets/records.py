"""Data sets, and records by which a copy is recognised or refused.

A record holds the shape, the size of every class, and two digests. A row's digest is a 64-bit hash of its numbers,
written with ten significant digits; that of a table is the sum of its rows' modulo 2⁶⁴, which no order of the rows
changes. The first digest is of the features, the second of features with their target. The second alone decides. The
rest says in words what is wrong:

    another shape, other classes      more or fewer rows, columns or classes, or classes of other sizes
    features do not agree             columns exchanged, shifted or rescaled, values rounded, missing or in other rows
    features agree, targets do not    labels were given to other rows, even in the same proportion
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from mklcvx.errors import InputError

Array = NDArray[np.float64]
FILE = Path(__file__).with_name("records.json")
DIGITS = 10


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
        """The keyword argument of `mklcvx.Instance`: y for two classes, else classes or labels."""
        if self.labels is not None:
            return {"labels": self.labels}
        return {"y": self.y} if len(self.names) == 2 else {"classes": self.classes}

    @property
    def target(self) -> NDArray[Any]:
        """The classes or the labels, one row per sample."""
        found = self.classes if self.labels is None else self.labels
        assert found is not None
        return found

    def take(self, rows: NDArray[Any]) -> Dataset:
        """The data set with some of its samples."""
        classes, labels = (None if one is None else one[rows] for one in (self.classes, self.labels))
        return replace(self, X=self.X[rows], classes=classes, labels=labels)


@dataclass(frozen=True)
class Record:
    """How a data set is recognised; `openml` is its number there, None where no copy is known to be this one."""

    samples: int
    features: int
    counts: dict[str, int]
    features_digest: str
    digest: str
    labels: bool = False
    openml: int | None = None


def record_of(data: Dataset, openml: int | None = None) -> Record:
    """The record of a data set that is known to be right."""
    digests = _digest(data, targets=False), _digest(data)
    return Record(*data.X.shape, _counts(data), *digests, data.labels is not None, openml)


RECORDS = {name: Record(**entry) for name, entry in json.loads(FILE.read_text(encoding="utf-8")).items()}


def checked(data: Dataset, record: Record) -> Dataset:
    """The data set with its rows in lexicographic order; refused if it is not the recorded one."""
    if data.X.shape != (record.samples, record.features):
        _refuse(data, f"{record.samples} × {record.features} features", f"{data.X.shape[0]} × {data.X.shape[1]}")
    data = _renamed(data, record)
    if _counts(data) != record.counts:
        _refuse(data, f"classes {_shown(record.counts)}", _shown(_counts(data)))
    if _digest(data, targets=False) != record.features_digest:
        _refuse(data, "the recorded features", "others: columns exchanged or shifted, values in other rows, or rounded")
    if _digest(data) != record.digest:
        _refuse(data, "the recorded targets", "the same features with targets that belong to other rows")
    return data.take(np.lexsort([*_codes(data).T[::-1], *data.X.T[::-1]]))


def _refuse(data: Dataset, expected: str, found: str) -> NoReturn:
    raise InputError(
        f"data set {data.name} from {data.origin}: expected {expected}, found {found}: get the copy that is recorded"
    )


def _renamed(data: Dataset, record: Record) -> Dataset:
    """Rename classes to the recorded names; other names are identified by class sizes, if all differ."""
    found = _counts(data)
    if data.classes is None or set(found) & set(record.counts):
        return data
    sizes = {size: name for name, size in record.counts.items()}
    if sorted(found.values()) != sorted(sizes):
        return data
    return replace(data, classes=np.array([sizes[found[str(name)]] for name in data.classes]))


def _counts(data: Dataset) -> dict[str, int]:
    if data.labels is not None:
        return {f"label{k + 1}": int(count) for k, count in enumerate(data.labels.sum(axis=0))}
    names, counts = np.unique(data.target, return_counts=True)
    return {str(name): int(count) for name, count in zip(names, counts, strict=True)}


def _shown(counts: dict[str, int]) -> str:
    shown = [f"{name}: {count}" for name, count in list(counts.items())[:8]]
    return ", ".join(shown) + (" …" if len(counts) > 8 else "")


def _codes(data: Dataset) -> NDArray[Any]:
    return data.target.reshape(len(data), -1)


def _digest(data: Dataset, targets: bool = True) -> str:
    """Return the digest of the features, with or without their targets."""
    total = 0
    for row, codes in zip(data.X, _codes(data), strict=True):
        text = ",".join(f"{value + 0.0:.{DIGITS}g}" for value in row)
        text += f"|{','.join(map(str, codes))}" if targets else ""
        total += int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    return f"{total % 2**64:016x}"
