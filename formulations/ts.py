"""ts — TS-MKL: a linear support vector machine in K-space, with non-negative weights.

    primal   min over μ ≥ 0           (λ/2) ‖μ‖² + Σ_ij w_ij (1 − t_ij μ'z_ij)₊
    dual     max over 0 ≤ β ≤ w       Σ_ij β_ij − (1/2λ) ‖(Σ_ij β_ij t_ij z_ij)₊‖²

From one to the other. β_ij is the multiplier of the pair's margin. Minimising over μ ≥ 0 for a given pull
s = Σ β t z leaves −‖s₊‖²/(2λ): a kernel that is pulled below zero gets weight zero.

    recovery      μ = (Σ β t z)₊/λ
    multipliers   weights = μ; beta (N,), the pairs' multipliers, in the order of the upper triangle, row by row

Parameters: λ > 0, default 0.01; balanced (false): half of the weight to positive and to negative pairs; C, of the
second stage's SVM, default 1.
Degenerate cases: large λ pulls μ to zero and the value to 1; where no weight would be negative it is an ordinary
linear SVM without bias in K-space.

Reference: Kumar et al. 2012, Eq. (2).
"""

from __future__ import annotations

import numpy as np

from ..problem.stack import Array
from ._cvxpy import cp
from .families.two_stage import LAMBDA, PairDual, PairPrimal, PairTask, TwoStage


class LinearOverPairs(TwoStage):
    def declare_primal(self, task: PairTask) -> PairPrimal:
        mu, slack = cp.Variable(task.count, nonneg=True), cp.Variable(len(task.labels), nonneg=True)
        margins = (task.labels[:, None] * task.examples) @ mu >= 1 - slack
        objective = task.lam / 2 * cp.sum_squares(mu) + task.weight @ slack
        return PairPrimal(cp.Problem(cp.Minimize(objective), [margins]), mu, margins)

    def declare_dual(self, task: PairTask) -> PairDual:
        beta, pull = cp.Variable(len(task.labels), nonneg=True), cp.Variable(task.count)
        seen = (task.labels[:, None] * task.examples).T @ beta
        cost = cp.sum_squares(cp.pos(pull)) / (2 * task.lam)
        return PairDual(cp.Problem(cp.Maximize(cp.sum(beta) - cost), [seen == pull, beta <= task.weight]), beta)

    def penalty(self, task: PairTask, mu: Array) -> float:
        return task.lam / 2 * float(mu @ mu)

    def cost(self, task: PairTask, beta: Array) -> tuple[float, Array]:
        pull = np.maximum(task.pull(beta), 0.0)
        return float(pull @ pull) / (2 * task.lam), beta

    def dual_weights(self, task: PairTask, program: PairDual) -> Array:
        return np.maximum(task.pull(np.ravel(program.beta.value)), 0.0) / task.lam


TS = LinearOverPairs("ts", "two stages: a linear SVM over pairs of samples", "Kumar et al. 2012", __doc__, (LAMBDA,))

if __name__ == "__main__":
    TS.demonstrate()
