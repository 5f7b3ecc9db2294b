"""hypergraph_smooth — the hypergraph formulation with its maximum smoothed by an entropy.

    primal   min over Z          μ log Σ_j exp(S_j(Z)/μ)
    dual     max over θ ∈ Δ      −tr(H'(I + K(θ)/λ)⁻¹H) − μ Σ_j θ_j log θ_j

with S_j(Z) = ¼‖Z‖² + (1/4λ) tr(Z'K_jZ) − tr(Z'H) and K(θ) = Σ_j θ_j K_j.

From one to the other. μ log Σ exp(S/μ) is the largest Σ θ_j S_j − μ Σ θ_j log θ_j over the simplex (Lemma 3.1); the
rest is as for `hypergraph`. With f the value of `hypergraph` at the same Z, f ≤ f_μ ≤ f + μ log M (Lemma 3.3), and
so for the optimal values.

    recovery      θ_j ∝ exp(S_j(Z)/μ)
    multipliers   weights = θ; Z (n, r); B (n, dimensions); eigenvalues (r,)

Parameters: smoothing = μ > 0, default 0.01; expansion (clique, star, zhou or kcca; default clique), λ > 0, default 1;
dimensions of the embedding.
Degenerate cases: μ → 0 tends to `hypergraph`. The printed Eq. (14) lacks 1/μ in front of tr(Z'H).

Reference: Ji et al. 2008, Lemmas 3.1 to 3.3.
"""

from __future__ import annotations

import numpy as np

from ..problem.stack import Array
from ._cvxpy import cp
from ._demonstrate import demonstrate
from .families.hypergraph import DIMENSIONS, LAMBDA, SMOOTHING, Hypergraph, HypergraphDual, HypergraphPrimal, HyperTask


class SmoothedKernels(Hypergraph):
    def declare_primal(self, task: HyperTask) -> HypergraphPrimal:
        z, score = cp.Variable(task.h.shape), cp.Variable(task.count)
        common = cp.sum_squares(z) / 4 - cp.sum(cp.multiply(z, task.h))
        epigraph = [
            common + cp.sum_squares(f.columns.T @ z) / (4 * task.lam) <= score[j] for j, f in enumerate(task.factors)
        ]
        smooth = task.smoothing * cp.log_sum_exp(score / task.smoothing)
        return HypergraphPrimal(cp.Problem(cp.Minimize(smooth), epigraph), z, [])

    def declare_dual(self, task: HyperTask) -> HypergraphDual:
        theta = cp.Variable(task.count, nonneg=True)
        kernel = cp.sum([theta[j] * k for j, k in enumerate(task.each_kernel())])
        trace = cp.matrix_frac(task.h, np.eye(task.samples) + kernel / task.lam)
        objective = -trace + task.smoothing * cp.sum(cp.entr(theta))
        return HypergraphDual(cp.Problem(cp.Maximize(objective), [cp.sum(theta) == 1]), theta)

    def joined(self, task: HyperTask, scores: Array) -> float:
        assert task.smoothing is not None
        largest = scores.max()
        return float(largest + task.smoothing * np.log(np.sum(np.exp((scores - largest) / task.smoothing))))

    def bonus(self, task: HyperTask, theta: Array) -> float:
        """μ times the entropy of θ."""
        assert task.smoothing is not None
        used = theta[theta > 0]
        return float(-task.smoothing * np.sum(used * np.log(used)))

    def responsible(self, task: HyperTask, scores: Array) -> Array:
        assert task.smoothing is not None
        return np.asarray(np.exp((scores - scores.max()) / task.smoothing))


HYPERGRAPH_SMOOTH = SmoothedKernels(
    "hypergraph_smooth",
    "labels as hyperedges, with the maximum smoothed",
    "Ji et al. 2008",
    __doc__,
    (LAMBDA, SMOOTHING, DIMENSIONS),
)

if __name__ == "__main__":
    demonstrate(HYPERGRAPH_SMOOTH)
