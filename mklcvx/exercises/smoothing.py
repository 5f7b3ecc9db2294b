"""A maximum of quadratics, smoothed by an entropy: Nesterov's method and what its smoothing costs."""

from __future__ import annotations

import numpy as np

from ..problem.instance import Instance
from ._exercise import Blueprint

TEMPERATURE = "σ stands outside the logarithm and under S_m inside it; f ≤ f_σ ≤ f + σ log M shows it if not."
RIDGE = "the kernel's term is tr(Z'K_mZ)/(4λ), beside ¼‖Z‖²: P = I + K(μ)/λ, with the same factor for both."
UNSMOOTHED = "it is σ log Σ exp(S_m/σ) that is asked for, its entropy included, not the maximum which it approaches."


def labelled_views(rng: np.random.Generator, samples: int = 24, labels: int = 3, kernels: int = 4) -> Instance:
    """Gaussian kernels of unit trace; view m depends on label m, and every label has members."""
    members = (rng.random((samples, labels)) < 0.4).astype(float)
    members[np.arange(labels), np.arange(labels)] = 1.0
    views = [rng.normal(size=(samples, 2)) + 1.5 * members[:, [m % labels]] for m in range(kernels)]
    squares = [((x[:, None] - x[None]) ** 2).sum(axis=2) for x in views]
    return Instance(np.exp(-0.5 * np.stack(squares)) / samples, labels=members)


SMOOTHED_MAXIMUM = Blueprint(
    name="smoothed-maximum",
    question=(
        "Minimise σ log Σ_m exp(S_m(Z)/σ) for the {M} kernels of instance ({n} samples, λ = {lam}, σ = {smoothing}), "
        "with H = D^(−½) Y, Y the labels instance.targets.values and D = diag(YY'1). Hand over weights = μ, the "
        "multipliers of the kernels, and the least value as objective."
    ),
    formulation="hypergraph_smooth",
    asks=("weights", "objective"),
    draw=lambda rng: (labelled_views(rng), {"lam": 0.05, "smoothing": float(rng.choice([0.02, 0.05, 0.1]))}),
    hints={"parameter": TEMPERATURE, "half": RIDGE, "formulation": UNSMOOTHED},
)
