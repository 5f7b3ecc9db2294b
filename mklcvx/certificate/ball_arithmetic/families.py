"""Who encloses the optimal values of which family: one function each, with one signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...formulations import Formulation
from ...problem.instance import Instance
from . import hypergraphs, labels, pairs, single
from .enclosure import Enclosure
from .kernels import KernelBalls
from .points import Point
from .samples import Samples


class Stated(NamedTuple):
    """A problem in balls, and the point that its bounds are evaluated at."""

    instance: Instance
    formulation: Any
    task: Any
    kernels: KernelBalls
    parameters: Mapping[str, Any]
    point: Point

    def classes(self, bias: bool) -> list[Samples]:
        signs = self.instance.targets.signs(self.formulation.name)
        return [Samples.of(self.instance, row, self.parameters, bias) for row in signs]


Enclosed = tuple[Enclosure, dict[str, Enclosure]]  # of the optimal value, and of the machines of a second stage


def single_task(at: Stated) -> Enclosed:
    samples = Samples.of(at.instance, at.task.y, at.parameters, at.parameters["bias"])
    return single.bounds(at.formulation, at.task, at.kernels, samples, at.point), {}


def many_labels(at: Stated) -> Enclosed:
    return labels.bounds(at.formulation, at.task, at.kernels, at.classes(bias=False), at.point), {}


def two_stages(at: Stated) -> Enclosed:
    if at.formulation.maximises:
        first = pairs.alignment_bounds(at.kernels, at.instance.targets.together(), at.point.weights)
    else:
        first = pairs.pair_bounds(at.formulation, at.task, at.kernels, at.parameters, at.point)
    machines = pairs.second_stage(at.kernels, at.classes(bias=True), at.point)
    return first, dict(zip(at.instance.targets.names or ("y",), machines, strict=True))


def hypergraph(at: Stated) -> Enclosed:
    members = np.maximum(at.instance.targets.signs(at.formulation.name), 0.0).T
    return hypergraphs.bounds(at.task, at.kernels, members, at.parameters, at.point), {}


class Rigorous(NamedTuple):
    """`even` and `rows` say of the trivial point whether it has even weights, or none at all, and whether its α has a
    row for every label."""

    enclosed: Callable[[Stated], Enclosed]
    even: bool = True
    rows: bool = True

    def trivial(self, formulation: Formulation, instance: Instance, fault: str) -> Point:
        """α = 0, Z = 0 and the like."""
        n, classes = instance.samples, len(instance.targets.signs(formulation.name))
        multipliers = {
            "gamma": np.full(classes, 1 / classes),
            "Z": np.zeros((n, 1)),
            "beta": np.zeros(n * (n + 1) // 2),
        }
        weights = np.full(instance.count, 1 / instance.count if self.even else 0.0)
        alpha = np.zeros((classes, n) if self.rows else n)
        return Point(alpha, weights, None, multipliers, "the trivial point", fault=fault)


RIGOROUS: dict[str, Rigorous] = {
    "single task": Rigorous(single_task, rows=False),
    "many labels": Rigorous(many_labels),
    "two stages": Rigorous(two_stages, even=False),
    "hypergraph": Rigorous(hypergraph),
}
