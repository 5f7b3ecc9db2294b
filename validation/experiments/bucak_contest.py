"""Bucak et al. 2010, Table 1: one kernel combination for all classes against one for each, by precision and by cost.

A contestant is a formulation, with weights shared by all classes or not, and the algorithm that the table has for it;
beside it stands our interior-point method on the same formulation. Its parameters are those whose certified optimum is
best in folds of the training samples. Every contestant's weights are judged alike: an SVM per class with the weighted
kernel, and the area under its precision-recall curve. Costs are SVMs solved and CPU seconds of the steps alone;
certificates that tell when to stop are taken beside the clock. SA ends by the paper's rule: no average weight moves by
1 % in a step.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from label_views import LabelViews
from numpy.typing import NDArray

import mklcvx
from mklcvx.baselines.gmkl import gmkl

sys.path.append(str(Path(__file__).resolve().parents[1] / "headlines"))
from measuring import Mark, stepped

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Grid = Mapping[str, tuple[Any, ...]]

FOLDS = 3
GAP = 1e-2  # to which iterative algorithms run
EXACT = "interior"
MOVED = 0.01
SHARED = ("ml_minimax", "ml_sum")


@dataclass(frozen=True)
class Contestant:
    """`formulation` is None for weights that nothing learns; `varied` are its parameters beside C."""

    name: str
    formulation: str | None
    solver: str = EXACT
    printed: str = ""
    varied: Grid | None = None
    steps: int = 200

    @property
    def shared(self) -> bool:
        """One set of weights for all classes."""
        return self.formulation is None or self.formulation in SHARED


CONTESTANTS = (
    Contestant("SA", "ml_minimax", "ml_sa", printed="SA"),
    Contestant("GMKL", "gmkl", printed="GMKL", varied={"regulariser": ("l1", "l2")}),
    Contestant("Sum", "ml_sum", "ml_sum_subgradient", printed="Sum"),
    Contestant("SimpleMKL", "l1", "simplemkl", printed="Simple"),
    Contestant("VSKL", "vskl", "mirror", printed="VSKL", varied={"s": (2.0, 4.0, 16.0)}, steps=500),
    Contestant("average", None, printed="AVG"),
    Contestant("mirror-prox", "ml_minimax", "ml_mirror_prox"),
    Contestant("minimax, exact", "ml_minimax"),
    Contestant("Sum, exact", "ml_sum"),
    Contestant("L1 per class, exact", "l1"),
    Contestant("L2 per class, exact", "l2"),
    Contestant("best single", None),
)


class Half(NamedTuple):
    """Kernels, kernels to the other samples, the classes of both, and the groups of the kernels."""

    kernels: Array
    to_test: Array
    labels: NDArray[np.int64]
    truth: NDArray[np.int64]
    groups: list[int]

    @property
    def signs(self) -> Array:
        return np.where(self.labels.T > 0, 1.0, -1.0)

    def instances(self, shared: bool) -> list[mklcvx.Instance]:
        if shared:
            return [mklcvx.Instance(self.kernels, labels=self.labels)]
        return [mklcvx.Instance(self.kernels, y, groups=self.groups) for y in self.signs]


class Cost(NamedTuple):
    """CPU seconds, SVMs solved (None for a method that solves none), and the largest gap, None if none was taken."""

    seconds: float = 0.0
    solves: int | None = None
    gap: float | None = None


def contest(data: LabelViews, train: Rows, test: Rows, prices: tuple[float, ...]) -> dict[str, Any]:
    """Every contestant on one split: precision, cost, the parameters chosen and the weights, averaged over classes."""
    outer, chosen = halved(data, train, test), tuned(data, train, prices)
    rows = []
    for contestant in CONTESTANTS:
        parameters = dict(chosen[_key(contestant)])
        weights, cost = learned(contestant, outer, parameters)
        row = {"method": contestant.name, "precision": precision(outer, weights, parameters["C"]), **cost._asdict()}
        if contestant.formulation in SHARED:
            row["objective"] = objective(outer, contestant.formulation, weights[0], parameters)
        rows.append(row | {"parameters": parameters, "weights": np.round(weights.mean(axis=0), 4).tolist()})
    return {"rows": rows, "classes": outer.labels.shape[1], "kernels": len(outer.kernels)}


def objective(half: Half, formulation: str, weights: Array, parameters: Mapping[str, Any]) -> float:
    """What shared weights are worth: with the one kernel that they make, nothing but the classes' SVMs is left."""
    kernel = np.tensordot(weights / weights.sum(), half.kernels, 1)
    return mklcvx.solve(mklcvx.Instance(kernel[None], labels=half.labels), formulation, **parameters).objective


