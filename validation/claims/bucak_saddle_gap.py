"""Bucak's Δ(μ, γ), a measure beside the optimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mklcvx import Instance, formulations
from mklcvx.formulations import Task
from mklcvx.formulations.svm import SVM
from mklcvx.solvers.conic import solve_declared

FINE = 1e-9


def saddle_gap(instance: Instance, weights: ArrayLike, gamma: ArrayLike, C: float = 1.0) -> tuple[float, float]:
    """Bounds on Δ(μ, γ) = max over γ' of L(μ, γ') − min over μ' of L(μ', γ), Bucak et al. 2010, Theorem 1.

    The first term is the worst class's SVM at the weights μ: one SVM per class. The second is a whole `ml_sum` with the
    classes weighted by γ. It is zero exactly at a saddle point of `ml_minimax` and costs far more than a certificate.
    """
    task, _ = formulations.get("ml_minimax").task(instance, {"C": C})
    mu, shares = np.asarray(weights, dtype=float), np.asarray(gamma, dtype=float)
    kernel = task.combined(mu / mu.sum())[None]
    classes = [solve_declared(SVM, Task(kernel, y, task.box, "c", False), FINE)[0] for y in task.signs]
    weighted, _ = solve_declared(formulations.get("ml_sum"), replace(task, importance=shares / shares.sum()), FINE)
    worst = [max(getattr(point, side).value for point in classes) for side in ("lower", "upper")]
    return worst[0] - weighted.upper.value, worst[1] - weighted.lower.value
