"""Two kernels and four points: the problem of `docs/by-hand.md` with other distances.

Points (±a, 0) and (0, ±b) with the label's sign, one linear kernel for each coordinate. Where the box does not bind,

    V(μ) = 1/(2a²μ₁) + 1/(2b²μ₂),      least on the simplex at μ ∝ (1/a, 1/b), with value ½ (1/a + 1/b)².
"""

from __future__ import annotations

import numpy as np

from ..problem.instance import Instance
from ._exercise import Blueprint, Drawn

HALF = "the SVM's dual is Σα − ½q: at weights μ it is A + B − ½μ₁a²A² − ½μ₂b²B², with A = α₁ + α₃ and B = α₂ + α₄."
BUDGET = "the weights share a budget of one. Put μ₂ = 1 − μ₁ into V(μ) before you differentiate."
FIXED = "weights that are given beforehand are one point; ask where V(μ) is least among all that sum to one."
NEAR = "near, but not least: at the least V a little weight moved from one kernel to the other changes nothing."
VALUE = "the value is a cost: what the best classifier costs at your weights."


def four_points(rng: np.random.Generator) -> Drawn:
    """Distances in halves; C so large that α stays below it: α₁ = (1/a)(1/a + 1/b)/2 ≤ 8 for distances from ½ on."""
    a, b = rng.choice(np.arange(1, 10), size=2, replace=False) / 2
    x, y = np.array([[a, 0.0], [0.0, b], [-a, 0.0], [0.0, -b]]), [1, 1, -1, -1]
    names = [f"first coordinate, a = {a:g}", f"second coordinate, b = {b:g}"]
    return Instance(np.stack([np.outer(z, z) for z in x.T]), y, names=names), {"C": 10.0}


TWO_KERNELS = Blueprint(
    name="two-kernels",
    question=(
        "Four points, (a, 0) and (0, b) with label +1, (−a, 0) and (0, −b) with label −1, and one linear kernel for "
        "each coordinate (a and b are in instance.names; C = {C}). Minimise V over weights that sum to one, on paper. "
        "Hand over the weights and the optimal value as objective."
    ),
    formulation="l1",
    asks=("weights", "objective"),
    draw=four_points,
    hints={
        "objective_half": HALF, "weights_norm": BUDGET, "formulation": FIXED, "stopped_early": NEAR,
        "objective_value": NEAR, "objective_sign": VALUE,
    },
)  # fmt: skip
