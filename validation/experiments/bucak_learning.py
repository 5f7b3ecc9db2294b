"""How a contestant of Bucak et al. 2010's table comes by its weights, at what cost, and what the weights are worth."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import auc, precision_recall_curve

import mklcvx
from label_halves import Array, Half
from shared.stepping import Mark, stepped

GAP = 1e-2  # to which iterative algorithms run
EXACT = "interior"
MOVED = 0.01
SHARED = ("ml_minimax", "ml_sum")
# Varma and Babu's regularisers Σ μ_m and ½ ‖μ‖² of the weights are those of two formulations of ours.
GMKL: dict[str, tuple[str, dict[str, float]]] = {
    "l1": ("group_lasso", {"lam": math.sqrt(2)}),
    "l2": ("square", {"theta": 1.0}),
}


@dataclass(frozen=True)
class Contestant:
    """`formulation` is None for weights that nothing learns; `varied` are its parameters beside C."""

    name: str
    formulation: str | None
    solver: str = EXACT
    printed: str = ""
    varied: Mapping[str, tuple[Any, ...]] | None = None
    steps: int = 200

    @property
    def shared(self) -> bool:
        """One set of weights for all classes."""
        return self.formulation is None or self.formulation in SHARED


class Cost(NamedTuple):
    """CPU seconds, SVMs solved (None for a method that solves none), and the largest gap, None if none was taken."""

    seconds: float = 0.0
    solves: int | None = None
    gap: float | None = None


def instances(contestant: Contestant, half: Half) -> list[mklcvx.Instance]:
    """One for all classes together, or one for each."""
    if contestant.shared:
        return [mklcvx.Instance(half.kernels, labels=half.labels)]
    return [mklcvx.Instance(half.kernels, y, groups=half.groups) for y in half.signs]


def learned(contestant: Contestant, half: Half, parameters: dict[str, Any]) -> tuple[Array, Cost]:
    count, classes = len(half.kernels), len(half.signs)
    if contestant.formulation is None:
        single = parameters.get("kernel")
        return np.tile(np.full(count, 1 / count) if single is None else np.eye(count)[single], (classes, 1)), Cost()
    runs = [_run(contestant, one, parameters) for one in instances(contestant, half)]
    costs = [cost for _, cost in runs]
    solves = None if costs[0].solves is None else sum(cost.solves or 0 for cost in costs)
    gaps = [cost.gap for cost in costs if cost.gap is not None]
    total = Cost(sum(cost.seconds for cost in costs), solves, max(gaps) if gaps else None)
    return each_class([weights for weights, _ in runs], classes), total


def _run(contestant: Contestant, instance: mklcvx.Instance, parameters: dict[str, Any]) -> tuple[Array, Cost]:
    assert contestant.formulation is not None
    if contestant.solver == EXACT:
        started = time.process_time()
        weights, gap = optimum(instance, contestant.formulation, parameters, 1e-8)
        return weights, Cost(time.process_time() - started, None, gap)
    by_rule = contestant.name == "SA"
    marks = stepped(
        contestant.solver,
        instance,
        contestant.formulation,
        parameters,
        tolerance=None if by_rule else GAP,
        max_iter=contestant.steps,
    )
    mark = settled(marks) if by_rule else marks[-1]
    return mark.weights, Cost(mark.seconds, mark.svm_solves, None if by_rule else mark.gap)


def settled(marks: list[Mark]) -> Mark:
    """The first mark whose weights all moved by less than 1 % since the last one, or the last of all."""
    still = (b for a, b in pairwise(marks[1:]) if np.all(np.abs(b.weights / a.weights - 1) < MOVED))
    return next(still, marks[-1])


def optimum(
    instance: mklcvx.Instance, formulation: str, parameters: Mapping[str, Any], tol: float
) -> tuple[Array, float]:
    """The weights of the certified optimum, and its gap."""
    if formulation == "gmkl":
        formulation, own = GMKL[parameters["regulariser"]]
        parameters = {"C": parameters["C"], **own}
    solution = mklcvx.solve(instance, formulation, tol=tol, **parameters)
    return solution.weights, solution.certificate.relative_gap


def each_class(weights: list[Array], classes: int) -> Array:
    """One row of weights for every class."""
    return np.tile(weights[0], (classes, 1)) if len(weights) == 1 else np.stack(weights)


def objective(half: Half, formulation: str, weights: Array, parameters: Mapping[str, Any]) -> float:
    """What shared weights are worth: with the one kernel that they make, nothing but the classes' SVMs is left."""
    kernel = np.tensordot(weights / weights.sum(), half.kernels, 1)
    return mklcvx.solve(mklcvx.Instance(kernel[None], labels=half.labels), formulation, **parameters).objective


def precision(half: Half, weights: Array, price: float) -> float:
    """The area under the precision-recall curve, averaged over the classes that the other samples have."""
    pairs = zip(half.truth.T > 0, half.outputs(weights, price).T, strict=True)
    curves = [precision_recall_curve(members, values) for members, values in pairs if members.any()]
    return float(np.mean([auc(recall, precision) for precision, recall, _ in curves]))
