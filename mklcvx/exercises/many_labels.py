"""Many labels, one combination of kernels: the worst class decides."""

from __future__ import annotations

import numpy as np

from ..problem.instance import Instance
from ._exercise import Blueprint, Drawn
from .one_kernel import PRICES

SUM = "the largest H_k(μ) is to be made small, and not their sum: only the worst classes have a price γ_k above zero."
HALF = "½ belongs to the quadratic term: H_k(μ) = max over 0 ≤ α ≤ C of 1'α − ½ Σ_m μ_m q_m(α)."


def one_view_each(rng: np.random.Generator, samples: int = 16, classes: int = 3) -> Drawn:
    """Gaussian kernels on as many views as there are labels; each label is drawn from one view, with noise."""
    views = rng.normal(size=(classes, samples, 2))
    noise = rng.uniform(0.3, 1.5, size=classes)
    labels = (views[:, :, 0] + noise[:, None] * rng.normal(size=(classes, samples)) > 0).T
    labels[0], labels[1] = True, False  # labels that all or no samples have are refused
    squares = ((views[:, :, None] - views[:, None]) ** 2).sum(axis=3)
    return Instance(np.exp(-0.5 * squares), labels=labels.astype(float)), {"C": float(rng.choice([0.5, 1.0, 2.0]))}


WORST_CLASS = Blueprint(
    name="worst-class",
    question=(
        "Find weights μ on the simplex of {M} kernels that make the largest of the classes' values H_k(μ) least: SVMs "
        "without bias for the columns of instance.targets.values (1 is y = +1, 0 is y = −1; {n} samples, C = {C}). "
        "Hand over weights = μ and that value as objective."
    ),
    formulation="ml_minimax",
    asks=("weights", "objective"),
    draw=one_view_each,
    hints={**PRICES, "formulation": SUM, "half": HALF},
)
