"""The SVMs of many classes inside an algorithm: one kernel, no bias, each starting where it last ended."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...formulations import Points
from ...formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask
from ..driver import Array, Problem
from ..interior.qp import box_qp


@dataclass(frozen=True)
class ClassFits:
    """Classes' SVMs at weights p: α^k (k, n), h_ka = ½ q_a^k (k, M), and the values H_k(p) = 1'α^k − Σ_a p_a h_ka."""

    weights: Array
    alpha: Array
    halves: Array

    @property
    def values(self) -> Array:
        return np.asarray(self.alpha.sum(axis=1) - self.halves @ self.weights)

    def coefficients(self, task: LabelTask) -> Array:
        """f_k^a = p_a K_a(α^k∘y^k), (k, M, n)."""
        return np.asarray(self.weights[None, :, None] * (self.alpha * task.signs)[:, None, :])

    def points(self, task: LabelTask, gamma: Array) -> Points:
        """(γ_k α^k, γ), and the classifiers with the weights."""
        dual = ClassDual(gamma[:, None] * self.alpha, gamma)
        return Points([dual], [ClassPrimal(self.coefficients(task), self.weights)])


def fit_classes(problem: Problem, weights: Array, which: Array | None = None, counted: bool = True) -> ClassFits:
    """The SVMs of all classes, or of some, with kernel Σ_a p_a K_a."""
    task: LabelTask = problem.task
    chosen = np.arange(task.classes) if which is None else which
    if problem.machine is None:
        problem.machine = np.zeros(task.signs.shape)
    kernel = task.combined(weights)
    for k in chosen:
        signs = task.signs[k]
        problem.machine[k] = box_qp(signs[:, None] * kernel * signs, task.box, problem.machine[k])
    problem.svm_solves += len(chosen) if counted else 0
    alpha = problem.machine[chosen]
    return ClassFits(weights, alpha, replace(task, signs=task.signs[chosen]).correlations(alpha) / 2)
