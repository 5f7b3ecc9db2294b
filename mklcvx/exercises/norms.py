"""The block-∞ norm: every kernel contributes, and weights divide by what a kernel sees of α."""

from __future__ import annotations

from functools import partial

from ._exercise import Blueprint
from .kernel_weights import gaussian_features

HALF = "this primal has no ½ in front of max ‖f_m‖². Minimise s² − s Σ d_m over s: which factor stands before (Σ d_m)²?"
SHARES = "t_m = √q_m / Σ√q are shares and multipliers of ‖f_m‖² ≤ h. Stationarity in f_m reads 2t_m f_m = K_m(α∘y)."
SIZE = "these weights sum to nothing in particular: f_m = weight_m K_m(α∘y) has to come out with norm ½ Σ√q."
OTHER = "another norm of the norms was taken: here it is the largest ‖f_m‖, and the dual adds the √q_m up."
BIAS = "the classifier has a bias, so y'α = 0 belongs to the constraints on α."


EVERY_KERNEL = Blueprint(
    name="every-kernel",
    question=(
        "Minimise max ‖f_m‖² + C Σ ξ_i, with a bias and no ½, for the {M} kernels of instance.kernels and the labels "
        "instance.y ({n} samples, C = {C}). Hand over alpha, the weights of f_m = weight_m K_m(α∘y), and the optimal "
        "value as objective."
    ),
    formulation="li",
    asks=("alpha", "weights", "objective"),
    # The ridge makes the kernels positive definite, so that every weight is defined.
    draw=partial(gaussian_features, strengths=[1.0, 0.8, 0.5], n=20, ridge=0.05),
    hints={
        "half": HALF, "weights_reciprocal": SHARES, "weights_norm": SIZE, "formulation": OTHER, "bias_omitted": BIAS,
    },
)  # fmt: skip
