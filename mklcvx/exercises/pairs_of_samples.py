"""Two stages: weights learned from pairs of samples."""

from __future__ import annotations

import numpy as np

from ..problem.instance import Instance
from ._exercise import Blueprint, Drawn

RIDGE = (
    "the objective is (λ/2)‖μ‖² plus the mean loss of all N = n(n+1)/2 pairs i ≤ j: check the ½, the mean, and N. "
    "A pair (i, i) counts, and counts once."
)
PENALTY = (
    "the penalty is (λ/2)‖μ‖², a square, which pulls weights down but hardly ever to zero; λΣμ is another problem."
)
LOSS = "a pair's margin is t_ij μ'z_ij with z_ij the kernels' entries as they are: no ½, no factor, nothing rescaled."


def views(rng: np.random.Generator, samples: int = 12, kernels: int = 3) -> Drawn:
    """Linear kernels on two features each; the first depends on the label, less and less from kernel to kernel."""
    y = np.repeat([1.0, -1.0], samples // 2)
    features = rng.normal(size=(kernels, samples, 2))
    features[:, :, 0] += y / (0.7 + np.arange(kernels)[:, None])
    stack = features @ features.transpose(0, 2, 1)
    stack /= np.abs(stack).mean(axis=(1, 2))[:, None, None]
    return Instance(stack, y), {"lam": float(rng.choice([0.02, 0.05, 0.1]))}


K_SPACE = Blueprint(
    name="k-space",
    question=(
        "Learn weights μ ≥ 0 of the {M} kernels from all pairs i ≤ j of the {n} samples: minimise (λ/2)‖μ‖² plus the "
        "mean of (1 − t_ij μ'z_ij)₊, λ = {lam}, t_ij = y_i y_j. Hand over weights = μ and the least value as objective."
    ),
    formulation="ts",
    asks=("weights", "objective"),
    draw=views,
    hints={"parameter": RIDGE, "formulation": PENALTY, "half": LOSS},
)
