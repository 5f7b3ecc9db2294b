"""hypergraph_silp — column generation for the semi-infinite program of Ji et al. 2008, Theorem 2.1.

    master   max over τ, μ of τ,      Σ_m μ_m S_m(Z_l) ≥ τ for the Z_l found so far,   Σμ = 1,  μ ≥ 0
    oracle   Z ← 2 (I + K(μ)/λ)⁻¹H,   where Σ_m μ_m S_m is least

The master is a linear program, solved by HiGHS; the oracle is one n×n system.
"""

from __future__ import annotations

from ...formulations import Points
from ...formulations.families.hypergraph import Embedding, solved
from ..driver import Array, Problem
from ._column_generation import ColumnGeneration, Columns
from .silp import linear_master


class HypergraphSILP(ColumnGeneration):
    name = "hypergraph_silp"
    summary = "column generation: a linear master and one linear system"
    reference = "Ji et al. 2008, Theorem 2.1"
    serves = ("hypergraph",)

    def separate(self, problem: Problem, weights: Array) -> Array:
        return solved(problem.task, weights)

    def scores(self, problem: Problem, cut: Array) -> Array:
        return -problem.task.scores(cut)

    def master(self, problem: Problem, rows: Array) -> tuple[Array, Array] | None:
        return linear_master(rows)

    def points(self, problem: Problem, state: Columns) -> Points:
        """μ with the last Z; the last Z and the mixed one."""
        return Points([Embedding(state.weights, state.cuts[-1])], [state.cuts[-1], state.mixed])
