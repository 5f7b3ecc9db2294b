"""The cells of the regression experiment by data set and method, and the pairs of methods that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from _findings import LEVEL
from _harness import Row
from _significance import corrected_interval, corrected_t_test, holm
from _views import Array
from regression_machines import FORMULATIONS, LOSSES, SEARCHES, TOLERANCE, named

LEARNED = tuple(name for name in FORMULATIONS if name != "average")
SINGLE = {"squared": "KernelRidge", "epsilon_insensitive": "SVR"}  # scikit-learn's machine of the loss


class Results:
    """What the cells have, by data set and method. Only folds count that everybody has finished who has begun."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows, self.folds = rows, {}
        for data in dict.fromkeys(row["data"] for row in rows):
            who = {row["who"] for row in rows if row["data"] == data}
            common = set.intersection(
                *({place(row) for row in rows if (row["data"], row["who"]) == (data, w)} for w in who)
            )
            if common and {"mklcvx", "scikit-learn"} <= who:
                self.folds[data] = sorted(common)
        self._lines: dict[tuple[str, str], dict[tuple[int, int], Any]] = {}
        for row in rows:
            for line in row["rows"]:
                known = self._lines.setdefault((row["data"], line["method"]), {})
                known[place(row)] = line

    @property
    def sets(self) -> list[str]:
        return list(self.folds)

    def _cells(self, data: str, who: str) -> list[Row]:
        return [row for row in self.rows if (row["data"], row["who"]) == (data, who) and place(row) in self.folds[data]]

    def has(self, method: str, data: str | None = None) -> bool:
        """Whether it is on the data set, or on one of them."""
        return any((d, method) in self._lines for d in (self.sets if data is None else [data]))

    def methods(self, data: str | None = None) -> list[str]:
        names = dict.fromkeys(method for _, method in self._lines)
        return [name for name in names if self.has(name, data)]

    def of(self, data: str, method: str, what: str) -> list[Any]:
        """A part of every fold's line."""
        return [self._lines[data, method][fold][what] for fold in self.folds[data]]

    def errors(self, data: str, method: str) -> Array:
        """Of every fold, the mean over the targets."""
        return np.array(self.of(data, method, "errors"), dtype=float).mean(axis=1)

    def explained(self, data: str, method: str) -> Array:
        """1 − error / error of the mean, pooled over the folds of a repeat: (repeats, targets)."""
        own, least = (np.array(self.of(data, name, "errors"), dtype=float) for name in (method, "mean"))
        sizes = np.array([row["test"] for row in self._cells(data, "scikit-learn")], dtype=float)[:, None]
        which = np.array([repeat for repeat, _ in self.folds[data]])
        pooled = [(sizes * own)[which == r].sum(axis=0) / (sizes * least)[which == r].sum(axis=0) for r in set(which)]
        return 1 - np.array(pooled)

    def test_share(self, data: str) -> float:
        return float(np.mean([row["test"] / row["train"] for row in self._cells(data, "scikit-learn")]))

    def rough(self, data: str, asked: float) -> list[Any]:
        return [line for row in self._cells(data, "mklcvx") for line in row["rough"] if line["asked"] == asked]

    def tallied(self, data: str, loss: str) -> list[Any]:
        """Lines of all formulations with a loss."""
        names = [named(f, loss, joint) for f in FORMULATIONS for joint in (True, False)]
        return [line for name in names for line in self._lines.get((data, name), {}).values()]


def place(row: Row) -> tuple[int, int]:
    return row["repeat"], row["fold"]


class Pair(NamedTuple):
    """`ours` − `theirs`, the errors' mean difference: negative where ours is better."""

    ours: str
    theirs: str
    difference: float
    low: float
    high: float
    p: float
    adjusted: float

    @property
    def found(self) -> bool:
        return self.adjusted < LEVEL


def planned(found: Results, data: str) -> list[tuple[str, str]]:
    """The pairs that are tested, the same whatever comes out."""
    pairs = []
    for loss, machine in SINGLE.items():
        pairs += [(named(f, loss), machine) for f in FORMULATIONS]
    for loss in LOSSES:
        pairs += [(named(f, loss), named("average", loss)) for f in LEARNED]
    for theirs in (*SEARCHES, "mean"):
        pairs += [(named(f, "squared"), theirs) for f in LEARNED]
    pairs += [(named("l1", loss), named("l1", "squared")) for loss in LOSSES[1:]]
    pairs += [(named(f, "squared"), named(f, "squared", joint=False)) for f in LEARNED]
    return [pair for pair in pairs if all(found.has(name, data) for name in pair)]


def compared(found: Results, data: str) -> dict[tuple[str, str], Pair]:
    share, pairs = found.test_share(data), planned(found, data)
    both = [(found.errors(data, ours), found.errors(data, theirs)) for ours, theirs in pairs]
    p = [corrected_t_test(a, b, share) for a, b in both]
    made = {}
    for pair, (a, b), one, adjusted in zip(pairs, both, p, holm(p), strict=True):
        made[pair] = Pair(*pair, float((a - b).mean()), *corrected_interval(a, b, share), one, float(adjusted))
    return made


def error_changes(found: Results, data: str, asked: float) -> dict[str, Array]:
    """For each loss, error − error at the narrow gap of every fold, averaged over targets."""
    exact, rough = (found.rough(data, tolerance) for tolerance in (TOLERANCE, asked))
    changes: dict[str, list[float]] = {}
    for a, b in zip(exact, rough, strict=True):
        changes.setdefault(a["loss"], []).append(float(np.mean(b["errors"]) - np.mean(a["errors"])))
    return {loss: np.array(of_loss) for loss, of_loss in changes.items()}


def largest_change(found: Results, data: str, asked: float) -> float:
    """Of any fold's error, with any loss."""
    return max(float(np.abs(change).max()) for change in error_changes(found, data, asked).values())
