"""ml_minimax — ML-MKL in the minimax form: one combination of the kernels, the worst class as good as possible.

    primal   min over μ, f_1..f_k, H      H,        ½ Σ_m ‖f_k^m‖²/μ_m + risk(f_k) ≤ H for every class k,
                                                    Σμ = 1,  μ ≥ 0
    dual     max over γ ∈ Δ, β^k, τ       Σ_k 1'β^k − τ,        ½ Σ_k q_m^k(β^k)/γ_k ≤ τ for every kernel m,
                                                    0 ≤ β^k ≤ C γ_k

From one to the other. γ_k is the multiplier of class k's constraint, and with β^k = γ_k α^k the terms γ_k q(α^k) become
q(β^k)/γ_k, jointly convex in (β^k, γ_k). The printed Eq. (4) is not the dual of Eq. (3): its linear term needs γ_k in
front.

    recovery      f_k^m = μ_m K_m(α^k∘y^k),   α^k = β^k/γ_k
    multipliers   weights = μ, the multipliers of the dual's constraints; gamma (k,), the classes' weights: only the
                  worst classes have any; class_values (k,), their losses, the largest of which is H

Parameters: C > 0. Labels (n, k) in {0, 1}; a class that nobody or everybody has is refused.
Degenerate cases: k = 1 is `l1` without bias; a repeated class changes nothing. A class with γ_k = 0 is not at its
optimum in the certified point, only below H; its classifier is solved for afterwards, at the weights μ.

Reference: Bucak et al. 2010, Eqs (3) and (5).
"""

from __future__ import annotations

import numpy as np

from ..problem.stack import Array
from ._cvxpy import cp
from .families.multi_label import ClassDual, ClassFunctions, LabelTask, MultiLabel, MultiLabelDual, MultiLabelPrimal


class WorstOfClasses(MultiLabel):
    def declare_primal(self, task: LabelTask) -> MultiLabelPrimal:
        f, worst = ClassFunctions(task), cp.Variable()
        mu, ratio = cp.Variable(task.count, nonneg=True), cp.Variable((task.count, task.classes))
        pairs = [(m, k) for m in range(task.count) for k in range(task.classes)]
        epigraph = [cp.quad_over_lin(f.w[m][:, k], mu[m]) <= ratio[m, k] for m, k in pairs]
        classes = [cp.sum(ratio[:, k]) / 2 + f.losses[k] <= worst for k in range(task.classes)]
        problem = cp.Problem(cp.Minimize(worst), [f.margins, *epigraph, *classes, cp.sum(mu) == 1])
        return MultiLabelPrimal(problem, f.w, f.margins, classes)

    def declare_dual(self, task: LabelTask) -> MultiLabelDual:
        beta, gamma = cp.Variable((task.samples, task.classes), nonneg=True), cp.Variable(task.classes)
        tau, q = cp.Variable(), cp.Variable((task.count, task.classes))
        seen = [f.columns.T @ cp.multiply(task.signs.T, beta) for f in task.factors]
        pairs = [(m, k) for m in range(task.count) for k in range(task.classes)]
        epigraph = [cp.quad_over_lin(seen[m][:, k], gamma[k]) <= q[m, k] for m, k in pairs]
        cuts = [cp.sum(q[m]) / 2 <= tau for m in range(task.count)]
        within = [beta[:, k] <= task.box * gamma[k] for k in range(task.classes)]
        problem = cp.Problem(cp.Maximize(cp.sum(beta) - tau), [*epigraph, *cuts, *within, cp.sum(gamma) == 1])
        return MultiLabelDual(problem, beta, gamma, cuts)

    def feasible_gamma(self, gamma: Array) -> Array:
        return gamma / gamma.sum()

    def dual_value(self, task: LabelTask, point: ClassDual) -> tuple[float, float]:
        used = point.gamma > 0
        gain = float(point.beta.sum())
        cost = float(np.max(np.sum(task.q(point.beta)[used] / point.gamma[used, None], axis=0)) / 2)
        return gain, cost

    def primal_value(self, task: LabelTask, squares: Array, risks: Array, weights: Array) -> tuple[float, float]:
        with np.errstate(divide="ignore"):  # a used kernel of weight zero costs infinitely much
            ratios = np.divide(squares, weights, out=np.zeros_like(squares), where=squares > 0)
        penalties = ratios.sum(axis=1) / 2
        return float(np.max(penalties + risks)), float(max(penalties.max(), risks.max()))


ML_MINIMAX = WorstOfClasses("ml_minimax", "many labels, the worst of their losses", "Bucak et al. 2010", __doc__, ())

if __name__ == "__main__":
    ML_MINIMAX.demonstrate()