def halved(data: LabelViews, train: Rows, test: Rows) -> Half:
    return Half(*data.kernels(train, test), data.labels[train], data.labels[test], data.groups)


# ------------------------------------------------------------------------------------------------------------ choosing
def tuned(data: LabelViews, train: Rows, prices: tuple[float, ...]) -> dict[str, Any]:
    """For every formulation, the average and the single kernels: the parameters of the best mean precision in folds."""
    scores: dict[str, dict[tuple[Any, ...], list[float]]] = {}
    for fold in folds(data.labels[train]):
        half = halved(data, np.delete(train, fold), train[fold])
        for contestant in {_key(c): c for c in CONTESTANTS}.values():
            for parameters, weights in candidates(contestant, half, prices):
                known = scores.setdefault(_key(contestant), {}).setdefault(tuple(parameters.items()), [])
                known.append(precision(half, weights, parameters["C"]))
    return {name: dict(max(known, key=lambda p: np.mean(known[p]))) for name, known in scores.items()}


def folds(labels: NDArray[np.int64]) -> list[Rows]:
    """Parts of the samples with every class about equally in each: samples in the order of their classes, dealt out."""
    order = np.lexsort(labels.T)
    return [order[start::FOLDS] for start in range(FOLDS)]


def _key(contestant: Contestant) -> str:
    return contestant.formulation or contestant.name


def candidates(contestant: Contestant, half: Half, prices: tuple[float, ...]) -> Iterator[tuple[dict[str, Any], Array]]:
    count, classes = len(half.kernels), len(half.signs)
    if contestant.name == "best single":
        for m, price in product(range(count), prices):
            yield {"C": price, "kernel": m}, np.tile(np.eye(count)[m], (classes, 1))
    elif contestant.formulation is None:
        for price in prices:
            yield {"C": price}, np.full((classes, count), 1 / count)
    else:
        varied = contestant.varied or {}
        instances = half.instances(contestant.shared)
        for values in product(*varied.values(), prices):
            parameters = dict(zip((*varied, "C"), values, strict=True))
            found = [optimum(one, contestant.formulation, parameters, 1e-4)[0] for one in instances]
            yield parameters, _each(found, classes)


def optimum(
    instance: mklcvx.Instance, formulation: str, parameters: Mapping[str, Any], tol: float
) -> tuple[Array, float]:
    """The weights of the certified optimum, and its gap."""
    if formulation == "gmkl":
        found = gmkl(instance, tol=tol, **parameters)
        assert found.certificate is not None
        return np.ravel(found.weights), found.certificate.relative_gap
    solution = mklcvx.solve(instance, formulation, tol=tol, **parameters)
    return solution.weights, solution.certificate.relative_gap


def _each(weights: list[Array], classes: int) -> Array:
    """One row of weights for every class."""
    return np.tile(weights[0], (classes, 1)) if len(weights) == 1 else np.stack(weights)


# ------------------------------------------------------------------------------------------------------------ learning
def learned(contestant: Contestant, half: Half, parameters: dict[str, Any]) -> tuple[Array, Cost]:
    count, classes = len(half.kernels), len(half.signs)
    if contestant.formulation is None:
        single = parameters.get("kernel")
        return np.tile(np.full(count, 1 / count) if single is None else np.eye(count)[single], (classes, 1)), Cost()
    runs = [_run(contestant, one, parameters) for one in half.instances(contestant.shared)]
    costs = [cost for _, cost in runs]
    solves = None if costs[0].solves is None else sum(cost.solves or 0 for cost in costs)
    gaps = [cost.gap for cost in costs if cost.gap is not None]
    total = Cost(sum(cost.seconds for cost in costs), solves, max(gaps) if gaps else None)
    return _each([weights for weights, _ in runs], classes), total


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


def precision(half: Half, weights: Array, price: float) -> float:
    """The area under the precision-recall curve, averaged over the classes that the other samples have."""
    from sklearn.metrics import average_precision_score
    from sklearn.svm import SVC

    areas: list[float] = []
    kernel = to_test = last = None
    for y, w, truth in zip(half.signs, weights, half.truth.T, strict=True):
        if last is None or not np.array_equal(w, last):
            kernel, to_test, last = np.tensordot(w, half.kernels, 1), np.tensordot(w, half.to_test, 1), w
        if truth.any():
            machine = SVC(C=price, kernel="precomputed").fit(kernel, y)
            areas.append(float(average_precision_score(truth, machine.decision_function(to_test))))
    return float(np.mean(areas))
