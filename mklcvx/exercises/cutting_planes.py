"""Column generation by hand: a linear program and an SVM in turn."""

from __future__ import annotations

from functools import partial

from ._exercise import Blueprint
from .kernel_weights import gaussian_features

EARLY = "the master's value bounds the optimum from below, the SVM's from above. Go on until they agree to six digits."
BIAS = "your SVM has no bias. With one, y'α = 0 holds for every α that it returns: check that."
HALF = "a plane is S_m(α) = Σα − ½q_m(α), and at the weights where α was found it touches the SVM's value: check that."
SIDE = "the weights are those for which the highest plane is lowest: a minimum over μ of a maximum over α."
BUDGET = "the master's weights sum to one: that is what turns Σα − ½ Σ μ_m q_m into Σ μ_m S_m."


CUTTING_PLANES = Blueprint(
    name="cutting-planes",
    question=(
        "Minimise over weights on the simplex the value of the SVM with bias and kernel Σ μ_m K_m, for the {M} kernels "
        "of instance.kernels and the labels instance.y ({n} samples, C = {C}), by cutting planes. Hand over the "
        "weights and the optimal value as objective."
    ),
    formulation="l1",
    asks=("weights", "objective"),
    draw=partial(gaussian_features, strengths=[1.2, 0.9, 0.6, 0.2]),
    hints={
        "stopped_early": EARLY, "bias_omitted": BIAS, "half": HALF, "formulation": SIDE, "weights_norm": BUDGET,
    },
)  # fmt: skip
