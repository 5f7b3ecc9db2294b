"""Nested cross-validation of regression machines on one outer split, with kernels by groups of features.

Features, targets and kernels are scaled on the samples that train, in the inner folds anew. A contestant's parameters
are those of the least mean squared error over the inner folds; then it is fitted to all training samples, once. Inner
and outer folds are the same for all. Errors are in variances of the training targets: about 1 for a constant.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from _views import Array, FeatureViews, Rows

Grid = Mapping[str, Sequence[Any]]
Parameters = dict[str, Any]


class Split(NamedTuple):
    """Kernels (M, n, n) and (M, t, n), and standardised targets (n, k) and (t, k)."""

    kernels: Array
    to_test: Array
    targets: Array
    truth: Array

    @classmethod
    def of(cls, data: FeatureViews, train: Rows, test: Rows) -> Split:
        y, z = data.targets[train], data.targets[test]
        centre, spread = y.mean(axis=0), y.std(axis=0)
        return cls(*data.kernels(train, test), (y - centre) / spread, (z - centre) / spread)

    def output(self, column: int) -> Split:
        return self._replace(targets=self.targets[:, [column]], truth=self.truth[:, [column]])

    def errors(self, predicted: Array) -> Array:
        """Mean squared error of each output."""
        return np.asarray(np.mean((predicted.reshape(self.truth.shape) - self.truth) ** 2, axis=0))


class Fit(NamedTuple):
    """Predictions (t, k), and what a multiple kernel machine has beside them."""

    predicted: Array
    weights: Array | None = None
    gap: float | None = None
    certified: bool = False


class Contestant(NamedTuple):
    """`fits` goes through a grid, which is empty for one that chooses by itself. With `joint` all outputs are one
    problem with one choice; else each has its own.

    `witness` is the largest difference to the predictions of somebody else's code for the same problem.
    """

    name: str
    grid: Grid
    fits: Callable[[Split, Grid], Iterator[tuple[Parameters, Fit]]]
    joint: bool = False
    witness: Callable[[Split, Parameters, Fit], float | None] = lambda *_: None


@dataclass
class Tally:
    """All fits, inner folds included, and those of them that come with a certificate."""

    fitted: int = 0
    solved: int = 0
    certified: int = 0
    worst: float = 0.0

    def add(self, fit: Fit) -> None:
        self.fitted += 1
        if fit.gap is not None:
            self.solved += 1
            self.certified += fit.certified
            self.worst = max(self.worst, fit.gap)


def inner_folds(count: int, seed: int) -> KFold:
    """By their number of samples alone, so that everybody has the same."""
    return KFold(count, shuffle=True, random_state=seed)


def contest(
    contestants: Sequence[Contestant], data: FeatureViews, train: Rows, test: Rows, folds: KFold
) -> list[dict[str, Any]]:
    """A row for each contestant."""
    outer = Split.of(data, train, test)
    inner = [Split.of(data, train[a], train[b]) for a, b in folds.split(train)]
    return [row(contestant, outer, inner) for contestant in contestants]


def row(contestant: Contestant, outer: Split, inner: Sequence[Split]) -> dict[str, Any]:
    columns = range(outer.targets.shape[1])
    parts = [(outer, inner)] if contestant.joint else [(outer.output(j), [s.output(j) for s in inner]) for j in columns]
    tally, started = Tally(), time.process_time()
    chosen = [choice(contestant, part, tally) for _, part in parts]
    choosing, started = time.process_time() - started, time.process_time()
    fits = [refit(contestant, part, parameters, tally) for (part, _), parameters in zip(parts, chosen, strict=True)]
    fitting = time.process_time() - started
    weights = [fit.weights for fit in fits]
    apart = [contestant.witness(s, p, f) for (s, _), p, f in zip(parts, chosen, fits, strict=True)]
    return {
        "method": contestant.name,
        "errors": np.concatenate([part.errors(fit.predicted) for (part, _), fit in zip(parts, fits, strict=True)]),
        "parameters": chosen,
        "weights": None if weights[0] is None else weights,
        "apart": None if apart[0] is None else max(apart),
        "fit_seconds": fitting,
        "choice_seconds": choosing,
        "fits": tally.fitted,
        "solved": tally.solved,
        "certified": tally.certified,
        "worst_gap": tally.worst if tally.solved else None,
    }


def choice(contestant: Contestant, inner: Sequence[Split], tally: Tally) -> Parameters:
    """The first of the best; nothing where the contestant chooses by itself."""
    if not contestant.grid:
        return {}
    scores: dict[tuple[tuple[str, Any], ...], list[float]] = defaultdict(list)
    for split in inner:
        for parameters, fit in contestant.fits(split, contestant.grid):
            tally.add(fit)
            scores[tuple(parameters.items())].append(float(split.errors(fit.predicted).mean()))
    return dict(min(scores, key=lambda point: np.mean(scores[point])))


def refit(contestant: Contestant, split: Split, parameters: Parameters, tally: Tally) -> Fit:
    ((_, fit),) = contestant.fits(split, {name: [value] for name, value in parameters.items()})
    tally.add(fit)
    return fit
