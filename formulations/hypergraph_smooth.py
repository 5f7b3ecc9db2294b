"""hypergraph_smooth — the hypergraph formulation with its maximum smoothed by an entropy.

    primal   min over Z          σ log Σ_m exp(S_m(Z)/σ)
    dual     max over μ ∈ Δ      −tr(H'(I + K(μ)/λ)⁻¹H) − σ Σ_m μ_m log μ_m

with S_m(Z) = ¼‖Z‖² + (1/4λ) tr(Z'K_mZ) − tr(Z'H) and K(μ) = Σ_m μ_m K_m.

From one to the other. σ log Σ exp(S/σ) is the largest Σ μ_m S_m − σ Σ μ_m log μ_m over the simplex (Lemma 3.1); the
rest is as for `hypergraph`. With f the value of `hypergraph` at the same Z, f ≤ f_σ ≤ f + σ log M (Lemma 3.3), and
so for the optimal values.

    recovery      μ_m ∝ exp(S_m(Z)/σ)
    multipliers   weights = μ; Z (n, r); B (n, dimensions); eigenvalues (r,)

Parameters: smoothing = σ > 0, default 0.01; expansion (clique, star, zhou or kcca; default clique), λ > 0, default 1;
dimensions of the embedding.
An instance of joint outputs as `hypergraph` is, with the regulariser (σ/2λ) Σ_m μ_m log μ_m on the simplex.
Degenerate cases: σ → 0 tends to `hypergraph`. The printed Eq. (14) lacks 1/σ in front of tr(Z'H).

Reference: Ji et al. 2008, Lemmas 3.1 to 3.3.
"""

from __future__ import annotations

import numpy as np

from ..problem.stack import Array
from ._cvxpy import cp
from ._entropy import ENTROPY
from .families.hypergraph import DIMENSIONS, LAMBDA, SMOOTHING, Hypergraph, HypergraphDual, HypergraphPrimal, HyperTask


class SmoothedKernels(Hypergraph):
    single = ENTROPY

    def declare_primal(self, task: HyperTask) -> HypergraphPrimal:
        z, score = cp.Variable(task.h.shape), cp.Variable(task.count)
        common = cp.sum_squares(z) / 4 - cp.sum(cp.multiply(z, task.h))
        epigraph = [
            common + cp.sum_squares(f.columns.T @ z) / (4 * task.lam) <= score[m] for m, f in enumerate(task.factors)
        ]
        smooth = task.smoothing * cp.log_sum_exp(score / task.smoothing)
        return HypergraphPrimal(cp.Problem(cp.Minimize(smooth), epigraph), z, [])

    def declare_dual(self, task: HyperTask) -> HypergraphDual:
        mu = cp.Variable(task.count, nonneg=True)
        kernel = cp.sum([mu[m] * k for m, k in enumerate(task.each_kernel())])
        trace = cp.matrix_frac(task.h, np.eye(task.samples) + kernel / task.lam)
        objective = -trace + task.smoothing * cp.sum(cp.entr(mu))
        return HypergraphDual(cp.Problem(cp.Maximize(objective), [cp.sum(mu) == 1]), mu)

    def responsible(self, task: HyperTask, scores: Array) -> Array:
        assert task.smoothing is not None
        return np.asarray(np.exp((scores - scores.max()) / task.smoothing))


HYPERGRAPH_SMOOTH = SmoothedKernels(
    "hypergraph_smooth", "labels as hyperedges, with the maximum smoothed", "Ji et al. 2008", __doc__,
    (LAMBDA, SMOOTHING, DIMENSIONS),
)  # fmt: skip

if __name__ == "__main__":
    HYPERGRAPH_SMOOTH.demonstrate()
