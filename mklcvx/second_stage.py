"""The second stage: a learned kernel goes to support vector machines, one for y or one per class or label."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .certificate import certify
from .errors import InputError
from .exact import solve_declared
from .formulations import Points, Task
from .formulations._stack import KernelStack
from .formulations.svm import SVM
from .instance import Instance
from .polish import sharpened
from .solution import Solution
from .solvers import drive
from .solvers.interior import InteriorPoint

Array = NDArray[np.float64]

# Machines are solved for at given weights, far below any tolerance asked for.
FINE, GOOD = 1e-11, 1e-9


def machine(kernel: Array, labels: Array, box: Array, bias: bool) -> tuple[Task, Array]:
    """The SVM with one kernel: its task and its α; sharpened from the declaration's where the engine is not enough."""
    task = Task(kernel[None], labels, box, "c", bias)
    point, _ = drive(InteriorPoint(), SVM, task, FINE)
    if point.certificate.proves(GOOD):
        return task, point.lower.alpha
    point, _ = solve_declared(SVM, task, FINE, units=(1.0,))
    return task, task.feasible(sharpened(task, np.ones(1), point.lower.alpha, point.upper))


def one_versus_rest(instance: Instance, weights: Array, price: float) -> dict[str, Any]:
    """SVMs with bias and the kernel Σ weight_m K_m: α, bias and labels ±1, (n,) for y, else one row per label."""
    signs = instance.targets.signs("the second stage", constant_allowed=False)
    kernel = KernelStack(instance.kernels, symmetric=instance.symmetric).combined(weights)
    alphas, biases, gaps = [], [], []
    for labels in signs:
        task, alpha = machine(kernel, labels, price * instance.sample_weight, bias=True)
        point = certify(SVM, task, Points([alpha], [(alpha * labels)[None]]))
        alphas.append(alpha)
        biases.append(point.upper.risk.bias)
        gaps.append(point.certificate.relative_gap)
    binary = instance.targets.kind == "y"
    return {
        "alpha": alphas[0] if binary else np.stack(alphas),
        "bias": biases[0] if binary else np.array(biases),
        "bias_interval": None,
        "y": signs[0] if binary else signs,
        "gap": float(max(gaps)),
    }


def second_stage(instance: Instance, solution: Solution, C: float = 1.0) -> Solution:
    """The classifiers that a solution's weights make: SVMs with its kernel, one for y or one per class or label."""
    fields = one_versus_rest(instance, weights_for(instance, solution.weights), C)
    multipliers = {**solution.multipliers, "second_stage_gap": fields.pop("gap")}
    multipliers.pop("B", None)
    parameters = {**solution.parameters, "C": C}
    return replace(solution, coefficients=None, multipliers=multipliers, parameters=parameters, **fields)


def learned_kernel(instance: Instance, weights: ArrayLike) -> Instance:
    """The instance with the one kernel Σ weight_m K_m, test kernels too."""
    given = weights_for(instance, weights)
    kernel = KernelStack(instance.kernels, symmetric=instance.symmetric).combined(given)
    test = None
    if instance.test_kernels is not None:
        test = np.tensordot(given, np.asarray(instance.test_kernels, dtype=float), axes=1)[None]
    return instance.with_kernels(kernel[None], names=["learned"], groups=None, test_kernels=test, test_diagonals=None)


def weights_for(instance: Instance, weights: ArrayLike) -> Array:
    """Weights given by a person, checked: one per kernel, finite, not negative, not all zero."""
    given = np.asarray(weights, dtype=float)
    if given.shape != (instance.count,) or not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise InputError(
            f"weights {np.array2string(given.ravel()[:4], separator=', ')} of shape {given.shape}: "
            f"give {instance.count} numbers, one per kernel, none negative, not all zero"
        )
    return given


def f1_scores(truth: ArrayLike, predicted: ArrayLike) -> tuple[float, float]:
    """Macro F1, the mean over labels of 2 TP/(2 TP + FP + FN), and micro F1, the same over all decisions at once.

    Labels are (t, k) in {0, 1}; a label that is neither met nor given counts 0.
    """
    true, given = np.atleast_2d(np.asarray(truth)) > 0, np.atleast_2d(np.asarray(predicted)) > 0
    hits, decisions = (true & given).sum(axis=0), true.sum(axis=0) + given.sum(axis=0)
    each = 2 * hits / np.maximum(decisions, 1)
    return float(each.mean()), float(2 * hits.sum() / max(decisions.sum(), 1))
