"""Hypergraphs: labels as edges, expanded to a graph, and the kernel that fits it best."""

from __future__ import annotations

from ._exercise import Blueprint
from .smoothing import RIDGE, labelled_views

EXPANSION = (
    "write down W_ij for two samples that share one label of size d: 1 in the clique expansion, 1/d² in the star's. "
    "Degrees are the row sums of W, the diagonal counted."
)
SWAPPED = "an edge joins the samples that have the label. Those that have not are joined by nothing."


STAR_EXPANSION = Blueprint(
    name="star-expansion",
    question=(
        "Expand the labels instance.targets.values ({n} samples) by the {expansion} expansion to A = HH', and find the "
        "weights μ on the simplex of the {M} kernels that maximise −tr(H'(I + K(μ)/λ)⁻¹H), λ = {lam}. Hand over "
        "weights = μ and that value as objective."
    ),
    formulation="hypergraph",
    asks=("weights", "objective"),
    draw=lambda rng: (labelled_views(rng), {"expansion": "star", "lam": float(rng.choice([0.02, 0.05, 0.1]))}),
    hints={"parameter": EXPANSION, "half": RIDGE, "classes_swapped": SWAPPED},
)
