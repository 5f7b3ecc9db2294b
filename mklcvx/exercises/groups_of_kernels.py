"""Kernels in groups: the dual of composite kernel learning, solved by a method that does not cycle."""

from __future__ import annotations

import numpy as np

from ..problem.instance import Instance
from ._exercise import Blueprint, Drawn
from .one_kernel import HINTS

NO_HALF = (
    "the penalty is max_j (Σ‖f_m‖)² without a ½, and its conjugate has ¼: with f = t·g, t² − 2tc is least at t = c."
)
WITHIN = "within a group the largest √q_m counts, and the groups are summed: √q_m ≤ d_j for m in j, then ¼(Σ_j d_j)²."


def two_groups(rng: np.random.Generator, samples: int = 20) -> Drawn:
    """Two descriptors, each with a wide and a narrow Gaussian kernel on a view of its own."""
    y = np.repeat([1.0, -1.0], samples // 2)
    views = rng.normal(size=(2, samples, 2)) + 0.7 * y[:, None]
    squares = ((views[:, :, None] - views[:, None]) ** 2).sum(axis=3)
    kernels = np.concatenate([np.exp(-width * distances[None]) for distances in squares for width in (0.1, 1.0)])
    return Instance(kernels, y, groups=[0, 0, 1, 1]), {"C": float(rng.choice([0.5, 1.0, 2.0]))}


COMPOSITE = Blueprint(
    name="composite-kernels",
    question=(
        "Solve the dual of composite kernel learning with bias: maximise Σα − ¼(Σ_j max over m in j of √q_m(α))², "
        "{M} kernels in the groups instance.groups ({n} samples, C = {C}). Hand over alpha and the optimal value as "
        "objective."
    ),
    formulation="ckl",
    asks=("alpha", "objective"),
    draw=two_groups,
    hints={**HINTS, "half": NO_HALF, "formulation": WITHIN},
)
