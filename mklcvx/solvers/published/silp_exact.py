"""silp_exact — the declared semi-infinite programs of `l1`, `sm1` and `hypergraph` by column generation.

Master and oracle are those of `formulations._silp`, written in CVXPY and solved by Clarabel: a witness, and slow.
`silp` and `hypergraph_silp` are the same with HiGHS, LIBSVM and a linear system.
"""

from __future__ import annotations

import numpy as np

from ...certificate.run import Run
from ...formulations import Points, _silp
from ..conic import CLARABEL, solve_program
from ..driver import Array, Problem
from ._column_generation import ColumnGeneration, Columns
from .hypergraph_silp import HypergraphSILP
from .silp import SILP


def _machine(problem: Problem, weights: Array) -> Array | None:
    problem.svm_solves += 1
    single, program = _silp.separation_oracle(problem.task, weights)
    return single.feasible(program.alpha.value) if solve_program(program.problem, CLARABEL, Run()) else None


def _embedding(problem: Problem, weights: Array) -> Array | None:
    embedding = _silp.embedding_oracle(problem.task, weights)
    return np.asarray(embedding.z.value) if solve_program(embedding.problem, CLARABEL, Run()) else None


# The declared oracle of each family, and the algorithm that scores and offers its cuts in the same way.
FAMILIES = {"single task": (_machine, SILP()), "hypergraph": (_embedding, HypergraphSILP())}


class SILPExact(ColumnGeneration):
    name = "silp_exact"
    summary = "the declared semi-infinite linear program by column generation"
    reference = "Sonnenburg et al. 2006"
    serves = ("l1", "sm1", "hypergraph")
    tolerance = 1e-6

    def separate(self, problem: Problem, weights: Array) -> Array | None:
        return FAMILIES[problem.formulation.family][0](problem, weights)

    def scores(self, problem: Problem, cut: Array) -> Array:
        return FAMILIES[problem.formulation.family][1].scores(problem, cut)

    def master(self, problem: Problem, rows: Array) -> tuple[Array, Array] | None:
        declared = _silp.restricted_master(rows, _silp.cap(getattr(problem.task, "own", {})))
        if not solve_program(declared.problem, CLARABEL, Run()):
            return None
        weights = np.maximum(declared.weights.value, 0.0)
        mix = np.maximum(np.ravel(declared.cuts.dual_value), 0.0)
        return weights / weights.sum(), mix / mix.sum()

    def points(self, problem: Problem, state: Columns) -> Points:
        return FAMILIES[problem.formulation.family][1].points(problem, state) if state.cuts else Points([], [])
