"""One kernel: the dual of the support vector machine, and the bias, which the dual does not contain."""

from __future__ import annotations

import numpy as np

from ..problem.instance import Instance
from ._exercise import Blueprint, Drawn

HALF = (
    "the ½ in front of ‖f‖² is there so that its derivative is f and stationarity reads f = K(α∘y). Put that f back: "
    "½‖f‖² − Σ α_i y_i f(x_i) = ½q − q = −½q."
)
BIAS = (
    "b is a variable of the primal as well. The Lagrangian is linear in b: what must hold for its minimum to be finite?"
)
BOX = "C is the price of one sample's slack ξ_i. Stationarity in ξ_i gives C = α_i + (multiplier of ξ_i ≥ 0)."
SIGN = "α_i is the multiplier of an inequality, so it is not negative; the label enters as α_i y_i, beside it."
VALUE = "a dual maximum is compared as it stands: no minus sign, no factor."
PRICES = {"C_over_n": BOX, "C_times_n": BOX, "C_inverted": BOX}
HINTS = {**PRICES, "bias_omitted": BIAS, "alpha_signed": SIGN, "objective_sign": VALUE, "objective_half": VALUE}


def two_clouds(rng: np.random.Generator) -> Drawn:
    """A linear kernel on two overlapping classes; the points lie on a grid of quarters and are easy to draw."""
    y = np.repeat([1.0, -1.0], 6)
    x = np.round(4 * (rng.normal(size=(12, 2)) + 0.9 * y[:, None])) / 4
    return Instance((x @ x.T)[None], y, names=["linear"]), {"C": float(rng.choice([0.25, 0.5, 1.0, 2.0]))}


SVM_DUAL = Blueprint(
    name="svm-dual",
    question=(
        "Maximise the dual of the SVM with bias for the kernel instance.kernels[0] and the labels instance.y "
        "({n} samples, C = {C}). Hand over alpha and the optimal value as objective."
    ),
    formulation="svm",
    asks=("alpha", "objective"),
    draw=two_clouds,
    hints={**HINTS, "half": HALF, "alpha_units": BOX},
)

SVM_BIAS = Blueprint(
    name="svm-bias",
    question=(
        "Hand over alpha and the bias of the SVM for instance.kernels[0] and instance.y ({n} samples, C = {C}): "
        "f(x) = Σ α_i y_i k(x_i, x) + b."
    ),
    formulation="svm",
    asks=("alpha", "bias"),
    draw=two_clouds,
    hints={
        "half": HALF, "C_over_n": BOX, "C_times_n": BOX, "alpha_signed": SIGN,
        "bias_sign": "the decision function is f + b; y_i (f(x_i) + b) = 1 for a sample with 0 < α_i < C gives b.",
        "bias_omitted": "look at a sample with 0 < α_i < C: its margin is exactly 1, which is an equation for b.",
    },
)  # fmt: skip
