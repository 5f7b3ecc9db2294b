"""Slack for kernels: ½ q_m(α) ≤ τ + ζ_m, its price a box on the weights or a square."""

from __future__ import annotations

from functools import partial

import numpy as np

from ._exercise import Blueprint, Drawn
from .kernel_weights import BIAS, gaussian_features

HALF = "a kernel's constraint is ½q_m(α) ≤ τ + ζ_m, with the ½ of the SVM's dual, and τ and ζ_m are in units of ½q_m."
HARD = "look at the price of slack again: the hard margin, the average and the square loss are other prices than θ's."
PRICE = "stationarity in ζ_m ties μ_m to θ. Differentiate the price of slack exactly as the question states it."
SUM = "stationarity in τ, which is free: what do the weights sum to?"
HINTS = {"half": HALF, "formulation": HARD, "weights_norm": SUM, "bias_omitted": BIAS}

QUESTION = (
    "Maximise Σα − τ − {price} subject to ½q_m(α) ≤ τ + ζ_m and ζ_m ≥ 0 for the {{M}} kernels of instance.kernels, "
    "0 ≤ α ≤ C and y'α = 0, with the labels instance.y ({{n}} samples, C = {{C}}, θ = {{theta}}). Hand over the "
    "multipliers of the kernels' constraints as weights, and the optimal value as objective."
)


def five_features(rng: np.random.Generator, thetas: list[float]) -> Drawn:
    instance, price = gaussian_features(rng, [1.2, 0.9, 0.7, 0.4, 0.2])
    return instance, {**price, "theta": float(rng.choice(thetas))}


SOFT_KERNELS = Blueprint(
    name="soft-kernels",
    question=QUESTION.format(price="θ Σζ_m"),
    formulation="sm1",
    asks=("weights", "objective"),
    draw=partial(five_features, thetas=[0.25, 0.3, 0.4]),
    hints=HINTS,
)

SOFT_KERNELS_SQUARED = Blueprint(
    name="soft-kernels-squared",
    question=QUESTION.format(price="(θ/2) Σζ_m²"),
    formulation="sm2",
    asks=("weights", "objective"),
    draw=partial(five_features, thetas=[0.05, 0.1, 0.2]),
    hints={**HINTS, "parameter": PRICE},
)
