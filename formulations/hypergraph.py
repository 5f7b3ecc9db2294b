"""hypergraph — multi-label learning with hypergraphs: the kernel whose embedding fits the labels' hypergraph best.

    primal   min over Z, γ       γ,        S_j(Z) ≤ γ for every kernel j
    dual     max over θ ∈ Δ      −tr(H'(I + K(θ)/λ)⁻¹H),        K(θ) = Σ_j θ_j K_j

with S_j(Z) = ¼‖Z‖² + (1/4λ) tr(Z'K_jZ) − tr(Z'H).

From one to the other. θ_j is the multiplier of kernel j's constraint. Σ θ_j S_j is a quadratic in Z with the matrix
A = I + K(θ)/λ, least at Z = 2A⁻¹H, where it is −tr(H'A⁻¹H). The semi-infinite linear program of Theorem 2.1,
max γ with Σ θ_j S_j(Z) ≥ γ for all Z, is the dual with the minimum over Z written as constraints.

    recovery      θ, the multipliers of the constraints; the embedding is B = (K(θ) + λI)⁻¹ H V Σ^{−½} with V, Σ the
                  eigenvectors and eigenvalues of H'K(θ)(K(θ) + λI)⁻¹H
    multipliers   weights = θ; Z (n, r); B (n, dimensions); eigenvalues (r,), which sum to tr(C) + γ*

The optimal γ* is bounded from above by max_j S_j(Z) at any Z, from below without a solve: since A ⪰ I,
tr(H'A⁻¹H) ≤ 2 tr(X'H) − tr(X'AX) + ‖H − AX‖² for any X.
Parameters: expansion (clique, star, zhou or kcca; default clique), λ > 0, default 1; dimensions of the embedding.
Degenerate cases: for `kcca` it is kernel canonical correlation analysis. The paper's (1) and (2) are not equivalent for
λ > 0: with λI added to (1)'s objective they are.

Reference: Ji et al. 2008, Theorem 2.1.
"""

from __future__ import annotations

import numpy as np

from ..problem.stack import Array
from ._cvxpy import cp
from ._demonstrate import demonstrate
from .families.hypergraph import DIMENSIONS, LAMBDA, Hypergraph, HypergraphDual, HypergraphPrimal, HyperTask


class BestKernel(Hypergraph):
    def declare_primal(self, task: HyperTask) -> HypergraphPrimal:
        z, gamma = cp.Variable(task.h.shape), cp.Variable()
        common = cp.sum_squares(z) / 4 - cp.sum(cp.multiply(z, task.h))
        cuts = [common + cp.sum_squares(f.columns.T @ z) / (4 * task.lam) <= gamma for f in task.factors]
        return HypergraphPrimal(cp.Problem(cp.Minimize(gamma), cuts), z, cuts)

    def declare_dual(self, task: HyperTask) -> HypergraphDual:
        theta = cp.Variable(task.count, nonneg=True)
        kernel = cp.sum([theta[j] * k for j, k in enumerate(task.each_kernel())])
        trace = cp.matrix_frac(task.h, np.eye(task.samples) + kernel / task.lam)
        return HypergraphDual(cp.Problem(cp.Maximize(-trace), [cp.sum(theta) == 1]), theta)

    def joined(self, task: HyperTask, scores: Array) -> float:
        return float(scores.max())

    def bonus(self, task: HyperTask, theta: Array) -> float:
        return 0.0

    def responsible(self, task: HyperTask, scores: Array) -> Array:
        return (scores == scores.max()).astype(float)


HYPERGRAPH = BestKernel(
    "hypergraph",
    "labels as hyperedges: the best kernel for their embedding",
    "Ji et al. 2008",
    __doc__,
    (LAMBDA, DIMENSIONS),
)

if __name__ == "__main__":
    demonstrate(HYPERGRAPH)
