"""Do the parts belong together?

The saddle function φ(μ, α) = gain(α) − ½ Σ μ_m q_m(α) + R(μ) lies between what the weights are worth and what α proves:

    V(μ) = max over α of φ ≥ φ(μ, α) ≥ min over μ of φ = lower(α).

V(μ) − φ says how far α is from being the SVM's solution at these weights, φ − lower(α) how far the weights are from
being those that α implies; both vanish at the optimum and add up to the gap. (In the block-∞ formulations φ can also
lie below lower(α); the distance counts.) Coefficients belong to weights and α if f_m = μ_m K_m(α∘y), in the norm of
the kernels' space.
"""

from __future__ import annotations

import numpy as np

from ..formulations import SingleTask
from .answers import Answer
from .case import Case
from .domain import placed
from .single_task import arrays, worth


def together(case: Case, answer: Answer) -> dict[str, float]:
    """Distances of the parts of a single task's answer, relative to the problem's scale; empty where there is one."""
    if not isinstance(case.formulation, SingleTask):
        return {}
    task, scale = case.task, case.known.scale
    weights, alpha, coefficients = arrays(task, answer)
    if weights is None or alpha is None or not np.isfinite(weights).all() or not (weights > 0).any():
        return {}
    lower = case.formulation.lower(task, alpha)
    feasible = placed(case.formulation, task, weights).weights
    _, best = worth(case.formulation, task, feasible)
    _, here = worth(case.formulation, task, feasible, lower.alpha)
    found = {
        "alpha_at_weights": max(best - here, 0.0) / scale,
        "weights_at_alpha": abs(here - lower.value) / scale,
    }
    if coefficients is not None:
        implied = np.outer(weights, alpha * task.y)
        distance, size = (np.linalg.norm(task.evaluate(c)[1]) for c in (coefficients - implied, implied))
        found["coefficients"] = float(distance / (size or 1.0))
    return found
