"""ml_sum — ML-MKL-Sum: one combination of the kernels for all classes, the sum of their losses least.

    primal   min over f_1..f_k         ½ (Σ_m (Σ_k ‖f_k^m‖²)^½)² + Σ_k risk(f_k)
    dual     max over α^k ∈ [0, C]ⁿ    Σ_k 1'α^k − τ,        ½ Σ_k q_m^k(α^k) ≤ τ for every kernel m

From one to the other. For fixed weights μ every class is an SVM with kernel Σ μ_m K_m. In f the penalty
½ Σ_m Σ_k ‖f_k^m‖²/μ_m is least at μ_m ∝ (Σ_k ‖f_k^m‖²)^½; in α it is linear in μ, so that its least value over
the simplex leaves the largest Σ_k q_m^k. It is `l1` without bias on the samples of all classes together.

    recovery      f_k^m = μ_m K_m(α^k∘y^k)
    multipliers   weights = μ, the multipliers of the dual's constraints; class_values (k,), the losses of the classes

Parameters: C > 0. Labels (n, k) in {0, 1}; a class that nobody or everybody has is refused.
Degenerate cases: k = 1 is `l1` without bias; a repeated class counts twice. The printed Eq. (1) lacks C.

Reference: Bucak et al. 2010, Eqs (1) and (2).
"""

from __future__ import annotations

import numpy as np

from ..problem.stack import Array
from ._cvxpy import cp
from .families.multi_label import ClassDual, ClassFunctions, LabelTask, MultiLabel, MultiLabelDual, MultiLabelPrimal


class SumOfClasses(MultiLabel):
    def declare_primal(self, task: LabelTask) -> MultiLabelPrimal:
        f, roots = ClassFunctions(task), np.sqrt(task.importance)
        norms = [cp.norm(w @ np.diag(roots), "fro") for w in f.w]
        problem = cp.Problem(cp.Minimize(cp.square(cp.sum(norms)) / 2 + f.losses @ task.importance), [f.margins])
        return MultiLabelPrimal(problem, f.w, f.margins)

    def declare_dual(self, task: LabelTask) -> MultiLabelDual:
        alpha, tau = cp.Variable((task.samples, task.classes), nonneg=True), cp.Variable()
        signed, roots = cp.multiply(task.signs.T, alpha), np.diag(np.sqrt(task.importance))
        cuts = [cp.sum_squares(f.columns.T @ signed @ roots) / 2 <= tau for f in task.factors]
        within = alpha <= np.outer(task.box, np.ones(task.classes))
        problem = cp.Problem(cp.Maximize(cp.sum(alpha @ task.importance) - tau), [within, *cuts])
        return MultiLabelDual(problem, alpha, None, cuts)

    def dual_value(self, task: LabelTask, point: ClassDual) -> tuple[float, float]:
        gain = float(task.importance @ point.beta.sum(axis=1))
        cost = float(np.max(task.importance @ task.q(point.beta)) / 2)
        return gain, cost

    def primal_value(self, task: LabelTask, squares: Array, risks: Array, weights: Array) -> tuple[float, float]:
        penalty = float(np.sum(np.sqrt(task.importance @ squares)) ** 2 / 2)
        risk = float(task.importance @ risks)
        return penalty + risk, max(penalty, risk)

    def feasible_weights(self, squares: Array, weights: Array) -> Array:
        """μ_m ∝ (Σ_k ‖f_k^m‖²)^½."""
        norms = np.sqrt(squares)
        return norms / norms.sum() if norms.any() else np.full(len(norms), 1 / len(norms))


ML_SUM = SumOfClasses("ml_sum", "many labels, the sum of their losses", "Bucak et al. 2010", __doc__, ())

if __name__ == "__main__":
    ML_SUM.demonstrate()
