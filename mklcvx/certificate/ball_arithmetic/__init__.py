"""Rigorous enclosures of optimal values: both bounds in ball arithmetic, at exactly feasible points.

`RIGOROUS` is the table of families: one function each, with one signature.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from ...errors import InputError
from ...formulations import Formulation
from ...problem.instance import Instance
from ...problem.targets import LABELLED

if find_spec("flint") is None:
    raise InputError("rigorous bounds need python-flint, which is not installed: pip install 'mklcvx[rigorous]'")

from . import hypergraphs, joint, labels, pairs, single
from .enclosure import WIDTH, Enclosed, Point, Stated

__all__ = ["RIGOROUS", "WIDTH", "Rigorous"]


class Rigorous(NamedTuple):
    """`even` says whether the trivial point has even weights, or none at all."""

    enclosed: Callable[[Stated], Enclosed]
    even: bool = True

    def trivial(self, formulation: Formulation, instance: Instance, fault: str) -> Point:
        """α = 0, Z = 0 and the like."""
        n, targets = instance.samples, instance.targets
        rows = len(targets.signs(formulation.name)) if targets.kind in LABELLED else targets.outputs
        alpha = np.zeros((rows, n))
        multipliers = {
            "gamma": np.full(len(alpha), 1 / len(alpha)),
            "Z": np.zeros((n, 1)),
            "beta": np.zeros(n * (n + 1) // 2),
        }
        weights = np.full(instance.count, 1 / instance.count if self.even else 0.0)
        return Point(alpha, weights, None, multipliers, "the trivial point", fault=fault)


RIGOROUS: dict[str, Rigorous] = {
    "single task": Rigorous(single.enclosed),
    "joint outputs": Rigorous(joint.enclosed),
    "many labels": Rigorous(labels.enclosed),
    "two stages": Rigorous(pairs.enclosed, even=False),
    "hypergraph": Rigorous(hypergraphs.enclosed),
}
