"""silp — column generation for the semi-infinite linear program of `l1` (Sonnenburg et al. 2006), and of `sm1`.

    master   min over τ, μ of τ,      τ ≥ Σ_m μ_m S_m(α_l) for the α_l found so far,   Σμ = 1,  0 ≤ μ ≤ cap
    oracle   α ← SVM with kernel Σ_m μ_m K_m,      S_m(α) = gain(α) − ½ q_m(α)

The master is a linear program, solved by HiGHS; cap is 1 for `l1` and θ for `sm1`. Weights jump between corners of the
cuts, so that many cuts are needed before the last digits come. Any convex loss will do, as in the paper: the SVM
is the machine of that loss, and the gain that of its dual.
"""

from __future__ import annotations

import numpy as np

from ...formulations import Points, RankOneCoefficients, _silp
from ..driver import Array, Problem
from ..svm import fit
from ._column_generation import ColumnGeneration, Columns


def linear_master(rows: Array, cap: float = 1.0) -> tuple[Array, Array] | None:
    """min over weights on the simplex, capped, of the largest of the rows' scores; and the rows' multipliers."""
    from scipy.optimize import linprog

    cuts, count = rows.shape
    answer = linprog(
        np.r_[1.0, np.zeros(count)],
        A_ub=np.column_stack([-np.ones(cuts), rows]),
        b_ub=np.zeros(cuts),
        A_eq=np.r_[0.0, np.ones(count)][None],
        b_eq=[1.0],
        bounds=[(None, None)] + [(0.0, cap)] * count,
        method="highs",
    )
    if answer.x is None:
        return None
    weights, mix = np.maximum(answer.x[1:], 0.0), np.maximum(-answer.ineqlin.marginals, 0.0)
    return weights / weights.sum(), mix / mix.sum()


class SILP(ColumnGeneration):
    name = "silp"
    summary = "column generation: a linear master and an SVM"
    reference = "Sonnenburg et al. 2006"
    serves = ("l1", "sm1")

    def separate(self, problem: Problem, weights: Array) -> Array:
        return fit(problem, weights).alpha

    def scores(self, problem: Problem, cut: Array) -> Array:
        return _silp.scores(problem.task, cut)

    def master(self, problem: Problem, rows: Array) -> tuple[Array, Array] | None:
        return linear_master(rows, _silp.cap(problem.task.own))

    def points(self, problem: Problem, state: Columns) -> Points:
        """The last α and the mixed one; the classifier that the weights make with the last."""
        return Points(
            [state.cuts[-1], state.mixed], [RankOneCoefficients(state.weights, state.cuts[-1] * problem.task.signs)]
        )
