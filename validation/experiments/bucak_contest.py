"""Bucak et al. 2010, Table 1: one kernel combination for all classes against one for each, by precision and by cost.

A contestant is a formulation, with weights shared by all classes or not, and the algorithm that the table has for it;
beside it stands our interior-point method on the same formulation. Its parameters are those whose certified optimum is
best in folds of the training samples. Every contestant's weights are judged alike: an SVM per class with the weighted
kernel, and the area under its precision-recall curve. Costs are SVMs solved and CPU seconds of the steps alone;
certificates that tell when to stop are taken beside the clock. SA ends by the paper's rule: no average weight moves by
1 % in a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bucak_learning import (
    SHARED,
    Contestant,
    each_class,
    instances,
    learned,
    objective,
    optimum,
    precision,
)
from label_halves import Array, Half, Rows
from label_views import LabelViews

FOLDS = 3

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


def contest(data: LabelViews, train: Rows, test: Rows, prices: tuple[float, ...]) -> dict[str, Any]:
    """Every contestant on one split: precision, cost, the parameters chosen and the weights, averaged over classes."""
    outer, chosen = Half.of(data, train, test), tuned(data, train, prices)
    rows = []
    for contestant in CONTESTANTS:
        parameters = dict(chosen[_key(contestant)])
        weights, cost = learned(contestant, outer, parameters)
        row = {"method": contestant.name, "precision": precision(outer, weights, parameters["C"]), **cost._asdict()}
        if contestant.formulation in SHARED:
            row["objective"] = objective(outer, contestant.formulation, weights[0], parameters)
        rows.append(row | {"parameters": parameters, "weights": np.round(weights.mean(axis=0), 4).tolist()})
    return {"rows": rows, "classes": outer.labels.shape[1], "kernels": len(outer.kernels)}


def tuned(data: LabelViews, train: Rows, prices: tuple[float, ...]) -> dict[str, Any]:
    """For every formulation, the average and the single kernels: the parameters of the best mean precision in folds."""
    scores: dict[str, dict[tuple[Any, ...], list[float]]] = {}
    for fold in folds(data.labels[train]):
        half = Half.of(data, np.delete(train, fold), train[fold])
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
        made = instances(contestant, half)
        for values in product(*varied.values(), prices):
            parameters = dict(zip((*varied, "C"), values, strict=True))
            found = [optimum(one, contestant.formulation, parameters, 1e-4)[0] for one in made]
            yield parameters, each_class(found, classes)
