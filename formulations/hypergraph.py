"""hypergraph — multi-label learning with hypergraphs: the kernel whose embedding fits the labels' hypergraph best.

    primal   min over Z, τ       τ,        S_m(Z) ≤ τ for every kernel m
    dual     max over μ ∈ Δ      −tr(H'(I + K(μ)/λ)⁻¹H),        K(μ) = Σ_m μ_m K_m

with S_m(Z) = ¼‖Z‖² + (1/4λ) tr(Z'K_mZ) − tr(Z'H).

From one to the other. μ_m is the multiplier of kernel m's constraint. Σ μ_m S_m is a quadratic in Z with the matrix
P = I + K(μ)/λ, least at Z = 2P⁻¹H, where it is −tr(H'P⁻¹H). The semi-infinite linear program of Theorem 2.1,
max τ with Σ μ_m S_m(Z) ≥ τ for all Z, is the dual with the minimum over Z written as constraints.

    recovery      μ, the multipliers of the constraints; the embedding is B = (K(μ) + λI)⁻¹ H V Σ^{−½} with V, Σ the
                  eigenvectors and eigenvalues of H'K(μ)(K(μ) + λI)⁻¹H
    multipliers   weights = μ; Z (n, r); B (n, dimensions); eigenvalues (r,), which sum to tr(A) + τ*

The optimal τ* is bounded from above by max_m S_m(Z) at any Z, from below without a solve: since P ⪰ I,
tr(H'P⁻¹H) ≤ 2 tr(X'H) − tr(X'PX) + ‖H − PX‖² for any X.
Parameters: expansion (clique, star, zhou or kcca; default clique), λ > 0, default 1; dimensions of the embedding.
An instance of `l1` with several outputs: the squared loss of the responses H, C = 1/λ, no bias, Z = 2λα'; the value is
−2λ times that one's.
Degenerate cases: for `kcca` it is kernel canonical correlation analysis. The paper's (1) and (2) are not equivalent for
λ > 0: with λI added to (1)'s objective they are.

Reference: Ji et al. 2008, Theorem 2.1.
"""

from __future__ import annotations

import numpy as np

from ..problem.stack import Array
from ._cvxpy import cp
from .families.hypergraph import DIMENSIONS, LAMBDA, Hypergraph, HypergraphDual, HypergraphPrimal, HyperTask
from .l1 import L1


class BestKernel(Hypergraph):
    single = L1

    def declare_primal(self, task: HyperTask) -> HypergraphPrimal:
        z, tau = cp.Variable(task.h.shape), cp.Variable()
        common = cp.sum_squares(z) / 4 - cp.sum(cp.multiply(z, task.h))
        cuts = [common + cp.sum_squares(f.columns.T @ z) / (4 * task.lam) <= tau for f in task.factors]
        return HypergraphPrimal(cp.Problem(cp.Minimize(tau), cuts), z, cuts)

    def declare_dual(self, task: HyperTask) -> HypergraphDual:
        mu = cp.Variable(task.count, nonneg=True)
        kernel = cp.sum([mu[m] * k for m, k in enumerate(task.each_kernel())])
        trace = cp.matrix_frac(task.h, np.eye(task.samples) + kernel / task.lam)
        return HypergraphDual(cp.Problem(cp.Maximize(-trace), [cp.sum(mu) == 1]), mu)

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
    HYPERGRAPH.demonstrate()
