"""Parameters chosen by stratified folds of the training samples, on slices of their kernel stack.

A problem is a formulation with its own parameters; C runs over a grid along which every solve starts where the one
before it ended (`mklcvx.solve_path`). Methods that meet in a problem share it: SM1MKL with ν = 1/M, Lp-MKL with p = 1
and SGMKL with v = 1 are one `l1`, solved once. Folds are solved to a certified relative gap of `ROUGH`, far below
what a held-out accuracy can tell apart, and in single precision; the classifier that is judged on the test samples, and
whose kernels are counted, to `FINE`. Several classes are decided one against the rest, each with weights of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

import mklcvx
from mklcvx import Instance, Solution

Array = NDArray[np.float64]
Folds = Sequence[tuple[NDArray[Any], NDArray[Any]]]

ROUGH, FINE = 1e-4, 1e-8
SHARE = 1e-4  # of the largest weight: what counts as a kernel in use


class Problem(NamedTuple):
    """A formulation and its own parameters, as pairs of name and value."""

    formulation: str
    own: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Split:
    """Training and test kernels of one random split, (M, n, n) and (M, t, n), with y in ±1 or the names of classes."""

    kernels: Array
    targets: NDArray[Any]
    test_kernels: Array
    test_targets: NDArray[Any]

    def folds(self, count: int, seed: int) -> Folds:
        cut = StratifiedKFold(count, shuffle=True, random_state=seed)
        return list(cut.split(np.zeros(len(self.targets)), self.targets))

    def accuracy(self, model: Model) -> float:
        return float(np.mean(model.predict(self.test_kernels) == self.test_targets))


@dataclass(frozen=True)
class Model:
    """One solution for y, or one for each class; `mixture` are the weights that made their only kernel, if any."""

    classes: NDArray[Any]
    solutions: tuple[Solution, ...]
    seconds: float = 0.0
    mixture: Array | None = None

    def predict(self, test_kernels: Array) -> NDArray[Any]:
        stack = test_kernels if self.mixture is None else mixed(test_kernels, self.mixture)
        if len(self.solutions) == 1:
            return np.where(self.solutions[0].decision_function(stack) >= 0, 1.0, -1.0)
        values = np.column_stack([solution.decision_function(stack) for solution in self.solutions])
        return self.classes[np.argmax(values, axis=1)]

    @property
    def kernels(self) -> float:
        """How many kernels are in use, on average over the classes."""
        weights = [s.weights for s in self.solutions] if self.mixture is None else [self.mixture]
        return float(np.mean([(w > SHARE * w.max()).sum() for w in weights]))

    @property
    def gap(self) -> float:
        return max(solution.certificate.relative_gap for solution in self.solutions)


def along(problem: Problem, kernels: Array, targets: NDArray[Any], prices: Sequence[float], tol: float) -> list[Model]:
    """One model for every C."""
    started = time.process_time()
    classes = np.unique(targets)
    signs = [targets] if targets.dtype.kind == "f" else [np.where(targets == name, 1.0, -1.0) for name in classes]
    grid = {**{name: [value] for name, value in problem.own}, "C": list(prices)}
    paths = [
        mklcvx.solve_path(Instance(kernels, y), problem.formulation, grid, tol=tol, solver="interior").solutions
        for y in signs
    ]
    seconds = time.process_time() - started
    return [Model(classes, solutions, seconds) for solutions in zip(*paths, strict=True)]


@dataclass
class Contest:
    """Held-out accuracies of problems on the folds of a split, and their fits on all of it, each computed once."""

    split: Split
    folds: Folds
    prices: Sequence[float]
    scores: dict[tuple[Any, float], float] = field(default_factory=dict)
    worst_gap: float = 0.0

    def hold_out(self, problems: Iterable[Problem], mixture: Array | None = None, tag: Any = None) -> None:
        """Scores of all problems, fold by fold, so that a fold's slices of the stack are made once."""
        new = [p for p in dict.fromkeys(problems) if (tag or p, self.prices[0]) not in self.scores]
        total = {(tag or p, price): 0.0 for p in new for price in self.prices}
        # Single precision takes a fifth less time; a held-out accuracy does not depend on the eighth digit.
        stack = self.split.kernels if mixture is None else mixed(self.split.kernels, mixture)
        precision = np.float32 if mixture is None else np.float64
        for train, held in self.folds:
            # Row by row in memory, which slices are not by themselves: the engine would copy every kernel in each pass.
            kernels = stack[:, train][:, :, train].astype(precision, order="C")
            test_kernels = np.ascontiguousarray(stack[:, held][:, :, train])
            for problem in new:
                models = along(problem, kernels, self.split.targets[train], self.prices, ROUGH)
                for price, model in zip(self.prices, models, strict=True):
                    right = np.mean(model.predict(test_kernels) == self.split.targets[held])
                    total[tag or problem, price] += float(right) / len(self.folds)
                    self.worst_gap = max(self.worst_gap, model.gap)
        self.scores.update(total)

    def best(self, tags: Iterable[Any]) -> tuple[Any, float]:
        """The first of the best, by problem and then by C."""
        return max(((tag, price) for tag in tags for price in self.prices), key=lambda point: self.scores[point])

    def fit(self, problem: Problem, price: float, mixture: Array | None = None) -> Model:
        """On all training samples; with `mixture` for the one kernel that these weights make."""
        started = time.process_time()
        kernels = self.split.kernels if mixture is None else mixed(self.split.kernels, mixture)
        model = along(problem, kernels, self.split.targets, [price], FINE)[0]
        return replace(model, mixture=mixture, seconds=time.process_time() - started)


def mixed(kernels: Array, weights: Array) -> Array:
    """A stack of one kernel, Σ weight_m K_m."""
    return np.tensordot(weights, kernels, axes=1)[None]


# ------------------------------------------------------------------------------------------------------------- samples
def standardised(train: Array, test: Array) -> tuple[Array, Array]:
    """Zero mean and unit variance on the training part; features that are constant there are left out."""
    centre, spread = train.mean(axis=0), train.std(axis=0)
    used = spread > 0
    return (train[:, used] - centre[used]) / spread[used], (test[:, used] - centre[used]) / spread[used]


def split_rows(targets: NDArray[Any], test_share: float, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Training and test rows, in proportion of the classes."""
    train, test = train_test_split(np.arange(len(targets)), test_size=test_share, random_state=seed, stratify=targets)
    return train, test
