"""ts_l1 — TS-MKL with an ℓ1 penalty: a sparse combination of kernels, by a linear program.

    primal   min over μ ≥ 0           λ Σ_m μ_m + Σ_ij w_ij (1 − t_ij μ'z_ij)₊
    dual     max over 0 ≤ β ≤ w       Σ_ij β_ij,          Σ_ij β_ij t_ij z_ij ≤ λ for every kernel

From one to the other. Minimising λ Σμ − μ's over μ ≥ 0 for a pull s = Σ β t z gives 0 if s ≤ λ and −∞ if not.

    recovery      μ is the multiplier of the dual's constraints: only kernels that are pulled with force λ get weight
    multipliers   weights = μ; beta (N,), the pairs' multipliers, in the order of the upper triangle, row by row

Parameters: λ > 0, default 0.01; balanced (false): half of the weight to positive and to negative pairs; C, of the
second stage's SVM, default 1.
Degenerate cases: if λ exceeds every pull of β = w, then μ = 0 and the value is 1.

Reference: Kumar et al. 2012, section 2, which mentions the penalty.
"""

from __future__ import annotations

import numpy as np

from ..problem.stack import Array
from ._cvxpy import cp
from .families.two_stage import LAMBDA, PairDual, PairPrimal, PairTask, TwoStage


class SparseOverPairs(TwoStage):
    def declare_primal(self, task: PairTask) -> PairPrimal:
        mu, slack = cp.Variable(task.count, nonneg=True), cp.Variable(len(task.labels), nonneg=True)
        margins = (task.labels[:, None] * task.examples) @ mu >= 1 - slack
        objective = task.lam * cp.sum(mu) + task.weight @ slack
        return PairPrimal(cp.Problem(cp.Minimize(objective), [margins]), mu, margins)

    def declare_dual(self, task: PairTask) -> PairDual:
        beta = cp.Variable(len(task.labels), nonneg=True)
        cuts = (task.labels[:, None] * task.examples).T @ beta <= task.lam
        return PairDual(cp.Problem(cp.Maximize(cp.sum(beta)), [cuts, beta <= task.weight]), beta, cuts)

    def penalty(self, task: PairTask, mu: Array) -> float:
        return task.lam * float(mu.sum())

    def cost(self, task: PairTask, beta: Array) -> tuple[float, Array]:
        """Nothing, for a β shrunk until every pull is at most λ."""
        strongest = float(task.pull(beta).max())
        return 0.0, beta * (task.lam / strongest) if strongest > task.lam else beta

    def dual_weights(self, task: PairTask, program: PairDual) -> Array:
        assert program.cuts is not None
        return np.maximum(np.ravel(program.cuts.dual_value), 0.0)


TS_L1 = SparseOverPairs(
    "ts_l1", "two stages, with a sparse combination of kernels", "Kumar et al. 2012", __doc__, (LAMBDA,)
)

if __name__ == "__main__":
    TS_L1.demonstrate()
