"""Two measures of the papers beside the optimum: Bucak's Δ(μ, γ) and Kumar's concentration bound."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .. import formulations
from ..errors import InputError
from ..formulations import Task
from ..formulations.svm import SVM
from ..problem.instance import Instance
from ..problem.stack import KernelStack
from .conic import solve_declared
from .second_stage import weights_for

FINE = 1e-9


def saddle_gap(instance: Instance, weights: ArrayLike, gamma: ArrayLike, C: float = 1.0) -> tuple[float, float]:
    """Bounds on Δ(μ, γ) = max over γ' of L(μ, γ') − min over μ' of L(μ', γ), Bucak et al. 2010, Theorem 1.

    The first term is the worst class's SVM at the weights μ: one SVM per class. The second is a whole `ml_sum` with the
    classes weighted by γ. It is zero exactly at a saddle point of `ml_minimax` and costs far more than a certificate.
    """
    task, _ = formulations.get("ml_minimax").task(instance, {"C": C})
    mu, shares = weights_for(instance, weights), np.asarray(gamma, dtype=float)
    if shares.shape != (task.classes,) or not (shares >= 0).all() or not math.isclose(shares.sum(), 1, abs_tol=1e-6):
        raise InputError(f"gamma has shape {shares.shape}: give {task.classes} non-negative shares that sum to one")
    kernel = task.combined(mu / mu.sum())[None]
    classes = [solve_declared(SVM, Task(kernel, y, task.box, "c", False), FINE)[0] for y in task.signs]
    weighted, _ = solve_declared(formulations.get("ml_sum"), replace(task, importance=shares / shares.sum()), FINE)
    worst = [max(getattr(point, side).value for point in classes) for side in ("lower", "upper")]
    return worst[0] - weighted.upper.value, worst[1] - weighted.lower.value


def concentration_bound(held_out: Instance, weights: ArrayLike, margin: float = 1.0, delta: float = 0.05) -> float:
    """An upper bound on the expected K-space hinge loss of Σ μ_m K_m, with probability 1 − delta: Kumar et al. 2012,
    Theorem 3.4.

    `held_out` must be a sample that had no part in learning the weights (the theorem's footnote), drawn independently
    from the same distribution; R² bounds the learned kernel's k(x, x) over the whole space, for which the largest value
    on the sample is taken here: exact for normalised kernels, an assumption for others.
    """
    if not margin > 0:
        raise InputError(f"margin = {margin!r} is not positive: give γ > 0")
    if not 0 < delta < 1:
        raise InputError(f"delta = {delta!r} is not between 0 and 1: give a probability")
    mu = weights_for(held_out, weights)
    kernel = KernelStack(held_out.kernels, symmetric=held_out.symmetric).combined(mu)
    pairs = np.triu_indices(held_out.samples, k=1)
    losses = np.maximum(0.0, 1.0 - held_out.targets.together()[pairs] * kernel[pairs] / margin)
    square = float(np.diag(kernel).max())
    return float(losses.mean() + math.sqrt(2 * (1 + square / margin) ** 2 * math.log(1 / delta) / held_out.samples))
