"""Three kernels: weights as the multipliers of ½ q_m(α) ≤ τ."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..problem.instance import Instance
from ._exercise import Blueprint, Drawn

PRICES = (
    "a multiplier is the price of its constraint as you wrote it. Write down the Lagrangian of your problem: what do "
    "its prices sum to, when the coefficient of τ has to vanish?"
)
HALF = "the constraint is ½q_m(α) ≤ τ with τ in the objective, or q_m(α) ≤ τ with ½τ in it, but not q_m with τ."
FIXED = "these are the weights of another problem: here they are the prices of ½q_m(α) ≤ τ, and only tight ones count."
BIAS = "the SVM has a bias, so y'α = 0 belongs to the constraints on α."


def gaussian_features(rng: np.random.Generator, strengths: list[float], n: int = 24, ridge: float = 0.0) -> Drawn:
    """One Gaussian kernel for each feature; `strengths`, in random order, are the distances between the classes."""
    y = np.repeat([1.0, -1.0], n // 2)
    shift = np.outer(y, rng.permutation(strengths))
    features = rng.normal(size=shift.shape) + shift
    kernels = np.stack([np.exp(-((z[:, None] - z) ** 2) / 2) for z in features.T])
    return Instance(kernels + ridge * np.eye(n), y), {"C": float(rng.choice([0.5, 1.0, 2.0]))}


KERNEL_WEIGHTS = Blueprint(
    name="kernel-weights",
    question=(
        "Maximise Σα − τ subject to ½q_m(α) ≤ τ for the {M} kernels of instance.kernels, 0 ≤ α ≤ C and y'α = 0, with "
        "the labels instance.y ({n} samples, C = {C}). Hand over alpha, the multipliers of the quadratic constraints "
        "as weights, and the optimal value as objective."
    ),
    formulation="l1",
    asks=("alpha", "weights", "objective"),
    draw=partial(gaussian_features, strengths=[1.2, 0.8, 0.2]),
    hints={"half": HALF, "weights_norm": PRICES, "formulation": FIXED, "bias_omitted": BIAS},
)
