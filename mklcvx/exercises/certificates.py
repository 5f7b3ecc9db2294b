"""A primal and a dual point that together prove their optimality."""

from __future__ import annotations

import numpy as np

from ..problem.instance import Instance
from ._exercise import Blueprint, Drawn
from .one_kernel import HINTS

HALF = "both bounds have their ½: 1'α − ½ max_m q_m from below, ½(Σ‖f_m‖)² plus the losses from above."
SIMPLEX = "weights are multipliers that sum to one: the derivative by the level τ of the constraints ½q_m ≤ τ says so."
OTHER = "equal weights are feasible and prove an upper bound, but α then sees the mean of the q_m and not the largest."


def three_views(rng: np.random.Generator, samples: int = 20) -> Drawn:
    """Gaussian kernels on three noisy views of two clouds."""
    y = np.repeat([1.0, -1.0], samples // 2)
    views = rng.normal(size=(3, samples, 2)) + 0.8 * y[:, None]
    squares = ((views[:, :, None] - views[:, None]) ** 2).sum(axis=3)
    return Instance(np.exp(-0.4 * squares), y), {"C": float(rng.choice([0.5, 1.0, 2.0]))}


CERTIFIED_PAIR = Blueprint(
    name="certified-pair",
    question=(
        "Enclose the optimal value of ℓ1-MKL with bias ({n} samples, {M} kernels, C = {C}): hand over alpha, which "
        "proves a lower bound, weights, which prove an upper one, and the value between them as objective."
    ),
    formulation="l1",
    asks=("alpha", "weights", "objective"),
    draw=three_views,
    hints={**HINTS, "half": HALF, "weights_norm": SIMPLEX, "formulation": OTHER},
)
